"""Stress test: thousands of swaps of networks and starts of trainings. No process may die by a signal that it handles.

    python tools/stress_evaluators.py --swaps 10000 --starts 1000

Swaps: in one process two threads evaluate positions of tic-tac-toe while the main thread brings one
network after the other. After every `SWAPS_AN_EVALUATOR` swaps another evaluator takes over, made in this thread or in
a new one while the old one still answers. A timer's signal interrupts the process every two milliseconds. Every answer
must come from one of the networks.

Starts: `zerosum train` begins or goes on with a tiny training and gets Ctrl-C's signal at a random moment, from the
start of Python on. Several trainings at a time (`--jobs`) are the load.

The summary counts the endings. Exit status 1 if a process died, an answer was wrong or an ending was not clean.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.evaluators import EvaluatorConfig, NetworkEvaluator, make_evaluator

GAME = "tictactoe"
NETWORK = NetworkConfig(num_blocks=1, num_filters=8)
NUM_NETWORKS = 4
NUM_THREADS = 2
SWAPS_AN_EVALUATOR = 20
SECONDS_A_SIGNAL = 0.002
SECONDS_AN_EVALUATION = 0.001
SETTINGS = (
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.num_simulations=12",
    "learner.batch_size=16",
    "selfplay.games_per_worker=6",
    "selfplay.num_workers=2",
    "training.steps_per_phase=2",
    "training.num_checkpoints=3000",
    "training.min_positions=50",
)
SHARE_BEGUN = 0.7
"""Share of trainings that are stopped after they began; the others are stopped after the process began."""
LONGEST_RUN_S = 2.0
"""Until Ctrl-C."""
LONGEST_END_S = 120.0
CLEAN, AT_START = "clean", "clean, before the command began"


# ---- swaps, in a process of their own


class Swaps:
    """Threads that evaluate while their evaluator changes."""

    def __init__(self, backend: str, seed: int) -> None:
        """Make the networks and their reference answers, by undisturbed evaluators."""
        self._backend, self._random = backend, random.Random(seed)
        game = make(GAME)
        self._leaves = random_leaves(game, 4)
        info = CheckpointInfo.describe(game.spec, NETWORK, step=0)
        self._checkpoints = [
            Checkpoint(info, initial_weights(NETWORK, info.shape, seed=i)) for i in range(NUM_NETWORKS)
        ]
        for checkpoint in self._checkpoints:  # a new network says nothing of moves
            weights = checkpoint.weights["policy_out.weight"]
            weights += np.random.default_rng(seed).normal(size=weights.shape)
        self._evaluator = self._made(self._checkpoints[0])
        self._answers = [self._answer(self._made(checkpoint)) for checkpoint in self._checkpoints]
        self._is_over = threading.Event()
        self.num_evaluations = self.num_wrong = self.num_signals = 0

    def _made(self, checkpoint: Checkpoint) -> NetworkEvaluator:
        return make_evaluator(checkpoint, EvaluatorConfig(self._backend, "cpu"), num_threads=NUM_THREADS, batch_size=4)

    def _answer(self, evaluator: NetworkEvaluator) -> NDArray[np.float32]:
        evaluations = evaluator.evaluate(self._leaves)
        return np.concatenate([evaluations.logits, evaluations.values])

    def _evaluate(self) -> None:
        while not self._is_over.is_set():
            answer = self._answer(self._evaluator)
            self.num_wrong += not any(np.allclose(answer, known, atol=1e-3) for known in self._answers)
            self.num_evaluations += 1
            time.sleep(SECONDS_AN_EVALUATION)  # most of the time is the swaps'

    def _replace(self) -> None:
        self._evaluator = self._made(self._random.choice(self._checkpoints))

    def run(self, num_swaps: int) -> None:
        """Swap so many times."""

        def count(*_: object) -> None:
            self.num_signals += 1

        signal.signal(signal.SIGALRM, count)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_A_SIGNAL, SECONDS_A_SIGNAL)
        threads = [threading.Thread(target=self._evaluate) for _ in range(NUM_THREADS)]
        for thread in threads:
            thread.start()
        for swap in range(1, num_swaps + 1):
            if swap % SWAPS_AN_EVALUATOR:
                self._evaluator.update(self._random.choice(self._checkpoints))
            elif self._random.random() < 0.5:
                self._replace()
            else:
                maker = threading.Thread(target=self._replace)
                maker.start()
                maker.join()
            if swap % 1000 == 0:
                print(f"{swap:,} swaps, {self.num_evaluations:,} evaluations, {self.num_signals:,} signals", flush=True)
        self._is_over.set()
        for thread in threads:
            thread.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.num_wrong:
            sys.exit(f"{self.num_wrong} answers are of no network.")


# ---- starts and stops


def start_and_stop(run: Path, backend: str, *, is_begun: bool, moment_s: float) -> str:
    """The ending of a training that gets Ctrl-C's signal some seconds after its start, or after its first message."""
    settings = [word for setting in (*SETTINGS, f"training.backend={backend}") for word in ("--set", setting)]
    words = ["train", GAME, "--run", str(run), *([] if (run / "config.toml").exists() else settings)]
    with tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen(
            [sys.executable, "-m", "zerosum", *words], stdout=subprocess.PIPE, stderr=error, text=True
        )
        assert process.stdout is not None
        if is_begun:
            process.stdout.readline()
        time.sleep(moment_s)
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=LONGEST_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return "did not end"
        error.seek(0)
        said = error.read()
    if process.returncode < 0 and process.returncode != -signal.SIGINT:
        return f"signal {-process.returncode}"
    if process.returncode == -signal.SIGINT or ("Traceback" in said and "application.py" not in said):
        return AT_START  # Python and its modules were still being loaded
    if "Traceback" in said:
        print(said, flush=True)
        return "traceback"
    return CLEAN


