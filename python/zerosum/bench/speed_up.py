"""The speed-up of self-play by two cores over one, in three ways of using them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from zerosum.bench.figure import ROUNDS, median_ratio
from zerosum.bench.other_process import OtherProcess
from zerosum.bench.selfplay_slices import Playing, selfplay_process
from zerosum.games import Rules
from zerosum.run.config import RunConfig, changed

Play = Callable[[float], float]
"""Plays for some seconds, and returns the evaluations per second."""


def speed_ups(
    game: Rules, config: RunConfig, overrides: Sequence[str], playing: Playing, *, slice_s: float
) -> Iterator[tuple[str, float]]:
    """Metrics with the ratio of the evaluations per second of several workers to those of one, each with a core.

    The ways are: all workers of a run (`playing`), two workers of one process with a network each, and two processes
    with a worker each. The wall clock is used to detect threads that share a core; other work on the machine also
    lowers the ratios.
    """
    one_worker = changed(config, {"selfplay": {"num_workers": 1}})
    with Playing(game, one_worker) as one, Playing(game, one_worker, seed=1) as another:
        one.warm_up()
        another.warm_up()
        yield "speed_up", _ratio(_of(playing), _of(one), slice_s)
        yield "speed_up_two_networks", _ratio(_together(_of(one), _of(another)), _of(one), slice_s)
    settings = [*overrides, "selfplay.num_workers=1", f"selfplay.games_per_worker={config.selfplay.games_per_worker}"]
    with (
        selfplay_process(str(config.game), settings, seed=0) as first,
        selfplay_process(str(config.game), settings, seed=1) as second,
    ):
        both = _together(_of_process(first), _of_process(second))
        yield "speed_up_two_processes", _ratio(both, _of_process(first), slice_s)


def _ratio(several: Play, one: Play, seconds: float) -> float:
    return median_ratio((several(seconds), one(seconds)) for _ in range(ROUNDS))


def _of(playing: Playing) -> Play:
    return lambda seconds: playing.rates(seconds=seconds).evaluations.per_second


def _of_process(process: OtherProcess) -> Play:
    return lambda seconds: process.rate(seconds=seconds).per_second


def _together(*plays: Play) -> Play:
    """Play several at the same time."""

    def play(seconds: float) -> float:
        with ThreadPoolExecutor(len(plays)) as pool:
            return sum(future.result() for future in [pool.submit(one, seconds) for one in plays])

    return play
