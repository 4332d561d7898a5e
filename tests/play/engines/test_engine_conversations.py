"""External engines are told games, clocks and options in the words of their protocol."""

from pathlib import Path

import pytest

from engines_for_tests import DEPTH, fake, first_move, heard
from zerosum.base.errors import SettingsError
from zerosum.contest.clock import Clock, TimeControl, TimeLeft
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.play.engines.engine import ExternalEngine

IN_CANADIAN = TimeLeft(0.0, period_s=200.0, period_moves=12, num_periods=1)


def clock(control: str) -> TimeLeft:
    """A player's clock when the game begins."""
    return TimeControl.parse(control).start()


def both(left: TimeLeft) -> tuple[TimeLeft, TimeLeft]:
    return left, left


def test_uci_conversation(tmp_path: Path) -> None:
    log, chess = tmp_path / "log", make("chess")
    command = fake("uci", log=log, options=(("skill level", "-5"), ("Clear Hash", ""), ("Style", "Very Solid")))
    with ExternalEngine(command, chess) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        move = engine.think("", [], MoveLimits((TimeLeft(60.0, increment_s=0.5, moves_to_go=40), TimeLeft(59.9994))))
        assert (chess.action_text(chess.initial_state(), move.action or 0), move.ending) == ("e2e4", "")
        fen = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2"
        engine.think(fen, [], MoveLimits(both(TimeLeft.per_move(100.0)), nodes=5, depth=3))
        engine.end_game(1.0)
        with pytest.raises(SettingsError, match="UCI cannot express byoyomi"):
            engine.think("", [], MoveLimits(both(clock("1+1x1"))))
        with pytest.raises(SettingsError, match="has no limit"):
            engine.think("", [], MoveLimits())
        engine.new_game()
    assert heard(log) == [
        "uci",
        "setoption name Skill Level value -5",
        "setoption name Clear Hash",
        "setoption name Style value Very Solid",
        "ucinewgame",
        "isready",
        "position startpos",
        "isready",
        "go wtime 60000 btime 59999 winc 500 binc 0 movestogo 40",
        f"position fen {fen}",
        "isready",
        "go movetime 100000 nodes 5 depth 3",
        "ucinewgame",
        "isready",
        "quit",
    ]


def test_usi_conversation(tmp_path: Path) -> None:
    log, shogi = tmp_path / "log", make("shogi")
    script = {"go 2": ["bestmove 3c3d"], "go 3": ["bestmove 2g2f"], "go 4": ["bestmove 8h2b+"]}
    with ExternalEngine(fake("usi", script, log=log, options=(("USI_Hash", "64"),)), shogi) as engine:
        engine.new_game()
        actions, state = list[int](), shogi.initial_state()
        for limits in (
            MoveLimits(both(clock("300+1x10"))),
            MoveLimits((clock("290+5"), clock("300+5"))),
            MoveLimits(both(TimeLeft.per_move(500)), nodes=9),
        ):
            action = engine.think("", actions, limits).action
            assert action is not None
            actions.append(action)
            state = shogi.play(state, action)
        engine.end_game(-1.0)
        engine.new_game()
        sfen = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 1"
        assert engine.think(sfen, [], MoveLimits(nodes=1)).action is not None
        for own, other, message in (
            (clock("1+1x1"), clock("1+1"), "USI has either increments or byoyomi"),
            (clock("3/1"), clock("3/1"), "USI cannot express moves to go"),
            (IN_CANADIAN, clock("1"), "USI cannot express moves to go"),
        ):
            with pytest.raises(SettingsError, match=message):
                engine.think("", [], MoveLimits((own, other)))
    assert heard(log) == [
        "usi",
        "setoption name USI_Hash value 64",
        "isready",
        "usinewgame",
        "position startpos",
        "go btime 300000 wtime 300000 byoyomi 10000",
        "position startpos moves 7g7f",
        "go btime 290000 wtime 300000 binc 5000 winc 5000",
        "position startpos moves 7g7f 3c3d",
        "go btime 0 wtime 0 byoyomi 500000 nodes 9",
        "gameover lose",
        "isready",
        "usinewgame",
        f"position sfen {sfen}",
        "go nodes 1",
        "quit",
    ]


