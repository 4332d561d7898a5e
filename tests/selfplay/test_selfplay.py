"""Self-play: records are legal games, equal seeds give equal games however they are scheduled, and nothing is lost."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove
from logs_for_tests import FinishedLog
from zerosum.base.errors import RunError
from zerosum.evaluators import Evaluations, RolloutEvaluator, UniformEvaluator, answer
from zerosum.games import Rules, adopt, make, measure_game, state_after
from zerosum.games.rules import Leaves
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag, RunningGame
from zerosum.search import SearchConfig, new_search
from zerosum.search.config import Root, with_room
from zerosum.selfplay import SelfplayConfig, SelfplayTask, SelfplayThreads
from zerosum.selfplay.worker import SelfplayWorker, choose_action, opening_move, streak_after

GAMES = {"tictactoe": make("tictactoe"), "connect4": make("connect4"), "double-move": adopt(DoubleMove())}
SEARCH = SearchConfig(num_simulations=12, root_noise_alpha=1.0)
CONFIG = SelfplayConfig(games_per_worker=4, temperature_plies=6, full_search_share=1.0)


class CountingEvaluator(UniformEvaluator):
    """Counts what it is asked, by the size of each batch."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.sizes.append(len(leaves))
        return super().evaluate(leaves)


def new_task(game: str = "connect4", **changes: Any) -> SelfplayTask:
    values: dict[str, Any] = {
        "game": GAMES[game],
        "search": SEARCH,
        "config": CONFIG,
        "evaluator": UniformEvaluator(),
        "log": FinishedLog(),
        "seed": 7,
        "settings_hash": "abc",
    }
    return SelfplayTask(**values | changes)


def play(task: SelfplayTask, num_games: int, **running: Any) -> tuple[SelfplayWorker, dict[int, GameRecord]]:
    """Play until so many games have ended; they are given by id."""
    worker, records = SelfplayWorker(task, **running), []
    worker.play_until(lambda: len(records) >= num_games, records.append)
    assert len({record.game_id for record in records}) == len(records), "no game ends twice"
    return worker, {record.game_id: record for record in records}


def same(record: GameRecord, other: GameRecord) -> bool:
    return all(np.array_equal(getattr(record, f.name), getattr(other, f.name)) for f in dataclasses.fields(GameRecord))


def assert_legal_game(game: Rules, record: GameRecord) -> None:
    """Replays the record and holds each column against the rules."""
    state = game.initial_state()
    for index in range(record.num_plies):
        ply, legal = record.ply(index), game.legal_actions(state)
        assert ply.action in legal and ply.player == game.player(state)
        assert len(ply.target) > 0 and set(ply.target["action"].tolist()) <= set(legal)
        assert ply.target["probability"].astype(float).sum() == pytest.approx(1, abs=0.002)
        assert (ply.target["probability"] > 0).all() and ply.target["visits"].sum() <= ply.num_simulations
        assert ply.net_value == 0.0, "the uniform evaluator's"
        assert bool(ply.flags & PlyFlag.SAMPLED) == (index < CONFIG.temperature_plies)
        assert ply.flags & PlyFlag.FULL_SEARCH and ply.flags & PlyFlag.NOISE
        if ply.flags & PlyFlag.SAMPLED:
            assert ply.action in ply.target["action"]
        state = game.play(state, ply.action)
    assert (record.outcome, record.ending) == (game.outcome(state), game.ending(state))


@pytest.mark.parametrize("name", GAMES)
def test_records_are_legal_games(name: str) -> None:
    task = new_task(name)
    _, records = play(task, 30)
    for record in records.values():
        assert_legal_game(GAMES[name], record)
        expected = GameHeader(
            game_id=record.game_id, game=name, game_version=1, options="", start="", settings_hash="abc", seed=7
        )
        assert record.header.__dict__ == expected.__dict__
    log: Any = task.log
    assert sorted([*records, *log.running]) == list(range(len(records) + CONFIG.games_per_worker)), "ids are counted up"
    assert len({tuple(record.plies["action"]) for record in records.values()}) > 5, "games differ"


