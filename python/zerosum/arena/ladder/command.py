"""`zerosum ladder`: the player that is placed, the opponents that are installed, and the output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from zerosum.arena.ladder.placement import MOST_AT_ONCE, LadderSettings, Placement, arena_play
from zerosum.arena.ladder.results import Results
from zerosum.arena.ladder.rungs import Rung, known_scores, rungs_of
from zerosum.base.errors import SettingsError, nearest
from zerosum.base.settings import num_cores
from zerosum.games import Rules, make
from zerosum.games.short_names import short_name
from zerosum.play.contestant import RANDOM, Contestant, ProgramContestant, SearchContestant
from zerosum.play.engines.engine import PROTOCOLS, EngineCommand
from zerosum.play.entries import Entry, enter

Write = Callable[[str], None]


def place(
    game_name: str,
    entry: Entry | None,
    settings: LadderSettings,
    *,
    opponents: Sequence[str] = (),
    results: Path | None = None,
    is_json: bool = False,
    write: Write = print,
    say: Write = print,
) -> bool:
    """Place a player, or without one the ladder's opponents. Returns whether the keyboard interrupted it.

    Args:
        game_name: As `zerosum.games.make` takes it.
        entry: The player; None for the opponents themselves.
        settings: Budget and openings.
        opponents: Play only these, and random play; all if empty.
        results: The file of results, if any.
        is_json: Write JSON instead of the table: one line per match, and one for the ladder.
        write: Receives the output.
        say: Receives messages meanwhile.

    Raises:
        ZerosumError: as `make`, `enter`, `Results` and `Placement`; an opponent is unknown; an engine does not start.
    """
    placement, _ = placement_of(make(game_name), entry, settings, opponents=opponents, results=results, say=say)
    is_interrupted = not play_out(placement, results=results, is_json=is_json, write=write, say=say)
    write(json.dumps(placement.numbers(), ensure_ascii=False) if is_json else placement.table())
    return is_interrupted


def play_out(placement: Placement, *, results: Path | None, is_json: bool, write: Write, say: Write) -> bool:
    """Play a placement's games; arguments as in `place`. Returns False if the keyboard interrupted it."""
    try:
        while not placement.is_over:
            step = placement.step()
            if is_json:
                write(json.dumps(step.numbers(), ensure_ascii=False))
            else:
                say(str(step))
    except KeyboardInterrupt:
        kept = (
            f"are in {results}: the same command resumes" if results else "are not kept: with --results FILE they are"
        )
        say(f"Interrupted. The results {kept}.")
        return False
    return True


def placement_of(
    game: Rules,
    entry: Entry | None,
    settings: LadderSettings,
    *,
    opponents: Sequence[str] = (),
    results: Path | None = None,
    say: Write = print,
) -> tuple[Placement, Contestant | None]:
    """A placement before its games, and the player; arguments as in `place`."""
    if entry is None:
        return placement_among(game, {}, settings, opponents=opponents, results=results, say=say), None
    player = player_of(entry, game, settings, say=say)
    players = {_identity(entry, player): player}
    return placement_among(game, players, settings, opponents=opponents, results=results, say=say), player


def player_of(entry: Entry, game: Rules, settings: LadderSettings, *, say: Write) -> Contestant:
    """The player of an entry, for the matches of a placement."""
    return enter(entry, game, batch_size=MOST_AT_ONCE, num_engines=num_cores(), seed=settings.seed, say=say)


def placement_among(
    game: Rules,
    players: Mapping[str, Contestant],
    settings: LadderSettings,
    *,
    opponents: Sequence[str] = (),
    results: Path | None = None,
    say: Write = print,
) -> Placement:
    """A placement of the last of some players by their names in results; the others are opponents, too.

    Without any, the ladder's opponents are placed. The other arguments are as in `place`.
    """
    rungs = rungs_of(game)
    present = _those_here(_chosen(rungs, opponents, game), game, say)
    *others, name = players or [""]
    return Placement(
        arena_play(game, rungs, players, opening_plies=settings.opening_plies),
        name=name,
        rungs=rungs,
        opponents=[*(rung.name for rung in present), *others],
        known=known_scores(game),
        results=Results(results, game=game.spec.full_name, report=say),
        settings=settings,
    )


def _chosen(rungs: list[Rung], names: Sequence[str], game: Rules) -> list[Rung]:
    """The opponents of these names, and random play; all of them without names."""
    known = [rung.name for rung in rungs]
    for name in names:
        if name not in known:
            raise SettingsError(f"No opponent {name!r} on the ladder of {short_name(game)}{nearest(name, known)}.")
    return [rung for rung in rungs if not names or rung.name in (RANDOM.name, *names)]


def _those_here(rungs: list[Rung], game: Rules, say: Write) -> list[Rung]:
    """The opponents that can play. `say` gets a sentence for each program that the others need."""
    missing = {rung.name: rung.missing(game) for rung in rungs}
    for sentence in dict.fromkeys(filter(None, missing.values())):
        names = "; ".join(name for name, needed in missing.items() if needed == sentence)
        say(f"Left out: {names}. {sentence}")
    return [rung for rung in rungs if not missing[rung.name]]


def _identity(entry: Entry, player: Contestant) -> str:
    """The player's name in results: all that its strength depends on, which is more than its name."""
    name = player.name
    program = player.program if isinstance(player, ProgramContestant) else None
    if not entry.name and isinstance(program, EngineCommand) and entry.word.partition(":")[0] in PROTOCOLS:
        name = entry.word + name.removeprefix(program.label)
    # The newest network of a run changes.
    parts = [name, player.network if isinstance(player, SearchContestant) else "", *habits(entry)]
    return ", ".join(filter(None, parts))


def habits(entry: Entry) -> list[str]:
    """The settings of an entry that its player's name does not tell."""
    found = [f"sample={entry.sampled_plies}"] if entry.sampled_plies else []
    found += [] if entry.sampled_within is None else [f"within={100 * entry.sampled_within:g}"]
    return found + ([f"resign={entry.resign}"] if entry.resign else [])
