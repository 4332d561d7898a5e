"""Small games with what the core's lack (a side that moves twice, cycles, odd results), spies, and planes by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State


def plane_of(game: Rules, state: State, name: str) -> NDArray[np.float32]:
    """The plane of this name, [rows, columns]."""
    return game.planes(state)[[plane.name for plane in game.spec.planes].index(name)]


class DoubleMove:
    """A race: add 1, 2 or 3 to a counter; after an even total the same side moves again. Who lands on 12 scores.

    Landing exactly on 12 is worth 1, overshooting costs half a point: results between -1 and 1 and no draws.
    """

    name = "double-move"
    num_actions = 3
    board_shape = (1, 16)
    plane_names = ("counter", "first to move")
    constant_planes = ("first to move",)

    def initial_state(self) -> tuple[int, int, int]:
        return (0, 0, 0)

    def player(self, state: tuple[int, int, int]) -> int:
        return state[1]

    def legal_actions(self, state: tuple[int, int, int]) -> list[int]:
        return [] if state[0] >= 12 else [0, 1, 2]

    def play(self, state: tuple[int, int, int], action: int) -> tuple[int, int, int]:
        total, mover, _ = state
        total += action + 1
        return (total, mover if total % 2 == 0 else 1 - mover, mover)

    def outcome(self, state: tuple[int, int, int]) -> float | None:
        total, _, last = state
        if total < 12:
            return None
        gain = 1.0 if total == 12 else -0.5
        return gain if last == 0 else -gain

    def planes(self, state: tuple[int, int, int]) -> NDArray[np.float32]:
        planes = np.zeros((2, 1, 16), dtype=np.float32)
        planes[0, 0, state[0]] = 1
        planes[1] = 1 - state[1]
        return planes

    def action_text(self, state: tuple[int, int, int], action: int) -> str:
        return f"+{action + 1}"

    def draw(self, state: tuple[int, int, int]) -> str:
        return f"{state[0]} of 12, player {state[1]} to move\n"


class OnlyNumbers(DoubleMove):
    """The same race, seen without any plane of squares."""

    name = "only-numbers"
    constant_planes = ("counter", "first to move")

    def planes(self, state: tuple[int, int, int]) -> NDArray[np.float32]:
        return np.full((2, 1, 16), state[0] / 12, np.float32)


class Loop(DoubleMove):
    """A counter modulo 4 that never ends but by the ply cap."""

    name = "loop"
    max_plies = 40

    def legal_actions(self, state: tuple[int, int, int]) -> list[int]:
        return [0, 1, 2]

    def play(self, state: tuple[int, int, int], action: int) -> tuple[int, int, int]:
        return ((state[0] + action) % 4, 1 - state[1], 0)

    def outcome(self, state: tuple[int, int, int]) -> float | None:
        return None


class Spy(DoubleMove):
    """A state is the moves so far beside DoubleMove's own; every call is counted."""

    def __init__(self) -> None:
        self.calls: Counter[Any] = Counter()

    def initial_state(self) -> Any:
        return ((), super().initial_state())

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in ("player", "legal_actions", "outcome", "planes", "play"):
            return method

        def spied(state: Any, *arguments: Any) -> Any:
            self.calls[name, state[0], *arguments] += 1
            made = method(state[1], *arguments)
            return ((*state[0], *arguments), made) if name == "play" else made

        return spied


class Box(tuple[int, int, int]):
    """A state that is counted."""

    alive = 0

    def __new__(cls, state: tuple[int, int, int]) -> Box:
        Box.alive += 1
        return super().__new__(cls, state)

    def __del__(self) -> None:
        Box.alive -= 1


class Boxed(DoubleMove):
    """Its states are counted."""

    def initial_state(self) -> Box:
        return Box(super().initial_state())

    def play(self, state: tuple[int, int, int], action: int) -> Box:
        return Box(super().play(state, action))
