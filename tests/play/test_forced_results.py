"""The search for forced results in players, engines, analysis and matches: what it finds, says, and leaves alone."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from uci_for_tests import client
from zerosum._core import Root, State
from zerosum.analysis.analyst import analyse
from zerosum.arena.seats import Decision, Inbox, RulesSeat, SearchSeat, SharedTrees, Turn
from zerosum.contest.adjudication import Score, moves_to_mate
from zerosum.contest.mover import MoveLimits
from zerosum.games import Rules, make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.contestant import SearchContestant, alpha_beta, rollouts
from zerosum.play.driver import SearchDriver, Task
from zerosum.play.player import Player
from zerosum.play.search_mover import SearchMover
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all

BODEN = "2kr3r/pp1nqppp/2p1pn2/8/1b1P1B2/2NB1Q2/PPP2PPP/2KR3R w - - 0 1"
"""A queen's sacrifice mates in two: Qxc6+ bxc6 Ba6."""
CONFIG = SearchConfig(num_simulations=100, root_noise_fraction=0.0, root_noise_alpha=1.0)
CHESS = make("chess")


def player(game: Rules, config: SearchConfig = CONFIG) -> Player:
    return Player(game, UniformEvaluator(), config, name="even")


def action_of(state: State, text: str) -> int:
    action = CHESS.parse_action(state, text)
    assert action is not None
    return action


def after(state: State, *texts: str) -> State:
    for text in texts:
        state = CHESS.play(state, action_of(state, text))
    return state


def exact_win(game: Rules, state: State, plies: int) -> bool:
    """Whether the player to move can force a win within so many plies, by all lines."""
    mover = game.player(state)

    def wins(state: State, plies: int) -> bool:
        result = game.outcome(state)
        if result is not None or plies == 0:
            return result == (1 if mover == 0 else -1)
        choose = any if game.player(state) == mover else all
        return choose(wins(game.play(state, action), plies - 1) for action in game.legal_actions(state))

    return wins(state, plies)


def test_a_sacrifice_that_mates_is_seen_at_once() -> None:
    found = player(CHESS).analyse(CHESS.parse_position(BODEN))
    assert found.best_line == ("f3c6", "b7c6", "d3a6")
    assert (found.proven, found.plies_to_end, found.stop_reason) == (1, 3, "proven")
    assert found.num_visits < 10, "no simulations are needed any more"
    *_, last = analyse(BODEN, player=player(CHESS), seconds=5.0)
    assert last.best_line == ("f3c6", "b7c6", "d3a6")


def test_go_mate_finds_it_with_and_without_a_network() -> None:
    for options in ((), ("setoption name WeightsFile value rollouts",)):
        said = client().ask(*options, f"position fen {BODEN}", "go mate 2 movetime 10000")
        assert any("score mate 2" in line for line in said), said
        assert said[-1].startswith("bestmove f3c6"), said


def test_without_proof_nodes_nothing_is_proven_by_it() -> None:
    found = player(CHESS, replace(CONFIG, proof_nodes=0)).analyse(CHESS.parse_position(BODEN))
    assert found.proven is None and found.num_visits == 100


@pytest.mark.parametrize(("name", "plies"), [("connect4", 8), ("tictactoe", 4), ("hex(size=4)", 6)])
def test_wins_are_exact_and_the_shortest(name: str, plies: int) -> None:
    game, generator, num_found = make(name), random.Random(3), 0
    for _ in range(40):
        state = game.initial_state()
        for _ in range(plies):
            state = game.play(state, generator.choice(game.legal_actions(state)))
            if game.outcome(state) is not None:
                break
        if game.outcome(state) is not None:
            continue
        search = new_search(game, CONFIG)
        search.reset(0, state)
        search.prove(0, 20_000)
        forced = search.forced(0)
        if exact_win(game, state, 3):
            assert forced is not None and forced[0] == 1 and len(forced[1]) <= 3, game.draw(state)
        if forced is not None:
            num_found += 1
            end = state
            for action in forced[1]:
                end = game.play(end, action)
            assert game.outcome(end) == forced[0] * (1 if game.player(state) == 0 else -1)
            if forced[0] == 1 and len(forced[1]) <= 4:
                assert exact_win(game, state, len(forced[1]))
                assert not exact_win(game, state, max(len(forced[1]) - 2, 0))
    assert num_found > 3


@pytest.mark.parametrize("exact_bounds", [True, False])
def test_results_count_by_themselves_once_a_simulation_was_made(exact_bounds: bool) -> None:
    search = new_search(CHESS, replace(CONFIG, exact_bounds=exact_bounds))
    search.reset(0, CHESS.parse_position(BODEN))
    search.prove(0, 20_000)
    search.begin(0, 50)
    assert search.root(0).stop_reason is None
    answer_all(search, UniformEvaluator(), max_leaves=1)
    root, forced = search.root(0), search.forced(0)
    assert forced is not None
    assert (root.stop_reason, root.proven) == (("proven", 1) if exact_bounds else ("simulations", None))
    assert root.num_simulations == (1 if exact_bounds else 50)
    assert not exact_bounds or search.best_line(0) == forced[1]


