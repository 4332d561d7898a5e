"""The data of runs for pages: curves, checkpoints, the newest games. Nothing is written.

A training may be in progress: files are read in their present state, and incomplete lines are left out.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import DataError, SettingsError, ZerosumError, command_text
from zerosum.base.files import read_bytes, require_own_files
from zerosum.base.holding import is_held
from zerosum.contest.elo import Rating
from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.games.short_names import short_name
from zerosum.network.checkpoint import list_checkpoints
from zerosum.play.analysis import win_rate
from zerosum.replay.journal import parse_journal
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.replay.shards import Manifest, read_manifest, read_shard
from zerosum.report.game_statistics import block_of
from zerosum.run.config import RunConfig, dump_config, load_config
from zerosum.run.config_words import budget_words, minutes_word
from zerosum.run.core_use import mean_use
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.mistakes import Mistakes, mean_rate
from zerosum.run.strength import Strength, player_name
from zerosum.web.boards import draw_board, move_cells, page_notation

MOST_POINTS = 300
MOST_GAMES = 40
MOST_JOURNAL_BYTES = 64 << 20
OPENING_SHARDS = 12
"""Shards whose openings are counted, evenly spread over the run."""
MOST_OPENINGS = 7
"""First moves that are told apart."""


def overview(runs: dict[str, Path]) -> list[dict[str, Any]]:
    """A line about each run."""
    found = []
    for label, directory in runs.items():
        try:
            config, rows = _read(directory)
            last = rows[-1] if rows else None
            found.append(
                {
                    "name": label,
                    "game": _game_name(config),
                    "step": last.step if last else 0,
                    "games": last.games if last else 0,
                    "minutes": round(last.minutes, 1) if last else 0,
                    "elo": _elo(last),
                    "live": is_held(directory),
                }
            )
        except ZerosumError as error:
            found.append({"name": label, "trouble": str(error)})
    return found


def curves(label: str, directory: Path) -> dict[str, Any]:
    """The figures of a run, thinned for drawing, and the verdict on it.

    Raises:
        DataError: the run is damaged.
    """
    config, rows = _read(directory)
    strength, mistakes = Strength(directory, None, config), Mistakes(directory, None, config)
    checkpoints = []
    for path in list_checkpoints(directory / "checkpoints"):
        step = int(path.stem.partition("-")[2])
        rating, rates = strength.ratings.get(player_name(step)), mistakes.of_step(step)
        minutes = next((row.minutes for row in rows if row.step >= step), rows[-1].minutes if rows else 0.0)
        checkpoints.append(
            {
                "step": step,
                "minutes": round(minutes, 2),
                "elo": None if rating is None else round(rating.elo, 1),
                "error": None if rating is None else round(rating.error, 1),
                "says": None if rating is None else str(rating),
                "mistakes": round(mean_rate(rates)[0], 4) if rates else None,
            }
        )
    last, use = rows[-1] if rows else None, mean_use(row.core_use for row in rows)
    return {
        "name": label,
        "game": _game_name(config),
        "budget": budget_words(config.training),
        "unit": minutes_word(config.training),
        "rows": [asdict(row) for row in _thinned(rows)],
        "checkpoints": checkpoints,
        "verdict": strength.verdict(),
        "cores": "" if use is None else use.summary(has_selfplay=config.training.source == "selfplay"),
        "left": _left(config, last),
        "live": is_held(directory),
        "command": command_text("train", config.game, "--run", directory),
    }


def settings(directory: Path) -> list[list[str]]:
    """The settings of a run as (name, value), such as `network.num_blocks`, in the order of its file.

    Raises:
        DataError: the run is damaged.
    """
    config, _ = _read(directory)
    return [[name, value] for name, value in _flat("", tomllib.loads(dump_config(config)))]


def _flat(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)


def figures(directory: Path) -> str:
    """All recorded figures of a run as CSV, a line each time they were recorded.

    Raises:
        DataError: the run is damaged.
    """
    _, rows = _read(directory)
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(MetricsRow)])
    writer.writeheader()
    for row in rows:
        writer.writerow({name: getattr(row, name) for name in writer.fieldnames})
    return text.getvalue()


def newest_games(directory: Path) -> list[dict[str, Any]]:
    """The newest finished games, the newest first."""
    return [
        {
            "id": record.game_id,
            "plies": record.num_plies,
            "outcome": record.outcome,
            "ending": record.ending,
            "opening": int(np.count_nonzero(record.plies["flags"] & PlyFlag.OPENING)),
            "step": int(record.plies["checkpoint_step"].max()) if record.num_plies else 0,
        }
        for record in _newest(directory, MOST_GAMES)
    ]


def one_game(game: Rules, directory: Path, number: int, ply: int) -> dict[str, Any]:
    """A position of a recorded game with the search's results.

    Raises:
        SettingsError: the game is not among the newest ones.
    """
    record = next((one for one in _newest(directory, MOST_GAMES) if one.game_id == number), None)
    if record is None:
        raise SettingsError(f"game {number} is not among the newest {MOST_GAMES} any more.")
    so_far = Playthrough.of(game, record.start, record.plies["action"].tolist())
    ply = min(max(ply, 0), len(so_far.actions))
    shown, thought = so_far.states[ply], None
    if ply < len(so_far.actions):
        of_ply = record.ply(ply)
        order = np.argsort(-of_ply.target["probability"], kind="stable")[:5]
        thought = {
            "rate": round(win_rate(of_ply.search_value), 4),
            "net": round(win_rate(of_ply.net_value), 4),
            "simulations": of_ply.num_simulations,
            "opening": bool(of_ply.flags & PlyFlag.OPENING),
            "moves": [
                {
                    "move": game.action_text(shown, int(of_ply.target["action"][index])),
                    "cells": move_cells(game, shown, int(of_ply.target["action"][index])),
                    "share": round(float(of_ply.target["probability"][index]), 4),
                    "visits": int(of_ply.target["visits"][index]),
                }
                for index in order
            ],
        }
    values = [
        round(win_rate(float(row["search_value"]) * (1 if row["player"] == 0 else -1)), 4) for row in record.plies
    ]
    last = (so_far.states[ply - 1], so_far.actions[ply - 1]) if ply else None
    return {
        "id": number,
        "board": draw_board(game, shown, last=last),
        "history": so_far.texts,
        "ply": ply,
        "mover": game.player(shown),
        "thought": thought,
        "values": values,
        "outcome": record.outcome,
        "ending": record.ending,
        "start": record.start,
    }


def openings(game: Rules, directory: Path, *, is_updatable: bool = False) -> dict[str, Any]:
    """The first moves of games that began without random moves, from the run's beginning to its end.

    `moves` are the most frequent ones, and each of `points` has the number of games before it and their shares.
    `is_updatable` as in `block_of`.
    """
    games, counted = directory / "games", []
    with contextlib.suppress(DataError, OSError):
        manifest = read_manifest(games)
        shards = manifest.shards
        last = len(shards) - 1
        for index in sorted({round(number * last / (OPENING_SHARDS - 1)) for number in range(OPENING_SHARDS)}):
            if 0 <= index <= last:
                seal = shards[index]
                moves = _first_moves(games / str(seal.shard), game.spec.max_plies, is_updatable)
                counted.append((seal.last_game_id, moves))
        if newest := _journalled(games / manifest.journal):
            moves = block_of(0, newest, game.spec.max_plies, is_updatable=is_updatable).first_moves
            counted.append((max(record.game_id for record in newest), moves))
    counted = [(number, moves) for number, moves in counted if moves]
    total: Counter[int] = sum((moves for _, moves in counted), start=Counter())
    shown = [action for action, _ in total.most_common(MOST_OPENINGS)]
    start = game.initial_state()
    return {
        "moves": [game.action_text(start, action, page_notation(game)) for action in shown],
        "points": [
            [number, [round(moves[action] / moves.total(), 4) for action in shown]] for number, moves in counted
        ],
    }


@functools.lru_cache(maxsize=1024)
def _first_moves(shard: Path, max_plies: int, is_updatable: bool) -> Counter[int]:
    """The first moves of a sealed shard, as the report of a run counts them."""
    return block_of(0, read_shard(shard), max_plies, is_updatable=is_updatable).first_moves


def _journalled(journal: Path) -> list[GameRecord]:
    """The finished games that are not sealed into a shard yet; none if their file is too large."""
    with contextlib.suppress(OSError):
        return list(parse_journal(read_bytes(journal, most_bytes=MOST_JOURNAL_BYTES)).finished)
    return []


def _read(directory: Path) -> tuple[RunConfig, list[MetricsRow]]:
    require_own_files(directory)
    return load_config(directory / "config.toml"), read_metrics(directory / "metrics.csv")


def _game_name(config: RunConfig) -> str:
    """The game of a run; one of one's own by its file without the directory, which is not run for its name."""
    return short_name(make(config.game)) if config.game.is_core else config.game.short


