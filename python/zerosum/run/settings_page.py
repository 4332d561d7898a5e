"""The page of all settings, docs/settings.md: `python -m zerosum.run.settings_page > docs/settings.md` writes it.

A test compares the page with the code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from zerosum._core import core_game_names
from zerosum.base.settings import describe
from zerosum.games import make
from zerosum.run.config import DEFAULT_MINUTES, SECTIONS
from zerosum.run.defaults import default_settings
from zerosum.run.presets import STRONGEST, preset_names, read_preset

PAGE_CORES = 2
"""Cores of the machine whose defaults the page has."""
GPU_CORES = 16
"""Cores beside the GPU of the page."""
GPU_BUDGETS = {"10 minutes": 10.0, "an hour": 60.0, "a night (8 hours)": 480.0}
GPU_GAMES = ("connect4", "othello", "chess", "shogi", "go9", "go19")
HEAD = """\
# Settings

The settings of a run, as in its `config.toml`. This page is generated from the code.

```console
$ zerosum train connect4 --set search.num_simulations=64 --set learner.batch_size=256
$ zerosum train connect4 --preset connect4 --dry-run
```

In Python: `zerosum.train("connect4", "runs/mine", settings={"search.num_simulations": 64})`. Settings that
are not given come from the preset, if one is named, then from the [game's size](#defaults-by-game), then from the
defaults below. `--dry-run` prints the settings of a run without starting it.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *_sections(), *_by_game(), *_on_a_gpu(), *_presets()]) + "\n"


def _sections() -> Iterator[str]:
    for section, config_type in SECTIONS.items():
        yield f"## {section}\n"
        yield "| setting | values | default | meaning |\n|---|---|---|---|"
        for setting in describe(config_type):
            yield f"| `{section}.{setting.name}` | {_cell(setting.type)} | {setting.default} | {_cell(setting.help)} |"
        yield ""


def _by_game() -> Iterator[str]:
    """A table of `default_settings` by game, with the columns in which games differ."""
    found = {
        name: _flat(default_settings(make(name), minutes=DEFAULT_MINUTES, num_cores=PAGE_CORES, num_gpus=0))
        for name in core_game_names()
    }
    # A setting that some games leave alone has its general default there.
    usual = {
        f"{section}.{setting.name}": setting.default
        for section, config_type in SECTIONS.items()
        for setting in describe(config_type)
    }
    given = dict.fromkeys(name for values in found.values() for name in values)
    columns = {name: [_number(values.get(name, usual[name])) for values in found.values()] for name in given}
    columns = {name: cells for name, cells in columns.items() if len(set(cells)) > 1}
    yield "## Defaults by game\n"
    yield (
        f"Without a preset these settings follow from the game's size, here for {DEFAULT_MINUTES:g} minutes on"
        f" {PAGE_CORES} cores of a CPU."
        " Your own game gets them in the same way: `--dry-run` prints them.\n"
    )
    yield f"| game | {' | '.join(f'`{name}`' for name in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for number, game in enumerate(found):
        yield f"| {game} | {' | '.join(cells[number] for cells in columns.values())} |"
    yield ""


def _on_a_gpu() -> Iterator[str]:
    """A table of the defaults that differ on a GPU, by game and budget."""
    yield "## Defaults on a GPU\n"
    yield (
        f"On a machine with a GPU a new run has a larger network and larger batches, here for one GPU and {GPU_CORES}"
        " cores. The rates of self-play behind them were measured on one NVIDIA H200"
        " ([RESULTS.md](../benches/RESULTS.md)); the sizes that they pay for, batches and learning rates are inferred"
        " ([gpu_defaults.py](../python/zerosum/run/gpu_defaults.py)). On a smaller GPU take a smaller network, or a"
        " larger budget. Games of more than 80 plies have no cache of evaluations (`search.cache_positions`). Presets"
        " with a game's name are made for two cores without a GPU.\n"
    )
    yield f"| game | {' | '.join(GPU_BUDGETS)} |"
    yield f"|---|{'---|' * len(GPU_BUDGETS)}"
    for game in GPU_GAMES:
        cells = [_gpu_words(game, minutes) for minutes in GPU_BUDGETS.values()]
        yield f"| {game} | {' | '.join(cells)} |"
    yield ""


def _gpu_words(game: str, minutes: float) -> str:
    found = default_settings(make(game), minutes=minutes, num_cores=GPU_CORES, num_gpus=1)
    network, search, learner = found["network"], found["search"], found["learner"]
    return (
        f"{network['num_blocks']}x{network['num_filters']}, {search['num_simulations']} simulations, batch"
        f" {learner['batch_size']}, rate {learner['learning_rate']:g}"
    )


def _presets() -> Iterator[str]:
    yield "## Presets\n"
    yield "`zerosum train GAME --preset NAME`; other settings keep the game's defaults.\n"
    for name in preset_names():
        values = read_preset(name)
        by_game, strongest = values.pop("games", {}), values.pop(STRONGEST, [])
        settings = ", ".join(f"`{key} = {_number(value)}`" for key, value in _flat(values).items())
        yield (
            f"- **{name}**: {settings}."
            + "".join(
                f" For {game}: {', '.join(f'`{key} = {_number(value)}`' for key, value in _flat(own).items())}."
                for game, own in by_game.items()
            )
            + (
                f" On a CPU it reached the strongest player of {', '.join(strongest)} ([log](log.md))."
                if strongest
                else ""
            )
        )


def _flat(values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{section}.{name}": value for section, entries in values.items() for name, value in entries.items()}


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 1000 else str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
