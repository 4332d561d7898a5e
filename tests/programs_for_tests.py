"""Programs that play in a match and do what a test wants of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from zerosum.arena import Match, MatchPlan, MatchResult, MatchSettings, PlayedGame, play
from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Answer, EngineFailure, MoveLimits, Thought
from zerosum.games import Rules, start_state
from zerosum.play.contestant import Contestant


def begin(
    game: Rules, first: Contestant, second: Contestant, *, played: Sequence[PlayedGame] = (), **settings: Any
) -> Match:
    """A match of two, under way."""
    return Match(MatchPlan(game, (first, second), MatchSettings(**settings)), played=played)


def play_all(
    game: Rules,
    first: Contestant,
    second: Contestant,
    *,
    played: Sequence[PlayedGame] = (),
    on_game: Callable[[PlayedGame], None] = lambda _played: None,
    **settings: Any,
) -> MatchResult:
    """A match of two, whatever its settings."""
    (result,) = play(MatchPlan(game, (first, second), MatchSettings(**settings)), played=played, on_game=on_game)
    return result


@dataclass(frozen=True)
class Scripted:
    """Plays the last legal action of every position, each in so many seconds, and does what the script says before."""

    seconds: float = 0.0
    centipawns: int | None = None
    script: tuple[tuple[int, str], ...] = ()
    """(number of the `think`, from 1 over all games) and what happens: a failure's ending, "resignation", ..."""
    log: list[object] = field(default_factory=list, compare=False, repr=False)

    def open(self, game: Rules) -> ScriptedMover:
        self.log.append("open")
        return ScriptedMover(self, game)


class ScriptedMover:
    def __init__(self, program: Scripted, game: Rules) -> None:
        self._program, self._game, self._script = program, game, dict(program.script)

    def new_game(self, number: int) -> None:
        self._program.log.append("new game")

    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        program = self._program
        program.log.append(limits)
        state = start_state(self._game, start)
        for action in actions:
            state = self._game.play(state, action)
        what = self._script.get(sum(isinstance(said, MoveLimits) for said in program.log), "")
        if what in ("time", "illegal move", "forfeit"):
            raise EngineFailure(f"scripted did so ({what}).", ending=what)
        score = None if program.centipawns is None else Score(centipawns=program.centipawns)
        thought = Thought(score, seconds=program.seconds, depth=3, nodes=7)
        return Answer(None, thought, what) if what else Answer(self._game.legal_actions(state)[-1], thought)

    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        assert is_over.wait()
        self._program.log.append(("pondered", tuple(actions), limits.clocks))

    def end_game(self, result: float) -> None:
        self._program.log.append(("end", result))

    def close(self) -> None:
        self._program.log.append("close")


@dataclass(frozen=True)
class Endless:
    """Thinks until it is closed."""

    has_begun: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    new_game: Callable[[], None] = lambda: None

    def open(self, game: Rules) -> EndlessMover:
        return EndlessMover(self)


class EndlessMover:
    def __init__(self, program: Endless) -> None:
        self._program, self._is_closed = program, threading.Event()

    def new_game(self, number: int) -> None:
        self._program.new_game()

    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        self._program.has_begun.set()
        self._is_closed.wait()
        raise EngineFailure("endless was closed.", ending="forfeit")

    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None: ...

    def end_game(self, result: float) -> None: ...

    def close(self) -> None:
        self._is_closed.set()
