"""The loop between a search and an evaluator, with one or several batches at a time.

`answer` is one round, for the many trees of self-play and matches. `answer_all` runs a long search of few trees to its
end: while one batch is evaluated, the next is gathered. Batches are applied in the order in which they were gathered,
so the result depends on their number and size, but not on the number of threads or their speed. Before each `gather`
the caller can look at a clock. A `gather` lasts a few milliseconds, because it has a budget of simulations that need no
evaluation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from zerosum._core import Leaves, Search
from zerosum.network.evaluators.evaluator import Evaluations, Evaluator


def answer(search: Search, evaluator: Evaluator, max_leaves: int) -> int:
    """Gather up to `max_leaves` leaves of a search, have them evaluated, and back the answers up.

    Returns the number of leaves; 0 if all trees have finished. Until there is a leaf, any number of simulations without
    evaluation are made; `answer_all` looks at a clock between them.
    """
    while True:
        leaves = answered(search, evaluator, max_leaves)
        if len(leaves) or not leaves.budget_spent:
            return len(leaves)


def answered(search: Search, evaluator: Evaluator, max_leaves: int) -> Leaves:
    """Answer one `gather` and return its leaves. There may be none although trees have not finished."""
    leaves = search.gather(max_leaves)
    if len(leaves):
        back_up(search, leaves, evaluator.evaluate(leaves))
    return leaves


def answer_all(
    search: Search,
    evaluator: Evaluator,
    *,
    max_leaves: int | Callable[[int], int],
    num_batches: int = 1,
    is_over: Callable[[], bool] = lambda: False,
) -> int:
    """Answer a search until it has finished, and return the number of leaves.

    Args:
        search: At least one of its trees has begun.
        evaluator: Called from `num_batches` threads at once.
        max_leaves: Largest size of a batch, or a function of the number of leaves answered so far that returns it.
        num_batches: Number of batches in evaluation at a time. The trees must allow as many leaves in flight; otherwise
            batches are smaller.
        is_over: Called before each `gather`. If it returns True, the batches in evaluation are applied and the search
            ends.
    """
    num_leaves, most_leaves = 0, max_leaves if callable(max_leaves) else lambda _: max_leaves
    if num_batches == 1:
        while not is_over():
            leaves = answered(search, evaluator, most_leaves(num_leaves))
            num_leaves += len(leaves)
            if not len(leaves) and not leaves.budget_spent:
                break
        return num_leaves
    under_way: deque[tuple[Leaves, Future[Evaluations]]] = deque()
    with ThreadPoolExecutor(num_batches) as pool:
        while True:
            has_more = True
            while has_more and len(under_way) < num_batches and not is_over():
                leaves = search.gather(most_leaves(num_leaves))
                if len(leaves):
                    under_way.append((leaves, pool.submit(evaluator.evaluate, leaves)))
                else:
                    # Batches in evaluation may be worth more than simulations without evaluation.
                    has_more = leaves.budget_spent and not under_way
            if not under_way:
                return num_leaves
            leaves, evaluations = under_way.popleft()
            back_up(search, leaves, evaluations.result())
            num_leaves += len(leaves)


def back_up(search: Search, leaves: Leaves, evaluations: Evaluations) -> None:
    """Apply an evaluator's answers to a search's leaves."""
    draw_shares = None if evaluations.wdl is None else np.ascontiguousarray(evaluations.wdl[:, 1])
    assert leaves.ticket is not None
    search.apply(leaves.ticket, evaluations.logits, evaluations.values, draw_shares=draw_shares)
