"""Self-play's randomness: equal seeds give equal games however they are scheduled, and starts are staggered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from logs_for_tests import FinishedLog
from selfplay_for_tests import CONFIG, GAMES, SEARCH, new_task, play, same
from zerosum.games import measure_game
from zerosum.replay.records import PlyFlag
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.selfplay.worker import SelfplayWorker


def test_same_seed_same_games() -> None:
    first, again = play(new_task(), 10)[1], play(new_task(), 10)[1]
    assert first.keys() == again.keys() and all(same(first[i], again[i]) for i in first)
    other = play(new_task(seed=8), 10)[1]
    assert not any(
        np.array_equal(first[i].plies["action"], other[i].plies["action"]) for i in first.keys() & other.keys()
    )


def test_a_game_does_not_depend_on_its_neighbours() -> None:
    """Draws are keyed by seed, game and ply, so one game at a time gives the games that many at a time give."""
    many = play(new_task(config=replace(CONFIG, games_per_worker=9)), 12)[1]
    alone = play(new_task(config=replace(CONFIG, games_per_worker=1)), 12)[1]
    assert len(many.keys() & alone.keys()) > 3
    assert all(same(many[i], alone[i]) for i in many.keys() & alone.keys())


def test_without_noise_and_temperature_all_games_are_one() -> None:
    search, config = replace(SEARCH, root_noise_fraction=0.0), replace(CONFIG, temperature=0.0)
    records = play(new_task(search=search, config=config), 5)[1].values()
    assert len({tuple(record.plies["action"]) for record in records}) == 1
    for record in records:
        assert not (record.plies["flags"] & (PlyFlag.NOISE | PlyFlag.SAMPLED)).any()


def test_after_temperature_plies_the_best_move_is_played() -> None:
    """Without exact bounds the best move is the most visited one."""
    search = replace(SEARCH, exact_bounds=False, num_simulations=30)
    records = play(new_task(search=search), 12)[1].values()
    is_best = [
        [
            ply.target["visits"][ply.target["action"] == ply.action].max(initial=0) == ply.target["visits"].max()
            for ply in plies
        ]
        for plies in ([record.ply(index) for index in range(record.num_plies)] for record in records)
    ]
    assert all(all(game[CONFIG.temperature_plies :]) for game in is_best)
    assert not all(all(game[: CONFIG.temperature_plies]) for game in is_best)


def test_a_gumbel_root_plays_its_best_move_and_is_learned_from() -> None:
    """Its noise needs no share of Dirichlet's, and its draw no temperature; moves without noise are drawn as ever."""
    search = replace(
        SEARCH, root_selection="gumbel", policy_target="completed-q", root_noise_fraction=0.0, reuse_tree=False
    )
    task = new_task(search=search, config=replace(CONFIG, full_search_share=0.5, fast_simulations=6))
    game_id, record = play(task, 6)[1].popitem()
    again = new_search(task.game, search)
    for index in range(record.num_plies):
        ply = record.ply(index)
        is_full = bool(ply.flags & PlyFlag.FULL_SEARCH)
        again.begin(0, 12 if is_full else 6, noise=(task.seed, game_id, index) if is_full else None)
        while answer(again, task.evaluator, 1):
            pass
        root = again.root(0)
        assert bool(ply.flags & PlyFlag.NOISE) == is_full
        assert bool(ply.flags & PlyFlag.SAMPLED) == (not is_full and index < CONFIG.temperature_plies)
        if is_full:
            assert ply.action == root.best_action
            target = root.policy_target().astype(np.float16)
            assert ply.target["action"].tolist() == root.actions[target > 0].tolist()
            assert ply.target["probability"].tolist() == target[target > 0].tolist()
        again.advance(0, ply.action, keep=False)
    assert {bool(flag & PlyFlag.NOISE) for flag in map(PlyFlag, record.plies["flags"].tolist())} == {True, False}


def test_the_first_games_to_end_are_not_the_shortest_where_starts_are_staggered() -> None:
    """If all games begin at once, the first ones to end are short, and only these are learned from at first."""
    search = SearchConfig(num_simulations=1, root_noise_alpha=1.0, exact_bounds=False)
    config = replace(CONFIG, games_per_worker=32, temperature_plies=100)
    mean_plies = []
    for num_staggered in (0, 34):  # games are under way
        first = list[int]()
        for seed in range(12):
            task = new_task(search=search, config=config, seed=seed, num_staggered=num_staggered)
            first += [record.num_plies for record in list(play(task, 8)[1].values())[:8]]
        mean_plies.append(np.mean(first) / measure_game(GAMES["connect4"]).plies)
    assert mean_plies[0] < 0.65 and 0.75 < mean_plies[1] < 1.1


def test_staggered_games_are_those_with_low_numbers_at_all_stages() -> None:
    game, log = GAMES["connect4"], FinishedLog()
    SelfplayWorker(new_task(config=replace(CONFIG, games_per_worker=400), log=log, num_staggered=300))
    num_opening_plies = [len(log.running[number].plies) for number in range(400)]
    assert not any(num_opening_plies[300:])
    stages = np.array(num_opening_plies[:300]) / measure_game(game).plies
    assert stages.min() == 0 and 0.9 < stages.max() < 1 and 0.45 < stages.mean() < 0.55
