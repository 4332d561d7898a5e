"""Contests of two players of any kind: clocks, early endings, ratings and statistics of matches.

`clock.py` and `time_manager.py` handle time, `adjudication.py` early endings, `elo.py` and `sprt.py` statistics.
"""
