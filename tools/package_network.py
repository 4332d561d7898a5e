"""Make a bundled network from a run: the newest checkpoint in float16, the settings and a card.

    python tools/package_network.py runs/connect4 --date 2026-11-22

The tool writes `python/zerosum/data/networks/connect4`, in place of an older one. The rating is the run's own of that
checkpoint, by games against the ladder's opponents; `--rating` and `--played` give another one, such as that of
`zerosum ladder`. `--exam` is a file with the output of `zerosum exam --json`, whose results go onto the card. The part
of `docs/networks.md` with the cards of all networks is written anew; without a run the tool does only that.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from zerosum.base.errors import DataError, ZerosumError
from zerosum.base.settings import FORMAT_VERSION, to_mapping
from zerosum.games import make
from zerosum.network.checkpoint import load_checkpoint, save_network
from zerosum.play.bundled import CARD, DIRECTORY, NetworkCard, bundled_networks, read_card
from zerosum.run.config import SECTIONS, RunConfig, load_config, new_config
from zerosum.run.config_words import minutes_word
from zerosum.run.metrics import read_metrics
from zerosum.run.strength import Strength, player_name

PAGE = Path(__file__).resolve().parents[1] / "docs" / "networks.md"
CARDS = "## The networks\n\n", "\n## Starting from a network\n"
"""What stands before and after the part of the page with the cards."""
MOST_COLUMNS = 110
"""Longest line of a command on the page, unless one word is longer."""
MOST_BYTES = 4_000_000
"""Largest size of a network in the package."""
NOT_SET = {"minutes", "steps", "seed", "source", "planes", "initial_network"}
"""Settings that the command does not have as `--set`; planes are options of the game's name."""
OF_THE_MACHINE = {"num_filters"}
"""Settings whose defaults depend on the machine, which the command always has."""


def package(
    run: Path, name: str, *, date: str, records: Sequence[str] = (), rating: str = "", played: str = "", exam: str = ""
) -> Path:
    """Write the network's folder; returns it.

    Raises:
        DataError: the run has no checkpoint, it began with a network that is not the package's or has another unit of
            its budget, or the network is too large for the package.
    """
    checkpoint, config = load_checkpoint(run), load_config(run / "config.toml")
    rows = read_metrics(run / "metrics.csv")
    if not checkpoint.info.step or not rows:
        raise DataError(f"{run} has not learned yet.")
    if (config.training.source == "records") != bool(records):
        needed = "name the commands that made them by" if not records else "do without"
        raise DataError(f"{run} learned from {config.training.source}: {needed} --records.")
    unit, seconds = minutes_word(config.training), 60 * rows[-1].minutes
    earlier, earlier_minutes = _initial_network(config, unit)
    own = Strength(run, None, config).ratings.get(player_name(checkpoint.info.step))
    card = NetworkCard(
        command=shlex.join(_command(config)),
        earlier=(*earlier, *records),
        date=date,
        budget=f"{rows[-1].minutes + earlier_minutes:.0f} {unit}",
        evaluations_per_second=round(checkpoint.info.training.get("evaluations", 0) / seconds),
        rating=rating or (f"Elo {own}" if own else ""),
        played=played or f"{config.strength.num_simulations or config.search.num_simulations} simulations a move",
        exam=exam,
    )
    target = DIRECTORY / name
    shutil.rmtree(target, ignore_errors=True)
    path = save_network(target / "checkpoints", checkpoint)
    (target / "config.toml").write_text(settings_text(config), encoding="utf-8")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in asdict(card).items()]
    (target / CARD).write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = path.with_suffix(".safetensors").stat().st_size
    if size > MOST_BYTES:
        raise DataError(f"the network has {size:,} bytes, but at most {MOST_BYTES:,} are allowed: take a smaller one.")
    return target


def exam_text(file: Path) -> str:
    """The results of an exam as the card has them, from the output of `zerosum exam --json`.

    Raises:
        DataError: the file cannot be read, or is something else.
    """
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return ", ".join(f"{row['part']} {row['right']} of {row['asked']}" for row in rows)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{file} is not the output of `zerosum exam --json`: {error}.") from error


