"""Checks of everything that the program relies on, in random games. Start with `check_game`."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from zerosum.base.errors import GameError
from zerosum.games.board_in_text import board_picture
from zerosum.games.findings import GameReport, doubts, planes_text
from zerosum.games.perspective import Turns
from zerosum.games.python_game import MISTAKES, Game, adopt, as_planes, place_error, start_error
from zerosum.games.rules import Rules, State, require_a_move
from zerosum.games.stopwatch import Timed

__all__ = ["check_game"]


def check_game(
    game: Game[Any] | Rules,
    *,
    num_games: int = 100,
    seed: int = 0,
    seconds_per_call: float = 10.0,
    on_game: Callable[[int, int], None] = lambda _done, _all: None,
) -> GameReport:
    """Check every rule of the `Game` protocol in random games, and the notations of a game of the core.

    No program can tell whether a game is the one that its author means. The report shows the author doubts, final
    positions with their results, and planes as each player sees them.

    Args:
        game: An object of the user's class, or a game from `make`.
        num_games: Games to play.
        seed: Key of the random moves.
        seconds_per_call: Most CPU-seconds of one call of a user's method.
        on_game: Gets the number of finished games, and of all games.

    Raises:
        GameError: a rule is broken, or a call takes too long; the message has the rule, the value and the position.
    """
    if isinstance(game, Rules):
        return _Check(game, game).run(num_games, seed, on_game)
    adopt(game)  # raises for an object that is not a game
    with Timed(game, seconds_per_call=seconds_per_call) as timed:
        report = _Check(timed, adopt(timed)).run(num_games, seed, on_game)
    means = {name: 1e6 * timed.seconds[name] / calls for name, calls in timed.calls.items() if calls}
    return replace(report, microseconds=means)


class _Check:
    """Random games, and the data gathered in them."""

    def __init__(self, game: Game[Any] | Rules, rules: Rules) -> None:
        self.game, self.rules = game, rules
        self.turns = Turns([plane.name for plane in rules.spec.planes])
        self.results: dict[float, int] = {}
        self.finals: dict[float, str] = {}
        self.views: dict[int, tuple[str, str]] = {}
        self.last_movers: dict[tuple[int, bool], int] = {}  # decided games by (who moved last, the first player won)
        self.passes: dict[int, list[State]] = {}  # positions whose mover alone was changed, by action
        self.num_returning = 0  # games that max_plies ended in which a position came back
        self.num_positions = self.longest = self.num_capped = self.moves_twice = 0

    def run(self, num_games: int, seed: int, on_game: Callable[[int, int], None]) -> GameReport:
        rules = self.rules
        require_a_move(rules)
        # A second generator, so that reading moves back does not change the games.
        generator, reader = random.Random(seed), random.Random(seed)
        for number in range(num_games):
            moves = self._play(generator, reader)
            if rules.spec.symmetries and rules.num_starts == 1:
                _check_symmetry(rules, moves, rules.spec.symmetries[number % len(rules.spec.symmetries)])
            on_game(number + 1, num_games)
        picture = board_picture(rules, rules.initial_state())
        return GameReport(
            num_games=num_games,
            num_positions=self.num_positions,
            results=self.results,
            longest=self.longest,
            num_capped=self.num_capped,
            moves_twice=self.moves_twice,
            doubts=tuple(doubts(self)) if rules.is_python else (),
            finals=self.finals,
            views=self.views,
            microseconds={},
            drawn_shape=None if picture is None else rules.spec.board_shape,
        )

    def _play(self, generator: random.Random, reader: random.Random) -> list[int]:
        """Play one game; return its moves."""
        game, rules = self.game, self.rules
        if isinstance(game, Rules) and game.num_starts > 1:
            state = seen = game.start(generator.randrange(game.num_starts))
        else:
            state, seen = _start(game, rules), rules.initial_state()
        moves: list[int] = []
        mover, earlier = 0, list[tuple[Any, State, str]]()
        looks: dict[str, int] = {}
        shown_ply = generator.randrange(4, 12)
        while True:
            self.num_positions += 1
            legal = _check_position(game, rules, state, seen)
            _check_texts(rules, seen, reader)
            if not legal:
                break
            mover = rules.player(seen)
            if rules.is_python:
                look = _look(game, rules, state)
                looks[look] = looks.get(look, 0) + 1
                if len(earlier) < _ASKED_AGAIN:
                    earlier.append((state, seen, look))
            if rules.is_python and len(moves) >= shown_ply and mover not in self.views and rules.planes(seen).any():
                self.views[mover] = rules.draw(seen), planes_text(rules, seen)
                shown_ply += 1
            action = generator.choice(legal)
            _check_swapped(game, rules, state, action)
            after, then = _check_play(game, rules, state, action), rules.play(seen, action)
            if rules.is_python and rules.outcome(then) is None:
                if _changes_only_the_mover(rules, seen, then):
                    self.passes.setdefault(action, []).append(seen)
                players = mover, rules.player(then)
                self.moves_twice += players[0] == players[1]
                self.turns.see(seen, then, planes=(rules.planes(seen), rules.planes(then)), players=players)
            state, seen = after, then
            moves.append(action)
        result = rules.outcome(seen)
        assert result is not None
        self.results[result] = self.results.get(result, 0) + 1
        self.finals.setdefault(result, rules.draw(seen))
        self.longest = max(self.longest, len(moves))
        for asked, shown, look in earlier:
            _check_again(game, rules, asked, shown, look)
        if rules.is_soft_ending(seen) and len(moves) >= rules.spec.max_plies:
            self.num_capped += 1
            self.num_returning += max(looks.values(), default=0) > 1
        elif result:
            key = mover, result > 0
            self.last_movers[key] = self.last_movers.get(key, 0) + 1
        return moves


_ASKED_AGAIN = 20
"""First positions of a game that are asked again at its end."""


def _look(game: Game[Any] | Rules, rules: Rules, state: Any) -> str:
    """Everything that a game answers about a position, as text. Raises GameError for a mistake of the game."""
    try:
        outcome = game.outcome(state)
        legal = [] if outcome is not None else [operator.index(action) for action in game.legal_actions(state)]
        player = None if outcome is not None else game.player(state)
        planes = as_planes(game.planes(state))
        return f"{outcome} {player} {sorted(legal)} {hash(planes.tobytes())} {game.draw(state)}"
    except MISTAKES as error:
        raise place_error(rules.spec.name, game.draw, state, error) from error


def _check_again(game: Game[Any] | Rules, rules: Rules, state: Any, seen: State, before: str) -> None:
    """A position must answer after other positions as it did before them: it is the whole of a game's state."""
    if _look(game, rules, state) == before:
        return
    names = ("outcome", "player", "legal_actions", "planes", "draw")
    raise place_error(
        rules.spec.name,
        game.draw,
        state,
        GameError(
            f"asked again at the end of the game, {_changed_answer(game, rules, state, seen, names)} answers something"
            " else about this position than when it was played: a method may read nothing but its argument"
        ),
    )


