"""Dead stones: GNU Go's verdict on its own games, positions that people know, and what is sure."""

from __future__ import annotations

import random

import pytest

import oracle_go
from go_positions import SEKI, WALLS
from zerosum.games import Rules, State, make, parse_action
from zerosum.notation.go_status import judge
from zerosum.notation.go_words import vertex_of

NUM_GAMES_HELD = 10


def played_by_gnugo(engine: oracle_go.GnuGo, game: Rules, seed: int) -> State:
    """A game with a few random moves ahead, played to its end."""
    draw, state, text = random.Random(seed), game.initial_state(), ""
    engine.ask("clear_board")
    while game.ending(state) is None:
        colour = "bw"[game.player(state)]
        if state.plies < 6:
            action = draw.choice(game.legal_actions(state)[:-1])
            engine.ask(f"play {colour} {game.action_text(state, action)}")
        else:
            text = engine.ask(f"genmove {colour}")
            action = parse_action(game, state, text)
        state = game.play(state, action)
    return state


def test_gnugo_says_the_same_of_its_games() -> None:
    """The dead stones, and the score by Japanese rules, prisoners included."""
    if oracle_go.GNUGO is None:
        pytest.skip("GNU Go is not installed")
    game = make("go(size=9, rules=japanese, max_plies=400)")
    engine = oracle_go.GnuGo(["--japanese-rules", "--level", "1", "--seed", "1"])
    engine.ask("boardsize 9")
    engine.ask("komi 6.5")
    same = num_dead = 0
    try:
        for seed in range(NUM_GAMES_HELD):
            state = played_by_gnugo(engine, game, seed)
            judged = judge(game, state)
            dead = {vertex_of(9, point) for point in judged.dead}
            expected = engine.ask("final_score")
            score = float(expected[2:]) * (1 if expected.startswith("B") else -1)
            same += (dead, judged.score()) == (set(engine.ask("final_status_list dead").split()), score)
            num_dead += len(dead)
    finally:
        engine.close()
    assert same >= NUM_GAMES_HELD - 1, "one may have ended unsettled"
    assert num_dead >= NUM_GAMES_HELD


def of(game: str, position: str) -> tuple[Rules, State]:
    rules = make(game)
    return rules, rules.parse_position(position)


@pytest.mark.parametrize(("rules", "score"), [("area", 28 - 21), ("territory", 21 + 1 - 14)])
def test_dead_stones_are_taken_off_before_the_count(rules: str, score: float) -> None:
    game, state = of(f"go(size=7, komi=0, scoring={rules})", WALLS)
    judged = judge(game, state)
    assert {vertex_of(7, point) for point in judged.dead} == {"B3"} and not judged.seki
    assert judged.score() == judge(game, state, seed=5).score() == score
    assert game.score(state) != score, "all stones are alive there"


def test_seki_stands() -> None:
    game, state = of("go(size=9, komi=0, rules=japanese)", SEKI)
    judged = judge(game, state)
    assert not judged.dead and len(judged.seki) == 10 + 9
    assert {vertex_of(9, point) for point in judged.seki} >= {"A1", "E3", "F3", "J2"}
    assert judged.score() == 15 - 20 and judged.is_settled
    area, area_state = of("go(size=9, komi=0)", SEKI)
    assert judge(area, area_state).score() == 37 - 42


def test_prisoners_of_before_count_besides() -> None:
    game, state = of("go(size=7, komi=0.5, rules=japanese)", f"{WALLS} prisoners=3,1")
    assert judge(game, state).score() == 21 + 1 + 3 - 14 - 1 - 0.5


def test_colours_and_sides_are_alike() -> None:
    """The same verdict with the colours changed, and on the mirrored board."""
    game, state = of("go(size=7, komi=0, rules=japanese)", WALLS)
    swapped = game.parse_position(WALLS.translate(str.maketrans("XO", "OX")))
    mirrored = game.parse_position("/".join(WALLS[:-2].split("/")[::-1]) + " X")
    assert judge(game, swapped).score() == -judge(game, state).score()
    assert judge(game, mirrored).score() == judge(game, state).score()


def test_what_is_sure_is_less_than_the_score() -> None:
    game, state = of("go(size=7, komi=0, rules=japanese)", WALLS)
    judged = judge(game, state)
    assert judged.sure_lead(1) <= -8 and judged.sure_lead(0) <= 8
    assert judged.is_settled
    empty = make("go(size=7)")
    assert judge(empty, empty.initial_state()).sure_lead(0) == -7.5
    open_game, open_state = of("go(size=7, komi=0)", "7/7/2X4/7/4O2/7/7 X")
    assert judge(open_game, open_state).sure_lead(0) <= -46 >= judge(open_game, open_state).sure_lead(1)


@pytest.mark.parametrize(
    ("position", "is_settled"),
    [
        ("9/9/9/9/9/9/9/9/9 O", False),
        ("9/9/9/9/9/9/2O6/9/9 O", False),
        ("9/9/2O3O2/4O4/9/9/2O3O2/9/9 O", False),
        (f"{'4XO3/' * 8}4XO3 O", True),
        (f"{'4XO3/' * 8}4X1O2 O", False),
    ],
)
def test_an_open_board_is_not_settled(position: str, is_settled: bool) -> None:
    """Also where all stones are of one side, which by the count alone has all of the board."""
    assert judge(*of("go(size=9, rules=japanese)", position)).is_settled == is_settled
