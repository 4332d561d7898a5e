"""GTP's commands about time, moves, analyses and the player's parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from zerosum.base.errors import GameError
from zerosum.contest.clock import KATA_TIME_SYSTEMS, TimeControl
from zerosum.play.analysis import Analysis, AnalysisLine, win_rate
from zerosum.protocols import gtp_params
from zerosum.protocols.gtp_analysis import AnalysisOptions, Outlook, kata_line, leela_line, parse_player
from zerosum.protocols.gtp_board import BLACK, GtpBoard
from zerosum.protocols.gtp_player import Teller
from zerosum.protocols.gtp_raw_network import NUM_SYMMETRIES, raw_network_text
from zerosum.protocols.gtp_session import SYNTAX_ERROR, Command, GtpSession, real, whole

CLEANUP_WINRATE = 0.75
"""`kgs-genmove_cleanup` attacks stones that look dead while the win rate stays at least this high (not measured)."""
HOPELESS = 0.05
"""Win rate below which playing on is useless where a pass loses, too."""
LineOf = Callable[[Analysis, AnalysisOptions, GtpBoard, Outlook], str]
"""The line that an analysis prints."""


def time_settings(session: GtpSession, words: list[str]) -> str:
    """`time_settings main byoyomi stones`."""
    session.player.set_control(TimeControl.of_gtp(words))
    return ""


def other_time_settings(session: GtpSession, words: list[str]) -> str:
    """`kata-time_settings` and `kgs-time_settings`: a time system and its numbers."""
    session.player.set_control(TimeControl.of_kata(words))
    return ""


def list_time_settings(session: GtpSession, _words: list[str]) -> str:
    """The supported time systems."""
    return " ".join(KATA_TIME_SYSTEMS)


def time_left(session: GtpSession, words: list[str]) -> str:
    """`time_left colour seconds stones`."""
    session.player.set_left(parse_player(words[0] if words else ""), real(words[1:]), whole(words[2:]))
    return ""


def genmove(session: GtpSession, words: list[str]) -> str:
    """`genmove colour`."""
    return _genmove(session, _options_of(words), None)


def _genmove(session: GtpSession, options: AnalysisOptions, tell: Teller | None) -> str:
    best = _find(session, options, tell)
    session.player.end_turn(options.player)
    if best is None:
        return _make(session, options.player, session.board.action("pass"))
    if session.player.resigns(options.player, best.value):
        return "resign"
    session.player.follow(options.player, best.actions[0])
    return _make(session, options.player, best.actions[0])


def _find(session: GtpSession, options: AnalysisOptions, tell: Teller | None) -> AnalysisLine | None:
    """The best move that a search finds; None where rules for people let the player pass and win."""
    began = session.clock()
    found = None
    if not (options.considers(session.board.action("pass")) and session.board.may_pass(options.player)):
        report = session.player.find(session.board, options, tell=tell)
        if tell is not None:
            tell(report)
        found = _best(session, options.player, report)
    session.seconds_of_moves += session.clock() - began
    return found


def _best(session: GtpSession, player: int, report: Analysis) -> AnalysisLine:
    """The best move; a pass that loses at once if the opponent passes, too, gives way while the game is not lost.

    A search of few simulations may not have seen that reply.
    """
    best, *others = report.lines
    is_behind = (session.board.score() < 0) == (player == BLACK) and session.board.score() != 0
    if session.board.vertex(best.actions[0]) == "pass" and is_behind and others:
        return best if win_rate(others[0].value) < HOPELESS else others[0]
    return best


def _make(session: GtpSession, player: int, action: int) -> str:
    session.board.play(player, action)
    return session.board.vertex(action)


def reg_genmove(session: GtpSession, words: list[str]) -> str:
    """`reg_genmove colour` and `kata-search colour`: the move, which is not played."""
    return _search(session, _options_of(words), None)


def _search(session: GtpSession, options: AnalysisOptions, tell: Teller | None) -> str:
    best = _find(session, options, tell)
    return "pass" if best is None else session.board.vertex(best.actions[0])


def genmove_cleanup(session: GtpSession, words: list[str]) -> str:
    """`kgs-genmove_cleanup colour`: as `genmove`, but captures stones that look dead before it passes."""
    options, board, action = _options_of(words), session.board, session.board.action("pass")
    wins = board.wins_without_dead(options.player)
    if not wins:
        action = _best(session, options.player, session.player.find(board, options)).actions[0]
    if board.vertex(action) == "pass" and (attacks := board.attacks_on_dead(options.player)):
        attack = session.player.find(board, AnalysisOptions(options.player, allowed=frozenset(attacks))).lines[0]
        if wins or win_rate(attack.value) >= CLEANUP_WINRATE:
            action = attack.actions[0]
    session.player.end_turn(options.player)
    return _make(session, options.player, action)


def analyse(session: GtpSession, words: list[str], line_of: LineOf) -> None:
    """`lz-analyze` and `kata-analyze`: lines until the next input."""
    options = _analysis_options(session, words)
    # The head comes before the first line, which another thread writes.
    session.write(f"={session.number}\n")
    session.is_analysing = True
    session.player.watch(session.board, options, _teller(session, options, line_of))


def genmove_analyse(session: GtpSession, words: list[str], line_of: LineOf) -> None:
    """`lz-genmove_analyze` and `kata-genmove_analyze`: lines of an analysis, then `play` and the move."""
    options = _analysis_options(session, words)
    session.write(f"={session.number}\n")
    session.write(f"play {_genmove(session, options, _teller(session, options, line_of))}\n\n")


def search_analyse(session: GtpSession, words: list[str], line_of: LineOf) -> None:
    """`kata-search_analyze`: as `genmove_analyse`, but the move is not played."""
    options = _analysis_options(session, words)
    session.write(f"={session.number}\n")
    session.write(f"play {_search(session, options, _teller(session, options, line_of))}\n\n")


def raw_network(session: GtpSession, words: list[str]) -> str:
    """`kata-raw-nn SYMMETRY`: the network's output for the position; SYMMETRY is 0 to 7 or `all`."""
    if words[:1] == ["all"]:
        symmetries: Iterable[int] = range(NUM_SYMMETRIES)
    elif words and re.fullmatch("[0-7]", words[0]):
        symmetries = [int(words[0])]
    else:
        raise GameError("expected a symmetry from 0 to 7, or all")
    return "\n".join(raw_network_text(session.board, session.player.seated(), symmetry) for symmetry in symmetries)


