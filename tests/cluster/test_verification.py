"""Games from strangers: what is against the rules, or not what its network would have played, does not count."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster_for_tests import (
    GAME,
    NETWORK,
    SEED,
    SETTINGS_HASH,
    block_of,
    checkpoint_of,
    game_of,
    header_of,
    learner_in,
)
from networks_for_tests import with_opinions
from zerosum.cluster import verification
from zerosum.cluster.verification import Comparison, SearchCheck, Suspicion, Verifier, fault_by_rules
from zerosum.evaluators import EvaluatorConfig, NetworkEvaluator, UniformEvaluator, make_evaluator
from zerosum.games import make
from zerosum.network import Checkpoint
from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.records import RunningGame
from zerosum.search import SearchConfig
from zerosum.selfplay import MemoryLog, SelfplayConfig, SelfplayTask, SelfplayWorker
from zerosum.selfplay.effort import PlayingNetwork
from zerosum.selfplay.worker_process import pack_weights

SEARCH = SearchConfig(num_simulations=24)
SELFPLAY = SelfplayConfig(games_per_worker=4, opening_share=0.5, opening_plies=3, full_search_share=0.5)


def network_of(step: int, *, seed: int) -> Checkpoint:
    """A network with opinions, since untrained ones hardly differ; each step has a size of its own."""
    network = replace(NETWORK, num_filters=NETWORK.num_filters + step)
    return with_opinions(checkpoint_of(step, seed=seed, network=network), seed=seed)


@functools.cache
def played(*networks: int, named: int | None = None, num_games: int = 8) -> list[GameRecord]:
    """Games of these networks (seeds of their weights, their steps 1, 2 …), each in use for some batches."""
    checkpoints = [network_of(step, seed=seed) for step, seed in enumerate(networks, start=1)]
    evaluator, now = make_evaluator(checkpoints[0], batch_size=4), [1]
    task = SelfplayTask(
        game=GAME,
        search=SEARCH,
        config=SELFPLAY,
        evaluator=evaluator,
        log=MemoryLog(),
        seed=SEED,
        settings_hash=SETTINGS_HASH,
        network=lambda: PlayingNetwork(named or now[0]),
    )
    worker, games = SelfplayWorker(task), list[GameRecord]()
    for number in range(10_000):
        if number and number % 60 == 0 and now[0] < len(checkpoints):
            evaluator.update(checkpoints[now[0]])
            now[0] += 1
        games += worker.play_batch()
        if len(games) >= num_games and now[0] == len(checkpoints):
            return games
    raise AssertionError("the games do not end")


def check_of(*checkpoints: Checkpoint, selfplay: SelfplayConfig = SELFPLAY) -> SearchCheck:
    check = SearchCheck(GAME, SEARCH, selfplay, EvaluatorConfig(), seed=SEED)
    for checkpoint in checkpoints:
        check.add_network(checkpoint.info.step, pack_weights(checkpoint), oldest=0)
    return check


@pytest.fixture
def check() -> Iterator[SearchCheck]:
    found = check_of(network_of(1, seed=1), network_of(2, seed=2), network_of(3, seed=3))
    yield found
    found.close()


def differs(check: SearchCheck, game: GameRecord) -> bool:
    """Whether a game is against the settings, or clearly not its network's: equal machines differ by less than 0.02."""
    return bool(check.fault(game)) or (check.compare(game).difference or 0.0) > 0.1


def test_a_game_repeats(check: SearchCheck) -> None:
    compared = [check.compare(game) for game in played(1)]
    assert sum(len(found.differences) for found in compared) > 8
    assert sum(len(found.value_differences) for found in compared) > sum(len(found.differences) for found in compared)
    for game, found in zip(played(1), compared, strict=True):
        assert max([0.0, *found.differences, *found.value_differences]) < 0.02, "batches of other sizes round alike"
        assert check.fault(game) == fault_by_rules(GAME, game) == ""


