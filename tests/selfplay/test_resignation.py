"""Resignation: who resigns and when, and a threshold that is wrong no more often than it may be."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from logs_for_tests import FinishedLog
from selfplay_for_tests import CONFIG, GAMES, SEARCH, new_task, play
from zerosum.base.errors import SettingsError
from zerosum.cluster.verification import fault_by_rules
from zerosum.games import make, state_after
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.replay.records import NO_TARGET, GameHeader, GameRecord, PlyFlag, PlyRecord, RunningGame
from zerosum.run.config import new_config
from zerosum.selfplay import SelfplayTask
from zerosum.selfplay.resignation import (
    HIGHEST,
    NEWEST,
    RESIGNATION,
    Resignation,
    is_played_out,
    lowest_value,
    new_resignation,
    num_games_to_learn_from,
)

ALL = replace(CONFIG, resign_false_positives=0.1, resign_played_out_share=1.0)
"""Every game is played out."""


def header_of(game_id: int) -> GameHeader:
    return GameHeader(
        game_id=game_id, game="connect4", game_version=1, options="", start="", settings_hash="abc", seed=7
    )


def game_of(values: Sequence[float], outcome: float, *, game_id: int = 0, openings: int = 0) -> GameRecord:
    """A game whose sides move by turns, with these values of the searches, for the mover."""
    header = header_of(game_id)
    plies = [
        PlyRecord(
            action=0,
            player=ply % 2,
            checkpoint_step=0,
            search_value=value,
            net_value=0.0,
            num_simulations=0 if ply < openings else 10,
            flags=PlyFlag.OPENING if ply < openings else PlyFlag.FULL_SEARCH,
            target=NO_TARGET,
        )
        for ply, value in enumerate(values)
    ]
    return GameRecord.from_plies(header, plies, outcome=outcome, ending="")


@pytest.mark.parametrize(
    ("values", "outcome", "openings", "lowest"),
    [
        ([-0.25, 0.5, -0.75, 1.0], 1.0, 0, -0.75),
        ([-0.25, 0.5, -0.75, 1.0], -1.0, 0, 0.5),
        ([-0.25, 0.5, -0.75, 1.0], 0.0, 0, -0.75),
        ([-0.25, 0.5, 0.75, 1.0], 1.0, 2, 0.75),
        ([-0.25], 1.0, 1, 1.0),
    ],
)
def test_the_lowest_value_is_of_a_side_that_did_not_lose(
    values: list[float], outcome: float, openings: int, lowest: float
) -> None:
    assert lowest_value(game_of(values, outcome, openings=openings)) == lowest


def wrong_share(lowest: Sequence[float], threshold: float) -> float:
    return sum(value < threshold for value in lowest) / len(lowest)


def test_the_threshold_is_the_highest_that_is_seldom_wrong() -> None:
    rng, resignation, lowest = random.Random(2), Resignation(ALL, seed=0), list[float]()
    for number in range(2 * NEWEST):
        lowest.append(np.float32(-(rng.random() ** 0.3)).item())
        resignation.take(game_of([lowest[-1]], 1.0, game_id=number))
        newest = lowest[-NEWEST:]
        if len(newest) < 10:
            assert resignation.threshold is None, "one of nine is more than a tenth"
            continue
        assert resignation.threshold is not None
        assert wrong_share(newest, resignation.threshold) <= 0.1
        higher = sorted({*newest, HIGHEST})
        after = next((value for value in higher if value > resignation.threshold), 1.0)
        assert resignation.threshold == HIGHEST or wrong_share(newest, after) > 0.1
    assert str(resignation).startswith(f"resigns below {resignation.threshold:.2f}, wrongly in ")
    assert str(resignation).endswith("of the newest 500 games played out")


def test_a_high_threshold_is_cut() -> None:
    games = [game_of([0.9], 1.0, game_id=number) for number in range(20)]
    assert Resignation(ALL, seed=0, games=games).threshold == HIGHEST
    assert str(Resignation(ALL, seed=0)) == "no resignations yet: 0 games played out"


def test_only_games_that_are_played_out_teach() -> None:
    config = replace(ALL, resign_played_out_share=0.2)
    games = [game_of([-0.9], 1.0, game_id=number) for number in range(2000)]
    some = Resignation(config, seed=3, games=games)
    same = [game for game in games if is_played_out(config, seed=3, game_id=game.game_id)]
    assert str(some) == str(Resignation(config, seed=3, games=same)) and 330 < len(same) < 470
    assert num_games_to_learn_from(config) == 1.5 * NEWEST / 0.2
    assert new_resignation(CONFIG, seed=3) is None


def resigning_task() -> SelfplayTask:
    config = replace(CONFIG, resign_false_positives=0.1, resign_played_out_share=0.3)
    return new_task(
        log=FinishedLog(),
        config=config,
        evaluator=RolloutEvaluator(),
        search=replace(SEARCH, num_simulations=60, reuse_tree=False),
        resignation=new_resignation(config, seed=7),
    )


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    return list(play(resigning_task(), 250)[1].values())


def test_games_of_an_alpha_beta_search_teach_nothing() -> None:
    networks = [game_of([-0.75, -0.9], 1.0, game_id=number) for number in range(20)]
    played = [replace(game, plies=game.plies.copy()) for game in networks]
    for game in played:
        game.plies["flags"] = PlyFlag.RECORDED | PlyFlag.EVALUATED
    alone, with_others = (Resignation(ALL, seed=0, games=games) for games in (networks, [*networks, *played]))
    assert str(alone) == str(with_others) and alone.threshold == with_others.threshold is not None


def test_a_side_that_is_lost_resigns_unless_the_game_is_played_out(records: list[GameRecord]) -> None:
    config = resigning_task().config
    resigned = [record for record in records if record.ending == RESIGNATION]
    out = [record for record in records if is_played_out(config, seed=7, game_id=record.game_id)]
    assert len(resigned) > 50 and 50 < len(out) < 100
    assert not {record.game_id for record in resigned} & {record.game_id for record in out}
    for record in resigned:
        state = state_after(GAMES["connect4"], " ".join(str(action + 1) for action in record.plies["action"]))
        assert GAMES["connect4"].outcome(state) is None
        assert record.outcome == (-1.0 if GAMES["connect4"].player(state) == 0 else 1.0)
    for record in records:
        assert fault_by_rules(GAMES["connect4"], record, can_resign=True) == ""
    assert fault_by_rules(GAMES["connect4"], resigned[0]) == "has another end than its moves"


def test_resignations_are_seldom_wrong(records: list[GameRecord]) -> None:
    """Resigned games that are played on to their ends are nearly all lost."""
    resigned = {record.game_id: record for record in records if record.ending == RESIGNATION}
    running = [
        RunningGame(header=header_of(record.game_id), plies=[record.ply(index) for index in range(record.num_plies)])
        for record in resigned.values()
    ]
    log = FinishedLog({game.header.game_id: game for game in running})
    task = replace(resigning_task(), resignation=None, log=log, game_ids=itertools.count(1000))
    ends = play(task, len(running) + 20, running=running)[1]
    wrong = [ends[game_id].outcome != record.outcome for game_id, record in resigned.items()]
    assert len(wrong) > 50 and np.mean(wrong) <= 0.2


def test_forged_resignations_are_refused(records: list[GameRecord]) -> None:
    task = resigning_task()
    resigned = next(record for record in records if record.ending == RESIGNATION)
    turned = replace(resigned, outcome=-resigned.outcome)
    assert fault_by_rules(task.game, turned, can_resign=True) == "was resigned by a side that was not to move"
    assert fault_by_rules(task.game, resigned) == "has another end than its moves"


def test_owners_of_squares_need_played_out_games() -> None:
    with pytest.raises(SettingsError, match=r"resign_false_positives ends games .* --set network.ownership_head=false"):
        new_config(make("go9"), "go9", overrides=["selfplay.resign_false_positives=0.05"])
    config = new_config(make("go19"), "go19", preset="alphago-zero")
    assert (config.selfplay.resign_false_positives, config.selfplay.resign_played_out_share) == (0.05, 0.1)
