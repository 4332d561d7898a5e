"""Moves as people and programs write them: the action of a text, and what is said of one that is not legal.

An error speaks one notation. It quotes the text as it was written, and its legal moves are in the notation of that
text: `e2e5` is answered with `e2e4`, `Nf4` with `Nf3`. A text of no known form has the notation of the moves before it,
or of the session or the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from zerosum.base.errors import GameError, near, shown
from zerosum.games.rules import Rules, State

_FORMS = {
    "uci": re.compile(r"[a-z]\d{1,2}-?[a-z]\d{1,2}=?[A-Za-z]?|[A-H]\d-?[A-H]\d=?[A-Z]?|0000"),
    "san": re.compile(
        r"(?:[KQRBNP]?[a-z]?\d?[x:-]?[a-z]\d{1,2}(?:[=(/]?[a-z]\)?)?(?: ?e\.p\.)?|[O0]-?[O0](?:-?[O0])?)[+#!?]*",
        re.IGNORECASE,
    ),
    "usi": re.compile(r"\d[a-z]\d[a-z]\+?|[a-z]\*\d[a-z]", re.IGNORECASE),
    "csa": re.compile(r"[+-]?\d{4}[A-Za-z]{2}"),
    "kif": re.compile(r".*[\u3005\u3041-\u30ff\u4e00-\u9fff\uff10-\uff19].*"),
    "gtp": re.compile(r"[a-z]\d{1,2}|pass", re.IGNORECASE),
    "sgf": re.compile(r"[A-Za-z]{2}"),
}
"""The form of moves in each notation, also of those that are on no board: letters and numerals where they stand."""
_OWN_FORMS = {"san": "uci", "kif": "usi", "sgf": "gtp"}
"""The form of the own notation of a game that also has the notation of the key."""
_FEW_MOVES = 20
_NEAR_MOVES = 5
_NUMERALS = str.maketrans("一二三四五六七八九", "123456789")


def parse_action(game: Rules, state: State, text: str, *, notation: str | None = None) -> int:
    """The legal action with this text in any of the game's notations.

    >>> from zerosum.games import make
    >>> game = make("connect4")
    >>> parse_action(game, game.initial_state(), "4")
    3

    Raises:
        GameError: no legal action has this text; the message lists similar ones, as `near_moves` does.
    """
    action = game.parse_action(state, text)
    if action is not None:
        return action
    raise GameError(f"{shown(text)} is not a legal move here: {near_moves(game, state, text, notation=notation)}.")


def read_moves(game: Rules, state: State, texts: Iterable[str], *, first: int = 1) -> Iterator[tuple[int, State]]:
    """The action of each text of a line of moves, and the position after it.

    Args:
        game: The game.
        state: The position before the line.
        texts: The moves, in any of the game's notations.
        first: The number of the first move in its game.

    Raises:
        GameError: a move is illegal; the message has its number.
    """
    before = list[str]()
    for number, text in enumerate(texts, start=first):
        action = game.parse_action(state, text)
        if action is None:
            notation = notation_of(game, reversed(before))
            try:
                action = parse_action(game, state, text, notation=notation)
            except GameError as error:
                raise GameError(f"move {number}: {error}") from error
        state = game.play(state, action)
        before.append(text)
        yield action, state


def notation_of(game: Rules, texts: Iterable[str], *, otherwise: str | None = None) -> str | None:
    """The notation of the first of the texts whose form tells it, a name as in `Rules.notations`; None is the own one.

    >>> from zerosum.games import make
    >>> chess = make("chess")
    >>> notation_of(chess, ["e2e5"]), notation_of(chess, ["N1f4"]), notation_of(chess, ["?"], otherwise="san")
    (None, 'san', 'san')
    """
    own = next((form for name, form in _OWN_FORMS.items() if name in game.notations), None)
    if own is None:
        return otherwise
    forms = {own: None, **{name: name for name in game.notations}}
    for text in texts:
        for form, name in forms.items():
            if _FORMS[form].fullmatch(text.strip()):
                return name
    return otherwise


def near_moves(game: Rules, state: State, text: str, *, notation: str | None = None) -> str:
    """The end of a message about an illegal move, after a colon: similar legal moves, or else some or all of them.

    They are in the notation of the text. `notation` is that of a text whose form does not tell it; None is the own one.
    """
    legal = game.legal_actions(state, past_soft_endings=True)
    if not legal:
        return f"the game is over ({game.ending(state)})"
    notation = notation_of(game, [text], otherwise=notation)
    others = [other for other in (None, *game.notations) if other != notation]
    similar = (_similar_actions(game, state, text, each) for each in (notation, *others))
    if found := next(filter(None, similar), []):
        written = (game.action_text(state, action, notation) for action in found)
        return f"near are {', '.join(written)}, of {len(legal)} that are legal"
    texts = sorted(game.action_text(state, action, notation) for action in legal)
    if len(legal) <= _FEW_MOVES:
        return f"legal are {', '.join(texts)}"
    return f"legal are {', '.join(texts[:5])} and {len(legal) - 5} more"


def _similar_actions(game: Rules, state: State, text: str, notation: str | None) -> list[int]:
    """The legal actions whose text in one notation is similar to a text, the most similar first.

    Numerals of all kinds are equal. The origin in brackets, which people leave out in KIF, counts if the text has it.
    """

    def plain(written: str) -> str:
        return unicodedata.normalize("NFKC", written).translate(_NUMERALS)

    wanted, actions = plain(text), dict[str, list[int]]()
    for action in game.legal_actions(state, past_soft_endings=True):
        written = plain(game.action_text(state, action, notation))
        actions.setdefault(written if "(" in wanted else written.partition("(")[0], []).append(action)
    found = near(wanted, actions, most=_NEAR_MOVES)
    return [action for written in found for action in actions[written]][:_NEAR_MOVES]
