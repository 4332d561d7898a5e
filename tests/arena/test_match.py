"""Programs at the boards of a match: clocks, faults, resignations, and that a match ends in good order."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs_for_tests import Endless, Scripted, begin, play_all
from searches_for_tests import Compiling
from zerosum._core import Leaves
from zerosum.arena import MatchResult, PlayedGame, play_match
from zerosum.arena.openings import Opening
from zerosum.base.errors import SettingsError
from zerosum.contest.adjudication import DrawRule, ResignRule
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.mover import EngineFailure, MoveLimits, Terms
from zerosum.contest.sprt import Sprt, Tally
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import State, make, start_state
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.contestant import (
    RANDOM,
    Contestant,
    ProgramContestant,
    RulesPlayer,
    SearchContestant,
    rollouts,
)
from zerosum.play.engines.engine import EngineCommand, EngineTimeouts
from zerosum.play.entries import Entry, enter
from zerosum.play.search_mover import SearchMover
from zerosum.search import SearchConfig

FAKE = Path(__file__).parents[1] / "fake_engine.py"
CONNECT4, TICTACTOE = make("connect4"), make("tictactoe")


def scripted(program: Scripted, terms: Terms | None = None, resign: ResignRule | None = None) -> Contestant:
    return ProgramContestant("scripted", program, terms=terms or Terms(), resign=resign)


def clock(text: str, **fields: Any) -> Terms:
    return Terms(TimeControl.parse(text), **fields)


def state_after_all(game: PlayedGame) -> State:
    state = CONNECT4.initial_state()
    for action in game.actions:
        state = CONNECT4.play(state, action)
    return state


def play(
    program: Scripted, *, num_games: int = 2, terms: Terms | None = None, resign: ResignRule | None = None
) -> MatchResult:
    return play_match(
        CONNECT4, scripted(program, terms, resign), RANDOM, num_games=num_games, seed=1, max_games_at_once=1
    )


def test_a_program_plays_its_side_of_each_game() -> None:
    program = Scripted(centipawns=30)
    result = play(program, num_games=4)
    assert [game.first_is_player for game in result.games] == [0, 1, 0, 1]
    for game in result.games:
        state = CONNECT4.initial_state()
        for ply, (action, thought) in enumerate(zip(game.actions, game.thoughts, strict=True)):
            if ply % 2 == game.first_is_player:
                assert action == CONNECT4.legal_actions(state)[-1]
                assert thought.score is not None and (thought.score.centipawns, thought.depth) == (30, 3)
            else:
                assert thought.score is None
            state = CONNECT4.play(state, action)
        assert game.ending == CONNECT4.ending(state)
    told = [said for said in program.log if not isinstance(said, MoveLimits)]
    ends = [("end", game.result) for game in result.games]
    assert told == ["open", *(what for end in ends for what in ("new game", end)), "close", "close"]


@pytest.mark.parametrize("ending", ["time", "illegal move", "forfeit"])
def test_who_fails_loses_that_game_and_is_named(ending: str) -> None:
    result = play(Scripted(script=((2, ending),)), num_games=4)
    first, *others = result.games
    assert (first.result, first.ending, first.notes) == (-1.0, ending, (f"scripted did so ({ending}).",))
    assert len(first.actions) == 2 and len(first.thoughts) == 2
    assert all(game.ending not in ("time", "illegal move", "forfeit") for game in others)
    assert f"scripted lost 1 by {ending}" in str(result)


def test_a_resignation_ends_the_game() -> None:
    result = play(Scripted(script=((1, "resignation"),)))
    assert (result.games[0].result, result.games[0].ending, result.games[0].actions) == (-1.0, "resignation", ())
    assert not result.failures()


def test_a_declared_win_that_the_rules_do_not_give_loses() -> None:
    """A legal one never comes: the rules end the game before the player is asked."""
    shogi = make("shogi(max_plies=6)")
    program = Scripted(script=((1, "declaration"),))
    game = play_match(shogi, scripted(program), RANDOM, num_games=2, seed=1, max_games_at_once=1).games[0]
    assert (game.result, game.ending) == (-1.0, "illegal move")
    assert game.notes == ("scripted declared a win that the rules do not give.",)
    declarable = "KRRBBGGSS/GPPPPPP2/9/9/9/9/9/9/8k b - 1"
    assert shogi.ending(start_state(shogi, declarable)) == "declaration"


def test_the_match_resigns_for_who_says_that_it_is_lost() -> None:
    """After its second move with a lost score, which is then no move any more."""
    program = Scripted(centipawns=-700)
    result = play(program, resign=ResignRule(centipawns=-650, num_moves=2))
    for game, plies in zip(result.games, (2, 3), strict=True):
        assert (game.result, game.ending, len(game.actions), len(game.thoughts)) == (-1.0, "resignation", plies, plies)
        assert game.notes == ("Adjudicated: -650 centipawns or less for 2 moves in a row.",)


def test_a_draw_is_agreed() -> None:
    players = scripted(Scripted(centipawns=5)), scripted(Scripted(centipawns=-5))
    rule = DrawRule(num_moves=1, centipawns=10, min_plies=4)
    result = play_all(CONNECT4, *players, num_games=2, seed=1, draw=rule)
    assert [(game.result, game.ending, len(game.actions)) for game in result.games] == [(0.0, "agreement", 4)] * 2


def test_each_player_has_its_own_margin() -> None:
    """Moves of 0.35 s with 0.3 s each: 50 ms late, which one may be and the other may not."""
    games = []
    for margin_s in (0.06, 0.04):
        generous, strict = Terms(TimeControl.parse("st=0.3"), margin_s=margin_s), clock("st=1")
        players = scripted(Scripted(seconds=0.35), generous), scripted(Scripted(seconds=0.35), strict)
        games.append(play_match(CONNECT4, *players, num_games=2, seed=1, max_games_at_once=1).games[0])
    assert games[0].ending == CONNECT4.ending(state_after_all(games[0])) and games[1].ending == "time"
    assert games[1].notes == ("scripted moved after 0.350 s and had 0.300 s.",)


def test_a_clock_runs_out() -> None:
    """Four moves of 0.3 s in 1 s with 0.1 s more each: 0.8, 0.6, 0.4, 0.2, and the fifth is late."""
    result = play(Scripted(seconds=0.3), terms=clock("1+0.1"))
    for game in result.games:
        own = [thought.clock_s for thought in game.thoughts if thought.clock_s is not None]
        assert own == pytest.approx([0.8, 0.6, 0.4, 0.2][: len(own)])
        if game.ending == "time":
            assert game.result == -1 and game.notes == ("scripted moved after 0.300 s and had 0.200 s.",)
    assert play(Scripted(seconds=0.3), terms=clock("1")).games[0].ending == "time"


@pytest.mark.parametrize(
    ("control", "seconds", "told"),
    [
        ("inf", 0.0, [(TimeLeft(), None)] * 2),
        ("st=2", 1.0, [(TimeLeft.per_move(2.0), 2.0)] * 2),
        ("10+0.5", 1.0, [(TimeLeft(10.0, increment_s=0.5), 10.0), (TimeLeft(9.5, increment_s=0.5), 9.5)]),
        ("2/10", 1.0, [(TimeLeft(10.0, moves_to_go=2), 10.0), (TimeLeft(9.0, moves_to_go=1), 9.0)]),
        (
            "1+3x3",
            1.5,
            [
                (TimeLeft(1.0, period_s=3.0, period_moves=1, num_periods=3), 10.0),
                (TimeLeft(0.0, period_s=3.0, period_moves=1, num_periods=3), 9.0),
            ],
        ),
        (
            "1+5/10",
            1.5,
            [
                (TimeLeft(1.0, period_s=10.0, period_moves=5, num_periods=1), 11.0),
                (TimeLeft(0.0, period_s=9.5, period_moves=4, num_periods=1), 9.5),
            ],
        ),
    ],
)
def test_what_a_program_hears_of_its_clock(
    control: str, seconds: float, told: list[tuple[TimeLeft, float | None]]
) -> None:
    """The opponent has no clock, and moves first in the second game."""
    program = Scripted(seconds=seconds)
    result = play(program, terms=clock(control))
    heard = [said for said in program.log if isinstance(said, MoveLimits)]
    assert heard[:2] == [MoveLimits((left, TimeLeft()), flag_falls_s=falls_s) for left, falls_s in told]
    num_first = (len(result.games[0].actions) + 1) // 2
    assert heard[num_first] == MoveLimits((TimeLeft(), told[0][0]), flag_falls_s=told[0][1])


def test_odds_in_time_and_nodes() -> None:
    rich, poor = Scripted(seconds=0.1), Scripted(seconds=0.1)
    players = scripted(rich, Terms(TimeControl.parse("30"), nodes=5)), scripted(poor, clock("3"))
    play_match(CONNECT4, *players, num_games=2, seed=1, max_games_at_once=1)
    heard = [said for said in rich.log if isinstance(said, MoveLimits)]
    assert heard[0] == MoveLimits((TimeLeft(30.0), TimeLeft(3.0)), nodes=5, flag_falls_s=30.0)
    others = [said for said in poor.log if isinstance(said, MoveLimits)]
    assert others[0] == MoveLimits((TimeLeft(29.9), TimeLeft(3.0)), flag_falls_s=3.0)


def test_a_program_that_cannot_start_is_known_before_any_game() -> None:
    missing = EngineCommand(("no-such-program",), "uci")
    with pytest.raises(EngineFailure, match="no-such-program cannot be started"):
        begin(make("chess"), ProgramContestant("x", missing, terms=Terms(nodes=1)), RANDOM, num_games=2, seed=1)


def test_a_setting_that_fails_ends_the_match() -> None:
    """UCI has no byoyomi: the match is refused and no game is lost."""
    command = fake_engine({"uci": ["uciok"], "isready": ["readyok"]})
    player = ProgramContestant("x", command, terms=clock("10+1x3"))
    with pytest.raises(SettingsError, match="UCI cannot express byoyomi"):
        play_match(make("chess"), player, RANDOM, num_games=2, seed=1)


def test_a_match_can_be_left_while_somebody_thinks() -> None:
    program = Endless()
    match = begin(CONNECT4, ProgramContestant("endless", program), RANDOM, num_games=8, seed=1, max_games_at_once=3)
    assert program.has_begun.wait()
    match.close()
    assert not match.is_over and match.result.games == ()


def test_a_bug_in_a_program_is_nobodys_loss() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play_match(CONNECT4, ProgramContestant("x", Endless(new_game=fail)), RANDOM, num_games=2, seed=1)


def test_openings_are_played_from_both_sides() -> None:
    lines = (Opening("one", "", (3, 3)), Opening("two", "", (0,)))
    result = play_all(
        CONNECT4, rollouts(CONNECT4, 5, seed=1), RANDOM, num_games=6, seed=1, openings=lambda number: lines[number % 2]
    )
    assert [game.opening for game in result.games] == ["one", "one", "two", "two", "one", "one"]
    assert all(game.actions[: game.opening_plies] == (3, 3) for game in result.games if game.opening == "one")


# Our own searches


class CountingEvaluator(UniformEvaluator):
    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.sizes.append(len(leaves))
        return super().evaluate(leaves)


def test_both_sides_of_one_network_share_batches() -> None:
    """Sixteen boards and equal searches: all of them are in one batch, though each side is to move at half of them."""
    evaluator = CountingEvaluator()
    config = SearchConfig(num_simulations=20, exact_bounds=False, reuse_tree=False)
    one = SearchContestant("one", evaluator, config)
    other = SearchContestant("other", evaluator, SearchConfig(num_simulations=10, exact_bounds=False, reuse_tree=False))
    openings = Opening("", "", (3,)), Opening("", "", ())
    result = play_all(
        CONNECT4, one, other, num_games=16, seed=1, openings=lambda number: openings[number % 2], max_games_at_once=16
    )
    assert max(evaluator.sizes) == 16
    assert sum(evaluator.sizes) == sum(result.evaluations)
    assert result.evaluations[0] > 1.5 * result.evaluations[1]
    alone = play_all(
        CONNECT4,
        SearchContestant("one", UniformEvaluator(), one.search),
        SearchContestant("other", UniformEvaluator(), other.search),
        num_games=16,
        seed=1,
        openings=lambda number: openings[number % 2],
    )
    assert alone.games == result.games and alone.evaluations == result.evaluations


def test_each_of_many_boards_has_the_memory_for_its_simulations() -> None:
    """The shorter of two searches that share trees, and the longer one."""
    config = SearchConfig(num_simulations=100, memory_mib=1, reuse_tree=False, exact_bounds=False)
    short = SearchContestant("short", UniformEvaluator(), config)
    long = SearchContestant("long", short.evaluator, config, terms=Terms(nodes=2500))
    result = play_match(make("go(size=7, max_plies=6)"), short, long, num_games=8, opening_plies=2, seed=1)
    assert {thought.nodes for game in result.games for thought in game.thoughts} == {100, 2500}


def test_sampled_plies_make_games_differ() -> None:
    def games(sampled_plies: int) -> tuple[PlayedGame, ...]:
        config = SearchConfig(num_simulations=30)
        player = SearchContestant("x", UniformEvaluator(), config, sampled_plies=sampled_plies)
        best = SearchContestant("y", UniformEvaluator(), config)
        result = play_match(CONNECT4, player, best, num_games=20, seed=1)
        assert result.num_distinct == len({game.actions for game in result.games})
        return result.games

    assert games(0) == games(0) and len({game.actions for game in games(0)}) == 1
    assert games(2) == games(2)
    firsts = {game.actions[0] for game in games(2) if game.first_is_player == 0}
    assert len(firsts) > 2 and len({game.actions for game in games(2)}) > 4


def test_a_search_by_the_clock_moves_in_time() -> None:
    """Its own time is counted in looks at a clock, each of which takes a hundredth of a second."""
    looks = iter(range(1_000_000))
    player = SearchContestant("x", UniformEvaluator(), SearchConfig(), terms=clock("st=1"))
    mover = SearchMover(CONNECT4, player, now=lambda: next(looks) / 100)
    mover.new_game(0)
    slow = mover.think("", [3], MoveLimits((TimeLeft.per_move(1.0),) * 2))
    assert 0.5 < slow.thought.seconds < 1.0
    quick = mover.think("", [3, 3], MoveLimits((TimeLeft(0.3),) * 2))
    assert quick.thought.seconds < 0.3
    assert slow.thought.nodes is not None and quick.action in CONNECT4.legal_actions(CONNECT4.initial_state())
    score = mover.think("", [3, 3], MoveLimits((TimeLeft.per_move(1.0),) * 2, nodes=5)).thought.score
    assert score is not None and score.win_rate is not None


def test_a_search_in_main_time_knows_the_overtime_behind_it() -> None:
    """It takes 1/20 of the main time and one of 25 parts of the period, less the overhead."""
    looks = iter(range(1_000_000))
    terms = clock("10+25/300", time_config=TimeConfig(manager="paper"))
    mover = SearchMover(
        CONNECT4,
        SearchContestant("x", UniformEvaluator(), SearchConfig(), terms=terms),
        now=lambda: next(looks) / 100,
    )
    mover.new_game(0)
    seconds = mover.think("", [3], MoveLimits((terms.time.start(),) * 2)).thought.seconds
    assert seconds == pytest.approx(10 / 20 + 300 / 25 - 0.1, abs=0.1)


def test_a_network_is_compiled_before_a_clock_runs() -> None:
    network = Compiling()
    mover = SearchMover(CONNECT4, SearchContestant("x", network, SearchConfig(), terms=clock("st=1")))
    assert network.compiled == [1, 4, 16]
    mover.new_game(0)
    mover.think("", [3], MoveLimits((TimeLeft.per_move(60.0),) * 2, nodes=500))
    assert network.compiled == [1, 4, 16] and len(network.sizes) > 20


def test_less_overhead_is_more_thought() -> None:
    """With 2 s + 0.05 s the usual overhead leaves less than the increment of a move."""

    def seconds(overhead_s: float) -> float | None:
        looks = iter(range(1_000_000))
        terms = clock("2+0.05", time_config=TimeConfig(manager="paper", overhead_s=overhead_s))
        player = SearchContestant("x", UniformEvaluator(), SearchConfig(), terms=terms)
        mover = SearchMover(CONNECT4, player, now=lambda: next(looks) / 1000)
        mover.new_game(0)
        return mover.think("", [3], MoveLimits((terms.time.start(),) * 2)).thought.seconds

    usual, less = seconds(TimeConfig().overhead_s), seconds(0.02)
    assert usual is not None and less is not None
    assert usual == pytest.approx(2 / 20 + 0.05 - 0.1, abs=0.01)
    assert less == pytest.approx(2 / 20 + 0.05 - 0.02, abs=0.01)


class EndingEvaluator(CountingEvaluator):
    """Sets an event with its hundredth batch."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = threading.Event()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        if len(self.sizes) == 100:
            self.is_over.set()
        return super().evaluate(leaves)


