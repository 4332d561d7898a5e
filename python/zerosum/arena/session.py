"""A match as a command plays it: kept in files, gone on with, told about while it is played, left in good order."""

from __future__ import annotations

import contextlib
import datetime
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from zerosum.arena.game_files import GameFile, require_suffix, store_path
from zerosum.arena.match import GAMES_AT_ONCE, Match
from zerosum.arena.openings import OpeningSource, RandomOpenings, find_openings
from zerosum.arena.played import PlayedGame
from zerosum.arena.result import MatchResult
from zerosum.arena.store import MatchStore
from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores
from zerosum.contest.adjudication import DrawRule
from zerosum.contest.sprt import Sprt
from zerosum.external.engine import EngineCommand
from zerosum.external.traffic import TrafficLog
from zerosum.games import Rules
from zerosum.play.contestants import Entry, enter, sharing_evaluator
from zerosum.play.player import Contestant

RANDOM_PLIES = 2
"""That open each pair of games where nobody says anything of openings."""
REPORT_S = 10.0
"""Between two lines about a match under way."""
COMPARED_OPENINGS = 100
"""So many openings have to be the same for a match to go on."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class MatchPlan:
    """All that a match is."""

    game: Rules
    first: Contestant
    second: Contestant
    num_games: int
    seed: int
    openings: OpeningSource
    openings_name: str
    """What was asked for, for people."""
    draw: DrawRule | None = None
    sprt: Sprt | None = None
    max_games_at_once: int | None = None

    def settings(self) -> dict[str, Any]:
        """What its games depend on, as JSON takes it. Neither how many there are nor when it is decided."""
        openings = [self.openings(number) for number in range(COMPARED_OPENINGS)]
        digest = zlib.crc32(repr([(opening.start, opening.actions) for opening in openings]).encode())
        return {
            "game": self.game.spec.full_name,
            "version": self.game.spec.version,
            "first": _described(self.first),
            "second": _described(self.second),
            "openings": self.openings_name,
            "openings digest": f"{digest:08x}",
            "seed": self.seed,
            "draw": str(self.draw or "none"),
        }


def plan_match(
    game: Rules,
    first: Entry,
    second: Entry,
    *,
    num_games: int,
    seed: int,
    openings: str = "",
    opening_plies: int | None = None,
    is_shuffled: bool = False,
    draw: DrawRule | None = None,
    sprt: Sprt | None = None,
    max_games_at_once: int | None = None,
    say: Say = lambda _said: None,
) -> MatchPlan:
    """A match of those who entered it.

    Args:
        game: To be played.
        first: From whose view the results are.
        second: Its opponent.
        num_games: Even.
        seed: Keys all draws.
        openings: A file or a name, as `find_openings` takes it; "" for random plies.
        opening_plies: How many of those, 2 if not given; else how many moves an opening has at most.
        is_shuffled: Whether openings of a file come in random order.
        draw: When a draw is agreed.
        sprt: When the match is decided.
        max_games_at_once: See `Match`.
        say: Gets sentences about how engines are set up.

    Raises:
        SettingsError, DataError, EngineFailure: as `enter` and `find_openings`.
    """
    if openings:
        source = find_openings(openings, game, plies=opening_plies, seed=seed, is_shuffled=is_shuffled)
        name = f"{openings}{'' if opening_plies is None else f', {opening_plies} plies'}"
    else:
        if is_shuffled:
            raise SettingsError("--shuffle is for the openings of a file: name one with --openings.")
        plies = RANDOM_PLIES if opening_plies is None else opening_plies
        source, name = RandomOpenings(game, num_plies=plies, seed=seed), f"{plies} random plies"
    batch_size = min(num_games, max_games_at_once or GAMES_AT_ONCE)
    is_pondering = first.terms.ponder or second.terms.ponder
    num_engines = min(num_games, max_games_at_once or num_cores()) * (1 + is_pondering)
    entered = [
        enter(entry, game, batch_size=batch_size, num_engines=num_engines, seed=seed) for entry in (first, second)
    ]
    for sentence in (sentence for player in entered for sentence in player.sentences):
        say(sentence)
    one, other = (player.contestant for player in entered)
    return MatchPlan(
        game,
        one,
        sharing_evaluator(one, other, words=(first.word, second.word)),
        num_games=num_games,
        seed=seed,
        openings=source,
        openings_name=name,
        draw=draw,
        sprt=sprt,
        max_games_at_once=max_games_at_once,
    )


def _described(player: Contestant) -> dict[str, Any]:
    return {
        "name": player.name,
        "network": player.network,
        "search": {} if player.evaluator is None else asdict(player.search),
        "program": "" if player.program is None else repr(player.program),
        "terms": str(player.terms),
        "sampled plies": player.sampled_plies,
        **({"temperature": player.temperature} if player.temperature else {}),
        "resign": str(player.resign or "never"),
    }


@dataclass(frozen=True)
class Played:
    """What came of a session."""

    result: MatchResult
    is_interrupted: bool
    """From the keyboard, before the match was over."""
    file: Path | None = None
    """Where the games are."""

    @property
    def how_to_go_on(self) -> str:
        """A sentence for who interrupted it."""
        if self.file is None:
            return "Interrupted. These games are not kept: with --out FILE a match can go on later."
        return f"Interrupted. The games are in {self.file}: the same command goes on with them."


def play_session(
    plan: MatchPlan, *, file: Path | None = None, log: Path | None = None, say: Say = lambda _said: None
) -> Played:
    """Play a match, or go on with the one in a file, until it is over or interrupted.

    Args:
        plan: The match.
        file: Where its games go as they end, in a format by its suffix; what is needed to go on stands beside it.
        log: Where all that engines are told and answer goes: see `zerosum.external.traffic`.
        say: Gets sentences about what happens, for people.

    Raises:
        DataError: the file holds another match, or games of this game cannot be written into it.
        RunError: a file cannot be written, or another process does.
        SettingsError, EngineFailure: as `Match`.
    """
    if log is not None and not any(isinstance(player.program, EngineCommand) for player in (plan.first, plan.second)):
        raise SettingsError("--log has what engines are told and answer, and no engine plays: leave it out.")
    with contextlib.ExitStack() as stack:
        keep, kept = _keeper(plan, file, stack, say)
        traffic = None if log is None else stack.enter_context(TrafficLog(log))
        players = [_listened_to(player, number, traffic) for number, player in enumerate((plan.first, plan.second))]
        match = stack.enter_context(
            Match(
                plan.game,
                players[0],
                players[1],
                num_games=plan.num_games,
                seed=plan.seed,
                openings=plan.openings,
                draw=plan.draw,
                sprt=plan.sprt,
                played=kept,
                max_games_at_once=plan.max_games_at_once,
            )
        )
        watch = _Watch(plan, say)
        try:
            while not match.is_over:
                for ended in match.play_batch():
                    keep(ended)
                    watch.tell(ended, match)
                if traffic is not None:
                    traffic.require_whole()
        except KeyboardInterrupt:
            return Played(match.result, is_interrupted=True, file=file)
        return Played(match.result, is_interrupted=False, file=file)


def _listened_to(player: Contestant, number: int, log: TrafficLog | None) -> Contestant:
    if log is None or not isinstance(player.program, EngineCommand):
        return player
    return replace(player, program=replace(player.program, listen=log.listener(player.program.label, number)))


def _keeper(
    plan: MatchPlan, file: Path | None, stack: contextlib.ExitStack, say: Say
) -> tuple[Callable[[PlayedGame], None], list[PlayedGame]]:
    """What keeps a game, and the games that are kept already."""
    if file is None:
        return (lambda _ended: None), []
    require_suffix(file, plan.game)
    store = MatchStore(store_path(file), plan.game, plan.settings(), report=say)
    stack.callback(store.close)
    kept = list(store.games)
    if kept:
        say(f"{store_path(file)} has {len(kept)} games of this match: they count.")
    files: list[GameFile] = []
    if file != store_path(file):
        players = plan.first, plan.second
        controls = [player.terms.time.pgn_text() if player.terms.has_clock else "" for player in players]
        files = [GameFile(file, plan.game, (plan.first.name, plan.second.name), (controls[0], controls[1]))]
        files[0].begin(kept)

    def keep(ended: PlayedGame) -> None:
        dated = replace(ended, date=datetime.date.today().isoformat())
        store.add(dated)
        for game_file in files:
            game_file.add(dated)

    return keep, kept


class _Watch:
    """Tells people how a match goes: of each fault at once, of the score now and then."""

    def __init__(self, plan: MatchPlan, say: Say) -> None:
        self._plan, self._say = plan, say
        self._said_at = time.monotonic()

    def tell(self, ended: PlayedGame, match: Match) -> None:
        for line in _faults(ended):
            self._say(line)
        if time.monotonic() - self._said_at < REPORT_S:
            return
        self._said_at = time.monotonic()
        result = match.result
        llr = f"; LLR {sprt}" if (sprt := result.statistics.sprt) else ""
        num_ended = len(result.games) + result.num_others
        self._say(
            f"{num_ended} of {self._plan.num_games} games; of the first {len(result.games)}: {result.tally()}{llr}"
        )


def _faults(ended: PlayedGame) -> Iterator[str]:
    """Who failed, and whose count of the score is another one; not why a player resigned."""
    for note in ended.notes:
        if ended.ending not in ("resignation", "agreement"):
            yield f"Game {ended.index + 1}: {f'lost by {ended.ending}. ' if ended.has_failure else ''}{note}"
