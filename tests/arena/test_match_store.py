"""Matches that are kept: what a store holds, refuses and mends, and the files that people read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from programs_for_tests import Scripted
from zerosum.arena import Match, MatchPlan, MatchSettings, PlayedGame, play_match
from zerosum.arena.game_files import GameFile
from zerosum.arena.session import play_session
from zerosum.arena.store import MatchStore, game_line, parse_game
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.contest.adjudication import Score
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms, Thought
from zerosum.games import Rules, make, state_after
from zerosum.network.evaluators import RolloutEvaluator, UniformEvaluator
from zerosum.notation import Record, read_games
from zerosum.notation.centipawns import value_of
from zerosum.play.contestant import RANDOM, ProgramContestant, SearchContestant
from zerosum.play.engines.engine import EngineCommand
from zerosum.play.engines.traffic import TrafficLog
from zerosum.search import SearchConfig

FAKE = Path(__file__).parents[1] / "fake_engine.py"
CONNECT4, CHESS, SHOGI, GO = (make(name) for name in ("connect4", "chess", "shogi", "go(size=5)"))
SETTINGS = {"game": "connect4", "first": {"name": "me", "terms": "5 nodes"}}


def actions(game: Rules, moves: str) -> tuple[int, ...]:
    played: list[int] = []
    for number, text in enumerate(moves.split()):
        action = game.parse_action(state_after(game, " ".join(moves.split()[:number])), text)
        assert action is not None
        played.append(action)
    return tuple(played)


def plan(*, num_games: int = 6, simulations: int = 10, openings: int = 2, seed: int = 1) -> MatchPlan:
    search = SearchContestant("search", UniformEvaluator(), SearchConfig(num_simulations=simulations))
    settings = MatchSettings(num_games, seed, opening_plies=openings, openings_name=f"{openings} random plies")
    return MatchPlan(CONNECT4, (search, RANDOM), settings)


def one_at_a_time(match: MatchPlan) -> MatchPlan:
    return replace(match, settings=replace(match.settings, max_games_at_once=1))


def test_a_log_has_what_engines_were_told_and_answered(tmp_path: Path) -> None:
    script = {"uci": ["!stderr hello", "uciok"], "isready": ["readyok"], "go": ["info depth 1", "bestmove e2e5"]}
    argv = (sys.executable, "-I", "-S", str(FAKE), json.dumps(script))
    player = ProgramContestant("me", EngineCommand(argv, "uci", name="fake one"), terms=Terms(nodes=1))
    match = MatchPlan(CHESS, (player, RANDOM), MatchSettings(4, 1, max_games_at_once=1))
    log = tmp_path / "traffic.log"
    play_session(match, log=log)
    line = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} game (-|\d+) ([<>!])fake one\(0\): (.*)")
    lines = [found.groups() for text in log.read_text().splitlines() if (found := line.fullmatch(text))]
    assert len(lines) == len(log.read_text().splitlines())
    assert lines[0] == ("-", ">", "uci") and ("-", "<", "uciok") in lines
    assert ("!", "hello") in {line[1:] for line in lines}  # read by a thread of its own, perhaps after a game has begun
    assert lines.index(("1", ">", "go nodes 1")) < lines.index(("1", "<", "bestmove e2e5"))
    assert {game for game, _, text in lines if text.startswith("bestmove")} == {"1", "2", "3", "4"}
    played_once = len(lines)
    play_session(match, log=log)
    assert len(log.read_text().splitlines()) > played_once
    with pytest.raises(RunError, match="cannot be written: Is a directory. Name another file with --log"):
        play_session(match, log=tmp_path)
    with pytest.raises(SettingsError, match="--log records the lines of engines, and no engine plays"):
        play_session(plan(), log=log)


def test_a_log_that_cannot_be_written_any_more_ends_the_match(tmp_path: Path) -> None:
    with TrafficLog(Path("/dev/full")) as log:
        log.listener("x", 0)(None, ">", "uci")
        with pytest.raises(RunError, match="/dev/full cannot be written: No space left"):
            log.require_whole()


def test_a_game_comes_back_from_its_line() -> None:
    thoughts = (
        Thought(Score(centipawns=-3), seconds=0.25, clock_s=9.75, depth=5, nodes=100),
        Thought(Score(mate=-2)),
        Thought(Score(win_rate=0.5)),
        Thought(),
    )
    game = PlayedGame(
        3, (3, 3, 2, 1, 0), 1, 1, -1.0, "time", opening="A centre", thoughts=thoughts, notes=("x was late.",)
    )
    line = game_line(CONNECT4, game)
    back = parse_game(CONNECT4, line)
    assert back == game and (back.thoughts, back.notes) == (game.thoughts, game.notes)
    assert json.loads(line)["moves"] == ["4", "4", "3", "2", "1"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"game": -1}',
        '{"game": 0, "moves": ["9"], "result": 0, "ending": "time"}',
        '{"game": 0, "moves": [], "result": 2, "ending": "time"}',
        '{"game": 0, "moves": ["1", "2", "1", "2", "1", "2", "1"], "result": -1, "ending": "four in a row"}',
        '{"game": 0, "moves": [], "result": 0}',
        '{"game": 0, "moves": [], "ending": "time"}',
        '{"game": 0, "moves": [], "result": 0, "ending": "time", "thoughts": [3]}',
        '{"game": 0, "moves": [], "result": 0, "ending": "time", "opening_plies": Infinity}',
    ],
)
def test_lines_that_are_no_games(line: str) -> None:
    with pytest.raises((ValueError, TypeError)):  # what `read_lines` takes for damage
        parse_game(CONNECT4, line)


def stored(path: Path, settings: dict[str, object] = SETTINGS) -> tuple[list[int], list[str]]:
    said: list[str] = []
    store = MatchStore(path, CONNECT4, settings, report=said.append)
    store.close()
    return [game.index for game in store.games], said


def test_a_store_keeps_whole_games_alone(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert stored(path) == ([], [])
    store = MatchStore(path, CONNECT4, SETTINGS)
    for index in (1, 0):
        store.add(PlayedGame(index, (3,), 0, index, 0.0, "agreement"))
    with pytest.raises(RunError, match="is written by another match"):
        MatchStore(path, CONNECT4, SETTINGS)
    store.close()
    assert stored(path) == ([1, 0], []) and [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[1][:20])
    games, said = stored(path)
    assert games == [1, 0] and said == [f"The last line of {path} was cut off while it was written, and is removed."]
    assert path.read_bytes() == whole
    path.write_bytes(whole + whole.splitlines()[1] + b"\n")
    games, said = stored(path)
    assert games == [1, 0] and "is damaged in line 4" in said[0] and path.read_bytes() == whole


def test_a_header_that_was_cut_short_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text('{"format": "zero')
    assert stored(path) == ([], []) == stored(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1. e4 e5\n", "is not a match file"),
        ('{"format": "something else"}\n', "is not a match file"),
        ("\n\n", "is not a match file"),
        (
            json.dumps({"format": "zerosum match 1", "game": "connect4", "first": {"name": "me", "terms": "6 nodes"}})
            + "\n",
            "holds another match: first.terms is '6 nodes' there and '5 nodes' here. Repeat the command",
        ),
        (
            json.dumps({"format": "zerosum match 1", **SETTINGS, "draw": "x"}) + "\n",
            "draw is 'x' there and 'None' here",
        ),
    ],
)
def test_files_of_something_else_are_refused_and_left_alone(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        stored(path)
    assert path.read_text() == content


def test_a_session_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    whole = play_session(plan()).result.games
    path = tmp_path / "games.jsonl"
    assert play_session(plan(), file=path).result.games == whole
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text(header + "".join(lines[:3]) + lines[3][:30])
    said: list[str] = []
    resumed = play_session(plan(), file=path, say=said.append)
    assert resumed.result.games == whole and not resumed.is_interrupted
    assert said[1:] == [f"{path} has 3 games of this match, which count."]
    # More games are the same match; another opponent, opening or seed is not.
    assert play_session(plan(num_games=8), file=path).result.games[:6] == whole
    for other in (plan(simulations=11), plan(openings=3), plan(seed=2)):
        with pytest.raises(DataError, match="holds another match"):
            play_session(other, file=path)


def test_an_interrupted_session_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, play_batch = tmp_path / "games.jsonl", Match.play_batch

    def interrupted(match: Match) -> list[PlayedGame]:
        if len(match.result.games) >= 2:
            raise KeyboardInterrupt
        return play_batch(match)

    monkeypatch.setattr(Match, "play_batch", interrupted)
    played = play_session(one_at_a_time(plan()), file=path)
    assert played.is_interrupted and len(played.result.games) == 2
    assert played.how_to_go_on == f"Interrupted. The games are in {path}: the same command continues the match."
    assert "--out FILE" in play_session(one_at_a_time(plan())).how_to_go_on
    monkeypatch.undo()
    assert play_session(plan(), file=path).result.games == play_session(plan()).result.games


def write(game: Rules, path: Path, games: Sequence[PlayedGame]) -> list[Record]:
    ada = ProgramContestant("Ada", Scripted(), terms=Terms(TimeControl.parse("10+0.1")))
    file = GameFile(path, MatchPlan(game, (ada, replace(RANDOM, name="Charles")), MatchSettings(4, 1)))
    file.begin(games[:1])
    for played in games[1:]:
        file.add(played)
    return [record.checked() for record in read_games(path)]


def test_chess_games_as_pgn(tmp_path: Path) -> None:
    thoughts = (Thought(Score(centipawns=30), seconds=0.5, clock_s=9.6, depth=7), Thought(Score(win_rate=0.25)))
    line = actions(CHESS, "e2e4 e7e5 g1f3 b8c6")
    games = [
        PlayedGame(0, line, 2, 0, 1.0, "resignation", opening="Open", thoughts=thoughts, date="2026-01-31"),
        PlayedGame(1, line, 2, 1, 1.0, "illegal move", notes=("Charles cheated.",)),
    ]
    first, second = write(CHESS, tmp_path / "games.pgn", games)
    assert first.players == ("Ada", "Charles") and second.players == ("Charles", "Ada")
    assert (first.result, first.ending, second.result, second.ending) == (1.0, "resignation", -1.0, "illegal move")
    assert first.header("date") == "2026.01.31" and first.header("WhiteTimeControl") == "10+0.1"
    knight, reply = first.moves[2:]
    assert knight.evaluation is not None and (knight.evaluation.pawns, knight.evaluation.depth) == (0.3, 7)
    assert (knight.clock_s, knight.spent_s) == (9.6, 0.5)
    assert reply.evaluation is not None and reply.evaluation.pawns == pytest.approx(2.99) and not reply.comments
    assert "Opening: Open" in first.comments and second.comments == ("Charles cheated.",)


def test_a_search_tells_its_evaluation_and_time(tmp_path: Path) -> None:
    """As White sees them, to PGN and back, and the same for python-chess."""
    path, search = tmp_path / "games.pgn", SearchConfig(num_simulations=30)
    timed = SearchContestant("timed", RolloutEvaluator(seed=1), search, terms=Terms(TimeControl.parse("st=0.05")))
    short = make("chess(max_plies=12)")
    played = play_session(MatchPlan(short, (timed, RANDOM), MatchSettings(2, 1, opening_plies=2)), file=path)
    told = 0
    for game, record in zip(
        sorted(played.result.games, key=lambda game: game.index),
        sorted(read_games(path), key=lambda record: record.header("round")),
        strict=True,
    ):
        for ply, (move, thought) in enumerate(zip(record.checked().moves[2:], game.thoughts, strict=True)):
            if thought.score is None:
                assert move.evaluation is None
                continue
            assert thought.score.win_rate is not None and thought.seconds is not None and move.spent_s is not None
            assert move.evaluation is not None and move.evaluation.pawns is not None
            rate = thought.score.win_rate if ply % 2 == 0 else 1 - thought.score.win_rate
            assert (1 + value_of(100 * move.evaluation.pawns, 272)) / 2 == pytest.approx(rate, abs=0.002)
            assert move.spent_s == pytest.approx(thought.seconds, abs=0.001)
            told += 1
    assert told == 10
    chess_pgn = pytest.importorskip("chess.pgn")
    with path.open() as stream:
        for record in read_games(path):
            nodes = list(chess_pgn.read_game(stream).mainline())
            for node, move in zip(nodes, record.moves, strict=True):
                score = node.eval()
                assert (score is None) == (move.evaluation is None)
                if score is not None and move.evaluation is not None:
                    assert score.white().score() == round(100 * (move.evaluation.pawns or 0))
                assert node.emt() == move.spent_s


def test_go_games_as_sgf(tmp_path: Path) -> None:
    line = actions(GO, "C3 pass pass")
    games = [
        PlayedGame(0, line, 0, 0, 1.0, "two passes", thoughts=(Thought(seconds=1.0, clock_s=9.0),) * 3),
        PlayedGame(1, line[:2], 0, 1, 1.0, "resignation", thoughts=(Thought(Score(win_rate=0.25)),) * 2),
        PlayedGame(2, line[:2], 0, 0, 1.0, "time"),
    ]
    records = write(GO, tmp_path / "games.sgf", games)
    ends = [(record.result, record.ending) for record in records]
    assert ends == [(1.0, "17.5 points"), (-1.0, "resignation"), (1.0, "time")]
    assert [move.clock_s for move in records[0].moves] == [9.0] * 3
    assert [move.comments for move in records[1].moves] == [("Black 25.0%.",), ("Black 75.0%.",)]


@pytest.mark.parametrize(
    ("ending", "num_moves", "result"),
    [
        ("resignation", 2, -1.0),
        ("resignation", 3, 1.0),
        ("time", 2, -1.0),
        ("illegal move", 3, 1.0),
        ("forfeit", 2, -1.0),
        ("no legal move", 2, -1.0),
        ("checkmate", 3, 1.0),
        ("perpetual check", 2, -1.0),
        ("perpetual check", 2, 1.0),
        ("declaration", 2, 1.0),
        ("fourfold repetition", 2, 0.0),
        ("agreement", 2, 0.0),
        ("ply cap", 3, 0.0),
    ],
)
def test_shogi_games_as_csa(tmp_path: Path, ending: str, num_moves: int, result: float) -> None:
    """CSA has a word with the same result for each ending of a match's game."""
    line = actions(SHOGI, "7g7f 3c3d 2g2f")[:num_moves]
    thoughts = (Thought(Score(centipawns=50), seconds=0.25),) * num_moves
    games = [PlayedGame(index, line, 0, 0, result, ending, thoughts=thoughts, date="2026-01-31") for index in (0, 2)]
    for record in write(SHOGI, tmp_path / "games.csa", games):
        assert record.result == result and len(record.moves) == num_moves
        assert record.moves[0].spent_s == 0.25 and record.moves[0].comments == ("** 50",)
        assert record.moves[1].comments == ("** -50",)


