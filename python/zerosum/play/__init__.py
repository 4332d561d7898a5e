"""Playing: the player (`player.py`), the terminal in which people meet it (`terminal.py`), and time.

`clock.py` knows time controls and keeps the clocks, `time_manager.py` how long to think.
"""
