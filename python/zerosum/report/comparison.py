"""A comparison of runs: the text of `zerosum compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zerosum.arena import play_match
from zerosum.base.errors import SettingsError, printable
from zerosum.play.own_contestants import contestant_of
from zerosum.play.player import load_player
from zerosum.report.page import write_page
from zerosum.report.run_data import differing_settings, families, read_run
from zerosum.report.seed_groups import group_lines
from zerosum.run.strength import player_name

OPENING_PLIES = 4
"""Random plies that open each pair of games; without them two networks repeat one game."""
GAMES_AT_ONCE = 64


def compare_runs(
    paths: Sequence[Path],
    *,
    num_games: int,
    num_simulations: int | None,
    out: Path | None,
    seed: int,
    write: Callable[[str], None],
    say: Callable[[str], None],
) -> None:
    """Print the differences and the strength of runs, draw their curves, and play the first run against the others.

    Args:
        paths: Two or more run directories.
        num_games: Games of each match, even; 0 for no matches.
        num_simulations: Simulations per move; each run's own if None.
        out: HTML file of the page, if any.
        seed: Key of the openings.
        write: Gets the text.
        say: Gets further messages.

    Raises:
        SettingsError: there are fewer than two runs, or they are of different games.
        DataError: a directory is not a run, or has no undamaged checkpoint.
    """
    if len(paths) < 2:
        raise SettingsError(f"compare needs two or more runs, got {len(paths)}: name another one.")
    runs = [read_run(path) for path in paths]
    names = [str(path) for path in paths]
    found = differing_settings(runs)
    if found:
        width = max(len(name) for name, _ in found)
        write("Settings that differ:")
        for name, values in found:
            write(printable(f"  {name:<{width}}  " + " | ".join(values)))
    else:
        write("All settings are equal, including the seed.")
    if len(families(runs)) == 1 and found:
        write("These runs differ only in their seeds.")
    write("Progress:")
    for name, run in zip(names, runs, strict=True):
        parts = [
            f"step {run.rows[-1].step:,} after {run.rows[-1].minutes:.1f} {run.unit}" if run.rows else "no step yet"
        ]
        if steps := run.strength.rated_steps:
            parts.append(f"Elo of step {steps[-1]:,}: {run.strength.ratings[player_name(steps[-1])]}")
        if len(run.mistake_rates.values):
            parts.append(f"mistakes {run.mistake_rates.values[-1]:.1%}")
        if (line := run.held_out.newest("test") or run.held_out.newest("dev")) is not None:
            parts.append(f"held-out cross-entropy {line.cross_entropy:.3f}, value error {line.value_error:.3f}")
        write(printable(f"  {name}: {'; '.join(parts)}"))
    for sentence in group_lines(runs):
        write(printable(sentence))
    if out is not None:
        write_page(paths, out, has_probes=False, say=say)
        write(f"The curves are in {out}.")
    if num_games:
        _play(paths, num_games, num_simulations, seed, write)


def _play(
    paths: Sequence[Path], num_games: int, num_simulations: int | None, seed: int, write: Callable[[str], None]
) -> None:
    players = [load_player(path, num_simulations=num_simulations, batch_size=GAMES_AT_ONCE) for path in paths]
    first = players[0]
    for path, player in zip(paths[1:], players[1:], strict=True):
        if player.game.spec.full_name != first.game.spec.full_name:
            raise SettingsError(
                f"{paths[0]} plays {first.game.spec.full_name} and {path} {player.game.spec.full_name}: only runs of"
                " the same game can play a match; --games 0 omits it."
            )
    contestants = [
        contestant_of(player, f"{path}@{player.config.num_simulations}")
        for path, player in zip(paths, players, strict=True)
    ]
    for other in contestants[1:]:
        write("")
        write(
            printable(
                str(
                    play_match(
                        first.game, contestants[0], other, num_games=num_games, opening_plies=OPENING_PLIES, seed=seed
                    )
                )
            )
        )
