"""Self-play's settings act: shares of full searches and of openings."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from selfplay_for_tests import CONFIG, GAMES, SEARCH, CountingEvaluator, new_task, play
from zerosum.games import state_after
from zerosum.replay.records import PlyFlag, unpacked_ply
from zerosum.selfplay import SelfplayConfig


def test_every_setting_acts() -> None:
    evaluator = CountingEvaluator()
    for games_per_worker in (3, 5):
        evaluator.sizes.clear()
        play(new_task(evaluator=evaluator, config=replace(CONFIG, games_per_worker=games_per_worker)), 6)
        assert max(evaluator.sizes) == games_per_worker
    plain = play(new_task(), 6)[1]
    for changes in (
        {"temperature": 0.3},
        {"temperature_plies": 2},
        {"full_search_share": 0.5},
        {"opening_share": 1.0},
    ):
        changed = play(new_task(config=replace(CONFIG, **changes)), 6)[1]
        assert any(
            not np.array_equal(plain[i].plies["action"], changed[i].plies["action"])
            for i in plain.keys() & changed.keys()
        )


def test_only_full_searches_are_learned_from() -> None:
    """A share of the moves, drawn anew for each, is searched in full; the others are fast and without noise."""
    search = replace(SEARCH, reuse_tree=False, exact_bounds=False)
    config = replace(CONFIG, full_search_share=0.25, fast_simulations=3)
    records = play(new_task(search=search, config=config), 40)[1].values()
    plies = [record.ply(index) for record in records for index in range(record.num_plies)]
    full = [ply for ply in plies if ply.flags & PlyFlag.FULL_SEARCH]
    fast = [ply for ply in plies if not ply.flags & PlyFlag.FULL_SEARCH]
    assert 0.2 < len(full) / len(plies) < 0.3
    assert {(ply.num_simulations, bool(ply.flags & PlyFlag.NOISE)) for ply in full} == {(SEARCH.num_simulations, True)}
    assert {(ply.num_simulations, bool(ply.flags & PlyFlag.NOISE)) for ply in fast} == {(3, False)}
    assert all(len(ply.target) for ply in full) and not any(len(ply.target) for ply in fast)
    assert sum(record.num_positions for record in records) == len(full)
    assert len({tuple(record.plies["flags"] & PlyFlag.FULL_SEARCH) for record in records}) > 20


@pytest.mark.parametrize("name", GAMES)
def test_a_share_of_the_games_opens_with_random_moves(name: str) -> None:
    """The sampled number of random moves, none of which ends the game; they have no search and are not learned from."""
    config = replace(CONFIG, opening_share=0.5, opening_plies=5, full_search_share=0.1)
    records = play(new_task(name, config=config), 60)[1].values()
    lengths = []
    for record in records:
        is_opening = (record.plies["flags"] & PlyFlag.OPENING) > 0
        lengths.append(int(is_opening.sum()))
        assert is_opening[: lengths[-1]].all(), "they come first"
        assert lengths[-1] < record.num_plies, "the game is played out"
        assert (
            not record.plies["num_simulations"][is_opening].any() and record.plies["num_simulations"][~is_opening].all()
        )
        assert not np.diff(record.target_offsets)[is_opening].any()
        if lengths[-1]:
            assert record.plies["flags"][lengths[-1]] & PlyFlag.FULL_SEARCH, "the position is new"
        state = GAMES[name].initial_state()
        for ply in range(record.num_plies):
            assert record.plies["player"][ply] == GAMES[name].player(state)
            state = GAMES[name].play(state, int(record.plies["action"][ply]))
    assert set(lengths) == set(range(6)), "every number of moves occurs"
    assert 0.3 < np.mean([length > 0 for length in lengths]) < 0.7
    opened = [
        tuple(record.plies["action"][:2].tolist()) for record in records if record.plies["flags"][0] & PlyFlag.OPENING
    ]
    assert len(set(opened)) > len(opened) / 3, "each game has its own"


def test_moves_that_open_a_game_are_drawn_with_equal_chances() -> None:
    game = GAMES["connect4"]
    # X wins with 1: the five others and no more are as likely as each other.
    state = state_after(game, "1 2 1 2 1 7")
    drawn = [game.draw_opening(state, 1, 3, number) for number in range(3000)]
    actions = [unpacked_ply(ply).action for _, plies in drawn for ply in plies]
    counts = np.bincount(actions, minlength=7)
    assert len(actions) == 3000 and counts[0] == 0
    assert (np.abs(counts[1:] - 500) < 100).all()
    for (after, _), action in zip(drawn[:20], actions, strict=False):
        assert game.draw(after) == game.draw(game.play(state, action))


def test_no_move_opens_a_game_that_any_move_ends() -> None:
    game = GAMES["tictactoe"]
    state = state_after(game, "b2 a1 c1 a3 a2 c2 b1 b3")
    assert game.draw_opening(state, 1, 0, 0) == (state, [])


def test_batches_stay_full_while_searches_end() -> None:
    """Searches that end without asking about another position leave no row empty (31.1 of 32 without spare games)."""
    evaluator = CountingEvaluator()
    config = replace(CONFIG, games_per_worker=32)
    play(new_task("tictactoe", evaluator=evaluator, config=config), 200)
    assert max(evaluator.sizes) == 32 and np.mean(evaluator.sizes) > 31.6


def test_no_setting_is_forgotten() -> None:
    """The number of workers and that of staggered games are arguments of `SelfplayThreads` and its task."""
    tested = {"games_per_worker", "temperature", "temperature_plies", "full_search_share", "fast_simulations"}
    tested |= {"opening_share", "opening_plies"}
    tested |= {"alphabeta_depth", "alphabeta_share", "alphabeta_learning_nodes"}  # in files of their own
    tested |= {"alphabeta_nodes"}  # in test_alpha_beta_worker.py
    tested |= {"resign_false_positives", "resign_played_out_share"}  # in test_resignation.py
    obeyed_by_the_run = {"num_workers", "stagger_starts"}
    assert {field.name for field in dataclasses.fields(SelfplayConfig)} == tested | obeyed_by_the_run
