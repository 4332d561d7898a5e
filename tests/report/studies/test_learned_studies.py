"""The studies of what was learned: checkpoints and games of a run, and values of pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs_for_tests import train_a_little
from zerosum.base.errors import SettingsError
from zerosum.games import make, state_after
from zerosum.report.studies.catalogue import study_of
from zerosum.report.studies.figures import Figures
from zerosum.report.studies.learned_when import (
    HANGING,
    MOVE,
    LearnedWhenStudy,
    hanging_positions,
    share_taken,
)
from zerosum.report.studies.piece_values import PieceValuesStudy, in_units
from zerosum.report.studies.playing_style import FIRST_CAPTURE, QUIET, TRAVEL
from zerosum.report.studies.study import run_study
from zerosum.report.studies.words import StudyWords
from zerosum.run.learned_pieces import customary_piece_values, learned_piece_values
from zerosum.selfplay.piece_terms import PieceTerms


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "minichess"
    train_a_little("minichess", path)
    return path


def quiet(_line: str) -> None:
    pass


def test_checkpoints_and_games_of_a_run(run: Path, tmp_path: Path) -> None:
    study = study_of("learned-when", StudyWords(names=("minichess", str(run))))
    assert isinstance(study, LearnedWhenStudy)
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert "The network without search, by checkpoint" in written[0] and "Style of the games" in written[0]
    assert "The favourite first move of the last checkpoint is" in written[0]
    for figure in ("games with a sacrifice", TRAVEL, FIRST_CAPTURE, QUIET):
        assert figure in written[0]
    assert "<img class=chart" in (tmp_path / "index.html").read_text()


def test_a_hanging_piece_is_taken_or_not() -> None:
    game = make("chess")
    # A rook that nobody guards, and a pawn that another pawn guards.
    state = state_after(game, "", position="4k3/8/3p4/4p3/8/r7/1B4N1/4K3 w - - 0 1")
    actions = {game.action_text(state, action): action for action in game.legal_actions(state)}
    takes, guarded, quiet_move = (next(a for t, a in actions.items() if t in names) for names in
                                  (("Bxa3", "b2a3"), ("Bxe5", "b2e5"), ("Ke2", "e1e2")))  # fmt: skip
    assert share_taken(game, [state] * 3, [takes, guarded, quiet_move]) == pytest.approx(1 / 3)


def test_games_without_captures_have_no_hanging_pieces() -> None:
    assert hanging_positions(make("chess"), []) == []


def test_the_step_since_when_a_move_is_the_favourite() -> None:
    def asked(step: int, e4: float, hanging: float) -> Figures:
        return Figures.of("checkpoint", step, {HANGING: hanging, MOVE + "e4": e4, MOVE + "d4": 1 - e4})

    from zerosum.report.studies.learned_when import _sentences

    words = " ".join(_sentences([asked(0, 0.9, 0.1), asked(10, 0.2, 0.3), asked(20, 0.6, 0.5), asked(30, 0.8, 0.6)]))
    assert "is e4 (80%), the favourite of all checkpoints from step 20 on" in words
    assert "takes 60% of the hanging pieces, the first checkpoint 10%" in words
    assert "half of the last figure is reached at step 10" in words


def test_customary_values_are_those_of_the_games_count() -> None:
    assert customary_piece_values(make("chess")) == {
        "pawns": 1, "knights": 3, "bishops": 3, "rooks": 5, "queens": 9, "king": 0,
    }  # fmt: skip
    shogi = customary_piece_values(make("shogi"))
    assert shogi["rooks"] == shogi["rooks in hand"] > shogi["golds"] > shogi["pawns in hand"] == 1


def test_values_are_learned_and_repeat() -> None:
    game = make("minichess")
    found = learned_piece_values(game, seed=1, num_nodes=20_000)
    assert found == learned_piece_values(game, seed=1, num_nodes=20_000)
    assert found != learned_piece_values(game, seed=2, num_nodes=20_000)
    assert found["queens"] > 0


def test_values_of_a_game_and_of_a_run(run: Path, tmp_path: Path) -> None:
    study = study_of("piece-values", StudyWords(names=("minichess", str(run)), seeds=2))
    assert isinstance(study, PieceValuesStudy) and study.run is not None
    small = PieceValuesStudy(study.game, study.run, seeds=2, nodes=20_000)
    written: list[str] = []
    assert run_study(small, tmp_path, write=written.append, say=quiet)
    assert "piece    customary  TD(λ), learned  TreeStrap, learned  network" in written[0]
    assert [job.name for job in small.jobs()] == ["td 0", "treestrap 0", "td 1", "treestrap 1", "network"]
    alone = study_of("piece-values", StudyWords(names=("chess",), variants=("treestrap",)))
    assert isinstance(alone, PieceValuesStudy) and alone.run is None
    assert [job.name for job in alone.jobs()] == ["treestrap 0", "treestrap 1", "treestrap 2"]


def test_values_after_a_stop_are_those_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stop comes in the middle of the second learning."""
    study = PieceValuesStudy(make("minichess"), seeds=1, nodes=3000)
    whole, halves = list[str](), list[str]()
    assert run_study(study, tmp_path / "whole", write=whole.append, say=quiet)

    def stopped(terms: PieceTerms, weights: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PieceTerms, "of_errors", stopped)
        assert not run_study(study, tmp_path / "halves", write=halves.append, say=quiet)
    assert "TreeStrap orders" not in halves[0]
    assert run_study(study, tmp_path / "halves", write=halves.append, say=quiet)
    assert halves[1] == whole[0]


