"""Recorded games for tests of the window and its batches."""

import random

import numpy as np

from zerosum._core import Game
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag, PlyRecord, policy_target


def record_of(game_id, moves, *, outcome=1.0, players=None, targets=None, values=None, proven=(), start=""):
    """A game; `targets` has {action: share} for each ply, empty for one that is not to be learned from."""
    header = GameHeader(
        game_id=game_id, game="connect4", game_version=1, options="", start=start, settings_hash="", seed=0
    )
    targets = targets or [{move: 1.0} for move in moves]
    plies = [
        PlyRecord(
            action=move,
            player=players[index] if players else index % 2,
            checkpoint_step=0,
            search_value=values[index] if values else 0.0,
            net_value=0.0,
            num_simulations=1,
            flags=PlyFlag.FULL_SEARCH | (PlyFlag.PROVEN if index in proven else PlyFlag(0)),
            target=policy_target(
                list(targets[index]), list(targets[index].values()), np.ones(len(targets[index]), np.uint32)
            ),
        )
        for index, move in enumerate(moves)
    ]
    return GameRecord.from_plies(header, plies, outcome=outcome, ending="")


def random_game(game_id, draw: random.Random, name="connect4", start=""):
    """A random game with random targets and values, one ply in four without a target."""
    game = Game(name)
    state, moves, targets = game.parse_position(start) if start else game.initial_state(), [], []
    players = []
    while legal := game.legal_actions(state):
        shares = np.random.default_rng([game_id, len(moves)]).dirichlet(np.ones(len(legal)))
        targets.append({} if draw.random() < 0.25 else dict(zip(legal, shares, strict=True)))
        players.append(game.player(state))
        moves.append(draw.choice(legal))
        state = game.play(state, moves[-1])
    values = [draw.choice([-0.75, -0.5, 0.25, 1.0]) for _ in moves]
    outcome = game.outcome(state)
    return record_of(game_id, moves, outcome=outcome, targets=targets, values=values, start=start, players=players)