def test_moves_that_lose_by_force_are_known() -> None:
    state = CHESS.parse_position("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2")
    search = new_search(CHESS, CONFIG)
    search.reset(0, state)
    blunder = action_of(state, "g2g4")
    found = SearchDriver(search, UniformEvaluator(), CONFIG).run(Task(num_visits=3000))
    index = found.actions.index(blunder)
    assert found.upper[index] == -1, "it is mated at once"


def test_allowed_moves_limit_it() -> None:
    state = CHESS.parse_position(BODEN)
    search = new_search(CHESS, CONFIG)
    search.reset(0, state)
    allowed = tuple(a for a in CHESS.legal_actions(state) if CHESS.action_text(state, a) != "f3c6")
    found = SearchDriver(search, UniformEvaluator(), CONFIG).run(Task(num_visits=100, allowed=allowed))
    assert found.plies_to_end != 3 and found.chosen[0] in allowed


@pytest.mark.parametrize("fen", ["8/8/8/3k4/8/8/8/R3K3 w - - 0 1", "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1"])
def test_a_rook_or_a_queen_wins_against_a_king(fen: str) -> None:
    """An even evaluator knows nothing; the table of all positions does."""
    config = replace(CONFIG, num_simulations=200, proof_nodes=400)
    mover = SearchMover(CHESS, SearchContestant("even", UniformEvaluator(), config))
    mover.new_game(0)
    state, actions, generator = CHESS.parse_position(fen), list[int](), random.Random(5)
    while CHESS.outcome(state) is None:
        if CHESS.player(state) == 0:
            action = mover.think(fen, actions, MoveLimits(nodes=200)).action
            assert action is not None
        else:
            action = generator.choice(CHESS.legal_actions(state))
        actions.append(action)
        state = CHESS.play(state, action)
    assert CHESS.outcome(state) == 1 and len(actions) <= 40
    mover.close()


def test_the_search_for_a_shorter_win_ends_with_the_clock() -> None:
    """A win is known at once and shorter ones are looked for: the time for that is the clock's, too."""
    search = new_search(CHESS, CONFIG)
    search.reset(0, CHESS.parse_position("8/8/8/3k4/8/8/7R/Q3K2R w - - 0 1"))
    while (known := search.forced(0)) is None:
        search.prove(0, 1000)
    assert len(known[1]) > 20, "a win whose shortest line takes time"
    asked = list[float]()

    def is_enough(root: Root, seconds: float) -> str | None:
        asked.append(seconds)
        return "time" if len(asked) == 3 else None

    found = SearchDriver(search, UniformEvaluator(), CONFIG).run(Task(is_enough=is_enough))
    assert found.plies_to_end is not None and len(asked) == 3


def turn(game: Rules, state: State) -> Turn:
    return Turn(0, 0, "", (), state, MoveLimits())


def decision(seat: SearchSeat | RulesSeat, inbox: Inbox, game: Rules, state: State) -> Decision:
    seat.new_game(0, 0, state)
    seat.begin(turn(game, state))
    while inbox.empty():
        seat.work()
    said = inbox.get()
    assert isinstance(said, Decision)
    return said


def test_players_of_matches_say_mates_as_mates() -> None:
    state, inbox = CHESS.parse_position(BODEN), Inbox()
    for contestant in (SearchContestant("even", UniformEvaluator(), CONFIG), rollouts(CHESS, 400, seed=1)):
        pool = SharedTrees(CHESS, [contestant], num_boards=1)
        seat = SearchSeat(pool, contestant, inbox, num_boards=1, seed=0)
        said = decision(seat, inbox, CHESS, state)
        # Rollouts play without exact bounds, and may choose another move.
        if said.action == action_of(state, "f3c6"):
            assert said.thought.score == Score(mate=2)
        else:
            assert contestant.name.startswith("rollouts")
        mated = after(state, "f3c6", "b7c6")
        assert decision(seat, inbox, CHESS, mated).thought.score == Score(mate=1)
    depth = alpha_beta(3)
    said = decision(RulesSeat(CHESS, inbox, depth=depth.depth, seed=0), inbox, CHESS, state)
    assert said.thought.score == Score(mate=2)
    losing = after(state, "f3c6")
    assert decision(RulesSeat(CHESS, inbox, depth=3, seed=0), inbox, CHESS, losing).thought.score == Score(mate=-1)
    quiet = decision(RulesSeat(CHESS, inbox, depth=2, seed=0), inbox, CHESS, CHESS.initial_state())
    assert quiet.thought.score is None, "material is no evaluation"


def test_moves_to_mate_count_a_players_own_moves() -> None:
    assert [moves_to_mate(plies) for plies in (1, 2, 3, 5, -2, -4)] == [1, 1, 2, 3, -1, -2]
