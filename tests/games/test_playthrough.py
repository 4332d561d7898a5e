"""A game so far: its positions are those of the rules, and whatever is done to it makes another one."""

from __future__ import annotations

import random

import pytest

from zerosum.base.errors import GameError
from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.games.rules import start_state

NAMES = ("connect4", "chess", "go(size=5)", "shogi")


def random_game(game: Rules, seed: int, plies: int = 30) -> Playthrough:
    generator, so_far = random.Random(seed), Playthrough.of(game)
    while so_far.outcome is None and len(so_far.actions) < plies:
        so_far = so_far.play(generator.choice(game.legal_actions(so_far.state)))
    return so_far


@pytest.mark.parametrize("name", NAMES)
def test_every_way_to_a_game_is_the_rules_own(name: str) -> None:
    game = make(name)
    for seed in range(5):
        played = random_game(game, seed)
        state, players, texts = game.initial_state(), [], []
        for action in played.actions:
            players.append(game.player(state))
            texts.append(game.action_text(state, action))
            state = game.play(state, action)
        assert (played.players, played.texts) == (tuple(players), tuple(texts))
        read, replayed = Playthrough.read(game, texts), Playthrough.of(game, "", played.actions)
        for other in (played, read, replayed):
            assert other.actions == played.actions and other.outcome == game.outcome(state)
            assert [game.draw(one) for one in other.states] == [game.draw(one) for one in played.states]
            assert game.draw(other.state) == game.draw(state) and other.player == game.player(state)


def test_moves_are_taken_back_and_resignations_with_them() -> None:
    game = make("connect4")
    whole = Playthrough.read(game, ["4", "4", "3"])
    given_up = whole.resign()
    assert (given_up.resigned, given_up.outcome, whole.outcome) == (1, 1.0, None)
    back = given_up.back_to(1)
    assert (back.actions, back.outcome, back.resigned) == ((3,), None, None)
    assert back.state is whole.states[1] and back.before is back.start and back.back_to(0).before is None
    assert back.resign().outcome == 1.0 and back.back_to(0).resign().outcome == -1.0
    assert back.read_on(["1"]).texts == ("4", "1") and whole.actions == (3, 3, 2)


def test_a_start_is_a_position_or_its_text() -> None:
    game, text = make("tictactoe"), "3/3/OX1 X"
    by_text, by_state = Playthrough.read(game, ["c3"], text), Playthrough.read(game, ["c3"], start_state(game, text))
    assert game.draw(by_text.state) == game.draw(by_state.state) and by_text.players == (0,)
    for call in (
        lambda: Playthrough.read(game, ["a1", "b2"], text),
        lambda: Playthrough.of(game, text).read_on(["b1"]),
    ):
        with pytest.raises(GameError, match="^move 1: '(a1|b1)' is not a legal move here"):
            call()