def _elo(row: MetricsRow | None) -> str | None:
    """The rating of a row in words; None if it has none."""
    if row is None or row.elo is None or row.elo_error is None:
        return None
    return str(Rating(row.elo, row.elo_error))


def _thinned(rows: Sequence[MetricsRow]) -> list[MetricsRow]:
    """At most `MOST_POINTS` rows, including the last one."""
    step = max(1, -(-len(rows) // MOST_POINTS))
    return [*rows[:-1:step], rows[-1]] if rows else []


def _left(config: RunConfig, last: MetricsRow | None) -> str:
    """The rest of the budget, in words."""
    if last is None:
        return ""
    if config.training.steps is not None:
        return f"{max(config.training.steps - last.step, 0):,} steps are left"
    return f"{max((config.training.minutes or 0.0) - last.minutes, 0):.1f} {minutes_word(config.training)} are left"


@functools.lru_cache(maxsize=4)
def _shard(path: Path) -> list[GameRecord]:
    """The games of a sealed shard. They are cached, because a shard never changes."""
    return read_shard(path)


def _newest(directory: Path, number: int) -> list[GameRecord]:
    """The newest finished and undamaged games."""
    games = directory / "games"
    try:
        manifest: Manifest = read_manifest(games)
    except DataError:
        return []
    found = _journalled(games / manifest.journal)
    for seal in reversed(manifest.shards):
        if len(found) >= number:
            break
        with contextlib.suppress(DataError, OSError):
            found = [*_shard(games / str(seal.shard)), *found]
    return found[::-1][:number]
