"""A match of a command: kept in files, continued after a stop, reported while it is played."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zerosum.arena.game_files import GameFile, require_own, require_suffix, store_path
from zerosum.arena.match import Match
from zerosum.arena.openings import RandomOpenings, find_openings
from zerosum.arena.plan import MatchPlan, MatchSettings
from zerosum.arena.played import PlayedGame
from zerosum.arena.result import MatchResult
from zerosum.arena.standings import Standings
from zerosum.arena.store import MatchStore
from zerosum.base.errors import SettingsError
from zerosum.games import Rules
from zerosum.play.contestant import Contestant, ProgramContestant
from zerosum.play.engines.engine import EngineCommand
from zerosum.play.engines.traffic import TrafficLog
from zerosum.play.entries import Entry, enter, sharing_evaluator

RANDOM_PLIES = 2
"""Random plies that open each pair of games by default."""
REPORT_S = 10.0
"""Seconds between two lines about a match under way."""

Say = Callable[[str], None]


def with_openings(
    settings: MatchSettings, game: Rules, *, openings: str, plies: int | None, is_shuffled: bool
) -> MatchSettings:
    """The settings with the openings that a command names.

    Args:
        settings: All but the openings.
        game: The game of the match.
        openings: A file or a name, as `find_openings` takes it; "" for random plies.
        plies: Number of random plies, by default `RANDOM_PLIES`; or the maximum length of an opening.
        is_shuffled: Whether openings of a file come in random order.

    Raises:
        SettingsError, DataError: as `find_openings`.
    """
    if openings:
        source = find_openings(openings, game, plies=plies, seed=settings.seed, is_shuffled=is_shuffled)
        return replace(
            settings, openings=source, openings_name=f"{openings}{'' if plies is None else f', {plies} plies'}"
        )
    if is_shuffled:
        raise SettingsError("--shuffle is for the openings of a file: name one with --openings.")
    plies = RANDOM_PLIES if plies is None else plies
    source = RandomOpenings(game, num_plies=plies, seed=settings.seed)
    return replace(settings, opening_plies=plies, openings=source, openings_name=f"{plies} random plies")


def plan_match(
    game: Rules, entries: Sequence[Entry], settings: MatchSettings, *, say: Say = lambda _said: None
) -> MatchPlan:
    """The match of these entries; `say` gets sentences about the setup of engines.

    Raises:
        SettingsError, DataError, EngineFailure: as `enter`.
    """
    is_pondering = any(entry.terms.ponder for entry in entries)
    batch_size, num_boards = (
        settings.num_boards(settings.num_games, has_threads=has_threads, is_pondering=is_pondering)
        for has_threads in (False, True)
    )
    num_engines = num_boards * (1 + is_pondering)
    players: list[Contestant] = []
    for entry in entries:
        player = enter(entry, game, batch_size=batch_size, num_engines=num_engines, seed=settings.seed, say=say)
        for other, before in zip(players, entries, strict=False):
            player = sharing_evaluator(other, player, words=(before.player, entry.player))
        players.append(player)
    return MatchPlan(game, tuple(players), settings)


@dataclass(frozen=True)
class SessionResult:
    """The result of a session."""

    results: tuple[MatchResult, ...]
    """Results of all pairings."""
    is_interrupted: bool
    """Whether the keyboard interrupted the match."""
    file: Path | None = None
    """The file of games, if any."""

    @property
    def result(self) -> MatchResult:
        """The result of a match of two players."""
        (result,) = self.results
        return result

    @property
    def standings(self) -> Standings:
        """The table of a tournament."""
        return Standings(self.results)

    @property
    def how_to_go_on(self) -> str:
        """The message after an interrupt."""
        if not any(result.games for result in self.results):
            return "Interrupted before a game has ended."
        if self.file is None:
            return "Interrupted. These games are not kept: with --out FILE a match can be continued."
        return f"Interrupted. The games are in {self.file}: the same command continues the match."


def play_session(
    plan: MatchPlan, *, file: Path | None = None, log: Path | None = None, say: Say = lambda _said: None
) -> SessionResult:
    """Play a match, or continue the one in a file, until it is over or interrupted.

    Args:
        plan: The match.
        file: The file of its games, in a format by its suffix; a file beside it has what is needed to go on.
        log: The file of all lines to and from engines: see `zerosum.play.engines.traffic`.
        say: Receives messages for people.

    Raises:
        DataError: the file holds another match, or games of this game cannot be written into it.
        RunError: a file cannot be written, or another process writes it.
        SettingsError, EngineFailure: as `Match`.
    """
    if log is not None and not any(
        isinstance(player, ProgramContestant) and isinstance(player.program, EngineCommand) for player in plan.players
    ):
        raise SettingsError("--log records the lines of engines, and no engine plays: leave it out.")
    with contextlib.ExitStack() as stack:
        keep, kept = _keeper(plan, file, stack, say)
        traffic = None if log is None else stack.enter_context(TrafficLog(log))
        players = tuple(_listened_to(player, number, traffic) for number, player in enumerate(plan.players))
        match = stack.enter_context(Match(replace(plan, players=players), played=kept))
        watch = _Watch(say)
        try:
            while not match.is_over:
                for ended in match.play_batch():
                    keep(ended)
                    watch.tell(ended, match)
                if traffic is not None:
                    traffic.require_whole()
        except KeyboardInterrupt:
            return SessionResult(match.results, is_interrupted=True, file=file)
        return SessionResult(match.results, is_interrupted=False, file=file)


def _listened_to(player: Contestant, number: int, log: TrafficLog | None) -> Contestant:
    if log is None or not isinstance(player, ProgramContestant) or not isinstance(player.program, EngineCommand):
        return player
    return replace(player, program=replace(player.program, listen=log.listener(player.program.label, number)))


def _keeper(
    plan: MatchPlan, file: Path | None, stack: contextlib.ExitStack, say: Say
) -> tuple[Callable[[PlayedGame], None], list[PlayedGame]]:
    """A function that keeps a game, and the games that are kept already."""
    if file is None:
        return (lambda _ended: None), []
    require_suffix(file, plan.game)
    require_own(file)
    names_at = plan.names_at if plan.is_tournament else lambda _index: ()
    store = MatchStore(store_path(file), plan.game, plan.description(), names_at=names_at, report=say)
    stack.callback(store.close)
    kept = list(store.games)
    if kept:
        say(f"{store_path(file)} has {len(kept)} games of this match, which count.")
    files: list[GameFile] = []
    if file != store_path(file):
        files = [GameFile(file, plan)]
        files[0].begin(kept)

    def keep(ended: PlayedGame) -> None:
        dated = replace(ended, date=datetime.date.today().isoformat())
        store.add(dated)
        for game_file in files:
            game_file.add(dated)

    return keep, kept


class _Watch:
    """Messages about a match: each fault at once, the score now and then."""

    def __init__(self, say: Say) -> None:
        self._say, self._said_at = say, time.monotonic()

    def tell(self, ended: PlayedGame, match: Match) -> None:
        for line in _faults(ended):
            self._say(line)
        if time.monotonic() - self._said_at < REPORT_S:
            return
        self._said_at = time.monotonic()
        num_ended, num_games = match.num_games
        self._say(f"{num_ended} of {num_games} games{_score(match.results)}")


def _score(results: Sequence[MatchResult]) -> str:
    """The score of a match of two players."""
    if len(results) > 1 or not results[0].games:
        return ""
    llr = f"; LLR {sprt}" if (sprt := results[0].statistics.sprt) else ""
    return f"; of the first {len(results[0].games)}: {results[0].tally()}{llr}"


def _faults(ended: PlayedGame) -> Iterator[str]:
    """Messages about faults and other counts of the score, without the reasons of resignations."""
    for note in ended.notes:
        if ended.ending not in ("resignation", "agreement"):
            yield f"Game {ended.index + 1}: {f'lost by {ended.ending}. ' if ended.has_failure else ''}{note}"
