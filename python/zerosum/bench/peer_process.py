"""The other side of `peers.py`: a peer's search, run by a Python that has the peer. Imports nothing of zerosum.

`other_process.py` describes the protocol. Each peer is a function that takes the request and returns a function, which
makes one search, or one batch of searches, and returns the number of simulations.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

MOST_BYTES = 4 << 30
"""Largest memory of the trees of a batch."""


class RefusalError(Exception):
    """A sentence for the user."""


def main() -> None:
    """Prepare the peer, then search for the CPU-seconds of each line."""
    peer, package = {"openspiel": (openspiel, "open_spiel"), "mctx": (mctx, "mctx")}[sys.argv[1]]
    try:
        search = peer(json.loads(sys.stdin.readline()))
    except RefusalError as refusal:
        print(json.dumps({"error": str(refusal)}), flush=True)
        return
    print(json.dumps({"peer": f"{package} {importlib.metadata.version(package)}"}), flush=True)
    for line in sys.stdin:
        done, cpu_seconds, started, cpu_started = 0, 0.0, time.perf_counter(), time.process_time()
        while not done or cpu_seconds < float(line):
            done += search()
            cpu_seconds = time.process_time() - cpu_started
        seconds = time.perf_counter() - started
        print(json.dumps({"done": done, "seconds": seconds, "cpu_seconds": cpu_seconds}), flush=True)


def openspiel(request: dict[str, Any]) -> Callable[[], int]:
    """OpenSpiel's MCTS in C++, PUCT, one tree at a time."""
    pyspiel = _load("pyspiel", "open_spiel")
    try:
        game = pyspiel.load_game(request["game"])
    except pyspiel.SpielError as error:
        raise RefusalError(f"OpenSpiel cannot make {request['game']}: {error}") from error
    states = []
    for position in request["positions"]:
        state = game.new_initial_state(*([position["text"]] if "text" in position else []))
        for action in position.get("actions", ()):
            state.apply_action(action)
        _require_same(position, len(state.legal_actions()))
        states.append(state)
    bot = pyspiel.MCTSBot(
        game,
        pyspiel.RandomRolloutEvaluator(1, 0),
        request["c_init"],
        request["num_simulations"],
        0,  # no limit of memory
        request["solve"],
        0,
        False,
        pyspiel.ChildSelectionPolicy.PUCT,
    )
    # Random games from so many children would not all end even.
    if any(child.total_reward and not child.outcome for child in bot.mcts_search(states[0]).children):
        raise RefusalError(
            "OpenSpiel's evaluator cannot be replaced on this system, but can on Linux: nothing measured."
        )
    turns = itertools.cycle(states)
    return lambda: int(bot.mcts_search(next(turns)).explore_count)


def mctx(request: dict[str, Any]) -> Callable[[], int]:
    """Mctx's `muzero_policy` with the rules of pgx as the model; a batch is one call, compiled before it counts."""
    jax, pgx, mctx = _load("jax", "mctx pgx"), _load("pgx", "mctx pgx"), _load("mctx", "mctx pgx")
    jnp = jax.numpy
    env, batch_size, num_simulations = pgx.make(request["game"]), request["batch_size"], request["num_simulations"]
    step = jax.vmap(env.step)

    def logits(state: Any) -> Any:
        return jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)

    def recur(params: Any, key: Any, action: Any, state: Any) -> Any:
        mover = state.current_player
        state = step(state, action)
        reward = jnp.take_along_axis(state.rewards, mover[:, None], axis=1)[:, 0]
        discount = jnp.where(state.terminated, 0.0, jnp.where(mover == state.current_player, 1.0, -1.0))
        output = mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits(state), value=jnp.zeros(batch_size)
        )
        return output, state

    @jax.jit  # type: ignore[untyped-decorator]
    def search(key: Any, state: Any) -> Any:
        root = mctx.RootFnOutput(prior_logits=logits(state), value=jnp.zeros(batch_size), embedding=state)
        return mctx.muzero_policy(
            params=(),
            rng_key=key,
            root=root,
            recurrent_fn=recur,
            num_simulations=num_simulations,
            invalid_actions=~state.legal_action_mask,
            dirichlet_fraction=0.0,
            pb_c_init=request["c_init"],
        ).action_weights

    key = jax.random.PRNGKey(0)
    _require_memory(jax, env, key, request)
    states = [_pgx_state(jax, env, key, request["game"], position) for position in request["positions"]]
    # One array of all positions, so that all batches have one type and the search is compiled once.
    every = jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *states)
    batches = []
    for start in range(len(states) if batch_size == 1 else 1):
        rows = jnp.arange(start, start + batch_size) % len(states)
        batches.append(jax.tree_util.tree_map(lambda leaf, rows=rows: leaf[rows], every))
    search(key, batches[0]).block_until_ready()
    turns = itertools.cycle(batches)

    def search_batch() -> int:
        search(key, next(turns)).block_until_ready()
        return int(batch_size * num_simulations)

    return search_batch


def _require_memory(jax: Any, env: Any, key: Any, request: dict[str, Any]) -> None:
    """Refuse trees that would not fit: a node of mctx holds a state and six numbers of four bytes for each action."""
    leaves = jax.tree_util.tree_leaves(jax.eval_shape(env.init, key))
    num_bytes = sum(leaf.size * leaf.dtype.itemsize for leaf in leaves) + 24 * env.num_actions
    batch_size, num_simulations = request["batch_size"], request["num_simulations"]
    if (needed := num_bytes * batch_size * (num_simulations + 1)) > MOST_BYTES:
        raise RefusalError(
            f"{batch_size} trees of {num_simulations} simulations in {request['game']} would take mctx"
            f" {needed / (1 << 30):.1f} GiB, at most {MOST_BYTES >> 30} GiB are given to it: set a smaller"
            " search.num_simulations."
        )


def _pgx_state(jax: Any, env: Any, key: Any, game: str, position: dict[str, Any]) -> Any:
    if "text" in position:
        module = importlib.import_module(f"pgx.experimental.{game}")
        state = (module.from_fen if game == "chess" else module.from_sfen)(position["text"])
        # The search does not use it, and the one of `from_sfen` has another shape.
        state = state.replace(observation=env.init(key).observation)
    else:
        state, step = env.init(key), jax.jit(env.step)
        for action in position["actions"]:
            state = step(state, action)
    _require_same(position, int(state.legal_action_mask.sum()))
    return state


def _require_same(position: dict[str, Any], num_legal: int) -> None:
    if num_legal != position["num_legal"]:
        where = position["text"] if "text" in position else f"the position after {position['actions']}"
        raise RefusalError(
            f"zerosum has {position['num_legal']} legal moves in {where}, its peer {num_legal}: their rules differ, and"
            " so would their work."
        )


def _load(module: str, packages: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RefusalError(
            f"{sys.executable} has no {module} ({error}): run '{sys.executable} -m pip install {packages}', or name a"
            " Python that has it with --peer-python."
        ) from error


if __name__ == "__main__":
    main()