def test_the_record_is_what_the_searches_found() -> None:
    """Each search of a game made again by hand, with the noise of its seed, game and ply."""
    task = new_task(search=replace(SEARCH, reuse_tree=False))
    game_id, record = play(task, 6)[1].popitem()
    search = new_search(task.game, task.search)
    for index in range(record.num_plies):
        search.begin(0, SEARCH.num_simulations, noise=(task.seed, game_id, index))
        while answer(search, task.evaluator, 1):
            pass
        root, ply = search.root(0), record.ply(index)
        target = root.policy_target()
        assert ply.target["action"].tolist() == root.actions[target > 0].tolist()
        assert ply.target["visits"].tolist() == root.visits[target > 0].tolist()
        np.testing.assert_allclose(ply.target["probability"], target[target > 0], atol=1e-3)
        assert (ply.search_value, ply.num_simulations) == (root.value, root.num_simulations)
        assert bool(ply.flags & PlyFlag.PROVEN) == (root.proven is not None)
        search.advance(0, ply.action, keep=False)
    assert (record.plies["flags"] & PlyFlag.PROVEN).any()


@pytest.mark.parametrize("name", GAMES)
def test_everything_is_counted(name: str) -> None:
    evaluator, log = CountingEvaluator(), FinishedLog()
    search = replace(SEARCH, reuse_tree=False)
    worker, _ = play(new_task(name, evaluator=evaluator, search=search, log=log), 10)
    plies = [ply for game in log.running.values() for ply in game.plies]
    plies += [record.ply(index) for record in log.finished.values() for index in range(record.num_plies)]
    assert worker.counts.evaluations == sum(evaluator.sizes)
    assert (worker.counts.games, worker.counts.plies) == (len(log.finished), len(plies))
    assert worker.counts.simulations == sum(ply.num_simulations for ply in plies)


def test_reuse_saves_evaluations() -> None:
    evaluations, simulations = [], []
    for reuse_tree in (False, True):
        worker, _ = play(new_task(search=replace(SEARCH, reuse_tree=reuse_tree, exact_bounds=False)), 8)
        evaluations.append(worker.counts.evaluations / worker.counts.plies)
        simulations.append(worker.counts.simulations / worker.counts.plies)
    assert simulations[0] == SEARCH.num_simulations > simulations[1] > 0
    assert evaluations[0] > evaluations[1]


# ---- randomness


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
        assert bool(ply.flags & PlyFlag.NOISE) == is_full == root.has_gumbel_noise
        assert bool(ply.flags & PlyFlag.SAMPLED) == (not is_full and index < CONFIG.temperature_plies)
        if is_full:
            assert ply.action == root.best_action
            target = root.policy_target().astype(np.float16)
            assert ply.target["action"].tolist() == root.actions[target > 0].tolist()
            assert ply.target["probability"].tolist() == target[target > 0].tolist()
        again.advance(0, ply.action, keep=False)
    assert {bool(flag & PlyFlag.NOISE) for flag in map(PlyFlag, record.plies["flags"].tolist())} == {True, False}


@pytest.mark.parametrize("reuse", [False, True])
def test_a_full_search_begins_with_the_visits_before_it_or_without(reuse: bool) -> None:
    """Reused visits had no noise. Searches without noise reuse them with either setting."""
    search = replace(SEARCH, exact_bounds=False, count_reused_visits=False)
    config = replace(CONFIG, full_search_share=0.5, fast_simulations=6, reuse_in_full_searches=reuse)
    records = play(new_task(search=search, config=config), 12)[1].values()
    plies = [record.ply(index) for record in records for index in range(record.num_plies)]
    full = [ply.num_simulations for ply in plies if ply.flags & PlyFlag.FULL_SEARCH]
    fast = [ply.num_simulations for ply in plies if not ply.flags & PlyFlag.FULL_SEARCH]
    assert min(full) == SEARCH.num_simulations and min(fast) == 6 < max(fast)
    assert (max(full) > SEARCH.num_simulations) == reuse


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


