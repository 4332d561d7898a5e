"""Reanalyse: what is searched anew, what the samples get of it, and runs that repeat in spite of kills."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from games_recorded import random_game, record_of
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.learner import Learner
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights, load_checkpoint
from zerosum.network.evaluators import Evaluator, make_evaluator
from zerosum.replay import GameRecord, ReplayConfig, ReplayWindow, Samples
from zerosum.replay.samples import Policies
from zerosum.run.config import RunConfig, new_config
from zerosum.run.reanalysis import Reanalysis
from zerosum.run.training import train
from zerosum.search import new_search
from zerosum.search.answering import answer_all

GAME = make("connect4")
SMALL = ("network.num_blocks=1", "network.num_filters=4", "search.num_simulations=9", "training.device=cpu")
B, K = 12, 3


def window_of(records: list[GameRecord]) -> ReplayWindow:
    window = ReplayWindow(ReplayConfig())
    for record in records:
        window.add(record)
    return window


def settings(preset: str, share: float) -> RunConfig:
    more = (*SMALL, f"learner.reanalysed_share={share}", *(["network.dynamics_blocks=0"] if preset else []))
    return new_config(GAME, "connect4", preset=preset, overrides=more)


def network(config: RunConfig, seed: int = 1) -> Checkpoint:
    """A network with opinions: a new one gives all moves the same share."""
    info, generator = CheckpointInfo.describe(GAME.spec, config.network, step=0), np.random.default_rng(seed)
    weights = initial_weights(config.network, info.shape, seed=seed)
    noise = {name: generator.normal(0, 0.3, weight.shape).astype(np.float32) for name, weight in weights.items()}
    return Checkpoint(
        info, {name: weight + noise[name] ** (2 if "var" in name else 1) for name, weight in weights.items()}
    )


def searched(config: RunConfig, evaluator: Evaluator, moves: list[int]) -> tuple[dict[int, float], float]:
    """The policy target and the value of one search of the position after some moves."""
    search, state = new_search(GAME, config.search), GAME.initial_state()
    for move in moves:
        state = GAME.play(state, move)
    search.reset(0, state)
    search.begin(0, config.search.num_simulations)
    answer_all(search, evaluator, max_leaves=1)
    root = search.root(0)
    shares = dict(zip(root.actions.tolist(), root.policy_target().tolist(), strict=True))
    return {action: share for action, share in shares.items() if np.float16(share)}, root.value


def row(policies: Policies, number: int) -> dict[int, float]:
    part = slice(policies.offsets[number], policies.offsets[number + 1])
    return dict(zip(policies.actions[part].tolist(), policies.probabilities[part].tolist(), strict=True))


@pytest.mark.parametrize("preset", ["muzero", ""])
def test_the_first_samples_have_what_a_search_says(preset: str) -> None:
    draw = random.Random(4)
    records = [random_game(number, draw) for number in range(6)]
    records.append(record_of(6, [0, 0, 1, 1, 2, 2, 3], targets=[{}, {}, {}, *({n: 1.0} for n in (1, 2, 2, 3))]))
    num_later = K if preset else 0
    samples = window_of(records).sample(B, seed=3, step=5, num_later=num_later, earlier_share=0.7 if preset else 0.0)
    config = settings(preset, 0.5)
    evaluator = make_evaluator(network(config), config.training.evaluator, batch_size=1, game=GAME)
    renewed = Reanalysis(GAME, config, network(config)).renewed(samples)
    before, after = (samples.later, renewed.later) if preset else (samples, renewed)
    assert before is not None and after is not None
    values_before, values = before.search_values.reshape(B, -1), after.search_values.reshape(B, -1)
    num_searched = 0
    for sample in range(B):
        record = records[samples.game_ids[sample]]
        moves, first = record.plies["action"].tolist(), int(np.diff(samples.action_offsets)[sample])
        for step in range(num_later + 1):
            number, ply = sample * (num_later + 1) + step, first + step
            if sample < B // 2 and ply < len(moves):
                policy, value = searched(config, evaluator, moves[:ply])
                assert row(after.policies, number) == pytest.approx(policy, abs=1e-3)
                assert values[sample, step] == pytest.approx(value, abs=1e-5)
                num_searched += 1
            else:
                assert row(after.policies, number) == row(before.policies, number)
                assert values[sample, step] == values_before[sample, step]
    assert num_searched >= (3 if preset else 1) * B // 2
    assert np.array_equal(renewed.returns, samples.returns), "the result is the game's"


def same(one: Samples, other: Samples) -> bool:
    assert one.later is not None and other.later is not None
    pairs = [(one.later.search_values, other.later.search_values)]
    pairs += [
        (getattr(one.later.policies, name), getattr(other.later.policies, name))
        for name in ("actions", "probabilities")
    ]
    return all(np.array_equal(a, b) for a, b in pairs)


def test_it_depends_on_the_samples_and_the_newest_network_alone() -> None:
    draw, config = random.Random(5), settings("muzero", 1.0)
    window = window_of([random_game(number, draw) for number in range(4)])
    samples = window.sample(B, seed=1, step=2, num_later=K)
    old, new = network(config, seed=1), network(config, seed=2)
    reanalysis = Reanalysis(GAME, config, old)
    by_old = reanalysis.renewed(samples)
    window.sample(B, seed=1, step=3, num_later=K)
    assert same(reanalysis.renewed(samples), by_old)
    reanalysis.take(new)
    by_new = reanalysis.renewed(samples)
    assert not same(by_new, by_old)
    assert same(Reanalysis(GAME, config, new).renewed(samples), by_new)
    assert not same(samples, by_old)


RUN = (
    *SMALL,
    "training.steps=8",
    "training.deterministic=true",
    "training.min_positions=40",
    "training.steps_per_phase=2",
    "training.num_checkpoints=2",
    "network.dynamics_blocks=0",
    "search.num_simulations=5",
    "selfplay.games_per_worker=6",
    "learner.batch_size=16",
    "strength.rollout_simulations=2",
)


class Killed(BaseException):
    """Ends a training as far as it can tell."""


def learned(run: Path, share: float = 0.5) -> dict[str, np.ndarray]:
    overrides = [] if run.exists() else [*RUN, f"learner.reanalysed_share={share}"]
    train("tictactoe", run, preset="" if run.exists() else "muzero", overrides=overrides, report=lambda _: None)
    checkpoint = load_checkpoint(run)
    assert checkpoint.info.step == 8
    return checkpoint.weights


def test_a_kill_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the phase after the first checkpoint, whose network searches, and then in the one after that."""
    whole = learned(tmp_path / "whole")
    for number in (6, 7):
        steps = iter(range(number))
        make_step = Learner.step

        def mortal(self: Learner, *arguments: object, **named: object) -> object:
            if next(steps, None) is None:  # noqa: B023
                raise Killed
            return make_step(self, *arguments, **named)  # type: ignore[arg-type]  # noqa: B023

        with monkeypatch.context() as patched:
            patched.setattr(Learner, "step", mortal)
            with pytest.raises(Killed):
                learned(tmp_path / f"killed{number}")
        again = learned(tmp_path / f"killed{number}")
        assert all(np.array_equal(again[name], weight) for name, weight in whole.items())
    plain = learned(tmp_path / "plain", share=0.0)
    assert any(not np.array_equal(plain[name], weight) for name, weight in whole.items())


def test_a_network_without_a_tree_search_is_refused() -> None:
    with pytest.raises(SettingsError, match="leave out learner.reanalysed_share"):
        new_config(make("minichess"), "minichess", preset="nnue", overrides=["learner.reanalysed_share=0.1"])
