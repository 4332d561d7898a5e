"""Records and the journal: what was written comes back, and of a damaged file everything that is whole."""

import json
import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores_for_tests import ply_entry, same
from zerosum.replay import GameHeader, GameRecord, PlyRecord
from zerosum.replay.journal import (
    MAGIC,
    SYNC_INTERVAL_S,
    Journal,
    JournalContents,
    begin_entry,
    end_entry,
    game_entries,
    parse_games,
    parse_journal,
    read_entries,
    record_entries,
    start_entry,
)
from zerosum.replay.records import PLY, PLY_KEY, TARGET, TARGET_START, PlyFlag, RunningGame, policy_target


def ply_of(action=3, *, player=0, value=0.25, targets=((3, 0.75, 6), (5, 0.25, 2))):
    actions, probabilities, visits = zip(*targets, strict=True) if targets else ((), (), ())
    return PlyRecord(
        action=action,
        player=player,
        checkpoint_step=1000,
        search_value=value,
        net_value=-value,
        num_simulations=8,
        flags=PlyFlag.FULL_SEARCH | PlyFlag.SAMPLED,
        target=policy_target(actions, probabilities, visits),
    )


def header_of(game_id, **changes):
    known = {"game": "chess", "game_version": 1, "options": "", "start": "", "settings_hash": "5d41", "seed": 2**64 - 1}
    return GameHeader(game_id=game_id, **known | changes)


def same_plies(one: Iterable[PlyRecord], other: Iterable[PlyRecord]):
    for left, right in zip(one, other, strict=True):
        same(left, right)


@st.composite
def plies(draw):
    values = st.floats(-1, 1, width=32)
    actions = draw(st.lists(st.integers(0, 65535), max_size=6, unique=True))
    visits = [draw(st.integers(1, 2**20)) for _ in actions]
    return PlyRecord(
        action=draw(st.integers(0, 65535)),
        player=draw(st.integers(0, 1)),
        checkpoint_step=draw(st.integers(0, 2**32 - 1)),
        search_value=draw(values),
        net_value=draw(values),
        num_simulations=draw(st.integers(0, 2**32 - 1)),
        flags=PlyFlag(draw(st.integers(0, 15))),
        target=policy_target(actions, (np.array(visits, np.float64) / max(sum(visits), 1)), visits),
    )


@st.composite
def headers(draw, game_id):
    text = st.text(max_size=8)
    return GameHeader(
        game_id=game_id,
        game=draw(text),
        game_version=draw(st.integers(0, 99)),
        options=draw(text),
        start=draw(text),
        settings_hash=draw(text),
        seed=draw(st.integers(0, 2**64 - 1)),
    )


@given(st.data())
def test_what_was_written_comes_back(data):
    games = [
        RunningGame(header=data.draw(headers(game_id)), plies=data.draw(st.lists(plies(), max_size=4)))
        for game_id in data.draw(st.lists(st.integers(0, 2**62 - 1), max_size=4, unique=True))
    ]
    finished = [game for game in games if data.draw(st.booleans())]
    outcome, ending = data.draw(st.floats(-1, 1, width=32)), data.draw(st.text(max_size=8))
    entries = [entry for game in games for entry in game_entries(game)]
    entries += [end_entry(g.header.game_id, len(g.plies), outcome=outcome, ending=ending) for g in finished]

    contents = parse_journal(b"".join(entries))

    assert contents.whole_size == len(b"".join(entries))
    assert not contents.holes
    assert not contents.lost_games
    expected = [GameRecord.from_plies(g.header, g.plies, outcome=outcome, ending=ending) for g in finished]
    for record, other, game in zip(contents.finished, expected, finished, strict=True):
        same(record, other)
        same(record.header, game.header)
        same_plies((record.ply(index) for index in range(record.num_plies)), game.plies)
        of_its_plies = [*game_entries(game), end_entry(record.game_id, len(game.plies), outcome=outcome, ending=ending)]
        assert b"".join(record_entries(record)) == b"".join(of_its_plies)
    running = [game for game in games if game not in finished]
    assert list(contents.running) == [game.header.game_id for game in running]
    for game in running:
        same(contents.running[game.header.game_id].header, game.header)
        same_plies(contents.running[game.header.game_id].plies, game.plies)


