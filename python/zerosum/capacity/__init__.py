"""A capacity plan: how long a training takes on given machines, what limits it, and what it costs.

`assumptions.py` has every number that a plan is made of, `measuring.py` measures them here, `work.py` counts the work
of a game, `plan.py` divides it among machines, `page.py` writes the plan for people, and `command.py` makes a plan of
the words of a command. The formulas are in docs/capacity.md.
"""