@pytest.mark.parametrize("reuse_tree", [True, False])
def test_what_a_search_found_while_it_pondered_is_kept(reuse_tree: bool) -> None:
    def nodes(is_pondering: bool) -> int | None:
        evaluator = EndingEvaluator()
        config = SearchConfig(reuse_tree=reuse_tree)
        player = SearchContestant("x", evaluator, config, terms=Terms(TimeControl.parse("st=9"), ponder=True))
        mover = SearchMover(CONNECT4, player)
        mover.new_game(0)
        first = mover.think("", [], MoveLimits(nodes=1)).action
        assert first is not None
        if is_pondering:
            mover.ponder("", [first], MoveLimits(), evaluator.is_over)
            assert evaluator.is_over.is_set()
        return mover.think("", [first, 3], MoveLimits(nodes=1)).thought.nodes

    without, with_pondering = nodes(False), nodes(True)
    assert without == 1 and with_pondering is not None and with_pondering > 10


def test_players_ponder_while_the_opponent_thinks() -> None:
    program, other = Scripted(), Scripted()
    terms = Terms(TimeControl.parse("9"), ponder=True)
    player, opponent = scripted(program, terms), scripted(other, Terms(TimeControl.parse("8")))
    result = play_match(CONNECT4, player, opponent, num_games=2, seed=1, max_games_at_once=1)
    pondered = [said[1:] for said in program.log if isinstance(said, tuple) and said[0] == "pondered"]
    turns = [
        (
            game.actions[:ply],
            (TimeLeft(9.0), TimeLeft(8.0)) if game.first_is_player == 0 else (TimeLeft(8.0), TimeLeft(9.0)),
        )
        for game in result.games
        for ply in range(len(game.actions))
        if ply % 2 != game.first_is_player
    ]
    assert pondered == turns
    assert not any(isinstance(said, tuple) and said[0] == "pondered" for said in other.log)


