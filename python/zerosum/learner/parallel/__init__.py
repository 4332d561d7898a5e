"""A learner on several devices: a process for each device learns from an equal part of every batch.

`parallel_learner.py` is this side, with the methods of `zerosum.learner.Learner`; `device_learner.py` is a device's
side, `device_process.py` its process on this machine, and `messages.py` what passes between them.
"""

from zerosum.learner.parallel.parallel_learner import LearnerDevices as LearnerDevices
from zerosum.learner.parallel.parallel_learner import LearnerLostError as LearnerLostError
from zerosum.learner.parallel.parallel_learner import ParallelLearner as ParallelLearner
from zerosum.learner.parallel.parallel_learner import new_learner as new_learner
