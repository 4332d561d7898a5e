"""Queries in the protocol of KataGo's analysis engine: one JSON object a line, for Go and for every other game.

`read_query` turns an object into a `Query`, or raises `QueryError`, which names the wrong field. `go_query.py` reads
positions and moves of Go; those of other games are in the game's notation. `answers.py` writes the answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zerosum.analysis import go_query
from zerosum.analysis.query_fields import MOST, Fields, QueryError, QueryPositions, make_cached
from zerosum.base.errors import GameError, SettingsError, nearest, shown
from zerosum.games import Rules, State
from zerosum.notation.go_words import SEARCH_SETTINGS, search_changes
from zerosum.search import SearchConfig

MOST_SECONDS = 1e6
MOST_TEMPERATURE = 100.0
INCLUDES = (
    "includePolicy",
    "includePVVisits",
    "includeOwnership",
    "includeOwnershipStdev",
    "includeMovesOwnership",
    "includeMovesOwnershipStdev",
)
SETTINGS = (
    *("reportAnalysisWinratesAs", "maxTime", "maxVisits", "maxPlayouts", "analysisPVLen"),
    *("rootPolicyTemperature", "wideRootNoise", *SEARCH_SETTINGS),
)
"""Settings that a query may override."""
OTHER_FIELDS = {"id"}
"""Fields that are read before the query."""
SIDE_TO_MOVE = "SIDETOMOVE"
PERSPECTIVES = {"FIRST": 0, "SECOND": 1, SIDE_TO_MOVE: None}
GO_PERSPECTIVES = {"BLACK": 0, "WHITE": 1, **PERSPECTIVES}


@dataclass(frozen=True)
class QueryTurn:
    """A position of a query."""

    number: int
    """Number of moves played."""
    state: State
    priority: int
    """Positions of higher priority are searched first."""


@dataclass(frozen=True)
class Restriction:
    """Moves that a player may not choose, or the only moves that it may."""

    player: int
    actions: frozenset[int]
    is_allowed: bool


@dataclass(frozen=True)
class Query:
    """A query for analyses."""

    id: str
    game: Rules
    turns: tuple[QueryTurn, ...]
    max_visits: int | None
    max_seconds: float | None
    perspective: int | None
    """The player for whom win rates are given, 0 or 1; None is the player to move."""
    line_length: int
    """Maximum number of moves of a line."""
    includes: frozenset[str]
    """A subset of `INCLUDES`."""
    first_report_s: float
    report_every_s: float
    """Seconds until the first report and between two reports; infinite for none."""
    restrictions: tuple[Restriction, ...]
    search: Mapping[str, Any]
    """Search settings that differ from the player's."""
    root_temperature: float
    """The divisor of the root's logits."""
    friendly_pass: bool
    """Whether a game of Go is scored without dead stones."""
    warnings: tuple[tuple[str, str], ...]
    """(field, sentence) of each request that is not followed exactly."""

    def allowed(self, state: State) -> tuple[int, ...] | None:
        """The moves that the search may choose: () for all, None if no move is left."""
        game = self.game
        legal, player = game.legal_actions(state, past_soft_endings=True), game.player(state)
        mine = [restriction for restriction in self.restrictions if restriction.player == player]
        if not mine:
            return ()
        left = [action for action in legal if all((action in one.actions) == one.is_allowed for one in mine)]
        return tuple(left) or None


def read_query(values: Mapping[str, Any], *, id: str, default_game: Rules | None) -> Query:
    """Read a query from a JSON object.

    Raises:
        QueryError: a field is missing, has a wrong type or is out of range, or a move is illegal.
    """
    fields = Fields(values)
    game = _game_of(fields, default_game)
    is_go = game is None or game.spec.name == "go"
    positions = go_query.read_positions(fields, game) if is_go else _read_positions(fields, game)
    turns = _turns(fields, positions)
    settings = _Settings.read(fields, GO_PERSPECTIVES if is_go else PERSPECTIVES)
    report_every = fields.number("reportDuringSearchEvery", 0.001, MOST_SECONDS)
    first_report = fields.number("firstReportDuringSearchAfter", 0.001, MOST_SECONDS)
    includes = frozenset(name for name in INCLUDES if fields.flag(name))
    max_visits = fields.integer("maxVisits", 1, MOST)
    line_length = fields.integer("analysisPVLen", 1, 1000)
    root_temperature = fields.number("rootPolicyTemperature", 0.01, MOST_TEMPERATURE)
    restrictions = _restrictions(fields, positions, turns)
    _warn(fields, is_go)
    return Query(
        id=id,
        game=positions.game,
        turns=turns,
        max_visits=max_visits or settings.max_visits,
        max_seconds=settings.max_seconds,
        perspective=settings.perspective,
        line_length=line_length or settings.line_length,
        includes=includes,
        first_report_s=first_report or report_every or math.inf,
        report_every_s=report_every or math.inf,
        restrictions=restrictions,
        search=settings.search,
        root_temperature=(root_temperature or settings.root_temperature) * (4 * settings.wide_root_noise + 1),
        friendly_pass=positions.friendly_pass,
        warnings=tuple(fields.warnings),
    )


