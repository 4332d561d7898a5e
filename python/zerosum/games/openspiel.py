"""Games of OpenSpiel as Python games: `make("openspiel:havannah(board_size=6)")`.

The package open_spiel is optional and loaded for such a game only. Its games for two players that are zero-sum,
sequential, deterministic and of perfect information are accepted; an error names the missing property of other games.
Start with `load`.

Actions have OpenSpiel's numbers. Planes are OpenSpiel's observation tensor for the player to move. Few of these tensors
show who is to move, so another plane does: it is 1 if the second player is to move. Random games are played to find the
kinds of channels. A tensor of channels, rows and columns is kept if each channel holds zeros and ones, or one number on
all squares. Any other tensor (counts in pits, a flat list) becomes a board of one square with a plane for each of its
numbers, which is exact, but loses the board's geometry. A position whose planes have other kinds than in these games is
refused when it occurs.
"""

from __future__ import annotations

import contextlib
import importlib
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import GameError, nearest
from zerosum.games.names import OPENSPIEL as PREFIX
from zerosum.games.python_game import DEFAULT_MAX_PLIES, MAX_ACTIONS

__all__ = ["PREFIX", "OpenSpielGame", "load"]

NUM_MEASURED_PLIES = 2000

MOVER_PLANE = "1 if the second player is to move"


class OpenSpielGame:
    """A `zerosum.games.Game`; a state is a state of OpenSpiel, which is never changed."""

    def __init__(self, game: Any, name: str, *, max_plies: int) -> None:
        self._game = game
        self.name = name
        self.num_actions: int = game.num_distinct_actions()
        self.max_plies = max_plies
        self._scale = max(abs(game.min_utility()), abs(game.max_utility()))
        self._tensor_shape = shape = _plane_shape(game)
        self.board_shape = shape[1:]
        kinds = [_kind(tensor) for tensor in np.moveaxis(_measure(game, shape), 1, 0)]
        if None in kinds:
            self._tensor_shape = (int(np.prod(shape)), 1, 1)
            self.board_shape = (1, 1)
            kinds = ["constant"] * self._tensor_shape[0]
        names = [f"{index} of OpenSpiel's observation" for index in range(len(kinds))]
        self.plane_names = (*names, MOVER_PLANE)
        constant = [name for name, kind in zip(names, kinds, strict=True) if kind == "constant"]
        self.constant_planes = (*constant, MOVER_PLANE)

    def initial_state(self) -> Any:
        """OpenSpiel's initial state."""
        return self._game.new_initial_state()

    def player(self, state: Any) -> int:
        """The player to move, 0 or 1; 0 once the game is over."""
        return max(int(state.current_player()), 0)

    def legal_actions(self, state: Any) -> list[int]:
        """OpenSpiel's action numbers; empty once the game is over."""
        return list(state.legal_actions())

    def play(self, state: Any, action: int) -> Any:
        """A copy of the state with the action applied."""
        return state.child(action)

    def outcome(self, state: Any) -> float | None:
        """The first player's return divided by the game's largest return, in [-1, 1]."""
        return float(state.returns()[0]) / self._scale if state.is_terminal() else None

    def planes(self, state: Any) -> NDArray[np.float32]:
        """The observation of the player to move, and the plane of the mover: float32 [planes, rows, columns]."""
        player = self.player(state)
        tensor = np.asarray(state.observation_tensor(player), np.float32).reshape(self._tensor_shape)
        return np.concatenate([tensor, np.full((1, *self.board_shape), player, np.float32)])

    def action_text(self, state: Any, action: int) -> str:
        """OpenSpiel's text of the action without blanks (Nim's texts have some)."""
        return "".join(state.action_to_string(state.current_player(), action).split())

    def draw(self, state: Any) -> str:
        """OpenSpiel's text of the state."""
        return f"{str(state).rstrip()}\n"


