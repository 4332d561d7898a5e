"""Games that begin at positions of earlier games."""

from __future__ import annotations

from dataclasses import replace

import pytest

from selfplay_for_tests import CONFIG, GAMES, SEARCH, new_task, play
from zerosum.cluster.verification import fault_by_rules
from zerosum.games import make
from zerosum.games.rules import drawn_start
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.selfplay.archive import Archive
from zerosum.selfplay.worker import SelfplayWorker


def num_opening_plies(record: GameRecord) -> int:
    return sum(PlyFlag.OPENING in record.ply(index).flags for index in range(record.num_plies))


@pytest.mark.parametrize("name", GAMES)
def test_a_share_of_the_games_begins_at_positions_of_earlier_games(name: str) -> None:
    task = new_task(name, config=replace(CONFIG, full_search_share=0.2, fast_simulations=3, archive_share=0.5))
    worker, ended = SelfplayWorker(task), list[GameRecord]()
    while len(ended) < 150:
        ended += worker.play_batch()
    later = [record for record in ended if record.game_id >= 50]
    begun = [record for record in later if num_opening_plies(record)]
    assert 0.35 < len(begun) / len(later) < 0.65
    played = {record.game_id: record.plies["action"].tolist() for record in ended}
    for record in begun:
        num_plies, actions = num_opening_plies(record), played[record.game_id]
        assert 1 <= num_plies < record.num_plies, "the game goes on behind the position"
        others = [other for number, other in played.items() if number != record.game_id]
        assert any(other[:num_plies] == actions[:num_plies] and len(other) > num_plies for other in others)
        first = record.ply(num_plies)
        assert PlyFlag.FULL_SEARCH in first.flags and len(first.target), "the position is learned from"
        assert not any(len(record.ply(index).target) for index in range(num_plies))
        assert fault_by_rules(task.game, record) == ""
    assert len({num_opening_plies(record) for record in begun}) > 2


def test_without_a_share_no_game_begins_elsewhere() -> None:
    task = new_task("tictactoe")
    assert not any(num_opening_plies(record) for record in play(task, 60)[1].values())
    assert task.archive.draw(seed=0, game_id=0) is None, "nothing is kept that nobody asks for"


def test_a_game_from_the_archive_has_the_start_of_the_archived_game() -> None:
    """Chess960 begins anywhere; random games of eight plies soon give positions that belong to one start only."""
    game = make("chess960(max_plies=8)")
    search, config = replace(SEARCH, num_simulations=2), replace(CONFIG, archive_share=0.5)
    task = replace(new_task("connect4", search=search, config=config), game=game)
    records = play(task, 60)[1]
    begun = [record for record in records.values() if num_opening_plies(record)]
    assert len({record.start for record in begun}) > 5
    for record in begun:
        num_plies = num_opening_plies(record)
        assert fault_by_rules(game, record) == ""
        assert any(
            other.start == record.start
            and other.plies["action"][:num_plies].tolist() == record.plies["action"][:num_plies].tolist()
            for number, other in records.items()
            if number != record.game_id
        )
    assert any(record.start != drawn_start(game, seed=7, number=record.game_id) for record in begun)


def test_each_position_of_each_game_is_drawn() -> None:
    records = list(play(new_task("tictactoe"), 3)[1].values())
    archive = Archive(records)
    drawn = {archive.draw(seed=1, game_id=number) for number in range(2000)}
    wanted = {
        (record.start, tuple(record.plies["action"].tolist()[:num_plies]))
        for record in records
        for num_plies in range(1, record.num_plies)
    }
    assert {(position.start, position.actions) for position in drawn if position} == wanted
    assert [archive.draw(seed=1, game_id=7)] == [Archive(records).draw(seed=1, game_id=7)]
