"""An error about a move speaks the notation of that move, wherever it was typed or read."""

from __future__ import annotations

import functools
import io
import random
import re
from collections.abc import Callable, Sequence

import pytest

from line_clients import LineClient
from web_for_tests import Page, with_page
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, make, parse_action, state_after
from zerosum.games.written_moves import near_moves, notation_of
from zerosum.network.evaluators import UniformEvaluator
from zerosum.notation import Move, Record, game_text, read_games
from zerosum.play.player import Player
from zerosum.play.terminal import play_in_terminal
from zerosum.search import SearchConfig
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.visit import House

GAMES = ("chess", "chess960", "minichess", "shogi", "go9", "go(size=5)", "othello", "breakthrough")
LINES = [(name, notation) for name in GAMES for notation in (None, *make(name).notations)]
FORMATS = {"pgn": ("chess", "san"), "sgf": ("go9", "sgf"), "kif": ("shogi", "kif"), "csa": ("shogi", "csa")}
LIMITS = Limits()


def line(game: Rules, generator: random.Random, most: int = 40) -> list[tuple[State, int]]:
    """Random moves other than passes, each with the position before it; the game goes on after the last one."""
    state, played = game.initial_state(), list[tuple[State, int]]()
    for _ in range(generator.randint(1, most)):
        legal = [action for action in game.legal_actions(state) if game.action_text(state, action) != "pass"]
        if not legal or game.outcome(after := game.play(state, action := generator.choice(legal))) is not None:
            break
        played.append((state, action))
        state = after
    return played


def wrong_move(game: Rules, state: State, notation: str | None, generator: random.Random) -> str:
    """A move of another random game that is not legal here, in a notation."""
    for _ in range(100):
        for before, action in line(game, generator):
            text = game.action_text(before, action, notation)
            if text and game.parse_action(state, text) is None:
                return text
    raise AssertionError(f"no move of {game.spec.full_name} is illegal here")


def examples(told: str, wrong: str) -> list[str]:
    """The legal moves that an error names; it quotes the wrong one as it was written."""
    assert repr(wrong) in told
    found = re.search(r"(?:near|legal) are (.*?)(?:, of \d+ that are legal| and \d+ more|[.;]|$)", told)
    assert found is not None, told
    return found[1].split(", ")


def holds(game: Rules, state: State, notation: str | None, told: str, wrong: str) -> None:
    """All moves that an error names are legal ones, in the notation."""
    legal = {game.action_text(state, action, notation) for action in game.legal_actions(state, past_soft_endings=True)}
    assert set(examples(told, wrong)) <= legal, (told, notation)


@pytest.mark.parametrize(("name", "notation"), LINES)
def test_the_legal_moves_of_an_error_are_in_the_notation_of_the_illegal_one(name: str, notation: str | None) -> None:
    game = make(name)
    for seed in range(25):
        generator = random.Random(f"{name} {notation} {seed}")
        state = functools.reduce(lambda at, move: game.play(at, move[1]), line(game, generator), game.initial_state())
        wrong = wrong_move(game, state, notation, generator)
        for elsewhere in (None, *game.notations):  # a form that tells its notation prevails over the session's
            with pytest.raises(GameError) as raised:
                parse_action(game, state, wrong, notation=elsewhere)
            holds(game, state, notation, str(raised.value), wrong)


@pytest.mark.parametrize(("name", "notation"), LINES)
def test_the_form_of_a_move_tells_its_notation(name: str, notation: str | None) -> None:
    game, generator = make(name), random.Random(f"{name} {notation}")
    for _ in range(10):
        for state, action in line(game, generator):
            text = game.action_text(state, action, notation)
            told = notation_of(game, [text], otherwise="another")
            # A game with one notation asks for no form.
            assert told == (notation if game.notations else "another"), text


@pytest.mark.parametrize(
    ("name", "text", "notation"),
    [
        *(("chess", text, None) for text in ("e2e5", "E2E5", "e2-e5", "e7e8q", "k1k9", "0000")),
        *(("chess", text, "san") for text in ("e5", "Nf9", "nf3", "exd5", "R1e2", "N1xf3+", "O-O-O", "0-0", "e8=Q#")),
        *(("shogi", text, None) for text in ("7g7e", "P*5e", "7G7E+")),
        *(("shogi", text, "kif") for text in ("７六歩(77)", "25歩", "2五歩", "５五角打", "▲７六歩")),
        *(("shogi", text, "csa") for text in ("+7776FU", "7776FU", "-3334fu")),
        *(("go9", text, None) for text in ("E10", "i4", "pass")),
        *(("go9", text, "sgf") for text in ("ee", "tt")),
    ],
)
def test_moves_of_no_board_have_a_form_as_well(name: str, text: str, notation: str | None) -> None:
    assert notation_of(make(name), [text], otherwise="another") == notation


