"""The study of piece values: what self-play of a linear evaluation says that pieces are worth, beside the usual values.

There are two ways to learn. Beal and Smith (1999) let temporal differences find the values of chess pieces from
self-play, all from 0: here TD(lambda) over the values of the roots of alpha-beta searches
(`zerosum.selfplay.evaluation_learning`). Veness and others (2009) learned from all nodes of the searches, TreeStrap
(`zerosum.selfplay.tree_strap`). With a run its network's values of pieces stand beside them. Values are told in those
of the piece that customarily has 1.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from zerosum.base.errors import SettingsError, nearest
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.piece_kinds import has_piece_values
from zerosum.games.rules import with_options
from zerosum.report.blind_spots import records_of
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.probes import probe
from zerosum.report.run_data import RunData, read_run
from zerosum.report.studies.estimates import Estimate, compared
from zerosum.report.studies.figures import Figures
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, require_positive, run_and_game
from zerosum.run.learned_pieces import customary_piece_values, learned_piece_values

SEEDS = 3
NODES = 60_000_000
"""Positions that the games of a seed visit: a minute of a core or two in chess, and the default of a training."""
WAYS = {"td": "TD(λ)", "treestrap": "TreeStrap"}
"""The ways to learn, by variant, as the page names them."""
NETWORK = "network"


@dataclass(frozen=True)
class PieceValuesStudy:
    """The options of the study.

    Raises:
        SettingsError: a variant is unknown.
    """

    game: Rules = field(repr=False)
    run: RunData | None = field(default=None, repr=False)
    seeds: int = SEEDS
    """Learnings of each variant."""
    nodes: int = NODES
    variants: tuple[str, ...] = tuple(WAYS)
    """Names of `WAYS`."""

    def __post_init__(self) -> None:
        for name in self.variants:
            if name not in WAYS:
                raise SettingsError(f"unknown variant {name!r}{nearest(name, WAYS)}.")

    @classmethod
    def of(cls, words: StudyWords) -> PieceValuesStudy:
        """The study of a game, or of a run. Raises SettingsError or DataError if the words do not name one."""
        if not words.names:
            raise SettingsError("the study piece-values needs a game: name one, such as chess, or a run of it.")
        seeds = SEEDS if words.seeds is None else words.seeds
        require_positive({"--seeds": seeds})
        variants = words.variants or tuple(WAYS)
        if len(words.names) == 1 and GameName.parse(words.names[0]).can_exist:
            return cls(_with_pieces(make(words.names[0])), None, seeds, variants=variants)
        path, game = run_and_game("piece-values", words)
        return cls(_with_pieces(game), read_run(path), seeds, variants=variants)

    @property
    def kind(self) -> type[Figures]:
        """The values of one source."""
        return Figures

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on; more seeds and variants may join later."""
        run = None if self.run is None else str(self.run.path)
        return {"study": "piece-values", "game": self.game.spec.full_name, "run": run, "nodes": self.nodes}

    def jobs(self) -> Sequence[Job[Figures]]:
        """A learning of each seed in each way, and the network's values."""
        jobs = [
            Job(f"{name} {seed}", functools.partial(self._learn, name, seed))
            for seed in range(self.seeds)
            for name in self.variants
        ]
        return jobs if self.run is None else [*jobs, Job(NETWORK, functools.partial(self._ask, self.run))]

    def _learn(self, name: str, seed: int, _directory: Path) -> Figures:
        # Planes of earlier positions change no value, but the time.
        game = with_options(self.game, history="1")
        by_tree_strap = name == "treestrap"
        values = learned_piece_values(game, seed=seed, num_nodes=self.nodes, by_tree_strap=by_tree_strap)
        return Figures.of(name, seed, values)

    def _ask(self, run: RunData, _directory: Path) -> Figures:
        newest = replace(run, checkpoints=run.checkpoints[-1:])
        found = probe(newest, self.game, records_of(run.path) or [])
        return Figures.of(NETWORK, found[-1].step if found else 0, found[-1].pieces if found else {})

    def findings(self, results: Mapping[str, Figures]) -> Findings:
        """What the values so far say."""
        customary = {name: value for name, value in customary_piece_values(self.game).items() if value > 0}
        unit = min(customary, key=lambda name: customary[name])
        learned = {
            name: Learned.of([in_units(one.by_name, unit) for one in results.values() if one.source == name], customary)
            for name in self.variants
        }
        network = next((in_units(one.by_name, unit) for one in results.values() if one.source == NETWORK), {})
        heads = [f"{WAYS[name]}, learned" for name in learned]
        rows = tuple(
            (
                name,
                f"{value:g}",
                *(_shown(one.estimates.get(name)) for one in learned.values()),
                f"{network[name]:.2f}" if name in network else "",
            )
            for name, value in customary.items()
        )
        return Findings(
            f"Values of pieces: {self.game.spec.full_name}",
            _conclusion(customary, learned, network, unit),
            (Table(f"In units of {unit}", ("piece", "customary", *heads, NETWORK), rows),),
            (_bars(customary, learned, network, unit),),
            (
                "The linear evaluation begins with 0 for every piece and learns from"
                f" {self.nodes:,} positions of its own games a seed: {WAYS['td']} from the values of the positions"
                f" played, {WAYS['treestrap']} from those of all positions that its searches looked below. Customary"
                " values are those of the game's count of material. The network's are fitted to its values of positions"
                " from the run's games.",
            ),
        )