def test_searches_under_a_change_of_network_are_left_out(check: SearchCheck) -> None:
    games = played(1, 2, 3, num_games=12)
    assert any(len(set(game.plies["checkpoint_step"][-3:].tolist())) > 1 for game in games), "changes within games"
    for game in games:
        assert not check.fault(game)
        found = check.compare(game)
        assert max([0.0, *found.differences, *found.value_differences]) < 0.02


def test_a_sender_with_games_of_another_network_is_refused(check: SearchCheck) -> None:
    verifier = Verifier(GAME, check, share=1.0, generator=np.random.default_rng(0))
    others = played(5, named=1, num_games=24)
    assert sum(differs(check, game) for game in others) >= 8
    assert verifier.first_fault(played(1), sender="honest", inherited=()) is None
    found = verifier.first_fault(others, sender="other", inherited=())
    assert found is not None and "differs from its repeated searches" in found[1]
    assert verifier.first_fault(played(1), sender="honest", inherited=()) is None, "each sender has its own sum"


def test_single_differences_refuse_nobody() -> None:
    """Two nearly equal moves change a whole search; three such games in a row do not happen by rounding."""
    suspicion, like, unlike = Suspicion(), Comparison([0.01, 0.02], [0.0]), Comparison([0.5, 0.3], [0.02, 0.0])
    assert unlike.difference == pytest.approx(0.4) and like.difference == pytest.approx(0.015)
    assert Comparison([], []).difference is None and suspicion.fault(Comparison([], [])) == ""
    for _ in range(100):
        assert suspicion.fault(unlike) == ""
        assert all(suspicion.fault(like) == "" for _ in range(11))
        assert suspicion.value == 0.0
    faults = [suspicion.fault(unlike) for _ in range(3)]
    assert faults[:2] == ["", ""]
    assert faults[2].startswith("differs from its repeated searches, as the 3 compared games up to it do")
    assert "mean difference 0.40, the largest 0.40" in faults[2]
    suspicion = Suspicion()
    assert next(number for number in range(1, 100) if suspicion.fault(Comparison([], [0.15]))) == 11


def test_made_up_plans_are_noticed(check: SearchCheck) -> None:
    game = next(game for game in played(1) if game.num_positions and game.num_plies > game.num_positions)
    assert any(differs(check, replace(game, game_id=number)) for number in range(1000, 1010))


def changed(game: GameRecord, place: int, name: str, value: object) -> GameRecord:
    plies = game.plies.copy()
    plies[name][place] = value
    return replace(game, plies=plies)


def without_its_end(game: GameRecord) -> GameRecord:
    offsets = game.target_offsets[:-1]
    return replace(game, plies=game.plies[:-1], target_offsets=offsets, targets=game.targets[: offsets[-1]])


def with_targets_of_the_first_move(game: GameRecord) -> GameRecord:
    targets = game.targets.copy()
    targets["action"][game.target_offsets[1] :] = game.plies["action"][0]
    return replace(game, targets=targets)


BROKEN = {
    "occupied square": changed(game_of(3), 2, "action", int(game_of(3).plies["action"][0])),
    "no such square": changed(game_of(3), 2, "action", 400),
    "other side": changed(game_of(3), 2, "player", 1),
    "another result": replace(game_of(3), outcome=-game_of(3).outcome if game_of(3).outcome else 1.0),
    "another ending": replace(game_of(3), ending="resignation"),
    "no end": without_its_end(game_of(3)),
    "target": with_targets_of_the_first_move(game_of(3)),
    "start": replace(game_of(3), start="nonsense"),
}


