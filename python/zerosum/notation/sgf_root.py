"""The first node of an SGF file as servers and programs write it: komi, rules, handicap and result of a game of Go.

The specification of FF[4] leaves the text of RU open, and some servers have customs of their own for other properties.
Komi and missing handicap stones are read as KataGo reads them (cpp/dataio/sgf.cpp): AP and the number decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from zerosum.base.errors import SettingsError
from zerosum.notation.go_words import GoRules
from zerosum.notation.record import Record

NUMBER = re.compile(r"[+-]?(\d{1,6}(\.\d{0,6})?|\.\d{1,6})", re.ASCII)
FRACTIONS = str.maketrans({"½": " 1/2", "¼": " 1/4", "¾": " 3/4"})
MIXED = re.compile(
    r"([+-]?(?:\d{1,3}(?:\.\d{1,6})?)?)\s*(?:又|と)?\s*(?:([1-3])/([24]))?\s*(目半|집반|目|子|집|points?|pts?)?",
    re.ASCII | re.IGNORECASE,
)
"""A number of points with a fraction or a unit, as people write it."""
HUNDREDFOLD = re.compile(r"[+-]?[2-9]\d\d", re.ASCII)
"""A komi in hundredths, whichever program wrote it."""
FEWEST_TENTHS = 25
"""The least whole number that Tygem writes for a komi in tenths."""
FEWEST_HUNDREDTHS = 25
"""The least whole number that Fox Weiqi and gokifu.com write for a komi in hundredths."""
IN_STONES = {275: 5.5, 325: 6.5, 350: 7.0, 375: 7.5}
"""Komi in hundredths of stones, two points each, in points."""

MOVE_OPTIONS = ("suicide", "superko")
"""Options that only decide which moves are legal."""
OPTIONS = re.compile(r"(?:suicide|superko)=[a-z]+(?:, (?:suicide|superko)=[a-z]+)*")
"""RU in records of this program for options that no named rules have."""

FIXED_HANDICAP = {
    2: "dp pd",
    3: "dp pd dd",
    4: "dp pd dd pp",
    5: "dp pd dd pp jj",
    6: "dp pd dd pp dj pj",
    7: "dp pd dd pp dj pj jj",
    8: "dp pd dd pp dj pj jp jd",
    9: "dp pd dd pp dj pj jp jd jj",
}
"""Points of handicap stones on 19x19 (GTP 2, section 4.1.1)."""
FIXED_HANDICAP_BEFORE_2018 = FIXED_HANDICAP | {6: "dp pd dd pp jd jp", 7: "dp pd dd pp jd jp jj"}
"""Those of Fox Weiqi in older files."""

WINNER = re.compile(r"(b|w|black|white)\s*(?:\+|(?:wins?|won)\b(?:\s+by\b)?)\s*(.*)", re.DOTALL | re.IGNORECASE)
WAYS = {
    "r": "resignation",
    "res": "resignation",
    "resign": "resignation",
    "resignation": "resignation",
    "t": "time",
    "time": "time",
    "f": "forfeit",
    "forfeit": "forfeit",
}
CHINESE_WAYS = {"中盘": "resignation", "中盤": "resignation", "中押": "resignation", "认输": "resignation"}
CHINESE_WAYS |= {"불계": "resignation", "기권": "resignation", "시간": "time", "投了": "resignation"}
CHINESE_WAYS |= {"超时": "time", "超時": "time", "时间": "time", "時間": "time"}
DRAWS = ("0", "draw", "jigo", "tie", "和棋", "和局", "持碁", "무승부")
NO_RESULTS = ("", "?", "void", "unknown", "unfinished", "suspended", "no result", "noresult", "无胜负", "無勝負")
"""Words of RE, in small letters, for a game without a winner."""


def is_fox(properties: Mapping[str, Sequence[str]]) -> bool:
    """Whether a root node is one of Fox Weiqi (AP[foxwq], or AP[GNU Go:3.8] with an empty GN in older files)."""
    programs = _programs(properties)
    return "foxwq" in programs or ("gnu go:3.8" in programs and properties.get("GN") == [""])


def is_tygem(properties: Mapping[str, Sequence[str]]) -> bool:
    """Whether a root node is one of Tygem (AP[Tygem], also with a version)."""
    return any(re.match(r"tygem\b", program) for program in _programs(properties))


def _programs(properties: Mapping[str, Sequence[str]]) -> list[str]:
    return [value.strip().lower() for value in properties.get("AP", ())]


def komi_of(properties: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """(komi in points, warning) of a root node; "" for an unknown komi, and where nothing has to be said.

    >>> komi_of({"KM": ["6.5"]})
    ('6.5', '')
    >>> komi_of({"KM": ["375"]})[0], komi_of({"KM": ["50"], "AP": ["foxwq"]})[0], komi_of({"KM": ["50"]})[0]
    ('7.5', '0.5', '50')
    >>> komi_of({"KM": ["65"], "AP": ["Tygem"]})[0]
    '6.5'
    """
    said = properties.get("KM", [""])[0].strip()
    number = _plain_number(said)
    if not said:
        return "", ""
    if not NUMBER.fullmatch(number):
        return "", "expected a number of points; it is left out"
    points = float(number)
    is_server = is_fox(properties) or "sgfc:2.0" in _programs(properties)
    if HUNDREDFOLD.fullmatch(number) or (is_server and points.is_integer() and abs(points) >= FEWEST_HUNDREDTHS):
        sign = -1 if points < 0 else 1
        points = sign * IN_STONES.get(abs(int(points)), abs(points) / 100)
    elif is_tygem(properties) and points.is_integer() and FEWEST_TENTHS <= abs(points) < 100:
        points /= 10
    rules = parse_rules(properties.get("RU", [""])[0])
    if rules is not None and rules.handicap_bonus == "N" and rules.scoring == "AREA" and points * 4 % 2 == 1:
        points *= 2  # Chinese rules count stones, so 3 3/4 stones are a komi of 7.5 points
    if (number, points) == (said, float(number)):
        return number, ""
    return f"{points:g}", f"expected a number of points; it is read as {points:g}"


def _plain_number(said: str) -> str:
    """A number of points as people write it, in digits with a decimal point; the text itself if it is none.

    >>> [_plain_number(said) for said in ("6,5", "3¾", "6目半", "3又3/4子", "-6 1/2", "none")]
    ['6.5', '3.75', '6.5', '3.75', '-6.5', 'none']
    """
    text = unicodedata.normalize("NFKC", said.translate(FRACTIONS)).strip()
    text = text.replace(",", ".") if text.count(",") == 1 else text
    found = MIXED.fullmatch(text)
    if NUMBER.fullmatch(text) or found is None or not re.search(r"\d", text):
        return text if NUMBER.fullmatch(text) else said
    part = int(found[2]) / int(found[3]) if found[2] else 0.0
    part += 0.5 if (found[4] or "").endswith(("半", "반")) else 0.0
    whole = found[1].removeprefix("-").removeprefix("+") or "0"
    return f"{'-' if found[1].startswith('-') else ''}{float(whole) + part:g}"


def parse_rules(text: str) -> GoRules | None:
    """The rules of a text of RU; None if it names none that are known.

    >>> parse_rules("Japanese Rules") == GoRules.named("japanese") == parse_rules("日本")
    True
    >>> parse_rules("koPOSITIONALscoreAREAtaxNONEsui1") == GoRules.named("tromp-taylor")
    True
    """
    try:
        return GoRules.parse(text)
    except SettingsError:
        return None


def move_options(text: str) -> str:
    """The options of Go by a text of RU that decide which moves are legal; "" for the defaults.

    >>> move_options("Chinese"), move_options("nz rules"), move_options("superko=situational")
    ('superko=simple', 'superko=situational, suicide=true', 'superko=situational')
    """
    if OPTIONS.fullmatch(text):
        return text
    rules = parse_rules(text) or GoRules()
    superko = "" if rules.ko == "POSITIONAL" else f"superko={rules.ko.lower()}"
    return ", ".join(filter(None, (superko, "suicide=true" if rules.suicide else "")))


def result_of(text: str) -> tuple[float | None, str]:
    """(the first player's result, ending) of RE; None and the text itself if it names neither a winner nor a draw.

    >>> result_of("W+2.5"), result_of("b+r"), result_of("Black wins by resignation"), result_of("白中押し勝ち")
    ((-1.0, '2.5 points'), (1.0, 'resignation'), (1.0, 'resignation'), (-1.0, 'resignation'))
    """
    if found := WINNER.fullmatch(text):
        way = found[2].strip().rstrip(".")
        margin = re.sub(r"\s*(points?|pts?)$", "", way.replace(",", ".").replace("½", ".5"), flags=re.IGNORECASE)
        ending = f"{margin} points" if NUMBER.fullmatch(margin) else WAYS.get(way.lower(), way)
        return (1.0 if found[1][0] in "Bb" else -1.0), ending
    if re.match(r"[黑黒白흑백]", text) and re.search(r"[胜勝赢贏승]", text):
        way = next((word for sign, word in CHINESE_WAYS.items() if sign in text), "")
        return (-1.0 if text[0] in "白백" else 1.0), way or text
    if text.lower() in DRAWS:
        return 0.0, ""
    return None, "" if text == "?" else text


def rules_of(record: Record) -> GoRules | None:
    """The rules by which people count a finished game of Go; None if its own options do, as in games of this program.

    A record of people without known rules is counted by area, without dead stones.
    """
    named = record.header("RU").strip() if record.format == "sgf" else ""
    if record.format != "sgf" or record.game.partition("(")[0] != "go" or OPTIONS.fullmatch(named):
        return None
    return parse_rules(named) or GoRules(friendly_pass=True)


def missing_handicap(properties: Mapping[str, Sequence[str]], num_stones: int) -> list[str]:
    """The points of handicap stones that Fox Weiqi leaves out of its files; [] for other files and boards."""
    if not is_fox(properties) or properties.get("SZ", ["19"])[0].strip() != "19":
        return []
    year = re.match(r"\d{4}", properties.get("DT", [""])[0].strip())
    is_old = year is not None and int(year[0]) < 2018
    return (FIXED_HANDICAP_BEFORE_2018 if is_old else FIXED_HANDICAP).get(num_stones, "").split()
