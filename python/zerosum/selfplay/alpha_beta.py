"""Games of an alpha-beta search, with which self-play may begin.

A new network's searches see little, and their games teach little: in chess and shogi they lose a queen without noticing
it. An alpha-beta search of two or three plies that counts material does notice, and plays dozens of moves in the time
of one search by a network. With `selfplay.alphabeta` such games come first, and the network's own searches take over
where they end. The network learns the moves, the values and the results, as it learns from games of people.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from zerosum._core import MAX_ALPHA_BETA_DEPTH
from zerosum.base.stages import Stage, parse_stages, stage_at
from zerosum.games import Rules, State
from zerosum.replay.records import GameRecord, PackedPly, PlyFlag, PlyRecord, packed_ply, policy_target
from zerosum.selfplay.material import SCALE

EXAMPLE = "3@0, 0@0.1"
SAMPLES_PER_POSITION = 1.0
"""Samples that the learner draws for each position of these games, which cost less than a sample. Their targets are one
move of often several equal ones, so more samples would teach them by heart (docs/log.md)."""


@functools.lru_cache
def depth_stages(text: str) -> tuple[Stage[int], ...]:
    """The stages of `selfplay.alphabeta`; depth 0 is the network's own search.

    >>> depth_stages("3@0, 0@0.1")
    (Stage(begins=0.0, value=3), Stage(begins=0.1, value=0))

    Raises:
        SettingsError: the text cannot be read.
    """
    return parse_stages(text, name="selfplay.alphabeta", example=EXAMPLE, parse=_parse_depth)


def _parse_depth(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_ALPHA_BETA_DEPTH:
        raise ValueError(f"is not a depth from 0 to {MAX_ALPHA_BETA_DEPTH}")
    return int(text)


def depth_at(stages: str, progress: float) -> int:
    """The depth of the alpha-beta search that plays a game which begins now; 0 if the network plays it.

    >>> depth_at("3@0, 0@0.1", 0.05), depth_at("3@0, 0@0.1", 0.5), depth_at("", 0.0)
    (3, 0, 0)
    """
    return stage_at(depth_stages(stages), progress) if stages else 0


def is_of_alpha_beta(record: GameRecord) -> bool:
    """Whether an alpha-beta search has played a game of self-play: no search of a network has."""
    flags = record.plies["flags"]
    return bool(flags.size) and bool(flags[-1] & int(PlyFlag.RECORDED))


def light_weight(samples_per_position: float) -> float:
    """The weight in the window of a position of these games, where the network's have 1 and `samples_per_position`."""
    return min(1.0, SAMPLES_PER_POSITION / samples_per_position)


def weight_of(record: GameRecord, *, samples_per_position: float) -> float:
    """The weight of a game's positions in the window."""
    return light_weight(samples_per_position) if is_of_alpha_beta(record) else 1.0


@dataclass
class AlphaBetaGame:
    """A game of the search, played a move at a time: a pure function of these values.

    `step` is the learner step that its plies name.
    """

    game: Rules
    state: State
    depth: int
    seed: int
    game_id: int
    step: int

    def play(self) -> PackedPly:
        """Play the search's move, unless the game is over, and return the ply."""
        game, state = self.game, self.state
        found = game.alpha_beta(state, depth=self.depth, seed=self.seed, game=self.game_id)
        has_value = bool(found.result or game.description.material)
        ply = PlyRecord(
            action=found.action,
            player=game.player(state),
            checkpoint_step=self.step,
            search_value=found.result or math.tanh(found.material / SCALE),
            net_value=0.0,
            num_simulations=0,
            flags=PlyFlag.RECORDED | PlyFlag.EVALUATED if has_value else PlyFlag.RECORDED,
            target=policy_target([found.action], [1.0], [1]),
        )
        self.state = game.play(state, found.action)
        return packed_ply(self.game_id, state.plies, ply)
