"""A network without meaning, and what answers a search and its twin with it."""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from games_for_tests import DoubleMove
from search_twin import Estimate, ReferenceSearch
from zerosum import _core
from zerosum.games import Rules, State, adopt, make
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.search import SearchConfig
from zerosum.search.answering import back_up
from zerosum.search.config import Search

ALPHA = 1.3


PLAIN = SearchConfig(root_noise_alpha=ALPHA)


def fake_key(planes: np.ndarray, player: int, seed: int) -> int:
    return zlib.crc32(planes.tobytes()) * 1000 + 2 * seed + player


def fake_network(key: int, legal: Iterable[int]) -> tuple[list[float], Estimate]:
    """Logits of the legal actions and the rest, from a position's key: deterministic and without meaning."""
    logits = np.float32([4 * _core.uniform(key, action, 0, "logit") - 2 for action in legal])
    value = float(np.float32(2 * _core.uniform(key, 0, 1, "value") - 1))
    draw = float(np.float32(_core.uniform(key, 0, 1, "draw") * (1 - abs(value))))
    return logits.tolist(), Estimate(value, draw)


class FakeNetwork:
    """An evaluator that says what `fake_network` says, after a while that differs where that is asked for."""

    def __init__(self, seed: int, *, seconds: float = 0.0) -> None:
        self.seed, self.seconds = seed, seconds

    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes, offsets, legal = leaves.planes(), leaves.legal_offsets, leaves.legal_actions.tolist()
        logits: list[float] = []
        said = []
        for leaf, player in enumerate(leaves.players):
            key = fake_key(planes[leaf], int(player), self.seed)
            of_leaf, estimate = fake_network(key, legal[offsets[leaf] : offsets[leaf + 1]])
            logits += of_leaf
            said.append((estimate.value, estimate.draw))
        values, draws = np.float32(said).T.copy()
        wins = (1 + values - draws) / 2
        time.sleep(self.seconds * random.random())
        wdl = np.stack([wins, draws, 1 - wins - draws], axis=1)
        return Evaluations(leaves, np.float32(logits), values, wdl=wdl)


class Compiling:
    """An even-handed network that is compiled for 1, 4, 16 … positions when it is first asked about so many."""

    description = "compiled"

    def __init__(self) -> None:
        self.full_batch = 16
        self.sizes: list[int] = []
        """Sizes of all batches."""
        self.compiled: list[int] = []
        """The sizes that it was compiled for, in this order."""

    def batch_sizes(self, most: int) -> list[int]:
        sizes = [1]
        while sizes[-1] < most:
            sizes.append(4 * sizes[-1])
        return sizes

    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        raise NotImplementedError

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.sizes.append(len(leaves))
        if (size := self.batch_sizes(len(leaves))[-1]) not in self.compiled:
            self.compiled.append(size)
        return UniformEvaluator().evaluate(leaves)


class Recorder:
    """Answers a search's questions from the fake network; the positions of leaves are found by replaying the twin."""

    def __init__(self, game: Rules, seed: int, *, max_settled: int = 4096) -> None:
        self.game, self.seed, self.max_settled, self.num_evaluations = game, seed, max_settled, 0

    def answer(self, search: Search, max_leaves: int) -> int:
        while not len(leaves := search.gather(max_leaves, max_settled=self.max_settled)):
            if not leaves.budget_spent:
                return 0
        back_up(search, leaves, FakeNetwork(self.seed).evaluate(leaves))
        self.num_evaluations += len(leaves)
        return len(leaves)

    def finish(self, search: Search, max_leaves: int = 1 << 16) -> None:
        while self.answer(search, max_leaves):
            pass


def run_twin(twin: ReferenceSearch, seed: int, max_leaves: int = 1 << 16, *, max_settled: int = 4096) -> None:
    while True:
        paths = twin.gather(max_leaves, max_settled=max_settled)
        if not paths and not twin.budget_spent:
            return
        for path in paths:
            state = path[-1].state
            assert state is not None
            key = fake_key(twin.game.planes(state), twin.game.player(state), seed)
            twin.apply(path, *fake_network(key, twin.game.legal_actions(state)))


def random_position(game: Rules, generator: random.Random) -> State:
    """A position after some random moves that is not over."""
    while True:
        state = game.initial_state()
        for _ in range(generator.randrange(12)):
            legal = game.legal_actions(state)
            if not legal:
                break
            state = game.play(state, generator.choice(legal))
        if game.legal_actions(state):
            return state


GAMES = {
    "tictactoe": lambda: make("tictactoe"),
    "connect4": lambda: make("connect4"),
    "double": lambda: adopt(DoubleMove()),
}
