"""The alpha-beta search with an updatable network as a player: analyses, matches, words, limits."""

from __future__ import annotations

import re
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from updatable_for_tests import chess, counting_updatable, random_updatable, saved
from zerosum._core import DEEPENING_PARTS, DeepeningSearch
from zerosum.arena import play_match
from zerosum.arena.ladder.placement import LadderSettings
from zerosum.arena.ladder.skills import measure_levels
from zerosum.base.errors import GameError, SettingsError
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.games.random_play import random_lines, state_of
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.contestant import ProgramContestant, alpha_beta
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.driver import SearchDriver
from zerosum.play.entries import Entry, enter
from zerosum.play.origin import ALPHA_BETA_NODES
from zerosum.play.own_contestants import with_skill
from zerosum.play.player import Player, load_player, network_name
from zerosum.play.runs import network_at
from zerosum.play.skill import MOST_SKILL, positions_of, temperature_of
from zerosum.play.task import Task
from zerosum.search import new_search

MATE_IN_TWO = "2kr3r/pp1nqppp/2p1pn2/8/1b1P1B2/2NB1Q2/PPP2PPP/2KR3R w - - 0 1"
VALUES = {"pawns": 0.1, "knights": 0.3, "bishops": 0.3, "rooks": 0.5, "queens": 0.9}


@pytest.fixture(scope="module")
def player(tmp_path_factory) -> Player:
    directory = saved(counting_updatable(chess(), VALUES), tmp_path_factory.mktemp("counting"))
    return load_player(directory)


def test_an_analysis_counts_nodes_and_finds_mates(player: Player) -> None:
    assert player.config.num_simulations == ALPHA_BETA_NODES
    state = player.game.parse_position(MATE_IN_TWO)
    found = player.analyse(state, num_simulations=30_000)
    assert found.best_move == "f3c6" and found.stop_reason == "proven"
    assert found.lines[0].moves == ("f3c6", "b7c6", "d3a6") and found.plies_to_end == 3
    assert found.value == 1.0 and found.proven == 1.0 and 0 < found.num_visits <= 30_001


def test_equal_nodes_give_equal_answers_within_the_limit(player: Player) -> None:
    state = player.game.parse_position("r1b1kb1r/pp3ppp/2n1pn2/q1pp4/3P1B2/2P1PN2/PP1N1PPP/R2QKB1R w KQkq - 0 1")
    answers = [player.analyse(state, num_simulations=4000) for _ in range(2)]
    assert answers[0].stop_reason == "simulations" and answers[0].num_visits <= 4001
    assert answers[0].lines[0].actions == answers[1].lines[0].actions
    assert answers[0].value == answers[1].value


@pytest.mark.parametrize("seed", range(3))
def test_values_of_an_untrained_network_do_not_multiply_positions(seed: int) -> None:
    """Quiescence below one move of shogi had 42,842,193 positions."""
    game = make("shogi(history=1)")
    program = DeepeningProgram("untrained", UpdatableEvaluator(random_updatable(game, seed=seed), game), game)
    with closing(program.open(game)) as mover:
        for line in random_lines(game, num=40, seed=3):
            state = state_of(game, line)
            mover.new_game(0)
            nodes = mover.think("", line, MoveLimits(nodes=500)).thought.nodes
            assert nodes is not None
            assert nodes <= max(500, 50 * len(game.legal_actions(state))) + 1


def test_a_hanging_queen_is_taken(player: Player) -> None:
    state = player.game.parse_position("4k3/8/8/3q4/8/4P3/3QK3/8 w - - 0 1")
    assert player.analyse(state, num_simulations=2000).best_move == "d2d5"


def analysed(player: Player, task: Task, fen: str = "") -> tuple[list, object]:
    reports, answers, failures = [], [], []
    engine = BackgroundSearch(
        player, on_report=reports.append, on_answer=answers.append, on_failure=failures.append, report_seconds=0.01
    )
    engine.set_position(player.game.parse_position(fen) if fen else None)
    engine.think(task)
    if task.is_endless:
        time.sleep(0.3)
        engine.stop()
    engine.wait()
    assert not failures, failures
    return reports, answers[0]


def test_several_lines_are_different_and_in_order(player: Player) -> None:
    _, found = analysed(player, Task(num_visits=20_000, num_lines=3))
    assert len({line.actions[0] for line in found.lines}) == 3
    values = [line.value for line in found.lines]
    assert values == sorted(values, reverse=True)