def _game_of(fields: Fields, default: Rules | None) -> Rules | None:
    """The game that a query names; None for Go, whose size other fields give."""
    if not fields.has("game"):
        if default is None and not fields.has("boardXSize"):
            raise QueryError("game", 'Must name a game, such as "connect4"; for Go, boardXSize may replace it')
        return default
    try:
        return make_cached(fields.text("game"))
    except GameError as error:
        raise QueryError("game", str(error)) from error


def _read_positions(fields: Fields, game: Rules | None) -> QueryPositions:
    """The positions of any game except Go: `initialPosition` and `moves` in the game's notation."""
    assert game is not None
    position, moves = fields.text("initialPosition"), fields.get("moves", [])
    if not isinstance(moves, list) or not all(isinstance(text, str) for text in moves):
        raise QueryError("moves", 'Must be an array of moves as the game writes them, such as ["e2e4", "e7e5"]')
    try:
        states = [game.parse_position(position) if position else game.initial_state()]
    except GameError as error:
        raise QueryError("initialPosition", str(error)) from error
    for number, text in enumerate(moves):
        action = game.parse_action(states[-1], text)
        if action is None:
            raise QueryError("moves", f"Illegal move {number}: {shown(text)}")
        states.append(game.play(states[-1], action))
    names = {"first": 0, "second": 1}
    return QueryPositions(
        game,
        tuple(states),
        player_of=lambda name: names.get(name.lower()) if isinstance(name, str) else None,
        action_of=game.parse_action,
    )


def _turns(fields: Fields, positions: QueryPositions) -> tuple[QueryTurn, ...]:
    numbers, priorities = fields.integers("analyzeTurns"), fields.integers("priorities")
    priority = fields.integer("priority", -MOST, MOST)
    if priorities is not None:
        if numbers is None:
            raise QueryError("priorities", "Can only specify when also specifying analyzeTurns")
        if len(priorities) != len(numbers):
            raise QueryError("priorities", "Must be of matching length to analyzeTurns")
        if priority is not None:
            raise QueryError("priority", "Cannot specify both priority and priorities")
    numbers = [len(positions.states) - 1] if numbers is None else numbers
    if not numbers:
        raise QueryError("analyzeTurns", "Must name at least one turn")
    if wrong := [number for number in numbers if not 0 <= number < len(positions.states)]:
        raise QueryError("analyzeTurns", f"Invalid turn number: {wrong[0]}")
    wanted = dict(zip(numbers, priorities or [priority or 0] * len(numbers), strict=True))
    return tuple(QueryTurn(number, positions.states[number], wanted[number]) for number in sorted(wanted))


def _restrictions(fields: Fields, positions: QueryPositions, turns: tuple[QueryTurn, ...]) -> tuple[Restriction, ...]:
    if fields.has("allowMoves") and fields.has("avoidMoves"):
        raise QueryError("allowMoves", "Cannot specify both allowMoves and avoidMoves")
    name = "allowMoves" if fields.has("allowMoves") else "avoidMoves"
    entries = fields.get(name, [])
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and {"player", "moves", "untilDepth"} <= entry.keys() for entry in entries
    ):
        raise QueryError(name, "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'")
    if name == "allowMoves" and len(entries) > 1:
        raise QueryError(name, "Currently allowMoves only allows one entry")
    return tuple(_restriction(fields, name, entry, positions, turns) for entry in entries)


