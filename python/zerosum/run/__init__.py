"""A run: its settings, its directory, the schedule of self-play and learning, and what is said of it.

`training.py` begins a training; `selfplay_training.py` and `record_training.py` are its loops. `config.py` has the
settings and presets, `defaults.py` what depends on the game and the budget, `report.py` the words. Start with `train`.
"""