def test_lines_of_a_search_that_is_cut_off_are_in_order(tmp_path: Path) -> None:
    """A limit ends the search between two lines of a depth; those left have the values of the depth before it."""
    player = load_player(saved(random_updatable(chess(), seed=1), tmp_path / "untrained"))
    for line in random_lines(player.game, num=4, seed=5):
        for num_visits in (150, 700, 3000):
            state = state_of(player.game, line[:40])
            if player.game.ending(state) is None:
                lines = player.analyse(state, num_simulations=num_visits, num_lines=4).lines
                values = [line.value for line in lines]
                assert len(values) == 4 and values == sorted(values, reverse=True)


@pytest.mark.parametrize("num_lines", [1, 3])
def test_a_search_that_is_run_again_goes_on(player: Player, num_lines: int) -> None:
    """`search_stages` runs a search again and again, with more nodes each time."""
    state = player.game.initial_state()
    search = new_search(player.game, player.config)
    search.reset(0, state)
    driver = SearchDriver(search, player.evaluator, player.config)
    found = [driver.run(Task(num_visits=visits, num_lines=num_lines)) for visits in (500, 510, 6000, 20_000)]
    depths, nodes = [one.depth for one in found], [one.num_leaves for one in found]
    assert depths == sorted(depths) and depths[-1] > depths[0]
    assert nodes == sorted(nodes) and nodes[-1] <= 20_001 * num_lines
    at_once = player.analyse(state, num_simulations=20_000, num_lines=num_lines)
    assert found[-1].depth >= at_once.depth - 1, "catching up costs little"
    stopped = driver.run(Task(seconds=0.0, num_lines=num_lines))
    assert stopped.depth >= depths[-1] and len(stopped.lines) == num_lines


def test_a_search_ends_by_depth_time_and_stop(player: Player) -> None:
    assert analysed(player, Task(depth=4))[1].depth == 4
    began = time.monotonic()
    reports, found = analysed(player, Task(seconds=2.0))  # long enough for a report on a busy machine
    assert found.stop_reason == "time" and time.monotonic() - began < 30 and reports
    assert analysed(player, Task(is_endless=True))[1].stop_reason == "stopped"
    only = player.game.legal_actions(player.game.initial_state())[3]
    assert analysed(player, Task(depth=3, allowed=(only,)))[1].chosen[0] == only


def test_entries_have_terms_and_switches() -> None:
    game = chess()
    entered = enter(Entry.parse("alphabeta", ["nodes=500", "option.null_move=false", "option.hash=8"]), game)
    assert isinstance(entered, ProgramContestant)
    program = entered.program
    assert isinstance(program, DeepeningProgram) and program.table_mib == 8
    assert program.parts == tuple(part for part in DEEPENING_PARTS if part != "null_move")
    assert entered.name == "alphabeta (null_move false, hash 8, 500 nodes)"
    # Without terms it is the player of the ladders, whose ratings keep their meaning.
    assert enter(Entry.parse("alphabeta@3", []), game) == alpha_beta(3)
    for settings, words in (
        (["nodes=5", "option.nullmove=false"], "has no option 'nullmove'"),
        (["nodes=5", "option.table=no"], "option.table is 'no', expected true or false"),
        (["nodes=5", "option.hash=0"], "option.hash is '0', expected 1 to"),
        (["nodes=5", "option.disturbance=-1"], "option.disturbance is '-1', expected a number from 0 to 1"),
        (["st=1", "ponder=true"], "has no ponder"),
        (["nodes=5", "sample=3"], "has no sample"),
    ):
        with pytest.raises(SettingsError, match=re.escape(words)):
            enter(Entry.parse("alphabeta", settings), game)


def test_runs_with_updatable_networks_play_matches(tmp_path) -> None:
    game = make("minichess(history=1)")
    directory = saved(random_updatable(game), tmp_path / "random")
    counting = saved(counting_updatable(game, VALUES), tmp_path / "counting")
    first = enter(Entry.parse(f"{counting}@300", []), make("minichess"))
    second = enter(Entry.parse(str(directory), ["nodes=300"]), make("minichess"))
    assert (first.name, second.name) == (f"{counting}@300", f"{directory} (300 nodes)")
    result = play_match(make("minichess"), first, second, num_games=8, opening_plies=2, seed=0)
    assert result.score > 0.6, str(result)
    assert all(result.evaluations), "positions that alpha-beta visits count as evaluations"