@pytest.mark.parametrize("game", list(BROKEN.values()), ids=list(BROKEN))
def test_what_is_against_the_rules_is_noticed(game: GameRecord, tmp_path: Path) -> None:
    assert fault_by_rules(GAME, game_of(3)) == ""
    assert fault_by_rules(GAME, game)
    verifier = Verifier(GAME, check_of(), share=0.0, generator=np.random.default_rng(0))
    with learner_in(tmp_path, verifier=verifier) as learner:
        for name in ("bad/1", "good/1"):
            learner.ingest.register(name)
            learner.ingest.lease(name, 4)
        receipt = learner.ingest.offer("bad/1", block_of("bad/1", 1, [game_of(2), game]))
        assert dict(receipt.refused) == {"differs": 1, "refused sender": 1} and not receipt.num_games
        assert learner.ingest.senders["bad/1"].refusal == receipt.why != ""
        later = learner.ingest.offer("bad/1", block_of("bad/1", 2, [game_of(0)]))
        assert dict(later.refused) == {"refused sender": 1}
        assert learner.ingest.offer("good/1", block_of("good/1", 1, [game_of(5)])).num_games == 1
        assert [record.game_id for record in learner.taken] == [5] and learner.store.num_games == 1
    verifier.searches.close()


def test_games_of_other_games_are_checked_by_their_rules() -> None:
    game = make("connect4")
    task = SelfplayTask(
        game=game,
        search=SearchConfig(num_simulations=4),
        config=SelfplayConfig(games_per_worker=4),
        evaluator=UniformEvaluator(),
        log=MemoryLog(),
        seed=1,
        settings_hash="",
    )
    worker, games = SelfplayWorker(task), list[GameRecord]()
    while len(games) < 4:
        games += worker.play_batch()
    assert [fault_by_rules(game, record) for record in games] == [""] * len(games)


def test_old_networks_are_forgotten() -> None:
    check = check_of()
    for step in (0, 10, 20, 30):
        check.add_network(step, pack_weights(network_of(step, seed=1)), oldest=step - 15)
    assert [step for step in range(40) if check.knows(step)] == [10, 20, 30]
    check.close()


def games_of(
    checkpoint: Checkpoint,
    selfplay: SelfplayConfig,
    *,
    num_games: int,
    num_staggered: int = 0,
    task_type: type[SelfplayTask] = SelfplayTask,
) -> list[GameRecord]:
    """Games of one network by these settings of self-play."""
    task = task_type(
        game=GAME,
        search=SEARCH,
        config=selfplay,
        evaluator=make_evaluator(checkpoint, batch_size=4),
        log=MemoryLog(),
        seed=SEED,
        settings_hash=SETTINGS_HASH,
        num_staggered=num_staggered,
        network=functools.partial(PlayingNetwork.of, checkpoint.info),
    )
    worker, games = SelfplayWorker(task), list[GameRecord]()
    while len(games) < num_games:
        games += worker.play_batch()
    return games


def start_of(*actions: int) -> str:
    """The position after these moves, as text."""
    state = GAME.initial_state()
    for action in actions:
        state = GAME.play(state, action)
    return GAME.position_text(state)


class ElsewhereTask(SelfplayTask):
    """Games that begin at a position of their own."""

    def new_header(self) -> GameHeader:
        return replace(super().new_header(), start=start_of(4, 0, 2))


def test_a_start_that_the_number_does_not_give_is_noticed() -> None:
    checkpoint, plain = network_of(1, seed=1), replace(SELFPLAY, opening_share=0.0)
    check = check_of(checkpoint, selfplay=plain)
    games = games_of(checkpoint, plain, num_games=6, task_type=ElsewhereTask)
    assert [fault_by_rules(GAME, game) for game in games] == [""] * len(games)
    assert {check.fault(game) for game in games} == {"begins at another position than its number says"}
    check.close()


def test_random_moves_that_the_number_does_not_give_are_noticed() -> None:
    """Too many, too few, and others."""
    checkpoint = network_of(1, seed=1)
    never, always = replace(SELFPLAY, opening_share=0.0), replace(SELFPLAY, opening_share=1.0)
    for played_with, checked_with in ((always, never), (never, always), (always, replace(always, opening_plies=1))):
        check = check_of(checkpoint, selfplay=checked_with)
        games = games_of(checkpoint, played_with, num_games=6)
        faults = [check.fault(game) for game in games]
        assert "has other random moves than its number says" in faults
        check.close()
    games = games_of(checkpoint, always, num_games=6)
    check = check_of(checkpoint, selfplay=always)
    assert [check.fault(game) for game in games] == [""] * len(games)
    swapped = [replace(game, game_id=(game.game_id + 1) % 6) for game in games]
    assert any("other random moves" in check.fault(game) for game in swapped)
    check.close()


