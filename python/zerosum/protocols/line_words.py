"""Parsing of UCI and USI commands: positions, and the arguments of `go`. No engine is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from zerosum.base.errors import GameError, SettingsError, shown
from zerosum.games import Rules, State
from zerosum.games.playthrough import Playthrough
from zerosum.games.written_moves import near_moves
from zerosum.play.analysis import move_texts
from zerosum.play.followed_search import continuation

NUMBERS = frozenset(
    ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate", "byoyomi", "perft")
)
"""Words of `go` that are followed by a number."""
FLAGS = frozenset(("infinite", "ponder"))
"""Words of `go` without a number."""


@dataclass(frozen=True)
class Position:
    """A position that a client sent."""

    start_text: str
    """The start position in the game's notation; "" is the usual start."""
    so_far: Playthrough
    """Its start is the same object as long as the text is the same, so that a search recognises a continued game."""
    moves: tuple[str, ...]

    @classmethod
    def at_start(cls, game: Rules) -> Position:
        """The start of a game."""
        return cls("", Playthrough.of(game), ())

    @classmethod
    def after(cls, game: Rules, start_text: str, moves: tuple[str, ...], *, latest: Position | None = None) -> Position:
        """A position after moves; quicker if it continues from `latest`.

        Raises:
            GameError: the start position is invalid, or a move is illegal.
        """
        if latest is not None and (latest.game is not game or latest.start_text != start_text):
            latest = None
        so_far = Playthrough.of(game, start_text if latest is None else latest.start)
        if latest is not None and continuation(latest.moves, moves) is not None:
            so_far = latest.so_far
        try:
            return cls(start_text, so_far.read_on(moves[len(so_far.actions) :]), moves)
        except GameError as error:
            raise GameError(f"position, {error} Send a valid position before `go`.") from error

    @property
    def game(self) -> Rules:
        """The game."""
        return self.so_far.game

    @property
    def start(self) -> State:
        """The position before the moves."""
        return self.so_far.start

    @property
    def actions(self) -> tuple[int, ...]:
        """The moves."""
        return self.so_far.actions

    @property
    def state(self) -> State:
        """The position after the moves."""
        return self.so_far.state

    def texts(self, actions: Iterable[int]) -> tuple[str, ...]:
        """The protocol's texts of moves in this position."""
        return move_texts(self.game, self.state, actions)

    @property
    def legal(self) -> list[int]:
        """The legal moves; after a soft ending of the game, too."""
        return self.game.legal_actions(self.state, past_soft_endings=True)


def read_position(game: Rules, argument: str, *, latest: Position) -> Position:
    """Parse the argument of `position`: startpos, or fen or sfen and a position; then optionally moves and a list.

    Raises:
        SettingsError: the argument has another form.
        GameError: the start position is invalid, or a move is illegal.
    """
    before, _, moves = f"{argument} ".partition(" moves ")
    kind, _, start_text = before.strip().partition(" ")
    if kind not in ("startpos", "fen", "sfen") or (kind == "startpos") != (not start_text.strip()):
        raise SettingsError(
            f"position {shown(argument)}: expected startpos, or fen (sfen in USI) and a position, then optionally"
            " moves and a list of moves. Send a valid position before `go`."
        )
    return Position.after(game, " ".join(start_text.split()), tuple(moves.split()), latest=latest)


@dataclass(frozen=True)
class GoWords:
    """What stands behind `go`."""

    numbers: Mapping[str, int]
    flags: frozenset[str]
    chosen: tuple[int, ...] | None
    """The legal moves of `searchmoves`; None without the word."""


def read_go(argument: str, position: Position, *, tell: Callable[[str], None]) -> GoWords:
    """Parse the argument of `go`. Unreadable words are reported and ignored, because every `go` needs an answer."""
    numbers: dict[str, int] = {}
    flags: set[str] = set()
    chosen: list[int] | None = None
    words = argument.split()
    while words:
        word = words.pop(0)
        if word in FLAGS:
            flags.add(word)
        elif word in NUMBERS and words and re.fullmatch(r"[+-]?\d{1,15}", words[0]):
            numbers[word] = int(words.pop(0))
        elif word == "searchmoves":
            chosen = chosen or []
        elif chosen is not None and word not in NUMBERS:
            action = position.game.parse_action(position.state, word)
            if action is None:
                near = near_moves(position.game, position.state, word)
                tell(f"go searchmoves: {shown(word)} is not a legal move and is ignored ({near}).")
            else:
                chosen.append(action)
        elif word in NUMBERS:
            tell(f"go: {word} without a whole number is ignored.")
        else:
            tell(f"go: unknown word {shown(word)} is ignored.")
    return GoWords(numbers, frozenset(flags), None if chosen is None else tuple(dict.fromkeys(chosen)))
