"""Games reviewed: marks, texts, JSON, and records that read back as they were, with more said of them."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from analysis_client import answers
from commands_for_tests import Command
from games_for_tests import DoubleMove
from gtp_client import Client
from lc0_files import Lc0File, lc0_network
from zerosum._core import Root
from zerosum.analysis.analyst import Analyst
from zerosum.analysis.review import LONGER, Review, ReviewedMove, ReviewedPosition, Thresholds, review
from zerosum.analysis.review_command import ReviewCommand
from zerosum.analysis.review_record import annotated
from zerosum.analysis.review_text import review_numbers, review_text
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, State, adopt, make, parse_action
from zerosum.network.evaluators import Evaluator, RolloutEvaluator, UniformEvaluator
from zerosum.notation import Evaluation, Move, Record, game_text, read_games
from zerosum.notation.legality import states_of
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.choice import Players
from zerosum.play.driver import Task
from zerosum.play.player import Player, load_player
from zerosum.search import SearchConfig

DATA = Path(__file__).parents[1] / "data"
FILES = ("games.pgn", "games.sgf", "game.kifu", "handicap.kif", "games.csa")


def moves(text: str) -> tuple[Move, ...]:
    return tuple(Move(word) for word in text.split())


def solved(record: Record, *, num_simulations: int = 3000) -> Review:
    """A search with exact bounds."""
    game = make(record.game)
    analyst = Analyst(Player(game, UniformEvaluator(), SearchConfig(), name="uniform"))
    return review(record, analyst, Task(num_visits=num_simulations))


def actions_of(game: Rules, state: State, line: str) -> tuple[int, ...]:
    actions = []
    for text in line.split():
        actions.append(parse_action(game, state, text))
        state = game.play(state, actions[-1])
    return tuple(actions)


def judged(record: Record, values: Sequence[float], better: Sequence[str], *, proven: Sequence[int] = ()) -> Review:
    """A review of which all is known: the first player's values before and after each move, and what was better."""
    states, game = states_of(record), make(record.game)
    positions = []
    for ply, (state, value, line) in enumerate(zip(states, values, better, strict=True)):
        sign = 1 if game.player(state) == 0 else -1
        actions = actions_of(game, state, line)
        found = AnalysisLine(game, state, actions, 80, sign * value, 0.1, None, ply in proven)
        root = SimpleNamespace(player=game.player(state), value=sign * value, num_simulations=100)
        report = Analysis(game, state, cast(Root, root), (found,), 100, 0.1, "simulations", "a sage")
        positions.append(ReviewedPosition(state, report if line else None, value))
    thresholds = Thresholds()
    reviewed = []
    for ply, move in enumerate(record.moves):
        player = game.player(states[ply])
        action = game.parse_action(states[ply], move.text)
        assert action is not None
        loss = max(0.0, (values[ply] - values[ply + 1]) / 2 * (1 if player == 0 else -1))
        reviewed.append(ReviewedMove(move.text, action, player, loss, thresholds.mark(loss)))
    return Review(record, game, tuple(positions), tuple(reviewed), "a sage", thresholds)


# ---- what is found


def test_exact_results_give_exact_marks() -> None:
    """Tic-tac-toe is a draw; the answer on the edge loses, and then the win is thrown away."""
    found = solved(Record("tictactoe", moves("b2 b1 a3 c1 c3 a1")))
    assert [position.value for position in found.positions[2:]] == [1.0, 1.0, 1.0, -1.0, -1.0]
    assert abs(found.positions[0].value) < 0.1 and abs(found.positions[1].value) < 0.1
    assert [move.mark for move in found.moves] == ["", "??", "", "", "??", ""]
    assert [move.loss for move in found.moves[2:]] == [0.0, 0.0, 1.0, 0.0]
    assert found.num_marks(1) == {"inaccuracy": 0, "mistake": 0, "blunder": 1}
    assert found.mean_loss(0) == pytest.approx(1 / 3, abs=0.01)


