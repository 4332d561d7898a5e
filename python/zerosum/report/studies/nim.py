"""The study of Nim: what self-play learns of a game whose solution is a parity (Zhou and Riis, arXiv 2205.12787).

Nim of five, six and seven heaps is learned with equal networks, games and simulations. The measure is that of the
paper: in how many positions with a winning move the network alone, without search, prefers one. Beside it stand the
share of values with the right sign, the rating over the course, and what the search makes of the network. Variants
change one thing each. Nim is solved by arithmetic: who is to move loses if the exclusive or of the sizes is 0 (Bouton,
Annals of Mathematics 3, 1901); `positions` lists positions with their winning moves.
"""

from __future__ import annotations

import functools
import math
import operator
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import SettingsError, nearest
from zerosum.games import Rules, State, make, measure_game, state_after
from zerosum.network import load_checkpoint
from zerosum.play.player import Player, load_player
from zerosum.play.runs import newest_checkpoint, spread_checkpoints
from zerosum.report.blind_spots import network_answers
from zerosum.report.run_data import RunData, read_run
from zerosum.report.studies.nim_findings import nim_findings
from zerosum.report.studies.nim_results import Learned, Moment
from zerosum.report.studies.page import Findings
from zerosum.report.studies.study import Job
from zerosum.run.solved import best_actions
from zerosum.run.training import train

MOST_POSITIONS = 10_000
"""Positions in which a network is measured; all of them if the game has fewer."""
SEARCHED = 300
"""Positions in which its search is measured, too."""
MOMENTS = 9
"""Checkpoints that are measured, the untrained network included."""
GAMES = 6000
SEEDS = 3
SIMULATIONS = 50
MANY = 10
"""Factor of the games in the variant with many."""

Settings = dict[str, dict[str, Any]]

EQUAL: Settings = {
    "network": {"num_blocks": 3, "num_filters": 16, "policy_head": "dense", "value_head": "scalar"},
    "search": {"exact_bounds": False, "root_noise_alpha": 0.5},
    "selfplay": {
        "full_search_share": 1.0,
        "opening_share": 0.0,
        "temperature_plies": 30,
        "stagger_starts": False,
        "games_per_worker": 32,
    },
    "replay": {"search_value_weight": 0.0},
    "learner": {"batch_size": 256, "samples_per_position": 4.0},
    "training": {"num_checkpoints": MOMENTS - 1, "min_positions": 1000, "steps_per_phase": 32, "clock": "cpu"},
    "strength": {"solved_positions": 0},
}
"""Settings of all trainings: AlphaZero's, with a small network. Every move is searched in full and learned from, games
begin in the initial position, and values are learned from results alone."""

VARIANTS: dict[str, tuple[str, Settings]] = {
    "plain": ("AlphaZero's search and targets", {}),
    "bounds": ("exact bounds in the search", {"search": {"exact_bounds": True}}),
    "openings": (
        "four of five games begin with random moves",
        {"selfplay": {"opening_share": 0.8, "opening_plies": 10}},
    ),
    "pooling": ("global pooling in every block", {"network": {"pooling_interval": 1}}),
    "many": (f"{MANY} times the games", {}),
}
"""The variants: what they are, and the settings in which they differ from `EQUAL`."""


