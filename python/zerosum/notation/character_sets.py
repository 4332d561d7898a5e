"""The character set of a text that does not name it: trial decoding, and how usual the characters are that result.

In Shift-JIS, GBK and Big5 the second byte of a character can be a backslash or a bracket, so a wrong set breaks the
properties of an SGF file, not only its names. Each candidate decodes the text. The score of a candidate is the mean
over the bytes beyond ASCII: 1 for a common character, less for a rare one, negative for what texts do not have.

The common characters are those of the first level of each standard: JIS X 0208, GB 2312, Big5 and KS X 1001 order their
characters by frequency in two levels, the rows of which are the leading bytes below.
"""

from __future__ import annotations

import re
import unicodedata

SHIFT_JIS = "cp932"
WIDER_SETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": SHIFT_JIS, "euc_kr": "cp949", "big5": "cp950"}
"""The larger character sets that are used in practice under the names of smaller ones."""
NAMES = {SHIFT_JIS: "Shift_JIS", "gb18030": "GB18030", "cp950": "Big5", "cp949": "EUC-KR", "euc_jp": "EUC-JP"}
NAMES |= {"utf-8": "UTF-8", "latin-1": "Latin-1", "cp1251": "Windows-1251", "iso2022_jp": "ISO-2022-JP", "hz": "HZ"}

FIRST_LEVEL = {
    SHIFT_JIS: ((0x88, 0x97), (0x82, 0x83)),
    "gb18030": ((0xB0, 0xD7), ()),
    "cp950": ((0xA4, 0xC6), ()),
    "cp949": ((0xB0, 0xC8), ()),
    "euc_jp": ((0xB0, 0xCF), (0xA4, 0xA5)),
}
"""Leading bytes of common characters: the range of the first level, and those of kana."""
PUNCTUATION = {SHIFT_JIS: (0x81,), "gb18030": (0xA1, 0xA3), "cp950": (0xA1, 0xA2), "cp949": (0xA1, 0xA3)}
PUNCTUATION |= {"euc_jp": (0xA1, 0xA3)}
FEWEST_HANGUL = 3
"""Least number of Hangul in a row of nothing else that is Korean: as GBK they are common characters, too."""
FEWEST_LETTERS = 3
"""Least number of letters beyond ASCII in a text that is Cyrillic."""
RUSSIAN = "".join(map(chr, range(ord("А"), ord("я") + 1))) + "Ёё"
MOST_BYTES = 1 << 16
"""Bytes of a text that are judged."""
SURE = 0.6
"""The least score of a set that replaces a declared one."""


SEVEN_BIT = {"iso2022_jp": (b"\x1b$B", b"\x1b$@"), "hz": (b"~{",)}
"""Sets of seven bits by the sequences that begin their characters."""


def guess_of_seven_bits(content: bytes) -> str:
    """The character set of a text of seven bits in which two of them stand for a character; "" if it has none.

    >>> guess_of_seven_bits("本因坊".encode("iso2022_jp")), guess_of_seven_bits(b"~{ is a sign")
    ('iso2022_jp', '')
    """
    for name, begins in SEVEN_BIT.items():
        if content.isascii() and any(begin in content for begin in begins):
            try:
                return "" if content.decode(name).isascii() else name
            except UnicodeDecodeError:
                continue
    return ""


def shown_name(encoding: str) -> str:
    """The usual name of a character set.

    >>> shown_name("cp932"), shown_name("iso8859-2")
    ('Shift_JIS', 'ISO8859-2')
    """
    return NAMES.get(encoding, encoding.upper())


def guess(content: bytes) -> str:
    """The character set, by its name in Python, of a text that is not UTF-8; "latin-1" if it looks like no other.

    >>> [guess(word.encode(name)) for word, name in (("山田表", "cp932"), ("柯洁", "gbk"), ("Zoë", "latin-1"))]
    ['cp932', 'gb18030', 'latin-1']
    """
    sample = _sample(content)
    scores = {name: _score(sample, name) for name in ("latin-1", "cp1251", *FIRST_LEVEL)}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] > 0 else "latin-1"


def japanese_set(content: bytes) -> str:
    """The set of several bytes of a Japanese text that is not UTF-8: EUC-JP where it looks more like it than Shift-JIS.

    >>> [japanese_set(name.encode(encoding)) for name in ("羽生", "森内俊之") for encoding in ("euc_jp", "cp932")]
    ['euc_jp', 'cp932', 'euc_jp', 'cp932']
    """
    sample = _sample(content)
    try:
        sample.decode("euc_jp")
    except UnicodeDecodeError:
        return SHIFT_JIS
    return "euc_jp" if _score(sample, "euc_jp") > _score(sample, SHIFT_JIS) else SHIFT_JIS


