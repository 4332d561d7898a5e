"""An engine that speaks GTP 2 (Gunnar Farnebäck's specification, draft 2 of 2002): engines of Go.

The engine keeps the position. It receives the new moves, or the whole game if its position differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import MoveLimits, Thought
from zerosum.games import Rules, start_state
from zerosum.games.rules import options_of
from zerosum.notation.go_words import stones_of
from zerosum.play.engines.answer import EngineAnswer
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
        self._told: TimeLeft | None = None
        """The clock whose settings the engine heard in this game."""
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
        self._told = None

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
            self._ask(command)
        allowed_s = limits.allowed_s(position.player)
        command = f"genmove {colour}"
        if allowed_s is None:
            move, seconds = self._timed(command, timeout_s=self._timeouts.search_s, ending="forfeit")
        else:
            move, seconds = self._timed(command, timeout_s=allowed_s + limits.margin_s, ending="time")
        if not move:
            raise self._process.failure("answered without a move")
        self._played.append(f"{colour} {move}".casefold())
        return EngineAnswer("resign" if move.casefold() == "resign" else move, Thought(seconds=seconds))

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
        """The commands that set the clocks: settings unless they are known, and the time left of both players.

        An opponent without a clock is reported with the engine's.
        """
        if limits.nodes is not None or limits.depth is not None:
            raise SettingsError("GTP cannot limit nodes or depth: limit the engine in its command.")
        own = limits.clocks[player]
        if not own.is_limited:
            return []
        if "time_settings" not in self._commands:
            raise SettingsError(f"{self._process.name} has no time_settings: set its thinking time in its command.")
        clocks = [_as_told(clock if clock.is_limited else own) for clock in limits.clocks]
        commands = [self._time_left(colour, clock) for colour, clock in zip(_COLOURS, clocks, strict=True)]
        if not self._is_known(clocks[player]):
            commands.insert(0, self._settings(clocks[player]))
            self._told = clocks[player]
        return commands

    def _is_known(self, clock: TimeLeft) -> bool:
        """Whether the engine knows the settings of a clock, of which some time may be used up."""
        if self._told is None:
            return False
        if clock.is_overtime and self._told.period_moves > 1:
            return clock.period_moves <= self._told.period_moves
        of_clock, of_told = ((one.increment_s, one.period_s, one.period_moves) for one in (clock, self._told))
        return of_clock == of_told

    @property
    def _is_kata(self) -> bool:
        return "kata-time_settings" in self._commands

    def _settings(self, clock: TimeLeft) -> str:
        """The command for a clock's settings.

        Only engines that know `kata-time_settings` are told of increments and of further periods of byoyomi; others see
        their clocks grow, and one period at a time.
        """
        main, period = int(clock.main_s), int(clock.period_s) if clock.num_periods else 0
        if clock.num_periods and period < 1:
            raise SettingsError(
                f"A period is {clock.period_s:g} seconds, but GTP counts in whole seconds: give at least 1."
            )
        if self._is_kata and clock.increment_s:
            return f"kata-time_settings fischer {main} {clock.increment_s:g}"
        if self._is_kata and clock.num_periods > 1 and clock.period_moves == 1:
            return f"kata-time_settings byoyomi {main} {period} {clock.num_periods}"
        return f"time_settings {main} {period} {clock.period_moves}"

    def _time_left(self, colour: str, clock: TimeLeft) -> str:
        """The command for a clock. It ends with 0 in main time, else with the moves, or periods of byoyomi, left."""
        counts_periods = self._is_kata and clock.period_moves == 1
        left = clock.num_periods if counts_periods else clock.period_moves
        return f"time_left {colour} {max(int(clock.shown_s), 0)} {left if clock.is_overtime else 0}"

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


def _as_told(clock: TimeLeft) -> TimeLeft:
    """A clock as GTP can tell it: main time in whole seconds, and a session of moves as a period without main time."""
    if clock.moves_to_go is not None:
        return TimeLeft(0.0, period_s=clock.main_s, period_moves=clock.moves_to_go, num_periods=1)
    return replace(clock, main_s=float(max(int(clock.main_s), 0)))