@pytest.mark.parametrize(("name", "notation"), [each for each in LINES if make(each[0]).notations])
def test_a_text_of_no_form_is_answered_in_the_notation_of_the_moves_before_it(name: str, notation: str | None) -> None:
    game = make(name)
    for seed in range(5):
        played = line(game, random.Random(seed), most=6)
        texts = [game.action_text(state, action, notation) for state, action in played]
        with pytest.raises(GameError) as raised:
            state_after(game, " ".join([*texts, "??"]))
        holds(game, state_after(game, " ".join(texts)), notation, str(raised.value), "??")


# ---- where moves are typed


def in_the_terminal(name: str, moves: Sequence[str], wrong: str) -> str:
    """What `zerosum play` answers to a wrong move."""
    shown, ahead = list[str](), iter([*moves, wrong, "quit"])
    player = Player(make(name), UniformEvaluator(), SearchConfig(num_simulations=2), name="uniform")
    play_in_terminal(player, human_side="both", read=lambda _: next(ahead), write=shown.append)
    return next(said for said in shown if repr(wrong) in said)


def on_a_page(ask: str, field: str, name: str, moves: Sequence[str], wrong: str) -> str:
    """What a page answers to moves that are typed, or stand in its address."""
    house = House(Library([], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)
    answers = list[str]()

    async def work(page: Page) -> None:
        answer = await page.ask(ask, game=name, **{field: " ".join([*moves, wrong])})
        answers.append(answer["error"])

    with_page(house, work)
    return answers[0]


def by_an_engine(name: str, moves: Sequence[str], wrong: str) -> str:
    """What the engine says of a position with a wrong move, and of a wrong move behind `go`."""
    engine = LineClient("uci" if make(name).notations[0] == "san" else "usi", name)
    said = engine.ask(f"position startpos moves {' '.join([*moves, wrong])}")
    return next(one for one in said if repr(wrong) in one)


PLACES: dict[str, Callable[[str, Sequence[str], str], str]] = {
    "terminal": in_the_terminal,
    "analyse": functools.partial(on_a_page, "study.open", "text"),
    "analyse's address": functools.partial(on_a_page, "study.open", "moves"),
    "play's address": functools.partial(on_a_page, "play.open", "moves"),
    "watched search": functools.partial(on_a_page, "growth.open", "moves"),
    "game's page": functools.partial(on_a_page, "games.page", "moves"),
    "engine": by_an_engine,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("name", "notation"), [("chess", None), ("chess", "san"), ("shogi", None), ("shogi", "kif"), ("shogi", "csa")]
)
def test_each_place_answers_in_the_notation_that_was_typed(place: str, name: str, notation: str | None) -> None:
    game = make(name)
    for seed in range(3):
        generator = random.Random(f"{name} {notation} {seed}")
        played = line(game, generator, most=8)
        state = game.play(*played[-1])
        moves = [game.action_text(before, action, notation) for before, action in played]
        wrong = wrong_move(game, state, notation, generator)
        holds(game, state, notation, PLACES[place](name, moves, wrong), wrong)


@pytest.mark.parametrize("format", FORMATS)
def test_a_record_is_answered_in_its_own_notation(format: str) -> None:
    name, notation = FORMATS[format]
    game = make(name)
    for seed in range(10):
        generator = random.Random(f"{format} {seed}")
        played = line(game, generator)
        state, texts = game.play(*played[-1]), [game.action_text(before, action) for before, action in played]
        whole = game_text(Record(game.spec.full_name, tuple(map(Move, texts))), format=format)
        # The wrong move is by the side to move: the record of SGF and CSA says so.
        wrong = wrong_move(game, state, notation, generator)
        if format == "csa":
            wrong = f"{'+-'[game.player(state)]}{wrong[1:]}"
            if game.parse_action(state, wrong) is not None:
                continue
        [read] = read_games(io.StringIO(with_move(whole, wrong, format, len(texts))), format=format)
        assert len(read.moves) == len(texts)
        holds(game, state, notation, read.errors[0], wrong)


def with_move(text: str, move: str, format: str, number: int) -> str:
    """The record with one more move."""
    if format == "pgn":
        return f"{text.rstrip().removesuffix('*')} {move} *\n"
    if format == "sgf":
        return f"{text.rstrip().removesuffix(')')};{'BW'[number % 2]}[{move}])\n"
    if format == "kif":
        return f"{text.rstrip()}\n{number + 1:4} {move}\n"
    return f"{text.rstrip()}\n{move}\n"


def test_an_error_at_the_end_of_a_game_names_no_moves() -> None:
    game = make("chess")
    assert near_moves(game, state_after(game, "f3 e5 g4 Qh4"), "e4") == "the game is over (checkmate)"
