"""`train`: a training from nothing, or from where a run stopped, in a directory that holds all of it.

    runs/connect4/
        config.toml      every setting, asked for or default
        calibration.json how many games a worker plays at a time, as measured
        games/           finished games in Parquet shards, games in flight in a journal
        records/         imported games (`game_import.py`), in shards of the same kind
        checkpoints/     networks and the learner's state
        metrics.csv      a row every few seconds; tensorboard/ has the same rows as events
        strength.jsonl   rating games of the checkpoints
        store.json       the address of the run's copy in object storage, if it has one
        holder.lock      held by the process that trains
        stop             asks that process to end

`selfplay_training.py` learns from self-play, `record_training.py` from games that are there already.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError, printable
from zerosum.cluster import connected, require_answer, require_ray
from zerosum.games import Game, Rules
from zerosum.games.names import GameName
from zerosum.network.weights import policy_remark
from zerosum.run.config import RunConfig, asked_settings
from zerosum.run.config_words import budget_words, network_words, words_on_preset
from zerosum.run.given_game import GivenGame
from zerosum.run.initial_network import allow_network
from zerosum.run.record_training import RecordTraining, require_games
from zerosum.run.run_directory import hold, plan, stopped_by_request, write_config
from zerosum.run.run_plan import RunPlan
from zerosum.run.selfplay_training import SelfplayTraining
from zerosum.run.storage import mirrored, require_store

Report = Callable[[str], None]


def train(
    game: str | GameName | Game[Any] | Rules,
    run: str | Path,
    *,
    preset: str = "",
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    cluster: str = "",
    store: str = "",
    report: Report = print,
) -> signal.Signals | None:
    """Train an agent for a game in a run directory, from nothing or from where the run stopped.

    Args:
        game: A game's name, with options in brackets if any, or `path.py:Class`; an object of such a class, or what
            `zerosum.make` returned. An object whose class no other process can load, such as a class of a notebook,
            plays in this process alone.
        run: The run directory; made if it does not exist.
        preset: A preset's name, for a new run.
        minutes: The budget in minutes. A larger one continues a run that has used up its budget.
        steps: The budget in learner steps, instead of minutes.
        seed: Keys every random draw of a new run.
        settings: By name, {"search.num_simulations": 64}, or by section, {"search": {"num_simulations": 64}}.
        overrides: `section.name=value`, as on the command line; they take precedence over `settings`.
        cluster: Address of a Ray cluster that plays the games, `host:port` or `auto`; `local` for a new one on this
            machine. This process writes the run; the settings `cluster.*` say who learns and rates. "" for self-play
            in this process.
        store: Address of a copy of the run in object storage, `s3://BUCKET/PREFIX`, kept up to date during the
            training. "" for where the run was stored before, if anywhere; "none" to store it no longer.
        report: Gets the progress, line by line.

    Returns:
        The signal that stopped the training, which is saved and goes on by the same call; None if its budget is up, or
        if the file `stop` has ended it.

    Raises:
        ZerosumError: an error that the user can correct, in a sentence.
    """
    directory = Path(run)
    require_torch()

    def say(line: str) -> None:
        report(printable(line))  # a line may quote files of other people

    given = GivenGame.of(game)
    for doubt in given.doubts():
        report(f"DOUBT: {doubt} `zerosum check-game` shows more.")
    asked = asked_settings(minutes=minutes, steps=steps, seed=seed, overrides=overrides, settings=settings)

    def planned() -> RunPlan:
        return plan(directory, given.rules, given.name, preset=preset, asked=asked)

    # Refuse what can be refused before the directory is made.
    config = planned().config
    _require_cluster(config, cluster)
    require_games(directory, config)
    require_store(store)
    with hold(directory), _stop_on_signals() as stop, stopped_by_request(directory, stop):
        is_new = not (directory / "config.toml").exists()
        run_plan = planned()  # again, now that no other process can change the run
        config = run_plan.config
        write_config(directory, config)
        given.keep_source(directory, report=say)
        if note := allow_network(asked.get("training", {}).get("initial_network", "")):
            say(note)
        _describe(run_plan, say)
        if is_new and (words := words_on_preset(config, run_plan.game)):
            report(f"  {words}")
        repeatable = _repeatable_torch() if config.training.deterministic else contextlib.nullcontext()
        with mirrored(directory, store, report=say) as mirror, repeatable:
            if config.training.source == "selfplay":
                with connected(cluster) if cluster else contextlib.nullcontext() as connection:
                    SelfplayTraining(run_plan, say, stop, cluster=connection, mirror=mirror).run()
            else:
                RecordTraining(run_plan, say, stop).run()
        return stop.signal


def require_torch() -> None:
    """Check that PyTorch is installed, which playing can do without. Raises SettingsError."""
    if importlib.util.find_spec("torch") is None:
        raise SettingsError("train needs PyTorch, which is not installed: pip install 'zerosum[train]'.")


def _require_cluster(config: RunConfig, cluster: str) -> None:
    """Check that a run can be trained on a cluster, if it is to be. Raises SettingsError or RunError."""
    if not cluster:
        return
    training = config.training
    if training.deterministic:
        raise SettingsError("a deterministic run plays on one thread: leave out --cluster, or start another run.")
    if training.source != "selfplay":
        raise SettingsError(f"training.source is {training.source!r}, which plays no games: leave out --cluster.")
    if config.game.origin == "object":
        raise SettingsError(
            f"no other process can load {config.game.given_object}: for a cluster, name a class in a file,"
            " path.py:Class."
        )
    require_ray()
    require_answer(cluster)


def _describe(plan: RunPlan, report: Report) -> None:
    """Report the chosen settings."""
    config, game, directory = plan.config, plan.game, plan.directory
    network, training = config.network, config.training
    report(
        f"Learning {game.spec.full_name} in {directory} for {budget_words(training)}"
        + (f", preset {config.preset}" if config.preset else "")
        + (", deterministic." if training.deterministic else ".")
    )
    report(
        f"  network {network_words(network, plan.shape)};"
        f" {config.search.num_simulations} simulations a move;"
        f" learner {config.learner.optimizer}, batch {config.learner.batch_size}."
    )
    if training.initial_network:
        report(f"  it begins with the network {training.initial_network}.")
    if game.is_python and (remark := policy_remark(network, plan.shape)):
        report(f"  {remark}")
    report(f"  Every setting is in {directory / 'config.toml'}.")


@contextlib.contextmanager
def _repeatable_torch() -> Iterator[None]:
    """Make torch use algorithms that repeat bit for bit; on GPUs its default ones are quicker and do not."""
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS does not repeat, and torch refuses
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


class _Stop(threading.Event):
    """An event, and the signal that has set it."""

    signal: signal.Signals | None = None


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[_Stop]:
    """An event that Ctrl-C and SIGTERM set, to end the training cleanly; a second Ctrl-C ends it at once."""
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def set_stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, previous[signal.SIGINT])
        stop.signal = signal.Signals(number)
        stop.set()

    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in previous:
            signal.signal(number, set_stop)
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
