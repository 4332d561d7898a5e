"""What an engine is asked, and what it answers, in whatever protocol: a position, limits, a move with its score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.base.errors import GameError, SettingsError
from zerosum.contest.clock import TimeLeft
from zerosum.games import Rules, State, start_state

MARGIN_S = 0.1
"""By which clocks may be overstepped if nothing else is said: the way to a program and back."""


@dataclass(frozen=True)
class EngineLimits:
    """How long an engine may think about one move: by a clock, by the move, by nodes, by depth, or several of these."""

    remaining_s: tuple[float, float] | None = None
    """What the clocks of player 0 (who moves first) and player 1 show; None without clocks."""
    increment_s: tuple[float, float] = (0.0, 0.0)
    """What either player gets after each move, beside `remaining_s`."""
    moves_to_go: int | None = None
    """Moves that the mover has to make in what its clock shows; None if the rest of the game."""
    byoyomi_s: float = 0.0
    """For each move once the clock of the mover shows nothing."""
    move_time_s: float | None = None
    """For this move."""
    nodes: int | None = None
    depth: int | None = None
    """Plies."""
    flag_falls_s: float | None = None
    """The mover loses by its clock after so long, where that is later than what else is said: further periods."""
    margin_s: float = MARGIN_S
    """That the answer may come after the time without losing by it."""

    @classmethod
    def of_clocks(
        cls,
        left: tuple[TimeLeft, TimeLeft],
        player: int,
        *,
        flag_falls_s: float,
        margin_s: float,
        nodes: int | None,
        depth: int | None,
    ) -> EngineLimits:
        """What a mover under a clock is told, in the words that protocols have.

        Of several periods of overtime an engine hears of one, of Canadian overtime not before it begins. An opponent
        without a clock is said to have the mover's.

        Args:
            left: Of players 0 and 1.
            player: Who moves, with a clock.
            flag_falls_s: Of the mover, as `TimeControl.flag_falls_after_s`.
            margin_s: That its move may be late by.
            nodes: A limit beside the clock.
            depth: Another one.
        """
        own = left[player]
        if own.is_overtime and own.period_moves == 1:
            return cls(move_time_s=own.period_s, nodes=nodes, depth=depth, flag_falls_s=flag_falls_s, margin_s=margin_s)
        first, second = (clock if clock.is_limited else own for clock in left)
        return cls(
            remaining_s=(first.shown_s, second.shown_s),
            increment_s=(first.increment_s, second.increment_s),
            moves_to_go=own.period_moves if own.is_overtime else own.moves_to_go,
            byoyomi_s=own.period_s if own.period_moves == 1 else 0.0,
            nodes=nodes,
            depth=depth,
            flag_falls_s=flag_falls_s,
            margin_s=margin_s,
        )

    def __post_init__(self) -> None:
        if self.remaining_s is None and (any(self.increment_s) or self.moves_to_go is not None or self.byoyomi_s):
            raise SettingsError("An increment, moves to go or byoyomi without a clock: say remaining_s, too.")
        for name, low in (("moves_to_go", 1), ("byoyomi_s", 0), ("move_time_s", 0), ("nodes", 1), ("depth", 1)):
            value = getattr(self, name)
            if value is not None and not low <= value < math.inf:
                raise SettingsError(f"{name} is {value}, allowed is at least {low}.")
        if not all(0 <= seconds < math.inf for seconds in self.increment_s):
            raise SettingsError(f"increment_s is {self.increment_s}, allowed is at least 0.")
        if not all(map(math.isfinite, self.remaining_s or ())):
            raise SettingsError(f"remaining_s is {self.remaining_s}, allowed are finite numbers, or None.")

    def allowed_s(self, player: int) -> float | None:
        """The time in which this player has to answer; None if no limit is a time."""
        if self.flag_falls_s is not None:
            return self.flag_falls_s
        times = [] if self.move_time_s is None else [self.move_time_s]
        if self.remaining_s is not None:
            times.append(max(self.remaining_s[player], 0.0) + self.byoyomi_s)
        return min(times, default=None)


@dataclass(frozen=True)
class EnginePosition:
    """A position with the game that led to it: what all protocols want to hear."""

    game: Rules
    start: str
    """As `zerosum.games.start_state` takes it; "" for the game's own."""
    moves: tuple[tuple[int, str], ...]
    """(player, move in the game's own notation: UCI, USI, GTP) since the start."""
    state: State
    """After the moves."""

    @classmethod
    def after(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """The position after these actions.

        Raises:
            GameError: the start is no position, an action is illegal, or the game is over then.
        """
        position = cls.replayed(game, start, actions)
        if (ending := game.ending(position.state)) is not None:
            raise GameError(f"The game is over ({ending}), there is no move to ask an engine for.")
        return position

    @classmethod
    def replayed(cls, game: Rules, start: str, actions: Sequence[int]) -> EnginePosition:
        """The same of a game that may be over. Raises GameError for all else."""
        state, moves = start_state(game, start), []
        for action in actions:
            moves.append((game.player(state), game.action_text(state, action)))
            state = game.play(state, action)
        return cls(game, start, tuple(moves), state)

    @property
    def player(self) -> int:
        """Who is to move."""
        return self.game.player(self.state)


@dataclass(frozen=True)
class EngineAnswer:
    """What an engine answered, read as its protocol has it; whether the move is legal is not known yet."""

    move: str
    """Or another word of the protocol: "resign", "win"."""
    seconds: float
    """From the question to the answer, by our clock."""
    centipawns: int | None = None
    """The last score, for the player to move; None if it was a mate, or there was none."""
    mate: int | None = None
    """The last score, if it was a mate: the player to move mates if it is positive.

    In moves in UCI, in plies in USI, `UNKNOWN_MATE` of either sign where the engine does not say when.
    """
    depth: int | None = None
    """The last that the engine said."""
    nodes: int | None = None
    pv: tuple[str, ...] = ()
    """The principal variation as the engine wrote it."""
    ponder: str = ""
    """The reply that it expects and would ponder on; "" if it named none."""
    win_rate: float | None = None
    """Expected points in [0, 1] for the player to move, where it says that instead of a score."""


UNKNOWN_MATE = 10_000
