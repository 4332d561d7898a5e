"""The study of Nim: its arithmetic against the rules, its settings, and a whole study of tiny trainings."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.player import Player
from zerosum.report.blind_spots import solve
from zerosum.report.studies import nim
from zerosum.report.studies.nim import NimStudy, by_chance, network_accuracy, num_steps, positions
from zerosum.report.studies.nim_findings import PAPER, nim_findings
from zerosum.report.studies.nim_results import Learned, Moment
from zerosum.report.studies.study import run_study
from zerosum.search import SearchConfig


def test_arithmetic_is_the_solution() -> None:
    game = make("nim(heaps=1-3-5)")
    exact = {game.position_text(one.state): one for one in solve(game)}
    found = positions(game, (1, 3, 5), seed=0)
    assert len(found) == 2 * 4 * 6 - 1
    for one in found:
        known = exact.get(game.position_text(one.state))
        if known is not None:  # the first player to move, as in the initial position
            assert one.winning == (set(known.best) if known.value > 0 else set())
            assert one.num_moves == len(known.results)


def test_samples_are_different_positions_of_a_large_game() -> None:
    study = NimStudy(num_heaps=6)
    game = make(study.game)
    found = positions(game, (1, 3, 5, 7, 9, 11), seed=3, most=500)
    texts = {game.position_text(one.state) for one in found}
    assert len(texts) == 500
    assert texts != {game.position_text(one.state) for one in positions(game, (1, 3, 5, 7, 9, 11), seed=4, most=500)}


@pytest.mark.parametrize(("num_heaps", "places"), [(5, 2), (6, 2), (7, 2)])
def test_random_moves_win_as_often_as_in_the_paper(num_heaps: int, places: int) -> None:
    study = NimStudy(num_heaps=num_heaps)
    found = positions(make(study.game), tuple(range(1, 2 * num_heaps, 2)), seed=0)
    assert by_chance(found) == pytest.approx(PAPER[num_heaps][2], abs=0.005)


class Parity:
    """Knows every position."""

    def __init__(self, game: Rules) -> None:
        self.width = game.spec.board_shape[1]

    def evaluate(self, leaves: Leaves) -> Evaluations:
        sizes = leaves.planes()[:, 0].sum(axis=2).astype(int)
        logits, values = [], []
        for number, heaps in enumerate(sizes):
            parity = reduce(lambda one, other: one ^ other, heaps.tolist())
            start, end = leaves.legal_offsets[number : number + 2]
            wins = [heaps[a // self.width] ^ parity == a % self.width for a in leaves.legal_actions[start:end].tolist()]
            logits += [3.0 * won for won in wins]
            values.append(0.5 if parity else -0.5)
        return Evaluations(leaves, np.array(logits, np.float32), np.array(values, np.float32))


def test_a_network_that_knows_parity_has_everything_right() -> None:
    game = make("nim(heaps=1-3-5-7)")
    found = positions(game, (1, 3, 5, 7), seed=0)
    knower = Player(game, Parity(game), SearchConfig(), name="parity")
    assert network_accuracy(knower, found) == (1.0, 1.0)
    assert nim.searched(knower, found[:60]) == 1.0
    other = Player(game, UniformEvaluator(), SearchConfig(), name="nothing")
    accuracy, signs = network_accuracy(other, found)
    assert accuracy < 0.5 and signs == 0.5


def test_options_are_checked() -> None:
    for options, message in (
        ({"num_heaps": 9}, r"--heaps is 9, expected 2 to 8"),
        ({"variants": ("bound",)}, r"unknown variant 'bound': did you mean 'bounds'\?"),
        ({"seeds": 0}, r"--seeds is 0, expected at least 1"),
    ):
        with pytest.raises(SettingsError, match=message):
            NimStudy(**options)  # type: ignore[arg-type]


def test_games_are_equal_for_all_heaps() -> None:
    """Longer games have more positions, and so more steps."""
    steps = [num_steps(make(NimStudy(num_heaps=number).game), 1000) for number in (5, 6, 7)]
    assert steps == sorted(set(steps))


def test_a_study_of_tiny_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nim, "GAMES", 4)
    monkeypatch.setitem(nim.EQUAL, "training", {**nim.EQUAL["training"], "num_checkpoints": 2, "min_positions": 20})
    monkeypatch.setitem(nim.EQUAL, "learner", {"batch_size": 16, "samples_per_position": 4.0})
    study = NimStudy(num_heaps=3, variants=("plain", "bounds"), seeds=1, games=20, simulations=4)
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=lambda _: None)
    assert "bounds against plain" in written[0] and "One seed gives no interval." in written[0]
    assert (tmp_path / "runs" / "bounds-0" / "config.toml").read_text().count("exact_bounds = true") == 1
    assert "exact_bounds = false" in (tmp_path / "runs" / "plain-0" / "config.toml").read_text()
    # A kill after the training and before its result: the training is not made again.
    before = (tmp_path / "runs" / "plain-0" / "metrics.csv").read_bytes()
    (tmp_path / "results.jsonl").write_text("")
    assert run_study(study, tmp_path, write=written.append, say=lambda _: None)
    assert (tmp_path / "runs" / "plain-0" / "metrics.csv").read_bytes() == before
    assert written[1] == written[0]
    # More seeds join.
    more = NimStudy(num_heaps=3, variants=("plain",), seeds=2, games=20, simulations=4)
    assert run_study(more, tmp_path, write=written.append, say=lambda _: None)
    assert "One seed" not in written[2]


def learned(variant: str, seed: int, accuracy: float) -> Learned:
    course = (Moment(0, 0.0, 0.13, 0.5, None), Moment(9, 50.0, accuracy, 0.6, 300.0))
    return Learned(variant, seed, 50, 500, 1.0, 0.134, course, 0.7)


def test_conclusions_follow_the_figures() -> None:
    words = {"plain": "as the paper", "bounds": "exact bounds"}
    far = [learned("plain", seed, 0.4 + seed / 100) for seed in range(3)]
    near = [learned("bounds", seed, 0.41 + seed / 50) for seed in range(3)]
    found = nim_findings([*far, *near], words, num_heaps=5)
    assert "prefers a winning move in 41.0 ± 2.5 %" in found.conclusion
    assert "the policy has learned something" in found.conclusion
    assert "bounds against plain: +2.0 ± " in found.conclusion and "no difference shown" in found.conclusion
    assert "The paper's network has 41.5 %" in found.conclusion
    assert found.tables[1].rows[2] == ("network, trained", "41.5 %", "41.0 ± 2.5 %")
    nothing = nim_findings([learned("plain", seed, 0.1 + 0.04 * seed) for seed in range(3)], words, num_heaps=5)
    assert "Beside random moves there is no difference shown." in nothing.conclusion
    better = nim_findings([*far, *(learned("bounds", seed, 0.6) for seed in range(3))], words, num_heaps=4)
    assert better.conclusion.endswith("percentage points.") and len(better.tables) == 1