@pytest.mark.parametrize(
    ("protocol", "own", "other", "go"),
    [
        ("uci", clock("60+1"), clock("30+2"), "go wtime 60000 btime 30000 winc 1000 binc 2000"),
        ("uci", clock("60+1"), TimeLeft(), "go wtime 60000 btime 60000 winc 1000 binc 1000"),
        ("uci", clock("60+1"), clock("inf"), "go wtime 60000 btime 60000 winc 1000 binc 1000"),
        ("uci", clock("40/60"), clock("30"), "go wtime 60000 btime 30000 movestogo 40"),
        ("uci", clock("60+25/300"), clock("60+25/300"), "go wtime 60000 btime 60000"),
        ("uci", IN_CANADIAN, clock("60+25/300"), "go wtime 200000 btime 60000 movestogo 12"),
        ("uci", clock("60"), IN_CANADIAN, "go wtime 60000 btime 200000"),
        ("uci", clock("0+5x3"), clock("60"), "go movetime 3000"),
        ("uci", TimeLeft(-0.5), clock("1"), "go wtime -500 btime 1000"),
        ("usi", clock("60+5x3"), clock("60+5x3"), "go btime 60000 wtime 60000 byoyomi 3000"),
        ("usi", clock("60+5x3"), TimeLeft(), "go btime 60000 wtime 60000 byoyomi 3000"),
        ("usi", clock("0+5x3"), clock("60"), "go btime 0 wtime 0 byoyomi 3000"),
        ("usi", clock("60"), clock("30+2"), "go btime 60000 wtime 30000 binc 0 winc 2000"),
    ],
)
def test_what_go_says_of_the_clocks(tmp_path: Path, protocol: str, own: TimeLeft, other: TimeLeft, go: str) -> None:
    log = tmp_path / "log"
    first_move(fake(protocol, log=log), limits=MoveLimits((own, other)))
    assert [line for line in heard(log) if line.startswith("go")] == [go]


def test_the_second_players_clock_is_its_limit(tmp_path: Path) -> None:
    log, chess = tmp_path / "log", make("chess")
    with ExternalEngine(fake("uci", {"go": ["bestmove e7e5"]}, log=log), chess) as engine:
        engine.new_game()
        first = chess.parse_action(chess.initial_state(), "e2e4")
        assert first is not None
        for clocks in ((clock("30"), clock("60+1")), (TimeLeft(), clock("60")), (clock("30"), clock("st=5"))):
            engine.think("", [first], MoveLimits(clocks))
        with pytest.raises(SettingsError, match="has no limit"):
            engine.think("", [first], MoveLimits((clock("30"), TimeLeft())))
    assert [line for line in heard(log) if line.startswith("go")] == [
        "go wtime 30000 btime 60000 winc 0 binc 1000",
        "go wtime 60000 btime 60000",
        "go movetime 5000",
    ]


def test_gtp_conversation(tmp_path: Path) -> None:
    log, go = tmp_path / "log", make("go(size=9, komi=5.5)")
    with ExternalEngine(fake("gtp", {"genmove 2": ["=# d4", ""]}, log=log), go) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        with pytest.raises(SettingsError, match="A period is 0.5 seconds, but GTP counts in whole seconds"):
            engine.think("", [], MoveLimits(both(TimeLeft.per_move(0.5))))
        black = engine.think("", [], MoveLimits((clock("60.7"), clock("60.2")))).action
        assert black is not None
        white = go.parse_action(go.play(go.initial_state(), black), "pass")
        assert white is not None
        engine.think("", [black, white], MoveLimits((clock("0.4+1x10"), clock("50+1x10"))))
        # Another game than the one the engine knows is told from its start; the game's own stones come first.
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], MoveLimits(both(TimeLeft.per_move(100))))
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], MoveLimits((clock("25/300"), TimeLeft())))
        with pytest.raises(SettingsError, match="cannot limit nodes or depth"):
            engine.think("", [], DEPTH)
    assert heard(log) == [
        *("name", "version", "list_commands", "boardsize 9", "komi 5.5", "clear_board"),
        *("time_settings 60 0 0", "time_left b 60 0", "time_left w 60 0", "genmove b"),
        *("play w pass", "time_settings 0 10 1", "time_left b 10 1", "time_left w 50 0", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 100 1", "time_left b 100 1", "time_left w 100 1", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 300 25", "time_left b 300 25", "time_left w 300 25", "genmove b"),
        "quit",
    ]


PLAIN, KATA = ["=# time_settings", ""], ["=# time_settings", "kata-time_settings", ""]