def test_searches_that_memory_cuts_short_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the number of games here, unlike in self-play by default."""
    monkeypatch.setattr("zerosum.search.config.tree_mib", lambda *_: 0)
    search = replace(SEARCH, num_simulations=4000, memory_mib=1, exact_bounds=False)
    worker = SelfplayWorker(new_task(search=search, config=replace(CONFIG, games_per_worker=12)))
    while worker.counts.plies < 12:
        worker.play_batch()
    assert worker.counts.short_searches == worker.counts.plies
    plenty, _ = play(new_task(), 2)
    assert plenty.counts.short_searches == 0


class StepEvaluator(UniformEvaluator):
    """Values that tell the step of the network that gave them, and how often each position was asked about."""

    def __init__(self) -> None:
        self.step, self.asked = 0, Counter[tuple[int, bytes]]()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.asked.update((self.step, planes.tobytes()) for planes in leaves.packed_planes)
        answers = super().evaluate(leaves)
        return Evaluations(leaves, answers.logits, np.full_like(answers.values, self.step / 1000))


def test_what_another_network_said_is_forgotten() -> None:
    evaluator = StepEvaluator()
    search = replace(SEARCH, cache_positions=100_000, reuse_tree=False)
    task = new_task(search=search, evaluator=evaluator, network_step=lambda: evaluator.step)
    worker, records = SelfplayWorker(task), list[GameRecord]()
    for batch in range(300):
        evaluator.step = batch // 30
        records += worker.play_batch()
    for record in records:
        later = np.round(record.plies["net_value"] * 1000) - record.plies["checkpoint_step"]
        assert ((later == 0) | (later == 1)).all(), "a network that came between a search's begin and its root, at most"
    assert len({step for record in records for step in record.plies["checkpoint_step"].tolist()}) > 3
    # Of one network only what several trees ask in one batch is asked twice.
    assert max(evaluator.asked.values()) <= CONFIG.games_per_worker


def searched(game: Rules, moves: str, num_simulations: int) -> Root:
    """A search whose values are those of random games, so that its visits differ from move to move."""
    search, evaluator = new_search(game, SEARCH), RolloutEvaluator(1, seed=1)
    search.reset(0, state_after(game, moves))
    search.begin(0, num_simulations)
    while answer(search, evaluator, 1):
        pass
    return search.root(0)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_moves_are_drawn_in_proportion_to_visits(temperature: float) -> None:
    """Chi-square with 6 degrees of freedom: above 22.5 once in a thousand seeds, and the seed is fixed."""
    root, num_draws = searched(GAMES["connect4"], "4", 200), 4000
    config = SelfplayConfig(temperature=temperature)
    drawn = [choose_action(root, config, seed=5, game_id=number, ply=0) for number in range(num_draws)]
    assert all(is_sampled for _, is_sampled in drawn)
    counts = np.bincount([action for action, _ in drawn], minlength=7)
    weights = root.visits.astype(float) ** (1 / temperature)
    expected = num_draws * weights / weights.sum()
    assert (expected > 5).all() and ((counts - expected) ** 2 / expected).sum() < 22.5
    assert np.ptp(expected) > 20, "the visits differ, or this would show nothing"


def test_each_ply_is_drawn_anew() -> None:
    root, config = searched(GAMES["connect4"], "4", 200), SelfplayConfig()
    for varied in ("seed", "game_id", "ply"):
        keys = [{"seed": 1, "game_id": 1, "ply": 1, varied: number} for number in range(30)]
        assert len({choose_action(root, config, **key)[0] for key in keys}) > 3
    assert len({choose_action(root, config, seed=1, game_id=1, ply=1) for _ in range(30)}) == 1


def test_a_small_temperature_is_the_best_move() -> None:
    root = searched(GAMES["connect4"], "4", 200)
    for temperature in (0.0, 0.001):
        config = SelfplayConfig(temperature=temperature)
        chosen = {choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(50)}
        assert chosen == {root.best_action}
    config = SelfplayConfig(temperature=5.0, temperature_plies=3)
    assert [choose_action(root, config, seed=1, game_id=1, ply=ply)[1] for ply in range(6)] == [True] * 3 + [False] * 3


def test_a_proven_loss_is_not_drawn_while_there_is_another_move() -> None:
    """X threatens a1 b1 c1: all moves of O but c1 lose, and had visits before that was known."""
    root = searched(GAMES["tictactoe"], "a1 b2 b1", 60)
    is_lost = (root.lower == root.upper) & (root.upper < 0)
    assert is_lost.any() and not is_lost.all() and root.visits[is_lost].sum() > 0
    config = SelfplayConfig(temperature=10.0)
    drawn = {choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(500)}
    assert drawn <= set(root.actions[~is_lost].tolist())
    lost = searched(GAMES["tictactoe"], "a1 b1 a3 a2 c3", 5000)
    assert lost.proven == -1.0 and choose_action(lost, config, seed=1, game_id=1, ply=0)[0] in lost.actions


def test_moves_of_a_gumbel_root_without_noise_are_drawn_from_the_improved_policy() -> None:
    """The visits of sequential halving are its schedule's, and two moves have equally many of them in the end."""
    game = GAMES["connect4"]
    search = new_search(game, replace(SEARCH, root_selection="gumbel"))
    search.reset(0, state_after(game, "4 4 3 3"))
    search.begin(0, 40)
    while answer(search, UniformEvaluator(), 1):
        pass
    root, num_draws, config = search.root(0), 20_000, SelfplayConfig(temperature=2.0)
    drawn = Counter(choose_action(root, config, seed=1, game_id=number, ply=0)[0] for number in range(num_draws))
    expected = root.move_policy() ** 0.5
    expected /= expected.sum()
    found = np.array([drawn[action] / num_draws for action in root.actions.tolist()])
    assert np.abs(found - expected).max() < 0.015
    assert np.abs(root.visit_policy() - root.move_policy()).max() > 0.1, "the two differ"


