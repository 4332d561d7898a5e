"""Options that an engine offers: what it lists, what it takes, and the table of them in `docs/engines.md`.

What each option does stands with who obeys it (`line_engine.py`, `uci.py`, `usi.py`). UCI and USI write them alike, but
that names in USI have no blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, shown
from zerosum.external.uci_client import EngineOption

EMPTY = "<empty>"
"""How both protocols write an empty text."""
INERT = "<acts on nothing>"
"""The default of a text that nobody reads."""
OWN = "<own>"
"""The default of a decimal number that is the player's own."""


@dataclass(frozen=True)
class OfferedOption:
    """An option with its meaning."""

    listed: EngineOption
    meaning: str
    """For people: what it acts on."""
    is_inert: bool = False
    """It is there because clients set it unasked."""
    decimals: tuple[float, float] | None = None
    """The least and the most of a decimal number, which the protocols write as a text."""

    @property
    def line(self) -> str:
        """As the handshake lists it."""
        option = self.listed
        words = ["option name", option.name, "type", option.kind]
        if option.kind != "button":
            words += ["default", option.default or EMPTY]
        if option.kind == "spin":
            words += ["min", option.low, "max", option.high]
        return " ".join([*words, *(f"var {choice}" for choice in option.choices)])

    def read(self, text: str) -> str:
        """The value that somebody wrote, as the option keeps it.

        Raises:
            SettingsError: the option does not take it.
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
        """What it takes, if this value is none of it."""
        if self.decimals is None or (value == OWN == self.listed.default):
            return self.listed.expected(value)
        low, high = self.decimals
        is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", value, re.ASCII)
        return None if is_number and low <= float(value) <= high else f"a number from {low:g} to {high:g}"


def check(name: str, default: bool, meaning: str, *, is_inert: bool = False) -> OfferedOption:
    """True or false."""
    return OfferedOption(EngineOption(name, "check", str(default).lower()), meaning, is_inert)


def spin(name: str, default: int, low: int, high: int, meaning: str) -> OfferedOption:
    """A whole number, `low` and `high` included."""
    return OfferedOption(EngineOption(name, "spin", str(default), str(low), str(high)), meaning)


def combo(name: str, default: str, choices: Iterable[str], meaning: str) -> OfferedOption:
    """One of several words."""
    return OfferedOption(EngineOption(name, "combo", default, choices=tuple(choices)), meaning)


def text(name: str, default: str, meaning: str, *, is_inert: bool = False) -> OfferedOption:
    """Any text on one line."""
    return OfferedOption(EngineOption(name, "string", default), meaning, is_inert)


def decimal(name: str, default: str, low: float, high: float, meaning: str) -> OfferedOption:
    """A number that need not be whole, `low` and `high` included; the default may be `OWN`, too."""
    return OfferedOption(EngineOption(name, "string", default), meaning, decimals=(low, high))


def button(name: str, meaning: str) -> OfferedOption:
    """Something that is done at once."""
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
