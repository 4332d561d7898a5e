"""The study of piece values: what self-play of a linear evaluation says that pieces are worth, beside the usual values.

Beal and Smith (1999) let temporal differences find the values of chess pieces from self-play, all from 0; Veness and
others (TreeStrap, 2009) learned from the values of searches. The evaluation here learns from both, by TD(lambda) over
the values of its own alpha-beta searches (`zerosum.selfplay.evaluation_learning`). With a run its network's values of
pieces stand beside them. Values are told in those of the piece that customarily has 1.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.piece_kinds import has_piece_values
from zerosum.report.blind_spots import records_of
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.probes import probe
from zerosum.report.run_data import RunData, read_run
from zerosum.report.studies.estimates import Estimate
from zerosum.report.studies.figures import Figures
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, run_and_game
from zerosum.run.learned_pieces import customary_piece_values, learned_piece_values

SEEDS = 3
NODES = 60_000_000
"""Positions that the games of a seed visit: a minute of a core in chess, and the default of a training."""
LINEAR, NETWORK = "linear evaluation", "network"


@dataclass(frozen=True)
class PieceValuesStudy:
    """The options of the study."""

    game: Rules = field(repr=False)
    run: RunData | None = field(default=None, repr=False)
    seeds: int = SEEDS
    nodes: int = NODES

    @classmethod
    def of(cls, words: StudyWords) -> PieceValuesStudy:
        """The study of a game, or of a run. Raises SettingsError or DataError if the words do not name one."""
        if not words.names:
            raise SettingsError("the study piece-values needs a game: name one, such as chess, or a run of it.")
        seeds = SEEDS if words.seeds is None else words.seeds
        if len(words.names) == 1 and GameName.parse(words.names[0]).can_exist:
            return cls(_with_pieces(make(words.names[0])), None, seeds)
        path, game = run_and_game("piece-values", words)
        return cls(_with_pieces(game), read_run(path), seeds)

    @property
    def kind(self) -> type[Figures]:
        """The values of one source."""
        return Figures

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on; more seeds may join later."""
        run = None if self.run is None else str(self.run.path)
        return {"study": "piece-values", "game": self.game.spec.full_name, "run": run, "nodes": self.nodes}

    def jobs(self) -> Sequence[Job[Figures]]:
        """A learning of each seed, and the network's values."""
        jobs = [Job(f"{LINEAR} {seed}", functools.partial(self._learn, seed)) for seed in range(self.seeds)]
        return jobs if self.run is None else [*jobs, Job(NETWORK, functools.partial(self._ask, self.run))]

    def _learn(self, seed: int, _directory: Path) -> Figures:
        return Figures.of(LINEAR, seed, learned_piece_values(self.game, seed=seed, num_nodes=self.nodes))

    def _ask(self, run: RunData, _directory: Path) -> Figures:
        newest = replace(run, checkpoints=run.checkpoints[-1:])
        found = probe(newest, self.game, records_of(run.path) or [])
        return Figures.of(NETWORK, found[-1].step if found else 0, found[-1].pieces if found else {})

    def findings(self, results: Mapping[str, Figures]) -> Findings:
        """What the values so far say."""
        customary = {name: value for name, value in customary_piece_values(self.game).items() if value > 0}
        unit = min(customary, key=lambda name: customary[name])
        linear = [in_units(one.by_name, unit) for one in results.values() if one.source == LINEAR]
        network = next((in_units(one.by_name, unit) for one in results.values() if one.source == NETWORK), {})
        estimates = {
            name: Estimate.of([one[name] for one in linear if name in one])
            for name in customary
            if any(name in one for one in linear)
        }
        rows = tuple(
            (name, f"{value:g}", _shown(estimates.get(name)), f"{network[name]:.2f}" if name in network else "")
            for name, value in customary.items()
        )
        return Findings(
            f"Values of pieces: {self.game.spec.full_name}",
            _conclusion(customary, estimates, network, len(linear)),
            (Table(f"In units of {unit}", ("piece", "customary", f"{LINEAR}, learned", NETWORK), rows),),
            (_bars(customary, estimates, network, unit),),
            (
                f"The linear evaluation begins with 0 for every piece and learns from {self.nodes:,} positions of its"
                " own games a seed. Customary values are those of the game's count of material. The network's are"
                " fitted to its values of positions from the run's games.",
            ),
        )


