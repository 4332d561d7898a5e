"""Words of PGN as people and programs write them: signs of annotation, results, and the variant.

Sources: the PGN standard's glyphs $0 to $139 (S. J. Edwards, 1994), the signs of the Chess Informant, and the glyphs
that ChessPad, ChessBase and Lichess added.
"""

from __future__ import annotations

import re

SIGNS = {
    "!": 1,
    "?": 2,
    "!!": 3,
    "??": 4,
    "!?": 5,
    "?!": 6,
    "‼": 3,
    "⁇": 4,
    "⁉": 5,
    "⁈": 6,
    "□": 7,
    "=": 10,
    "∞": 13,
    "⩲": 14,
    "+=": 14,
    "+/=": 14,
    "⩱": 15,
    "=+": 15,
    "=/+": 15,
    "±": 16,
    "+/-": 16,
    "∓": 17,
    "-/+": 17,
    "+-": 18,
    "-+": 19,
    "⨀": 22,
    "⊙": 22,
    "○": 26,
    "⟳": 32,
    "↑↑": 32,
    "⇈": 32,
    "↑": 36,
    "→": 40,
    "=∞": 44,
    "=/∞": 44,
    "⯹": 44,
    "⇆": 132,
    "⇄": 132,
    "⊕": 138,
    "∆": 140,
    "△": 140,
    "Δ": 140,
    "∇": 141,
    "⌓": 142,
    "RR": 145,
    "N": 146,
    "TN": 146,
    "D": 220,
    "⇔": 239,
    "⟫": 242,
    "⟪": 243,
    "✕": 244,
    "⊥": 245,
}
"""Signs that stand for themselves after a move, or at its end, with their numbers. A minus is any of `DASHES`."""

DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
"""Dashes and minus signs that people write for a hyphen."""
PIECES = str.maketrans(dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBN\0" * 2, strict=True)))
"""Figures of pieces, of either colour, as letters; pawns have none."""
CASTLING = re.compile(r"[O0oОо]-[O0oОо](?:-[O0oОо])?(?=[+#!?]*$)")
"""Castling with Latin letters, zeros, or Cyrillic letters."""
SMALL_PROMOTION = re.compile(r"((?:[a-h]x?)?[a-h][18]=|[a-h]?x?[a-h][18])([qrbn])(?=[+#!?]*$)")
CHECK_WORD = re.compile(r"(.*[a-h][1-8](?:=?[QRBN])?|O-O(?:-O)?)(?:dis\.?|dbl\.?)?(?:ch|mate)\.?([!?]*)")
"""A move with a check in words, as in descriptive notation."""
MOVE = re.compile(r"(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=?[QRBN])?|(?:O-O(?:-O)?|0-0(?:-0)?))")
SIGN = re.compile("[!?]+|" + "|".join(map(re.escape, sorted(SIGNS, key=len, reverse=True))))
WORD = re.compile(r"(?=[a-z]*[^\Wa-hx\d_])[^\W\d_A-Z]{2,}[.,:!]*|(?=\w*[^\Wa-hxoKQRBNOP\d_])[^\W\d_]{4,}[.,:!]*")
"""A word of a language, such as `resigns` or `White`: letters alone, and not only those of moves."""

RESULTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0, "*": None}


LETTERS_FOR_DIGITS = re.compile(r"\*?(?:[1lI]-[0Oo]|[0Oo]-[1lI])[.,+F\]]?")
"""A result with the letters O and l for 0 and 1."""


def result_word(word: str) -> str:
    """One of `RESULTS` in another spelling; "" if the word is none.

    >>> [result_word(word) for word in ("1:0", "½-½", "0–1", "1/2", "0.5-0.5", "0-0", "Nf3")]
    ['1-0', '1/2-1/2', '0-1', '1/2-1/2', '1/2-1/2', '', '']
    >>> [result_word(word) for word in ("1-O", "o-1", "l-0", "O-O", "O-O-O")]
    ['1-0', '0-1', '1-0', '', '']
    """
    plain = re.sub(r"\s+", "", word.translate(DASHES)).replace(":", "-").replace("½", "1/2")
    if LETTERS_FOR_DIGITS.fullmatch(plain):
        plain = re.sub("[lI]", "1", re.sub("[Oo]", "0", plain))
    plain = re.sub(r"0[.,]5", "1/2", plain)
    plain = re.sub(r"^\*?(1-0|0-1|1/2-1/2)[.,+F\]]?$", r"\1", "1/2-1/2" if plain in ("1/2", "1/2-", "=-=") else plain)
    return plain if plain in RESULTS else ""