PAWNS = {"pawns": 0.1, "knights": 0.3, "bishops": 0.31, "rooks": 0.5, "queens": 0.8, "king": 0.0}


def test_conclusions_on_values() -> None:
    study = PieceValuesStudy(make("chess"))
    results = {str(seed): Figures.of("td", seed, PAWNS | {"knights": 0.28 + 0.04 * seed}) for seed in range(2)}
    found = study.findings(results)
    assert "TD(λ) orders 9 of 9 pairs of pieces as the customary values do (means of 2 seeds)" in found.conclusion
    assert "Outside of its intervals are the customary values of bishops, queens." in found.conclusion
    # Off are the knights by a fifteenth, the bishops by a thirtieth and the queens by a ninth, of five kinds.
    assert "its values are 4.2 ± 0.0 % from them in the mean." in found.conclusion
    assert in_units({"pawns": 0.0, "rooks": 1.0}, "pawns") == {}
    nothing = study.findings({"0": Figures.of("td", 0, {"pawns": 0.0, "rooks": 0.5})})
    assert nothing.conclusion.startswith("No value could be told")


def test_both_ways_are_compared() -> None:
    study = PieceValuesStudy(make("chess"), seeds=2)

    def found(ways: dict[str, tuple[float, float]]) -> str:
        """The conclusion if the queens' value is all that is off."""
        exact = {"pawns": 0.1, "knights": 0.3, "bishops": 0.3, "rooks": 0.5}
        return study.findings(
            {
                f"{way} {seed}": Figures.of(way, seed, exact | {"queens": queens})
                for way, values in ways.items()
                for seed, queens in enumerate(values)
            }
        ).conclusion

    clear = found({"td": (0.45, 0.45), "treestrap": (0.9, 0.9)})
    assert "In the mean distance TreeStrap against TD(λ): -10.0 ± 0.0 percentage points." in clear
    unclear = found({"td": (0.45, 0.8), "treestrap": (0.6, 0.95)})
    assert unclear.endswith("percentage points: no difference shown.")
    assert "percentage points" not in found({"td": (0.9, 0.9)})
    worthless = study.findings({"a": Figures.of("td", 0, PAWNS), "b": Figures.of("td", 1, PAWNS | {"pawns": -0.1})})
    assert "(1 seed; 1 more found the pawns worth nothing)" in worthless.conclusion


def test_what_is_refused(run: Path) -> None:
    for name in ("learned-when", "piece-values"):
        with pytest.raises(SettingsError, match="has learned minichess, not chess"):
            study_of(name, StudyWords(names=("chess", str(run))))
    with pytest.raises(SettingsError, match="connect4 has no pieces of several kinds"):
        study_of("piece-values", StudyWords(names=("connect4",)))
    with pytest.raises(SettingsError, match="unknown variant 'treestrip': did you mean 'treestrap'"):
        study_of("piece-values", StudyWords(names=("chess",), variants=("treestrip",)))
    with pytest.raises(SettingsError, match="the study learned-when has no --games: leave it out"):
        study_of("learned-when", StudyWords(names=(str(run),), games=3))
