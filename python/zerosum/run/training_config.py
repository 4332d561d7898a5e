"""The settings of a run's schedule: its budget and its devices, and how its checkpoints are rated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from zerosum.base.errors import SettingsError
from zerosum.base.settings import (
    check,
    setting,
)
from zerosum.network.evaluators.backends import Backend, EvaluatorConfig, Precision
from zerosum.network.evaluators.rollout_values import LeafValues


@dataclass(frozen=True)
class TrainingConfig:
    """The budget of a run and its schedule."""

    minutes: float | None = setting(None, "budget in minutes of training, over all resumptions", low=0.01, high=1e7)
    steps: int | None = setting(None, "budget in learner steps, instead of minutes", low=1, high=1 << 40)
    source: Literal["selfplay", "records", "games"] = setting(
        "selfplay",
        "source of the games: 'selfplay'; 'records', imported or generated games; 'games', the games that the run"
        " has played so far, without playing more",
    )
    clock: Literal["wall", "cpu"] = setting(
        "wall",
        "clock of a budget in minutes: 'wall', or 'cpu', the CPU-minutes of all processes, which do not depend on"
        " the load of the machine",
    )
    seed: int = setting(0, "key of every random draw of the run", low=0, high=(1 << 63) - 1)
    deterministic: bool = setting(
        False,
        "repeat the run bit for bit for equal settings, machine and versions, even if it is stopped or killed; one"
        " thread plays and learns in turn, and the budget is in steps",
    )
    num_checkpoints: int = setting(12, "number of checkpoints, evenly spread over the budget", low=1, high=100_000)
    min_positions: int = setting(
        2000,
        "recorded positions before the first learner step; fewer if a tenth of the budget does not record as many",
        low=1,
    )
    steps_per_phase: int = setting(
        64, "learner steps between two updates of self-play's network; each update compiles the network anew", low=1
    )
    backend: Backend = setting("auto", "library that evaluates the network")
    device: str = setting(
        "auto",
        "device: 'auto', 'cpu', 'mps', 'cuda' (all GPUs), or some GPUs, 'cuda:0,cuda:1'; self-play takes all of them,"
        " the learner the first learner.num_devices",
    )
    workers: Literal["auto", "threads", "processes"] = setting(
        "auto",
        "self-play workers: 'threads' of one process, or 'processes', which share no interpreter lock and take more"
        " memory; 'auto' is processes for a game in Python and threads for others (docs/evaluators.md has the gain)",
    )
    leaf_symmetries: bool = setting(
        False,
        "evaluate each position in a random one of the game's symmetries, in self-play and matches of the run (AlphaGo"
        " Zero: true; AlphaZero: false)",
    )
    leaf_values: LeafValues = setting(
        "network",
        "value of a leaf, in self-play and matches of the run: 'network', 'rollouts', the result of one game of random"
        " moves from the leaf to its end, or 'mean', the mean of both, as in AlphaGo (Silver et al. 2016: lambda 0.5,"
        " with a learned rollout policy); the other two are for `zerosum study ablations` (docs/studies.md; paper:"
        " 'network')",
    )
    planes: str = setting(
        "",
        "options of a game's planes that a new run adds to the game's name, such as 'liberties=3' or 'history=2,"
        " liberties=3'; '' for the planes of the game as it is named (paper: '')",
    )
    initial_network: str = setting(
        "",
        "network whose weights a new run begins with: the path of a run or of a checkpoint's JSON, or the name of a"
        " bundled network; '' for random weights",
    )
    gate_games: int = setting(
        0,
        "games that each checkpoint plays against the best one, which self-play has until another replaces it; 0 for no"
        " gate: self-play has the newest network (AlphaGo Zero: 400; AlphaZero: 0)",
        low=0,
        high=100_000,
    )
    gate_score: float = setting(
        0.55,
        "share of the points of these games above which a checkpoint replaces the best one (AlphaGo Zero: 0.55)",
        low=0.5,
        high=0.99,
    )
    precision: Precision = setting(
        "fast",
        "number format of the network in self-play and the run's matches: 'f32', 'bf16', 'f16' (torch), 'int8'"
        " (openvino), 'auto' for the fastest of the others, or 'fast' for int8 where it is faster, else 'auto'"
        " (docs/evaluators.md)",
    )

    @property
    def evaluator(self) -> EvaluatorConfig:
        """How self-play and rating games evaluate the network."""
        symmetry_seed = self.seed if self.leaf_symmetries else None
        rollout_seed = self.seed if self.leaf_values != "network" else 0
        return EvaluatorConfig(self.backend, self.device, self.precision, symmetry_seed, self.leaf_values, rollout_seed)

    def __post_init__(self) -> None:
        check(self, "training")
        if (self.minutes is None) == (self.steps is None):
            raise SettingsError("the budget is either training.minutes or training.steps: give one of the two.")
        if self.leaf_values != "network" and self.source != "selfplay":
            raise SettingsError(
                f"training.leaf_values is {self.leaf_values!r}, which self-play obeys, but training.source is"
                f" {self.source!r}, which plays no games: leave out one of the two."
            )
        if self.deterministic and self.steps is None:
            raise SettingsError(
                "training.deterministic needs a budget in learner steps, because two runs of the same time do not do"
                " the same work: give one, such as --steps 2000."
            )
        if self.deterministic and self.workers == "processes":
            raise SettingsError(
                "training.workers is 'processes', but a deterministic run plays on one thread: leave out one of"
                " the two."
            )


@dataclass(frozen=True)
class StrengthConfig:
    """How checkpoints are rated while training."""

    budget_share: float = setting(
        0.05,
        "share of the run's evaluations, and of its time (unless it is deterministic), for rating checkpoints;"
        " mistakes in solved positions get the same share of evaluations again",
        low=0.0,
        high=0.5,
    )
    num_simulations: int | None = setting(
        None, "simulations per move in rating games; none for search.num_simulations", low=1
    )
    rollout_simulations: tuple[int, ...] = setting(
        (10, 100, 1000), "simulations per move of each anchor, pure MCTS with rollouts"
    )
    solved_positions: int = setting(
        100,
        "positions per solved set in the test of a checkpoint during training, if the game has such sets; the last"
        " checkpoint is tested on all positions; 0 for no tests",
        low=0,
        high=1_000_000,
    )
    solved_simulations: int = setting(
        600, "simulations per move in solved positions (AlphaZero.jl: 600)", low=1, high=1 << 24
    )
    table_files: str = setting(
        "",
        "files of `zerosum tables`, separated as in PATH, to draw the solved positions from (docs/tables.md); empty for"
        " the bundled ones",
    )
    opening_plies: int = setting(
        2, "random plies at the beginning of a rating game; each opening is played from both sides", low=0, high=100
    )

    def __post_init__(self) -> None:
        check(self, "strength")
        if not self.rollout_simulations or min(self.rollout_simulations) < 1:
            raise SettingsError(
                f"strength.rollout_simulations is {self.rollout_simulations}, expected one number or more, from 1."
            )
