"""Go in programs' notation: points, players, and KataGo's names of rules (docs/GTP_Extensions.md, kata-set-rules).

Supported are area scoring without tax and territory scoring with none in seki, both without a button.
`GoRules.unsupported` lists everything else; the caller refuses it or warns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zerosum.base.errors import SettingsError, nearest, shown

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
PLAYERS = {"b": 0, "black": 0, "w": 1, "white": 1}
LETTERS = "XO"
"""Letters of the players in a position's text."""


def stones_of(text: str) -> Iterator[tuple[str, int]]:
    """(point, owner) of each stone in a position's text, row by row from the top.

    >>> list(stones_of("5/2X2/5/5/O4 X"))
    [('C4', 0), ('A1', 1)]
    """
    rows = text.split(" ", 1)[0].split("/")
    for number, row in zip(range(len(rows), 0, -1), rows, strict=True):
        cells = re.sub(r"\d+", lambda found: "." * int(found[0]), row)
        yield from ((f"{COLUMNS[at]}{number}", LETTERS.index(cell)) for at, cell in enumerate(cells) if cell != ".")


def text_of(size: int, stones: Mapping[str, int], player: int) -> str:
    """The text of a position with these stones and this player to move.

    >>> text_of(5, {"C4": 0, "A1": 1}, 0)
    '5/2X2/5/5/O4 X'
    """
    rows = []
    for row in range(size, 0, -1):
        points = (stones.get(f"{column}{row}") for column in COLUMNS[:size])
        letters = "".join("." if point is None else LETTERS[point] for point in points)
        rows.append(re.sub(r"\.+", lambda found: str(len(found[0])), letters))
    return f"{'/'.join(rows)} {LETTERS[player]}"


def without_past(text: str) -> str:
    """The text of a position without forbidden points and passes."""
    return re.sub(r" (ko|passes)=\S+", "", text)


def vertex_of(size: int, point: int) -> str:
    """The GTP text of a point, numbered row by row from the top left.

    >>> vertex_of(9, 0), vertex_of(9, 80)
    ('A9', 'J1')
    """
    return f"{COLUMNS[point % size]}{size - point // size}"


def point_of(size: int, vertex: str) -> int:
    """The number of a point of the board from its GTP text.

    >>> point_of(9, "A9"), point_of(9, "J1")
    (0, 80)
    """
    return (size - int(vertex[1:])) * size + COLUMNS.index(vertex[0])


@dataclass(frozen=True)
class GoRules:
    """Rules in KataGo's words."""

    ko: str = "POSITIONAL"
    suicide: bool = False
    """Whether suicide of several stones is legal; with simple ko, of a single stone, too."""
    handicap_bonus: str = "0"
    """Points that White gets for N handicap stones: "0", "N-1" or "N"."""
    scoring: str = "AREA"
    tax: str = "NONE"
    has_button: bool = False
    friendly_pass: bool = False
    """Whether dead stones may stay: after both sides pass they are removed before the count."""

    @classmethod
    def named(cls, name: str) -> GoRules:
        """The rules with this name in KataGo.

        Raises:
            SettingsError: the name is unknown.
        """
        key = name.strip().lower().replace("_", "-")
        if key not in SHORTHANDS:
            known = (known for known, rules in SHORTHANDS.items() if not rules.unsupported)
            raise SettingsError(f"{shown(name)}; available: {', '.join(known)}")
        return SHORTHANDS[key]

    @classmethod
    def parse(cls, text: str) -> GoRules:
        """The rules of a text as programs and people write them in files.

        It is a name in any spelling, KataGo's JSON, or KataGo's older text.

        >>> GoRules.parse("NZ Rules") == GoRules.parse('{"ko": "SITUATIONAL", "suicide": true, "friendlyPassOk": true}')
        True
        >>> GoRules.parse("koSIMPLEscoreAREAtaxNONEsui0whbN").handicap_bonus
        'N'

        Raises:
            SettingsError: the text is not one of these.
        """
        words = re.sub(r"[\s_,.-]+", " ", text.strip().lower())
        words = re.sub(r" ?(rules?(et)?|pair go|规则|規則|ルール|式|规|規)$", "", words)
        plain = SPELLINGS.get(words, words).replace(" ", "-")
        plain = next((name for name in SHORTHANDS if name.replace("-", "") == plain.replace("-", "")), plain)
        if plain in SHORTHANDS:
            return SHORTHANDS[plain]
        if text.lstrip().startswith("{"):
            try:
                fields = json.loads(text)
            except (ValueError, RecursionError):
                fields = None
            if not isinstance(fields, dict):
                raise SettingsError(f"{shown(text)} is not JSON of rules")
            return (
                cls().with_fields({name: value for name, value in fields.items() if name != "komi"})._with_tax(fields)
            )
        if TERSE.fullmatch(text.strip()):
            fields = {name: value for name, value in TERSE_FIELD.findall(text) if name != "komi"}
            meant = {TERSE_NAMES[name]: _terse_value(name, value) for name, value in fields.items()}
            return cls().with_fields(meant)._with_tax(meant)
        return cls.named(text)

    def _with_tax(self, fields: Mapping[str, Any]) -> GoRules:
        """The rules with their scoring's usual tax, if no field gives another one."""
        is_given = not {"tax", "taxRule"}.isdisjoint(fields)
        return self if is_given else replace(self, tax="SEKI" if self.scoring == "TERRITORY" else "NONE")

    def with_fields(self, values: Mapping[str, Any]) -> GoRules:
        """The rules with fields of KataGo's JSON changed.

        Raises:
            SettingsError: a field is unknown, or its value is invalid.
        """
        rules = self
        for said, value in values.items():
            name = OTHER_NAMES.get(said, said)
            if name not in FIELDS:
                raise SettingsError(f"no field {shown(said)}{nearest(said[:40], FIELDS)}")
            field, choices = FIELDS[name]
            meant: Any = value.upper() if isinstance(value, str) else value
            if not any(type(meant) is type(choice) and meant == choice for choice in choices):
                raise SettingsError(f"{said} must be one of {', '.join(map(str, choices))}, not {shown(str(value))}")
            rules = replace(rules, **{field: meant})
        return rules

    def fields(self) -> dict[str, Any]:
        """The rules as KataGo's JSON."""
        return {name: getattr(self, field) for name, (field, _) in FIELDS.items()}

    @property
    def unsupported(self) -> list[str]:
        """The rules that are not supported here."""
        found = []
        if self.scoring == "TERRITORY" and self.tax == "NONE":
            found.append("territory in seki")
        elif self.tax != ("NONE" if self.scoring == "AREA" else "SEKI"):
            found.append("a group tax")
        return found + (["a button"] if self.has_button else [])


