"""What positions and games are worth, for people, in Python, and for other programs."""