# ---- settings


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


def test_a_streak_is_of_one_side() -> None:
    values = [(0.9, 0), (-0.95, 1), (0.95, 1), (-1.0, 0), (0.5, 1), (0.9, 1), (-0.0, 0)]  # for whom it is
    streaks = list(itertools.accumulate(values, lambda streak, ply: streak_after(streak, *ply, 0.9), initial=0))
    assert streaks == [0, 1, 2, -1, -2, 0, -1, 0]
    assert streak_after(3, 1.0, 0, None) == 0


def test_decided_games_get_few_simulations_and_are_not_learned_from() -> None:
    """Decided games get few simulations, except for a share of their moves; a stopped game goes on in the same way."""
    search = replace(SEARCH, reuse_tree=False, exact_bounds=False)
    decided = replace(CONFIG, decided_value=0.2, decided_plies=3, decided_simulations=2, decided_share=0.2)
    config = replace(decided, full_search_share=0.5, fast_simulations=6)
    records = play(new_task(search=search, config=config, evaluator=RolloutEvaluator()), 40)[1].values()
    numbers = Counter[tuple[bool, int]]()
    for record in records:
        streak = 0
        for index in range(record.num_plies):
            ply = record.ply(index)
            is_full = bool(ply.flags & PlyFlag.FULL_SEARCH)
            numbers[abs(streak) >= 3, ply.num_simulations] += 1
            assert is_full == bool(len(ply.target))
            streak = streak_after(streak, ply.search_value, ply.player, 0.2)
    assert not any(number == 2 and not is_decided for is_decided, number in numbers)
    in_decided = {number: count for (is_decided, number), count in numbers.items() if is_decided}
    assert 0.7 < in_decided[2] / sum(in_decided.values()) < 0.9


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
    drawn = [opening_move(game, state, seed=3, game_id=number, ply=6) for number in range(3000)]
    actions = [move[0] for move in drawn if move is not None]
    counts = np.bincount(actions, minlength=7)
    assert len(actions) == 3000 and counts[0] == 0
    assert (np.abs(counts[1:] - 500) < 100).all()
    assert all(game.draw(move[1]) == game.draw(game.play(state, move[0])) for move in drawn[:20] if move is not None)


def test_no_move_opens_a_game_that_any_move_ends() -> None:
    game = GAMES["tictactoe"]
    states = [state_after(game, "b2 a1 c1 a3 a2 c2 b1 b3")]
    assert [opening_move(game, state, seed=0, game_id=0, ply=8) for state in states] == [None]