FIELDS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "ko": ("ko", ("SIMPLE", "POSITIONAL", "SITUATIONAL")),
    "suicide": ("suicide", (False, True)),
    "whiteHandicapBonus": ("handicap_bonus", ("0", "N-1", "N")),
    "scoring": ("scoring", ("AREA", "TERRITORY")),
    "tax": ("tax", ("NONE", "SEKI", "ALL")),
    "hasButton": ("has_button", (False, True)),
    "friendlyPassOk": ("friendly_pass", (False, True)),
}
"""Fields of KataGo's JSON: our field, and the allowed values."""
OTHER_NAMES = {"koRule": "ko", "scoringRule": "scoring", "taxRule": "tax", "multiStoneSuicideLegal": "suicide"}
OTHER_NAMES |= {"score": "scoring"}
TERSE_NAMES = {
    "ko": "ko",
    "score": "scoring",
    "scoring": "scoring",
    "tax": "tax",
    "sui": "suicide",
    "button": "hasButton",
    "whb": "whiteHandicapBonus",
    "fpok": "friendlyPassOk",
}
TERSE_FIELD = re.compile(r"(komi|ko|scor(?:e|ing)|tax|sui|button|whb|fpok)(N-1|N(?!ONE)|[A-Z]+|[\d.-]+)\s*")
"""A field of KataGo's older text, such as `koPOSITIONALscoreAREAtaxNONEsui1komi7.5`."""
TERSE = re.compile(rf"(?:{TERSE_FIELD.pattern})+")
_JAPANESE = GoRules("SIMPLE", scoring="TERRITORY", tax="SEKI", friendly_pass=True)
_AGA = GoRules("SITUATIONAL", handicap_bonus="N-1", friendly_pass=True)
_NEW_ZEALAND = GoRules("SITUATIONAL", suicide=True, friendly_pass=True)
_ING = GoRules(suicide=True, friendly_pass=True)
_CHINESE_SERVER = GoRules(handicap_bonus="N", friendly_pass=True)
SHORTHANDS = {
    "tromp-taylor": GoRules(suicide=True),
    "chinese": GoRules("SIMPLE", handicap_bonus="N", friendly_pass=True),
    "chinese-ogs": _CHINESE_SERVER,
    "chinese-kgs": _CHINESE_SERVER,
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "stone-scoring": GoRules("SIMPLE", tax="ALL", friendly_pass=True),
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "aga-button": replace(_AGA, has_button=True),
    "new-zealand": _NEW_ZEALAND,
    "nz": _NEW_ZEALAND,
    "goe": _ING,
    "ing": _ING,
    "ancient-area": GoRules("SIMPLE", tax="ALL", friendly_pass=True),
    "ancient-territory": GoRules("SIMPLE", scoring="TERRITORY", tax="ALL", friendly_pass=True),
}
"""KataGo's names for rules."""
SPELLINGS = {
    "jp": "japanese",
    "japan": "japanese",
    "日本": "japanese",
    "日": "japanese",
    "cn": "chinese",
    "china": "chinese",
    "中国": "chinese",
    "中國": "chinese",
    "中": "chinese",
    "korea": "korean",
    "kr": "korean",
    "韩国": "korean",
    "韓国": "korean",
    "韓國": "korean",
    "한국": "korean",
    "tt": "tromp-taylor",
    "logical": "tromp-taylor",
    "ing goe": "ing",
    "goe ing": "ing",
    "ing sst": "ing",
    "应氏": "ing",
    "應氏": "ing",
    "应": "ing",
    "new zealand go society": "nz",
    "american": "aga",
    "aga (area)": "aga",
    "british": "bga",
}
"""Other words for rules in files, without blanks between and "rules" behind them."""


def _terse_value(name: str, value: str) -> str | bool:
    """A value of `TERSE_FIELD` as KataGo's JSON has it. Spight's ko rule is the nearest of those that are played."""
    if name in ("sui", "button", "fpok"):
        return value == "1"
    return "SITUATIONAL" if value == "SPIGHT" else value


SEARCH_SETTINGS = {
    "cpuctExploration": "c_init",
    "cpuctExplorationLog": "c_factor",
    "cpuctExplorationBase": "c_base",
    "fpuReductionMax": "unvisited_reduction",
}
"""KataGo's names of search settings that have the same formula here: c(s), and the value of unvisited moves."""


def search_changes(name: str, number: float) -> dict[str, Any]:
    """The settings of our search that one of `SEARCH_SETTINGS` changes.

    >>> search_changes("fpuReductionMax", 0.3)
    {'unvisited_reduction': 0.3, 'unvisited_value': 'parent'}
    """
    setting = SEARCH_SETTINGS[name]
    return {setting: number} | ({"unvisited_value": "parent"} if setting == "unvisited_reduction" else {})
