"""Evaluators of the search's leaves: uniform, rollouts, and networks on any device.

`evaluator.py` has the protocol, `backends.py` the choice of a library. Start with `Evaluator`.
"""

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
    "make_evaluator",
]
