"""Games of an alpha-beta search, with which self-play may begin.

A new network's searches see little, and their games teach little: in chess and shogi they lose a queen without noticing
it. An alpha-beta search of two or three plies that knows what a queen is worth does notice, and plays dozens of moves
in the time of one search by a network. With `selfplay.alphabeta_depth` such games come first, and the network's own
searches take over where they end. The search's evaluation is learned from the rules alone before
(`evaluation_learning.py`). The network learns the moves, the values and the results, as it learns from games of people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from zerosum._core import LinearEvaluation
from zerosum.games import Rules, State
from zerosum.replay.records import GameRecord, PackedPly, PlyFlag, PlyRecord, packed_ply, policy_target

SAMPLES_PER_POSITION = 1.0
"""Samples that the learner draws for each position of these games, which cost less than a sample. Their targets are one
move of often several equal ones, so more samples would teach them by heart (docs/log.md)."""


def light_weight(samples_per_position: float) -> float:
    """The weight in the window of a position of these games, where the network's have 1 and `samples_per_position`."""
    return min(1.0, SAMPLES_PER_POSITION / samples_per_position)


def weight_of(record: GameRecord, *, samples_per_position: float) -> float:
    """The weight of a game's positions in the window."""
    return light_weight(samples_per_position) if record.is_recorded else 1.0


@dataclass
class AlphaBetaGame:
    """A game of the search, played a move at a time: a pure function of these values.

    `noise` is that of the search, in units of the evaluation, and `step` the learner step that its plies name.
    """

    game: Rules
    state: State
    evaluation: LinearEvaluation
    noise: float
    depth: int
    seed: int
    game_id: int
    step: int

    def play(self) -> PackedPly:
        """Play the search's move, unless the game is over, and return the ply."""
        game, state = self.game, self.state
        found = game.alpha_beta(
            state,
            depth=self.depth,
            seed=self.seed,
            game=self.game_id,
            evaluation=self.evaluation,
            noise=self.noise,
        )
        ply = PlyRecord(
            action=found.action,
            player=game.player(state),
            checkpoint_step=self.step,
            # The evaluation is a logit of (1 + result) / 2.
            search_value=found.result or math.tanh(found.evaluation / 2),
            net_value=0.0,
            num_simulations=0,
            flags=PlyFlag.RECORDED | PlyFlag.EVALUATED,
            target=policy_target([found.action], [1.0], [1]),
        )
        self.state = game.play(state, found.action)
        return packed_ply(self.game_id, state.plies, ply)