def load(text: str) -> OpenSpielGame:
    """The game of OpenSpiel with this name and these parameters in brackets, which may include `max_plies`.

    Raises:
        GameError: open_spiel is not installed, has no such game or parameter, or the game lacks a property that the
            search relies on.
    """
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ImportError:
        raise GameError(
            f"{PREFIX}{text} needs the package open_spiel: install it with 'pip install open_spiel'."
        ) from None
    base, parameters, max_plies = _read(text)
    types = {game_type.short_name: game_type for game_type in pyspiel.registered_games()}
    if base not in types:
        raise GameError(f"OpenSpiel has no game {base!r}{nearest(base, types)}.")
    try:
        game = pyspiel.load_game(f"{base}({','.join(parameters)})" if parameters else base)
        _require_properties(pyspiel, game, base)
        longest = min(int(game.max_game_length()), DEFAULT_MAX_PLIES) if max_plies is None else max_plies
        return OpenSpielGame(game, f"{PREFIX}{text}", max_plies=longest)
    except GameError:
        raise
    except Exception as error:
        # A pyspiel.SpielError (for some parameters only at the first state), or an error of the game's own code.
        known = ", ".join(sorted(types[base].parameter_specification)) or "none"
        reason = " ".join(str(error).split())
        raise GameError(
            f"OpenSpiel cannot make {text!r}: {reason}. Parameters of {base}: {known}, max_plies."
        ) from error


def _read(text: str) -> tuple[str, list[str], int | None]:
    """The game's name, its parameters as OpenSpiel takes them, and our ply cap."""
    base, bracket, rest = text.partition("(")
    if bracket and not rest.rstrip().endswith(")"):
        raise GameError(f"{PREFIX}{text} lacks its closing bracket.")
    parameters = [part.strip() for part in rest.rstrip().removesuffix(")").split(",") if part.strip()]
    parameters = ["=".join(side.strip() for side in part.split("=")) for part in parameters]
    names = [part.partition("=")[0] for part in parameters]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise GameError(f"{PREFIX}{text}: {' and '.join(twice)} given twice.")
    max_plies = None
    for part in [part for part in parameters if part.startswith("max_plies=")]:
        parameters.remove(part)
        with contextlib.suppress(ValueError):
            max_plies = int(part.removeprefix("max_plies="))
        if max_plies is None or not 1 <= max_plies <= 65535:
            raise GameError(f"{PREFIX}{text}: {part!r} is not a ply cap, expected a number from 1 to 65535.")
    return base.strip(), parameters, max_plies


def _require_properties(pyspiel: Any, game: Any, base: str) -> None:
    """Refuse what the search cannot play, naming the property."""
    kinds = game.get_type()
    properties = (
        (game.num_players() == 2, f"it has {game.num_players()} players, expected 2"),
        (kinds.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL, "its players move at the same time"),
        (kinds.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC, "chance moves in it"),
        (kinds.information == pyspiel.GameType.Information.PERFECT_INFORMATION, "its players do not see everything"),
        (kinds.utility == pyspiel.GameType.Utility.ZERO_SUM, "it is not zero-sum"),
        (kinds.provides_observation_tensor, "it has no observation tensor to make planes of"),
    )
    for holds, lack in properties:
        if not holds:
            raise GameError(f"{PREFIX}{base} cannot be played here: {lack}.")
    if not 1 <= game.num_distinct_actions() <= MAX_ACTIONS:
        raise GameError(
            f"{PREFIX}{base} has {game.num_distinct_actions()} actions, at most {MAX_ACTIONS} can be numbered."
        )


def _plane_shape(game: Any) -> tuple[int, int, int]:
    """Shape of the observation tensor; that of a one-square board if the tensor is not made of planes."""
    shape = tuple(game.observation_tensor_shape())
    if len(shape) == 3 and max(shape[1:]) <= 255:
        return shape
    return int(np.prod(shape)), 1, 1


def _measure(game: Any, shape: tuple[int, int, int]) -> NDArray[np.float32]:
    """The tensors [positions, *shape] of random games, equal for equal games."""
    generator = random.Random(0)
    tensors, state = [], game.new_initial_state()
    for _ in range(NUM_MEASURED_PLIES):
        tensors.append(np.asarray(state.observation_tensor(max(state.current_player(), 0)), np.float32).reshape(shape))
        if state.is_terminal():
            state = game.new_initial_state()
        else:
            state.apply_action(generator.choice(state.legal_actions()))
    return np.stack(tensors)


def _kind(tensors: NDArray[np.float32]) -> str | None:
    """Kind of one plane [positions, rows, columns]: "bits", "constant", or None if it is neither."""
    if ((tensors == 0) | (tensors == 1)).all() and tensors[0].size > 1:
        return "bits"
    is_constant = (tensors == tensors[:, :1, :1]).all()
    return "constant" if is_constant and np.isfinite(tensors).all() else None
