"""Fuzzing of the readers of game records: each input must give a record or an error message.

    python tools/fuzz_notation.py pgn --seconds 60 --seed 1

Random records are written, damaged byte by byte and line by line, and read again, with the rules of their games if the
moves of a sample are legal. A record that is read without an error is written again and must read equal. Prints counts
of outcomes, and failures with the seed of their round; exit status 1 if there was a failure.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from zerosum.base.errors import ZerosumError
from zerosum.notation import Evaluation, Move, Record, csa, game_text, kif, pgn, pgn_words, read_games, sgf
from zerosum.notation.record import result_of
from zerosum.notation.shogi_position import DIGITS, KANJI_DIGITS, NUM_PIECES, PIECES, START, ShogiPosition

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
FORMATS = ("pgn", "sgf", "kif", "csa")
SIGNS = b"()[]{};\"\\%*+-$'\n#0\xff"
"""Bytes that mean something in one of the formats."""

# ---- random records, in the words of each format


def random_record(format: str, rng: random.Random) -> Record:
    """A record that the format can express, with well-formed random moves."""
    return {"pgn": _random_pgn, "sgf": _random_sgf, "kif": _random_kif, "csa": _random_csa}[format](rng)


def _text(rng: random.Random, *, lines: bool = False) -> str:
    words = [
        "a",
        "Zug!",
        "%x",
        "[b]",
        "[Event",
        "(;",
        "\\",
        '"q"',
        "]",
        "{c",
        ";",
        "1-0",
        "*",
        "(",
        ")",
        "投了",
        "é",
        "e4",
        "'",
        "$1",
    ]
    blanks = [" ", " ", "\n"] if lines else [" "]
    return "".join(rng.choice(words) + rng.choice(blanks) for _ in range(rng.randint(1, 24))).strip()


def _line(
    rng: random.Random, make: Callable[[int, bool], Move], length: int, depth: int, *, first: int = 0, main: bool = True
) -> tuple[Move, ...]:
    """Moves by `make(ply, is_first_of_variation)`, with variations anywhere except at the last move."""
    moves = []
    for ply in range(first, first + length):
        move = make(ply, not main and ply == first)
        if ply + 1 < first + length and depth and rng.random() < 0.2:
            lines = (_line(rng, make, rng.randint(1, 4), depth - 1, first=ply + 1, main=False) for _ in range(2))
            move = dataclasses.replace(move, variations=tuple(lines)[: rng.randint(1, 2)])
        moves.append(move)
    return tuple(moves)


def _some(rng: random.Random, make: Callable[[], str], most: int = 2) -> tuple[str, ...]:
    return tuple(make() for _ in range(rng.choice([0, 0, 0, 1, most])))


def _random_pgn(rng: random.Random) -> Record:
    results = ["1-0", "0-1", "1/2-1/2", "*"]

    def make(ply: int, is_first: bool) -> Move:
        mate = rng.random() < 0.2
        score = Evaluation(None if mate else rng.randint(-999, 999) / 100, rng.randint(-9, 9) if mate else None)
        return Move(
            rng.choice(["e4", "Nf3", "O-O", "O-O-O+", "exd8=Q+", "Qa1xb2#", "h8N"]),
            comments_before=_some(rng, lambda: _text(rng)) if is_first else (),
            comments=_some(rng, lambda: _text(rng) + rng.choice(["", "", "}", " } "]).rstrip()),
            nags=tuple(rng.randint(0, 255) for _ in range(rng.choice([0, 0, 0, 1, 2]))),
            clock_s=rng.choice([None, rng.randint(0, 10**7) / 1000]),
            spent_s=rng.choice([None, None, rng.randint(0, 10**5) / 10]),
            evaluation=rng.choice([None, dataclasses.replace(score, depth=rng.choice([None, 20]))]),
            ending=rng.choice(["", "", "1-0", "*"]) if is_first else "",
        )

    moves = _line(rng, make, rng.randint(0, 12), 3)
    moves = _with_last_endings(moves)
    roster = [(name, _text(rng)) for name in pgn.ROSTER if rng.random() < 0.5]
    others = sorted({name: _text(rng) for name in rng.sample(["ECO", "BlackElo", "Zz", "Annotator"], 2)}.items())
    variation = _with_last_endings(_line(rng, make, 2, 1, main=False))
    start = rng.choice(["", "4k3/8/8/8/8/8/8/RK5R b HA - 0 17"])
    return Record(
        game="chess960" if start else rng.choice(["chess", "chess960"]),
        moves=moves,
        headers=(*roster, *others),
        start=start,
        comments=_some(rng, lambda: _text(rng)),
        variations=(variation,) if moves and rng.random() < 0.2 else (),
        result=pgn_words.RESULTS[rng.choice(results)],
        ending=rng.choice(["", "time", "normal", "illegal move"]),
        format="pgn",
    )


def _with_last_endings(line: tuple[Move, ...]) -> tuple[Move, ...]:
    """Move the ending of each variation to its last move."""
    moved = []
    for index, move in enumerate(line):
        variations = tuple(_with_last_endings(variation) for variation in move.variations)
        is_last = index + 1 == len(line)
        moved.append(dataclasses.replace(move, variations=variations, ending=line[0].ending if is_last else ""))
    return tuple(moved)


def _random_sgf(rng: random.Random) -> Record:
    size = rng.choice([5, 9, 19, 25])
    board = sgf.COLUMNS[:size]

    def value() -> str:
        return _text(rng, lines=True)

    def make(ply: int, is_first: bool) -> Move:
        point = "pass" if rng.random() < 0.1 else rng.choice(board) + rng.choice(board)
        return Move(
            "pass" if point == "tt" and size <= 19 else point,
            comments_before=_some(rng, value) if is_first else (),
            comments=_some(rng, value),
            clock_s=rng.choice([None, None, rng.randint(0, 10**7) / 1000]),
            properties=rng.choice([(), (("LB", "aa:x\\]"), ("LB", "bb:y")), (("TE", "1"), ("XX", ""))]),
        )

    stones = {rng.choice(board) + rng.choice(board): rng.choice("BW") for _ in range(rng.choice([0, 5]))}
    to_move = rng.choice("BW")
    start = sgf.position_text(size, stones, to_move) if stones or to_move == "W" else ""
    moves = _line(rng, make, rng.randint(0, 12), 3)
    result = rng.choice([1.0, -1.0, 0.0, None])
    endings = ["", "resignation", "3.5 points", "time", "two passes"]
    return Record(
        game=f"go(size={size})",
        moves=moves,
        headers=tuple((name, value()) for name in rng.sample(["PB", "PW", "EV", "GC", "AP"], 3)),
        start=start,
        comments=_some(rng, value),
        properties=rng.choice([(), (("TR", "aa"), ("TR", "bb"))]),
        variations=(_line(rng, make, 2, 1, main=False),) if moves and rng.random() < 0.2 else (),
        result=result,
        ending=rng.choice(endings) if result else "" if result == 0 else rng.choice(["", "void"]),
        format="sgf",
    )


def _random_shogi_position(rng: random.Random, *, number: int) -> ShogiPosition:
    position = ShogiPosition(is_black=rng.random() < 0.5, number=number)
    squares = [(file, rank) for file in range(1, 10) for rank in range(1, 10)]
    for square in rng.sample(squares, rng.randint(0, 40)):
        position.board[square] = (rng.random() < 0.5, rng.choice(list(PIECES)))
    for hand in position.hands:
        hand.update({piece: rng.randint(1, most) for piece, most in NUM_PIECES.items() if rng.random() < 0.3})
    return position


def _random_kif(rng: random.Random) -> Record:
    def make(ply: int, is_first: bool) -> Move:
        square = rng.choice(DIGITS[1:3]) + rng.choice(KANJI_DIGITS[1:3])
        text = rng.choice(["歩(77)", "角成(88)", "銀打", "龍(11)", "杏(99)"])
        return Move(
            square + text,
            comments_before=_some(rng, lambda: _text(rng)) if is_first else (),
            comments=_some(rng, lambda: _text(rng)),
            spent_s=rng.choice([None, float(rng.randint(0, 9999))]),
            properties=rng.choice([(), (), (("&", "しおり"),)]),
            ending=rng.choice(["", "", "resignation", "checkmate"]) if is_first else "",
        )

    moves = _line(rng, make, rng.randint(0, 12), 3)
    if moves and rng.random() < 0.3:  # KIF can go on after the end
        last = dataclasses.replace(moves[-1], variations=(_line(rng, make, 2, 0, first=len(moves), main=False),))
        moves = (*moves[:-1], last)
    moves = _with_last_endings(moves)
    position = _random_shogi_position(rng, number=rng.choice([1, 1, 24]))
    handicap = rng.choice(list(kif.HANDICAPS.values()))
    start = rng.choice([handicap, position.sfen()])
    is_first = ShogiPosition.from_sfen(start).is_black_after(len(moves))
    ending = rng.choice(["", *kif.SPECIAL.values()])
    return Record(
        game="shogi",
        moves=moves,
        headers=tuple((name, _text(rng)) for name in rng.sample(["先手", "後手", "棋戦", "備考"], 3)),
        start="" if start == kif.HANDICAPS["平手"] else start,
        comments=_some(rng, lambda: _text(rng)),
        variations=(_with_last_endings(_line(rng, make, 2, 1, main=False)),) if rng.random() < 0.2 else (),
        result=result_of(ending, is_first=is_first) if ending else rng.choice([None, 1.0, -1.0]),
        ending=ending,
        ending_spent_s=rng.choice([None, 3.0]) if ending else None,
        format="kif",
    )


def _random_csa(rng: random.Random) -> Record:
    moves = tuple(
        Move(
            rng.choice(["+7776FU", "-3334FU", "+0055KA", "-8822UM"]),
            comments=_some(rng, lambda: _text(rng)),
            spent_s=rng.choice([None, float(rng.randint(0, 999)), rng.randint(0, 10**6) / 1000]),
        )
        for _ in range(rng.randint(0, 12))
    )
    start = rng.choice(["", _random_shogi_position(rng, number=1).sfen()])
    is_first = ShogiPosition.from_sfen(start or START).is_black_after(len(moves))
    ending = rng.choice(["", *csa.SPECIAL.values(), "opponent's illegal move"])
    names = [name for name in ("N+", "N-") if rng.random() < 0.5] + rng.sample(["EVENT", "SITE", "OPENING"], 2)
    return Record(
        game="shogi",
        moves=moves,
        headers=tuple((name, _text(rng)) for name in names),
        start=start,
        comments=_some(rng, lambda: _text(rng)),
        result=result_of(ending, is_first=is_first),
        ending=ending,
        ending_spent_s=rng.choice([None, 0.5]) if ending else None,
        format="csa",
    )


def written(record: Record) -> str:
    """The record as its format's module writes it, without the rules."""
    if record.format == "sgf":
        return sgf.write(record, options={"size": re.findall(r"size=(\d+)", record.game)[0]})
    return {"pgn": pgn.write, "kif": kif.write, "csa": csa.write}[record.format](record)