def _with_pieces(game: Rules) -> Rules:
    """The game, if it has several kinds of pieces. Raises SettingsError."""
    if not has_piece_values(game):
        raise SettingsError(
            f"{game.spec.full_name} has no pieces of several kinds, so there are no values to compare: name a game such"
            " as chess or shogi."
        )
    return game


def in_units(values: Mapping[str, float], unit: str) -> dict[str, float]:
    """Values in those of one piece; empty if that is worth nothing, or is not among them."""
    one = values.get(unit, 0.0)
    return {name: value / one for name, value in values.items()} if one > 0 else {}


def same_order(values: Mapping[str, float], customary: Mapping[str, float]) -> tuple[int, int]:
    """Pairs of pieces that values order as the customary ones do, and all pairs whose customary values differ.

    >>> same_order({"a": 1.0, "b": 2.0, "c": 1.5}, {"a": 1.0, "b": 3.0, "c": 3.0})
    (2, 2)
    """
    pairs = [
        (one, other)
        for one, other in itertools.combinations([name for name in customary if name in values], 2)
        if customary[one] != customary[other]
    ]
    agreeing = [(values[one] < values[other]) == (customary[one] < customary[other]) for one, other in pairs]
    return sum(agreeing), len(pairs)


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f"{estimate.mean:.2f}" + ("" if estimate.error is None else f" ± {estimate.error:.2f}")


def _conclusion(
    customary: Mapping[str, float], estimates: Mapping[str, Estimate], network: Mapping[str, float], num_seeds: int
) -> str:
    sentences = []
    if estimates:
        agreeing, pairs = same_order({name: one.mean for name, one in estimates.items()}, customary)
        seeds = "1 seed" if num_seeds == 1 else f"{num_seeds} seeds"
        sentences.append(
            f"From the rules alone the linear evaluation orders {agreeing} of {pairs} pairs of pieces as the customary"
            f" values do (means of {seeds})."
        )
        off = [
            name
            for name, one in estimates.items()
            if one.error is not None and abs(one.mean - customary[name]) > one.error
        ]
        if num_seeds > 1:
            sentences.append(
                f"Outside of their intervals are the customary values of {', '.join(off)}."
                if off
                else "No customary value is outside of its interval: no difference shown."
            )
    if network:
        agreeing, pairs = same_order(network, customary)
        sentences.append(f"The network orders {agreeing} of {pairs} pairs so.")
    return " ".join(sentences) or "No value could be told: the piece that customarily has 1 was worth nothing."


def _bars(
    customary: Mapping[str, float], estimates: Mapping[str, Estimate], network: Mapping[str, float], unit: str
) -> Picture:
    drawn, (axes,) = figure(1, width=max(6.0, 0.6 * len(customary)))
    places = range(len(customary))
    series: tuple[tuple[str, Mapping[str, float], dict[str, float | None]], ...] = (
        ("customary", customary, {}),
        (LINEAR, {name: one.mean for name, one in estimates.items()}, {n: one.error for n, one in estimates.items()}),
        (NETWORK, network, {}),
    )
    for number, (label, values, errors) in enumerate(series):
        if values:
            axes.bar(
                [place + 0.27 * (number - 1) for place in places],
                [values.get(name, 0.0) for name in customary],
                yerr=[errors.get(name) or 0.0 for name in customary] if any(errors.values()) else None,
                width=0.25,
                color=COLOURS[number],
                label=label,
                capsize=2,
            )
    axes.set_xticks(list(places), list(customary), rotation=30, ha="right")
    axes.set(ylabel=f"value in {unit}")
    axes.legend(fontsize=7)
    return picture(drawn, "Values of pieces", "Customary values, those learned from self-play, and the network's.")
