"""The results of random games: counts, doubts about the game, and positions for its author to judge.

`check.py` plays the games. `doubts` has properties that are mistakes in most games but break no rule of the protocol;
`report_lines` is the report as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from zerosum.games.perspective import Turns
from zerosum.games.rules import Rules, State

__all__ = ["GameReport", "doubts", "planes_text", "report_lines"]

_ENOUGH = 5
"""Smallest number of moves or games of a kind that supports a doubt."""
_PLANES_SHOWN = 8
_PASSES_SHOWN = 3
_SLOW_MICROSECONDS = 200
"""CPU-time of a new position at which the game takes most of a training's time."""
_OF_A_POSITION = ("play", "player", "outcome", "legal_actions", "planes")
"""The methods that a search calls once for each new position."""


@dataclass(frozen=True)
class GameReport:
    """The result of `check_game` for a game that breaks no rule."""

    num_games: int
    num_positions: int
    results: dict[float, int]
    """Number of games by the first player's result."""
    longest: int
    """Plies of the longest game."""
    num_capped: int
    """Games that ended by `max_plies` instead of the rules."""
    moves_twice: int
    """Moves after which the same player was to move again."""
    doubts: tuple[str, ...]
    """Properties that are allowed, but a mistake in most games; a sentence each."""
    finals: dict[float, str] = field(compare=False)
    """A final position as text, by the first player's result."""
    views: dict[int, tuple[str, str]] = field(compare=False)
    """By player to move, a position of a game as text and its planes as text."""
    microseconds: dict[str, float] = field(compare=False)
    """Mean CPU-time of a call by method of a game written in Python; empty for a game of the core."""
    drawn_shape: tuple[int, int] | None = None
    """Rows and columns of the board that a browser draws; None if it shows the text of `draw`."""


class Seen(Protocol):
    """The data that `check_game` gathers in its games."""

    rules: Rules
    turns: Turns
    results: dict[float, int]
    last_movers: dict[tuple[int, bool], int]
    num_capped: int
    num_returning: int
    passes: dict[int, list[State]]


def doubts(seen: Seen) -> Iterator[str]:
    """A sentence for each property that is a mistake in most games."""
    yield from _about_passes(seen)
    yield from _about_ends(seen)
    yield from _about_planes(seen.rules, seen.turns)


def _about_ends(seen: Seen) -> Iterator[str]:
    num_games, cap = sum(seen.results.values()), seen.rules.spec.max_plies
    returning = ""
    if 2 * seen.num_returning > seen.num_capped:
        returning = (
            f" In {seen.num_returning} of them a position came back, so more plies may not end them: can a move be made"
            " again that was made before, or be taken back?"
        )
    if seen.num_capped == num_games:
        yield (
            f"Every game hit max_plies = {cap}: outcome(state) was None in each last position. Does the game end by its"
            f" rules?{returning}"
        )
    elif 2 * seen.num_capped > num_games:
        question = returning or " Is that enough plies?"
        yield f"{seen.num_capped} of {num_games} games hit max_plies = {cap} and count as draws.{question}"
    decided = seen.last_movers
    for first_won, winner in ((True, 0), (False, 1)):
        by_last = [decided.get((mover, first_won), 0) for mover in (0, 1)]
        if sum(by_last) == sum(decided.values()) and min(by_last) >= _ENOUGH:
            yield (
                f"Player {winner} won all {sum(by_last)} decided games, {by_last[0]} after a last move of player 0 and"
                f" {by_last[1]} after one of player 1. Is outcome(state) the result of player 0, not of the player to"
                " move or the player who moved last?"
            )


def _about_passes(seen: Seen) -> Iterator[str]:
    """Actions that leave everything as it was, but for the player to move."""
    rules = seen.rules
    for action, states in sorted(seen.passes.items(), key=lambda item: len(item[1]), reverse=True)[:_PASSES_SHOWN]:
        text = rules.action_text(states[0], action)
        yield (
            f"Action {action} ({text!r}) changed nothing but the player to move, in {len(states)} moves. Is it a pass?"
            f" If not, play(state, {action}) forgets something, or it should not be legal here:\n"
            f"{_indented(rules.draw(states[0]))}"
        )


