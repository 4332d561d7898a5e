"""Our player: who it is (`player.py`), how it thinks for others (`engine.py`), the terminal in which people meet it."""
