"""The efficiently updatable network: weights, learning and play.

A small network for alpha-beta searches (docs/alpha-beta.md): two layers over features that are present or absent, in
whole numbers at play (crates/zerosum-core/src/updatable). This file has the shapes of its weights, its initial weights
and the network of the core; `updatable_module.py` learns it in torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from zerosum._core import UpdatableNetwork
from zerosum.games import Rules, State
from zerosum.network.board_lines import BoardLines
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.description import Checkpoint
from zerosum.network.piece_planes import VIEWS, PiecePlanes, View, seen_by_opponent
from zerosum.network.weights import updatable_shapes

LARGEST_OUTPUT_WEIGHT = 127 / 64
"""The largest weight of the last layer that play in whole numbers has (`MAX_OUTPUT_WEIGHT` of the core)."""
PLIES_TO_SEE = 60
"""Plies of random play by which the view of the opponent is found."""


def updatable_weights(config: NetworkConfig, shape: NetworkShape, *, seed: int) -> dict[str, NDArray[np.float32]]:
    """Initial weights, a pure function of the arguments.

    Features are as sparse as pieces, so the first layer begins with the deviation of a layer of some forty inputs; its
    bias begins in the middle of the activation. The last layer begins at 0: all positions are even.
    """
    shapes, random = updatable_shapes(config, shape), np.random.default_rng(seed)
    weights = {name: np.zeros(size, np.float32) for name, size in shapes.items()}
    weights["input.weight"] = (random.standard_normal(shapes["input.weight"]) * math.sqrt(1 / 40) / 2).astype(
        np.float32
    )
    weights["input.bias"][:] = 0.5  # the weights of kinds and of lines begin at 0
    weights["output.weight"] = (random.standard_normal(shapes["output.weight"]) * 0.01).astype(np.float32)
    return weights


def core_network(checkpoint: Checkpoint, game: Rules) -> UpdatableNetwork:
    """The network of a checkpoint as a search evaluates it."""
    info, weights = checkpoint.info, checkpoint.weights
    assert info.network.kind == "updatable", info.network.kind
    planes = PiecePlanes.of(info.planes)
    turned = seen_by_opponent(info.network.opponent_view, info.board_shape)
    lines = lines_of(info.network, info.board_shape)
    num_squares, (bit_channels, number_channels) = len(turned), planes.channels
    half = planes.num_features(num_squares) // 2
    first_number = len(planes.kinds) * num_squares
    bits = [(-1, -1)] * len(bit_channels)
    for index, kind in enumerate(planes.kinds):
        own, opponent = index * num_squares, half + index * num_squares
        bits[kind.own], bits[kind.opponent] = (own, opponent), (opponent, own)
    numbers = [(-1, -1, 0, 0.0)] * len(number_channels)
    step = first_number
    for kind, divisor in zip(planes.numbers, planes.divisors, strict=True):
        numbers[kind.own] = (step, half + step, divisor, float(divisor))
        numbers[kind.opponent] = (half + step, step, divisor, float(divisor))
        step += divisor
    return UpdatableNetwork(
        game,
        bits,
        numbers,
        turned.tolist(),
        2 * half,
        input=np.ascontiguousarray(input_weights(weights, planes, num_squares).T).reshape(-1),
        input_bias=weights["input.bias"],
        output=np.clip(weights["output.weight"].reshape(-1), -LARGEST_OUTPUT_WEIGHT, LARGEST_OUTPUT_WEIGHT),
        output_bias=float(weights["output.bias"][0]),
        lines=None if lines is None else lines.both_views(turned),
        line_weights=None if lines is None else np.ascontiguousarray(weights["lines.weight"].T).reshape(-1),
    )


def lines_of(config: NetworkConfig, board_shape: tuple[int, int]) -> BoardLines | None:
    """The lines whose contents are features of a network; None without any. Raises SettingsError as `BoardLines.of`."""
    return BoardLines.of(config.updatable_lines, board_shape) if config.updatable_lines else None


def input_weights(
    weights: Mapping[str, NDArray[np.float32]], planes: PiecePlanes, num_squares: int
) -> NDArray[np.float32]:
    """[units, features], the weights of play: those of kinds are added to those of squares."""
    total, of_kinds = weights["input.weight"].copy(), weights["kinds.weight"]
    half, num_kinds = planes.num_features(num_squares) // 2, len(planes.kinds)
    for side in (0, 1):
        squares = slice(side * half, side * half + num_kinds * num_squares)
        total[:, squares] += np.repeat(of_kinds[:, side * num_kinds : (side + 1) * num_kinds], num_squares, axis=1)
    return total


def value_of(
    features: NDArray[np.bool_],
    turned_features: NDArray[np.bool_],
    weights: Mapping[str, NDArray[np.float32]],
    lines: BoardLines | None = None,
) -> NDArray[np.float32]:
    """[B], the output y of positions [B, features] seen by the player to move and by the other, in float32.

    The slow, readable twin of the core's network; `weights` has the input weights of play (`input_weights`).
    """
    sums = [seen @ weights["input.weight"].T + weights["input.bias"] for seen in (features, turned_features)]
    if lines is not None:
        num_squares, half = lines.board_shape[0] * lines.board_shape[1], features.shape[1] // 2
        for total, seen in zip(sums, (features, turned_features), strict=True):
            total += lines.counts(seen[:, :num_squares], seen[:, half:][:, :num_squares]) @ weights["lines.weight"].T
    activations = np.concatenate([np.clip(total, 0, 1) ** 2 for total in sums], axis=1)
    output: NDArray[np.float32] = activations @ weights["output.weight"][0] + weights["output.bias"][0]
    return output


def piece_values(checkpoint: Checkpoint, game: Rules) -> dict[str, float]:
    """What the network thinks that a piece of each kind is worth, in units of its output's logit.

    The mean over the empty squares of the initial position of what one more piece adds there for the player to move.
    """
    info, weights = checkpoint.info, checkpoint.weights
    planes = PiecePlanes.of(info.planes)
    turned = seen_by_opponent(info.network.opponent_view, info.board_shape)
    own, other, occupied = features_of(planes, turned, game)
    num_squares = len(turned)
    weights = {**weights, "input.weight": input_weights(weights, planes, num_squares)}
    half = planes.num_features(num_squares) // 2
    lines = lines_of(info.network, info.board_shape)
    base = value_of(own[None], other[None], weights, lines)[0]
    empty = np.flatnonzero(~occupied)
    values = {}
    for index, kind in enumerate(planes.kinds):
        mine, theirs = np.repeat(own[None], len(empty), 0), np.repeat(other[None], len(empty), 0)
        rows = np.arange(len(empty))
        mine[rows, index * num_squares + empty] = True
        theirs[rows, half + index * num_squares + turned[empty]] = True
        added = value_of(mine, theirs, weights, lines) - base if len(empty) else np.zeros(1, np.float32)
        values[kind.name] = float(2 * added.mean())
    return values


def features_of(
    planes: PiecePlanes, turned: NDArray[np.int64], game: Rules, state: State | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """The features of a position, by default the initial one, as the player to move and as the other side sees them.

    Also which squares are occupied, for the player to move.
    """
    leaves = game.encode([game.initial_state() if state is None else state])
    bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")[0, :, : len(turned)].astype(np.bool_)
    numbers = leaves.constant_planes[0]

    def steps(place: int, divisor: int) -> NDArray[np.bool_]:
        return np.arange(1, divisor + 1) <= round(float(numbers[place]) * divisor)

    def side(own: bool, back: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
        squares = [bits[kind.own if own else kind.opponent][back] for kind in planes.kinds]
        counted = zip(planes.numbers, planes.divisors, strict=True)
        return squares + [steps(kind.own if own else kind.opponent, divisor) for kind, divisor in counted]

    same, back = np.arange(len(turned)), np.argsort(turned)
    mine = np.concatenate(side(True, same) + side(False, same))
    theirs = np.concatenate(side(False, back) + side(True, back))
    occupied = np.any([bits[kind.own] | bits[kind.opponent] for kind in planes.kinds], axis=0)
    return mine, theirs, occupied


def opponent_view(game: Rules, *, seed: int = 0) -> View:
    """How the opponent sees the board, found by random play: a move changes few pieces, so the others stay in view.

    Raises:
        SettingsError: the game has no planes of pieces.
    """
    planes = PiecePlanes.of([(plane.name, plane.is_constant) for plane in game.spec.planes])
    own, opponent = ([getattr(kind, side) for kind in planes.kinds] for side in ("own", "opponent"))
    errors = dict.fromkeys(VIEWS, 0)
    state, random = game.initial_state(), np.random.default_rng(seed)
    before = None
    for _ in range(PLIES_TO_SEE):
        leaves = game.encode([state])
        bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")[
            0, :, : int(np.prod(game.spec.board_shape))
        ]
        if before is not None and game.player(state) != before[1]:
            for view in VIEWS:
                back = np.argsort(seen_by_opponent(view, game.spec.board_shape))
                errors[view] += int((bits[opponent] != before[0][own][:, back]).sum())
        if game.outcome(state) is not None:
            break
        before = (bits, game.player(state))
        actions = game.legal_actions(state)
        state = game.play(state, actions[int(random.integers(len(actions)))])
    return min(VIEWS, key=lambda view: errors[view])
