"""External engines as players: programs that speak UCI, USI or GTP, from their command lines to their moves.

    command = EngineCommand.parse("stockfish", protocol="uci", options=(("Threads", "1"),))
    with ExternalEngine(command, make("chess")) as engine:
        engine.new_game()
        clock = TimeLeft.per_move(0.1)
        print(engine.think("", [], MoveLimits((clock, clock))))

A program that crashes, does not answer, floods its output or makes an illegal move causes an `EngineFailure` in time,
and no process is left behind. `known_engines.py` names some engines.
"""

from __future__ import annotations

import shlex
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from zerosum.base.errors import SettingsError, shown
from zerosum.base.settings import require_known
from zerosum.contest.mover import Answer, EngineFailure, MoveLimits
from zerosum.games import Rules, State
from zerosum.games.written_moves import near_moves
from zerosum.play.engines.gtp_client import GtpClient
from zerosum.play.engines.position import EnginePosition
from zerosum.play.engines.process import EngineProcess, EngineTimeouts
from zerosum.play.engines.traffic import Listen
from zerosum.play.engines.uci_client import EngineOption, UciClient

__all__ = ["EngineCommand", "EngineTimeouts", "ExternalEngine"]

PROTOCOLS = ("uci", "usi", "gtp")
GTP_PONDERS = "leave out ponder, and turn it on in the engine's own settings"
DEBIAN_GAMES = "/usr/games"
"""Debian's folder of engines, which is not on the path by default."""


@dataclass(frozen=True)
class EngineCommand:
    """Command line and options of an engine."""

    argv: tuple[str, ...]
    """The program and its arguments; it is looked for on the path and in `DEBIAN_GAMES`."""
    protocol: str
    """One of `PROTOCOLS`."""
    options: tuple[tuple[str, str], ...] = ()
    """(name, value) for `setoption`, in this order."""
    name: str = ""
    """Name for people; by default the program's."""
    directory: str = ""
    """Working directory; by default the current one."""
    timeouts: EngineTimeouts = field(default=EngineTimeouts(), repr=False)
    """Time limits of its answers."""
    listen: Listen | None = field(default=None, compare=False, repr=False)
    """Receives all lines to and from the engine, such as `TrafficLog.listener`."""

    def __post_init__(self) -> None:
        require_known("protocol", self.protocol, PROTOCOLS)
        if not self.argv or not self.argv[0]:
            raise SettingsError("An engine's command is empty: name its program.")
        for text in (*self.argv, *(part for option in self.options for part in option), self.name, self.directory):
            if not text.isprintable():
                raise SettingsError(f"{shown(text)} in an engine's command: expected one line of printable characters.")

    @classmethod
    def parse(
        cls, text: str, *, protocol: str, options: tuple[tuple[str, str], ...] = (), name: str = "", directory: str = ""
    ) -> EngineCommand:
        """Parse a command line in a shell's notation: `gnugo --mode gtp`.

        Raises:
            SettingsError: the text cannot be parsed, or the protocol is unknown.
        """
        try:
            argv = tuple(shlex.split(text))
        except ValueError as error:
            raise SettingsError(f"An engine's command {shown(text)} cannot be read: {error}.") from error
        return cls(argv, protocol, options, name, directory)

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name or Path(self.argv[0]).name

    def open(self, game: Rules) -> ExternalEngine:
        """Start the engine for a game, as in `zerosum.contest.mover.Program`."""
        return ExternalEngine(self, game)

    @property
    def program(self) -> str | None:
        """Absolute path of its program; None if it is not found."""
        found = shutil.which(self.argv[0]) or shutil.which(self.argv[0], path=DEBIAN_GAMES)
        return found and str(Path(found).absolute())


_ENDINGS = {("usi", "resign"): "resignation", ("usi", "win"): "declaration", ("gtp", "resign"): "resignation"}