class SecondThoughts(Analyst):
    """An analyst that takes the second move for a blunder, until it looks longer."""

    def __init__(self, game: Rules, *, late: float, evaluator: Evaluator | None = None) -> None:
        super().__init__(Player(game, evaluator or UniformEvaluator(), SearchConfig(), name="second thoughts"))
        self._late, self.asked = late, list[tuple[int, int]]()

    def final(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Analysis:
        assert start is not None and task.num_visits is not None
        game = self.player.game
        state = start
        for action in moves:
            state = game.play(state, action)
        return self._judge(state, task.num_visits)

    def after(self, task: Task, action: int, state: State) -> Analysis:
        assert task.num_visits is not None
        return self._judge(state, task.num_visits)

    def _judge(self, state: State, num_visits: int) -> Analysis:
        self.asked.append((state.plies, num_visits))
        first = 0.0 if state.plies < 2 else 0.8 if num_visits == 10 else self._late
        value = first if self.player.game.player(state) == 0 else -first
        actions = (self.player.game.legal_actions(state)[-1],)
        line = AnalysisLine(self.player.game, state, actions, 80, value, 0.1, None, False)
        root = SimpleNamespace(
            player=self.player.game.player(state), value=value, num_simulations=100, proven=None, best_action=actions[0]
        )
        return Analysis(self.player.game, state, cast(Root, root), (line,), 100, 0.1, "simulations", "a sage")


@pytest.mark.parametrize(("late", "mark"), [(0.8, "??"), (0.25, "?"), (-0.5, "")])
def test_a_blunder_is_looked_at_longer(late: float, mark: str) -> None:
    analyst = SecondThoughts(make("connect4"), late=late)
    found = review(Record("connect4", moves("1 2 3")), analyst, Task(num_visits=10))
    assert [move.mark for move in found.moves] == ["", mark, ""]
    assert analyst.asked[:4] == [(0, 10), (1, 10), (2, 10), (3, 10)]
    assert analyst.asked[4:] == [(1, 10 * LONGER), (2, 10 * LONGER)], "only the positions around the blunder"


@pytest.mark.parametrize(("late", "mark", "unsure"), [(0.8, "??", ""), (0.25, "", "?"), (-0.5, "", "")])
def test_what_chance_alone_may_show_is_not_sure(late: float, mark: str, unsure: str) -> None:
    """Two standard errors of 100 random games before and after: 14 % near an even chance, where 12.5 % were lost."""
    analyst = SecondThoughts(make("connect4"), late=late, evaluator=RolloutEvaluator())
    found = review(Record("connect4", moves("1 2 3")), analyst, Task(num_visits=10))
    assert [(move.mark, move.unsure) for move in found.moves] == [("", ""), (mark, unsure), ("", "")]


MORPHY = "4kb1r/p2rqppp/5n2/1B2p1B1/4P3/1Q6/PPP2PPP/2KR4 b k - 0 14"
"""Morphy against the Duke of Brunswick and Count Isouard, Paris 1858, after 14. Rd1."""


@pytest.mark.parametrize("name", ["chess", "chess-alphabeta"])
def test_a_famous_sacrifice_is_no_blunder(name: str) -> None:
    player = load_player(f"bundled/{name}", num_simulations=400 if name == "chess" else 20_000)
    record = Record("chess", moves("Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"), start=MORPHY)
    found = review(record, Analyst(player), Task(num_visits=player.config.num_simulations))
    assert [move.mark for move in found.moves if move.player == 0] == ["", "", ""]


def test_a_game_that_ended_has_its_result_and_no_search() -> None:
    won = solved(Record("tictactoe", moves("b2 b1 a3 c3 c1")), num_simulations=50)
    assert (won.positions[-1].report, won.positions[-1].value) == (None, 1.0)
    assert won.positions[-2].report is not None


def test_a_side_that_moves_twice_loses_nothing_by_it() -> None:
    game = adopt(DoubleMove())
    analyst = Analyst(Player(game, UniformEvaluator(), SearchConfig(), name="uniform"))
    found = review(Record(game.spec.full_name, moves("+2 +2 +1")), analyst, Task(num_visits=2000))
    assert [move.player for move in found.moves] == [0, 0, 0]
    for move, before, after in found.steps:
        assert move.loss == pytest.approx(max(0.0, before.win_rate - after.win_rate)) or move.loss == 0


def test_people_are_asked_beside_the_search(tmp_path: Path) -> None:
    """The shares are the policy of the network over the legal moves, in text, JSON and PGN."""
    path = tmp_path / "people.pb.gz"
    path.write_bytes(gzip.compress(Lc0File(lc0_network()).content()))
    person = load_player(path)
    game = make("chess")
    record = Record("chess", moves=tuple(Move(text) for text in ("f2f3", "e7e5", "g2g4")))
    found = review(
        record,
        Analyst(Player(game, UniformEvaluator(), SearchConfig(), name="uniform")),
        Task(num_visits=30),
        people=[person],
    )
    state = game.initial_state()
    for move in found.moves:
        (share,) = move.people
        leaves = person.game.encode([state])
        weights = np.exp(person.evaluator.evaluate(leaves).logits.astype(float))
        shares = dict(zip(leaves.legal_actions.tolist(), weights / weights.sum(), strict=True))
        assert share.by == "people"
        assert share.played == pytest.approx(shares[move.action], abs=1e-5)
        assert share.best is None or share.best in [pytest.approx(other, abs=1e-5) for other in shares.values()]
        state = game.play(state, move.action)
    assert review_text(found).splitlines()[1].split()[-1] == "people"
    numbers = review_numbers(found)["positions"][1]["people"]
    assert numbers == [found.moves[0].people[0].numbers()]


def test_people_are_asked_about_moves_alone(zero: Command, tmp_path: Path) -> None:
    path = tmp_path / "people.pb.gz"
    path.write_bytes(gzip.compress(Lc0File(lc0_network()).content()))
    answer = zero("analyse", "--game", "chess", "--people", str(path), "-n", "1", "--player", "rollouts")
    assert answer.status == 2 and "--people is for the moves of games" in answer.err
    words = ("analyse", "--game", "chess", "--moves", "e4", "-n", "1", "--player", "rollouts", "--people")
    assert "%" in zero(*words, str(path)).out
    answer = zero(*words, "missing.pb.gz")
    assert answer.status == 2 and "missing.pb.gz does not exist" in answer.err
    answer = zero(
        "analyse", "--game", "connect4", "--moves", "4", "-n", "1", "--player", "rollouts", "--people", str(path)
    )
    assert answer.status == 2 and "does not fit connect4" in answer.err


def test_thresholds_are_held() -> None:
    assert [Thresholds(0.1, 0.2, 0.3).mark(loss) for loss in (0.09, 0.1, 0.2, 1.0)] == ["", "?!", "?", "??"]
    for wrong in ((0, 0.1, 0.2), (0.2, 0.1, 0.3), (0.1, 0.2, 1.1), (float("nan"), 0.1, 0.2)):
        with pytest.raises(SettingsError, match="expected losses of the win rate above 0"):
            Thresholds(*wrong)


# ---- what is said of it

WHO = "Analysed by a sage; a move is marked by its loss of win rate, ?! from 5%, ? from 10%, ?? from 15%."
CHESS = Record("chess", moves("f2f3 e7e5 g2g4 d8h4"), result=-1.0)
CHESS_VALUES = (0.1, -0.05, -0.1, -1.0, -1.0)
CHESS_BETTER = ("e2e4 e7e5", "e7e5", "b1c3 b8c6 e2e4", "d8h4", "")


def test_a_review_as_text() -> None:
    assert (
        review_text(judged(CHESS, CHESS_VALUES, CHESS_BETTER))
        == """\
Game 1: chess. Win rates are the first player's, by a sage.
no.  by     move  win rate   lost
                     55.0%
  1  White  f3?!     47.5%   7.5%  better: e4 e5
  1  Black  e5       45.0%
  2  White  g4??      0.0%  45.0%  better: Nc3 Nc6 e4
  2  Black  Qh4#      0.0%
first player: 1 inaccuracy, 0 mistakes, 1 blunder; 26.2% lost per move
second player: 0 inaccuracies, 0 mistakes, 0 blunders; 0.0% lost per move
The game is over: checkmate."""
    )


def test_rollouts_judge_by_exact_results_and_mark_nothing_within_their_noise() -> None:
    text = Told().run("", game="chess", position="6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", moves="Ra8#")
    assert re.search(r"\n +100.0%\n +1  White  Ra8# +100.0%\n", text), "a mate in one is a win"
    few = Told().run("", game="connect4", moves="4 4 3 5 1 2 7 7 6 1")
    assert "?" not in few and "first player: 0 inaccuracies, 0 mistakes, 0 blunders" in few


def test_what_was_reviewed_survives_ctrl_c(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reports, calls = Analyst._reports, iter(range(100))

    def interrupted(*args: Any, **options: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return reports(*args, **options)

    monkeypatch.setattr(Analyst, "_reports", interrupted)
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 2. Nf3 Nc6 *\n\n1. d4 d5 *\n", encoding="utf-8")
    told = Told(format="pgn")
    (record,) = read_games(io.StringIO(told.run(str(path))), format="pgn")
    assert told.command.is_interrupted and [move.text for move in record.moves] == ["e2e4", "e7e5"]
    assert "The review was interrupted after this move." in " ".join(record.moves[-1].comments)


def test_a_review_as_json() -> None:
    found = json.loads(json.dumps(review_numbers(judged(CHESS, CHESS_VALUES, CHESS_BETTER)), allow_nan=False))
    assert found["positions"][3]["move"] == "g2g4"
    assert (found["positions"][3]["mark"], found["positions"][3]["loss"]) == ("??", 0.45)
    assert found["positions"][3]["lines"][0]["moves"] == ["d8h4"]
    assert found["positions"][4]["ending"] == "checkmate" and "lines" not in found["positions"][4]
    assert [player["blunder"] for player in found["players"]] == [1, 0]


def test_a_review_as_pgn() -> None:
    record = annotated(judged(CHESS, CHESS_VALUES, CHESS_BETTER, proven=(3,)), format="pgn")
    assert (
        game_text(record, format="pgn").partition("\n\n")[2]
        == """\
{Analysed by a sage; a move is marked by its loss of win rate, ?! from 5%, ?
from 10%, ?? from 15%.} 1. f3 $6 {[%eval -0.27] Inaccuracy, 55.0% -> 47.5% for
the mover. Better: e4.} (1. e4 e5) 1... e5 {[%eval -0.55]} 2. g4 $4 {[%eval #-1]
Blunder, 45.0% -> 0.0% for the mover. Better: Nc3.} (2. Nc3 Nc6 3. e4) 2... Qh4#
0-1

"""
    )


def test_a_review_as_sgf() -> None:
    record = Record("go(size=9)", moves("E5 G3 pass"))
    found = judged(record, (0.0, 0.1, 0.2, -0.6), ("E5", "C3 G7", "G7 C3", "D4"))
    assert (
        game_text(annotated(found, format="sgf"), format="sgf")
        == f"""\
(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[7]C[{WHO}]
;B[ee]SBKV[55.00]C[Black 55.0%.]
(
;W[gg]DO[]SBKV[60.00]C[Black 60.0%. Inaccuracy, 45.0% -> 40.0% for the mover. Better: C3.]
(
;B[]BM[2]SBKV[20.00]C[Black 20.0%. Blunder, 60.0% -> 20.0% for the mover. Better: G7.])
(
;B[gc]
;W[cg]))
(
;W[cg]
;B[gc]))
"""
    )


def test_a_review_as_kif_and_csa() -> None:
    record = Record("shogi", moves("7g7f 3c3d 8h2b+"))
    found = judged(record, (0.0, 0.1, 0.1, -0.4), ("2g2f", "3c3d", "2g2f 8c8d", "3a2b"))
    kif = game_text(annotated(found, format="kif"), format="kif")
    assert (
        "   3 ２二角成(88)+\n*#評価値=-508\n"
        "*Blunder, 55.0% -> 30.0% for the mover. Better: ２六歩(27).\n\n"
        "変化\uff1a3手\n   3 ２六歩(27)\n   4 ８四歩(83)\n"
    ) in kif
    csa = game_text(annotated(found, format="csa"), format="csa")
    assert "+8822UM\n'** -508 -3122GI\n'Blunder, 55.0% -> 30.0% for the mover. Better: +2726FU.\n" in csa


@pytest.mark.parametrize("name", FILES)
def test_annotating_changes_no_move_and_reads_back(name: str) -> None:
    """All that was said stays, but for evaluations; what is written twice is said once."""
    players = Players("rollouts@8")
    for record in read_games(DATA / name):
        if record.errors:
            continue
        found = review(record, Analyst(players.of(make(record.game))), Task(num_visits=8, num_lines=2))
        said = annotated(found, format=record.format)
        (back,) = read_games(io.StringIO(game_text(said, format=record.format)), format=record.format)
        assert not back.errors
        assert [move.text for move in back.moves] == [move.text for move in record.moves]
        assert (back.headers, back.start, back.result) == (record.headers, record.start, record.result)
        assert set(record.comments) <= set(back.comments)
        for before, after in zip(record.moves, back.moves, strict=True):
            assert (after.clock_s, after.spent_s) == (before.clock_s, before.spent_s)
            assert set(before.nags) <= set(after.nags)
            assert after.variations[: len(before.variations)] == before.variations
            kept = {text for text in before.comments if not text.startswith("** ")}
            assert kept <= set(after.comments)
        again = annotated(replace(found, record=back), format=record.format)
        assert [move.variations for move in again.moves] == [move.variations for move in back.moves]
        assert [sorted(move.comments) for move in again.moves] == [sorted(move.comments) for move in back.moves]


def test_python_chess_reads_the_pgn() -> None:
    pgn = pytest.importorskip("chess.pgn")
    record = annotated(judged(CHESS, CHESS_VALUES, CHESS_BETTER, proven=(3,)), format="pgn")
    game = pgn.read_game(io.StringIO(game_text(record, format="pgn")))
    assert not game.errors
    first, third = game.variations[0], game.variations[0].variations[0].variations[0]
    assert (first.nags, first.eval().white().cp, third.eval().white().mate()) == ({6}, -27, -1)
    better = game.variations[1]
    assert (better.move.uci(), better.variations[0].move.uci()) == ("e2e4", "e7e5")


def test_marks_of_people_stay_alone() -> None:
    (record,) = read_games(io.StringIO("1. f3! {[%eval 3] bold} e5 2. g4 *"), format="pgn")
    said = annotated(judged(record, (0.1, -0.3, -0.3, -1.0), ("e2e4", "e7e5", "e2e4", "d8h4")), format="pgn")
    assert said.moves[0].nags == (1,)
    assert said.moves[0].evaluation == Evaluation(pawns=-1.68)
    assert said.moves[0].comments[0] == "bold"


# ---- the command


class Told:
    """A command, and what it wrote."""

    def __init__(self, **settings: object) -> None:
        self.out: list[str] = []
        self.err: list[str] = []
        self.command = ReviewCommand(
            Players("rollouts@10"),
            Task(num_visits=10),
            write=self.out.append,
            complain=self.err.append,
            **settings,  # type: ignore[arg-type]
        )

    def run(self, *args: str, **settings: str) -> str:
        self.command.run(*args, **settings)
        return "\n".join(self.out)


def test_every_game_of_a_file_and_what_is_wrong_with_one(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 *\n\n1. e4 Ke4 *\n\n1. d4 d5 *\n")
    told = Told()
    text = told.run(str(path))
    assert all(f"Game {number}: chess" in text for number in (1, 2, 3))
    assert told.command.num_refused == 1
    (sentence,) = told.err
    assert sentence.startswith(f"Game 2 is analysed up to move 1: {path}, line 3: 'Ke4', move 2, is not legal here")
    told = Told(format="same", output=tmp_path / "out.pgn")
    assert told.run(str(path)) == ""
    written = list(read_games(tmp_path / "out.pgn"))
    assert [len(record.moves) for record in written] == [2, 1, 2]
    assert (
        written[1]
        .moves[0]
        .comments[-1]
        .startswith("The record was not readable after this move: line 3: 'Ke4', move 2, is not legal here")
    )
    lines = [json.loads(line) for line in Told(format="json").run(str(path)).splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert [len(line["warnings"]) for line in lines] == [0, 1, 0]
    path.write_text('[Variant "Atomic"]\n\n1. e4 *\n\n[Event "B"]\n\n1. d4 *\n')
    told = Told()
    assert "Game 2: chess" in told.run(str(path)) and told.command.num_refused == 1
    assert told.err[0].startswith(f"Game 1 is not analysed: {path}, line 1: the variant 'Atomic' is unknown")


def test_files_of_moves_and_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `zerosum play` and `zerosum match` write of a game without a record format."""
    moves, match = tmp_path / "game.txt", tmp_path / "match.jsonl"
    moves.write_text("4 4 3\n")
    text = Told().run(str(moves), game="connect4")
    assert text == Told().run("", game="connect4", moves="4 4 3")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(moves.read_bytes())))
    assert Told().run("-", game="connect4") == text
    with pytest.raises(DataError, match=r"game.txt begins like no known game record .*: for moves, name their --game"):
        Told().run(str(moves))
    with pytest.raises(SettingsError, match="game.txt is a file of games: leave out --position and --moves"):
        Told().run(str(moves), game="connect4", moves="4")
    header = {"format": "zerosum match 1", "game": "connect4", "first": {"name": "A"}, "second": {"name": "B"}}
    game = {"game": 1, "first_is_player": 1, "result": 1, "ending": "resignation", "moves": ["4", "4", "3"]}
    match.write_text("".join(f"{json.dumps(line)}\n" for line in (header, {}, game)))
    for named in ("", "connect4"):
        told = Told()
        text = told.run(str(match), game=named)
        assert text.startswith("Game 2: connect4, B - A. ") and told.command.num_refused == 1
        assert told.err == [
            f"Game 1 is not analysed: {match}, line 2: '{{}}' is not a game of a match, or is cut off; remove the line"
        ]
    match.write_text(
        "".join(f"{json.dumps(line)}\n" for line in (header | {"game": "chess"}, game | {"moves": ["e4"]}))
    )
    (line,) = Told(format="pgn").run(str(match)).splitlines()[-1:]
    assert line.endswith("0-1")
    shogi = (header | {"game": "shogi"}, game | {"ending": "forfeit", "moves": ["7g7f"]})
    match.write_text("".join(f"{json.dumps(line)}\n" for line in shogi))
    assert "'Ended by forfeit: the second player won.\n" in Told(format="csa").run(str(match)), "CSA has no word for it"
    with pytest.raises(SettingsError, match="--format same is for files of pgn, sgf, kif, csa: name one of these"):
        Told(format="same").run(str(match))


STEERING = "\x1b[2J\x9b5m\u202e"


def test_no_file_steers_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tags and comments with escape sequences and turned writing are shown escaped; a file keeps them."""
    path, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    path.write_text(f'[White "W{STEERING}"]\n\n1. e4 {{a{STEERING}}} e5{STEERING} *\n', encoding="utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for format in ("text", "json", "same"):
        ReviewCommand(Players("rollouts@10"), Task(num_visits=10), format=format).run(str(path))
        shown = capsys.readouterr()
        assert "2J" in shown.out and "2J" in shown.err
        assert not set(STEERING[::4]) & set(shown.out + shown.err) and "\u202e" not in shown.out + shown.err
        if format == "json":
            assert ["White", f"W{STEERING}"] in json.loads(shown.out)["headers"]
    Told(format="same", output=out).run(str(path))
    (again,) = read_games(out)
    assert STEERING in "".join(again.moves[0].comments)


def test_blemishes_are_told_and_the_game_is_analysed(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Event "a "b""]\n\n1. e4 (1. d4 Ke4) 1... e5* \n')
    told = Told(format="json")
    (line,) = told.run(str(path)).splitlines()
    assert told.command.num_refused == 0 and len(json.loads(line)["positions"]) == 3
    assert [sentence.partition(": ")[2].removeprefix(f"{path}, ")[:24] for sentence in told.err] == [
        'line 1: \'[Event "a "b""]',
        "line 3: 'e5*': expected ",
        "line 3: 'Ke4', move 2, i",
    ]
    assert all(sentence.startswith("Game 1: ") and sentence.endswith(".") for sentence in told.err)
    told = Told(format="same", output=tmp_path / "out.pgn")
    told.run(str(path))
    (again,) = read_games(tmp_path / "out.pgn")
    assert again.header("Event") == 'a "b"' and not again.warnings


@pytest.mark.parametrize("suffix", [".kifu", ".csa", ".sgf"])
def test_a_game_that_stops_is_annotated_up_to_there(suffix: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"game{suffix}", tmp_path / f"out{suffix}"
    text = {
        ".kifu": "   1 ７六歩(77)\n   2 ９九歩(33)\n   3 投了\n",
        ".csa": "PI\n+\n+7776FU\n-3399FU\n%TORYO\n",
        ".sgf": "(;SZ[9]RE[B+R];B[ee];W[ee])",
    }[suffix]
    path.write_text(text, encoding="utf-8")
    told = Told(format="same", output=out)
    told.run(str(path))
    (record,) = read_games(out)
    assert len(record.checked().moves) == 1 and told.command.num_refused == 1
    assert "The record was not readable after this move" in " ".join(record.moves[0].comments)


def test_moves_and_positions_of_any_game() -> None:
    assert "Game 1: connect4. " in Told().run("4 4 3", game="connect4")
    assert "Game 1: hex(size=5). " in Told().run("", game="hex(size=5)", moves="a1 b2")
    text = Told().run("", game="chess", position="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", moves="e2e4 e8e7")
    assert re.search(r"1  White  e4 .*\n *1  Black  Ke7 ", text), "who moved, as people write it"
    text = Told().run("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", game="chess")
    assert "Position: 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" in text and "best line" in text
    assert json.loads(Told(format="json").run("", game="tictactoe"))["simulations"] == 10
    assert "Position: 7/7/7/7/3O3/2XX3 O" in Told(last=True).run("4 4 3", game="connect4")
    pgn = Told(format="pgn").run("e4 e5", game="chess")
    assert [move.text for move in next(read_games(io.StringIO(pgn), format="pgn")).moves] == ["e2e4", "e7e5"]


@pytest.mark.parametrize(
    ("words", "settings", "sentence"),
    [
        (("nothing.pgn",), {}, "nothing.pgn cannot be read"),
        (("empty.pgn",), {}, "empty.pgn contains no game: expected at least one"),
        (("nothing",), {}, "'nothing' is not a file of games: name a file, or the --game"),
        ((), {}, "There is nothing to analyse: name a file, or the --game of the position"),
        (("x.pgn",), {"game": "chess"}, "is a file of games"),
        (("4",), {"game": "connect4", "moves": "4"}, "excludes --position and --moves"),
        (("4 4 9",), {"game": "connect4"}, "move 3: '9' is not a legal move here"),
        (("hello",), {"game": "connect4"}, "neither a position nor moves"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    settings: dict[str, str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.pgn").touch()
    with pytest.raises(Exception, match=sentence) as caught:
        Told().run(*(words or ("",)), **settings)
    assert "zerosum.base.errors" in type(caught.value).__mro__[1].__module__


def test_a_format_without_words_is_refused_before_the_work() -> None:
    with pytest.raises(SettingsError, match="PGN cannot represent connect4"):
        Told(format="pgn").run("4 4", game="connect4")
    with pytest.raises(SettingsError, match="--format same is for files"):
        Told(format="same").run("4 4", game="connect4")
    with pytest.raises(SettingsError, match="--format is 'png': did you mean 'pgn'"):
        Told(format="png")
    with pytest.raises(SettingsError, match="--last is for text and json"):
        Told(format="same", last=True).run(str(DATA / "games.pgn"))
    with pytest.raises(SettingsError, match="--format pgn is for games"):
        Told(format="pgn").run("", game="chess")


def test_moves_have_the_numbers_that_people_give_them() -> None:
    """A chess move is numbered with its reply, also from a position in the middle of a game; a Go move by itself."""
    middle = Told().run("", game="chess", position="6k1/5ppp/8/8/8/8/8/R5K1 b - - 3 29", moves="h6 Ra8+ Kh7")
    assert [line.split()[:3] for line in middle.splitlines()[3:6]] == [
        ["29", "Black", "h6"],
        ["30", "White", "Ra8+"],
        ["30", "Black", "Kh7"],
    ]
    go = Told().run("", game="go(size=5)", moves="C3 B2 D4")
    assert [line.split()[:3] for line in go.splitlines()[3:6]] == [
        ["1", "Black", "C3"],
        ["2", "White", "B2"],
        ["3", "Black", "D4"],
    ]


# ---- games of Go that people finished

DEAD = (DATA / "people" / "sgf20_dead_stones_japanese.sgf").read_text()


def reviewed_go(text: str) -> Review:
    (record,) = read_games(io.StringIO(text))
    game = make(record.game)
    return review(record, Analyst(Players("rollouts").of(game)), Task(num_visits=50))


@pytest.mark.parametrize(
    ("change", "value", "score"),
    [
        (("", ""), 1.0, 2.5),
        (("RE[B+2.5]", ""), 1.0, 2.5),
        (("RU[Japanese]", "RU[Chinese]"), 1.0, 2.5),
        (("RU[Japanese]", ""), 1.0, 2.5),
        (("RE[B+2.5]", "RE[W+R]"), -1.0, 2.5),  # what the players agreed on decides
        (("KM[6.5]RU[Japanese]PB[a]PW[b]RE[B+2.5]", "KM[9.5]RU[Japanese]"), -1.0, -0.5),
    ],
)
def test_dead_stones_do_not_count_after_two_passes(change: tuple[str, str], value: float, score: float) -> None:
    found = reviewed_go(DEAD.replace(*change))
    last = found.positions[-1]
    assert (last.value, last.win_rate) == (value, (1 + value) / 2) and last.count is not None
    assert (last.count.score, last.count.dead) == (score, ("C4",))
    assert [move.mark for move in found.moves[-2:]] == ["", ""], "a right pass is no mistake"
    numbers = review_numbers(found)["positions"][-1]
    assert (numbers["value"], numbers["score"], numbers["dead"]) == (value, score, ["C4"])
    assert "without the dead stones C4." in review_text(found)


def test_dead_stones_are_the_same_in_every_answer() -> None:
    found = reviewed_go(DEAD)
    count = found.positions[-1].count
    assert count is not None
    texts = [move.text for move in found.record.moves]
    client = Client("go(size=9, komi=6.5)")
    for command in ("kata-set-rules japanese", *(f"play {'bw'[ply % 2]} {text}" for ply, text in enumerate(texts))):
        client.ask(command)
    assert client.ask("final_score") == f"B+{count.score:g}"
    assert client.ask("final_status_list dead") == " ".join(count.dead)
    pairs = [["BW"[ply % 2], text] for ply, text in enumerate(texts)]
    query = {"rules": "japanese", "komi": 6.5, "boardXSize": 9, "boardYSize": 9, "maxVisits": 2, "moves": pairs}
    (answer,) = answers(query)
    root = answer["rootInfo"]
    assert root["scoreLead"] == count.score and root["winrate"] == 1.0


@pytest.mark.parametrize("rules", ["RU[Tromp-Taylor]", "RU[suicide=true]"])
def test_by_rules_for_programs_all_stones_are_alive(rules: str) -> None:
    last = reviewed_go(DEAD.replace("RU[Japanese]", rules)).positions[-1]
    assert last.value == -1.0 and last.count is None


def test_white_has_a_bonus_for_handicap_stones_by_some_rules() -> None:
    text = "(;SZ[9]KM[0.5]HA[2]RU[{}]AB[ea][eb][ec][ed][ee][ef][eg][eh][ei];W[];B[])"
    scores = {}
    for rules in ("Japanese", "Chinese", "AGA"):
        count = reviewed_go(text.replace("{}", rules)).positions[-1].count
        assert count is not None
        scores[rules] = count.score
    assert scores == {"Japanese": 71.5, "Chinese": 78.5, "AGA": 79.5}


def test_one_analyst_reviews_all_games_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(Analyst):
        def __init__(self, player: Player) -> None:
            made.append(player.game.spec.full_name)
            super().__init__(player)

    monkeypatch.setattr("zerosum.analysis.review_command.Analyst", Counted)
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 *\n\n1. d4 d5 2. c4 *\n\n1. e4 e5 *\n")
    told: list[str] = []
    command = ReviewCommand(Players("rollouts"), Task(num_visits=5), format="json", write=told.append)
    command.run(str(path))
    assert made == ["chess(max_plies=2048)"] and len(told) == 3
    first, _, last = (json.loads(text) for text in told)
    assert [position.get("lines") for position in first["positions"]] == [
        position.get("lines") for position in last["positions"]
    ], "a game is reviewed alike, whichever games came before"
