"""`zerosum ladder`: who is placed, who is there to play, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from zerosum.checkpoint import load_checkpoint
from zerosum.errors import SettingsError, nearest
from zerosum.games import Rules, make
from zerosum.ladder.placement import MOST_AT_ONCE, LadderSettings, Placement, arena_play
from zerosum.ladder.results import Results
from zerosum.ladder.rungs import Rung, known_scores, rungs_of
from zerosum.play.player import RANDOM, Contestant, parse_player

Write = Callable[[str], None]


def place(
    game_name: str,
    player_word: str,
    settings: LadderSettings,
    *,
    results: Path | None,
    opponents: Sequence[str] = (),
    write: Write,
    write_json: Write,
) -> Placement:
    """Place a player, or the ladder's opponents without one, and say how that goes: each match, then the ladder.

    Args:
        game_name: As `zerosum.games.make` takes it.
        player_word: As `parse_player` takes it; "" for the opponents themselves.
        settings: How far it goes.
        results: The file that results are kept in, if any.
        opponents: Only these, and random play; all if empty.
        write: Takes lines for people.
        write_json: Takes JSON, a line a match and one for the ladder.

    Raises:
        ZerosumError: as `make`, `parse_player` and `Placement`; an opponent is unknown; an engine cannot be started.
    """
    game = make(game_name)
    rungs = _chosen(rungs_of(game), opponents, game)
    for sentence in dict.fromkeys(filter(None, (rung.missing(game) for rung in rungs))):
        names = [rung.name for rung in rungs if rung.missing(game) == sentence]
        write(f"Not here: {'; '.join(names)}. {sentence}")
    rungs = [rung for rung in rungs if not rung.missing(game)]
    player = parse_player(player_word, game, batch_size=MOST_AT_ONCE, seed=settings.seed) if player_word else None
    name = _identity(player_word, player) if player else ""
    if name in (rung.name for rung in rungs):
        rungs = [rung for rung in rungs if rung.name != name]
    placement = Placement(
        arena_play(game, rungs, player, name=name, opening_plies=settings.opening_plies),
        name=name,
        rungs=rungs,
        known=known_scores(game),
        results=Results(results, game=game.spec.full_name, report=write),
        settings=settings,
    )
    while not placement.is_over:
        step = placement.step()
        write(str(step))
        write_json(json.dumps(step.numbers()))
    write(placement.table())
    write_json(json.dumps(placement.numbers()))
    return placement


def _chosen(rungs: list[Rung], names: Sequence[str], game: Rules) -> list[Rung]:
    """The rungs of these names, and random play; other players of ours may be named, too."""
    known = {rung.name: rung for rung in rungs}
    for name in names:
        if name not in known:
            raise SettingsError(f"No opponent {name!r} on the ladder of {game.spec.full_name}: {nearest(name, known)}.")
    return [rung for rung in rungs if not names or rung.name in (RANDOM.name, *names)]


def _identity(word: str, player: Contestant) -> str:
    """What results know a player by: of a network its step, too, for a run's newest is another one tomorrow."""
    path = Path(word.rpartition("@")[0] or word)
    return f"{player.name} step {load_checkpoint(path).info.step}" if path.exists() else player.name
