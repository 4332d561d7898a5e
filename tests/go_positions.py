"""Positions of Go whose groups live, die or stand in seki, as their pictures in a line."""

SEKI = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXX1OOOO/XXXX1OOOO X"
"""Below, a chain of each colour inside the other's wall; who plays on E1 or E2 loses his."""

WALLS = "3XO2/3XO2/3XO2/3XO2/1O1XO2/3XO2/3XO2 X"
"""A wall of each colour, and a white stone behind Black's."""
