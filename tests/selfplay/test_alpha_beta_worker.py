"""Self-play of updatable networks: games of a deepening alpha-beta search."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from updatable_for_tests import counting_updatable
from zerosum._core import DeepeningSearch
from zerosum.games import make
from zerosum.network.evaluators.updatable import UpdatableEvaluator, value_of
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag, PlyRecord, RunningGame
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, SelfplayTask
from zerosum.selfplay.alpha_beta_worker import ADJUDICATED, DECIDED_PLIES, PLAYED_OUT_EVERY, AlphaBetaWorker
from zerosum.selfplay.piece_terms import LearnedWeights, PieceTerms
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.worker import MemoryLog

GAME = make("minichess(history=1)")
VALUES = {"pawns": 1.0, "knights": 3.0, "bishops": 3.0, "rooks": 5.0, "queens": 9.0}
CONFIG = SelfplayConfig(games_per_worker=1, opening_share=1.0, opening_plies=4, alphabeta_nodes=60, alphabeta_share=0.0)


def task(log: MemoryLog, **changes) -> SelfplayTask:
    """A task with a network that counts pieces."""
    return SelfplayTask(
        game=GAME,
        search=SearchConfig(),
        config=replace(CONFIG, **changes),
        evaluator=UpdatableEvaluator(counting_updatable(GAME, VALUES), GAME),
        log=log,
        seed=3,
        settings_hash="tests",
        network=lambda: PlayingNetwork(step=5, progress=0.5),
    )


def games(num: int, **changes) -> list[GameRecord]:
    """The first games of a worker."""
    found: list[GameRecord] = []
    worker = AlphaBetaWorker(task(MemoryLog(), **changes))
    worker.play_until(lambda: len(found) >= num, found.append)
    assert worker.counts.games == num and worker.counts.plies > num
    return found


def test_games_follow_from_the_seed_and_differ_by_their_openings() -> None:
    first, again = games(6), games(6)
    moves = [record.plies["action"].tolist() for record in first]
    assert moves == [record.plies["action"].tolist() for record in again]
    assert len({tuple(game) for game in moves}) == 6
    assert moves != [record.plies["action"].tolist() for record in games(6, alphabeta_nodes=400)]


def test_a_search_knows_of_no_earlier_one() -> None:
    (record,) = games(1, alphabeta_nodes=500)
    state, evaluator = GAME.initial_state(), task(MemoryLog()).evaluator
    assert isinstance(evaluator, UpdatableEvaluator)
    for ply in record.plies:
        if PlyFlag.OPENING not in PlyFlag(int(ply["flags"])):
            search = DeepeningSearch(GAME, evaluator.network, piece_values=evaluator.piece_values)
            found = search.think(state, nodes=500)
            assert found is not None and (found.line[0], np.float32(value_of(found))) == (
                ply["action"],
                ply["search_value"],
            )
        state = GAME.play(state, ply["action"])


def test_plies_have_values_and_only_quiet_ones_are_learned_from() -> None:
    for record in games(8):
        state = GAME.initial_state()
        learned = np.diff(record.target_offsets) > 0
        for ply, action in enumerate(record.plies["action"].tolist()):
            flags = PlyFlag(int(record.plies["flags"][ply]))
            if PlyFlag.OPENING in flags:
                assert not learned[ply]
            else:
                assert flags == PlyFlag.RECORDED | PlyFlag.EVALUATED
                assert -1 <= record.plies["search_value"][ply] <= 1 and record.plies["checkpoint_step"][ply] == 5
            pieces = sum(character.isalpha() for character in GAME.position_text(state).split()[0])
            state = GAME.play(state, action)
            is_capture = sum(character.isalpha() for character in GAME.position_text(state).split()[0]) < pieces
            assert not (learned[ply] and is_capture)


def test_decided_games_are_broken_off_except_one_in_eight() -> None:
    found = {record.game_id: record for record in games(24)}
    endings = {game_id: record.ending for game_id, record in found.items()}
    assert ADJUDICATED in endings.values()
    assert all(ending != ADJUDICATED for game_id, ending in endings.items() if game_id % PLAYED_OUT_EVERY == 0)
    for record in found.values():
        if record.ending == ADJUDICATED:
            last = record.plies[-1]
            sign = 1 if last["player"] == 0 else -1
            assert record.outcome == np.sign(sign * last["search_value"]) != 0


def test_a_game_in_flight_goes_on() -> None:
    running: dict[int, RunningGame] = {}
    worker = AlphaBetaWorker(task(MemoryLog(running)))
    for _ in range(3):
        worker.play_batch()
    (game_id,) = running
    before = [ply.action for ply in running[game_id].plies]
    found: list[GameRecord] = []
    resumed = AlphaBetaWorker(task(MemoryLog(running)), running=list(running.values()))
    resumed.play_until(lambda: bool(found), found.append)
    assert found[0].game_id == game_id and found[0].plies["action"].tolist()[: len(before)] == before
    resumed.play_out(lambda: False, found.append)


def test_the_linear_evaluation_plays_until_its_share_is_used() -> None:
    """One without any weight finds nothing but results; the network counts pieces."""
    terms = PieceTerms(GAME)
    nothing = LearnedWeights(GAME.spec.encoder_id, (0.0,) * terms.size, 0.0, dict.fromkeys(VALUES, 1.0))

    def values(step: int, progress: float, share: float) -> set[float]:
        playing, running, found = PlayingNetwork(step, progress), dict[int, RunningGame](), set[float]()
        asked = replace(task(MemoryLog(running), alphabeta_share=share), evaluation=nothing, network=lambda: playing)
        worker = AlphaBetaWorker(asked)
        for _ in range(30):
            worker.play_batch()
            found |= {ply.search_value for game in running.values() for ply in game.plies}
        assert worker.counts.plies == 30 and worker.counts.evaluations > 30 * 20
        return found

    for step, progress, share in ((0, 0.0, 0.0), (5, 0.2, 0.5)):
        assert values(step, progress, share) <= {-1.0, 0.0, 1.0}, "the linear evaluation"
    for step, progress, share in ((5, 0.5, 0.0), (5, 0.6, 0.5)):
        assert not values(step, progress, share) <= {-1.0, 0.0, 1.0}, "the network"


def test_only_a_game_decided_for_long_on_one_side_is_broken_off() -> None:
    worker = AlphaBetaWorker(task(MemoryLog()))
    worker._next_game()  # the first one is played out
    for sign in (1.0, -1.0):
        playing = worker._next_game()
        one, other = 0.999 * sign, -0.999 * sign
        for value in (*[one] * (DECIDED_PLIES - 1), other, *[one] * (DECIDED_PLIES - 1), 0.99 * sign, 0.0):
            assert worker._finished(playing, value) is None
        for _ in range(DECIDED_PLIES - 1):
            assert worker._finished(playing, one) is None
        record = worker._finished(playing, one)
        assert record is not None and (record.outcome, record.ending) == (sign, ADJUDICATED)


def test_a_game_that_had_just_ended_is_finished() -> None:
    """The process ended between a game's last ply and its end."""
    record = next(record for record in games(16) if record.ending != ADJUDICATED)
    whole = RunningGame(
        header=GameHeader(**{name: getattr(record, name) for name in HEADER}), plies=record_plies(record)
    )
    worker = AlphaBetaWorker(task(MemoryLog({record.game_id: whole})), running=[whole])
    found = worker.play_batch()
    assert [game.game_id for game in found[:1]] == [record.game_id] and found[0].outcome == record.outcome
    assert worker.counts.games == len(found) and worker.counts.plies == 1


HEADER = [field.name for field in fields(GameHeader)]


def record_plies(record: GameRecord) -> list[PlyRecord]:
    return [record.ply(index) for index in range(record.num_plies)]
