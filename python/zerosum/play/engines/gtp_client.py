"""An engine that speaks GTP 2 (Gunnar Farnebäck's specification, draft 2 of 2002): engines of Go.

The engine keeps the position. It receives the new moves, or the whole game if its position differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from zerosum.base.errors import SettingsError
from zerosum.contest.mover import EngineAnswer, MoveLimits
from zerosum.games import Rules, start_state
from zerosum.games.rules import options_of
from zerosum.notation.go_words import stones_of
from zerosum.play.engines.position import EnginePosition
from zerosum.play.engines.process import EngineProcess, EngineTimeouts


class GtpClient:
    """The client's side of GTP."""

    farewell = "quit"

    def __init__(self, process: EngineProcess, game: Rules, *, timeouts: EngineTimeouts) -> None:
        """Raises SettingsError if the game is not Go."""
        if game.spec.name != "go":
            raise SettingsError(f"{process.name} speaks GTP, which is for Go, not for {game.spec.full_name}.")
        self._process, self._game, self._timeouts = process, game, timeouts
        self._number = 0
        self._commands: set[str] = set()
        self._played: list[str] = []
        self._clock_kind = ""
        self.reported_name = ""
        """The engine's own name, with its version."""

    def shake_hands(self, options: Sequence[tuple[str, str]]) -> None:
        """Ask for its name and its commands.

        Raises:
            EngineFailure: it does not answer.
            SettingsError: options are given; GTP has none.
        """
        if options:
            raise SettingsError(f"{self._process.name} speaks GTP, which has no options: put them into its command.")
        timeout_s = self._timeouts.handshake_s
        words = [self._ask(command, timeout_s=timeout_s) for command in ("name", "version")]
        self.reported_name = " ".join(filter(None, words))
        self._commands = set(self._ask("list_commands", timeout_s=timeout_s).split())

    def new_game(self) -> None:
        """Tell the size and komi, and clear the board."""
        options = options_of(self._game)
        self._ask(f"boardsize {options['size']}")
        self._ask(f"komi {options['komi']}")
        self._clear_board()
        self._clock_kind = ""

    def _clear_board(self) -> None:
        self._ask("clear_board")
        self._played = []

    def end_game(self, result: float) -> None:
        """Do nothing: GTP has no command for the end of a game."""

    def search(self, position: EnginePosition, limits: MoveLimits) -> EngineAnswer:
        """Ask for a move. The clock runs from `genmove` to its answer.

        Raises:
            EngineFailure: no move came in time, or the engine refuses a move of the game.
            SettingsError: GTP cannot express the limits.
        """
        colour = _COLOURS[position.player]
        clocks = self._clocks(limits, position.player)
        self._catch_up(position)
        for command in clocks:
            self._tell_clock(command)
        allowed_s = limits.allowed_s(position.player)
        command = f"genmove {colour}"
        if allowed_s is None:
            move, seconds = self._timed(command, timeout_s=self._timeouts.search_s, ending="forfeit")
        else:
            move, seconds = self._timed(command, timeout_s=allowed_s + limits.margin_s, ending="time")
        if not move:
            raise self._process.failure("answered without a move")
        self._played.append(f"{colour} {move}".casefold())
        return EngineAnswer(move.casefold() if move.casefold() == "resign" else move, seconds)

    def final_score(self, position: EnginePosition) -> str:
        """Its score of a game that is over; "" if it knows no `final_score`."""
        if "final_score" not in self._commands:
            return ""
        self._catch_up(position)
        return self._ask("final_score")

    def _catch_up(self, position: EnginePosition) -> None:
        wanted = [*_stones(self._game, position.start)]
        wanted += [f"{_COLOURS[player]} {text}".casefold() for player, text in position.moves]
        if wanted[: len(self._played)] != self._played:
            self._clear_board()
        for move in wanted[len(self._played) :]:
            self._ask(f"play {move}")
        self._played = wanted

    def _clocks(self, limits: MoveLimits, player: int) -> list[str]:
        """The commands that set the clocks.

        Only engines that know `kata-time_settings` are told of increments; others see their clocks grow.
        """
        if limits.nodes is not None or limits.depth is not None:
            raise SettingsError("GTP cannot limit nodes or depth: limit the engine in its command.")
        if limits.allowed_s(player) is None:
            return []
        if "time_settings" not in self._commands:
            raise SettingsError(f"{self._process.name} has no time_settings: set its thinking time in its command.")
        colour = _COLOURS[player]
        if limits.move_time_s is not None:
            if limits.remaining_s is not None:
                raise SettingsError("GTP has either clocks or a time per move: leave one of them out.")
            seconds = _whole("move_time_s", limits.move_time_s)
            return [f"time_settings 0 {seconds} 1", f"time_left {colour} {seconds} 1"]
        assert limits.remaining_s is not None
        left = [max(int(seconds), 0) for seconds in limits.remaining_s]
        if limits.moves_to_go is not None:  # stones in a time, as in Canadian byoyomi without a main time
            stones = limits.moves_to_go
            return [f"time_settings 0 {left[player]} {stones}", f"time_left {colour} {left[player]} {stones}"]
        byoyomi_s = _whole("byoyomi_s", limits.byoyomi_s) if limits.byoyomi_s else 0
        if limits.increment_s[player] and "kata-time_settings" in self._commands:
            settings = f"kata-time_settings fischer {left[player]} {limits.increment_s[player]:g}"
        else:
            settings = f"time_settings {left[player]} {byoyomi_s} {min(byoyomi_s, 1)}"
        shown = [f"{seconds} 0" if seconds or not byoyomi_s else f"{byoyomi_s} 1" for seconds in left]
        return [settings, *(f"time_left {name} {clock}" for name, clock in zip(_COLOURS, shown, strict=True))]

    def _tell_clock(self, command: str) -> None:
        """Send a command of `_clocks`; skip settings that differ from the latest only in the main time left."""
        if "time_settings" in command:
            kind = re.sub(r"(time_settings (fischer )?)\d+", r"\1", command)
            if kind == self._clock_kind:
                return
            self._clock_kind = kind
        self._ask(command)

    def _ask(self, command: str, *, timeout_s: float | None = None) -> str:
        return self._timed(command, timeout_s=self._timeouts.ready_s if timeout_s is None else timeout_s)[0]

    def _timed(self, command: str, *, timeout_s: float, ending: str = "forfeit") -> tuple[str, float]:
        """(the answer to a command, the seconds until it came)."""
        self._number += 1
        asked = self._process.send(f"{self._number} {command}")
        lines: list[str] = []
        answered = asked
        while line := self._process.read(asked + timeout_s):
            text = line.text.rstrip()
            if lines and not text:
                return self._content("\n".join(lines)), answered - asked
            if lines or text[:1] in ("=", "?"):
                answered = answered if lines else line.at
                lines.append(text)
        raise self._process.failure(f"did not answer {command!r} within {timeout_s:.3f} s", ending=ending)

    def _content(self, answer: str) -> str:
        found = re.fullmatch(r"([=?])(\d*)\s*(.*)", answer, re.DOTALL)
        assert found is not None
        if found[2] != str(self._number):
            raise self._process.failure(f"answered a command with the number {found[2] or 'none'}")
        if found[1] == "?":
            raise self._process.failure("refused a command")
        return found[3]


_COLOURS = ("b", "w")
"""GTP's colours of players 0 and 1."""


def _stones(game: Rules, start: str) -> Iterator[str]:
    """The stones on the board before the first move, as moves: `b c3`; rows are read from the top."""
    text = game.position_text(start_state(game, start)) or ""
    return (f"{_COLOURS[player]} {point.lower()}" for point, player in stones_of(text))


def _whole(name: str, seconds: float) -> int:
    if seconds < 1:
        raise SettingsError(f"{name} is {seconds:g}, but GTP counts in whole seconds: at least 1.")
    return int(seconds)