def settings_text(config: RunConfig) -> str:
    """A `config.toml` with the settings that differ from the defaults, in all its sections."""
    lines = [f"format_version = {FORMAT_VERSION}", f"game = {json.dumps(str(config.game))}"]
    lines += [f"preset = {json.dumps(config.preset)}"] if config.preset else []
    for section, config_type in SECTIONS.items():
        defaults = {field.name: field.default for field in fields(config_type)}
        values = to_mapping(getattr(config, section))
        lines += ["", f"[{section}]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in values.items() if value != _plain(defaults[name])]
    return "\n".join(lines) + "\n"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _initial_network(config: RunConfig, unit: str) -> tuple[tuple[str, ...], int]:
    """The commands that made the network that the run began with, and the minutes that all of them took."""
    name = config.training.initial_network
    if not name:
        return (), 0
    if name not in (path.name for path in bundled_networks()):
        raise DataError(f"the run began with {name}, whose commands are unknown: begin with a bundled network.")
    card = read_card(DIRECTORY / name)
    minutes, theirs = card.budget.split()
    if theirs != unit:
        raise DataError(f"the run has a budget in {unit}, and the network {name} that it began with one in {theirs}.")
    return tuple(card.commands), int(minutes)


def _command(config: RunConfig) -> list[str]:
    """The words of the command that trains with these settings on this machine."""
    minutes = config.training.minutes
    words = ["zerosum", "train", str(config.game), *(["--preset", config.preset] if config.preset else [])]
    words += ["--steps", str(config.training.steps)] if minutes is None else ["--minutes", f"{minutes:g}"]
    initial = config.training.initial_network
    words += ["--from-network", initial] if initial else []
    words += ["--from-records"] if config.training.source == "records" else []
    begun = [f"training.initial_network={initial}"] if initial else []
    plain = new_config(make(config.game), config.game, preset=config.preset, minutes=minutes, overrides=begun)
    for section in SECTIONS:
        values, defaults = asdict(getattr(config, section)), asdict(getattr(plain, section))
        for name, value in values.items():
            if (value != defaults[name] or name in OF_THE_MACHINE) and name not in NOT_SET:
                words += ["--set", f"{section}.{name}={_text(value)}"]
    return words


def cards_text() -> str:
    """The cards of all networks as the page has them: a table, and the commands that made each."""
    rows, commands, exams = [], [], []
    for directory in bundled_networks():
        card = read_card(directory)
        speed = f"{card.evaluations_per_second:,}" if card.evaluations_per_second else "–"
        rows.append(f"| {directory.name} | {card.budget} | {speed} | {card.rating} | {card.played} | {card.date} |")
        exams += [f"| {directory.name} | {card.exam} |"] if card.exam else []
        lines = "".join(f"$ {_wrapped(command)}\n" for command in card.commands)
        commands.append(f"{directory.name}:\n\n```console\n{lines}```\n")
    sat = "Right answers in the [exams](exams.md), each at 800 simulations a move or in about the same time:\n\n"
    return (
        "| network | training | evaluations a CPU-second | rating | measured at | date of the code |\n"
        "|---|---|---|---|---|---|\n"
        + "\n".join(rows)
        + ("\n\n" + sat + "| network | exam |\n|---|---|\n" + "\n".join(exams) if exams else "")
        + "\n\nThe commands that made them:\n\n"
        + "\n".join(commands)
    )


def _wrapped(command: str) -> str:
    """A command in lines that end with a backslash, each with whole options."""
    options = re.split(r" (?=--)", command)
    lines = [options[0]]
    for option in options[1:]:
        if len(lines[-1]) + len(option) < MOST_COLUMNS:
            lines[-1] += f" {option}"
        else:
            lines.append(option)
    return " \\\n    ".join(lines)


def write_page() -> None:
    """Write the cards into the page in place of those that it has."""
    before, rest = PAGE.read_text(encoding="utf-8").split(CARDS[0])
    _, after = rest.split(CARDS[1])
    PAGE.write_text(before + CARDS[0] + cards_text() + CARDS[1] + after, encoding="utf-8")


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def main(arguments: Sequence[str] | None = None) -> None:
    """Package the run that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?", help="without a run the page is written anew, and nothing else")
    parser.add_argument("--name", default="", help="name of the folder (default: the game's)")
    parser.add_argument("--date", default="", help="date of the code that trained it, such as 2026-11-22")
    parser.add_argument(
        "--records",
        action="append",
        default=[],
        help="command that made its games, for a run that learned from records; may be repeated",
    )
    parser.add_argument("--rating", default="", help="rating on the game's ladder, such as 'Elo 1424 ± 100'")
    parser.add_argument("--played", default="", help="conditions of the rating, such as '200 simulations a move'")
    parser.add_argument("--exam", type=Path, help="output of `zerosum exam --json` for the network")
    asked = parser.parse_args(arguments)
    if asked.run is None:
        write_page()
        return
    if not asked.date:
        parser.error("a network needs --date")
    try:
        exam = exam_text(asked.exam) if asked.exam else ""
        name = asked.name or load_checkpoint(asked.run).info.game
        print(
            package(
                asked.run,
                name,
                date=asked.date,
                records=asked.records,
                rating=asked.rating,
                played=asked.played,
                exam=exam,
            )
        )
        write_page()
    except ZerosumError as error:
        sys.exit(f"package_network: {error}")


if __name__ == "__main__":
    main()
