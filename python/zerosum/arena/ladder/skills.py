"""`zerosum levels`: the rating of each skill of a player, measured on the ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from zerosum.arena.ladder.command import placement_of
from zerosum.arena.ladder.placement import LadderSettings, Placement
from zerosum.base.errors import SettingsError, shown
from zerosum.games import make
from zerosum.play.contestant import ROLLOUTS, Contestant, ProgramContestant, SearchContestant
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.entries import Entry
from zerosum.play.runs import PlayerWord
from zerosum.play.skill import Level, Levels
from zerosum.play.words import GAME_AS_PLAYER

SKILLS = (0, 5, 10, 15, 19)
"""Skills that are measured; ratings between them are interpolated linearly."""


def measure_levels(
    game_name: str,
    word: str,
    settings: LadderSettings,
    *,
    skills: Sequence[int] = SKILLS,
    opponents: Sequence[str] = (),
    results: Path | None = None,
    say: Callable[[str], None] = print,
) -> Levels:
    """Place a player at each of the skills, `settings.num_games` games each.

    Args:
        game_name: As `zerosum.games.make` takes it.
        word: A run, a checkpoint, a game or rollouts.
        settings: Budget and openings of each placement.
        skills: At least two, ascending.
        opponents: As `zerosum.arena.ladder.command.place`.
        results: The file of results, if any.
        say: Receives messages meanwhile.

    Raises:
        ZerosumError: as `zerosum.arena.ladder.command.place`; the player has no search; no games are asked for.
    """
    if not settings.num_games:
        raise SettingsError("a level needs games, and --games is 0: give an even number of at least 2.")
    _require_search(word)
    game, network, placements = make(game_name), "", list[Placement]()
    with TemporaryDirectory() as directory:
        file = results or Path(directory) / "results.jsonl"
        for skill in skills:
            entry = replace(Entry(word), skill=skill)
            placement, player = placement_of(game, entry, settings, opponents=opponents, results=file, say=say)
            network = _network_of(player)
            while not placement.is_over:
                say(str(placement.step()))
            placements.append(placement)
            say(f"Skill {skill}: {placement.rating}")
    # The last placement has the results of all.
    ratings = [placements[-1].ratings.rating(placement.name) for placement in placements]
    levels = (
        Level(skill, round(rating.elo, 1), round(rating.error, 1), placement.num_games)
        for skill, rating, placement in zip(skills, ratings, placements, strict=True)
    )
    return Levels(game.spec.full_name, network or ROLLOUTS, tuple(levels))


def _network_of(player: Contestant | None) -> str:
    """The identity of a player's network; "" for rollouts."""
    if isinstance(player, ProgramContestant):
        assert isinstance(player.program, DeepeningProgram)
        return player.program.network
    assert isinstance(player, SearchContestant)
    return player.network


def _require_search(word: str) -> None:
    named = PlayerWord.parse(word)
    if named.word == ROLLOUTS or named.game is not None or named.run is not None:
        return
    named.require_not_path()
    raise SettingsError(
        f"levels needs a run or {ROLLOUTS}, not {shown(word)}: name a run, a checkpoint, {ROLLOUTS}, or a game,"
        f" {GAME_AS_PLAYER}."
    )


def level_table(levels: Levels) -> str:
    """The levels as text."""
    rows = [f"{level.skill:>5}{level.elo:+8.0f} ± {level.error:<5.0f}{level.num_games:>6}" for level in levels.levels]
    return "\n".join(["skill     Elo          games", *rows, "random play is 0, bars are 95 %"])