def test_batches_stay_full_while_searches_end() -> None:
    """Searches that end without asking about another position leave no row empty (31.1 of 32 without spare games)."""
    evaluator = CountingEvaluator()
    config = replace(CONFIG, games_per_worker=32)
    play(new_task("tictactoe", evaluator=evaluator, config=config), 200)
    assert max(evaluator.sizes) == 32 and np.mean(evaluator.sizes) > 31.6


def test_no_setting_is_forgotten() -> None:
    """The number of workers and that of staggered games are arguments of `SelfplayThreads` and its task."""
    tested = {"games_per_worker", "temperature", "temperature_plies", "full_search_share", "fast_simulations"}
    tested |= {"opening_share", "opening_plies", "reuse_in_full_searches"}
    tested |= {"decided_value", "decided_plies", "decided_simulations", "decided_share"}
    obeyed_by_the_run = {"num_workers", "stagger_starts"}
    assert {field.name for field in dataclasses.fields(SelfplayConfig)} == tested | obeyed_by_the_run


def test_the_networks_step_is_recorded_when_the_search_begins() -> None:
    steps = itertools.count(100)
    _, records = play(new_task(network_step=lambda: next(steps), config=replace(CONFIG, games_per_worker=1)), 3)
    played = np.concatenate([records[number].plies["checkpoint_step"] for number in range(3)])
    np.testing.assert_array_equal(played, np.arange(100, 100 + len(played)))


# ---- stopping and going on


def open_store(directory: Path) -> GameStore:
    return GameStore(directory, report=pytest.fail, games_per_shard=5)


DECIDED = replace(CONFIG, decided_value=0.0, decided_plies=1, decided_simulations=3, decided_share=0.5)


def task_of(store: GameStore, name: str) -> SelfplayTask:
    ids, search = itertools.count(store.next_game_id), replace(SEARCH, reuse_tree=False)
    return new_task(name, log=store, game_ids=ids, search=search, config=DECIDED)


@pytest.mark.parametrize("name", GAMES)
def test_running_games_go_on_after_a_kill(tmp_path: Path, name: str) -> None:
    """Killed after any batch and reopened, with fewer trees than running games: every game ends as if nothing was."""
    whole = play(task_of(open_store(tmp_path / "whole"), name), 40)[1]
    directory, records = tmp_path / "0", {}
    for part in range(4):
        store = open_store(directory)
        running = store.running
        kept = {game_id: [ply.action for ply in game.plies] for game_id, game in running.items()}
        task = task_of(store, name)
        if part == 2:
            task = replace(task, config=replace(DECIDED, games_per_worker=2))
        worker = SelfplayWorker(task, running=running.values())
        for _ in range(200 + 37 * part):
            for record in worker.play_batch():
                assert record.game_id not in records, "no game ends twice"
                records[record.game_id] = record
                moves = kept.pop(record.game_id, [])
                assert record.plies["action"][: len(moves)].tolist() == moves
        directory = tmp_path / str(part + 1)
        shutil.copytree(tmp_path / str(part), directory)  # what a kill leaves: the store was not closed
    store = open_store(directory)
    assert {record.game_id for record in store.recent(10**6)} == records.keys()
    assert sorted([*records, *store.running]) == list(range(store.next_game_id)), "no game is lost"
    for game_id in records.keys() & whole.keys():
        assert same(records[game_id], whole[game_id])
    assert len(records.keys() & whole.keys()) > 5


def test_a_game_that_had_just_ended_is_finished(tmp_path: Path) -> None:
    """The process was killed between the last ply and the note of the game's end."""
    log = FinishedLog()
    record = next(iter(play(new_task("tictactoe", log=log), 1)[1].values()))
    ended = RunningGame(header=record.header, plies=[record.ply(index) for index in range(record.num_plies)])
    again = FinishedLog()
    again.running[record.game_id] = ended
    worker = SelfplayWorker(new_task("tictactoe", log=again, game_ids=itertools.count(50)), running=[ended])
    assert same(again.finished[record.game_id], record)
    assert [finished.game_id for finished in worker.play_batch()] == [record.game_id]
    assert sorted(again.running) == [50, 51, 52, 53]
    assert worker.counts.games == 1


# ---- threads


