"""The time systems of GTP, by a clock of the tests' own."""

from __future__ import annotations

import itertools

import pytest

from gtp_client import Client
from play_clients import gtp_words
from zerosum.contest.clock import Clock, TimeControl
from zerosum.protocols.gtp_params import GtpConfig

SYSTEMS = {
    "time_settings 0 1 1": "0+1x1",
    "time_settings 0 5 5": "0+5/5",
    "time_settings 3 0 0": "3",
    "time_settings 2 1 3": "2+3/1",
    "kata-time_settings fischer 2 0.1": "2+0.1",
    "kata-time_settings absolute 3": "3",
    "kgs-time_settings byoyomi 1 0.5 3": "1+3x0.5",
    "kgs-time_settings canadian 0 2 4": "0+4/2",
}


@pytest.mark.parametrize("tells_left", [True, False], ids=["time_left", "own clock"])
@pytest.mark.parametrize("command", SYSTEMS)
def test_no_flag_falls(command: str, tells_left: bool) -> None:
    ticks = itertools.count()

    def now() -> float:
        return next(ticks) / 200

    client = Client(clock=now, config=GtpConfig(resign_below=0.0))
    client.ask_all(f"boardsize 5; clear_board; {command}")
    control = TimeControl.parse(SYSTEMS[command])
    clock = Clock(control, now=now)
    lengths = []
    for ply in range(24):
        player = ply % 2
        if tells_left:
            words = gtp_words(clock.left(player), decimals=0)
            client.ask(f"time_left {'bw'[player]} {words}")
        clock.start(player)
        client.ask(f"genmove {'bw'[player]}")
        lengths.append(clock.stop())
        assert clock.flag_fallen is None, (ply, lengths)
    assert max(lengths) > 0.05


def test_time_settings_are_read() -> None:
    client = Client()
    for text in ("time_settings 0 1 0", "kata-time_settings none", "kgs-time_settings none"):
        client.ask("time_settings 1 0 0")
        client.ask(text)
        assert not client.engine.session.player._left[0].is_limited
    assert client.ask("kata-list_time_settings").split() == ["none", "absolute", "byoyomi", "canadian", "fischer"]
    client.ask("time_settings 60 10 5")
    client.ask("time_left b 12.5 0")
    client.ask("time_left w 7 3")
    black, white = client.engine.session.player._left
    assert (black.main_s, black.num_periods) == (12.5, 1)
    assert (white.main_s, white.period_s, white.period_moves) == (0.0, 7.0, 3)
    client.ask("clear_board")
    assert client.engine.session.player._left[1].main_s == 60
    for bad in ("time_settings", "time_settings 1 2", "time_settings 1 2 x", "time_settings -1 0 0"):
        assert "not time settings" in client.refuse(bad)
    assert client.refuse("kata-time_settings hop 1").startswith("time system 'hop'")
    assert client.refuse("time_left b 1") == client.refuse("time_left b x 1") == "syntax error"
    assert client.refuse("time_left") == "invalid color"


def test_limits_of_the_command_hold_whatever_the_clock_says() -> None:
    ticks = itertools.count()
    client = Client(config=GtpConfig(seconds=0.05), clock=lambda: next(ticks) / 1000)
    client.ask_all("boardsize 5; time_settings 1000 0 0")
    before = next(ticks)
    client.ask("genmove b")
    assert next(ticks) - before < 100
    few = Client(config=GtpConfig(simulations=7))
    few.ask("time_settings 1000 0 0")
    root = few.ask("kata-genmove_analyze b rootInfo true").split("rootInfo ")[1].split()
    assert root[1] == "7"


def test_a_time_that_is_over_is_answered_at_once() -> None:
    client = Client()
    client.ask_all("time_settings 10 0 0; time_left b 0 0")
    assert client.ask("genmove b")
    client.ask("time_left w -3 0")
    assert client.ask("genmove w")


@pytest.mark.parametrize(("command", "follows"), [("time_settings 1000 0 0", True), ("time_settings 0 1 0", False)])
def test_the_tree_follows_in_the_opponents_time(command: str, follows: bool) -> None:
    client = Client(config=GtpConfig(simulations=300, resign_below=0.0))
    client.ask_all(f"{command}; play b c3")
    client.ask("genmove w")
    engine = client.engine.session.player._engine
    assert engine is not None
    engine._require_idle()
    assert len(engine._followed._actions) == (2 if follows else 1)
    assert engine._followed.search.root(0).num_simulations > 0
    client.ask("play b a1")
    assert client.ask("genmove w")
