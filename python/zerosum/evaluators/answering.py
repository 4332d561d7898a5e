"""A search and an evaluator brought together: what the search asks is answered, a batch at a time or several at once.

`answer` is one round, as self-play and matches make them over many trees. `answer_all` runs a long search of few trees
to its end: while one batch is evaluated, the next is gathered. Batches are applied in the order in which they were
gathered, so what the search finds depends on how many there are and how large, and neither on the number of threads
nor on which of them is done first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from zerosum._core import Leaves, Search
from zerosum.base.errors import SettingsError
from zerosum.evaluators.evaluator import Evaluations, Evaluator


def answer(search: Search, evaluator: Evaluator, max_leaves: int) -> int:
    """One round of a search: gather up to `max_leaves` leaves, have them evaluated, back the answers up.

    Returns how many leaves there were; 0 means that no tree of the search has anything to ask.

    Raises:
        SettingsError: the search wants to know something that the evaluator does not say.
    """
    return len(answered(search, evaluator, max_leaves))


def answered(search: Search, evaluator: Evaluator, max_leaves: int) -> Leaves:
    """The same round, and the leaves themselves: which trees asked."""
    leaves = search.gather(max_leaves)
    if len(leaves):
        _back_up(search, leaves, evaluator.evaluate(leaves))
    return leaves


def answer_all(
    search: Search,
    evaluator: Evaluator,
    *,
    max_leaves: int,
    num_batches: int = 1,
    num_threads: int | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> int:
    """Answer a search until it has nothing more to ask, and return how many leaves there were.

    Args:
        search: At least one of its trees has begun.
        evaluator: Asked from `num_threads` threads at once.
        max_leaves: The most of a batch.
        num_batches: How many batches are with the evaluator at a time. The search's trees allow for so many leaves in
            flight, or batches are smaller.
        num_threads: Threads that wait for the evaluator, one a batch if not given.
        is_over: Asked before each batch. Once it says so no other is gathered, and those under way are applied.

    Raises:
        SettingsError: as `answer`.
    """
    num_leaves = 0
    if num_batches == 1:
        while not is_over() and (answered := answer(search, evaluator, max_leaves)):
            num_leaves += answered
        return num_leaves
    under_way: deque[tuple[Leaves, Future[Evaluations]]] = deque()
    with ThreadPoolExecutor(num_threads or num_batches) as pool:
        while True:
            while len(under_way) < num_batches and not is_over() and len(leaves := search.gather(max_leaves)):
                under_way.append((leaves, pool.submit(evaluator.evaluate, leaves)))
            if not under_way:
                return num_leaves
            leaves, evaluations = under_way.popleft()
            _back_up(search, leaves, evaluations.result())
            num_leaves += len(leaves)


def _back_up(search: Search, leaves: Leaves, said: Evaluations) -> None:
    if search.wants_moves_left and said.moves_left is None:
        raise SettingsError(
            "search.moves_left_effect is for networks with a moves-left head, and this one has none: set it to 0, or"
            " train with network.moves_left_head."
        )
    draws = None if said.wdl is None else np.ascontiguousarray(said.wdl[:, 1])
    assert leaves.ticket is not None
    search.apply(leaves.ticket, said.logits, said.values, draws=draws, moves_left=said.moves_left)