def parsed(format: str, text: str) -> list[Record]:
    """The records of a text, without the rules."""
    if format == "sgf":
        return list(sgf.parse(text))
    return list({"pgn": pgn.parse, "kif": kif.parse, "csa": csa.parse}[format](text.split("\n")))


# ---- damage


def mutate(content: bytes, other: bytes, rng: random.Random) -> bytes:
    """A few random damages: bytes changed, pieces cut, doubled or put in from another file, lines exchanged."""
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at, to = sorted(rng.randint(0, len(content)) for _ in range(2))
        to = min(to, at + rng.choice([1, 1, 4, 64, 4096]))
        kind = rng.randrange(6)
        if kind == 0:
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + content[to:]
        elif kind == 2:
            content = content[:to] + content[at:to] + content[to:]
        elif kind == 3:
            content = content[:at] + bytes([rng.choice(SIGNS)]) + content[at:]
        elif kind == 4:
            start = rng.randint(0, len(other))
            content = content[:at] + other[start : start + rng.choice([4, 64])] + content[at:]
        else:
            lines = content.split(b"\n")
            one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            content = b"\n".join(lines)
    return content


def read_damaged(format: str, content: bytes) -> Iterator[str]:
    """Read any file and yield the kinds of outcomes. Raises for a defect of ours."""
    try:
        for record in read_games(io.BytesIO(content), format=format):
            if record.errors:
                yield "a record with errors"
                continue
            try:
                text = game_text(record, format=format)
            except ZerosumError:
                yield "a record that the format cannot say"
                continue
            (again,) = read_games(io.StringIO(text), format=format)
            assert not (difference := _difference(again, record)), f"wrote\n{text}\n{difference}"
            yield "a record that reads again"
    except ZerosumError:
        yield "a file that is refused"


