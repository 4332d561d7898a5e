"""Ladders of Go: a chain that the mover captures by ataris, or saves from them, as reading shows.

Reading follows the ladder alone: the attacker gives atari, the chain in atari flees or takes a stone that gives atari.
A chain with three liberties has escaped. Superko is left out.
"""

from __future__ import annotations

import random

from zerosum.games import Rules, State
from zerosum.notation.go_status import beside
from zerosum.notation.go_words import point_of, stones_of
from zerosum.run.exam.task import Part, RightMoves, Task

SIZE = 9
PLIES = (12, 30)
"""Least and largest number of random moves before a ladder is looked for."""
LEAST_ATARIS = 3
"""Ataris of a ladder that is asked about; a shorter one is a plain capture."""
LEAST_STONES = 2
"""Stones of a chain that is asked about."""
NUM_GAMES = 100
"""Random games that tell the score after a ladder."""

MOST_MOVES = 200
"""Moves that are read for one chain; a chain that takes more, as in kos, is not asked about."""

Stones = dict[int, int]
"""The player, 0 or 1, of each stone by its point."""


def ladders() -> Part:
    """The part of ladders: the mover captures by one, or escapes from one, and the game hangs on it."""
    question = "Capture a chain by a ladder that works, or save a chain from one that does not."
    return Part("ladders", question, 0.95, 100, ladder_tasks)


def ladder_tasks(game: Rules, number: int, seed: int) -> list[Task]:
    """Positions of random games with a ladder, one of a game, in half of them for the side that captures.

    Random games must show that the mover is ahead if the ladder succeeds and behind if the other side moves first.
    """
    generator, found = random.Random(f"{seed} ladders"), list[Task]()
    while len(found) < number:
        num_plies, key = generator.randint(*PLIES), generator.getrandbits(32)
        state, _ = game.draw_opening(game.initial_state(), num_plies, key, 0)
        text = game.position_text(state) or ""
        right = ladder_moves(_stones(text), game.player(state), captures=len(found) % 2 == 0)
        right &= frozenset(game.legal_actions(state))
        if right and _hangs_on(game, state, min(right), key):
            found.append(Task(text, RightMoves(right)))
    return found


def _stones(text: str) -> Stones:
    return {point_of(SIZE, vertex): player for vertex, player in stones_of(text)}


def _hangs_on(game: Rules, state: State, action: int, seed: int) -> bool:
    """Whether random games say that the mover wins after its move, and loses after a pass."""
    sign, komi = 1 if game.player(state) == 0 else -1, game.score(game.initial_state()) or 0.0

    def lead(move: int) -> float:
        owners = game.ownership(game.play(state, move), NUM_GAMES, seed)
        assert owners is not None, "points of Go have owners"
        return sign * (float(owners.sum()) + komi)

    return lead(action) > 0 > lead(game.spec.num_actions - 1)


def ladder_moves(stones: Stones, mover: int, *, captures: bool) -> frozenset[int]:
    """The moves that capture a chain of the other side by a ladder, or that save a chain of the mover from one.

    Empty without such a chain, if there are several, or if reading takes too many moves.
    """
    found = list[frozenset[int]]()
    for chain in _chains(stones, 1 - mover if captures else mover):
        if len(chain) < LEAST_STONES or len(_liberties(stones, chain)) != (2 if captures else 1):
            continue
        ladder = _Ladder(min(chain), 1 - mover if captures else mover)
        try:
            moves = ladder.captures(stones) if captures else ladder.escapes(stones)
        except TooLongError:
            return frozenset()
        found += [moves] if moves else []
    return found[0] if len(found) == 1 else frozenset()


class TooLongError(Exception):
    """Reading takes more moves than allowed."""


