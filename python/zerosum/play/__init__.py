"""Our player (`player.py`), the driver of its searches (`driver.py`), an engine (`engine.py`) and a terminal game."""