def _restriction(
    fields: Fields, name: str, entry: Mapping[str, Any], positions: QueryPositions, turns: tuple[QueryTurn, ...]
) -> Restriction:
    player, moves, depth = positions.player_of(entry["player"]), entry["moves"], entry["untilDepth"]
    if player is None:
        raise QueryError(name, f"Could not parse player: {shown(str(entry['player']))}")
    if not isinstance(moves, list) or not all(isinstance(text, str) for text in moves):
        raise QueryError(name, "Must have an array of moves")
    if type(depth) is not int or depth < 1:
        raise QueryError(name, "untilDepth must be a positive integer")
    if depth > 1:
        fields.warn(name, "untilDepth counts as 1: moves are restricted only at the root")
    actions: set[int] = set()
    for turn in turns:
        if positions.game.player(turn.state) == player:
            try:
                found = {positions.action_of(turn.state, text) for text in moves}
            except GameError as error:
                raise QueryError(name, str(error)) from error
            # An illegal move needs no restriction.
            actions |= {action for action in found if action is not None}
    return Restriction(player, frozenset(actions), name == "allowMoves")


@dataclass(frozen=True)
class _Settings:
    """The supported settings of `overrideSettings`."""

    perspective: int | None = 0
    max_visits: int | None = None
    max_seconds: float | None = None
    line_length: int = 15
    root_temperature: float = 1.0
    wide_root_noise: float = 0.0
    search: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, fields: Fields, perspectives: Mapping[str, int | None]) -> _Settings:
        given = fields.get("overrideSettings", {})
        if not isinstance(given, dict):
            raise QueryError("overrideSettings", "Must be an object")
        known: dict[str, Any] = {"search": {}}
        for name, value in given.items():
            if name == "reportAnalysisWinratesAs":
                known["perspective"] = _one_of(name, value, perspectives)
            elif name == "maxTime":
                known["max_seconds"] = _number(name, value, 0.001, 1e20)
            elif name in ("maxVisits", "maxPlayouts"):
                visits = int(_number(name, value, 1, MOST))
                known["max_visits"] = min(visits, known.get("max_visits", visits))
            elif name == "analysisPVLen":
                known["line_length"] = int(_number(name, value, 1, 1000))
            elif name == "rootPolicyTemperature":
                known["root_temperature"] = _number(name, value, 0.01, MOST_TEMPERATURE)
            elif name == "wideRootNoise":
                known["wide_root_noise"] = _number(name, value, 0.0, 5.0)
            elif name in SEARCH_SETTINGS:
                known["search"] |= _search_changes(name, value)
            else:
                raise QueryError(
                    "overrideSettings", f"{shown(name)} has no effect here; supported are {', '.join(SETTINGS)}"
                )
        return cls(**known)


def _search_changes(name: str, value: Any) -> dict[str, Any]:
    changes = search_changes(name, _number(name, value, 0.0, MOST))
    try:
        replace(SearchConfig(), **changes)
    except SettingsError as error:
        raise QueryError("overrideSettings", f"Could not set {name}: {error}") from None
    return changes


def _one_of(name: str, value: Any, known: Mapping[str, int | None]) -> int | None:
    if not isinstance(value, str) or value.upper() not in known:
        raise QueryError("overrideSettings", f"Could not set {name}{nearest(str(value)[:40], known)}")
    return known[value.upper()]


def _number(name: str, value: Any, low: float, high: float) -> float:
    """A number, or the text of one: KataGo reads its settings from texts."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise QueryError("overrideSettings", f"Could not set {name}: must be a number from {low:g} to {high:g}")
    return number


def _warn(fields: Fields, is_go: bool) -> None:
    """Warn of requests that are not supported."""
    if fields.number("rootFpuReductionMax", 0.0, 2.0) is not None:
        fields.warn("rootFpuReductionMax", "No effect: the search has no such setting for its root")
    if fields.flag("includePVVisits"):
        fields.warn("includePVVisits", "pvVisits has only the first move's visits: deeper visits are not reported")
    if not is_go and any(fields.flag(name) for name in INCLUDES if "Ownership" in name):
        fields.warn("includeOwnership", "No effect: only points of Go have owners")
    for name in sorted(fields.values.keys() - fields.asked - OTHER_FIELDS):
        fields.warn(name, "Unexpected or unused field, do you have a typo?")
