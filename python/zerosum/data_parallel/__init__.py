"""A learner on several devices: a process for each device learns from an equal part of every batch.

`parallel_learner.py` is this side, with the methods of `zerosum.learner.Learner`; `device_process.py` is a device's
side, and `messages.py` what passes between them.
"""

from zerosum.data_parallel.parallel_learner import ParallelLearner as ParallelLearner
from zerosum.data_parallel.parallel_learner import new_learner as new_learner
