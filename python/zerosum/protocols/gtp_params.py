"""The settings of a GTP engine, and KataGo's parameters for `kata-get-param` and `kata-set-param`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zerosum.base.errors import GameError, SettingsError, shown
from zerosum.base.settings import check, setting
from zerosum.notation.go_words import SEARCH_SETTINGS, search_changes
from zerosum.search import SearchConfig

NO_VISITS = 1 << 50
NO_SECONDS = 1e20
"""KataGo's number for no limit."""
MOST_SIMULATIONS = 1 << 24


@dataclass(frozen=True)
class GtpConfig:
    """Settings of the engine that GTP itself has no command for."""

    simulations: int | None = setting(
        None,
        "most simulations per move; none: the player's own number, without a clock and seconds",
        low=1,
        high=1 << 24,
    )
    seconds: float | None = setting(None, "most seconds per move, whatever the clock says", low=0.001, high=1e6)
    resign_below: float = setting(
        0.05, "resign if the win rate stays lower for resign_moves moves; 0 is never (paper: 0.05)", low=0.0, high=1.0
    )
    resign_moves: int = setting(3, "consecutive moves below resign_below before resigning (not measured)", low=1)
    ponder: bool = setting(False, "think on the opponent's time")
    memory_mib: int | None = setting(None, "memory of the tree in MiB; none is the player's own", low=1, high=1 << 20)

    def __post_init__(self) -> None:
        check(self, "gtp")


@dataclass(frozen=True)
class Param:
    """A parameter of `GtpConfig`."""

    get: Callable[[GtpConfig], Any]
    set: Callable[[GtpConfig, str], GtpConfig]


def names() -> list[str]:
    """The names of all parameters."""
    return [*PARAMS, *SEARCH_SETTINGS]


def value_of(name: str, config: GtpConfig, search: SearchConfig) -> str:
    """A parameter's value, as JSON writes it. Raises GameError if there is no such parameter."""
    if name in PARAMS:
        return json.dumps(PARAMS[name].get(config))
    if name in SEARCH_SETTINGS:
        return json.dumps(getattr(search, SEARCH_SETTINGS[name]))
    raise GameError(f"Invalid parameter: {shown(name)}; available: {' '.join(names())}")


def changed(name: str, text: str, config: GtpConfig, search: dict[str, Any]) -> tuple[GtpConfig, dict[str, Any]]:
    """The config and the changed search settings, with another value of one parameter.

    Raises:
        GameError: the parameter is unknown, or the value is invalid.
    """
    try:
        if name in PARAMS:
            return PARAMS[name].set(config, text), search
        if name in SEARCH_SETTINGS:
            changes = search | search_changes(name, float(text))
            replace(SearchConfig(), **changes)
            return config, changes
    except (SettingsError, ValueError) as error:
        raise GameError(f"Could not set params: {name}: {error}") from None
    raise GameError(f"Unrecognized or non-overridable parameter in kata-set-param: {shown(name)}")


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{shown(text)} is neither true nor false")
    return text.lower() == "true"


def _visits(config: GtpConfig, text: str) -> GtpConfig:
    number = float(text)
    if not number.is_integer():
        raise ValueError(f"{shown(text)} is not an integer")
    return replace(config, simulations=int(number) if number <= MOST_SIMULATIONS else None)


def _seconds(config: GtpConfig, text: str) -> GtpConfig:
    number = float(text)
    return replace(config, seconds=None if number > 1e6 else number)


def _resignation(config: GtpConfig, text: str) -> GtpConfig:
    usual = config.resign_below or GtpConfig().resign_below
    return replace(config, resign_below=usual if _flag(text) else 0.0)


PARAMS: dict[str, Param] = {
    "maxVisits": Param(lambda config: config.simulations or NO_VISITS, _visits),
    "maxTime": Param(lambda config: config.seconds or NO_SECONDS, _seconds),
    "allowResignation": Param(lambda config: config.resign_below > 0, _resignation),
    "resignThreshold": Param(
        lambda config: round(2 * config.resign_below - 1, 9),
        lambda config, text: replace(config, resign_below=(1 + float(text)) / 2),
    ),
    "resignConsecTurns": Param(
        lambda config: config.resign_moves, lambda config, text: replace(config, resign_moves=int(text))
    ),
    "ponderingEnabled": Param(lambda config: config.ponder, lambda config, text: replace(config, ponder=_flag(text))),
}
"""The parameters that set `GtpConfig`; others set the search."""
