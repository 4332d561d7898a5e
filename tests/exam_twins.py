"""Slow and readable twins of the exam of Go: a search of all lines, and a reader of ladders on sets of points."""

from __future__ import annotations

from zerosum.games import Rules, State
from zerosum.notation.go_status import beside, parts
from zerosum.notation.go_words import point_of, stones_of

SIZE = 9


class PlainSearch:
    """Results of a filled board by all moves but those into single eyes, to the second pass, as the rules have them."""

    def __init__(self, game: Rules) -> None:
        self._game = game
        self._results: dict[str, bool] = {}
        """Whether the player to move wins a position, whatever led to it."""

    def eyes(self, state: State) -> set[int]:
        """The eyes of the frames: single empty points beside one chain of ten stones or more."""
        stones = _stones(self._game.position_text(state) or "")
        found = set[int]()
        for region in parts(SIZE, set(range(SIZE * SIZE)) - stones.keys()):
            around = beside(SIZE, region)
            is_single = len(region) == 1 and len({stones[point] for point in around}) == 1
            if is_single and len(_chain(stones, min(around))) >= 10:
                found |= region
        return found

    def wins_by(self, state: State, action: int) -> bool:
        """Whether the player to move wins after its move; a draw is no win."""
        after = self._game.play(state, action)
        outcome = self._game.outcome(after)
        if outcome is not None:
            return (outcome if self._game.player(state) == 0 else -outcome) > 0
        return not self._does_not_lose(after)

    def _does_not_lose(self, state: State) -> bool:
        key = self._game.position_text(state) or ""
        if key not in self._results:
            self._results[key] = self._search(state)
        return self._results[key]

    def _search(self, state: State) -> bool:
        """Whether the player to move has a move after which the other side does not win."""
        game, eyes = self._game, self.eyes(state)
        for action in reversed(game.legal_actions(state)):  # the pass first
            if action in eyes:
                continue
            after = game.play(state, action)
            outcome = game.outcome(after)
            if outcome is not None:
                if (outcome if game.player(state) == 0 else -outcome) >= 0:
                    return True
            elif not any(self.wins_by(after, reply) for reply in game.legal_actions(after) if reply not in eyes):
                return True
        return False


def captures_by_ladder(text: str, target: int, owner: int) -> set[int]:
    """The ataris on a chain with two liberties after which it cannot escape: flights are extensions and captures."""
    stones = _stones(text)
    liberties = _liberties(stones, target)
    return {atari for atari in liberties if len(liberties) == 2 and _captured(stones, target, owner, atari)}


def _captured(stones: dict[int, int], target: int, owner: int, atari: int) -> bool:
    after = _after(stones, atari, 1 - owner)
    if after is None or len(_liberties(after, target)) != 1:
        return False
    flights = _liberties(after, target)
    for neighbour in beside(SIZE, _chain(after, target)) & after.keys():
        liberties = _liberties(after, neighbour)
        flights |= liberties if len(liberties) == 1 else set()
    return not any(_escapes(after, target, owner, flight) for flight in flights)


def _escapes(stones: dict[int, int], target: int, owner: int, flight: int) -> bool:
    after = _after(stones, flight, owner)
    if after is None:
        return False
    liberties = _liberties(after, target)
    if len(liberties) == 2:
        return not any(_captured(after, target, owner, atari) for atari in liberties)
    return len(liberties) > 2


def _after(stones: dict[int, int], point: int, player: int) -> dict[int, int] | None:
    after = stones | {point: player}
    for neighbour in beside(SIZE, {point}):
        if after.get(neighbour) == 1 - player and not _liberties(after, neighbour):
            taken = _chain(after, neighbour)
            after = {other: owner for other, owner in after.items() if other not in taken}
    return after if _liberties(after, point) else None


def _stones(text: str) -> dict[int, int]:
    return {point_of(SIZE, vertex): player for vertex, player in stones_of(text)}


def _chain(stones: dict[int, int], point: int) -> set[int]:
    chain = {point}
    while more := {other for other in beside(SIZE, chain) if stones.get(other) == stones[point]}:
        chain |= more
    return chain


def _liberties(stones: dict[int, int], point: int) -> set[int]:
    return beside(SIZE, _chain(stones, point)) - stones.keys()
