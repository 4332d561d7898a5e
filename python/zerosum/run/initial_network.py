"""The network that a new run begins with in place of random weights: the setting `training.initial_network`."""

from __future__ import annotations

import dataclasses
import os
import shlex
from pathlib import Path
from typing import Any

from zerosum._core import GameSpec
from zerosum.base.consent import allow, allowed
from zerosum.base.errors import DataError, SettingsError, command_text, nearest
from zerosum.games import Rules
from zerosum.games.rules import PLANE_OPTIONS, given_options
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, load_checkpoint
from zerosum.network.description import require_encoder
from zerosum.network.growing import SIZES, grown_weights, growth_obstacle
from zerosum.network.katago_config import KatagoConfig
from zerosum.network.lc0_config import MOVES_LEFT, Lc0Config
from zerosum.play.bundled import bundled_networks


def setting_text(word: str) -> str:
    """The setting's text for a word of the user: the name of a bundled network, or an absolute path."""
    return word if not word or word in _bundled() else os.path.abspath(word)


def is_bundled_name(name: str) -> bool:
    """Whether a setting names a bundled network."""
    return name in _bundled()


def allow_network(name: str) -> str:
    """Remember that the user has named a network. Returns a note as `zerosum.base.consent.allow`."""
    return "" if not name or name in _bundled() else allow("network", name)


def require_allowed_network(run: Path, name: str) -> None:
    """Refuse a network outside of a run that the run names, unless the user has named it.

    The path may lead to any file of the user's, or on Windows to another machine.

    Raises:
        SettingsError: the user has not.
    """
    if name and name not in _bundled() and allowed("network", name) is None:
        raise SettingsError(
            f"{run} names the network that it begins with, {name}, and you have not named that file on this machine:"
            f" `{command_text('trust', run)}` allows it, or name it yourself, --from-network {shlex.quote(name)}."
        )


def load_initial_network(name: str) -> Checkpoint:
    """The network of a setting.

    Raises:
        DataError: there is none, or it is damaged.
        SettingsError: it is one of KataGo's, or one of Lc0's with attention or Mish.
    """
    path = _bundled().get(name, Path(name))
    if not path.exists():
        raise DataError(
            f"training.initial_network is {name}, which is neither the path of a run or of a checkpoint's JSON nor a"
            f" bundled network{nearest(path.name, _bundled())}."
        )
    checkpoint = load_checkpoint(path)
    network = checkpoint.info.network
    if isinstance(network, Lc0Config) and (trainable := network.trainable()) is not None:
        kept = {name: weight for name, weight in checkpoint.weights.items() if not name.startswith(MOVES_LEFT.name)}
        return dataclasses.replace(
            checkpoint, info=dataclasses.replace(checkpoint.info, network=trainable), weights=kept
        )
    if isinstance(network, KatagoConfig | Lc0Config):
        origin = "KataGo" if isinstance(network, KatagoConfig) else "Lc0"
        raise SettingsError(
            f"training.initial_network is {name}, a network of {origin}, which plays and is not trained: let it play"
            f" games ({command_text('generate', '...')}) and learn from these."
        )
    return checkpoint


def settings_of(info: CheckpointInfo) -> dict[str, dict[str, Any]]:
    """Settings that follow from the network, by section: its layers and planes.

    A run that begins with it has no need of a first search with a linear evaluation.
    """
    learned = info.core_game()
    given = {} if learned is None else given_options(learned)
    planes = ", ".join(f"{name}={value}" for name, value in given.items() if name in PLANE_OPTIONS)
    return {
        "training": {"planes": planes},
        "network": dataclasses.asdict(info.network),
        "selfplay": {"alphabeta_share": 0.0} if info.network.kind == "updatable" else {"alphabeta_depth": 0},
    }


def require_initial_network(info: CheckpointInfo, network: NetworkConfig, spec: GameSpec) -> None:
    """Check that a run of a game can begin with a network.

    Args:
        info: The network.
        network: The run's network.
        spec: The run's game, with its planes.

    Raises:
        DataError: the network has another encoding.
        SettingsError: the run's network is smaller, or differs in more than its size and added global pooling.
    """
    require_encoder(info, spec)
    if name := growth_obstacle(info.network, network):
        remedy = "ask for at least as many" if name in SIZES else "leave the setting out"
        raise SettingsError(
            f"network.{name} is {getattr(network, name)}, but the run is to begin with a network that has"
            f" {getattr(info.network, name)}: {remedy}, or leave out training.initial_network."
        )


def as_beginning(initial: Checkpoint, network: NetworkConfig, game: Rules, *, seed: int) -> Checkpoint:
    """The checkpoint of step 0 of a run of a game, with the function of a network, grown if `network` has more.

    The network has passed `require_initial_network`. New weights are a pure function of the seed.
    """
    info = CheckpointInfo.describe(game.spec, network, step=0)
    return Checkpoint(info=info, weights=grown_weights(initial.weights, network, info.shape, seed=seed))


def _bundled() -> dict[str, Path]:
    return {path.name: path for path in bundled_networks()}
