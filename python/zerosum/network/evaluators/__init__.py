"""Evaluators of the search's leaves: uniform, rollouts, and networks on any device.

`evaluator.py` has the protocol, `answering.py` the loop between search and evaluator, `backends.py` the choice of a
library. Start with `Evaluator`.
"""

from zerosum.network.evaluators.answering import answer as answer
from zerosum.network.evaluators.answering import answer_all as answer_all
from zerosum.network.evaluators.backends import EvaluatorConfig as EvaluatorConfig
from zerosum.network.evaluators.backends import make_evaluator as make_evaluator
from zerosum.network.evaluators.evaluator import Evaluations as Evaluations
from zerosum.network.evaluators.evaluator import Evaluator as Evaluator
from zerosum.network.evaluators.evaluator import NetworkEvaluator as NetworkEvaluator
from zerosum.network.evaluators.evaluator import RolloutEvaluator as RolloutEvaluator
from zerosum.network.evaluators.evaluator import UniformEvaluator as UniformEvaluator

__all__ = [
    "Evaluations",
    "Evaluator",
    "EvaluatorConfig",
    "NetworkEvaluator",
    "RolloutEvaluator",
    "UniformEvaluator",
    "answer",
    "answer_all",
    "make_evaluator",
]
