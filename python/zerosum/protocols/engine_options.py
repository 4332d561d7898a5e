"""Options that an engine offers: what it lists, what it takes, and the table of them in `docs/engines.md`.

What each option does stands with who obeys it (`line_engine.py`, `uci.py`, `usi.py`). UCI and USI write them alike, but
that names in USI have no blanks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, shown
from zerosum.external.uci_client import EngineOption

EMPTY = "<empty>"
"""How both protocols write an empty text."""
INERT = "<acts on nothing>"
"""The default of a text that nobody reads."""


@dataclass(frozen=True)
class OfferedOption:
    """An option with its meaning."""

    listed: EngineOption
    meaning: str
    """For people: what it acts on."""
    is_inert: bool = False
    """It is there because clients set it unasked."""

    @property
    def line(self) -> str:
        """As the handshake lists it."""
        option = self.listed
        words = ["option name", option.name, "type", option.kind, "default", option.default or EMPTY]
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
        if (expected := option.expected(value)) is not None:
            raise SettingsError(f"Option {option.name} is {shown(text)}, expected {expected}: it stays as it was.")
        return str(int(value)) if option.kind == "spin" else value


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


def option_table(options: Iterable[OfferedOption]) -> str:
    """The options as a table in Markdown."""
    rows = ["| option | default | values | what it acts on |", "|---|---|---|---|"]
    for offered in options:
        option = offered.listed
        values = {"check": "true, false", "spin": f"{option.low} to {option.high}", "string": "a text"}
        shown_values = values.get(option.kind) or ", ".join(option.choices)
        rows.append(f"| `{option.name}` | `{option.default or EMPTY}` | {shown_values} | {offered.meaning} |")
    return "\n".join(rows)
