"""Go in KataGo's analysis protocol: boards, stones, moves and rules of queries, and fields of Go's answers.

`go_score.py` has the fields of the score.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from dataclasses import replace

import numpy as np

from zerosum._core import Root
from zerosum.analysis.query_fields import Fields, QueryError, QueryPositions, make_cached
from zerosum.base.errors import GameError, SettingsError, shown
from zerosum.games import Rules, State
from zerosum.games.rules import options_of
from zerosum.notation.go_words import (
    COLUMNS,
    FIELDS,
    LETTERS,
    OTHER_NAMES,
    PLAYERS,
    GoRules,
    point_of,
    stones_of,
    text_of,
    without_past,
)

MIN_SIZE, MAX_SIZE = 5, 25


# ---- the question


def read_positions(fields: Fields, base: Rules | None) -> QueryPositions:
    """Read the positions of a query.

    Args:
        fields: The query's fields.
        base: The game whose options fill what the query leaves out; None for KataGo's defaults.

    Raises:
        QueryError: a field is missing or wrong, or a move is illegal.
    """
    size = _size(fields, base)
    stones = _stones(fields, size)
    moves = _moves(fields, size)
    num_handicap = len(stones) if len(stones) > 1 and set(stones.values()) == {0} else 0
    game, friendly_pass = _rules(fields, base, size, num_handicap)
    first = _first_player(fields, moves, num_handicap)
    try:
        state = game.initial_state()
        if stones or first != game.player(state):
            state = game.parse_position(text_of(size, stones, first))
    except GameError as error:
        raise QueryError("initialStones", str(error)) from error
    states = [state]
    for number, (player, vertex) in enumerate(moves):
        states.append(_play(fields, game, states[-1], number, player, vertex))
    return QueryPositions(
        game,
        tuple(states),
        player_of=lambda name: PLAYERS.get(name.lower()) if isinstance(name, str) else None,
        action_of=lambda state, text: game.parse_action(state, _vertex(text, size)),
        friendly_pass=friendly_pass,
    )


def _size(fields: Fields, base: Rules | None) -> int:
    sizes = [fields.integer(name, MIN_SIZE, MAX_SIZE) for name in ("boardXSize", "boardYSize")]
    if sizes == [None, None] and base is not None:
        return base.spec.board_shape[0]
    for name, size in zip(("boardXSize", "boardYSize"), sizes, strict=True):
        if size is None:
            raise QueryError(name, f"Must provide an integer from {MIN_SIZE} to {MAX_SIZE}")
    if sizes[0] != sizes[1]:
        raise QueryError("boardYSize", "Must be as boardXSize: only square boards are played here")
    assert sizes[0] is not None
    return sizes[0]


def _vertex(text: str, size: int) -> str:
    """A location in GTP's notation, "C4" or "pass", from that notation or from KataGo's "(2,15)".

    Raises:
        GameError: the text is not a location on the board.
    """
    found = re.fullmatch(r"\((\d{1,2}),(\d{1,2})\)", text.replace(" ", ""), re.ASCII)
    if found and int(found[1]) < size and int(found[2]) < size:
        return f"{COLUMNS[int(found[1])]}{size - int(found[2])}"
    name = text.upper()
    if name == "PASS":
        return "pass"
    is_point = re.fullmatch(r"[A-HJ-Z]\d{1,2}", name, re.ASCII)
    if is_point and name[0] in COLUMNS[:size] and 1 <= int(name[1:]) <= size:
        return f"{name[0]}{int(name[1:])}"
    raise GameError(f"Could not parse board location: {shown(text)}")


def _pairs(fields: Fields, name: str, size: int) -> list[tuple[int, str]]:
    entries = fields.get(name, [])
    expected = 'Must be an array of pairs of the form: ["b" or "w", GTP board vertex]'
    if not isinstance(entries, list):
        raise QueryError(name, expected)
    pairs = []
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(text, str) for text in entry):
            raise QueryError(name, expected)
        if entry[0].lower() not in PLAYERS:
            raise QueryError(name, f"Could not parse player: {shown(entry[0])}")
        try:
            pairs.append((PLAYERS[entry[0].lower()], _vertex(entry[1], size)))
        except GameError as error:
            raise QueryError(name, str(error)) from error
    return pairs


def _moves(fields: Fields, size: int) -> list[tuple[int, str]]:
    if not fields.has("moves"):
        raise QueryError("moves", "Must specify an array of [player,location] pairs")
    return _pairs(fields, "moves", size)


def _stones(fields: Fields, size: int) -> dict[str, int]:
    stones = {vertex: player for player, vertex in _pairs(fields, "initialStones", size)}
    if "pass" in stones:
        raise QueryError("initialStones", "Could not parse board location: 'pass'")
    return stones


def _first_player(fields: Fields, moves: list[tuple[int, str]], num_handicap: int) -> int:
    if fields.has("initialPlayer"):
        named = fields.values["initialPlayer"]
        if not isinstance(named, str) or named.lower() not in PLAYERS:
            raise QueryError("initialPlayer", 'Must be "b" or "w"')
        return PLAYERS[named.lower()]
    return moves[0][0] if moves else int(num_handicap > 0)


def _rules(fields: Fields, base: Rules | None, size: int, num_handicap: int) -> tuple[Rules, bool]:
    """The game with the query's rules, komi and handicap bonus, and whether dead stones may stay on the board."""
    options = {} if base is None else options_of(base)
    options |= {"size": str(size), "handicap": "0"}
    if base is None or base.spec.board_shape[0] != size:
        options.pop("max_plies", None)
    bonus, default_komi = "0", options.get("komi", "7.5")
    friendly_pass = options.get("scoring") == "territory"
    if fields.has("rules"):
        rules = _named_rules(fields)
        if rules.unsupported:
            rules = replace(rules, tax="SEKI" if rules.scoring == "TERRITORY" else "NONE", has_button=False)
            missing = ", ".join(_named_rules(fields).unsupported)
            fields.warn("rules", f"Rules {_shown(fields)} not supported in {missing}: the game is played without it")
        options |= {"superko": rules.ko.lower(), "suicide": str(rules.suicide).lower()}
        options["scoring"] = rules.scoring.lower()
        friendly_pass = rules.friendly_pass
        bonus, default_komi = rules.handicap_bonus, "7.5" if rules.scoring == "AREA" else "6.5"
    if fields.has("whiteHandicapBonus"):
        bonus = fields.text("whiteHandicapBonus")
        if bonus not in ("0", "N", "N-1"):
            raise QueryError("whiteHandicapBonus", 'Must be "0", "N" or "N-1"')
    komi = fields.number("komi", -150, 150)
    if komi is not None and not (2 * komi).is_integer():
        raise QueryError("komi", "Must be a integer or half-integer from -150.0 to 150.0")
    points = (float(default_komi) if komi is None else komi) + _bonus(bonus, num_handicap)
    options["komi"] = f"{points:g}"
    try:
        game = make_cached(f"go({', '.join(f'{name}={value}' for name, value in sorted(options.items()))})")
    except GameError as error:
        raise QueryError("rules", str(error)) from error
    return game, friendly_pass


