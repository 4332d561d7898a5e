"""The command line: `zerosum train | play | uci | usi | gtp | match | ladder | analyse | web | games | …`.

Each command reads its arguments, calls the library and prints. It imports the library when it runs, so that `--help` is
quick. `application.py` has the application, `words.py` the shared arguments, and the other files the commands. `--help`
lists them in the order of the imports here.
"""

from zerosum.cli import interrupts as interrupts  # isort: skip
from zerosum.cli.application import app as app
from zerosum.cli.application import main as main

from zerosum.cli import training, clusters, capacity, engines, matches, tuning, records, runs  # isort: skip
from zerosum.cli import reports, analysis, web, rules, benches  # isort: skip

interrupts.raise_at_interrupt()

__all__ = [
    "analysis",
    "app",
    "benches",
    "capacity",
    "clusters",
    "engines",
    "main",
    "matches",
    "records",
    "reports",
    "rules",
    "runs",
    "training",
    "tuning",
    "web",
]