def test_a_mover_keeps_to_clocks() -> None:
    mover = DeepeningProgram().open(make("breakthrough"))
    began = time.monotonic()
    found = mover.think("", (), MoveLimits((TimeLeft.per_move(0.2),) * 2))
    assert found.action is not None and 0.1 < time.monotonic() - began < 3
    assert mover.think("", (), MoveLimits(depth=3)).thought.depth == 3
    with pytest.raises(SettingsError, match="does not ponder"):
        mover.ponder("", (), MoveLimits(nodes=1), threading.Event())


def test_bad_searches_are_refused() -> None:
    game = make("tictactoe")
    with pytest.raises(GameError, match='has no part "pruning"'):
        DeepeningSearch(game, parts=["pruning"])
    search = DeepeningSearch(game)
    with pytest.raises(GameError, match="the search has no position"):
        search.deepen()
    with pytest.raises(ValueError, match="this state is of connect4"):
        search.begin(make("connect4").initial_state())
    over = game.initial_state()
    for action in (0, 3, 1, 4, 2):
        over = game.play(over, action)
    with pytest.raises(ValueError, match="the game is over"):
        search.begin(over)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "breakthrough(size=4)", "minishogi", "gomoku(size=6)"])
def test_every_part_can_be_switched_off(name: str) -> None:
    game = make(name)
    for part in DEEPENING_PARTS:
        search = DeepeningSearch(game, parts=[other for other in DEEPENING_PARTS if other != part])
        found = search.think(game.initial_state(), nodes=3000)
        assert found is not None and found.num_nodes <= 3001


def test_solved_games_are_solved() -> None:
    found = DeepeningSearch(make("tictactoe")).think(make("tictactoe").initial_state(), depth=9)
    assert found is not None and (found.value, found.plies_to_end) == (0, None)
    # The first player of 4x4 breakthrough... whoever wins, both values agree with a search without parts.
    game = make("breakthrough(size=4)")
    values = [
        DeepeningSearch(game, parts=parts).think(game.initial_state(), depth=12, nodes=3_000_000)
        for parts in (None, ["table", "killers"])
    ]
    assert all(found is not None for found in values)
    ends = {found.plies_to_end for found in values if found is not None}
    assert len({None if end is None else end > 0 for end in ends}) == 1


def test_a_skill_limits_positions_and_draws_moves() -> None:
    game = make("breakthrough(size=6)")
    program = DeepeningProgram("small", UpdatableEvaluator(random_updatable(game, seed=1), game), game)
    own = ProgramContestant("runs/small", program)
    assert with_skill(own, MOST_SKILL) == own
    limited = with_skill(own, 0)
    assert limited == ProgramContestant("runs/small, skill 0", replace(program, nodes=4, temperature=2.0))

    def moves(start: str = "") -> list[int | None]:
        with closing(replace(program, nodes=4, temperature=2.0).open(game)) as mover:
            drawn = list[int | None]()
            for number in range(20):
                mover.new_game(number)
                drawn.append(mover.think(start, [], MoveLimits()).action)
            return drawn

    assert moves() == moves() and len(set(moves())) > 3, "a draw belongs to a game and a ply"
    almost_home = "6/X5/OOOOOO/6/6/XXXXXX X"
    won = {game.parse_action(game.parse_position(almost_home), text) for text in ("a5a6", "a5b6")}
    assert set(moves(almost_home)) <= won, "a win is played"


def test_words_with_a_skill(player: Player, tmp_path) -> None:
    directory = saved(counting_updatable(chess(), VALUES), tmp_path / "counting")
    limited = enter(Entry.parse(str(directory), ["skill=10"]), chess())
    assert isinstance(limited, ProgramContestant) and limited.name == f"{directory}, skill 10"
    assert isinstance(limited.program, DeepeningProgram)
    assert (limited.program.nodes, limited.program.temperature) == (positions_of(10), temperature_of(10))
    for word, settings in ((f"{directory}@50", ["skill=3"]), (str(directory), ["skill=3", "st=1"])):
        with pytest.raises(SettingsError, match="has skill=3, which limits its search: leave out other limits"):
            enter(Entry.parse(word, settings), chess())


def test_skills_are_measured_on_the_ladder(tmp_path) -> None:
    game = make("breakthrough(size=6)")
    directory = saved(random_updatable(game, seed=1), tmp_path / "small")
    settings = LadderSettings(num_games=2, opening_plies=1)
    found = measure_levels(
        game.spec.full_name, str(directory), settings, skills=(0, 5), opponents=["rollouts@10"], say=lambda _: None
    )
    assert [(level.skill, level.num_games) for level in found.levels] == [(0, 2), (5, 2)]
    assert found.player == network_name(network_at(directory))
