"""The ingest: a game counts once, and what does not count is counted by reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster_for_tests import Learner, block_of, game_of, header_of, learner_in
from stores_for_tests import same
from zerosum.cluster.ingest import MOST_DAMAGED
from zerosum.replay import GameRecord
from zerosum.replay.journal import record_entries
from zerosum.replay.records import RunningGame


def begun(learner: Learner, name: str = "host/1", num_games: int = 8) -> list[int]:
    learner.ingest.register(name)
    return list(learner.ingest.lease(name, num_games))


def stored(learner: Learner) -> list[int]:
    return [record.game_id for record in learner.store.recent(1 << 40)]


def test_games_reach_the_store_and_the_window(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        ids = begun(learner)
        games = [game_of(number) for number in (ids[1], ids[0])]
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, games))
        assert (receipt.acknowledged, receipt.num_games, dict(receipt.refused)) == (1, 2, {})
        for one, other in zip(learner.store.recent(1 << 40), games, strict=True):
            same(one, other)
        assert [record.game_id for record in learner.taken] == [1, 0]
    with learner_in(tmp_path) as learner:  # as after a kill
        assert stored(learner) == [1, 0]
        assert learner.store.next_game_id == 2


def test_a_block_that_comes_twice_counts_once(tmp_path: Path) -> None:
    """The first acknowledgement was lost."""
    with learner_in(tmp_path) as learner:
        block = block_of("host/1", 1, [game_of(begun(learner)[0])])
        assert learner.ingest.offer("host/1", block).num_games == 1
        receipt = learner.ingest.offer("host/1", block)
        assert (receipt.num_games, receipt.acknowledged, dict(receipt.refused)) == (0, 1, {"duplicate": 1})
        assert stored(learner) == [0]


def test_a_game_twice_in_a_block_counts_once(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        game = game_of(begun(learner)[0])
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, [game, game]))
        assert (receipt.num_games, dict(receipt.refused)) == (1, {"duplicate": 1})
        assert stored(learner) == [0]


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (game_of(0, game="connect4"), "foreign"),
        (game_of(0, game_version=9), "foreign"),
        (game_of(0, options="size=4"), "foreign"),
        (game_of(0, settings_hash="another"), "foreign"),
        (game_of(0, seed=8), "foreign"),
        (game_of(99), "foreign"),
        (game_of(0, step=1001), "foreign"),
        (game_of(0, step=899), "stale"),
    ],
    ids=["game", "version", "options", "settings", "seed", "number", "future network", "old network"],
)
def test_games_that_do_not_count(game: GameRecord, reason: str, tmp_path: Path) -> None:
    with learner_in(tmp_path, max_staleness=100) as learner:
        learner.step = 1000
        good = game_of(begun(learner)[1], step=900)
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, [game, good]))
        assert (receipt.num_games, dict(receipt.refused)) == (1, {reason: 1})
        assert receipt.acknowledged == 1, "the sender need not keep it"
        assert stored(learner) == [1]
        assert learner.ingest.refused == learner.ingest.senders["host/1"].refused_games == {reason: 1}


def test_games_under_way_when_a_learner_was_lost_count(tmp_path: Path) -> None:
    """It goes on from its checkpoint, with fewer steps than these games name."""
    with learner_in(tmp_path) as learner:
        ids = begun(learner)
        learner.step, learner.lost_step = 820, 900
        games = [game_of(ids[0], step=900), game_of(ids[1], step=901)]
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, games))
        assert (receipt.num_games, dict(receipt.refused)) == (1, {"foreign": 1})
        assert "names the network of step 901, and the newest is of step 900" in receipt.why


def test_the_journal_has_the_entries_of_the_block(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        games = [game_of(number) for number in begun(learner)]
        learner.ingest.offer("host/1", block_of("host/1", 1, games))
        (journal,) = tmp_path.glob("journal-*.bin")
        assert journal.read_bytes().endswith(b"".join(entry for game in games for entry in record_entries(game)))


def test_games_of_another_training_do_not_count(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        games = [game_of(number) for number in begun(learner)]
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, games, training="another"))
        assert dict(receipt.refused) == {"foreign": 8} and not stored(learner)


def test_a_number_belongs_to_one_sender(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        begun(learner), begun(learner, "host/2")
        receipt = learner.ingest.offer("host/2", block_of("host/2", 1, [game_of(0), game_of(8)]))
        assert dict(receipt.refused) == {"foreign": 1} and stored(learner) == [8]


def test_a_sender_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        block = block_of("host/1", 1, [game_of(begun(learner)[0])])
        learner.ingest.dismiss("host/1")
        assert dict(learner.ingest.offer("host/1", block).refused) == {"refused sender": 1}
        assert not stored(learner)


def test_a_damaged_block_is_asked_for_again_until_its_sender_is_refused(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        block = block_of("host/1", 1, [game_of(begun(learner)[0])])
        damaged = block[:-1] + bytes([block[-1] ^ 1])
        assert learner.ingest.offer("host/1", damaged).acknowledged == 0
        assert learner.ingest.offer("host/1", block).acknowledged == 1
        for _ in range(MOST_DAMAGED):
            assert not learner.ingest.senders["host/1"].refusal
            learner.ingest.offer("host/1", damaged)
        assert "damaged" in learner.ingest.senders["host/1"].refusal
        again = block_of("host/1", 2, [game_of(1)])
        assert dict(learner.ingest.offer("host/1", again).refused) == {"refused sender": 1}
        assert dict(learner.ingest.refused) == {"damaged": 1 + MOST_DAMAGED, "refused sender": 1}


def test_games_in_flight_go_from_sender_to_sender(tmp_path: Path) -> None:
    whole = game_of(0)
    with learner_in(tmp_path) as learner:
        begun(learner)
        left = RunningGame(header=header_of(0), plies=[whole.ply(0), whole.ply(1)])
        learner.ingest.offer("host/1", block_of("host/1", 1, [], running=[left]))
        assert len(learner.store.running[0].plies) == 2
    with learner_in(tmp_path) as learner:  # the next process
        assert [game.header.game_id for game in learner.ingest.register("host/1", num_games=3)] == [0]
        assert not learner.ingest.register("host/2", num_games=3)
        learner.ingest.dismiss("host/1")
        assert [game.header.game_id for game in learner.ingest.register("host/3", num_games=3)] == [0]
        other = next(game for n in range(1, 50) if (game := game_of(n)).plies["action"][0] != whole.plies["action"][0])
        forged = GameRecord(**{**vars(other), "game_id": 0})
        assert dict(learner.ingest.offer("host/3", block_of("host/3", 1, [forged])).refused) == {"foreign": 1}
        assert learner.ingest.offer("host/3", block_of("host/3", 2, [whole])).num_games == 1
        assert stored(learner) == [0] and not learner.store.running


def test_what_a_sender_inherits_may_name_any_network_and_must_be_the_stores_game(tmp_path: Path) -> None:
    """A run may have gone back to an earlier checkpoint since these games began."""
    games = [game_of(number, step=5000) for number in range(3)]
    with learner_in(tmp_path) as learner:
        begun(learner)
        left = [RunningGame(header=header_of(number), plies=[games[number].ply(0)]) for number in range(3)]
        learner.ingest.offer("host/1", block_of("host/1", 1, [], running=left))
    with learner_in(tmp_path) as learner:
        assert len(learner.ingest.register("host/1", num_games=2)) == 2
        forged = GameRecord(**{**vars(games[1]), "seed": 8})
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, [games[0], forged, games[2]]))
        assert (receipt.num_games, dict(receipt.refused)) == (1, {"foreign": 2}), "another seed, another's game"
        receipt = learner.ingest.offer("host/1", block_of("host/1", 2, [games[0], games[1]]))
        assert (receipt.num_games, dict(receipt.refused), receipt.acknowledged) == (1, {"duplicate": 1}, 2)
        assert [game.header.game_id for game in learner.ingest.register("host/2", num_games=9)] == [2]


def test_what_a_sender_leaves_is_its_own_and_is_left_once(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        begun(learner), begun(learner, "host/2")
        ply = game_of(0).ply(0)

        def left(game_id: int, **changes: object) -> RunningGame:
            return RunningGame(header=header_of(game_id, **changes), plies=[ply])

        offered = [left(0), left(1, seed=8), left(8), left(99)]
        learner.ingest.offer("host/1", block_of("host/1", 1, [], running=offered))
        assert list(learner.store.running) == [0]
        learner.ingest.offer("host/1", block_of("host/1", 2, [game_of(0)], running=[left(0), left(1)]))
        assert sorted(learner.store.running) == [0, 1] and not learner.taken, "a game that was left is not finished"


def test_totals_are_those_of_all_blocks(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        for name in ("host/1", "host/2"):
            ids = begun(learner, name)
            for number, block in enumerate((ids[:3], ids[3:4], ids[2:6]), start=1):
                receipt = learner.ingest.offer(name, block_of(name, number, [game_of(each) for each in block]))
                assert receipt.acknowledged == number
            assert learner.ingest.senders[name].num_games == 6
            assert learner.ingest.senders[name].refused_games == {"duplicate": 2}
            assert learner.ingest.offer(name, block_of(name, 1, [])).acknowledged == 3, "an old block changes nothing"
        assert learner.ingest.num_games == 12 == len(stored(learner)) and learner.ingest.refused == {"duplicate": 4}
        assert learner.ingest.num_verified == 0


def test_a_sender_is_refused_from_then_on(tmp_path: Path) -> None:
    with learner_in(tmp_path) as learner:
        begun(learner)
        learner.ingest.refuse("host/1", "it is slow")
        receipt = learner.ingest.offer("host/1", block_of("host/1", 1, [game_of(0)]))
        assert (receipt.why, dict(receipt.refused), receipt.acknowledged) == ("it is slow", {"refused sender": 1}, 0)
        assert learner.ingest.offer("host/9", block_of("host/9", 1, [])).why.startswith("host/9 is not a sender")
