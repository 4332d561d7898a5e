"""Failures inside a call of the core: arrays that change, Ctrl-C, and defects of the core as opposed to a game's."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove
from zerosum import _core
from zerosum.games import adopt
from zerosum.network.evaluators import UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer

UNIFORM = UniformEvaluator()


@pytest.fixture
def unhurried() -> Iterator[None]:
    """A thread keeps the interpreter lock until it waits for something."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("unhurried")
def test_an_answer_is_what_its_arrays_held_at_the_call() -> None:
    """Another thread that wrote a NaN between the check and the use made the search panic."""
    numbers = {"logits": np.zeros(3, np.float32), "values": np.zeros(1, np.float32)}
    others = {"draw_shares": np.full(1, 0.5, np.float32)}
    is_asked, is_applying = threading.Event(), threading.Event()

    class Spoils(DoubleMove):
        """Keeps the search until `apply` waits for it, without the interpreter lock."""

        def planes(self, state: Any) -> Any:
            if is_asked.is_set():
                while not is_applying.is_set():
                    time.sleep(0.001)
                for array in (numbers | others).values():
                    array.fill(np.nan)
            return super().planes(state)

    config = SearchConfig(root_noise_alpha=1.0, keep_draws=True)
    search = new_search(adopt(Spoils()), config, num_trees=2)
    search.begin(0, 1)
    first = search.gather(1)
    search.begin(1, 1)
    is_asked.set()
    other = threading.Thread(target=lambda: search.gather(1))
    other.start()
    is_applying.set()
    search.apply(first.ticket, **numbers, **others)  # type: ignore[arg-type]
    other.join()
    assert np.isnan(numbers["logits"]).all() and search.root(0).priors.tolist() == [np.float32(1 / 3)] * 3
    assert search.root(0).value == 0.0 and search.root(0).draw_share == 0.5


def panic() -> type[BaseException]:
    """The class of PyO3's exceptions for panics, which no module has by name."""
    with pytest.raises(BaseException, match="capacity overflow") as raised:
        _core.dirichlet_noise(0, 0, 0, 1.0, 1 << 62)
    return raised.type


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (panic(), "a fault of zerosum itself, not of the game"),
        (ValueError, "an error of the game's rules"),
        (KeyboardInterrupt, "an interrupt"),
    ],
)
def test_a_search_says_whose_fault_ended_it(error: type[BaseException], end: str) -> None:
    class Fails(DoubleMove):
        def play(self, state: Any, action: int) -> Any:
            raise error("at random")

    search = new_search(adopt(Fails()), SearchConfig(root_noise_alpha=1.0))
    search.begin(0, 100)
    answer(search, UNIFORM, 1)  # the root, from which no move is made yet
    with pytest.raises(BaseException, match="at random"):
        answer(search, UNIFORM, 1)
    with pytest.raises(RuntimeError, match=f"this search ended in {end}.*: make a new one"):
        search.gather(1)


LONG_CALLS = {
    "perft": "game.perft(game.initial_state(), 40)",
    "random_plies": "game.random_plies(1 << 62, 0)",
    "encode_again": "game.encode_again([game.initial_state()], (1 << 32) - 1)",
    "rollout_values": "game.encode([game.initial_state()]).rollout_values((1 << 32) - 1, 0)",
    "alpha_beta": "game.alpha_beta(game.initial_state(), depth=40, seed=0)",
}
# In a process of its own: an interrupt that comes a moment too late ends only that process, not the tests.
INTERRUPTED_CALL = """
import signal
from zerosum.games import make

game = make("chess")
signal.signal(signal.SIGVTALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05, 0.05)
    {call}
except KeyboardInterrupt:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of CPU time")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_ends_a_long_call(name: str) -> None:
    program = INTERRUPTED_CALL.format(call=LONG_CALLS[name])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted\n", "")
