"""A game held against everything that the program relies on, in random games. Start reading at `check_game`."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from zerosum.base.errors import GameError
from zerosum.games.python_game import MISTAKES, Game, adopt, as_planes, place_error, start_error
from zerosum.games.rules import Rules, State, require_a_move

__all__ = ["GameReport", "check_game"]


@dataclass(frozen=True)
class GameReport:
    """What `check_game` saw: games played, positions looked at, and the results that came up."""

    num_games: int
    num_positions: int
    results: dict[float, int]
    """How many games ended with each result (of the first player)."""
    longest: int
    """Plies of the longest game."""


def check_game(game: Game[Any] | Rules, *, num_games: int = 100, seed: int = 0) -> GameReport:
    """Play random games and hold every promise of the `Game` protocol; of a game of the core also of its notations.

    Raises:
        GameError: a promise is broken; the message has the rule, the value and the position.
    """
    rules = game if isinstance(game, Rules) else adopt(game)
    require_a_move(rules)
    # Which moves are read back must not change which games are played.
    generator, reader = random.Random(seed), random.Random(seed)
    results: dict[float, int] = {}
    num_positions = longest = 0
    for number in range(num_games):
        if isinstance(game, Rules) and game.num_starts > 1:
            state = seen = game.start(generator.randrange(game.num_starts))
        else:
            state, seen = _start(game, rules), rules.initial_state()
        moves: list[int] = []
        while True:
            num_positions += 1
            legal = _check_position(game, rules, state, seen)
            _check_texts(rules, seen, reader)
            if not legal:
                break
            if len(moves) >= rules.spec.max_plies:
                break
            action = generator.choice(legal)
            state = _check_play(game, rules, state, action)
            seen = rules.play(seen, action)
            moves.append(action)
        if rules.spec.symmetries and rules.num_starts == 1:
            _check_symmetry(rules, moves, rules.spec.symmetries[number % len(rules.spec.symmetries)])
        result = rules.outcome(seen)
        assert result is not None
        results[result] = results.get(result, 0) + 1
        longest = max(longest, len(moves))
    return GameReport(num_games, num_positions, results, longest)


def _start(game: Game[Any] | Rules, rules: Rules) -> Any:
    try:
        return game.initial_state()
    except MISTAKES as error:
        raise start_error(rules.spec.name, error) from error


def _check_symmetry(rules: Rules, moves: list[int], permutation: list[int]) -> None:
    """A game with its actions permuted must be the same game: legal moves, who moves, the end."""
    state, image = rules.initial_state(), rules.initial_state()
    for action in [*moves, None]:
        found = rules.outcome(image), sorted(rules.legal_actions(image))
        expected = rules.outcome(state), sorted(permutation[other] for other in rules.legal_actions(state))
        if found != expected or (action is not None and rules.player(state) != rules.player(image)):
            raise GameError(
                f"{rules.spec.name}: the symmetry {permutation} does not hold: outcome and legal actions are {found},"
                f" expected {expected}\nat the position\n{rules.draw(image)}\nwhich is the image of\n"
                f"{rules.draw(state)}"
            )
        if action is not None:
            state, image = rules.play(state, action), rules.play(image, permutation[action])


def _check_position(game: Game[Any] | Rules, rules: Rules, state: Any, seen: State) -> list[int]:
    """Everything that one position promises; answers the legal actions."""

    def broken(rule: str) -> NoReturn:
        raise place_error(rules.spec.name, game.draw, state, GameError(rule))

    def call(method: str, *arguments: Any) -> Any:
        try:
            return getattr(game, method)(*arguments)
        except MISTAKES as error:
            raise place_error(rules.spec.name, game.draw, state, error) from error

    outcome = call("outcome", state)
    answer = call("legal_actions", state)
    try:
        legal = [operator.index(action) for action in answer]
    except TypeError:
        broken(f"legal_actions(state) is {answer!r}, expected a sequence of whole numbers")
    except MISTAKES as error:  # of a generator
        raise place_error(rules.spec.name, game.draw, state, error) from error
    is_capped = outcome is None and seen.plies >= rules.spec.max_plies
    if (outcome is not None) and legal:
        broken(f"outcome(state) is {outcome!r} but legal_actions(state) is {legal}: a game that is over has no moves")
    board = call("draw", state)
    if not isinstance(board, str):
        broken(f"draw(state) is a {type(board).__name__}, expected a text")
    # The program's own eyes check numbers, ranges and shapes wherever it meets them.
    rules.outcome(seen)
    if (rules.planes(seen) != as_planes(call("planes", state))).any():
        broken("planes(state) is not what it was before for the same moves")
    if is_capped or outcome is not None:
        return []
    rules.player(seen)
    if rules.legal_actions(seen) != sorted(legal):
        broken(f"legal_actions(state) is {legal} now and was {rules.legal_actions(seen)} before for the same moves")
    texts: dict[str, int] = {}
    for action in legal:
        text = call("action_text", state, action)
        if not isinstance(text, str) or not text or text != "".join(text.split()):
            broken(f"action_text(state, {action}) is {text!r}, expected a text without blanks")
        if text in texts:
            broken(f"action_text(state, ...) is {text!r} for both actions {texts[text]} and {action}")
        texts[text] = action
    return legal


_READ_BACK = 8
"""Moves of a position that are read back: in a notation that says only what it must, each costs as much as all."""


def _check_texts(rules: Rules, state: State, generator: random.Random) -> None:
    """What people write is read back: some moves, in every notation, and the position. A soft ending leaves moves."""

    def broken(rule: str) -> NoReturn:
        raise place_error(rules.spec.full_name, rules.draw, state, GameError(rule))

    legal = rules.legal_actions(state, past_soft_endings=True)
    outcome = rules.outcome(state)
    if rules.is_soft_ending(state) != (outcome is not None and len(legal) > 0):
        broken(f"is_soft_ending(state) is {rules.is_soft_ending(state)}, and {len(legal)} legal actions are left")
    for action in generator.sample(legal, min(len(legal), _READ_BACK)):
        for notation in (None, *rules.notations):
            text = rules.action_text(state, action, notation)
            if (found := rules.parse_action(state, text)) != action:
                kind = "" if notation is None else f" in {notation}"
                broken(
                    f"action_text(state, {action}) is {text!r}{kind}, which parse_action(state, ...) reads as {found}"
                )
    if (position := rules.position_text(state)) is not None:
        _check_position_text(rules, state, position, broken)


def _check_position_text(rules: Rules, state: State, text: str, broken: Callable[[str], NoReturn]) -> None:
    """The position that is read back is the same but for the moves that led there, which can only forbid moves."""
    try:
        again = rules.parse_position(text)
    except GameError as error:
        broken(f"position_text(state) is {text!r}, which parse_position refuses: {error}")
    if (found := rules.position_text(again)) != text:
        broken(f"position_text(state) is {text!r}, and {found!r} once it was read back")
    legal, legal_again = (rules.legal_actions(position, past_soft_endings=True) for position in (state, again))
    if lost := sorted(set(legal) - set(legal_again)):
        broken(f"position_text(state) is {text!r}; once it was read back, the actions {lost} are no longer legal")
    if legal:
        if rules.player(state) != rules.player(again):
            broken(f"position_text(state) is {text!r}; once it was read back, the other player is to move")
        return
    result, ending = rules.outcome(again), rules.ending(again)
    if (result, ending) != (rules.outcome(state), rules.ending(state)):
        broken(f"position_text(state) is {text!r}; once it was read back, the outcome is {result} by {ending!r}")


def _check_play(game: Game[Any] | Rules, rules: Rules, state: Any, action: int) -> Any:
    """Play an action twice: the position must not change, and the answers must be the same."""

    def look(position: Any) -> tuple[Any, ...]:
        outcome = game.outcome(position)
        is_over = outcome is not None
        planes = as_planes(game.planes(position)).tobytes()
        # As text a NaN, which is refused later, equals itself.
        return repr(outcome), planes, None if is_over else (game.player(position), tuple(game.legal_actions(position)))

    try:
        before = look(state)
        if look(state) != before:
            raise GameError("asked twice about one position, the game gave two different answers")
        first = game.play(state, action)
        if look(state) != before:
            raise GameError(f"play(state, {action}) changed the state that it was given: it must return a new one")
        second = game.play(state, action)
        if look(first) != look(second):
            raise GameError(f"play(state, {action}) gave two different positions when called twice")
    except MISTAKES as error:
        raise place_error(rules.spec.name, game.draw, state, error) from error
    return first