def get_param(session: GtpSession, words: list[str]) -> str:
    """`kata-get-param name`."""
    if len(words) != 1:
        raise GameError(SYNTAX_ERROR)
    return session.player.param(words[0])


def set_param(session: GtpSession, words: list[str]) -> str:
    """`kata-set-param name value`."""
    if len(words) != 2:
        raise GameError(SYNTAX_ERROR)
    session.player.set_param(*words)
    return ""


def list_params(session: GtpSession, _words: list[str]) -> str:
    """The names of all parameters."""
    return " ".join(gtp_params.names())


def cputime(session: GtpSession, _words: list[str]) -> str:
    """Seconds of wall-clock time (as in KataGo) that all moves have taken so far."""
    return f"{session.seconds_of_moves:.6f}"


def _analysis_options(session: GtpSession, words: list[str]) -> AnalysisOptions:
    options = AnalysisOptions.parse(words, session.board)
    for name in options.unknown:
        session.warn(f"{name} is left out: no network knows it.")
    return options


def _teller(session: GtpSession, options: AnalysisOptions, line_of: LineOf) -> Teller:
    board = session.board
    # Computed in this thread, before the search's clock runs.
    outlook = session.player.outlook(board, options) if line_of is kata_line else Outlook()

    def tell(report: Analysis) -> None:
        session.write(f"{line_of(report, options, board, outlook)}\n")

    return tell


def clear_cache(session: GtpSession, _words: list[str]) -> str:
    """Clear the search tree."""
    session.player.forget()
    return ""


def _options_of(words: list[str]) -> AnalysisOptions:
    """The options of a command that names only the colour."""
    return AnalysisOptions(parse_player(words[0] if words else ""))


MOVE_COMMANDS: dict[str, Command] = {
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "time_settings": time_settings,
    "time_left": time_left,
    "kgs-time_settings": other_time_settings,
    "kgs-genmove_cleanup": genmove_cleanup,
    "kata-time_settings": other_time_settings,
    "kata-list_time_settings": list_time_settings,
    "lz-analyze": lambda session, words: analyse(session, words, leela_line),
    "kata-analyze": lambda session, words: analyse(session, words, kata_line),
    "lz-genmove_analyze": lambda session, words: genmove_analyse(session, words, leela_line),
    "kata-genmove_analyze": lambda session, words: genmove_analyse(session, words, kata_line),
    "analyze": lambda session, words: analyse(session, words, kata_line),
    "genmove_analyze": lambda session, words: genmove_analyse(session, words, kata_line),
    "kata-search": reg_genmove,
    "kata-search_analyze": lambda session, words: search_analyse(session, words, kata_line),
    "kata-raw-nn": raw_network,
    "kata-get-param": get_param,
    "kata-set-param": set_param,
    "kata-list-params": list_params,
    "cputime": cputime,
    "gomill-cpu_time": cputime,
    "clear_cache": clear_cache,
}
"""Commands by name."""