def _about_planes(rules: Rules, turns: Turns) -> Iterator[str]:
    if not turns.pairs:
        return
    stayed, turned = (turns.counts.get((True, is_turned), 0) for is_turned in (False, True))
    if stayed >= _ENOUGH and not turned:
        yield (
            f"Planes stayed as they were in all {stayed} moves that could tell, although another player came to move."
            " Are planes(state) seen from the player to move, not always from player 0?"
            + _example(rules, turns, (True, False))
        )
    elif stayed >= _ENOUGH:
        yield (
            f"Planes stayed as they were in {stayed} moves after which player(state) had changed, and turned in"
            f" {turned}. Does player(state) say who is to move where a side moves twice?"
            + _example(rules, turns, (True, False))
        )
    if (wrongly := turns.counts.get((False, True), 0)) >= _ENOUGH:
        yield (
            f"Planes turned in {wrongly} moves after which the same player was to move again. Are planes(state) seen"
            " from player(state)?" + _example(rules, turns, (False, True))
        )


def _example(rules: Rules, turns: Turns, kind: tuple[bool, bool]) -> str:
    """The first move of a kind: both positions, the players to move, and the planes."""
    states: list[State] = [state for state in turns.examples[kind] if isinstance(state, State)]
    shown = [
        f"\n  {when}, player(state) is {rules.player(state)}\n"
        f"{_indented(rules.draw(state))}\n{_indented(planes_text(rules, state))}"
        for when, state in zip(("before", "after"), states, strict=True)
    ]
    return "".join(shown)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines())


def planes_text(rules: Rules, state: State) -> str:
    """The planes that are not empty, each under its name: 1 and . for its squares, or one number."""
    lines: list[str] = []
    found = [(plane, array) for plane, array in zip(rules.spec.planes, rules.planes(state), strict=True) if array.any()]
    for plane, array in found[:_PLANES_SHOWN]:
        if plane.is_constant:
            lines.append(f"{plane.name}: {array[0, 0]:g}")
        else:
            lines += [f"{plane.name}:", *("  " + " ".join(".1"[int(square)] for square in row) for row in array)]
    if len(found) > _PLANES_SHOWN:
        lines.append(f"and {len(found) - _PLANES_SHOWN} more planes")
    return "\n".join([*lines, *([] if found else ["every plane is empty"])])


def report_lines(name: str, report: GameReport) -> Iterator[str]:
    """The report as text, a paragraph or less at a time."""
    results = ", ".join(f"{count} x {result:+g}" for result, count in sorted(report.results.items()))
    yield (
        f"{name} broke no rule of the protocol in {report.num_games} random games, {report.num_positions:,} positions,"
        f" the longest {report.longest} plies. Results for player 0: {results}."
    )
    if not report.microseconds:
        return
    yield f"A player moved twice in a row {report.moves_twice:,} times; max_plies ended {report.num_capped} games."
    yield _profile(report)
    for doubt in report.doubts:
        yield f"\nDOUBT: {doubt}"
    if report.drawn_shape is not None:
        rows, columns = report.drawn_shape
        yield f"A browser draws the text of draw(state) as a board of {rows} rows and {columns} columns."
    else:
        yield (
            "A browser shows draw(state) as text, because it does not find a board in it (docs/own-game.md has what it"
            " looks for); moves are chosen from a list."
        )
    yield "\nOnly you can tell whether the rules are those that you mean."
    for result, board in sorted(report.finals.items(), reverse=True):
        what = f"Player {int(result < 0)} won here" if abs(result) == 1 else f"Player 0's result is {result:g} here"
        yield f"\n{'Drawn here' if result == 0 else what}. Is that right?\n{board.rstrip()}"
    for player, (board, planes) in sorted(report.views.items()):
        question = f"Are the planes seen from player {player}?"
        yield f"\nPlayer {player} is to move here. {question}\n{board.rstrip()}\n{planes}"


def _profile(report: GameReport) -> str:
    costs = {name: report.microseconds.get(name, 0.0) for name in _OF_A_POSITION}
    parts = ", ".join(
        f"{name} {cost:.0f}" for name, cost in sorted(costs.items(), key=lambda item: item[1], reverse=True)
    )
    text = f"CPU-time of a new position: {sum(costs.values()):.0f} microseconds ({parts})."
    is_slow = sum(costs.values()) > _SLOW_MICROSECONDS
    return text + (" That is slow; docs/own-game.md says under Speed what to do." if is_slow else "")
