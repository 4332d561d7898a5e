"""A client of `zerosum gtp` for tests: an engine with its input and output."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from zerosum.games import Rules, make
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.play.contestant import rollouts
from zerosum.play.player import Player
from zerosum.protocols.gtp import GtpEngine
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.search import SearchConfig


def roll(game: Rules) -> Player:
    return rollouts(game, 30, seed=0).player(game)


def exact(game: Rules) -> Player:
    """Rollouts, but what is proven counts."""
    return Player(game, RolloutEvaluator(), SearchConfig(num_simulations=50), name="exact")


class Client:
    """An engine on a board of 5x5 if no other is named, and what it said."""

    def __init__(
        self,
        game: str = "go(size=5, komi=7.5)",
        *,
        choose: Callable[[Rules], Player] = roll,
        config: GtpConfig | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.said: list[str] = []
        self.warnings: list[str] = []
        # Every look at this clock is a millisecond.
        ticks = itertools.count()
        self.engine = GtpEngine(
            make(game),
            choose,
            write=self.said.append,
            warn=self.warnings.append,
            config=config,
            clock=clock or (lambda: next(ticks) / 1000),
        )

    def send(self, line: str) -> str:
        """The output until the line is processed, which shows no bug."""
        self.said.clear()
        self.engine.handle(line)
        said = "".join(self.said)
        assert "internal error" not in said, (line, said, self.warnings)
        return said

    def ask(self, command: str) -> str:
        """The answer to a command, which has one and only one."""
        text = self.send(f"7 {command}")
        found = re.fullmatch(r"=7 ?((?:.+\n|\n(?=.))*.+)?\n\n", text)
        assert found, (command, text)
        return found[1] or ""

    def refuse(self, command: str) -> str:
        """Why a command is refused; the position is as before."""
        before = self.position()
        text = self.send(f"8 {command}\r\n")
        found = re.fullmatch(r"\?8 (.+)\n\n", text)
        assert found, (command, text)
        assert self.position() == before
        return found[1]

    def ask_lines(self, command: str) -> list[str]:
        """The lines and the move of a genmove_analyze."""
        head, *lines = self.ask(command).split("\n")
        assert not head
        return lines

    def ask_all(self, commands: str) -> list[str]:
        return [self.ask(command.strip()) for command in commands.split(";")]

    def position(self) -> tuple[object, ...]:
        board = self.engine.session.board
        return board.size, board.komi, board.rules, board.num_moves, board.game.position_text(board.state), board.mover

    def stones(self) -> str:
        """Rows from the top."""
        return str(self.engine.session.board.game.position_text(self.engine.session.board.state)).split(" ")[0]