def _bonus(rule: str, num_handicap: int) -> int:
    return 0 if rule == "0" or not num_handicap else num_handicap - (rule == "N-1")


def _shown(fields: Fields) -> str:
    rules = fields.values["rules"]
    return rules if isinstance(rules, str) else json.dumps(rules)


def _named_rules(fields: Fields) -> GoRules:
    """Rules by KataGo's shorthand, or rule by rule as an object or its text."""
    given = fields.values["rules"]
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise QueryError("rules", f"Could not parse rules: {shown(given)}") from None
    try:
        if isinstance(given, str):
            return GoRules.parse(given)
        if isinstance(given, dict):
            known = {name: value for name, value in given.items() if name in FIELDS or name in OTHER_NAMES}
            return GoRules().with_fields(known)
    except SettingsError as error:
        raise QueryError("rules", f"Could not parse rules: {error}") from None
    raise QueryError("rules", 'Must specify rules string, such as "chinese" or "tromp-taylor", or a JSON object')


def _with_turn(game: Rules, state: State, player: int) -> State:
    """The same stones and prisoners with this player to move, without earlier moves."""
    text = game.position_text(state)
    assert text is not None
    rows, _, *others = without_past(text).split()
    return game.parse_position(" ".join([rows, LETTERS[player], *others]))


def _play(fields: Fields, game: Rules, state: State, number: int, player: int, vertex: str) -> State:
    """The position after a move. As in KataGo, a second move in a row drops the history; ko and suicide are legal."""
    if player != game.player(state):
        state = _with_turn(game, state, player)
    action = game.parse_action(state, vertex)
    if action is not None:
        return game.play(state, action)
    options = options_of(game) | {"superko": "simple", "suicide": "true"}
    lenient = make_cached(f"go({', '.join(f'{name}={value}' for name, value in options.items())})")
    anywhere = _with_turn(lenient, state, player)
    action = lenient.parse_action(anywhere, vertex)
    if action is None:
        raise QueryError("moves", f"Illegal move {number}: {vertex}")
    fields.warn("moves", f"Move {number}, {vertex}, is against ko or suicide here: the game goes on from its position")
    return _with_turn(game, lenient.play(anywhere, action), 1 - player)


# ---- the answer


def policy(root: Root, num_actions: int) -> list[float]:
    """The network's prior of each point, row by row from the top left, and of the pass; -1 if illegal."""
    values = np.full(num_actions, -1.0)
    values[root.actions] = root.priors
    return [round(float(value), 8) for value in values]


def hashes(game: Rules, state: State) -> tuple[str, str]:
    """Hashes of a position with its player to move: exact, and equal for symmetric positions; both ignore ko."""
    text = game.position_text(state)
    assert text is not None
    size, player = game.spec.board_shape[0], game.player(state)
    board = np.zeros((size, size), np.int8)
    for vertex, owner in stones_of(text):
        board.flat[point_of(size, vertex)] = 1 - 2 * owner
    turned = [np.rot90(other, turns) for other, turns in itertools.product((board, board.T), range(4))]
    names = [hashlib.blake2b(other.tobytes() + bytes([player]), digest_size=16).hexdigest().upper() for other in turned]
    return names[0], min(names)
