"""A network: its weights and their description, wherever they came from. `checkpoint.py` has them on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, GameError
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.network.config import NetworkConfig, NetworkShape
from zerosum.network.weights import weight_shapes

if TYPE_CHECKING:
    from zerosum._core import GameSpec

FORMAT_VERSION = 1
"""Version of the file format, increased when older programs cannot read new files."""


@dataclass(frozen=True)
class CheckpointInfo:
    """The description of a network's weights: the content of a checkpoint's JSON without the checksums."""

    game: str
    """The game's name (`GameSpec.name`)."""
    game_options: str
    """The game's options as text; "" for none."""
    game_version: int
    encoder_id: str
    """The encoding (`GameSpec.encoder_id`). A network fits every game with the same one."""
    planes: tuple[tuple[str, bool], ...]
    """Name of each input plane in channel order, and whether it has one number on all squares."""
    board_shape: tuple[int, int]
    """Height and width of every plane."""
    num_actions: int
    max_plies: int
    network: NetworkConfig
    step: int
    """Learner steps that made these weights."""
    code_version: str
    """The version of zerosum that wrote it."""
    created_at: str
    """Time of writing, ISO 8601, UTC; the checksum of a file that another program wrote."""
    training: dict[str, Any] = field(default_factory=dict)
    """Counts of the training (games, positions, evaluations, minutes), for people only."""
    format_version: int = FORMAT_VERSION

    @classmethod
    def describe(
        cls,
        spec: GameSpec,
        network: NetworkConfig,
        *,
        step: int,
        training: Mapping[str, Any] | None = None,
    ) -> CheckpointInfo:
        """The description of weights of `network` for the game of `spec`, with the present time and version."""
        from zerosum.base.version import __version__

        return cls(
            game=spec.name,
            game_options=spec.options,
            game_version=spec.version,
            encoder_id=spec.encoder_id,
            planes=tuple((plane.name, plane.is_constant) for plane in spec.planes),
            board_shape=spec.board_shape,
            num_actions=spec.num_actions,
            max_plies=spec.max_plies,
            network=network,
            step=step,
            code_version=__version__,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            training=dict(training or {}),
        )

    @property
    def full_name(self) -> str:
        """The game's name with options, such as `go(size=9, komi=5.5)`."""
        return f"{self.game}({self.game_options})" if self.game_options else self.game

    @property
    def shape(self) -> NetworkShape:
        """The network's input and output for this game."""
        height, width = self.board_shape
        return NetworkShape(len(self.planes), height, width, self.num_actions, self.planes)

    def core_game(self) -> Rules | None:
        """The program's own game that the network has learned; None for other games, whose rules no checkpoint has.

        A checkpoint may come from anybody, so no file that its description names is run.
        """
        name = GameName.parse(self.full_name)
        if not name.is_core or name.base != self.game:
            return None
        try:
            game = make(name)
        except GameError:
            return None
        return game if game.spec.encoder_id == self.encoder_id else None


@dataclass(frozen=True)
class Checkpoint:
    """A network: its description and its float32 weights, with the names and shapes of `network.weight_shapes`."""

    info: CheckpointInfo
    weights: dict[str, NDArray[np.float32]]

    def __post_init__(self) -> None:
        """Raise DataError unless the weights fit the network that `info` describes."""
        expected = weight_shapes(self.info.network, self.info.shape)
        if missing := expected.keys() - self.weights.keys():
            raise DataError(f"The network has no weights named {', '.join(sorted(missing))}.")
        if surplus := self.weights.keys() - expected.keys():
            raise DataError(f"The network has superfluous weights: {', '.join(sorted(surplus))}.")
        for name, shape in expected.items():
            weight = self.weights[name]
            if weight.shape != shape or weight.dtype != np.float32:
                raise DataError(
                    f"The weights {name} are {weight.dtype} {list(weight.shape)}, expected float32 {list(shape)}."
                )


def require_encoder(info: CheckpointInfo, spec: GameSpec) -> None:
    """Refuse a network whose encoding is not the game's.

    Raises:
        DataError: the message names the differences: game, version, board, planes, actions.
    """
    if info.encoder_id == spec.encoder_id:
        return
    spec_planes = [(plane.name, plane.is_constant) for plane in spec.planes]
    compared: list[tuple[str, object, object]] = [
        ("the game", info.game, spec.name),
        ("the game's version", info.game_version, spec.version),
        ("the board", "{}x{}".format(*info.board_shape), "{}x{}".format(*spec.board_shape)),
        ("the number of planes", len(info.planes), len(spec_planes)),
        ("the number of actions", info.num_actions, spec.num_actions),
    ]
    if len(info.planes) == len(spec_planes):
        for channel, (theirs, ours) in enumerate(zip(info.planes, spec_planes, strict=True)):
            compared.append((f"plane {channel}", _plane_text(*theirs), _plane_text(*ours)))
    differences = [f"{what} is {theirs}, not {ours}" for what, theirs, ours in compared if theirs != ours]
    raise DataError(
        f"The network of step {info.step} for {info.full_name} does not fit {spec.full_name}: in the network, "
        f"{'; '.join(differences) or f'the encoding is {info.encoder_id}, not {spec.encoder_id}'}. "
        f"Use a network trained for {spec.full_name} version {spec.version}."
    )


def _plane_text(name: str, is_constant: bool) -> str:
    return f"'{name}' (one number)" if is_constant else f"'{name}'"
