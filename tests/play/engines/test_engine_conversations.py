"""External engines are told games, clocks and options in the words of their protocol."""

from pathlib import Path

import pytest

from engines_for_tests import DEPTH, fake, first_move, heard
from zerosum.base.errors import SettingsError
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.play.engines.engine import ExternalEngine


def test_uci_conversation(tmp_path: Path) -> None:
    log, chess = tmp_path / "log", make("chess")
    command = fake("uci", log=log, options=(("skill level", "-5"), ("Clear Hash", ""), ("Style", "Very Solid")))
    with ExternalEngine(command, chess) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        move = engine.think("", [], MoveLimits(remaining_s=(60.0, 59.9994), increment_s=(0.5, 0.0), moves_to_go=40))
        assert (chess.action_text(chess.initial_state(), move.action or 0), move.ending) == ("e2e4", "")
        fen = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2"
        engine.think(fen, [], MoveLimits(move_time_s=100.0, nodes=5, depth=3))
        engine.end_game(1.0)
        with pytest.raises(SettingsError, match="UCI cannot express byoyomi"):
            engine.think("", [], MoveLimits(remaining_s=(0, 0), byoyomi_s=1))
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
            MoveLimits(remaining_s=(300, 300), byoyomi_s=10),
            MoveLimits(remaining_s=(290, 300), increment_s=(5, 5)),
            MoveLimits(move_time_s=500, nodes=9),
        ):
            action = engine.think("", actions, limits).action
            assert action is not None
            actions.append(action)
            state = shogi.play(state, action)
        engine.end_game(-1.0)
        engine.new_game()
        sfen = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 1"
        assert engine.think(sfen, [], MoveLimits(nodes=1)).action is not None
        for limits in (
            MoveLimits(remaining_s=(1, 1), byoyomi_s=1, increment_s=(1, 1)),
            MoveLimits(remaining_s=(1, 1), moves_to_go=3),
            MoveLimits(remaining_s=(1, 1), move_time_s=3),
        ):
            with pytest.raises(SettingsError, match="USI"):
                engine.think("", [], limits)
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


def test_gtp_conversation(tmp_path: Path) -> None:
    log, go = tmp_path / "log", make("go(size=9, komi=5.5)")
    with ExternalEngine(fake("gtp", {"genmove 2": ["=# d4", ""]}, log=log), go) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        black = engine.think("", [], MoveLimits(remaining_s=(60.7, 60.2))).action
        assert black is not None
        white = go.parse_action(go.play(go.initial_state(), black), "pass")
        assert white is not None
        engine.think("", [black, white], MoveLimits(remaining_s=(0.4, 50), byoyomi_s=10))
        # Another game than the one the engine knows is told from its start; the game's own stones come first.
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], MoveLimits(move_time_s=100))
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], MoveLimits(remaining_s=(300, 300), moves_to_go=25))
        with pytest.raises(SettingsError, match="cannot limit nodes or depth"):
            engine.think("", [], DEPTH)
        with pytest.raises(SettingsError, match="whole seconds"):
            engine.think("", [], MoveLimits(move_time_s=0.5))
    assert heard(log) == [
        *("name", "version", "list_commands", "boardsize 9", "komi 5.5", "clear_board"),
        *("time_settings 60 0 0", "time_left b 60 0", "time_left w 60 0", "genmove b"),
        *("play w pass", "time_settings 0 10 1", "time_left b 10 1", "time_left w 50 0", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 100 1", "time_left b 100 1", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 300 25", "time_left b 300 25", "genmove b"),
        "quit",
    ]


def test_gtp_increments_by_kata_time_settings(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = {"list_commands": ["=# time_settings", "kata-time_settings", ""]}
    first_move(fake("gtp", script, log=log), limits=MoveLimits(remaining_s=(60, 50), increment_s=(0.5, 0.5)))
    assert "kata-time_settings fischer 60 0.5" in heard(log)


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
