"""Probes of checkpoints without games: first moves, values of pieces, and the effect of more simulations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, start_state
from zerosum.games.piece_kinds import piece_kinds
from zerosum.games.rules import Leaves
from zerosum.network import load_checkpoint
from zerosum.network.description import require_encoder
from zerosum.network.evaluators import EvaluatorConfig, NetworkEvaluator, make_evaluator
from zerosum.play.player import Player
from zerosum.play.search_tree import SearchStage, search_stages
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.report.run_data import RunData

MOST_CHECKPOINTS = 10
MOST_POSITIONS = 2000
"""Most positions from games for the values of pieces."""
BATCH_SIZE = 256
MOST_SIMULATIONS = 10_000
"""Largest number of simulations of a search by default; figure 4 of AlphaZero's paper (Science 2018) goes to 10^6."""
MOST_VALUE = 0.98


@dataclass(frozen=True)
class Probe:
    """The output of a checkpoint's network without a search."""

    step: int
    first_moves: dict[str, float]
    """The probability of each legal move in the initial position."""
    value: float
    """Value of the initial position, for the player to move."""
    pieces: dict[str, float]
    """Increase of the value near an even position by one more piece, by kind; empty for games without kinds."""


def probe(run: RunData, game: Rules, records: Sequence[GameRecord]) -> list[Probe]:
    """Probe some checkpoints of a run, including the first and the last. `records` are games with typical positions.

    Raises:
        DataError: a checkpoint is damaged, or its encoding is not the game's.
    """
    start = _start(game)
    positions = _positions(game, records)
    kinds = piece_kinds(game)
    counts = None if positions is None or len(kinds) < 2 else _counts(positions, kinds)
    found: list[Probe] = []
    evaluator: NetworkEvaluator | None = None
    for path in some_checkpoints(run):
        checkpoint = load_checkpoint(path)
        require_encoder(checkpoint.info, game.spec)
        if evaluator is None:
            config = EvaluatorConfig(run.config.training.backend)
            evaluator = make_evaluator(checkpoint, config, batch_size=BATCH_SIZE, game=game)
        else:
            evaluator.update(checkpoint)
        answers = evaluator.evaluate(start)
        shares = np.exp(answers.logits - answers.logits.max())
        shares /= shares.sum()
        state = game.initial_state()
        texts = [game.action_text(state, int(action)) for action in start.legal_actions]
        pieces = {}
        if positions is not None and counts is not None:
            values = evaluator.evaluate(positions).values
            pieces = _worth(values, counts, [name for name, _, _ in kinds])
        found.append(
            Probe(
                checkpoint.info.step,
                dict(zip(texts, shares.tolist(), strict=True)),
                float(answers.values[0]),
                pieces,
            )
        )
    return found


def some_checkpoints(run: RunData) -> list[Path]:
    """At most `MOST_CHECKPOINTS` checkpoints of a run, evenly spread, the first and the last among them."""
    paths = [path for path in run.checkpoints if path.exists()]
    numbers = dict.fromkeys(np.linspace(0, len(paths) - 1, min(len(paths), MOST_CHECKPOINTS)).round().astype(int))
    return [paths[number] for number in numbers]


def _start(game: Rules) -> Leaves:
    nothing = np.empty(0, np.uint16), np.array([0, 0]), np.array([0]), np.array([0])
    return game.encode_plies(*nothing)


def _positions(game: Rules, records: Sequence[GameRecord]) -> Leaves | None:
    """Positions of games after their openings, evenly spread."""
    pairs = [
        (number, ply)
        for number, record in enumerate(records)
        for ply in np.flatnonzero((record.plies["flags"] & int(PlyFlag.OPENING)) == 0).tolist()
    ]
    if not pairs:
        return None
    chosen = [pairs[int(at)] for at in np.linspace(0, len(pairs) - 1, min(len(pairs), MOST_POSITIONS))]
    games, plies = np.array(chosen, np.int64).T
    return game.encode_plies(
        np.concatenate([record.plies["action"] for record in records]),
        np.cumsum([0, *(record.num_plies for record in records)], dtype=np.int64),
        np.ascontiguousarray(games),
        np.ascontiguousarray(plies),
        starts=[start_state(game, record.start) if record.start else None for record in records],
    )


def _counts(leaves: Leaves, kinds: list[tuple[str, int, int]]) -> NDArray[np.float64]:
    """[B, kinds], the mover's number of pieces of each kind less the opponent's."""
    planes = leaves.planes().sum(axis=(2, 3), dtype=np.float64)
    return np.stack([planes[:, own] - planes[:, other] for _, own, other in kinds], axis=1)


def _worth(values: NDArray[np.float32], counts: NDArray[np.float64], names: list[str]) -> dict[str, float]:
    """Least-squares fit of the value's artanh to the counts and a constant for the right to move."""
    target = np.arctanh(np.clip(values.astype(np.float64), -MOST_VALUE, MOST_VALUE))
    is_there = np.abs(counts).sum(axis=0) > len(counts) / 50  # rarely unequal kinds cannot be fitted
    if not is_there.any():
        return {}
    design = np.concatenate([counts[:, is_there], np.ones((len(counts), 1))], axis=1)
    solution, *_ = np.linalg.lstsq(design, target, rcond=None)
    kept = [name for name, there in zip(names, is_there, strict=True) if there]
    return dict(zip(kept, solution[:-1].tolist(), strict=True))


def thinking(run: RunData, game: Rules, *, most_simulations: int = MOST_SIMULATIONS) -> list[SearchStage]:
    """One search of the initial position by the newest checkpoint, seen after 10^2, 10^3, … simulations.

    Args:
        run: The run.
        game: Its rules.
        most_simulations: The search ends before the first power of ten above this number.
    """
    if not run.checkpoints:
        return []
    path: Path = run.checkpoints[-1]
    checkpoint = load_checkpoint(path)
    require_encoder(checkpoint.info, game.spec)
    evaluator = make_evaluator(checkpoint, EvaluatorConfig(run.config.training.backend), batch_size=16, game=game)
    player = Player(game, evaluator, run.config.search, name=f"step {checkpoint.info.step}")
    counts = [10**power for power in range(2, 7) if 10**power <= most_simulations]
    return list(search_stages(player, game.initial_state(), counts))
