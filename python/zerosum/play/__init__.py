"""Our player (`player.py`), its searches (`driver.py`, `background_search.py`) and a game in the terminal."""
