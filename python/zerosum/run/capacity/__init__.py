"""A capacity plan: how long a training takes at rates that were measured, beside the paper's own runs.

`rates.py` reads or measures the rates, `plan.py` makes the plan of them, and `paper.py` has the paper's runs.
"""
