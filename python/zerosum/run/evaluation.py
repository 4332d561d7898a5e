"""The learned evaluation of a run's alpha-beta search, `evaluation.json` in its directory.

It is learned once, at the beginning of the run and as part of its budget, and then read back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably, writing
from zerosum.games import Rules
from zerosum.run.run_plan import RunPlan
from zerosum.selfplay.evaluation_learning import learn_evaluation, values_text
from zerosum.selfplay.piece_terms import LearnedWeights

FILE = "evaluation.json"


def run_evaluation(
    plan: RunPlan, *, report: Callable[[str], None], is_stopped: Callable[[], bool]
) -> LearnedWeights | None:
    """The evaluation of a run: read, or learned and saved. None if the run has no alpha-beta search or is stopped.

    Raises:
        DataError: the file is damaged or of another game.
        RunError: it cannot be written.
    """
    directory, game, config = plan.directory, plan.game, plan.config
    if not config.plays_alpha_beta:
        return None
    if (directory / FILE).exists():
        return read_evaluation(directory, game)
    num_nodes = config.selfplay.alphabeta_learning_nodes
    report(f"  Learning the values of pieces from games of {num_nodes:,} positions, from the rules alone.")
    learned = learn_evaluation(
        game, seed=config.training.seed, num_nodes=num_nodes, report=report, is_stopped=is_stopped
    )
    if learned is not None:
        with writing(directory):
            replace_durably(directory / FILE, learned.to_json())
        report(f"  Learned values: {values_text(learned.values)}.")
    return learned


def read_evaluation(directory: Path, game: Rules) -> LearnedWeights:
    """The evaluation that a run has learned. Raises DataError if the file is missing, damaged or of another game."""
    path = directory / FILE
    try:
        learned = LearnedWeights.of(json.loads(read_text(path, most_bytes=MOST_NOTE_BYTES)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is damaged ({error}): remove it, and the run learns its evaluation again.") from error
    learned.evaluation(game)
    return learned
