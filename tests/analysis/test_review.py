"""Games reviewed: the marks of their moves, and the results of games that people finished."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from analysis_client import answers
from commands_for_tests import Command
from games_for_tests import DoubleMove
from gtp_client import Client
from lc0_files import Lc0File, lc0_network
from reviews_for_tests import DATA, moves
from zerosum._core import Root
from zerosum.analysis.analyst import Analyst
from zerosum.analysis.review import LONGER, review
from zerosum.analysis.review_command import ReviewCommand
from zerosum.analysis.review_text import review_numbers, review_text
from zerosum.analysis.reviewed import Review, Thresholds
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, State, adopt, make
from zerosum.network.evaluators import Evaluator, RolloutEvaluator, UniformEvaluator
from zerosum.notation import Move, Record, read_games
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.choice import Players
from zerosum.play.driver import Task
from zerosum.play.player import Player, load_player
from zerosum.search import SearchConfig


def solved(record: Record, *, num_simulations: int = 3000) -> Review:
    """A search with exact bounds."""
    game = make(record.game)
    analyst = Analyst(Player(game, UniformEvaluator(), SearchConfig(), name="uniform"))
    return review(record, analyst, Task(num_visits=num_simulations))


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
    longer = [(1, 10 * LONGER), (2, 10 * LONGER)]
    assert analyst.asked[4:6] == longer, "only the positions around the blunder"
    # Where both looks differ, the last position still says that the second move lost: a doubt, with a look of its own.
    assert analyst.asked[6:] == ([] if mark else longer[:1])
    assert [move.unsure for move in found.moves] == ["", "" if mark else "??", ""]


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
