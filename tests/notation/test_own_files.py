"""Files that zerosum writes for any game, moves as text and matches, read back."""

from __future__ import annotations

import io
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import games_for_tests
from zerosum._core import core_game_names
from zerosum.arena import MatchPlan, MatchSettings
from zerosum.arena.session import play_session
from zerosum.arena.store import parse_game
from zerosum.base.errors import DataError
from zerosum.games import Rules, adopt, make, parse_action, start_state
from zerosum.games.playthrough import Playthrough
from zerosum.notation import read_games, states_of
from zerosum.play.contestant import RANDOM
from zerosum.play.game_file import save_game

GAMES = sorted(core_game_names())
OTHER = replace(RANDOM, name="other")


def random_actions(game: Rules, *, plies: int, seed: int, start: str = "") -> list[int]:
    state, rng, actions = start_state(game, start), random.Random(seed), list[int]()
    while len(actions) < plies and game.outcome(state) is None:
        actions.append(rng.choice(game.legal_actions(state)))
        state = game.play(state, actions[-1])
    return actions


@pytest.mark.parametrize("name", GAMES)
def test_saved_moves_are_read_back(name: str, tmp_path: Path) -> None:
    game, path = make(name), tmp_path / "game.txt"
    for seed in range(3):
        actions = random_actions(game, plies=15, seed=seed)
        save_game(path, Playthrough.of(game, "", actions), players=("a", "b"), is_initial=True)
        (record,) = read_games(path, game=game)
        assert not record.errors and record.game == game.spec.full_name
        state = game.initial_state()
        for action in actions:
            state = game.play(state, action)
        assert len(record.moves) == len(actions) and states_of(record)[-1] == state


@pytest.mark.parametrize("name", ["chess", "shogi", "go(size=5)", "connect4", "othello", "hex(size=5)"])
def test_saved_moves_keep_their_first_position(name: str, tmp_path: Path) -> None:
    game, path = make(name), tmp_path / "game.txt"
    before = game.initial_state()
    for action in random_actions(game, plies=5, seed=1):
        before = game.play(before, action)
    position = game.position_text(before)
    assert position is not None
    start = start_state(game, position)
    actions = random_actions(game, plies=4, seed=2, start=position)
    save_game(path, Playthrough.of(game, start, actions), players=("a", "b"), is_initial=False)
    (record,) = read_games(path, game=game)
    assert not record.errors and len(record.moves) == len(actions)
    assert states_of(record)[0] == start


def test_lines_of_moves() -> None:
    """A game a line, with comments, numbers and damaged lines."""
    text = "# two games\n\n1. 4 4 2. 3\n4 9 1\nposition startpos moves 5\n"
    first, damaged, last = read_games(io.StringIO(text), game=make("connect4"))
    assert [move.text for move in first.moves] == ["4", "4", "3"] and [move.text for move in last.moves] == ["5"]
    assert [move.text for move in damaged.moves] == ["4"]
    assert damaged.errors[0].startswith("line 4: '9', move 2, is not legal here: legal are 1, 2, 3")
    with pytest.raises(DataError, match="begins like no known game record"):
        list(read_games(io.StringIO("4 4 3\n")))


def test_a_record_format_of_the_game_comes_before_moves() -> None:
    (record,) = read_games(io.StringIO("1. e4 {good} e5 *\n"), game=make("chess"))
    assert record.format == "pgn" and record.moves[0].comments == ("good",)
    (record,) = read_games(io.StringIO("P16 Q4\n"), game=make("go19"))  # CSA may begin like this
    assert not record.errors and [move.text for move in record.moves] == ["P16", "Q4"]


def match_file(game: Rules, path: Path, *, num_games: int = 4) -> Path:
    play_session(MatchPlan(game, (RANDOM, OTHER), MatchSettings(num_games, 1, opening_plies=2)), file=path)
    return path