def test_staggered_starts_are_those_of_their_numbers() -> None:
    checkpoint, plain = network_of(1, seed=1), replace(SELFPLAY, opening_share=0.0)
    games = games_of(checkpoint, plain, num_games=8, num_staggered=4)
    check = SearchCheck(GAME, SEARCH, plain, EvaluatorConfig(), seed=SEED, num_staggered=lambda: 4)
    check.add_network(1, pack_weights(checkpoint), oldest=0)
    assert [check.fault(game) for game in games] == [""] * len(games)
    check.close()
    other = check_of(checkpoint, selfplay=plain)
    assert any("other random moves" in other.fault(game) for game in games)
    other.close()


def test_no_search_is_compared_of_a_step_that_two_networks_have_had() -> None:
    """A learner was lost with step 2, and another one went on from step 1."""
    lost, other, first = network_of(2, seed=2), network_of(2, seed=5), network_of(1, seed=1)
    check = check_of(first, lost)
    games = games_of(other, SELFPLAY, num_games=8)
    assert any(differs(check, game) for game in games), "by the lost network"
    for again in (lost, first):  # the same networks once more
        check.add_network(again.info.step, pack_weights(again), oldest=0)
    assert check.knows(1) and check.knows(2)
    for _ in range(2):
        check.add_network(2, pack_weights(other), oldest=0)
        assert check.knows(1) and not check.knows(2)
    assert not any(check.fault(game) or check.compare(game).value_differences for game in games)
    check.add_network(9, pack_weights(network_of(9, seed=1)), oldest=8)
    assert [step for step in range(10) if check.knows(step)] == [9]
    check.close()


def test_networks_stay_compiled_and_games_come_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()

    def make_counted(checkpoint: Checkpoint, *arguments: Any, **named: Any) -> NetworkEvaluator:
        made.append(checkpoint.info.step)
        evaluator = make_evaluator(checkpoint, *arguments, **named)
        update = evaluator.update

        def update_counted(other: Checkpoint) -> None:
            made.append(other.info.step)
            update(other)

        monkeypatch.setattr(evaluator, "update", update_counted)
        return evaluator

    monkeypatch.setattr(verification, "make_evaluator", make_counted)
    monkeypatch.setattr(verification, "MOST_EVALUATORS", 2)
    networks = [network_of(step, seed=step) for step in (1, 2, 3)]
    check = check_of(*networks)
    games = [game for network in networks for game in games_of(network, SELFPLAY, num_games=3)]
    mixed = [games[index] for index in (0, 3, 6, 1, 4, 7, 2, 5, 8)]
    verifier = Verifier(GAME, check, share=1.0, generator=np.random.default_rng(0))
    assert verifier.first_fault(mixed, sender="a", inherited=()) is None and verifier.num_compared == 9
    assert made == [1, 2, 3] and list(check._evaluators) == [2, 3], "the third takes the place of the first"
    check.close()


def test_int8_is_not_measured_for_each_network() -> None:
    check = SearchCheck(GAME, SEARCH, SELFPLAY, EvaluatorConfig(precision="fast"), seed=SEED)
    assert check._evaluator_config.precision == "auto"
    check.close()
    check = SearchCheck(GAME, SEARCH, SELFPLAY, EvaluatorConfig(precision="f32"), seed=SEED)
    assert check._evaluator_config.precision == "f32"
    check.close()