def three_games():
    """Entries as threads interleave them: games 7 and 8 finish, game 9 goes on."""
    return [
        start_entry(header_of(7)),
        start_entry(header_of(8)),
        ply_entry(7, 0, ply_of(1)),
        ply_entry(8, 0, ply_of(2, targets=())),
        ply_entry(7, 1, ply_of(3, player=1)),
        end_entry(7, 2, outcome=-1.0, ending="mate"),
        start_entry(header_of(9)),
        ply_entry(9, 0, ply_of(4)),
        ply_entry(8, 1, ply_of(5, player=1)),
        ply_entry(9, 1, ply_of(6, player=1)),
        end_entry(8, 2, outcome=0.5, ending="agreed"),
        ply_entry(9, 2, ply_of(7)),
    ]


def progress(contents: JournalContents):
    """(finished game_ids with their moves, running ones with theirs), to compare at a glance."""
    finished = {record.game_id: record.plies["action"].tolist() for record in contents.finished}
    running = {game_id: [ply.action for ply in game.plies] for game_id, game in contents.running.items()}
    return finished, running


def test_a_journal_cut_off_at_any_byte_holds_every_whole_entry():
    entries = three_games()
    data = b"".join(entries)
    ends = np.cumsum([len(entry) for entry in entries]).tolist()
    for size in range(len(data) + 1):
        num_whole = sum(end <= size for end in ends)
        contents = parse_journal(data[:size])
        assert progress(contents) == progress(parse_journal(b"".join(entries[:num_whole])))
        assert contents.whole_size == (ends[num_whole - 1] if num_whole else 0)
        assert not contents.holes


def test_any_flipped_byte_loses_only_the_games_it_touches():
    entries = three_games()
    data = b"".join(entries)
    ends = np.cumsum([len(entry) for entry in entries]).tolist()
    starts = [0, *ends[:-1]]
    touched = [7, 8, 7, 8, 7, 7, 9, 9, 8, 9, 8, 9]
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 0x41
        entry = sum(end <= place for end in ends)
        contents = parse_journal(bytes(flipped))
        finished, running = progress(contents)
        if entry == len(entries) - 1:  # the file's end: not to be told from a torn write
            assert contents.whole_size == starts[entry]
        else:
            assert contents.holes == [(starts[entry], ends[entry])]
        if entry in (5, 10):  # END: the game is not over, and goes on
            assert touched[entry] in running
        elif entry == len(entries) - 1:
            assert running == {9: [4, 6]}
        else:
            assert contents.lost_games == {touched[entry]}
        whole = {7: [1, 3], 8: [2, 5]}
        assert finished == {game_id: moves for game_id, moves in whole.items() if game_id != touched[entry]}
        assert touched[entry] == 9 or running[9] == [4, 6, 7]


def test_starting_again_forgets_the_plies():
    again = [start_entry(header_of(9)), ply_entry(9, 0, ply_of(11)), end_entry(9, 1, outcome=0.0, ending="")]
    finished, running = progress(parse_journal(b"".join(three_games() + again)))
    assert finished[9] == [11]
    assert not running


@given(st.binary(max_size=200), st.integers(0, 2**16))
def test_no_content_is_an_exception(noise, place):
    data = b"".join(three_games())
    place %= len(data)
    parse_journal(noise)
    assert parse_journal(noise + data).running or noise
    parse_journal(data[:place] + noise + data[place:])


BEGIN = begin_entry(7, format_version=1)


def begun(path: Path) -> Path:
    path.write_bytes(BEGIN)
    return path


def test_the_first_entry_says_which_journal_it_is():
    contents = parse_journal(BEGIN + b"".join(three_games()))
    assert (contents.number, contents.format_version) == (7, 1)
    assert progress(contents) == progress(parse_journal(b"".join(three_games())))
    for size in range(len(BEGIN)):
        assert parse_journal(BEGIN[:size]).number is None