class _Ladder:
    """The reading of one chain."""

    def __init__(self, target: int, player: int) -> None:
        """`target` is a point of the chain, `player` its owner."""
        self._target, self._player, self._left = target, player, MOST_MOVES

    def captures(self, stones: Stones) -> frozenset[int]:
        """The ataris after which the chain cannot escape, if the ladder is a long one."""
        moves = frozenset(point for point in self._liberties(stones) if self._is_captured_after(stones, point))
        is_long = moves and self._num_ataris(stones, min(moves), LEAST_ATARIS) >= LEAST_ATARIS
        return moves if is_long else frozenset()

    def escapes(self, stones: Stones) -> frozenset[int]:
        """The moves that save the chain in atari, if it has two liberties after each, so that ataris follow."""
        moves = frozenset(point for point in self._flights(stones) if self._escapes_by(stones, point))
        after = [self._after(stones, point, self._player) for point in moves]
        is_chased = all(fled is not None and len(self._liberties(fled)) == 2 for fled in after)
        return moves if is_chased else frozenset()

    def _is_captured_after(self, stones: Stones, point: int) -> bool:
        """Whether the atari at a point leads to the capture of the chain."""
        after = self._after(stones, point, 1 - self._player)
        if after is None or len(self._liberties(after)) != 1:
            return False
        return not any(self._escapes_by(after, flight) for flight in self._flights(after))

    def _escapes_by(self, stones: Stones, point: int) -> bool:
        """Whether the chain in atari is safe after its side's move at a point."""
        after = self._after(stones, point, self._player)
        if after is None:
            return False
        liberties = self._liberties(after)
        if len(liberties) != 2:
            return len(liberties) > 2
        return not any(self._is_captured_after(after, atari) for atari in liberties)

    def _num_ataris(self, stones: Stones, point: int, most: int) -> int:
        """Ataris of a ladder that works, with the longest flight; counted as far as `most`."""
        after = self._after(stones, point, 1 - self._player)
        if most == 1 or after is None:
            return 1
        longest = 0
        for flight in self._flights(after):
            fled = self._after(after, flight, self._player)
            if fled is not None and len(liberties := self._liberties(fled)) == 2:
                working = [atari for atari in liberties if self._is_captured_after(fled, atari)]
                longest = max(longest, self._num_ataris(fled, working[0], most - 1)) if working else longest
        return 1 + longest

    def _liberties(self, stones: Stones) -> list[int]:
        return sorted(_liberties(stones, _chain(stones, self._target)))

    def _flights(self, stones: Stones) -> list[int]:
        """Moves of the chain in atari: its liberty, and the liberties of chains beside it that can be taken."""
        found = set(self._liberties(stones))
        for neighbour in beside(SIZE, _chain(stones, self._target)):
            if stones.get(neighbour) == 1 - self._player:
                liberties = _liberties(stones, _chain(stones, neighbour))
                found |= liberties if len(liberties) == 1 else set()
        return sorted(found)

    def _after(self, stones: Stones, point: int, player: int) -> Stones | None:
        """The stones after a move; None if it is suicide. Raises TooLongError."""
        self._left -= 1
        if self._left < 0:
            raise TooLongError
        after = stones | {point: player}
        for neighbour in beside(SIZE, {point}):
            if after.get(neighbour) == 1 - player:
                chain = _chain(after, neighbour)
                if not _liberties(after, chain):
                    after = {other: owner for other, owner in after.items() if other not in chain}
        return after if _liberties(after, _chain(after, point)) else None


def _chains(stones: Stones, player: int) -> list[frozenset[int]]:
    left, found = {point for point, owner in stones.items() if owner == player}, list[frozenset[int]]()
    while left:
        chain = _chain(stones, min(left))
        found.append(chain)
        left -= chain
    return found


def _chain(stones: Stones, point: int) -> frozenset[int]:
    chain = {point}
    while more := {other for other in beside(SIZE, chain) if stones.get(other) == stones[point]}:
        chain |= more
    return frozenset(chain)


def _liberties(stones: Stones, chain: frozenset[int]) -> set[int]:
    return beside(SIZE, chain) - stones.keys()