@dataclass(frozen=True)
class Learned:
    """What all seeds of one way have found."""

    estimates: Mapping[str, Estimate]
    """The value of each piece in units; empty if no seed's values can be told in them."""
    distances: tuple[float, ...]
    """For each such seed, the mean over pieces of how far a value is from the customary one, as a share of that."""
    num_untold: int
    """Seeds in which the unit was worth nothing."""

    @classmethod
    def of(cls, seeds: Sequence[Mapping[str, float]], customary: Mapping[str, float]) -> Learned:
        """The summary of some seeds' values in units (`in_units`)."""
        told = [one for one in seeds if one]
        estimates = {name: Estimate.of([one[name] for one in told]) for name in customary if told and name in told[0]}
        return cls(estimates, tuple(distance(one, customary) for one in told), len(seeds) - len(told))

    @property
    def values(self) -> dict[str, float]:
        """The means over the seeds."""
        return {name: one.mean for name, one in self.estimates.items()}


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


def distance(values: Mapping[str, float], customary: Mapping[str, float]) -> float:
    """The mean over pieces of how far a value is from the customary one, as a share of that.

    >>> distance({"pawns": 1.0, "knights": 4.5}, {"pawns": 1.0, "knights": 3.0})
    0.25
    """
    return fmean(abs(values[name] / value - 1) for name, value in customary.items() if name in values)


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
    customary: Mapping[str, float], learned: Mapping[str, Learned], network: Mapping[str, float], unit: str
) -> str:
    sentences = [_of_way(WAYS[name], one, customary, unit) for name, one in learned.items() if one.estimates]
    if len(sentences) > 1:
        td, tree_strap = (learned[name].distances for name in WAYS)
        sentences.append("In the mean distance " + compared(WAYS["treestrap"], tree_strap, WAYS["td"], td))
    if network:
        agreeing, pairs = same_order(network, customary)
        sentences.append(f"The network orders {agreeing} of {pairs} pairs so.")
    return " ".join(sentences) or "No value could be told: the piece that customarily has 1 was worth nothing."


def _of_way(way: str, learned: Learned, customary: Mapping[str, float], unit: str) -> str:
    agreeing, pairs = same_order(learned.values, customary)
    num_seeds = len(learned.distances)
    seeds = "1 seed" if num_seeds == 1 else f"means of {num_seeds} seeds"
    if learned.num_untold:
        seeds += f"; {learned.num_untold} more found the {unit} worth nothing"
    found = (
        f"From the rules alone {way} orders {agreeing} of {pairs} pairs of pieces as the customary values do ({seeds});"
        f" its values are {Estimate.of(learned.distances).percent} from them in the mean."
    )
    if num_seeds == 1:
        return found
    off = [
        name
        for name, one in learned.estimates.items()
        if one.error is not None and abs(one.mean - customary[name]) > one.error
    ]
    if not off:
        return f"{found} No customary value is outside of its interval: no difference shown."
    return f"{found} Outside of its intervals are the customary values of {', '.join(off)}."


def _bars(
    customary: Mapping[str, float], learned: Mapping[str, Learned], network: Mapping[str, float], unit: str
) -> Picture:
    drawn, (axes,) = figure(1, width=max(6.0, 0.7 * len(customary)))
    places = range(len(customary))
    series: list[tuple[str, Mapping[str, float], Mapping[str, Estimate]]] = [
        ("customary", customary, {}),
        *((WAYS[name], one.values, one.estimates) for name, one in learned.items()),
        (NETWORK, network, {}),
    ]
    width = 0.8 / len(series)
    for number, (label, values, estimates) in enumerate(series):
        if values:
            errors = [estimates[name].error or 0.0 if name in estimates else 0.0 for name in customary]
            axes.bar(
                [place + width * (number - (len(series) - 1) / 2) for place in places],
                [values.get(name, 0.0) for name in customary],
                yerr=errors if any(errors) else None,
                width=0.9 * width,
                color=COLOURS[number],
                label=label,
                capsize=2,
            )
    axes.set_xticks(list(places), list(customary), rotation=30, ha="right")
    axes.set(ylabel=f"value in {unit}")
    axes.legend(fontsize=7)
    return picture(drawn, "Values of pieces", "Customary values, those learned from self-play, and the network's.")
