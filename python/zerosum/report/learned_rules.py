"""What a run that learns the rules knew of them, checkpoint by checkpoint, as a picture and a table.

`run/model_measures.py` and `run/search_measures.py` have the measures; `zerosum evaluate` prints those of one player.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zerosum.games import Rules
from zerosum.network import load_checkpoint
from zerosum.network.description import require_encoder
from zerosum.network.evaluators import EvaluatorConfig, make_evaluator
from zerosum.replay.records import GameRecord
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.probes import some_checkpoints
from zerosum.report.run_data import RunData
from zerosum.run.model_measures import ModelMeasure, measure_model
from zerosum.run.search_measures import NUM_POSITIONS, SearchMeasure, measure_searches

NUM_LINES = 96
DEPTHS = (1, 3, 10)
"""Depths of the curves."""
KINDS = {"played": "moves of its games", "policy": "moves drawn by the policy", "random": "random legal moves"}


@dataclass(frozen=True)
class Knowledge:
    """What a checkpoint knows of the rules."""

    step: int
    model: tuple[ModelMeasure, ...]
    search: SearchMeasure


def knowledge(run: RunData, game: Rules, records: Sequence[GameRecord]) -> list[Knowledge]:
    """Measure some checkpoints of a run, including the first and the last; none if it does not learn the rules.

    Raises:
        DataError: a checkpoint is damaged, or its encoding is not the game's.
    """
    if run.config.network.kind != "muzero":
        return []
    found = []
    search = replace(run.config.search, root_noise_fraction=0.0)
    for path in some_checkpoints(run):
        checkpoint = load_checkpoint(path)
        require_encoder(checkpoint.info, game.spec)
        evaluator = make_evaluator(checkpoint, EvaluatorConfig(), batch_size=NUM_POSITIONS, game=game)
        model = tuple(measure_model(game, checkpoint, records=records, num_lines=NUM_LINES))
        found.append(Knowledge(checkpoint.info.step, model, measure_searches(game, evaluator, search)))
    return found


def knowledge_picture(run: RunData, found: Sequence[Knowledge]) -> Picture | None:
    """Errors of the model and of searches by it, over the learner's steps."""
    if not found:
        return None
    drawn, (left, middle, right) = figure(3)
    steps = [one.step for one in found]
    for number, depth in enumerate(DEPTHS):
        words = f"after {depth} move{'s' if depth > 1 else ''}"
        for axes, name in ((left, "illegal_share"), (middle, "value_error")):
            values = [_at(one, "random", depth, name) for one in found]
            axes.plot(steps, values, color=COLOURS[number], marker="o", markersize=3, label=words)
    right.plot(steps, [one.search.illegal_share for one in found], color=COLOURS[0], marker="o", markersize=3,
               label="through an illegal move")  # fmt: skip
    right.plot(steps, [one.search.past_end_share for one in found], color=COLOURS[1], marker="o", markersize=3,
               label="past the end of the game")  # fmt: skip
    titles = ("policy on illegal moves", "value: distance from the real position's", "simulations where no game is")
    for axes, title in zip((left, middle, right), titles, strict=True):
        axes.set(xlabel="learner steps", title=title, ylim=(0, None))
        axes.legend(fontsize=7)
    return picture(
        drawn,
        f"The rules as {run.name} knows them",
        "Left and middle: the network's hidden states after random legal moves, beside its own answer in the real"
        " position, where the error is 0. Right: simulations of searches from positions of random games.",
    )


def knowledge_rows(newest: Knowledge) -> tuple[list[str], list[list[str]]]:
    """The newest checkpoint's model, kind of moves by depth: a table's head and rows."""
    head = ["moves", "depth", "lines", "policy on illegal moves", "value's error", "same best move", "error at an end"]
    head += ["error to the result", "in the real position"]
    return head, [
        [
            KINDS[one.moves],
            str(one.depth),
            f"{one.num_lines:,}",
            f"{one.illegal_share:.2%}",
            f"{one.value_error:.3f}",
            f"{one.agreement:.1%}",
            *(_number(value) for value in (one.end_error, one.result_error, one.real_result_error)),
        ]
        for one in newest.model
    ]


def _at(one: Knowledge, kind: str, depth: int, name: str) -> float:
    """A measure; NaN, which is not drawn, if no line is so long."""
    found = [getattr(measure, name) for measure in one.model if (measure.moves, measure.depth) == (kind, depth)]
    return found[0] if found else math.nan


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