def _difference(one: Record, other: Record) -> str:
    """The first field in which two records differ; the order of headers is ignored, because PGN prescribes one."""
    for entry in dataclasses.fields(Record):
        values = [getattr(record, entry.name) for record in (one, other)]
        if entry.name == "headers":
            values = list(map(sorted, values))
        if entry.compare and values[0] != values[1]:
            return f"{entry.name} read {values[0]} of {values[1]}"
    return ""


def samples(format: str) -> list[bytes]:
    """The sample files of a format."""
    suffixes = {"kif": (".kif", ".kifu")}.get(format, (f".{format}",))
    return [path.read_bytes() for path in sorted(DATA.iterdir()) if path.suffix in suffixes]


def fuzz(format: str, *, seed: int, rounds: Iterator[int]) -> tuple[Counter[str], list[str]]:
    """Damage and read once for each of `rounds`. Returns the counts of outcomes, and tracebacks of failures."""
    seen, failures, files = Counter[str](), list[str](), samples(format)
    for number in rounds:
        rng = random.Random(f"{seed} {number}")
        generated = written(random_record(format, rng)).encode()
        content = rng.choice([generated, rng.choice(files)])
        try:
            seen.update(read_damaged(format, mutate(content, rng.choice(files), rng)))
        except Exception:  # whatever it is, it is what we are looking for
            failures.append(f"seed {seed}, round {number}:\n{traceback.format_exc()}")
            seen["failures"] += 1
    return seen, failures


def main() -> None:
    """Run the tool that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds

    def rounds() -> Iterator[int]:
        number = 0
        while time.monotonic() < end:
            yield number
            number += 1
        print(f"{number} rounds")

    seen, failures = fuzz(arguments.format, seed=arguments.seed, rounds=rounds())
    for what, count in seen.most_common():
        print(f"{count:8} {what}")
    for failure in failures[:5]:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