def glyphs_of(signs: str) -> list[int] | None:
    """The numbers of signs in a row, "!□" or "∞"; None if a part of the text is no sign.

    >>> glyphs_of("!□"), glyphs_of("+−"), glyphs_of("!!!"), glyphs_of("e4")
    ([1, 7], [18], None, None)
    """
    text = signs.translate(DASHES).replace("\ufe0f", "").replace("\ufe0e", "")
    found = SIGN.findall(text)
    is_known = found and "".join(found) == text and all(sign in SIGNS for sign in found)
    return [SIGNS[sign] for sign in found] if is_known else None


def usual_move(word: str) -> str:
    r"""A move in the letters of the standard, from figures, other dashes of castling, small letters or words of check.

    >>> [usual_move(word) for word in ("♞f3", "O\u2013O", "0\u20110+", "exd8=q", "Nf3dis.ch!", "e7d8q", "Sf3")]
    ['Nf3', 'O-O', 'O-O+', 'exd8=Q', 'Nf3+!', 'e7d8q', 'Sf3']
    """
    plain = word.translate(PIECES).replace("\0", "")
    if not plain.isascii() and (castling := CASTLING.match(plain.translate(DASHES))):
        plain = re.sub("[0oОо]", "O", castling[0]) + plain[castling.end() :]
    if promotion := SMALL_PROMOTION.match(plain):
        plain = promotion[1] + promotion[2].upper() + plain[promotion.end() :]
    check = CHECK_WORD.fullmatch(plain)
    return f"{check[1]}+{check[2]}" if check else plain


def split_signs(word: str) -> tuple[str, list[int]] | None:
    """A move and the numbers of the signs that follow it without a blank; None if the word is none of this form.

    >>> split_signs("Nf3!□"), split_signs("e4+-"), split_signs("Qh5+∓"), split_signs("Nf3~")
    (('Nf3', [1, 7]), ('e4', [18]), ('Qh5+', [17]), None)
    """
    found = MOVE.match(word)
    if found is None:
        return None
    rest = word[found.end() :]
    for check in ("", "+", "#", "++"):
        if rest.startswith(check) and (glyphs := glyphs_of(rest.removeprefix(check))) is not None:
            return found[0] + check, glyphs
    return None


def is_remark(word: str) -> bool:
    """Whether a word is certainly no move: signs alone, or a word of a language.

    >>> [is_remark(word) for word in ("||", "¹", "resigns", "ch", "White", "O-O", "oo", "Nf9", "Sxe", "e5~")]
    [True, True, True, True, True, False, False, False, False, False]
    """
    is_word = WORD.fullmatch(word) is not None and set(word) != {"o"}
    return is_word or has_no_letters(word) or re.fullmatch(r"(?:(?:dis|dbl)\.?)?ch\.?", word) is not None


def has_no_letters(text: str) -> bool:
    """Whether a text has neither letters nor digits; raised digits, as of footnotes, are signs."""
    return not any(letter.isalpha() or letter.isdecimal() for letter in text)


VARIANTS = {
    "": "chess",
    "standard": "chess",
    "from position": "chess",
    "chess": "chess",
    "normal": "chess",
    "classical": "chess",
    "standard chess": "chess",
    "?": "chess",
    "-": "chess",
    "chess960": "chess960",
    "chess 960": "chess960",
    "chess-960": "chess960",
    "fischerandom": "chess960",
    "fischer random": "chess960",
    "fischerrandom": "chess960",
    "fischerandom chess": "chess960",
    "fischer random chess": "chess960",
    "wild/fr": "chess960",
    "freestyle": "chess960",
    "freestyle chess": "chess960",
}
"""Games by the tag Variant, in lower case."""


def is_chess960(fen: str) -> bool:
    """Whether the castling rights of a FEN exist in Chess960 only: the king or a rook is not on its square in chess.

    >>> is_chess960("bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1")
    True
    >>> is_chess960("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"), is_chess960("4k3/8/8/8/8/8/8/RK5R w - - 0 1")
    (False, False)
    """
    fields = fen.split()
    ranks = fields[0].split("/") if fields else []
    if len(ranks) != 8 or len(fields) < 3:
        return False
    for right in fields[2].replace("-", ""):
        row = ranks[7] if right.isupper() else ranks[0]
        squares = re.sub(r"[1-8]", lambda found: "." * int(found[0]), row)
        king, rook = squares.find("K" if right.isupper() else "k"), "R" if right.isupper() else "r"
        if king < 0 or len(squares) != 8 or right.upper() not in "KQABCDEFGH":
            return False
        if right.upper() in "KQ":
            side = squares[king + 1 :] if right.upper() == "K" else squares[:king]
            corner = squares[7] if right.upper() == "K" else squares[0]
            if rook in side and (king != 4 or corner != rook):
                return True
        elif squares["ABCDEFGH".index(right.upper())] == rook and (king != 4 or right.upper() not in "AH"):
            return True
    return False