def test_a_match_can_be_left_while_somebody_ponders() -> None:
    thinking, pondering = Endless(), Scripted()
    ponderer = scripted(pondering, Terms(ponder=True))
    match = begin(CONNECT4, ProgramContestant("endless", thinking), ponderer, num_games=2, seed=1, max_games_at_once=1)
    assert thinking.has_begun.wait()
    match.close()
    assert pondering.log[-1] == "close"


def test_who_fails_while_it_ponders_loses_when_it_is_to_move() -> None:
    script = {**UCI, "go 1": ["bestmove e2e4 ponder e7e5"], "go 2": ["!exit 3"]}
    player = ProgramContestant("fake", fake_engine(script), terms=Terms(nodes=1, ponder=True))
    game = play_match(make("chess"), player, RANDOM, num_games=2, seed=1, max_games_at_once=1).games[0]
    assert (game.result, game.ending, len(game.actions)) == (-1.0, "forfeit", 2)
    assert "exit status 3" in game.notes[0]


def test_two_searches_by_the_clock() -> None:
    search = SearchConfig(num_simulations=5)
    one = SearchContestant("one", UniformEvaluator(), search, terms=Terms(TimeControl.parse("1000"), nodes=30))
    other = SearchContestant("other", UniformEvaluator(), search)
    result = play_match(TICTACTOE, one, other, num_games=4, opening_plies=1, seed=1, max_games_at_once=2)
    assert len(result.games) == 4 and not result.failures() and result.evaluations[0] > 0
    clocks = [thought.clock_s for thought in result.games[0].thoughts]
    assert any(left is not None and left <= 1000 for left in clocks) and None in clocks


