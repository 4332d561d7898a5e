"""Checkpoints among other players, as in figure 1 of the AlphaZero paper: curves, and who was passed when.

`zerosum ladder GAME RUN --checkpoints N` plays the games and keeps the results in the run; this reads them. All results
of runs of one game are rated together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zerosum.arena.ladder.checkpoints import FILE, CheckpointName, Passing, passings
from zerosum.arena.ladder.placement import ladder_ratings
from zerosum.arena.ladder.results import PlayedPair, read_pairs
from zerosum.arena.ladder.rungs import known_scores, rungs_of
from zerosum.contest.elo import MOST_ELO_ERROR
from zerosum.contest.ratings import PairScore, Ratings
from zerosum.games import Rules
from zerosum.games.rules import with_usual_encoding
from zerosum.play.contestant import RANDOM
from zerosum.report.drawings import (
    LABEL_SHARE,
    Picture,
    axis_name,
    draw_curves,
    draw_levels,
    far_apart,
    figure,
    picture,
)
from zerosum.report.run_data import MARKS, Curve, RunData

MARGIN = 0.12
"""How far beyond the curves opponents are drawn, as a share of the axis."""


@dataclass(frozen=True)
class AmongOthers:
    """The ratings of the checkpoints of runs among the opponents of a game's ladder."""

    runs: tuple[RunData, ...]
    """Those with results, of one game."""
    names: tuple[tuple[str, ...], ...]
    """The checkpoints of each run in `ratings`, by ascending step."""
    limits: tuple[str, ...]
    """What limits the moves of these checkpoints, in words."""
    ratings: Ratings
    opponents: tuple[str, ...]
    """Opponents with a rating that says something, the strongest first."""
    engines: frozenset[str]
    """The opponents that are other people's programs."""

    def lines(self, low: float, high: float) -> dict[str, float]:
        """The opponents between two ratings that a picture names, engines before players of ours."""
        others = sorted(self.opponents, key=lambda one: one not in self.engines)
        levels = {RANDOM.name: 0.0} | {name: self.ratings.rating(name).elo for name in others}
        within = {name: elo for name, elo in levels.items() if low <= elo <= high}
        return far_apart(within, LABEL_SHARE * (high - low))

    def steps(self, number: int) -> list[int]:
        """The steps of a run's checkpoints."""
        return [_step(name) for name in self.names[number]]

    def curve(self, number: int) -> Curve:
        """Ratings of a run's checkpoints; random play is 0."""
        rated = [self.ratings.rating(name) for name in self.names[number]]
        return Curve(
            np.array(self.steps(number), float),
            np.array([rating.elo for rating in rated], float),
            np.array([rating.error for rating in rated], float),
        )

    def passings(self, number: int) -> list[Passing]:
        """The checkpoints of a run that passed each opponent."""
        return passings(self.ratings, self.names[number], self.opponents)

    def rows(self, number: int) -> Iterator[list[str]]:
        """A table of `passings`: opponent, Elo, step, minutes and games at the first above, first step shown."""
        run = self.runs[number]
        for one in self.passings(number):
            if one.first is None:
                yield [one.opponent, str(one.rating), "not passed", "", "", ""]
                continue
            step = np.array([_step(one.first)], float)
            minutes, games = (run.at(step, mark)[0] for mark in ("minutes", "games"))
            shown = f"{_step(one.first_shown):,}" if one.first_shown else "no"
            yield [one.opponent, str(one.rating), f"{step[0]:,.0f}", f"{minutes:,.1f}", f"{games:,.0f}", shown]