@pytest.mark.parametrize(
    ("commands", "control", "seconds", "told"),
    [
        (PLAIN, "60", 9, ["time_settings 60 0 0", "60 0", "51 0", "42 0"]),
        (PLAIN, "60+5", 9, ["time_settings 60 0 0", "60 0", "56 0", "52 0"]),
        (KATA, "60+0.5", 9, ["kata-time_settings fischer 60 0.5", "60 0", "51 0", "43 0"]),
        (PLAIN, "10+3/20", 6, ["time_settings 10 20 3", "10 0", "4 0", "18 2", "12 1", "20 3", "14 2"]),
        (KATA, "10+3/20", 9.8, ["time_settings 10 20 3", "10 0", "20 3", "10 2", "0 1"]),
        (PLAIN, "10+3x4", 6, ["time_settings 10 4 1", "10 0", "4 0", "4 1", "4 1"]),
        (KATA, "10+3x4", 6, ["kata-time_settings byoyomi 10 4 3", "10 0", "4 0", "4 3", "4 2", "4 1"]),
        (KATA, "10+1x4", 3, ["time_settings 10 4 1", "10 0", "7 0", "4 0", "1 0", "4 1", "4 1"]),
        (PLAIN, "st=5", 3, ["time_settings 0 5 1", "5 1", "5 1"]),
        (PLAIN, "3/9", 2.5, ["time_settings 0 9 3", "9 3", "6 2", "4 1", "10 3", "8 2"]),
    ],
)
def test_what_gtp_says_of_a_clock_in_a_game(
    tmp_path: Path, commands: list[str], control: str, seconds: float, told: list[str]
) -> None:
    """Settings once; before each move the time with the stones or periods that are left, 0 in main time."""
    log, go = tmp_path / "log", make("go(size=9)")
    clocks, now = Clock(TimeControl.parse(control), now=lambda: 0.0), list[int]()
    with ExternalEngine(fake("gtp", {"list_commands": commands}, log=log), go) as engine:
        engine.new_game()
        for _ in told[1:]:
            left = clocks.left(0)
            engine.think("", now, MoveLimits((left, TimeLeft())))
            clocks.charge(0, seconds)
    lines = [line for line in heard(log) if "time" in line.split(maxsplit=1)[0]]
    assert lines == [told[0], *(f"time_left {colour} {clock}" for clock in told[1:] for colour in "bw")]


def test_gtp_hears_of_the_settings_again_in_the_next_game(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with ExternalEngine(fake("gtp", log=log), make("go(size=9)")) as engine:
        for control in ("60", "60", "60+3/20"):
            engine.new_game()
            engine.think("", [], MoveLimits(both(clock(control))))
        engine.think("", [], MoveLimits((IN_CANADIAN, clock("60"))))
        engine.think("", [], MoveLimits((clock("0+25/300"), clock("60"))))
    assert [line for line in heard(log) if line.startswith("time_settings")] == [
        *("time_settings 60 0 0", "time_settings 60 0 0", "time_settings 60 20 3"),
        *("time_settings 0 200 12", "time_settings 0 300 25"),
    ]


def test_chess960_castles_onto_the_rook(tmp_path: Path) -> None:
    """Chess960 is switched on in engines that list the option; an engine without it cannot play the game."""
    log, game = tmp_path / "log", make("chess960")
    lists = {"uci": ["option name UCI_Chess960 type check default false", "uciok"], "go": ["bestmove e1h1"]}
    start = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    with ExternalEngine(fake("uci", lists, log=log), game) as engine:
        engine.new_game()
        action = engine.think(start, [], DEPTH).action
        assert action == game.parse_action(game.parse_position(start), "O-O")
        lists = {**lists, "go": ["bestmove e8e7"]}
    with ExternalEngine(fake("uci", lists, log=log), game) as engine:
        engine.new_game()
        engine.think(start, [action or 0], DEPTH)
    assert "setoption name UCI_Chess960 value true" in heard(log)
    assert f"position fen {start} moves e1h1" in heard(log)
    with pytest.raises(SettingsError, match="fake has no option 'UCI_Chess960'"):
        ExternalEngine(fake("uci"), game)


def test_chess_castles_by_the_kings_squares() -> None:
    game, start = make("chess"), "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    with ExternalEngine(fake("uci", {"go": ["bestmove e1g1"]}), game) as engine:
        engine.new_game()
        assert engine.think(start, [], DEPTH).action == game.parse_action(game.parse_position(start), "O-O")


def test_an_engine_of_many_games_is_told_which(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lists = {"usi": ["option name UCI_Variant type combo default shogi var shogi var minishogi", "usiok"]}
    lists["go"] = ["bestmove 4e4d"]
    first_move(fake("usi", lists, log=log), game="minishogi")
    assert "setoption name UCI_Variant value minishogi" in heard(log)
    log.unlink()
    with ExternalEngine(fake("usi", lists, log=log), make("shogi")):
        pass
    assert "setoption name UCI_Variant value shogi" in heard(log)
    log.unlink()
    with ExternalEngine(fake("usi", lists, log=log, options=(("uci_variant", "shogi"),)), make("minishogi")):
        pass
    assert [line for line in heard(log) if "Variant" in line] == ["setoption name UCI_Variant value shogi"]