def test_a_game_in_flight_against_the_rules_is_noticed(tmp_path: Path) -> None:
    """The next process would continue it, and could not open the run."""
    first = game_of(0).ply(0)
    bad, good = (RunningGame(header=header_of(1), plies=[first] * number) for number in (2, 1))
    verifier = Verifier(GAME, check_of(), share=0.0, generator=np.random.default_rng(0))
    with learner_in(tmp_path, verifier=verifier) as learner:
        for name in ("bad/1", "good/1"):
            learner.ingest.register(name)
            learner.ingest.lease(name, 4)
        receipt = learner.ingest.offer("bad/1", block_of("bad/1", 1, [game_of(2)], running=[bad]))
        assert dict(receipt.refused) == {"differs": 1, "refused sender": 1}
        assert receipt.why == "game 1 of bad/1 has an illegal move at ply 1"
        assert not learner.store.running and not learner.taken and learner.ingest.senders["bad/1"].refusal
        game = RunningGame(header=header_of(4), plies=good.plies)
        assert not learner.ingest.offer("good/1", block_of("good/1", 1, [], running=[game])).refused
        assert [len(game.plies) for game in learner.store.running.values()] == [1]
    verifier.searches.close()


def test_the_effort_of_a_search_is_that_of_its_network() -> None:
    """The verifier knows each network's stage, and notices games of another plan."""
    staged = replace(SELFPLAY, stages="8/3/0.5@0, 12/4/1@0.5")
    early, late = network_of(1, seed=1), network_of(2, seed=2)
    late = replace(late, info=replace(late.info, training={"progress": 0.5}))
    check = SearchCheck(GAME, SEARCH, staged, EvaluatorConfig(), seed=SEED)
    for checkpoint in (early, late):
        check.add_network(checkpoint.info.step, pack_weights(checkpoint), oldest=0)
    for checkpoint in (early, late):
        games = games_of(checkpoint, staged, num_games=6)
        assert not any(differs(check, game) for game in games)
        other = {1: 2, 2: 1}[checkpoint.info.step]
        renamed = [replace(game, plies=game.plies.copy()) for game in games]
        for game in renamed:
            game.plies["checkpoint_step"] = other
        assert any(differs(check, game) for game in renamed)
    check.close()


def test_searches_that_see_material_repeat() -> None:
    """The game has none, so that values shrink to a fifth until the stage of the second network."""
    seeing = replace(SELFPLAY, material="0.8@0, 0@0.5")
    early, late = network_of(1, seed=1), network_of(2, seed=2)
    late = replace(late, info=replace(late.info, training={"progress": 0.5}))
    check, plain = check_of(early, late, selfplay=seeing), check_of(early, late)
    for checkpoint, is_plain in ((early, False), (late, True)):
        games = games_of(checkpoint, seeing, num_games=6)
        assert not any(differs(check, game) for game in games)
        assert any(differs(plain, game) for game in games) != is_plain
    check.close()
    plain.close()


def test_games_of_an_alpha_beta_search_repeat() -> None:
    teaching = replace(SELFPLAY, alphabeta="2@0, 0@0.5")
    early, late = network_of(1, seed=1), network_of(2, seed=2)
    late = replace(late, info=replace(late.info, training={"progress": 0.5}))
    check, plain = check_of(early, late, selfplay=teaching), check_of(early, late)
    games = games_of(early, teaching, num_games=6)
    assert [check.fault(game) for game in games] == [""] * len(games)
    assert all("the network of step 1 plays itself" in plain.fault(game) for game in games)
    game = max(games, key=lambda game: game.num_plies)
    other = changed(game, game.num_plies - 1, "search_value", 0.5)
    assert check.fault(other) == f"has another ply {game.num_plies - 1} than its alpha-beta search"
    late_games = [replace(game, plies=_of_step(game.plies, 2)) for game in games]
    assert all("the network of step 2 plays itself" in check.fault(game) for game in late_games)
    check.close()
    plain.close()


def _of_step(plies: np.ndarray, step: int) -> np.ndarray:
    of_step = plies.copy()
    of_step["checkpoint_step"] = step
    return of_step
