"""Games of engines or players, added to a run's records to learn from them (`zerosum generate`).

Many games are played at a time. Each game counts as soon as it has ended, so a kill loses the games in flight, and the
same command continues. Games differ by their openings, which are random moves without policy targets, and by the number
of nodes of each move.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum._core import uniform
from zerosum.arena import Match, MatchPlan, MatchSettings, PlayedGame
from zerosum.arena.openings import Opening, OpeningSource, RandomOpenings, find_openings
from zerosum.arena.played import value_of_score
from zerosum.arena.session import plan_match
from zerosum.base.errors import RunError, SettingsError
from zerosum.contest.adjudication import DrawRule, Score
from zerosum.contest.mover import Answer, MoveLimits, Mover, Program, Thought
from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.notation.centipawns import coefficient_of
from zerosum.play.contestant import Contestant, ProgramContestant
from zerosum.play.entries import Entry
from zerosum.replay.game_store import GameStore
from zerosum.run.game_import import open_records, rules_of_records
from zerosum.run.imported_game import ImportedGame
from zerosum.run.record_index import RecordIndex, digest_of
from zerosum.run.run_directory import hold

OPENING_PLIES = 8
"""Largest number of random moves that begin a game."""
LINE_TEMPERATURE = 0.1
"""Difference of values at which a move has 1 / e of the best move's share in a policy target from several lines."""
NODES_SPREAD = 0.5
"""Largest relative difference of a move's nodes from the player's setting."""
GAMES_PER_MATCH = 1000
"""Games of one match, which are kept in memory; even."""
MOST_FAILURES = 20
"""Consecutive games ended by an engine's fault at which the generation stops."""
REPORT_S = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class GenerationSettings:
    """How games are generated.

    Raises:
        SettingsError: a number is out of range.
    """

    num_games: int
    """Games in the run's records in the end, earlier ones of the same settings included; even, because each opening is
    played from both sides."""
    openings: str = ""
    """A file or a name as `find_openings` takes it; "" for random moves."""
    opening_plies: int | None = None
    """Largest number of plies of an opening; `OPENING_PLIES` if None. The number of random moves is drawn per game."""
    draw: str = ""
    """The rule for agreed draws, as `DrawRule.parse` takes it; "" for none."""
    exact_nodes: bool = False
    """Whether each move has exactly the player's nodes, instead of up to `NODES_SPREAD` more or less."""
    max_games_at_once: int | None = None
    """Games at a time; None for one per core, or 64 between players of this package."""
    seed: int = 0
    """Key of the openings and of the numbers of nodes."""
    line_temperature: float = LINE_TEMPERATURE
    """Temperature of the policy targets of engines that report several lines (`line_shares`); positive."""

    def __post_init__(self) -> None:
        if not 0.001 <= self.line_temperature <= 10:
            raise SettingsError(f"line_temperature is {self.line_temperature:g}, but must be between 0.001 and 10.")


@dataclass
class GenerationCounts:
    """The counts of a generation."""

    num_games: int = 0
    """Games added to the records."""
    num_known: int = 0
    """Earlier games of the same settings."""
    num_doubles: int = 0
    """Games left out because the records have an equal one."""
    num_failures: int = 0
    """Games left out because an engine's fault ended them."""
    is_interrupted: bool = False
    positions: int = 0
    """Positions with a policy target in the added games."""

    def __str__(self) -> str:
        known = f", {self.num_known:,} were there" if self.num_known else ""
        doubles = f", {self.num_doubles:,} that repeated others left out" if self.num_doubles else ""
        failed = f", {self.num_failures:,} games lost by an engine's fault left out" if self.num_failures else ""
        return f"{self.num_games:,} games generated, {self.positions:,} positions{known}{doubles}{failed}."