def test_a_journal_is_never_made_empty(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Journal(tmp_path / "journal.bin")
    assert not (tmp_path / "journal.bin").exists()


def test_it_is_synced_once_a_second_and_on_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now, synced = [100.0], []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(now[0]))
    journal = Journal(begun(tmp_path / "journal.bin"), clock=lambda: now[0])
    for entry in three_games():
        journal.append(entry)
        now[0] += 0.3 * SYNC_INTERVAL_S
    assert synced == pytest.approx([101.2, 102.4])
    journal.close()
    assert len(synced) == 3
    assert (tmp_path / "journal.bin").read_bytes() == BEGIN + b"".join(three_games())


def test_a_write_that_the_system_splits_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    journal = Journal(begun(tmp_path / "journal.bin"))
    for entry in three_games():
        journal.append(entry)
    journal.close()
    assert (tmp_path / "journal.bin").read_bytes() == BEGIN + b"".join(three_games())


def test_a_ply_on_disk_keeps_its_bytes():
    key, packed = "080000000000000002000000", "030000e80300000000803e000080be0800000009"
    target = "020003000500003a00340600000002000000"
    entry = ply_entry(8, 2, ply_of())
    assert entry[13:].hex() == key + packed + target
    assert ply_entry(8, 2, ply_of(targets=()))[13:].hex() == key + packed + "0000"


@pytest.mark.parametrize(
    "changes",
    [
        {"player": 2},
        {"search_value": 1.01},
        {"net_value": float("nan")},
        {"target": policy_target([3, 5], [0.5, 0.25], [6, 2])},
        {"target": np.array([(3, 1.0, 8)], [(name, np.float32) for name in TARGET.names])},
        {"target": policy_target([3], [1.0], [8]).reshape(1, 1)},
    ],
)
def test_a_ply_holds_its_promises(changes):
    with pytest.raises(AssertionError):
        PlyRecord(**vars(ply_of()) | changes)


def test_a_record_holds_its_promises():
    record = GameRecord.from_plies(header_of(1), [ply_of(), ply_of(player=1, targets=())], outcome=1.0, ending="mate")
    assert (record.num_plies, record.num_positions) == (2, 1)
    for changes in (
        {"plies": record.plies[:1]},
        {"plies": record.plies["action"]},
        {"target_offsets": np.array([0, 3, 2], np.int64)},
        {"targets": record.targets[:1]},
        {"targets": record.targets["visits"]},
        {"outcome": 1.5},
    ):
        with pytest.raises(AssertionError):
            GameRecord(**vars(record) | changes)


def remade(entry: bytes, payload: bytes) -> bytes:
    """The entry with another payload, and the right size and checksum."""
    head = struct.pack("<I", len(payload)) + entry[8:9]
    return entry[:4] + head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))) + payload


def header_entry(**changes) -> bytes:
    """A START entry with these fields, whatever they are."""
    text = json.dumps(vars(header_of(7)) | changes, separators=(",", ":"))
    return remade(start_entry(header_of(7)), text.encode())


def changed_ply(column: str, value: float, **arguments) -> bytes:
    """A PLY entry of game 7 with another number in a column of `PLY`."""
    entry = ply_entry(7, 0, ply_of(**arguments))
    payload = bytearray(entry[13:])
    row = np.frombuffer(payload, PLY, 1, PLY_KEY.size).copy()
    row[column] = value
    payload[PLY_KEY.size : PLY_KEY.size + PLY.itemsize] = row.tobytes()
    return remade(entry, bytes(payload))


def shared_ply(shares: list[float]) -> bytes:
    entry = ply_entry(7, 0, ply_of(targets=[(move, 1.0 if move == 0 else 0.0, 1) for move in range(len(shares))]))
    payload, start = bytearray(entry[13:]), TARGET_START + 2 * len(shares)
    payload[start : start + 2 * len(shares)] = np.array(shares, np.float16).tobytes()
    return remade(entry, bytes(payload))


START, PLY_0, END_1 = start_entry(header_of(7)), ply_entry(7, 0, ply_of()), end_entry(7, 1, outcome=1.0, ending="mate")


