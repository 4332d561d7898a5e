"""Options of an engine: the list in its handshake, the values it accepts, and the table in `docs/engines.md`.

`line_engine.py`, `uci.py` and `usi.py` implement the options. UCI and USI write them alike, except that names of USI
contain no blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, shown
from zerosum.play.engines.uci_client import EngineOption

EMPTY = "<empty>"
"""Both protocols write an empty text so."""
INERT = "<acts on nothing>"
"""Default of a text option that has no effect."""
OWN = "<own>"
"""Default of a decimal option: the player's own value applies."""


@dataclass(frozen=True)
class OfferedOption:
    """An option and its description."""

    listed: EngineOption
    meaning: str
    """Description for people."""
    is_inert: bool = False
    """The option exists only because clients set it without asking."""
    decimals: tuple[float, float] | None = None
    """Range of a decimal number, which the protocols write as a text; None for other options."""

    @property
    def line(self) -> str:
        """The option's line in the handshake."""
        option = self.listed
        words = ["option name", option.name, "type", option.kind]
        if option.kind != "button":
            words += ["default", option.default or EMPTY]
        if option.kind == "spin":
            words += ["min", option.low, "max", option.high]
        return " ".join([*words, *(f"var {choice}" for choice in option.choices)])

    def read(self, text: str) -> str:
        """The value that a client wrote, in the form that the option keeps.

        Raises:
            SettingsError: the option does not accept the value.
        """
        option, value = self.listed, "" if text == EMPTY else text
        if option.kind == "check":
            value = value.lower()
        elif option.kind == "combo":
            value = next((choice for choice in option.choices if choice.casefold() == value.casefold()), value)
        if (expected := self._expected(value)) is not None:
            raise SettingsError(f"Option {option.name} is {shown(text)}, expected {expected}: it stays as it was.")
        return str(int(value)) if option.kind == "spin" else value

    def _expected(self, value: str) -> str | None:
        """The accepted values as a phrase; None if this value is one of them."""
        if self.decimals is None or (value == OWN == self.listed.default):
            return self.listed.expected(value)
        low, high = self.decimals
        is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", value, re.ASCII)
        return None if is_number and low <= float(value) <= high else f"a number from {low:g} to {high:g}"


def check(name: str, default: bool, meaning: str, *, is_inert: bool = False) -> OfferedOption:
    """An option that is true or false."""
    return OfferedOption(EngineOption(name, "check", str(default).lower()), meaning, is_inert)


def spin(name: str, default: int, low: int, high: int, meaning: str) -> OfferedOption:
    """An option whose value is an integer from `low` to `high`, both included."""
    return OfferedOption(EngineOption(name, "spin", str(default), str(low), str(high)), meaning)


def combo(name: str, default: str, choices: Iterable[str], meaning: str) -> OfferedOption:
    """An option whose value is one of several words."""
    return OfferedOption(EngineOption(name, "combo", default, choices=tuple(choices)), meaning)


def text(name: str, default: str, meaning: str, *, is_inert: bool = False) -> OfferedOption:
    """An option whose value is any text on one line."""
    return OfferedOption(EngineOption(name, "string", default), meaning, is_inert)


def decimal(name: str, default: str, low: float, high: float, meaning: str) -> OfferedOption:
    """An option whose value is a decimal number from `low` to `high`, both included; the default may also be `OWN`."""
    return OfferedOption(EngineOption(name, "string", default), meaning, decimals=(low, high))


def button(name: str, meaning: str) -> OfferedOption:
    """An option that triggers an action at once."""
    return OfferedOption(EngineOption(name, "button"), meaning)


def option_table(options: Iterable[OfferedOption]) -> str:
    """The options as a table in Markdown."""
    rows = ["| option | default | values | what it acts on |", "|---|---|---|---|"]
    for offered in options:
        option = offered.listed
        values = {"check": "true, false", "spin": f"{option.low} to {option.high}", "string": "a text"}
        if offered.decimals is not None:
            values["string"] = f"{offered.decimals[0]:g} to {offered.decimals[1]:g}"
        values["button"] = "a button"
        shown_values = values.get(option.kind) or ", ".join(option.choices)
        default = "" if option.kind == "button" else f"`{option.default or EMPTY}`"
        rows.append(f"| `{option.name}` | {default} | {shown_values} | {offered.meaning} |")
    return "\n".join(rows)