def generate_games(
    game: str,
    first: Entry,
    second: Entry,
    run: str | Path,
    settings: GenerationSettings,
    *,
    say: Say = lambda _said: None,
) -> GenerationCounts:
    """Play games and add them to a run's records until the number of games is reached.

    The engine's evaluation of its move is kept as the search value of the ply, and the ply is marked
    `PlyFlag.EVALUATED`. Random moves of an opening are marked `PlyFlag.OPENING` and have no policy target.

    Args:
        game: The game's name, with options in brackets if any; the run's game, if the run exists.
        first: The player that moves first in every other game.
        second: Its opponent.
        run: The run directory; made if it does not exist.
        settings: The number of games and their openings.
        say: Gets sentences about progress, engines and faults.

    Raises:
        SettingsError: a setting is out of range, or the run is of another game.
        EngineFailure: an engine cannot be started.
        RunError: the directory cannot be written, or engines fail in game after game.
    """
    plan = _plan(make(game), (first, second), settings, say)
    counts = GenerationCounts()
    directory = Path(run)
    with hold(directory):
        rules_of_records(directory, game)  # raises for another game
        store, index = open_records(directory, say)
        try:
            place = _place(plan, settings)
            generator = _Generator(plan, settings, store, index, place, counts, say)
            with contextlib.suppress(KeyboardInterrupt):
                generator.play()
                return counts
            counts.is_interrupted = True
        finally:
            index.close()
            store.close()
    return counts


def _plan(game: Rules, entries: Sequence[Entry], settings: GenerationSettings, say: Say) -> MatchPlan:
    plies = OPENING_PLIES if settings.opening_plies is None else settings.opening_plies
    if settings.openings:
        source = find_openings(
            settings.openings, game, plies=settings.opening_plies, seed=settings.seed, is_shuffled=True
        )
        name = settings.openings
    else:
        source = _mixed_openings(game, most_plies=plies, seed=settings.seed)
        name = f"0 to {plies} random plies"
    match = MatchSettings(
        settings.num_games,
        settings.seed,
        openings=source,
        openings_name=name,
        draw=DrawRule.parse(settings.draw) if settings.draw else None,
        max_games_at_once=settings.max_games_at_once,
        keeps_shares=True,
    )
    return plan_match(game, entries, match, say=say)


def _mixed_openings(game: Rules, *, most_plies: int, seed: int) -> OpeningSource:
    """Random openings of 0 to `most_plies` plies; all lengths have the same probability."""
    if most_plies < 0:
        raise SettingsError(f"opening_plies is {most_plies}, but must be at least 0.")
    sources = [RandomOpenings(game, num_plies=plies, seed=seed) for plies in range(most_plies + 1)]

    def opening(number: int) -> Opening:
        return sources[int(uniform(seed, number, 0, "opening length") * len(sources))](number)

    return opening


def _place(plan: MatchPlan, settings: GenerationSettings) -> str:
    """The origin of games with these settings: the players, and a digest of everything that games depend on."""
    described = {**plan.description(), "exact nodes": settings.exact_nodes}
    if settings.line_temperature != LINE_TEMPERATURE:
        described["line temperature"] = settings.line_temperature
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:12]
    return f"generated by {plan.event} ({digest})"


