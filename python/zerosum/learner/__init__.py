"""From batches of positions to better weights, step by step.

`learner.py` makes the steps. `config.py` has the settings, `inputs.py` a batch on the device, `captured_step.py` a step
that a GPU repeats by itself, `report.py` what a step measures, `state.py` what a checkpoint keeps of the training.
"""

from zerosum.learner.config import LearnerConfig as LearnerConfig
from zerosum.learner.config import batch_targets as batch_targets
from zerosum.learner.config import learning_rate as learning_rate
from zerosum.learner.inputs import StepInputs as StepInputs
from zerosum.learner.learner import Learner as Learner
from zerosum.learner.report import StepReport as StepReport
from zerosum.learner.state import grown_state as grown_state
