"""GTP's commands about the board: its size and komi, stones and moves, files, the score and the rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.notation.game_files import read_raw_games
from zerosum.notation.go_words import GoRules
from zerosum.protocols.gtp_analysis import parse_player
from zerosum.protocols.gtp_session import SYNTAX_ERROR, Command, GtpSession, real, whole


def boardsize(session: GtpSession, words: list[str]) -> str:
    """`boardsize N` or `boardsize N N`: an empty board, if a player for it exists."""
    sizes = [whole([word]) for word in " ".join(words).replace(":", " ").split()] or [whole([])]
    size = sizes[0]
    if len(sizes) > 2:
        raise GameError(SYNTAX_ERROR)
    if sizes[-1] != size:
        raise GameError(f"unacceptable size: {size} by {sizes[-1]}, only square boards are played")
    try:
        board = session.board.resized(size)
        session.player.sit_down(board)
    except (GameError, DataError) as error:
        raise GameError(f"unacceptable size: {error}") from error
    session.begin(board)
    return ""


def clear_board(session: GtpSession, _words: list[str]) -> str:
    """Begin a new game."""
    session.board.clear()
    session.begin(session.board)
    return ""


def set_position(session: GtpSession, words: list[str]) -> str:
    """`set_position colour vertex colour vertex ...`: these stones without earlier moves, Black to move."""
    if len(words) % 2:
        raise GameError("expected pairs of colour and vertex")
    stones: dict[str, int] = {}
    for colour, vertex in zip(words[::2], words[1::2], strict=True):
        point = session.board.vertex(session.board.action(vertex))
        if point == "pass" or point in stones:
            raise GameError(f"bad vertex list: {vertex} is not a point, or comes twice")
        stones[point] = parse_player(colour)
    session.board.set_position(stones) if stones else session.board.clear()
    session.begin(session.board)
    return ""


def komi(session: GtpSession, words: list[str]) -> str:
    """`komi X`: any number; the score includes it."""
    session.board.set_komi(real(words))
    session.warn_of_komi()
    return ""


def get_komi(session: GtpSession, _words: list[str]) -> str:
    """The komi, without White's bonus for handicap stones."""
    return f"{session.board.komi:.10g}"


def fixed_handicap(session: GtpSession, words: list[str]) -> str:
    """`fixed_handicap N`: stones on the points that GTP prescribes."""
    num_stones = whole(words)
    if not 2 <= num_stones <= session.board.most_handicap:
        raise GameError("invalid number of stones")
    return " ".join(session.board.fixed_handicap(num_stones))


def place_free_handicap(session: GtpSession, words: list[str]) -> str:
    """`place_free_handicap N`: stones on the points of a fixed handicap, as many as there are."""
    num_stones, most = whole(words), session.board.most_handicap
    if num_stones < 2 or not most:
        raise GameError("invalid number of stones")
    return " ".join(session.board.fixed_handicap(min(num_stones, most)))


def set_free_handicap(session: GtpSession, words: list[str]) -> str:
    """`set_free_handicap vertex vertex ...`."""
    session.board.place_handicap(words)
    return ""


def play(session: GtpSession, words: list[str]) -> str:
    """`play colour vertex`; either colour may move."""
    if len(words) < 2:
        raise GameError(SYNTAX_ERROR)
    session.board.play(parse_player(words[0]), session.board.action(words[1]))
    return ""


def undo(session: GtpSession, _words: list[str]) -> str:
    """Take back the last move."""
    session.board.undo()
    return ""


def loadsgf(session: GtpSession, words: list[str]) -> str:
    """`loadsgf file [move number]`: the position before that move of the file's first game, or at its end."""
    if not words:
        raise GameError(SYNTAX_ERROR)
    has_number = len(words) > 1 and re.fullmatch("[0-9]{1,9}", words[-1]) is not None
    name = " ".join(words[:-1] if has_number else words)
    num_moves = max(int(words[-1]) - 1, 0) if has_number else None
    try:
        record = next(read_raw_games(name, format="sgf"))
        board, doubts = session.board.loaded(record, num_moves=num_moves)
        session.player.sit_down(board)
    except (DataError, GameError) as error:
        raise GameError(f"cannot load file: {error}") from error
    for doubt in doubts:
        session.warn(f"{name}: {doubt}.")
    session.begin(board)
    session.warn_of_komi()
    return ""


def printsgf(session: GtpSession, words: list[str]) -> str:
    """`printsgf [file]`: the game as SGF, in the answer or in a file."""
    name = " ".join(words)
    if name in ("", "-"):
        return session.board.sgf()
    try:
        Path(name).write_text(session.board.sgf() + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise GameError(f"cannot write {name}: {error}") from error
    return ""


def showboard(session: GtpSession, _words: list[str]) -> str:
    """The board, for people."""
    return "\n" + session.board.game.draw(session.board.state).rstrip("\n")


def final_score(session: GtpSession, _words: list[str]) -> str:
    """The score by the rules: of the board as it stands, or without dead stones if passes are friendly."""
    score = session.board.score()
    return f"{'B' if score > 0 else 'W'}+{abs(score):.10g}" if score else "0"


def final_status_list(session: GtpSession, words: list[str]) -> str:
    """`final_status_list alive | dead | seki`, as the score counts; without friendly passes all are alive."""
    if words[:1] not in (["alive"], ["dead"], ["seki"]):
        raise GameError(SYNTAX_ERROR)
    return " ".join(session.board.statuses()[words[0]])


def get_rules(session: GtpSession, _words: list[str]) -> str:
    """The rules as JSON."""
    return json.dumps(session.board.rules.fields(), separators=(",", ":"))


def set_rules(session: GtpSession, words: list[str]) -> str:
    """`kata-set-rules RULES`: a name or JSON."""
    text = " ".join(words)
    return _change_rules(session, _json_object(text) if text.startswith("{") else text)


def set_rule(session: GtpSession, words: list[str]) -> str:
    """`kata-set-rule name value`."""
    if len(words) != 2:
        raise GameError(SYNTAX_ERROR)
    value = {"true": True, "false": False}.get(words[1].lower(), words[1])
    return _change_rules(session, {words[0]: value})


def _change_rules(session: GtpSession, rules: str | dict[str, Any]) -> str:
    """Change to the rules of this name, or change some fields."""
    try:
        if isinstance(rules, str):
            session.board.set_rules(GoRules.parse(rules))
        else:
            session.board.set_rules(session.board.rules.with_fields(rules))
    except SettingsError as error:
        raise GameError(f"unsupported rules: {error}") from None
    return ""


def kgs_rules(session: GtpSession, words: list[str]) -> str:
    """`kgs-rules NAME`: the rules of the KGS server, where Chinese rules have superko."""
    return set_rules(session, ["chinese-kgs"] if words == ["chinese"] else words)


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise GameError(SYNTAX_ERROR)
    return found


BOARD_COMMANDS: dict[str, Command] = {
    "boardsize": boardsize,
    "clear_board": clear_board,
    "rectangular_boardsize": boardsize,
    "set_position": set_position,
    "komi": komi,
    "get_komi": get_komi,
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
    "play": play,
    "undo": undo,
    "loadsgf": loadsgf,
    "printsgf": printsgf,
    "showboard": showboard,
    "final_score": final_score,
    "final_status_list": final_status_list,
    "kgs-rules": kgs_rules,
    "kata-get-rules": get_rules,
    "kata-set-rules": set_rules,
    "kata-set-rule": set_rule,
}
"""Commands by name."""
