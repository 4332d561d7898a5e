"""The lock of those who capture CUDA graphs, evaluators and the learner."""

import threading

CAPTURING = threading.Lock()
"""Held during a capture, because a second one would fail: captures synchronise the device, which none may outlast."""