class ExternalEngine:
    """An engine at one board. `new_game`, then `think` whenever it is to move. One thread uses it at a time.

    After an `EngineFailure` the process has ended, and the next `new_game` starts another one.
    """

    def __init__(self, command: EngineCommand, game: Rules, *, timeouts: EngineTimeouts | None = None) -> None:
        """Start the engine and set its options.

        Raises:
            EngineFailure: the engine cannot be started, or breaks its protocol.
            SettingsError: an option is unknown or out of range, or the protocol is for another game.
        """
        self.command, self.game, self._timeouts = command, game, timeouts or command.timeouts
        self._conversation = threading.Lock()
        self.reported_name = ""
        """The engine's own name, with its version."""
        self._game_number: int | None = None
        self._expected = tuple[int, ...]()
        """All actions of the game up to the expected reply to its last move; empty if it named none."""
        self._start()

    def _start(self) -> None:
        command, timeouts = self.command, self._timeouts
        # Errors name a missing program as the user wrote it.
        argv = (command.program or command.argv[0], *command.argv[1:])
        self._process = EngineProcess(argv, name=command.label, directory=command.directory, listen=self._listen)
        try:
            self._client: UciClient | GtpClient = (
                GtpClient(self._process, self.game, timeouts=timeouts)
                if command.protocol == "gtp"
                else UciClient(self._process, self.game, protocol=command.protocol, timeouts=timeouts)
            )
            self._client.shake_hands(command.options)
        except EngineFailure as failure:
            advice = f"Check that its command is one of a program that speaks {command.protocol.upper()}."
            raise EngineFailure(f"{failure} {advice}", ending=failure.ending) from failure
        except BaseException:
            self._process.kill()
            raise
        self.reported_name = self._client.reported_name

    @property
    def options(self) -> dict[str, EngineOption]:
        """The options that it lists, by name; GTP has none."""
        return {} if isinstance(self._client, GtpClient) else self._client.options

    @property
    def pid(self) -> int:
        """Id of the process, which leads its group."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """False after a failure and after `close`."""
        return not self._process.is_over

    def _listen(self, direction: str, line: str) -> None:
        if self.command.listen is not None:
            self.command.listen(self._game_number, direction, line)

    def new_game(self, number: int | None = None) -> None:
        """Tell the engine that a game begins, and wait until it is ready.

        `number` is the game's in a match, from 0, for `EngineCommand.listen`.

        Raises:
            EngineFailure: it does not answer.
        """
        with self._conversation:
            self._game_number, self._expected = number, ()
            if not self.is_running:
                self._start()
            self._client.new_game()

    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        """Ask the engine for a move in the position after `actions`, from a start as `start_state` takes it.

        Raises:
            EngineFailure: no move in time, or an illegal one.
            GameError: an action is illegal, or the game is over.
            SettingsError: the protocol cannot express the limits.
        """
        position = EnginePosition.after(self.game, start, actions)
        with self._conversation:
            assert self.is_running, "`new_game` starts an engine again that has failed"
            answer = self._client.search(position, limits)
        self._expected = ()
        if ending := _ENDINGS.get((self.command.protocol, answer.move)):
            return Answer(None, answer.thought, ending)
        action = self.game.parse_action(position.state, answer.move)
        if action is None:
            near = near_moves(self.game, position.state, answer.move)
            raise self._process.failure(
                f"answered {shown(answer.move)}, which is not a legal move here ({near})", ending="illegal move"
            )
        reply = self._reply(self.game.play(position.state, action), answer.ponder)
        self._expected = () if reply is None else (*actions, action, reply)
        parsed = [(self.game.parse_action(position.state, move), score) for move, score in answer.lines]
        lines = tuple((compared, score) for compared, score in parsed if compared is not None)
        return Answer(action, replace(answer.thought, lines=lines))

    def _reply(self, state: State, text: str) -> int | None:
        """The expected reply, if there is one and a move of the engine may follow."""
        if not text or self.game.ending(state) is not None or (reply := self.game.parse_action(state, text)) is None:
            return None
        after = self.game.play(state, reply)
        is_turn = self.game.ending(after) is None and self.game.player(after) != self.game.player(state)
        return reply if is_turn else None

    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        """Let the engine think after its move, in the position after `actions`, until the event is set.

        It thinks about the position after the reply that it expects; without one, nothing happens. The next `think`
        tells it whether that reply came.

        Raises:
            EngineFailure: it fails, or makes a move before it is asked for one.
            SettingsError: the protocol cannot express pondering, or the limits.
        """
        if isinstance(self._client, GtpClient):
            raise SettingsError(f"{self.command.label} is set to ponder, which GTP cannot ask for: {GTP_PONDERS}.")
        if self._expected[:-1] != tuple(actions) or not self._expected:
            return
        position = EnginePosition.after(self.game, start, self._expected)
        with self._conversation:
            if self.is_running:
                self._client.ponder(position, limits, is_over)

    def end_game(self, result: float) -> None:
        """Tell the engine how the game ended for it, in [-1, 1]; nothing to an engine that has failed."""
        with self._conversation:
            if self.is_running:
                self._client.end_game(result)

    def final_score(self, start: str, actions: Sequence[int]) -> str:
        """The engine's score of a finished game, such as `W+3.5`; "" if its protocol has no command for it.

        Raises:
            EngineFailure: it does not answer.
        """
        with self._conversation:
            if not isinstance(self._client, GtpClient) or not self.is_running:
                return ""
            return self._client.final_score(EnginePosition.replayed(self.game, start, actions))

    def close(self) -> None:
        """Ask the engine to quit, and end it and all that it started if it does not.

        While another thread talks to it, it is killed at once, and that thread gets an `EngineFailure`.
        """
        if not self._conversation.acquire(blocking=False):
            self._process.kill()
            return
        try:
            self._process.close(self._client.farewell, self._timeouts.quit_s)
        finally:
            self._conversation.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
