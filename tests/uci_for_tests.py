"""A client of the engine by UCI, and positions for it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from line_clients import LineClient
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluations

MATE_IN_ONE = "position fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
MATED = "position fen R5k1/5ppp/8/8/8/8/8/7K b - - 0 1"
FOOLS_MATE = "position startpos moves f2f3 e7e5 g2g4"
STALEMATE = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
COMMAND = (sys.executable, "-m", "zerosum", "uci")


def client(game: str = "chess", **more: Any) -> LineClient:
    return LineClient("uci", game, **more)


class NoEvaluator:
    """A network that fails from the first."""

    description, full_batch = "none", 16

    def batch_sizes(self, most: int) -> list[int]:
        return [1, most]

    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        raise ValueError("no network")

    def evaluate(self, leaves: Leaves) -> Evaluations:
        raise ValueError("no answer")