def among_others(runs: Sequence[RunData], game: Rules) -> AmongOthers | None:
    """The ratings of runs of a game among other players; None if no run has results.

    Of checkpoints that played with several limits, the limit with the most checkpoints counts.

    Raises:
        DataError: a file is not one of results.
    """
    scores, known = list[PairScore](), known_scores(game)
    found: list[tuple[RunData, list[CheckpointName]]] = []
    for run in runs:
        pairs = _results(run, game)
        players = {player for pair in pairs for player in (pair.first, pair.second)}
        if checkpoints := sorted(name for player in players if (name := CheckpointName.parse(player)) is not None):
            scores += [_of_run(pair.score, len(found)) for pair in pairs]
            found.append((run, checkpoints))
    if not found:
        return None
    rungs = [rung for rung in rungs_of(game) if rung.name != RANDOM.name]
    ratings = ladder_ratings(rungs, [*known, *scores])
    limits = [_most_used([name.limit for name in checkpoints]) for _, checkpoints in found]
    rated = {rung.name: ratings.rating(rung.name) for rung in rungs}
    return AmongOthers(
        tuple(run for run, _ in found),
        tuple(
            tuple(_key(str(name), number) for name in checkpoints if name.limit == limits[number])
            for number, (_, checkpoints) in enumerate(found)
        ),
        tuple(_words(limit, run) for limit, (run, _) in zip(limits, found, strict=True)),
        ratings,
        tuple(sorted((one for one in rated if rated[one].error <= MOST_ELO_ERROR), key=lambda one: -rated[one].elo)),
        frozenset(rung.name for rung in rungs if rung.engine),
    )


def _results(run: RunData, game: Rules) -> list[PlayedPair]:
    """The results of a run's ladder, by the game's rules with any encoding."""
    names = {game.spec.full_name, with_usual_encoding(game).spec.full_name}
    return [pair for pair in read_pairs(run.path / FILE).entries if pair.game in names]


def _most_used(limits: Sequence[str]) -> str:
    return max(dict.fromkeys(limits), key=limits.count)


def _key(name: str, number: int) -> str:
    """The name of a player in the ratings of several runs: checkpoints of equal steps are different players."""
    return name if CheckpointName.parse(name) is None else f"{name}#{number}"


def _of_run(score: PairScore, number: int) -> PairScore:
    return replace(score, first=_key(score.first, number), second=_key(score.second, number))


def _step(key: str) -> int:
    name = CheckpointName.parse(key)
    assert name is not None
    return name.step


def _words(limit: str, run: RunData) -> str:
    """A limit as a sentence has it."""
    if limit.startswith("@"):
        unit = "positions" if run.config.network.kind == "updatable" else "simulations"
        number, _, more = limit[1:].partition(", ")
        number = f"{int(number):,}" if re.fullmatch(r"[0-9]{1,12}", number) else number
        return f"{number} {unit} a move{more and ', '}{more}"
    return limit.strip(" ()") or "the player's usual limit"


def among_others_picture(found: AmongOthers) -> Picture:
    """Elo over steps, time and games, with lines of the opponents, as figure 1 of the paper."""
    drawn, all_axes = figure(len(MARKS), height=4.2)
    numbers = {run.path: number for number, run in enumerate(found.runs)}
    for axes, mark in zip(all_axes, MARKS, strict=True):
        draw_curves(axes, found.runs, lambda run: found.curve(numbers[run.path]), mark=mark)
        axes.set(xlabel=axis_name(found.runs, mark), ylabel="Elo" if axes is all_axes[0] else "")
        low, high = axes.get_ylim()
        lines = found.lines(low - MARGIN * (high - low), high + MARGIN * (high - low))
        draw_levels(axes, lines, dashed=found.engines, is_named=axes is all_axes[-1])
    if len(found.runs) > 1:
        all_axes[0].legend(fontsize=7)
    limits = "; ".join(dict.fromkeys(found.limits))
    return picture(
        drawn,
        "Elo among other players",
        f"Checkpoints at {limits}, in games against one another and against the opponents of the ladder, with 95 %"
        " intervals. Dashed: other people's engines, by nodes, depth or level; dotted: players of zerosum. Random play"
        " is 0: engines at such limits have no public rating. Opponents whose names would overlap are in the table"
        " only.",
    )
