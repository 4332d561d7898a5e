"""The core's moves of self-play are those of the twin, bit for bit: random settings, games, positions in flight."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove
from logs_for_tests import FinishedLog
from selfplay_for_tests import same
from selfplay_twin import TwinGames, opening_move, opening_record
from zerosum.games import Rules, adopt, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, RolloutEvaluator, UniformEvaluator
from zerosum.replay.records import GameRecord, packed_ply
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayTask, worker
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.resignation import RESIGNATION, new_resignation
from zerosum.selfplay.worker import SelfplayWorker

GAMES: dict[str, Rules] = {
    **{name: make(name) for name in ("tictactoe", "connect4", "go(size=5)", "minishogi", "chess960")},
    "double-move": adopt(DoubleMove()),
}


class HashEvaluator(UniformEvaluator):
    """Logits and values that differ from position to position, and depend on nothing else."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        packed, offsets = leaves.packed_planes, leaves.legal_offsets
        keys = [int.from_bytes(planes.tobytes()[-64:], "little") % 1_000_003 for planes in packed]
        logits = [
            np.sin(np.arange(size) * (1 + key % 97)) * 2 for key, size in zip(keys, np.diff(offsets), strict=True)
        ]
        values = np.sin(np.array(keys, np.float32))
        return Evaluations(leaves, np.concatenate(logits).astype(np.float32), values)


def drawn(rng: random.Random) -> dict[str, Any]:
    """Settings of search and self-play, with Gumbel roots, playout caps, temperatures and ways to keep trees."""
    is_gumbel = rng.random() < 0.3
    search = SearchConfig(
        num_simulations=rng.choice([1, 2, 12, 40]),
        root_noise_alpha=1.0,
        root_noise_fraction=rng.choice([0.0, 0.25]),
        root_selection="gumbel" if is_gumbel else "puct",
        policy_target=rng.choice(["visits", "completed-q"]),
        move_choice=rng.choice(["visits", "lcb"]),
        exact_bounds=rng.random() < 0.7,
        reuse_tree=rng.random() < 0.7,
        count_reused_visits=rng.random() < 0.5,
    )
    config = SelfplayConfig(
        games_per_worker=rng.choice([1, 5, 20]),
        temperature=rng.choice([0.0, 0.3, 1.0, 2.7]),
        temperature_plies=rng.choice([0, 5, 1000]),
        opening_share=rng.choice([0.0, 0.5, 1.0]),
        opening_plies=rng.choice([1, 6]),
        full_search_share=rng.choice([0.25, 0.6, 1.0]),
        fast_simulations=rng.choice([1, 5]),
        resign_false_positives=rng.choice([None, 0.3]),
        resign_played_out_share=0.5,
    )
    return {"search": search, "config": config, "num_staggered": rng.choice([0, 9])}


def played(
    game: Rules, settings: dict[str, Any], seed: int, num_batches: int, log: FinishedLog, **others: Any
) -> tuple[SelfplayWorker, list[GameRecord]]:
    """Batches of a worker that continues the games of a log."""
    first = 1 + max([-1, *log.running, *log.finished])
    steps = itertools.count(first)
    values: dict[str, Any] = {
        "evaluator": HashEvaluator(),
        "game_ids": itertools.count(first),
        "network": lambda: PlayingNetwork(step := next(steps), step % 10 / 10),
        "resignation": new_resignation(settings["config"], seed=seed, games=log.finished.values()),
    }
    task = SelfplayTask(game=game, log=log, seed=seed, settings_hash="", **values | settings | others)
    running = [game.copy() for game in log.running.values()]
    player = SelfplayWorker(task, running=running)
    return player, [record for _ in range(num_batches) for record in player.play_batch()]


def assert_same(ours: FinishedLog, theirs: FinishedLog) -> None:
    assert list(ours.finished) == list(theirs.finished), "in the order of their ends"
    for game_id, record in ours.finished.items():
        assert same(record, theirs.finished[game_id]), game_id
    assert list(ours.running) == list(theirs.running)
    for game_id, game in ours.running.items():
        other = theirs.running[game_id]
        assert vars(game.header) == vars(other.header)
        assert game.plies.packed == other.plies.packed


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(12))
def test_the_cores_moves_are_the_twins(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice: the second worker continues the games that the first left in flight."""
    rng = random.Random(f"{name} {seed}")
    settings, core, twin = drawn(rng), FinishedLog(), FinishedLog()
    for num_batches in (rng.choice([20, 200]), 60):
        ours, _ = played(GAMES[name], settings, seed, num_batches, core)
        with monkeypatch.context() as patched:
            is_gumbel = settings["search"].root_selection == "gumbel"
            twins = functools.partial(TwinGames, has_gumbel_roots=is_gumbel)
            patched.setattr(worker, "GamesInFlight", twins)
            theirs, _ = played(GAMES[name], settings, seed, num_batches, twin)
        assert ours.counts == theirs.counts
        assert_same(core, twin)
    assert ours.counts.plies > 0


def test_the_twins_resign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the threshold changes within a batch, which is played on with the new one."""
    config = SelfplayConfig(
        games_per_worker=40, resign_false_positives=0.4, resign_played_out_share=0.5, full_search_share=0.5
    )
    settings = {"config": config, "search": SearchConfig(num_simulations=40, root_noise_alpha=1.0)}
    core, twin = FinishedLog(), FinishedLog()
    played(GAMES["connect4"], settings, 3, 1500, core, evaluator=RolloutEvaluator())
    monkeypatch.setattr(worker, "GamesInFlight", TwinGames)
    played(GAMES["connect4"], settings, 3, 1500, twin, evaluator=RolloutEvaluator())
    assert_same(core, twin)
    assert sum(record.ending == RESIGNATION for record in core.finished.values()) > 20


@pytest.mark.parametrize("name", GAMES)
def test_openings_are_drawn_move_by_move(name: str) -> None:
    game, num_cut = GAMES[name], 0
    for game_id in range(60):
        start, num_plies = game.initial_state(), game_id % 40
        state, moves = start, []
        while len(moves) < num_plies:
            ahead = opening_move(game, state, seed=5, game_id=game_id, ply=len(moves))
            if ahead is None:
                num_cut += 1
                break
            moves.append(opening_record(ahead[0], game.player(state)))
            state = ahead[1]
        expected = [packed_ply(game_id, index, move) for index, move in enumerate(moves)]
        assert game.draw_opening(start, num_plies, 5, game_id) == (state, expected)
    assert num_cut or name not in ("tictactoe", "connect4")