def start_many(directory: Path, backend: str, num_starts: int, num_jobs: int, seed: int) -> Counter[str]:
    """The endings of many starts, with one run per job."""
    endings: Counter[str] = Counter()

    def job(number: int) -> None:
        drawn = random.Random(f"{seed} {number}")
        for _ in range(number, num_starts, num_jobs):
            is_begun, moment_s = drawn.random() < SHARE_BEGUN, drawn.uniform(0, LONGEST_RUN_S)
            endings[start_and_stop(directory / f"run-{number}", backend, is_begun=is_begun, moment_s=moment_s)] += 1
            if endings.total() % 20 == 0:
                print(f"{endings.total()} starts: {dict(endings)}", flush=True)

    with ThreadPoolExecutor(num_jobs) as pool:
        list(pool.map(job, range(num_jobs)))
    return endings


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swaps", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--backend", choices=("openvino", "torch"), default="openvino")
    parser.add_argument("--jobs", type=int, default=4, help="trainings at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_this_process:
        faulthandler.enable()
        Swaps(options.backend, options.seed).run(options.swaps)
        return
    # A shell's background jobs begin with this signal ignored, and so would the trainings.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = False
    if options.swaps:
        words = [sys.executable, __file__, "--in-this-process", "--swaps", str(options.swaps)]
        words += ["--backend", options.backend, "--seed", str(options.seed)]
        status = subprocess.run(words, check=False).returncode
        print(f"{options.swaps:,} swaps: " + ("clean" if status == 0 else f"exit status {status}"))
        failed |= status != 0
    if options.starts:
        with tempfile.TemporaryDirectory() as directory:
            endings = start_many(Path(directory), options.backend, options.starts, options.jobs, options.seed)
        print(f"{options.starts:,} starts and stops: {dict(endings)}")
        failed |= endings[CLEAN] + endings[AT_START] != options.starts
    sys.exit(failed)


if __name__ == "__main__":
    main()
