"""The choice of a player in words, for the help of commands, tables of options, and messages; `choice.py` makes it."""

RANDOM = "random"
ROLLOUTS = "rollouts"
ALPHA_BETA = "alphabeta"
OWN_WORDS = (RANDOM, ALPHA_BETA, ROLLOUTS)
"""The words for our own players without a network."""
DEFAULT_PLAYER = "the newest run of the game, else the bundled network, else rollouts"
"""The player of a game if none is named."""
GAME_AS_PLAYER = "for its newest run, else the bundled network"
"""What a game means as the name of a player."""
