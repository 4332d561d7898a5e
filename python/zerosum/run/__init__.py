"""A run: its settings, its directory, the schedule of self-play and learning, and what is said of it.

`training.py` is the loop, `config.py` the settings and presets, `defaults.py` what depends on the game and the budget,
`report.py` the words. Start with `train`.
"""
