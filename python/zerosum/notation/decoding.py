"""Decodes the bytes of a file to text by the customs of each format, and the text to records."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator

from zerosum.base.errors import DataError
from zerosum.games import Rules
from zerosum.notation import character_sets, csa, kif, own_files, pgn, sgf
from zerosum.notation.character_sets import SHIFT_JIS, WIDER_SETS, shown_name
from zerosum.notation.record import Record

CHUNK = 1 << 16

CHARACTER_SETS = re.compile(
    r"ascii|utf-8(-sig)?|iso8859-\d+|cp\d{3,4}|koi8-[rtu]|kz1048|ptcp154|tis-620|hp-roman8|mac-\w+"
    r"|gb\w+|hz|big5\w*|shift_jis\w*|euc_\w+|iso2022_\w+|johab"
)
"""Known character sets by their names in Python. Other codecs of Python are not for texts."""


OTHER_NAMES = {"x-sjis": SHIFT_JIS, "windows-31j": SHIFT_JIS, "x-gbk": "gb18030", "windows-949": "cp949"}
OTHER_NAMES |= {"windows-936": "gb18030", "windows-932": SHIFT_JIS, "x-euc-jp": "euc_jp", "x-euc-kr": "euc_kr"}
OTHER_NAMES |= {"x-big5": "cp950", "windows-950": "cp950"}
"""Names of character sets in files that Python does not have, in small letters."""


class Decoder:
    """Decodes bytes to text by the rules of each format, and text to records."""

    def __init__(self, format: str, head: bytes, chunks: Iterator[bytes], game: Rules | None) -> None:
        self.format, self.game = format, game
        self.has_mark = head.startswith(b"\xef\xbb\xbf")
        self.head = head.removeprefix(b"\xef\xbb\xbf")
        self.chunks = chunks
        self.warnings: list[tuple[int, str]] = []
        """Lines with invalid bytes, and how they are read."""
        self.line = 0
        """Number of decoded lines."""
        self.is_at_end = False
        self.is_utf8 = self.has_mark
        """Whether a line has UTF-8 beyond ASCII."""
        self.is_latin1 = False
        """Whether a line is not UTF-8."""

    def records(self) -> Iterator[Record]:
        """The games of the file, one at a time."""
        if self.format == "sgf":
            return sgf.parse(self._sgf_text(b"".join(self._bytes())))
        if self.format == "pgn":
            return pgn.parse(self._lines(self._decode_western))
        if self.format == own_files.MATCH:
            return own_files.parse_match(self._lines(self._decode_western), self.game)
        if self.format == own_files.MOVES:
            assert self.game is not None, "without a game no file is one of moves"
            return own_files.parse_moves(self._lines(self._decode_western), self.game)
        parse = kif.parse if self.format == "kif" else csa.parse
        return parse(self._japanese_lines())

    def take_warnings(self) -> list[str]:
        """The warnings about lines before the newest one, which begins the next game."""
        taken = [
            f"line {line}: {what}" if line else what
            for line, what in self.warnings
            if line < self.line or self.is_at_end
        ]
        self.warnings = [] if self.is_at_end else [warning for warning in self.warnings if warning[0] >= self.line]
        return taken

    def _bytes(self) -> Iterator[bytes]:
        yield self.head
        yield from self.chunks

    def _lines(self, decode: Callable[[bytes], str]) -> Iterator[str]:
        """The lines, with the line ends of any system."""
        for content in self._byte_lines():
            self.line += 1
            yield content.decode("ascii") if content.isascii() else decode(content)
        self.is_at_end = True

    def _byte_lines(self) -> Iterator[bytes]:
        rest = b""
        for piece in self._bytes():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield from line.removesuffix(b"\r").split(b"\r")
        if rest:
            yield from rest.removesuffix(b"\r").split(b"\r")

    def _warn(self, error: UnicodeDecodeError, encoding: str, what: str) -> None:
        byte = error.object[error.start]
        said = f"the byte 0x{byte:02X} is not {shown_name(encoding)}: {what}; save the file as UTF-8"
        self.warnings.append((self.line, said))

    def _decode_western(self, content: bytes) -> str:
        """A line in UTF-8, or else in Latin-1, the default of PGN and SGF."""
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            # A file in Latin-1 gets one warning; a mixed file gets one per line.
            if self.is_utf8 or not self.is_latin1:
                others = "" if self.is_utf8 else ", and others like it are,"
                self._warn(error, "utf-8", f"the line is read{others} as Latin-1")
            self.is_latin1 = True
            return content.decode("latin-1")
        self.is_utf8 = True
        return text

    def _japanese_lines(self) -> Iterator[str]:
        """Lines in the encoding named in the first line, else in UTF-8, Shift-JIS or EUC-JP.

        The first line beyond ASCII decides whether they are in UTF-8, the head of the file between the others.
        """
        declared = re.match(rb"(?:#KIF|'CSA)[^\r\n]*encoding=([\w-]+)", self.head)
        whole_lines = self.head.rpartition(b"\n")[0] or self.head
        encodings = ["utf-8"] if self.has_mark else ["utf-8", character_sets.japanese_set(whole_lines)]
        if declared and not self.has_mark:
            named = declared[1].decode("ascii").lower().replace("-", "_")
            known = {"utf_8": "utf-8", "utf8": "utf-8", "shift_jis": SHIFT_JIS, "sjis": SHIFT_JIS, "cp932": SHIFT_JIS}
            known |= {"euc_jp": "euc_jp", "eucjp": "euc_jp", "x_euc_jp": "euc_jp"}
            if named not in known:
                raise DataError(f"line 1: the encoding {named!r} is none of UTF-8, Shift_JIS and EUC-JP.")
            encodings = [known[named]]

        def decode(content: bytes) -> str:
            nonlocal encodings
            for encoding in encodings:
                try:
                    text = content.decode(encoding)
                except UnicodeDecodeError:
                    continue
                # Each encoding could read some lines of the other, but a file has only one.
                if encoding == "euc_jp" and len(encodings) > 1:
                    what = "the text is not UTF-8 and does not name its character set: it is read as EUC-JP"
                    self.warnings.append((1, f"{what}; save the file as UTF-8"))
                encodings = [encoding]
                return text
            return self._decode_damaged(content, encodings)

        return self._lines(decode)

    def _decode_damaged(self, content: bytes, encodings: list[str]) -> str:
        """A damaged line, by the encoding that reads more of it."""
        texts = {encoding: content.decode(encoding, errors="replace") for encoding in encodings}
        encoding = min(texts, key=lambda encoding: texts[encoding].count("\ufffd"))
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            self._warn(error, encoding, "it is read as \ufffd")
        return texts[encoding]

    def _sgf_text(self, content: bytes) -> str:
        """Text in the character set that CA names, else in UTF-8 or the set that the text looks like."""
        self.head, self.chunks, self.is_at_end = content, iter(()), True
        try:
            in_utf8 = content.decode("utf-8")
        except UnicodeDecodeError:
            in_utf8 = None
        found = None if self.has_mark else re.search(rb"CA[a-z]*\s*\[\s*([\w.:-]+)\s*\]", content[:CHUNK])
        if found is None:
            is_known = in_utf8 is not None and (self.has_mark or not character_sets.guess_of_seven_bits(content))
            return in_utf8 if in_utf8 is not None and is_known else self._undeclared(content)
        name = found[1].decode("ascii")
        try:
            known = codecs.lookup(OTHER_NAMES.get(name.lower(), name)).name
        except LookupError:
            known = ""
        if not known and in_utf8 is not None:
            self.warnings.append((1, f"the character set CA[{name}] is unknown; the file is read as UTF-8"))
            return in_utf8
        if not CHARACTER_SETS.fullmatch(known):
            raise DataError(f"the character set CA[{name}] is unknown: save the file as UTF-8.")
        actual = character_sets.contradicts(content, WIDER_SETS.get(known, known))
        if actual:
            self.warnings.append((1, f"CA[{name}], but the text is {shown_name(actual)}; it is read as such"))
            return content.decode(actual, errors="replace")
        for encoding in (known, WIDER_SETS.get(known, known)):
            try:
                return content.decode(encoding)
            except UnicodeError:
                continue
        return "\n".join(self._lines(lambda line: self._decode_damaged(line, [WIDER_SETS.get(known, known)])))

    def _undeclared(self, content: bytes) -> str:
        """Text without CA that is not UTF-8: what it looks like, else Latin-1, the specification's default."""
        guess = character_sets.guess_of_seven_bits(content)
        if not guess:
            guess = "latin-1" if character_sets.is_mainly_utf8(content) else character_sets.guess(content)
        if guess == "latin-1":
            return "\n".join(self._lines(self._decode_western))
        what = f"the text is not UTF-8 and CA does not name its character set: it is read as {shown_name(guess)}"
        self.warnings.append((1, f"{what}; save the file as UTF-8"))
        return content.decode(guess, errors="replace")