@dataclass(frozen=True)
class NimStudy:
    """The options of the study.

    Raises:
        SettingsError: a number is out of range, or a variant is unknown.
    """

    num_heaps: int = 5
    """Heaps of 1, 3, 5, … objects."""
    variants: tuple[str, ...] = tuple(VARIANTS)
    seeds: int = SEEDS
    """Trainings of each variant."""
    games: int = GAMES
    """Games of a training, about: its learner steps follow from them and from the length of a random game."""
    simulations: int = SIMULATIONS
    """Simulations per move."""

    def __post_init__(self) -> None:
        if not 2 <= self.num_heaps <= 8:
            raise SettingsError(f"--heaps is {self.num_heaps}, expected 2 to 8 heaps of 1, 3, 5, … objects.")
        for name in self.variants:
            if name not in VARIANTS:
                raise SettingsError(f"unknown variant {name!r}{nearest(name, VARIANTS)}.")
        for name, value in (("--seeds", self.seeds), ("--games", self.games), ("--simulations", self.simulations)):
            if value < 1:
                raise SettingsError(f"{name} is {value}, expected at least 1.")

    @property
    def kind(self) -> type[Learned]:
        """The result of a training."""
        return Learned

    @property
    def game(self) -> str:
        """The game's name."""
        return f"nim(heaps={'-'.join(str(size) for size in self._sizes)})"

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(range(1, 2 * self.num_heaps, 2))

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that a training depends on; more variants and seeds may join later."""
        return {"study": "nim", "game": self.game, "games": self.games, "simulations": self.simulations}

    def jobs(self) -> Sequence[Job[Learned]]:
        """A training and its measurement for each variant and seed; the seeds come first."""
        return [
            Job(f"{variant} {seed}", functools.partial(self._learn, variant, seed))
            for variant in self.variants
            for seed in range(self.seeds)
        ]

    def findings(self, results: Mapping[str, Learned]) -> Findings:
        """What the trainings so far say."""
        words = {name: VARIANTS[name][0] for name in self.variants}
        return nim_findings(list(results.values()), words, num_heaps=self.num_heaps)

    def _learn(self, variant: str, seed: int, directory: Path) -> Learned | None:
        run = directory / "runs" / f"{variant}-{seed}"
        steps = num_steps(make(self.game), self.games * (MANY if variant == "many" else 1))
        newest = newest_checkpoint(run / "checkpoints")
        if newest is None or newest[1].step < steps:
            stopped = train(
                self.game,
                run,
                steps=steps,
                seed=seed,
                settings=self._settings(variant),
                report=lambda _line: None,
            )
            if stopped is not None:
                return None
        return self._measure(variant, seed, run)

    def _settings(self, variant: str) -> Settings:
        settings: Settings = {section: dict(values) for section, values in EQUAL.items()}
        for section, values in VARIANTS[variant][1].items():
            settings[section] |= values
        settings["search"]["num_simulations"] = self.simulations
        return settings

    def _measure(self, variant: str, seed: int, path: Path) -> Learned:
        run, found = read_run(path), positions(make(self.game), self._sizes, seed=seed)
        player = load_player(path, num_simulations=self.simulations)
        last = run.rows[-1]
        return Learned(
            variant=variant,
            seed=seed,
            games=last.games,
            positions=last.positions,
            minutes=last.minutes,
            by_chance=by_chance(found),
            course=tuple(_moments(run, player, found)),
            searched=searched(player, found),
        )


@dataclass(frozen=True)
class NimPosition:
    """A position, and what arithmetic says of it."""

    state: State
    num_moves: int
    winning: frozenset[int]
    """The actions that win; empty if the player to move has lost."""


def num_steps(game: Rules, games: int) -> int:
    """Learner steps of about so many games: their positions, each learned from as often as `EQUAL` says."""
    learner = EQUAL["learner"]
    samples: float = games * measure_game(game).plies * learner["samples_per_position"]
    return max(2, round(samples / int(learner["batch_size"])))


def positions(game: Rules, sizes: Sequence[int], *, seed: int, most: int = MOST_POSITIONS) -> list[NimPosition]:
    """All positions with an object, or `most` different ones at random, each equally likely."""
    total = math.prod(size + 1 for size in sizes)
    numbers = range(1, total) if total - 1 <= most else random.Random(seed).sample(range(1, total), most)
    return [_position(game, _sizes_of(number, sizes)) for number in sorted(numbers)]


def _sizes_of(number: int, most: Sequence[int]) -> list[int]:
    """The sizes of the heaps of the position of this number: its digits, with a base for each heap."""
    sizes = []
    for size in most:
        number, left = divmod(number, size + 1)
        sizes.append(left)
    return sizes


def _position(game: Rules, sizes: Sequence[int]) -> NimPosition:
    """A position by its sizes. An action is the leftmost object that is taken, heap by heap."""
    state = state_after(game, "", position=f"{'-'.join(map(str, sizes))} X")
    width, parity = game.spec.board_shape[1], functools.reduce(operator.xor, sizes)
    left = ((heap, size ^ parity) for heap, size in enumerate(sizes) if size ^ parity < size)
    return NimPosition(state, sum(sizes), frozenset(heap * width + rest for heap, rest in left))


def by_chance(found: Sequence[NimPosition]) -> float:
    """The share of random moves that win, where one does."""
    return float(np.mean([len(one.winning) / one.num_moves for one in found if one.winning]))


def _moments(run: RunData, player: Player, found: Sequence[NimPosition]) -> list[Moment]:
    """The network alone at some checkpoints, the first and the last included."""
    moments, elos = [], dict(zip(run.elo.steps.tolist(), run.elo.values.tolist(), strict=True))
    for path in spread_checkpoints(run.path, MOMENTS):
        step = load_checkpoint(path).info.step
        accuracy, signs = network_accuracy(load_player(path), found)
        (games,) = run.at(np.array([float(step)]), "games").tolist()
        moments.append(Moment(step, games, accuracy, signs, elos.get(float(step))))
    return moments


def network_accuracy(player: Player, found: Sequence[NimPosition]) -> tuple[float, float]:
    """The network without search: how often its favourite wins where a move does, and the signs, as in `Moment`."""
    favourites, _, values = network_answers(player, [one.state for one in found])
    wins = [favourite in one.winning for favourite, one in zip(favourites, found, strict=True) if one.winning]
    won = [_agreement(value) for value, one in zip(values, found, strict=True) if one.winning]
    lost = [_agreement(-value) for value, one in zip(values, found, strict=True) if not one.winning]
    return float(np.mean(wins)), float((np.mean(won) + np.mean(lost)) / 2)


def _agreement(value: float) -> float:
    """1 for a value above 0, half for one of 0, as an untrained network has it."""
    return 1.0 if value > 0 else 0.5 * (value == 0)


def searched(player: Player, found: Sequence[NimPosition]) -> float:
    """How often the search of a training, without exact bounds or proofs, finds a winning move where there is one."""
    chosen = [one for one in found if one.winning]
    chosen = random.Random(0).sample(chosen, min(SEARCHED, len(chosen)))
    config = replace(player.config, exact_bounds=False, proof_nodes=0)
    actions, _ = best_actions(player.judged_by(player.evaluator, config), [one.state for one in chosen])
    return float(np.mean([action in one.winning for action, one in zip(actions, chosen, strict=True)]))