def is_taken(entries: list[bytes]) -> bool:
    """Whether entries with right checksums are good, which the readers of journals, blocks and pipes agree about."""
    data = b"".join(entries)
    found, answers = parse_journal(data), []
    answers.append(not found.holes and not found.lost_games)
    for read in (parse_games, lambda data: list(read_entries(data))):
        try:
            read(data)
        except (ValueError, TypeError, RecursionError, struct.error):
            answers.append(False)
        else:
            answers.append(True)
    assert len(set(answers)) == 1, answers
    return answers[0]


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("game_id", [7], [-1, 1 << 62, 7.0, "7", True, None]),
        ("game_version", [0, (1 << 31) - 1], [-1, 1 << 31, 1.0, "1", False]),
        ("seed", [0, (1 << 64) - 1], [-1, 1 << 64, 0.0, "0"]),
        *((name, ["", "text"], [0, None, ["text"]]) for name in ("game", "options", "start", "settings_hash")),
    ],
)
def test_a_games_header_has_its_types_and_ranges(field, good, bad):
    for value in good:
        assert is_taken([header_entry(**{field: value}), PLY_0, END_1]), value
    for value in bad:
        assert not is_taken([header_entry(**{field: value})]), value


@pytest.mark.parametrize("game_id", [0, (1 << 62) - 1])
def test_the_numbers_of_games_reach_to_the_ends_of_their_range(game_id):
    assert is_taken([start_entry(header_of(game_id)), ply_entry(game_id, 0, ply_of())])


def test_a_header_has_all_fields_and_no_others():
    whole = vars(header_of(7))
    for name in whole:
        text = json.dumps({key: value for key, value in whole.items() if key != name})
        assert not is_taken([remade(START, text.encode())]), name
    for text in (json.dumps(whole | {"more": 1}), "[]", "7", "", "{", '"\\ud800', "[" * 100_000):
        assert not is_taken([remade(START, text.encode())]), text[:20]
    assert not is_taken([remade(START, START[13:].replace(b"chess", b"che\xff\xff"))])


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("player", [0, 1], [2, 255]),
        ("flags", [0, 1, 127], [128, 255]),
        ("search_value", [-1, 0, 1], [-1.001, 1.001, np.nan, np.inf]),
        ("net_value", [-1, 0, 1], [-1.001, 1.001, np.nan, -np.inf]),
        ("action", [0, 65535], []),
        ("num_simulations", [0, 2**32 - 1], []),
    ],
)
def test_a_plys_numbers_have_their_ranges(column, good, bad):
    for targets in ((), ((3, 1.0, 1),)):
        for value in good:
            assert is_taken([START, changed_ply(column, value, targets=targets), END_1]), value
        for value in bad:
            assert not is_taken([START, changed_ply(column, value, targets=targets), END_1]), value


@pytest.mark.parametrize(
    ("shares", "is_good"),
    [
        ([1.0], True),
        ([0.5, 0.5], True),
        ([0.995], True),
        ([0.5, 0.505], True),
        ([0.98], False),
        ([0.5, 0.52], False),
        ([0.0, 0.0], False),
        ([np.nan], False),
        ([], True),
    ],
)
def test_shares_add_up_within_their_rounding(shares, is_good):
    assert is_taken([START, shared_ply(shares), END_1]) == is_good


def test_a_ply_is_as_long_as_its_target():
    for entry in (PLY_0, ply_entry(7, 0, ply_of(targets=()))):
        payload = entry[13:]
        for changed in (payload[:-1], payload + b"\0", payload[: TARGET_START - 1], payload[:5], b""):
            assert not is_taken([START, remade(entry, changed)]), len(changed)


def test_an_end_has_an_outcome_in_range():
    for outcome in (-1.0, 0.0, 1.0):
        assert is_taken([START, PLY_0, end_entry(7, 1, outcome=outcome, ending="")])
    for outcome in (-1.001, 1.001, float("nan"), float("inf")):
        assert not is_taken([START, PLY_0, end_entry(7, 1, outcome=outcome, ending="")])
    for payload in (END_1[13:20], b"", END_1[13:] + b"\xff"):
        assert not is_taken([START, PLY_0, remade(END_1, payload)])


