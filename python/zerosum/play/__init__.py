"""Playing: the player (`player.py`) and the terminal in which people meet it (`terminal.py`)."""
