"""What every test starts from: the same terminal and the same examples on every machine."""

import os

from hypothesis import settings

# Before anything reads them: help texts and errors have no colours and one width, in a terminal and in CI alike.
os.environ.update(COLUMNS="120", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1")
os.environ.pop("FORCE_COLOR", None)

# No test fails because a machine is slow or because today's random draw differs.
settings.register_profile("zerosum", deadline=None, derandomize=True)
settings.load_profile("zerosum")
