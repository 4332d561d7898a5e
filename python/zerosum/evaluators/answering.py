"""A search and an evaluator brought together: what the search asks is answered, a batch at a time or several at once.

`answer` is one round, as self-play and matches make them over many trees. `answer_all` runs a long search of few trees
to its end: while one batch is evaluated, the next is gathered. Batches are applied in the order in which they were
gathered, so what the search finds depends on how many there are and how large, and neither on the number of threads
nor on which of them is done first. A clock is looked at before each `gather`, which lasts a few milliseconds:
simulations that need no evaluation are counted there against a budget.
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
    """Gather up to `max_leaves` leaves of a search, have them evaluated, back the answers up.

    Returns how many leaves there were; 0 means that no tree of the search has anything to ask. Until there is a leaf,
    simulations that need none are run, however many these are: `answer_all` looks at a clock between them.

    Raises:
        SettingsError: the search wants to know something that the evaluator does not say.
    """
    while True:
        leaves = answered(search, evaluator, max_leaves)
        if len(leaves) or not leaves.budget_spent:
            return len(leaves)


def answered(search: Search, evaluator: Evaluator, max_leaves: int) -> Leaves:
    """One `gather`, answered, and the leaves themselves: which trees asked. None may ask, and yet have more to do."""
    leaves = search.gather(max_leaves)
    if len(leaves):
        back_up(search, leaves, evaluator.evaluate(leaves))
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
        is_over: Asked before each `gather`. Once it says so there is no other, and the batches under way are applied.

    Raises:
        SettingsError: as `answer`.
    """
    num_leaves = 0
    if num_batches == 1:
        while not is_over():
            leaves = answered(search, evaluator, max_leaves)
            num_leaves += len(leaves)
            if not len(leaves) and not leaves.budget_spent:
                break
        return num_leaves
    under_way: deque[tuple[Leaves, Future[Evaluations]]] = deque()
    with ThreadPoolExecutor(num_threads or num_batches) as pool:
        while True:
            has_more = True
            while has_more and len(under_way) < num_batches and not is_over():
                leaves = search.gather(max_leaves)
                if len(leaves):
                    under_way.append((leaves, pool.submit(evaluator.evaluate, leaves)))
                else:
                    # What is under way may be worth more than simulations that need no evaluation.
                    has_more = leaves.budget_spent and not under_way
            if not under_way:
                return num_leaves
            leaves, evaluations = under_way.popleft()
            back_up(search, leaves, evaluations.result())
            num_leaves += len(leaves)


def back_up(search: Search, leaves: Leaves, said: Evaluations) -> None:
    """Tell a search what an evaluator said of its leaves.

    Raises:
        SettingsError: the search wants to know something that the evaluator does not say.
    """
    if search.wants_moves_left and said.moves_left is None:
        raise SettingsError(
            "search.moves_left_effect is for networks with a moves-left head, and this one has none: set it to 0, or"
            " train with network.moves_left_head."
        )
    draws = None if said.wdl is None else np.ascontiguousarray(said.wdl[:, 1])
    assert leaves.ticket is not None
    search.apply(leaves.ticket, said.logits, said.values, draws=draws, moves_left=said.moves_left)