@pytest.mark.parametrize(
    ("make_contestant", "message"),
    [
        (lambda: RulesPlayer("x", terms=Terms(nodes=5)), "x has 5 nodes, but random play does not search"),
        (lambda: RulesPlayer("x", 2, Terms(nodes=5)), "x has 5 nodes, but its depth is the number after the @"),
        (lambda: RulesPlayer("x", terms=Terms(depth=5)), "x has a depth of 5, which only engines take"),
        (lambda: searching(terms=Terms(depth=5)), "x has a depth of 5, which only engines take"),
        (
            lambda: RulesPlayer("x", terms=Terms(ponder=True)),
            "x cannot ponder, as engines and our own searches with a clock do",
        ),
        (lambda: searching(terms=Terms(ponder=True)), "x cannot ponder"),
        (lambda: searching(terms=Terms(time_config=TimeConfig(manager="paper"))), "x has manager=paper"),
        (
            lambda: ProgramContestant("x", Scripted(), clock("st=1", time_config=TimeConfig(manager="paper"))),
            "x has manager=paper",
        ),
        (lambda: searching(sampled_plies=-1), "the first -1 plies"),
        (lambda: enter(Entry("random", sampled_plies=3), CONNECT4), "in the first 3 plies: expected a run"),
        (lambda: enter(Entry("random", resign="winrate=5"), CONNECT4), "random cannot resign: it does not"),
        (lambda: enter(Entry("alphabeta", resign="winrate=5"), CONNECT4), "cannot resign: it does not"),
    ],
)
def test_entries_that_there_are_not(make_contestant: Callable[[], object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_contestant()


def searching(**fields: Any) -> SearchContestant:
    return SearchContestant("x", UniformEvaluator(), **fields)


# Tests that end a match, and matches that go on


def test_a_decided_test_ends_the_match() -> None:
    strong = SearchContestant("strong", UniformEvaluator(), SearchConfig(num_simulations=100))
    sprt = Sprt(elo0=0, elo1=200)
    result = play_all(CONNECT4, strong, RANDOM, num_games=400, opening_plies=1, seed=1, sprt=sprt)
    assert 4 < len(result.games) < 400
    assert result.statistics.sprt is not None and result.statistics.sprt.decision == "H1"
    again = play_all(CONNECT4, strong, RANDOM, num_games=400, opening_plies=1, seed=1, sprt=sprt, played=result.games)
    assert again.games == result.games, "what is decided is not played on"


def test_games_repeated_by_deterministic_players_do_not_narrow_the_intervals() -> None:
    """Two openings and players without chance: twenty games are four, and their intervals are those of four."""
    weak, strong = (
        SearchContestant(f"{num}", UniformEvaluator(), SearchConfig(num_simulations=num)) for num in (5, 60)
    )
    book = [Opening("", "", (column,)) for column in (0, 3)]
    short, long = (
        play_all(CONNECT4, strong, weak, num_games=num_games, openings=lambda number: book[number % 2], seed=1)
        for num_games in (4, 20)
    )
    assert [result.num_distinct for result in (short, long)] == [4, 4]
    assert [result.statistics.counts.num_repeated for result in (short, long)] == [0, 8]
    assert short.score == long.score and short.statistics.elo and long.statistics.elo
    assert short.statistics.elo.low == pytest.approx(long.statistics.elo.low)
    assert short.pair_score == long.pair_score
    assert "8 of 10 pairs equal an earlier one move for move" in str(long)


def test_a_match_goes_on_with_the_games_it_has() -> None:
    player = SearchContestant("search", UniformEvaluator(), SearchConfig(num_simulations=20))
    whole = play_match(CONNECT4, player, RANDOM, num_games=10, opening_plies=2, seed=1)
    kept = [game for game in whole.games if game.index not in (1, 4, 5, 9)]
    seen: list[int] = []
    rest = play_all(
        CONNECT4,
        player,
        RANDOM,
        num_games=10,
        opening_plies=2,
        seed=1,
        played=kept,
        on_game=lambda game: seen.append(game.index),
    )
    assert rest.games == whole.games and sorted(seen) == [1, 4, 5, 9]
    assert whole.evaluations[0] > 0 and rest.evaluations == (0, 0), "those of the earlier games are not known"


def ended(results: dict[int, float]) -> list[PlayedGame]:
    return [PlayedGame(index, (index,), 0, index % 2, result, "some way") for index, result in results.items()]


def test_complete_pairs_count_in_the_order_in_which_they_were_begun() -> None:
    """Short games of a program that loses quickly count no more than its long games, some of which are under way."""
    played = ended({0: 1.0, 1: -1.0, 2: 1.0, 4: -1.0, 5: -1.0, 6: -1.0, 7: -1.0})
    with begin(CONNECT4, scripted(Scripted()), RANDOM, num_games=8, seed=1, played=played) as match:
        result = match.result
    assert [game.index for game in result.games] == [0, 1] and result.num_others == 5
    assert result.tally() == Tally(1, 0, 1) and result.statistics.counts.pairs == (0, 0, 1, 0, 0)
    assert "5 games begun after the first pair that is not complete" in str(result)


def test_the_sequential_test_takes_pairs_as_they_were_begun() -> None:
    """Pairs that are lost stand before those that are won, and some game before each is still to be played."""
    sprt = Sprt(elo0=0, elo1=200)
    lost, won = dict.fromkeys(range(2, 40), -1.0), dict.fromkeys(range(40, 1000), 1.0)
    played = ended({1: 1.0, **lost, **won})
    player = scripted(Scripted())
    with begin(CONNECT4, player, RANDOM, num_games=1000, seed=1, sprt=sprt, played=played) as match:
        assert not match.is_over and not match.result.games
    whole = begin(CONNECT4, player, RANDOM, num_games=1000, seed=1, sprt=sprt, played=[*ended({0: 1.0}), *played])
    assert whole.is_over, "by the first pairs, whatever has ended since"
    test = whole.result.statistics.sprt
    assert test is not None and test.decision == "H0"
    assert 2 < len(whole.result.games) <= 40 and len(whole.result.games) + whole.result.num_others == 1000
    shorter = whole.result.games[:-2]
    assert not begin(
        CONNECT4, player, RANDOM, num_games=len(shorter), seed=1, sprt=sprt, played=shorter
    ).result.statistics.sprt.decision  # type: ignore[union-attr]


# Real processes


def fake_engine(
    script: dict[str, list[str]], *, protocol: str = "uci", timeouts: EngineTimeouts | None = None
) -> EngineCommand:
    argv = (sys.executable, "-I", "-S", str(FAKE), json.dumps(script))
    return EngineCommand(argv, protocol, name="fake", timeouts=timeouts or EngineTimeouts())


UCI = {"uci": ["id name Fake", "uciok"], "isready": ["readyok"]}


@pytest.mark.parametrize(
    ("go", "ending", "note"),
    [
        (["!exit 3"], "forfeit", "exit status 3"),
        (["bestmove e1e8"], "illegal move", "'e1e8', which is not a legal move here"),
        (["!sleep 600"], "forfeit", "did not move within 0.2 s"),
        ([], "forfeit", "did not move within 0.2 s"),
    ],
)
def test_an_engine_that_fails_every_time_loses_every_game(go: list[str], ending: str, note: str) -> None:
    """The engine is started again for each game."""
    command = fake_engine({**UCI, "go": go}, timeouts=EngineTimeouts(search_s=0.2))
    player = ProgramContestant("bad", command, terms=Terms(nodes=1))
    result = play_match(make("chess"), player, RANDOM, num_games=4, seed=1, max_games_at_once=2)
    assert result.tally() == Tally(0, 0, 4)
    assert {game.ending for game in result.games} == {ending}
    assert all(note in game.notes[0] for game in result.games)


def test_a_silent_engine_loses_on_time() -> None:
    terms = Terms(TimeControl.parse("0.1"), margin_s=0.0)
    player = ProgramContestant("silent", fake_engine({**UCI, "go": []}), terms=terms)
    result = play_match(make("chess"), player, RANDOM, num_games=2, seed=1)
    assert [game.ending for game in result.games] == ["time", "time"]


def test_a_score_of_go_that_is_another_one_is_told() -> None:
    """Both pass at once: White has the komi. One engine counts so, one does not, one knows no scores."""
    go = make("go(size=5, komi=0.5)")
    script = {
        **{word: ["=#", ""] for word in ("name", "version", "boardsize", "komi", "clear_board", "play", "quit")},
        "genmove": ["=# pass", ""],
    }

    def notes(said: str) -> tuple[str, ...]:
        commands = ["=# play", "genmove", *(["final_score"] if said else []), ""]
        command = fake_engine({**script, "list_commands": commands, "final_score": [f"=# {said}", ""]}, protocol="gtp")
        passing = ProgramContestant("passing", command)
        other = ProgramContestant("other", Scripted())  # whose last legal action is the pass
        return play_match(go, passing, other, num_games=2, seed=1).games[0].notes

    assert notes("W+0.5") == notes("") == ()
    assert notes("B+3.5") == ("passing counts B+3.5, by the rules of the match (Tromp-Taylor) White won.",)