def test_two_threads_play_the_games_that_one_plays() -> None:
    task, lock, records, names = new_task(), threading.Lock(), {}, set()

    def take(record: GameRecord) -> None:
        with lock:
            assert record.game_id not in records
            records[record.game_id] = record
            names.add(threading.current_thread().name)

    selfplay = SelfplayThreads(task, num_workers=2)
    for goal in (10, 30):
        selfplay.play(lambda goal=goal: len(records) >= goal, take)  # type: ignore[misc]
    log: Any = task.log
    assert selfplay.counts.games == len(records) == len(log.finished)
    assert len(log.running) == 2 * CONFIG.games_per_worker
    alone = play(new_task(), 30)[1]
    assert all(same(records[i], alone[i]) for i in records.keys() & alone.keys())
    assert names == {"selfplay"}


def test_games_are_played_out() -> None:
    """No game is left under way, none is begun, and play goes on as in a new process."""
    log, records = FinishedLog(), list[GameRecord]()
    selfplay = SelfplayThreads(new_task(log=log), num_workers=2)
    for goal in (5, 15):
        selfplay.play(lambda goal=goal: len(records) >= goal, records.append)  # type: ignore[misc]
        under_way = set(log.running)
        assert len(under_way) == 2 * CONFIG.games_per_worker
        selfplay.play_out(lambda: False, records.append)
        assert not log.running and under_way <= log.finished.keys()
        assert sorted(record.game_id for record in records) == sorted(log.finished) == list(range(len(records)))
        assert selfplay.counts.games == len(records)


def test_running_games_are_dealt_out() -> None:
    log = FinishedLog()
    play(new_task(log=log, config=replace(CONFIG, games_per_worker=5)), 2)
    running, again = list(log.running.values()), FinishedLog(log.running)
    task = new_task(log=again, game_ids=itertools.count(1000), config=replace(CONFIG, games_per_worker=2))
    records: list[GameRecord] = []
    waited_for = {game.header.game_id for game in running}
    selfplay = SelfplayThreads(task, num_workers=2, running=running)
    selfplay.play(lambda: waited_for <= {record.game_id for record in list(records)}, records.append)
    assert len(records) == len({record.game_id for record in records}), "a game was dealt out twice"


class Failing(UniformEvaluator):
    """Fails at its hundredth batch."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.calls = error, itertools.count()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        if next(self.calls) == 100:
            raise self.error
        return super().evaluate(leaves)


@pytest.mark.parametrize("error", [RunError("the disk is full"), RuntimeError("out of memory"), KeyboardInterrupt()])
def test_one_workers_error_stops_all_and_is_told(error: BaseException) -> None:
    before = threading.active_count()
    selfplay = SelfplayThreads(new_task(evaluator=Failing(error)), num_workers=2)
    with pytest.raises(type(error), match=str(error) or None):
        selfplay.play(lambda: False, lambda record: None)
    assert threading.active_count() == before


def test_an_error_of_who_takes_the_games_stops_all() -> None:
    def take(record: GameRecord) -> None:
        raise RunError("no room for games")

    with pytest.raises(RunError, match="no room for games"):
        SelfplayThreads(new_task(), num_workers=2).play(lambda: False, take)


@pytest.mark.parametrize(
    ("name", "num_simulations", "leaves_in_flight"), [("go19", 300, 1), ("othello", 800, 1), ("tictactoe", 100, 8)]
)
def test_each_of_many_games_has_the_memory_for_its_simulations(
    name: str, num_simulations: int, leaves_in_flight: int
) -> None:
    """The memory of one position, divided by hundreds of games, grows until each game has its simulations."""
    game = make(name)
    search = SearchConfig(num_simulations=num_simulations, memory_mib=1, leaves_in_flight=leaves_in_flight)
    num_trees = 8
    grown = with_room(game, search, num_trees)
    trees = new_search(game, grown, num_trees=num_trees)
    for ply in range(4):
        for tree in range(num_trees):
            trees.begin(tree, num_simulations, noise=(1, tree, ply))
        while answer(trees, UniformEvaluator(), num_trees):
            pass
        for tree in range(num_trees):
            root = trees.root(tree)
            assert root.stop_reason in ("simulations", "proven")
            assert root.best_action is not None
            trees.advance(tree, root.best_action, keep=True)
    assert trees.num_bytes <= grown.memory_mib << 20
