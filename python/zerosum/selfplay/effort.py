"""The effort of self-play's searches: simulations of full and of fast ones, and the share of full ones.

It may change during a run, by stages (`selfplay.stages`): cheap searches while the network knows little, better ones
later. The stage is that of the network that plays, so that a game's record, which names each ply's network, says which
effort each of its searches had.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from zerosum.base.stages import Stage, parse_stages, stage_at
from zerosum.games import Rules
from zerosum.network import CheckpointInfo
from zerosum.search import SearchConfig
from zerosum.search.config import with_room

EXAMPLE = "64/12/0.33@0, 100/20/0.25@0.4"
PROGRESS = "progress"
"""Key of a checkpoint's `info.training`: the share of the run's budget that was used when it was made."""


@dataclass(frozen=True)
class Effort:
    """The effort of searches."""

    num_simulations: int
    """Simulations of a full search."""
    fast_simulations: int
    """Simulations of any other search."""
    full_search_share: float
    """Share of full searches, in (0, 1]."""

    @property
    def simulations_per_ply(self) -> float:
        """Mean number of simulations of a search."""
        share = self.full_search_share
        return share * self.num_simulations + (1 - share) * self.fast_simulations


@dataclass(frozen=True)
class PlayingNetwork:
    """The network that plays."""

    step: int = 0
    """Its learner step."""
    progress: float = 0.0
    """Share of the run's budget that was used when it was made, in [0, 1]."""

    @classmethod
    def of(cls, info: CheckpointInfo) -> PlayingNetwork:
        """The network of a checkpoint; one from before there were stages counts as made at the beginning."""
        return cls(info.step, float(info.training.get(PROGRESS, 0.0)))


@functools.lru_cache
def effort_stages(text: str) -> tuple[Stage[Effort], ...]:
    """The stages of `selfplay.stages`.

    >>> effort_stages("64/12/0.33@0")
    (Stage(begins=0.0, value=Effort(num_simulations=64, fast_simulations=12, full_search_share=0.33)),)

    Raises:
        SettingsError: the text cannot be read.
    """
    return parse_stages(text, name="selfplay.stages", example=EXAMPLE, parse=_parse_effort)


def _parse_effort(text: str) -> Effort:
    try:
        full, fast, share = text.split("/")
        effort = Effort(int(full), int(fast), float(share))
    except ValueError as error:
        raise ValueError("is not FULL/FAST/SHARE: two numbers of simulations and a share of full searches") from error
    if not (1 <= effort.num_simulations <= 1 << 24 and 1 <= effort.fast_simulations <= 1 << 24):
        raise ValueError("has a number of simulations outside of 1 to 16777216")
    if not 0.01 <= effort.full_search_share <= 1:
        raise ValueError("has a share of full searches outside of 0.01 to 1")
    return effort


@dataclass(frozen=True)
class EffortPlan:
    """The effort of a run's searches over its budget."""

    stages: tuple[Stage[Effort], ...]
    """At least one."""

    @classmethod
    def of(cls, effort: Effort, stages: str) -> EffortPlan:
        """The stages of `selfplay.stages`, or the same effort from beginning to end if it is empty."""
        return cls(effort_stages(stages) or (Stage(0.0, effort),))

    def at(self, progress: float) -> Effort:
        """The effort of a network that was made at this used share of the budget, in [0, 1]."""
        return stage_at(self.stages, progress) if len(self.stages) > 1 else self.stages[0].value

    def with_room(self, game: Rules, search: SearchConfig, num_trees: int) -> SearchConfig:
        """The settings with at least the memory in which each of so many trees has its simulations in every stage."""
        most = max(max(stage.value.num_simulations, stage.value.fast_simulations) for stage in self.stages)
        room = with_room(game, replace(search, num_simulations=most), num_trees)
        return replace(search, memory_mib=room.memory_mib)

    @property
    def mean(self) -> Effort:
        """The mean effort of a ply over the budget, if each stage's cost of a ply counts for the stage's time.

        Numbers of simulations are rounded.
        """
        ends = [*(stage.begins for stage in self.stages[1:]), 1.0]
        # A stage plays as many plies as its share of the budget pays for.
        efforts = [stage.value for stage in self.stages]
        plies = [
            (end - stage.begins) / stage.value.simulations_per_ply for stage, end in zip(self.stages, ends, strict=True)
        ]
        full = [number * effort.full_search_share for number, effort in zip(plies, efforts, strict=True)]
        fast = [number - in_full for number, in_full in zip(plies, full, strict=True)]
        num_full = sum(number * effort.num_simulations for number, effort in zip(full, efforts, strict=True))
        num_fast = sum(number * effort.fast_simulations for number, effort in zip(fast, efforts, strict=True))
        return Effort(
            num_simulations=round(num_full / sum(full)),
            fast_simulations=round(num_fast / sum(fast)) if sum(fast) else efforts[-1].fast_simulations,
            full_search_share=sum(full) / sum(plies),
        )
