"""States in games and searches that did not make them: read where board and numbering are the same, else refused."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove, Loop
from zerosum.games import Rules, State, adopt, make
from zerosum.search import SearchConfig, new_search


class WiderLoop(Loop):
    """The same by name, with another board."""

    board_shape = (Loop.board_shape[0], Loop.board_shape[1] + 1)


FAMILIES: list[dict[str, Rules]] = [
    {
        name: make(name)
        for name in ("chess", "chess960", "chess(policy=flat)", "minichess", "tictactoe", "gomoku(size=3)")
    },
    {f"{name}(size={size})": make(f"{name}(size={size})") for name in ("go", "hex", "gomoku") for size in (5, 7, 8)},
    {name: make(name) for name in ("nim", "nim(heaps=2-8)", "nim(heaps=16)", "nim(heaps=1-1-1-1-1-1)")},
    {f"breakthrough(size={size})": make(f"breakthrough(size={size})") for size in (4, 5, 8)},
    {
        "loop": adopt(Loop()),
        "double-move": adopt(DoubleMove()),
        "othello": make("othello"),
    },
]


def uses(game: Rules, state: State) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every way into a game or a search that a state has."""
    zero = np.zeros(1, np.int64)
    readers = "player legal_actions outcome ending is_soft_ending score material planes draw picture position_text"
    for name in (*readers.split(), "num_repetitions"):
        yield name, functools.partial(getattr(game, name), state)
    yield "play", lambda: game.play(state, 0)
    yield "action_text", lambda: game.action_text(state, 0)
    yield "action_text in a notation", lambda: game.action_text(state, 0, "san")
    yield "parse_action", lambda: game.parse_action(state, "a1")
    yield "alpha_beta", lambda: game.alpha_beta(state, depth=2, seed=0)
    yield "perft", lambda: game.perft(state, 2)
    yield "encode", lambda: game.encode([game.initial_state(), state])
    yield "encode_again", lambda: game.encode_again([state], 1)
    moves = np.zeros(0, np.uint16)
    yield "encode_plies", lambda: game.encode_plies(moves, np.zeros(2, np.int64), zero, zero, starts=[state])
    yield "reset", lambda: new_search(game, SearchConfig()).reset(0, state)


def random_state(game: Rules, generator: random.Random) -> State:
    state = game.initial_state()
    for _ in range(generator.randrange(12)):
        if not (legal := game.legal_actions(state)):
            break
        state = game.play(state, generator.choice(legal))
    return state


@pytest.mark.parametrize("family", FAMILIES, ids=[next(iter(family)) for family in FAMILIES])
def test_states_of_other_games_and_sizes_are_refused_with_a_sentence(family: dict[str, Rules]) -> None:
    generator = random.Random(15)
    for maker, other in itertools.permutations(family.values(), 2):
        state = random_state(maker, generator)
        for name, use in uses(other, state):
            with pytest.raises(ValueError, match="this state is of ") as raised:
                use()
            assert maker.spec.full_name in str(raised.value) and other.spec.full_name in str(raised.value), name


def test_a_game_of_the_same_name_and_another_board_is_named_by_its_size() -> None:
    state = adopt(Loop()).initial_state()
    with pytest.raises(
        ValueError, match=r"this state is of another \w+ \(version 1, .* squares, .* actions\), expected"
    ):
        adopt(WiderLoop()).play(state, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("go(size=9)", "go(size=9, komi=5.5, superko=simple)"),
        ("chess", "chess(history=1)"),
        ("tictactoe", "tictactoe(max_plies=5)"),
        ("gomoku(size=7)", "gomoku(size=7, exact_five=true)"),
        ("shogi", "shogi(entering_king=csa24)"),
        ("nim(heaps=3-4-5)", "nim(heaps=5-5-5, misere=true)"),
    ],
)
def test_options_that_change_neither_board_nor_numbering_share_states(one: str, other: str) -> None:
    generator = random.Random(1)
    for maker, user in itertools.permutations((make(one), make(other))):
        for _ in range(20):
            state = random_state(maker, generator)
            assert user.draw(state) == maker.draw(state) and user.player(state) == maker.player(state)
            search = new_search(user, SearchConfig())
            search.reset(0, state)
            assert user.draw(search.state(0)) == maker.draw(state)
            if user.legal_actions(state):
                user.play(state, user.legal_actions(state)[0])


def test_two_games_of_one_python_class_share_states() -> None:
    state = adopt(DoubleMove()).initial_state()
    assert adopt(DoubleMove()).legal_actions(state) == [0, 1, 2]