def _changed_answer(game: Game[Any] | Rules, rules: Rules, state: Any, seen: State, names: tuple[str, ...]) -> str:
    """The method whose answer differs from the one that was remembered."""
    for name in names:
        now, then = getattr(game, name)(state), getattr(rules, name)(seen)
        if name == "planes":
            is_same = not (as_planes(now) != then).any()
        else:
            is_same = sorted(now) == sorted(then) if name == "legal_actions" else now == then
        if not is_same:
            return f"{name}(state)"
    return "a method"


def _changes_only_the_mover(rules: Rules, before: State, after: State) -> bool:
    """Whether a move leaves the board as it was, and only the other player is to move."""
    if rules.player(before) == rules.player(after) or rules.legal_actions(before) != rules.legal_actions(after):
        return False
    planes = rules.planes(before), rules.planes(after)
    return rules.draw(before) == rules.draw(after) or Turns.are_same_board(*planes, names=_plane_names(rules))


def _plane_names(rules: Rules) -> list[str]:
    return [plane.name for plane in rules.spec.planes]


def _start(game: Game[Any] | Rules, rules: Rules) -> Any:
    try:
        return game.initial_state()
    except MISTAKES as error:
        raise start_error(rules.spec.name, error) from error


def _check_symmetry(rules: Rules, moves: list[int], permutation: list[int]) -> None:
    """A game with permuted actions must be the same game: legal moves, movers, the end."""
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
    """Check everything that can be asked about one position; return its legal actions."""

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
    # `rules` checks numbers, ranges and shapes in each call.
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


def _check_swapped(game: Game[Any] | Rules, rules: Rules, state: Any, action: int) -> None:
    """A position with the players exchanged must look the same to the other player, before a move and after it."""
    swap = getattr(game, "swap_players", None)
    if swap is None:
        return
    try:
        if game.player(twin := swap(state)) == game.player(state):
            raise GameError(f"swap_players(state) leaves player {game.player(state)} to move, expected the other one")
        pairs = [("", state, twin)]
        if sorted(game.legal_actions(twin)) == sorted(game.legal_actions(state)):
            pairs.append((f" after action {action}", game.play(state, action), game.play(twin, action)))
        for where, one, other in pairs:
            result, image = game.outcome(one), game.outcome(other)
            if (None if result is None else -result) != image:
                raise GameError(
                    f"outcome(state) is {result} and, with the players exchanged, {image}{where}: expected the"
                    " opposite, because it is the result of player 0, whoever is to move"
                )
            if result is None and (as_planes(game.planes(one)) != as_planes(game.planes(other))).any():
                raise GameError(
                    f"planes(state) changes with the players exchanged{where}: expected the same planes, because they"
                    " are seen from the player to move"
                )
        if len(pairs) == 1:
            raise GameError(
                f"legal_actions(state) is {sorted(game.legal_actions(state))} and, with the players exchanged,"
                f" {sorted(game.legal_actions(twin))}: expected the same, because actions are seen from the player to"
                " move"
            )
    except MISTAKES as error:
        raise place_error(rules.spec.name, game.draw, state, error) from error


_READ_BACK = 8
"""Moves of a position that are read back. In a notation such as SAN each costs as much as writing all of them."""


def _check_texts(rules: Rules, state: State, generator: random.Random) -> None:
    """Check notations: read back some moves in every notation, and the position."""

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
    """Check that a position is the same after writing and reading. The lost history can only allow more moves."""
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
        # Compared as text, because NaN (which is refused later) does not equal itself.
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
