"""Uploaded files: a large one is read by another process, with the same result."""

from __future__ import annotations

import signal
import sys

import pytest

from web_for_tests import ANNOTATED
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.web import uploads
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.study import Study
from zerosum.web.uploads import read_upload

LIMITS = Limits(plies=20, games=3)
GO = "(;GM[1]SZ[9]PB[\u5317\u6597]C[a \\] bracket];B[aa]BL[9.5](;W[bb]C[good]N[a name])(;W[cc](;B[dd])(;B[ee])))"
SHOGI = "手合割\uff1a平手\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:16/00:00:16)\n*comment\n   2 中断\n"
OWN = "# tictactoe\nb2 a1\n# A draw\n"


@pytest.mark.parametrize(
    ("text", "index", "game"),
    [(ANNOTATED, 0, ""), (f"{ANNOTATED}\n\n{ANNOTATED}", 1, ""), (GO, 0, ""), (SHOGI, 0, ""), (OWN, 0, "tictactoe")],
)
def test_a_large_file_is_read_as_a_small_one(text: str, index: int, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make(game) if game else None
    small = read_upload(text, index=index, game=rules, limits=LIMITS)
    monkeypatch.setattr(uploads, "LARGE", 0)
    monkeypatch.setattr(uploads, "_read", None)  # not by this process
    assert small is not None and small.record.moves
    assert read_upload(text, index=index, game=rules, limits=LIMITS) == small


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("nonsense", DataError, "begins like no known game record"),
        ("\n\n".join([ANNOTATED] * 4), SettingsError, "the text has more than 3 games: split it."),
        ("1. e4 e5 2. Nf3 Nf6 " * 6, SettingsError, "the game has 24 moves, but at most 20 are allowed."),
        (ANNOTATED, SettingsError, "game 2 is out of range: the text has 1."),
    ],
)
@pytest.mark.parametrize("large", [0, 1 << 20])
def test_what_is_refused_is_refused_by_both(
    text: str, error: type[Exception], says: str, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LARGE", large)
    with pytest.raises(error, match=says):
        read_upload(text, index=int(text == ANNOTATED), game=None, limits=LIMITS)


def test_a_process_that_fails_or_takes_too_long_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGE", 0)
    monkeypatch.setattr(uploads, "MOST_WAIT_SECONDS", 0.01)
    with pytest.raises(SettingsError, match="this computer is too busy to read the text"):
        read_upload(ANNOTATED, index=0, game=None, limits=LIMITS)
    monkeypatch.undo()
    monkeypatch.setattr(uploads, "LARGE", 0)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SettingsError, match="the process that reads it failed: split it"):
        read_upload(ANNOTATED, index=0, game=None, limits=LIMITS)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="the system has no limit of processor time")
def test_a_file_that_takes_too_much_processor_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_SECONDS", 1)
    with pytest.raises(SettingsError, match="took more than 1 seconds: split it"):
        read_upload("1. e4 e5 2. Nf3 Nf6 " * 200_000, index=0, game=None, limits=LIMITS)


def test_a_large_study_opens_with_its_comments() -> None:
    comment = "a word of praise " * 5000
    study = Study.opened(Library([]), text=ANNOTATED.replace("A quiet day", comment))
    assert len(comment) > uploads.LARGE and comment.strip() in study.record.comments[0]
    assert [node.text for node in study.tree.main[1:3]] == ["e4", "e5"]
