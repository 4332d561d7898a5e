"""Positions of endings: what they are, their results beside those of all lines of play, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from commands_for_tests import Command
from networks_for_tests import save_network
from syzygy_for_tests import PLACE, constant_file, needs_tables
from zerosum.base.errors import SettingsError
from zerosum.games import State, make
from zerosum.run.exact_endings import USUAL_ENDINGS, ending_positions

CHESS = make("chess")


def men_of(fen: str) -> str:
    return "".join(sign for sign in fen.split()[0] if sign.isalpha())


@needs_tables
def test_positions_are_of_their_ending_and_differ() -> None:
    fens = [
        CHESS.position_text(state) or ""
        for state, _ in ending_positions(CHESS, str(PLACE), ["KRvK", "KBNvK"], number=60)
    ]
    assert len(set(fens)) == 120
    men = Counter("".join(sorted(men_of(fen))) for fen in fens)
    assert set(men) == {"KRk", "Kkr", "BKNk", "Kbkn"} and sum(men[name] for name in ("KRk", "Kkr")) == 60
    assert {fen.split()[1] for fen in fens} == {"w", "b"}
    assert {fen.split(maxsplit=2)[2] for fen in fens} == {"- - 0 1"}


@needs_tables
@pytest.mark.parametrize("name", [*USUAL_ENDINGS, "KQvKR"])
def test_results_follow_from_those_of_the_replies(name: str) -> None:
    """The result of a move is the worst of all replies to it, which python-chess knows."""
    chess, oracle_of = pytest.importorskip("chess"), pytest.importorskip("chess.syzygy")

    def slow_result(state: State) -> float:
        """The result for the player to move."""
        board = chess.Board(CHESS.position_text(state))
        if board.is_checkmate():
            return -1.0
        if board.is_stalemate() or board.is_insufficient_material():
            return 0.0
        wdl = oracle.probe_wdl(board)
        return float((wdl == 2) - (wdl == -2))

    positions = ending_positions(CHESS, str(PLACE), [name], number=20, seed=3)
    assert any(len(set(results.values())) > 1 for _, results in positions)
    with oracle_of.open_tablebase(str(PLACE)) as oracle:
        for state, results in positions:
            assert list(results) == CHESS.legal_actions(state)
            for action, result in results.items():
                after = CHESS.play(state, action)
                replies = [CHESS.play(after, reply) for reply in CHESS.legal_actions(after)]
                expected = min(map(slow_result, replies)) if replies else -slow_result(after)
                assert result == expected


@needs_tables
def test_equal_seeds_give_equal_positions() -> None:
    def fens(seed: int, names: tuple[str, ...]) -> list[str | None]:
        positions = ending_positions(CHESS, str(PLACE), names, number=10, seed=seed)
        return [CHESS.position_text(state) for state, _ in positions]

    assert fens(1, ("KQvK", "KRvK")) == fens(1, ("KQvK", "KRvK")) != fens(2, ("KQvK", "KRvK"))
    assert fens(1, ("KRvK",)) == fens(1, ("KQvK", "KRvK"))[10:]


def folder_of(path: Path, *names: str, value: int = 0) -> str:
    """A folder with tables whose positions all have one value."""
    for name in names:
        for ending in (".rtbw", ".rtbz"):
            (path / f"{name}{ending}").write_bytes(constant_file(name, ending, value))
    return str(path)


@pytest.mark.parametrize(
    ("game", "name", "message"),
    [
        ("connect4", "KQvK", "Syzygy tables are of chess, not of connect4"),
        ("chess", "krk", r"'krk' is not an ending: write the men of both sides, such as KQvK or KRPvKR\."),
        ("chess", "KQRvKR", r"KQRvKR has 5 men, and the tables have endings of 3 at the most\."),
        ("chess", "KQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQvK", "has 68 men"),
        ("chess", "KBvK", "every position of KBvK is a draw by the rules of chess"),
        ("chess", "KPvK", r"The tables have no result of .* a move after a position of KPvK\. Syzygy endings: 1 of 5"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, game: str, name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ending_positions(make(game), folder_of(tmp_path, "KQvK"), [name], number=5)


def test_too_many_positions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.run.exact_endings.MOST_REPEATS", 0)
    with pytest.raises(SettingsError, match="KQvK has hardly 5 positions: 0 were found"):
        ending_positions(CHESS, folder_of(tmp_path, "KQvK"), ["KQvK"], number=5)


@needs_tables
def test_the_command(zero: Command, tmp_path: Path) -> None:
    path = save_network(tmp_path / "checkpoints", CHESS)
    words = ("probe", str(path), "--syzygy", str(PLACE), "--ending", "KQvK", "--ending", "KRvK", "-n", "1")
    answer = zero(*words, "--worst", "1")
    assert answer.status == 0, answer.err
    assert "a sample of 1,000 solved positions" in answer.words and "The worst blind spots:" in answer.out
    numbers = json.loads(zero(*words, "--json").out)
    assert numbers["num_positions"] == 1000 and not numbers["is_whole"]
    assert 0 < numbers["network"]["right"] < numbers["network"]["of"]


def test_the_command_says_what_is_missing(zero: Command, tmp_path: Path) -> None:
    path = save_network(tmp_path / "checkpoints", CHESS)
    answer = zero("probe", str(path), "--ending", "KQvK")
    assert (
        answer.status == 2
        and "--ending needs tables: name their folder by --syzygy, or a file by --table." in answer.words + answer.err
    )
    answer = zero("probe", str(path))
    assert answer.status == 2 and "chess with --syzygy or --table" in answer.words + answer.err
    answer = zero("probe", str(path), "--syzygy", str(tmp_path / "nowhere"))
    assert answer.status == 2 and "does not exist" in answer.words + answer.err
