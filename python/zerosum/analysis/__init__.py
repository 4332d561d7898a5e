"""Analyses of positions and games, for people, for Python and for other programs."""