@pytest.mark.parametrize(
    "entries",
    [
        [PLY_0],
        [END_1],
        [START, ply_entry(7, 1, ply_of())],
        [START, PLY_0, PLY_0],
        [START, PLY_0, ply_entry(8, 1, ply_of())],
        [START, ply_entry(8, 0, ply_of())],
        [START, PLY_0, end_entry(7, 0, outcome=0.0, ending="")],
        [START, PLY_0, end_entry(7, 2, outcome=0.0, ending="")],
        [START, PLY_0, end_entry(8, 1, outcome=0.0, ending="")],
        [START, PLY_0, END_1, END_1],
        [START, PLY_0, END_1, ply_entry(7, 1, ply_of())],
    ],
)
def test_entries_follow_each_other(entries):
    """No game has an entry too few or too many, in a block or a journal."""
    found = parse_journal(b"".join(entries))
    assert found.lost_games and not found.holes
    with pytest.raises(ValueError, match=r"missing|outside a game"):
        parse_games(b"".join(entries))


def test_a_block_has_finished_games_first_and_each_once():
    eight = [start_entry(header_of(8)), ply_entry(8, 0, ply_of())]
    assert len(parse_games(b"".join([START, PLY_0, END_1, *eight])).running) == 1
    for entries, words in (
        ([*eight, START, PLY_0, END_1], "after one in flight"),
        ([*eight, *eight], "a game twice"),
        ([START, PLY_0, begin_entry(1, format_version=1)], "of kind 4 in a game"),
        ([begin_entry(1, format_version=1)], "of kind 4 outside"),
    ):
        with pytest.raises(ValueError, match=words):
            parse_games(b"".join(entries))


def test_a_block_that_is_cut_off_or_changed_anywhere_is_refused():
    entries = [START, PLY_0, END_1, start_entry(header_of(8)), ply_entry(8, 0, ply_of())]
    data = b"".join(entries)
    ends = np.cumsum([len(entry) for entry in entries]).tolist()
    for size in range(1, len(data)):
        if size not in ends:
            with pytest.raises((ValueError, struct.error)):
                parse_games(data[:size])
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 0x41
        with pytest.raises((ValueError, struct.error)):
            parse_games(bytes(changed))


def test_an_unknown_kind_is_damage():
    payload = END_1[13:]
    head = struct.pack("<IB", len(payload), 9)
    entry = END_1[:4] + head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))) + payload
    assert not is_taken([START, PLY_0, entry])
    assert not is_taken([START, entry, PLY_0])
    found = parse_journal(START + entry + PLY_0)
    assert found.holes == [(len(START), len(START + entry))]
    assert len(found.running[7].plies) == 1


def test_marks_inside_of_a_damaged_entry_hide_no_entry():
    """The search for the next entry finds the first whole one behind any number of marks."""
    for noise in (b"x", b"xy", MAGIC, MAGIC * 3, MAGIC[:3], MAGIC + b"\0" * 30, b"\xf5" * 5 + MAGIC):
        found = parse_journal(START + noise + PLY_0 + noise)
        assert found.holes == [(len(START), len(START + noise))]
        assert found.whole_size == len(START + noise + PLY_0)
        assert len(found.running[7].plies) == 1


def test_records_say_how_they_began_and_by_whom_they_were_played():
    def record(flags: list[PlyFlag]) -> GameRecord:
        plies = [replace(ply_of(), flags=flag) for flag in flags]
        return GameRecord.from_plies(header_of(1), plies, outcome=0.0, ending="")

    opening, recorded, searched = PlyFlag.OPENING, PlyFlag.RECORDED | PlyFlag.EVALUATED, PlyFlag.FULL_SEARCH
    assert [(one.has_opening, one.is_recorded) for one in map(record, (
        [], [searched], [opening, searched], [searched, opening], [recorded], [opening, recorded], [recorded, searched],
        [PlyFlag.EVALUATED],
    ))] == [
        (False, False), (False, False), (True, False), (False, False), (False, True), (True, True), (False, False),
        (False, False),
    ]  # fmt: skip
    assert header_of(1).full_name == "chess"
    assert header_of(1, options="a=1, b=2").full_name == "chess(a=1, b=2)"