@pytest.mark.parametrize("name", GAMES)
def test_matches_are_read_back(name: str, tmp_path: Path) -> None:
    """As the store of the match reads them."""
    path = match_file(make(name), tmp_path / "match.jsonl")
    lines = path.read_text().splitlines()[1:]
    records = list(read_games(path))
    assert len(records) == len(lines) == 4
    for record, line in zip(records, lines, strict=True):
        game = make(record.game)
        played = parse_game(game, line)
        sign = -1 if played.first_is_player else 1
        assert not record.errors and record.result == sign * played.result and record.ending == played.ending
        assert record.players == (("random", "other") if sign == 1 else ("other", "random"))
        assert record.opening_plies == played.opening_plies
        state = start_state(game, played.start)
        for move, action in zip(record.moves, played.actions, strict=True):
            assert parse_action(game, state, move.text) == action
            state = game.play(state, action)


def test_a_match_of_a_game_of_the_users_own(tmp_path: Path) -> None:
    game = adopt(games_for_tests.DoubleMove())
    path = match_file(game, tmp_path / "match.jsonl", num_games=2)
    assert all(record.moves and not record.errors for record in read_games(path, game=game))
    with pytest.raises(DataError, match=r"match.jsonl, line 1: "):
        list(read_games(path))
    with pytest.raises(DataError, match=f"the match is of {re.escape(game.spec.full_name)}, not of hex"):
        list(read_games(path, game=make("hex")))


def test_names_of_a_tournament(tmp_path: Path) -> None:
    players = tuple(replace(RANDOM, name=name) for name in "abc")
    path = tmp_path / "games.jsonl"
    play_session(MatchPlan(make("tictactoe"), players, MatchSettings(2, 1)), file=path)
    kept = [tuple(json.loads(line)["players"]) for line in path.read_text().splitlines()[1:]]
    assert [record.players for record in read_games(path)] == kept and len(set(kept)) == 6


def test_damaged_lines_of_a_match_are_named(tmp_path: Path) -> None:
    path = match_file(make("connect4"), tmp_path / "match.jsonl")
    header, first, *rest = path.read_text().splitlines()
    values = json.loads(first)
    changes = [
        {"result": "won"},
        {"moves": [1]},
        {"moves": ["\ud800"]},
        {"ending": "\ud800"},
        {"opening_plies": 99},
        {"opening_plies": -1},
        {"opening_plies": True},
    ]
    damaged = [first[:40], "", "[]", "5", *(json.dumps(values | change) for change in changes)]
    path.write_text("\n".join([header, *damaged, *rest]) + "\n")
    records = list(read_games(path))
    assert [bool(record.errors) for record in records] == [True] * len(damaged) + [False] * 3
    for number, record in enumerate(records[: len(damaged)], start=2):
        assert (
            record.errors[0].startswith(f"{path}, line {number}: ") and "is not a game of a match" in record.errors[0]
        )
    path.write_text("\n".join([header, json.dumps(values | {"moves": [*values["moves"][:3], "9"]})]))
    (record,) = read_games(path)
    assert len(record.moves) == 3 and record.errors[0].startswith(f"{path}, line 2: '9', move 4, is not legal here")


@pytest.mark.parametrize("line", ["", "{", '{"id": "a"}', '{"format": "zerosum match 9", "game": "hex"}', "[1]"])
def test_files_that_are_no_matches(line: str, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(DataError, match=r"queries.jsonl, line 1: .* is not the first line of a match: expected one"):
        list(read_games(path))


def test_a_match_runs_no_file_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    path = tmp_path / "match.jsonl"
    match = {
        "format": "zerosum match 1",
        "game": f"{tmp_path / 'own.py'}:Own",
        "first": {"name": "a"},
        "second": {"name": "b"},
    }
    game = {"first_is_player": 0, "result": 1, "moves": ["1"], "ending": "won"}
    path.write_text(f"{json.dumps(match)}\n{json.dumps(game)}\n")
    with pytest.raises(DataError, match=r"line 1: the game is .* a file, which no record can name"):
        list(read_games(path))
    assert not (tmp_path / "ran").exists()
