"""What the page saves it opens again: random games of every kind, in every format, by the table and by Analyse.

`ZEROSUM_SAVED_GAMES=50` plays so many games of each kind instead of three.
"""

from __future__ import annotations

import os
import random

import pytest

from zerosum._core import core_game_names
from zerosum.web.library import Library
from zerosum.web.study import Study
from zerosum.web.table import Table

GAMES = int(os.environ.get("ZEROSUM_SAVED_GAMES", "3"))
MOST_PLIES = 120


def random_table(library: Library, name: str, draw: random.Random) -> Table:
    """A game between two people, played to a random ply or to its end; some are resigned."""
    table = Table(library.game(name), people=frozenset({0, 1}))
    for _ in range(draw.randint(1, MOST_PLIES)):
        if table.is_over:
            return table
        table.play(draw.choice(table.game.legal_actions(table.state)))
    if draw.random() < 0.3 and not table.is_over:
        table.resign()
    return table


@pytest.mark.parametrize("name", core_game_names())
def test_a_saved_game_is_opened_again(name: str) -> None:
    library, draw = Library([]), random.Random(name)
    for _ in range(GAMES):
        table = random_table(library, name, draw)
        for format in table.formats():
            study = Study.opened(library, text=table.text(format))
            assert not study.record.warnings, (format, table.text(format))
            assert study.actions == list(table.so_far.actions) and study.game.spec.name == table.game.spec.name
            assert study.states[-1] == table.state or format != "txt"
            assert study.game.position_text(study.states[-1]) == table.game.position_text(table.state)
        link = table.link()
        again = Table(
            library.game(link["game"]),
            people=frozenset({0, 1}),
            moves=link["moves"].split(),
            resigned=link.get("resigned"),
        )
        assert (again.so_far.actions, again.sentence(), again.text(again.formats()[0])) == (
            table.so_far.actions,
            table.sentence(),
            table.text(table.formats()[0]),
        )
