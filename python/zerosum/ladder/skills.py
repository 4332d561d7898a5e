"""`zerosum levels`: what each skill of a player is worth, placed on the ladder one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from zerosum.games import make
from zerosum.ladder.command import placement_of
from zerosum.ladder.placement import LadderSettings, Placement
from zerosum.play.contestants import Entry
from zerosum.play.player import ROLLOUTS, SearchContestant
from zerosum.play.skill import Level, Levels

SKILLS = (0, 5, 10, 15, 19)
"""Those that are measured; what is between them is taken from the line through them."""


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
        word: A run, a checkpoint or rollouts.
        settings: Of each placement.
        skills: At least two, ascending.
        opponents: As `zerosum.ladder.command.place`.
        results: The file that results are kept in, if any.
        say: Takes what happens meanwhile.

    Raises:
        ZerosumError: as `zerosum.ladder.command.place`; the player has no search.
    """
    game, network, placements = make(game_name), "", list[Placement]()
    with TemporaryDirectory() as directory:
        file = results or Path(directory) / "results.jsonl"
        for skill in skills:
            entry = replace(Entry(word), skill=skill)
            placement, player = placement_of(game, entry, settings, opponents=opponents, results=file, say=say)
            assert isinstance(player, SearchContestant)
            network = player.network
            while not placement.is_over:
                say(str(placement.step()))
            placements.append(placement)
            say(f"Skill {skill}: {placement.rating}")
    # The last one knows what all of them did.
    ratings = [placements[-1].ratings.rating(placement.name) for placement in placements]
    levels = (
        Level(skill, round(rating.elo, 1), round(rating.error, 1), placement.num_games)
        for skill, rating, placement in zip(skills, ratings, placements, strict=True)
    )
    return Levels(game.spec.full_name, network or ROLLOUTS, tuple(levels))


def level_table(levels: Levels) -> str:
    """To be read by people."""
    rows = [f"{level.skill:>5}{level.elo:+8.0f} ± {level.error:<5.0f}{level.num_games:>6}" for level in levels.levels]
    return "\n".join(["skill     Elo          games", *rows, "random play is 0, bars are 95 %"])