def test_a_file_is_made_anew_from_the_store(tmp_path: Path) -> None:
    path, program = tmp_path / "games.pgn", Scripted()
    short = make("chess(max_plies=10)")
    match = MatchPlan(short, (ProgramContestant("scripted", program), RANDOM), MatchSettings(4, 1, opening_plies=2))
    play_session(match, file=path)
    whole = path.read_text()
    path.write_text(whole[:500])
    store = tmp_path / "games.jsonl"
    store.write_text("".join(store.read_text().splitlines(keepends=True)[:3]))
    assert len(play_session(match, file=path).result.games) == 4
    assert sorted(record.header("round") for record in read_games(path)) == ["1.1", "1.2", "2.1", "2.2"]


def test_a_file_that_no_match_has_written_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 *\n")
    match = MatchPlan(CHESS, (RANDOM, ProgramContestant("scripted", Scripted())), MatchSettings(2, 1))
    with pytest.raises(DataError, match=r"games.pgn exists, and .*games.jsonl, the match to resume, does not"):
        play_session(match, file=path)
    assert path.read_text() == "1. e4 e5 *\n" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["games.pgn", "games.kif", "games.csa", "games", "games.txt"])
def test_files_that_cannot_hold_the_games(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot contain games of connect4: expected a file that ends in .jsonl"):
        play_session(plan(), file=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        play_session(plan(), file=tmp_path / "file" / "games.jsonl")


def test_what_is_kept_says_no_more_than_the_match(tmp_path: Path) -> None:
    """A match with a file plays the same games as one without."""
    kept = play_session(plan(), file=tmp_path / "games.jsonl").result
    assert kept == play_match(CONNECT4, *plan().players, num_games=6, seed=1, opening_plies=2)
