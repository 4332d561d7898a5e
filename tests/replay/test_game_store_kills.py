"""The store, cut off between any two writes: no finished game is lost or counted twice."""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stores_for_tests import FILLED, add_ply, filled, flip, games_in, opened, play, plies_in, ply_of
from zerosum.base.errors import RunError
from zerosum.replay.game_store import GameStore
from zerosum.replay.shards import MANIFEST


class Killed(BaseException):
    """Ends the process as far as the store can tell: no handler of ours catches it."""


CALLS = ("open", "write", "fsync", "unlink", "replace", "ftruncate")


def fail_at(monkeypatch: pytest.MonkeyPatch, place: int, error: BaseException, *, after: bool) -> list[str]:
    """Let the `place`-th call that changes the disk fail, before or after it did its work (half of it, for a write)."""
    calls: list[str] = []
    failed = []

    def failing(name: str, original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            if name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return original(*arguments)  # it only reads
            if failed:  # the process is gone: nothing more reaches the disk, whatever handlers try
                return original(*arguments) if name == "open" else len(arguments[-1:])
            calls.append(name)
            if len(calls) - 1 != place:
                return original(*arguments)
            if after:
                half = (arguments[0], arguments[1][: len(arguments[1]) // 2]) if name == "write" else arguments
                with contextlib.suppress(FileNotFoundError):  # of a file that is removed in case it is there
                    original(*half)
            failed.append(name)
            raise error

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, failing(name, getattr(os, name)))
    return calls


def acts(store: GameStore) -> None:
    """A ply, a game's end and a seal, and after it a ply more."""
    add_ply(store, 4, 2, ply_of(4, 2))
    store.finish_game(8, outcome=1.0, ending="ending 8")
    store.seal()
    add_ply(store, 4, 3, ply_of(4, 3))


def count_calls(directory: Path, act: Callable[[Path], None]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        calls = fail_at(patch, -1, Killed(), after=False)
        act(directory)
    return len(calls)


def prepared(tmp_path: Path) -> Path:
    """The store of `filled`, with all plies of game 8."""
    origin = tmp_path / "origin"
    filled(origin)
    with opened(origin) as (store, _):
        add_ply(store, 8, 3, ply_of(8, 3))
    return origin


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", [Killed(), OSError(28, "No space left on device")])
def test_a_seal_that_fails_anywhere_loses_and_doubles_nothing(tmp_path: Path, error: BaseException, after: bool):
    origin = prepared(tmp_path)

    def act(directory: Path) -> None:
        acts(GameStore(directory, report=print))

    num_calls = count_calls(shutil.copytree(origin, tmp_path / "counted"), act)
    assert num_calls > 15
    expected = {"ended": False, "plies": 2}
    for place in range(num_calls):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, error, after=after)
            with pytest.raises((Killed, RunError)) as raised:
                act(directory)
        if isinstance(error, OSError):
            assert raised.match(rf"at-{place} cannot be written: No space left on device.*start the run again")
        with opened(directory) as (store, _):
            assert store.next_game_id == 9
            finished, running = games_in(store), plies_in(store)
            # Recovered, it works on, and is as whole when it is opened once more.
            play(store, 9)
            store.seal()
        with opened(directory) as (store, messages):
            assert not messages
            assert games_in(store) == [*finished, 9]
            assert plies_in(store) == running
        ended = 8 not in running
        assert finished == [*FILLED[0], 8] if ended else FILLED[0]
        assert ended or running[8] == 4
        assert ended >= expected["ended"], "a game that had ended runs again"
        assert running[4] >= expected["plies"], "a ply that was written is gone"
        expected = {"ended": ended, "plies": running[4]}


def test_after_a_failed_write_nothing_more_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    filled(tmp_path)
    with opened(tmp_path) as (store, _):
        with monkeypatch.context() as patch:
            fail_at(patch, 0, OSError(30, "Read-only file system"), after=False)
            with pytest.raises(RunError, match="Read-only file system"):
                add_ply(store, 4, 2, ply_of(4, 2))
        with pytest.raises(RunError, match="Read-only file system"):
            add_ply(store, 4, 2, ply_of(4, 2))
    with opened(tmp_path) as (store, _):
        assert (games_in(store), plies_in(store)) == FILLED


def test_a_closed_store_takes_nothing_more(tmp_path: Path):
    with opened(tmp_path) as (store, _):
        play(store, 0)
    with pytest.raises(RunError, match="is closed"):
        play(store, 1)


@pytest.mark.parametrize("after", [False, True])
def test_the_making_of_a_store_can_be_cut_off_anywhere(tmp_path: Path, after: bool):
    def act(directory: Path) -> None:
        GameStore(directory, report=print)

    for place in range(count_calls(tmp_path / "counted", act)):
        directory = tmp_path / f"at-{place}"
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, Killed(), after=after)
            with pytest.raises(Killed):
                act(directory)
        with opened(directory) as (store, messages):
            play(store, 0)
        with opened(directory) as (store, messages):
            assert games_in(store) == [0]
            assert not messages


def test_a_journal_cut_off_anywhere_in_its_last_entry_is_cut_back_and_told(tmp_path: Path):
    origin = prepared(tmp_path)
    journal = origin / "journal-000003.bin"
    whole = journal.stat().st_size
    with opened(origin) as (store, _):
        store.finish_game(8, outcome=1.0, ending="ending 8")
    data = journal.read_bytes()
    for size in range(whole, len(data) + 1):
        journal.write_bytes(data[:size])
        with opened(origin) as (store, messages):
            ended = size == len(data)
            assert games_in(store) == FILLED[0] + [8] * ended
            assert plies_in(store) == {4: 2} | ({} if ended else {8: 4})
        assert len(messages) == (whole < size < len(data))
        for message in messages:
            assert f"journal-000003.bin was cut off while it was written: {size - whole} bytes are removed" in message


def test_a_damaged_line_brings_back_no_shard_that_was_not_committed(tmp_path: Path):
    origin = prepared(tmp_path)
    num_calls = count_calls(shutil.copytree(origin, tmp_path / "counted"), lambda d: acts(GameStore(d, report=print)))
    for place in range(num_calls):
        directory = shutil.copytree(origin, tmp_path / f"at-{place}")
        with pytest.MonkeyPatch.context() as patch:
            fail_at(patch, place, Killed(), after=True)
            with pytest.raises(Killed):
                acts(GameStore(directory, report=print))
        flip(directory / MANIFEST, (directory / MANIFEST).stat().st_size - 20)
        with opened(directory) as (store, _):
            finished, running = games_in(store), plies_in(store)
        assert finished in (FILLED[0], [*FILLED[0], 8])
        assert running[4] >= 2
        assert set(running) == ({4} if 8 in finished else {4, 8})