def contradicts(content: bytes, declared: str) -> str:
    """The character set of a text that is certainly not in the declared one; "" if it may be.

    Valid UTF-8 beyond ASCII is hardly ever anything else: in a set of several bytes at least one character of three
    bytes is required.
    """
    if content.isascii() or declared.startswith(("utf", "iso2022", "hz")):
        return _other_than_utf8(content) if declared.startswith("utf") else ""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return _other_than_wide(content, declared)
    is_wide = declared in FIRST_LEVEL or declared.startswith(("gb", "big5", "euc", "cp9", "shift", "johab"))
    return "utf-8" if not is_wide or any(ord(letter) >= 0x800 for letter in text) else ""


def _other_than_wide(content: bytes, declared: str) -> str:
    """The set of a text that cannot be in the declared set of several bytes; "" if it can, or no set is sure."""
    if declared not in FIRST_LEVEL:
        return ""
    try:
        content.decode(declared)
    except UnicodeDecodeError:
        found = guess(content)
        return found if found != declared and _score(_sample(content), found) >= SURE else ""
    return ""


def is_mainly_utf8(content: bytes) -> bool:
    r"""Whether most of the text beyond ASCII is UTF-8, although some bytes are not.

    >>> is_mainly_utf8("棋".encode() + b"\xff"), is_mainly_utf8("棋".encode("gbk"))
    (True, False)
    """
    letters = [letter for letter in content.decode("utf-8", errors="replace") if not letter.isascii()]
    num_broken = letters.count("\ufffd")
    return len(letters) - num_broken >= max(num_broken, 1)


def _other_than_utf8(content: bytes) -> str:
    """The set of a text that calls itself UTF-8 and is mainly not; "" if it is, or no set is sure."""
    if content.isascii() or is_mainly_utf8(content):
        return ""
    found = guess(content)
    return found if _score(_sample(content), found) >= SURE else ""


def _sample(content: bytes) -> bytes:
    """The values with bytes beyond ASCII: words of properties say nothing."""
    words = re.findall(rb"[\x00-\x7f]?[\x80-\xff][\x21-\xff]*[\x00-\x7f]?", content[: 16 * MOST_BYTES])
    return b"\n".join(words)[:MOST_BYTES]


def _score(sample: bytes, name: str) -> float:
    """Mean score in [-4, 1] of the bytes beyond ASCII."""
    text = sample.decode(name, errors="replace")
    scored = _scores_of_bytes(text, name) if name in ("latin-1", "cp1251") else _scores_of_characters(text, name)
    total = sum(score * weight for score, weight in scored)
    return total / max(sum(weight for _, weight in scored), 1)


def _scores_of_bytes(text: str, name: str) -> list[tuple[float, int]]:
    """(score, 1) of each letter beyond ASCII of a text of single bytes: letters stand in words, capitals before them.

    Words of Latin letters are mainly ASCII, Cyrillic ones have no letter of it.
    """
    scores = []
    for before, letter, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if letter.isascii():
            continue
        near = before + after
        if not letter.isalpha():
            is_sign = unicodedata.category(letter)[0] == "P" and name != "cp1251"
            score = 0.0 if is_sign else -0.5
        elif (letter.isupper() and before.islower()) or (letter.islower() and after.isupper()):
            score = -1.0
        elif letter in RUSSIAN and letter.isupper() and before in RUSSIAN:
            score = -0.5
        elif letter in RUSSIAN:
            score = 1.0 if not any(other.isascii() and other.isalpha() for other in near) else -1.0
        elif name == "cp1251":
            score = -0.5
        else:
            score = 1.0 if any(other.isascii() and other.isalpha() for other in near) else -0.5
        scores.append((score, 1))
    is_enough = name != "cp1251" or len(scores) >= FEWEST_LETTERS
    return scores if is_enough else [(score - 1, weight) for score, weight in scores]


def _scores_of_characters(text: str, name: str) -> list[tuple[float, int]]:
    """(score, number of bytes) of each character beyond ASCII of a text in a set of several bytes."""
    level, kana = FIRST_LEVEL[name]
    scores, num_common = list[tuple[float, int]](), 0
    for letter in text:
        if letter.isascii():
            continue
        encoded = letter.encode(name, errors="replace") if letter != "\ufffd" else b""
        is_high = encoded[1:2] >= b"\xa1" or name in (SHIFT_JIS, "cp950")
        if not encoded or encoded == b"?":
            score = -4.0
        elif level[0] <= encoded[0] <= level[1] and len(encoded) == 2 and is_high:
            score, num_common = 1.0, num_common + 1
        elif encoded[0] in kana or encoded[0] in PUNCTUATION[name]:
            score = 1.0 if encoded[0] in kana else 0.5
        else:
            score = -1.0 if len(encoded) != 2 else -0.3
        scores.append((score, max(len(encoded), 1)))
    if name == "cp949":  # Korean texts have nothing but Hangul, and GBK has the same bytes for common characters
        return [(score + 0.01 if num_common == len(scores) >= FEWEST_HANGUL else score - 0.5, w) for score, w in scores]
    if name == "euc_jp" and not any("\u3040" <= letter <= "\u30ff" for letter in text):
        return [(score - 0.8, weight) for score, weight in scores]
    return [(score + 0.005, w) for score, w in scores] if name == "euc_jp" else scores