@dataclass
class _Generator:
    """Plays the games in successive matches, and keeps them."""

    plan: MatchPlan
    settings: GenerationSettings
    store: GameStore
    index: RecordIndex
    place: str
    counts: GenerationCounts
    say: Say
    num_failures_in_row: int = 0
    started: float = field(default_factory=time.monotonic)
    reported_at: float = field(default_factory=time.monotonic)

    def play(self) -> None:
        known = self.index.numbers(self.place)
        self.counts.num_known = sum(number <= self.settings.num_games for number in known)
        if self.counts.num_known:
            self.say(f"{self.counts.num_known:,} games of these settings are in the records and count.")
        for begin in range(0, self.settings.num_games, GAMES_PER_MATCH):
            size = min(GAMES_PER_MATCH, self.settings.num_games - begin)
            there = [_placeholder(number - 1 - begin) for number in known if begin < number <= begin + size]
            if len(there) < size:
                self._play_part(begin, size, there)

    def _play_part(self, begin: int, size: int, there: list[PlayedGame]) -> None:
        source = self.plan.openings
        part = replace(
            self.plan.settings,
            num_games=size,
            seed=self.settings.seed + begin,
            openings=lambda number: source(begin // 2 + number),
        )
        players = tuple(self._varied(player, begin) for player in self.plan.players)
        with Match(replace(self.plan, players=players, settings=part), played=there) as match:
            while not match.is_over:
                for played in match.play_batch():
                    self._keep(played, begin + played.index + 1)

    def _varied(self, player: Contestant, begin: int) -> Contestant:
        if not isinstance(player, ProgramContestant) or player.terms.nodes is None or self.settings.exact_nodes:
            return player
        return replace(player, program=_VariedProgram(player.program, self.settings.seed, begin))

    def _keep(self, played: PlayedGame, number: int) -> None:
        counts = self.counts
        if played.has_failure:
            counts.num_failures += 1
            self.num_failures_in_row += 1
            self.say(f"Game {number}: lost by {played.ending}. {' '.join(played.notes)} The game is left out.")
            if self.num_failures_in_row >= MOST_FAILURES:
                raise RunError(
                    f"An engine's fault ended {MOST_FAILURES} games in a row: read its messages, or name another one."
                    f" {counts.num_games:,} games are kept."
                )
            return
        self.num_failures_in_row = 0
        game, origin = (
            generated(played, self.plan.game, line_temperature=self.settings.line_temperature),
            f"{self.place}:{number}",
        )
        if self.index.origin(digest_of(game.start, game.actions, game.outcome)) is not None:
            counts.num_doubles += 1
            return
        record = game.record(self.plan.game, game_id=self.store.next_game_id, origin=origin)
        self.store.add_game(record)
        self.index.add([record])
        counts.num_games += 1
        counts.positions += record.num_positions
        self._report()

    def _report(self) -> None:
        now, counts = time.monotonic(), self.counts
        if now - self.reported_at < REPORT_S:
            return
        self.reported_at = now
        rate = counts.num_games / (now - self.started)
        done = counts.num_known + counts.num_games + counts.num_doubles + counts.num_failures
        left = (self.settings.num_games - done) / rate / 60
        self.say(f"{done:,} of {self.settings.num_games:,} games, {rate:.1f} a second, {left:.0f} minutes left")


def _placeholder(index: int) -> PlayedGame:
    """A stand-in for a game in the records: a match needs only its number."""
    return PlayedGame(index, (), 0, index % 2, 0.0, "")


def generated(played: PlayedGame, game: Rules, *, line_temperature: float = LINE_TEMPERATURE) -> ImportedGame:
    """A game of a match in the form of the records."""
    coefficient, opening = coefficient_of(game.spec.name), played.opening_plies
    so_far = Playthrough.of(game, played.start, played.actions)
    values = np.full(len(played.actions), np.nan, np.float32)
    values[opening:] = _values(played.thoughts, coefficient)
    shares = {
        opening + number: dict(thought.shares) or line_shares(thought.lines, coefficient, line_temperature)
        for number, thought in enumerate(played.thoughts)
        if thought.shares or len(thought.lines) > 1
    }
    return ImportedGame(
        start=played.start,
        actions=np.array(played.actions, np.uint16),
        players=np.array(so_far.players, np.uint8),
        values=values,
        outcome=played.result if played.first_is_player == 0 else -played.result,
        ending=played.ending,
        opening_plies=opening,
        shares=shares,
    )


def line_shares(lines: Sequence[tuple[int, Score]], coefficient: int, temperature: float) -> dict[int, float]:
    """The share of each compared move in a policy target: the softmax of its value divided by `temperature`."""
    values = np.array([value_of_score(score, coefficient) for _, score in lines])
    weights = np.exp((values - values.max()) / temperature)
    return {action: float(share) for (action, _), share in zip(lines, weights / weights.sum(), strict=True)}


def _values(thoughts: Sequence[Thought], coefficient: int) -> NDArray[np.float32]:
    """[P], the engine's evaluation before each move, for the mover; NaN without one."""
    scores = (thought.score for thought in thoughts)
    return np.array([math.nan if score is None else value_of_score(score, coefficient) for score in scores], np.float32)


@dataclass(frozen=True)
class _VariedProgram:
    """A program with a varied number of nodes per move, keyed by the game's number and the ply."""

    program: Program
    seed: int
    first_game: int

    def open(self, game: Rules) -> Mover:
        return _VariedMover(self.program.open(game), self._factor)

    def _factor(self, number: int, ply: int) -> float:
        draw = uniform(self.seed, self.first_game + number, ply, "nodes")
        return 1 + NODES_SPREAD * (2 * draw - 1)


class _VariedMover:
    """A `Mover` with a varied number of nodes per move."""

    def __init__(self, mover: Mover, factor: Callable[[int, int], float]) -> None:
        self._mover, self._factor, self._number = mover, factor, 0

    def new_game(self, number: int) -> None:
        self._number = number
        self._mover.new_game(number)

    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        assert limits.nodes is not None
        nodes = max(1, round(limits.nodes * self._factor(self._number, len(actions))))
        return self._mover.think(start, actions, replace(limits, nodes=nodes))

    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        self._mover.ponder(start, actions, limits, is_over)

    def end_game(self, result: float) -> None:
        self._mover.end_game(result)

    def close(self) -> None:
        self._mover.close()
