"""A plan from the words of a command."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from zerosum._core import core_game_names
from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores, require_known
from zerosum.capacity import page
from zerosum.capacity.assumptions import assumed, figures_name, recorded
from zerosum.capacity.plan import CORES_A_GPU, Machine, Plan
from zerosum.capacity.work import searched_plies
from zerosum.evaluators.device import num_devices, uses_gpu
from zerosum.games import make
from zerosum.run.config import configured_game, game_name, new_config, preset_names


def plan_training(
    preset: str,
    game: str,
    *,
    gpus: int = 0,
    cpus: int | None = None,
    gpu: str = "a100",
    num_machines: int = 1,
    num_learners: int | None = None,
    seconds: float | None = None,
    price: float | None = None,
    minutes: float | None = None,
    overrides: Sequence[str] = (),
    assume: Sequence[str] = (),
    as_json: bool = False,
) -> str:
    """The plan of a training, as `zerosum plan` prints it.

    Args:
        preset: A preset's name, or "" for the game's defaults.
        game: The game, as `make` takes it; "" for the game of the preset's name.
        gpus: GPUs of a machine.
        cpus: Cores of a machine; if not given `CORES_A_GPU` for each GPU, and without GPUs those of this machine.
        gpu: Kind of GPU, a name of `gpu_kinds()`.
        num_machines: Number of machines.
        num_learners: Devices that learn; `learner.num_devices` if not given.
        seconds: Duration of measurements here; recorded figures are used if not given.
        price: Price of a machine for an hour.
        minutes: The budget, instead of the preset's.
        overrides: Settings, as `--set` has them.
        assume: Changed assumptions, `name=value`.
        as_json: Whether the text is one line of JSON.

    Raises:
        SettingsError: a name is unknown, a value is out of range, or what is to be measured is not here.
    """
    if not game and not preset:
        raise SettingsError("what to plan is missing: name a preset, such as go9, or a game by --game.")
    if not game and preset not in core_game_names():
        require_known("the preset", preset, tuple(preset_names()))
        raise SettingsError(f"the preset {preset!r} is not of one game: name one, such as --game chess.")
    name = game_name(game or preset)
    rules = make(name)
    if seconds is not None and bool(gpus) != uses_gpu():
        here = f"has {num_devices()} GPUs" if uses_gpu() else "has no GPU that torch can use"
        raise SettingsError(
            f"--measure measures this machine, which {here}, but the plan has --gpus {gpus}: leave out --measure, or"
            " run the same command on a machine of the plan."
        )
    config = new_config(
        rules, name, preset=preset, minutes=minutes, overrides=overrides, machine=(cpus or num_cores(), gpus)
    )
    rules = configured_game(rules, config)
    numbers = recorded(figures_name(rules.spec), plies=searched_plies(config, rules), gpu=gpu)
    if seconds is not None:
        from zerosum.capacity.measuring import measured

        numbers = measured(numbers, config, rules, seconds=seconds)
    numbers = assumed(numbers, assume)
    num_learners = num_learners or config.learner.num_devices
    if gpus and num_learners > gpus * num_machines:
        raise SettingsError(f"--learners is {num_learners}, but there are {gpus * num_machines} GPUs: give fewer.")
    # The settings check that a batch can be shared.
    learner = dataclasses.replace(config.learner, num_devices=num_learners)
    config = dataclasses.replace(config, learner=learner)
    usual_cpus = CORES_A_GPU * gpus if gpus and seconds is None else num_cores()
    machine = Machine(gpus, cpus or usual_cpus, num_machines, num_learners)
    plan = Plan.of(config, rules, machine, numbers.values)
    write = page.as_json if as_json else page.page
    return write(plan, numbers, price=price)
