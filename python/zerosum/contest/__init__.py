"""Two players against each other, of any kind: clocks, early endings, ratings, and what a match says.

`clock.py` and `time_manager.py` are time, `adjudication.py` early endings, `elo.py` and `sprt.py` the statistics.
"""
