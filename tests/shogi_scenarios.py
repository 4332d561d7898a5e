"""Shogi that meets the rare rules: where games begin, how moves are chosen, and what occurred.

Random play hardly ever repeats a position, declares or could mate by a dropped pawn. Each scenario is made for some
such event, and the events are counted.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from shogi_twin import DEAD_ROWS, HELD, KINDS, NUMBER, Board, Ended, Move, Pieces, Square, Twin, row_of, square_text
from zerosum.games import Rules, State, make

MAX_PLIES = 60
"""The games are capped so early that the cap is met."""

PROMOTING = ("P", "L", "N", "S", "B", "R")
SIDES = ("Black", "White")
EVENTS = (
    *(f"{ending} of {side}" for ending in ("checkmate", "no legal move") for side in SIDES),
    "fourfold repetition",
    *(f"perpetual check by {side}, {mover} to move" for side in SIDES for mover in ("the checker", "the victim")),
    *(f"{side} wins by declaration, {rule}" for rule in ("csa27", "csa24") for side in SIDES),
    *(f"{side} draws by declaration, csa24" for side in SIDES),
    "a declaration that the options do not know",
    "one point too few to declare",
    "nine pieces in the camp",
    "in check, and could else declare",
    "ply cap",
    *(f"{side} drops {kind}" for side in SIDES for kind in HELD),
    *(f"{side} promotes {kind}" for side in SIDES for kind in PROMOTING),
    *(f"{kind} that could promote does not" for kind in PROMOTING),
    *(f"{kind} must promote" for kind in DEAD_ROWS),
    "a second pawn may not be dropped on a file",
    *(f"pawn-drop mate by {side}" for side in SIDES),
    "check",
    "double check",
    "twofold repetition",
    "threefold repetition",
    "play past a soft ending",
    "position set up",
    "history filled with zeros",
    "shorter history",
    "flat policy",
)


class Play:
    """One game, in the core and in the twin."""

    def __init__(self, sfen: str | None, **options: Any) -> None:
        self.game = game_of(**options)
        self.state: State = self.game.initial_state() if sfen is None else self.game.parse_position(sfen)
        self.twin = Twin(sfen, **options)
        self.options = options
        self.texts: list[str] = []
        """Of the moves played."""
        self.look()

    def look(self) -> None:
        legal = self.game.legal_actions(self.state, past_soft_endings=True)
        self.moves = {self.game.action_text(self.state, action): action for action in legal}
        self.ended = self.twin.ended(bool(self.moves))

    def push(self, text: str) -> None:
        self.state = self.game.play(self.state, self.moves[text])
        self.twin.play(text)
        self.texts.append(text)
        self.look()

    def after(self, text: str) -> Board:
        return self.twin.board.after(self.twin.board.move(text))


_games: dict[str, Rules] = {}


def game_of(**options: str | int) -> Rules:
    name = f"shogi({', '.join(f'{key}={value}' for key, value in options.items())})"
    return _games.setdefault(name, make(name))


# ---- how moves are chosen

Chooser = Callable[[Play, random.Random], str]


def choose_eventful(play: Play, generator: random.Random) -> str:
    """Promotions and captures more often than by chance."""

    def weight(text: str) -> float:
        move = play.twin.board.move(text)
        capture = 3.0 if move.end in play.twin.board.pieces else 1.0
        return capture * (2 if move.promotes else 1)

    texts = list(play.moves)
    return generator.choices(texts, [weight(text) for text in texts])[0]


def choose_promotable(play: Play, generator: random.Random) -> str:
    """Mostly a move that might promote, whether it does or not."""
    texts = [text for text in play.moves if text.endswith("+") or text + "+" in play.moves]
    return generator.choice(texts if texts and generator.random() < 0.9 else list(play.moves))


def choose_back(play: Play, generator: random.Random) -> str:
    """Mostly back to where the piece came from."""
    if len(play.texts) >= 2 and generator.random() < 0.93:
        last = play.texts[-2]
        back = last[2:4] + last[:2]
        if back in play.moves:
            return back
    quiet = [text for text in play.moves if "*" not in text and "+" not in text]
    return generator.choice(quiet or list(play.moves))


def choose_perpetual(play: Play, generator: random.Random) -> str:
    """The owner of the rook checks if possible, and both sides return to earlier positions."""
    board, texts = play.twin.board, list(play.moves)
    is_checker = any(owner == board.side and kind in ("R", "+R") for kind, owner in board.pieces.values())
    if is_checker:
        texts = [text for text in texts if play.after(text).checkers(1 - board.side)] or texts
    known = [text for text in texts if play.after(text).sfen() in play.twin.keys]
    return generator.choice(known if known and generator.random() < 0.97 else texts)


def choose_last(play: Play, generator: random.Random) -> str:
    """Mostly a move that leaves none to the other side."""
    if generator.random() < 0.9:
        texts = list(play.moves)
        generator.shuffle(texts)
        for text in texts:
            after = play.game.play(play.state, play.moves[text])
            if not play.game.legal_actions(after, past_soft_endings=True):
                return text
    return choose_eventful(play, generator)


def choose_drop(play: Play, generator: random.Random) -> str:
    kinds = sorted({text[0] for text in play.moves if "*" in text})
    if not kinds:
        return choose_eventful(play, generator)
    kind = generator.choice(kinds)
    return generator.choice([text for text in play.moves if text.startswith(f"{kind}*")])


# ---- where games begin


def is_valid(board: Board) -> bool:
    for square, (kind, owner) in board.pieces.items():
        if row_of(owner, square) < DEAD_ROWS.get(kind, 0):
            return False
    counts = Counter(kind[-1] for kind, _ in board.pieces.values()) + board.hands[0] + board.hands[1]
    if any(counts[kind] > number for kind, number in NUMBER.items()):
        return False
    pawns = [(square[1], owner) for square, (kind, owner) in board.pieces.items() if kind == "P"]
    return len(pawns) == len(set(pawns)) and not board.checkers(1 - board.side)


def turned(board: Board) -> Board:
    """The same for the other side."""
    pieces = {(8 - row, 8 - column): (kind, 1 - owner) for (row, column), (kind, owner) in board.pieces.items()}
    return Board(pieces, (board.hands[1], board.hands[0]), 1 - board.side)


SQUARES = [(row, column) for row in range(9) for column in range(9)]


def place(
    generator: random.Random, fixed: Pieces, kinds: list[tuple[str, int]], squares: list[Square] = SQUARES
) -> Pieces:
    """Pieces on some of the squares, none where it could never move."""
    pieces = dict(fixed)
    free = [square for square in squares if square not in pieces]
    generator.shuffle(free)
    for kind, owner in kinds:
        for square in free:
            if row_of(owner, square) >= DEAD_ROWS.get(kind, 0):
                pieces[square] = (kind, owner)
                free.remove(square)
                break
    return pieces


def hands(black: str = "", white: str = "") -> tuple[Counter[str], Counter[str]]:
    return Counter(black), Counter(white)


def until_valid(generator: random.Random, make_board: Callable[[], Board]) -> str:
    """SFEN of the first valid board, from either side, with some move number."""
    while True:
        board = make_board()
        if is_valid(board):
            board = turned(board) if generator.random() < 0.5 else board
            return f"{board.sfen()} {generator.randrange(1, 300)}"


def middle_game(generator: random.Random) -> str:
    """All pieces, on the board or in hand."""

    def board() -> Board:
        kinds: list[tuple[str, int]] = []
        held = hands()
        num_placed = generator.randrange(4, 30)
        everything = [kind for kind, number in NUMBER.items() for _ in range(number)]
        generator.shuffle(everything)
        for number, kind in enumerate(everything):
            owner = generator.randrange(2)
            if number < num_placed:
                is_promoted = "+" + kind in KINDS and generator.random() < 0.3
                kinds.append(("+" + kind if is_promoted else kind, owner))
            elif generator.random() < 0.8:
                held[owner][kind] += 1
        kings = [("K", 0), ("K", 1)]
        return Board(place(generator, {}, kings + kinds), held, generator.randrange(2))

    return until_valid(generator, board)


def last_moves(generator: random.Random) -> str:
    """White's king at the edge with few friends, Black with pieces around and in hand."""

    def board() -> Board:
        king = (0, generator.randrange(9))
        near = [(row, column) for row, column in SQUARES if row < 4 and abs(column - king[1]) < 4]
        kinds = [(generator.choice(("G", "S", "+P", "R", "B", "L", "N", "+R")), 0) for _ in range(3)]
        friends = [(generator.choice(("L", "N", "G", "P")), 1) for _ in range(generator.randrange(3))]
        pieces = place(generator, {king: ("K", 1), (8, 4): ("K", 0)}, kinds + friends, near)
        return Board(pieces, hands(generator.choice(("G", "GS", "R", "GP", "P"))), 0)

    return until_valid(generator, board)


def bare_king(generator: random.Random) -> str:
    """White has a king in a corner and nothing else."""

    def board() -> Board:
        king = (generator.randrange(2), generator.randrange(2))
        near = [(row, column) for row, column in SQUARES if row < 5 and column < 5]
        kinds = [(generator.choice(("G", "R", "+P", "+R", "+B", "S")), 0) for _ in range(2)]
        return Board(place(generator, {king: ("K", 1), (8, 4): ("K", 0)}, kinds, near), hands("P"), 0)

    return until_valid(generator, board)


def pawn_drop_mate(generator: random.Random) -> str:
    """A pawn in hand would mate."""

    def board() -> Board:
        column = generator.randrange(9)
        near = [
            (row, other)
            for row, other in SQUARES
            if row < 4 and abs(other - column) < 3 and (row, other) != (1, column)
        ]
        kinds = [(generator.choice(("G", "S", "+P", "R", "B", "+B", "N")), 0) for _ in range(3)]
        friends = [(generator.choice(("L", "N", "G", "S")), 1) for _ in range(generator.randrange(1, 4))]
        fixed = {(0, column): ("K", 1), (8, 4): ("K", 0), (2, column): (generator.choice(("G", "S")), 0)}
        return Board(place(generator, fixed, kinds + friends, near), hands("P" + generator.choice(("", "G", "PP"))), 0)

    while True:
        sfen = until_valid(generator, board)
        if would_mate_by_a_pawn(found := Board.parse(sfen), {move.usi for move in found.legal()}):
            return sfen


def would_mate_by_a_pawn(board: Board, legal: set[str]) -> bool:
    """A dropped pawn that would give check is illegal though the own king minds nothing."""
    if not board.hands[board.side]["P"]:
        return False
    for move in board.candidates():
        if move.kind == "P" and move.start is None and move.usi not in legal:
            after = board.after(move)
            if after.checkers(after.side) and not after.checkers(1 - after.side):
                return True
    return False


def double_check(generator: random.Random) -> str:
    """Two of Black's pieces attack White's king."""

    def board() -> Board:
        king = (generator.randrange(4), generator.randrange(9))
        near = [(row, column) for row, column in SQUARES if row < 6 and abs(column - king[1]) < 4]
        kinds = [(generator.choice(("R", "+R", "B", "+B", "L", "N", "G")), 0) for _ in range(4)]
        return Board(place(generator, {king: ("K", 1), (8, 4): ("K", 0)}, kinds, near), hands("", "GP"), 1)

    while True:
        sfen = until_valid(generator, board)
        if len((found := Board.parse(sfen)).checkers(found.side)) == 2:
            return sfen


def sparse(generator: random.Random) -> str:
    """Few pieces, with room to go to and fro."""

    def board() -> Board:
        kinds = [(generator.choice(("G", "S", "R", "B")), owner) for owner in (0, 1)]
        held = hands(generator.choice(("", "", "P")), generator.choice(("", "", "N")))
        return Board(place(generator, {}, [("K", 0), ("K", 1), *kinds]), held, generator.randrange(2))

    return until_valid(generator, board)


def one_rook(generator: random.Random) -> str:
    """A rook against a bare king, in check or not."""

    def board() -> Board:
        rook = generator.choice(("R", "+R"))
        return Board(place(generator, {}, [("K", 0), ("K", 1), (rook, 0)]), hands(), generator.randrange(2))

    return until_valid(generator, board)


def entered_king(generator: random.Random) -> str:
    """Black's king and about ten of its pieces in White's camp, about as many points as it takes."""

    def board() -> Board:
        camp = [square for square in SQUARES if square[0] < 3]
        kinds = [
            generator.choice(("+P", "+P", "G", "S", "+L", "+N", "+S", "P")) for _ in range(generator.choice((7, 8, 9)))
        ]
        kinds += [generator.choice(("R", "+R", "B", "+B")) for _ in range(generator.choice((2, 2, 3)))]
        pieces = place(generator, {}, [("K", 0), *((kind, 0) for kind in kinds)], camp)
        king = next(square for square, (kind, _) in pieces.items() if kind == "K")
        attackers = [(generator.choice(("G", "S", "+P")), 1)] * generator.choice((0, 0, 1))
        near = [square for square in SQUARES if max(abs(square[0] - king[0]), abs(square[1] - king[1])) == 1]
        pieces = place(generator, pieces, attackers, near)
        pieces = place(generator, pieces, [("K", 1)], [square for square in SQUARES if square[0] > 4])
        points = sum(5 if kind[-1] in "BR" else 1 for kind in kinds)
        target = generator.choice((23, 24, 26, 27, 28, 30, 31, 31, 32)) - points
        held = Counter(dict.fromkeys(HELD, 0))
        left = NUMBER["R"] + NUMBER["B"] - sum(kind[-1] in "BR" for kind in kinds)
        if target >= 5 and left:
            held[generator.choice([kind for kind in "BR" if [other[-1] for other in kinds].count(kind) < 2])] += 1
            target -= 5
        held["P"] = max(0, target)
        return Board(pieces, (held, Counter()), generator.choice((0, 0, 0, 1)))

    return until_valid(generator, board)


def near_promotion(generator: random.Random) -> str:
    """Pieces before the last rows."""

    def board() -> Board:
        rows = [square for square in SQUARES if 0 < square[0] < 5]
        pieces = place(generator, {}, [(kind, 0) for kind in generator.sample(PROMOTING * 2, 5)], rows)
        kings = [("K", 0), ("K", 1), (generator.choice("LNGS"), 1)]
        return Board(place(generator, pieces, kings), hands(), 0)

    return until_valid(generator, board)


def full_hands(generator: random.Random) -> str:
    def board() -> Board:
        pieces = place(generator, {}, [("K", 0), ("K", 1), ("P", 0), ("P", 1)])
        held = ("PPPPPLLNNSSGGBR", "PPLNSGBR")
        return Board(pieces, hands(*generator.sample(held, 2)), generator.randrange(2))

    return until_valid(generator, board)


SCENARIOS: tuple[tuple[Callable[[random.Random], str | None], Chooser, int], ...] = (
    (lambda generator: None, choose_eventful, MAX_PLIES + 2),
    (middle_game, choose_eventful, 12),
    (pawn_drop_mate, choose_drop, 2),
    (sparse, choose_back, 30),
    *[(one_rook, choose_perpetual, 30)] * 5,
    *[(entered_king, choose_eventful, 2)] * 10,
    *[(double_check, choose_eventful, 2)] * 2,
    *[(bare_king, choose_last, 3)] * 5,
    *[(last_moves, choose_last, 2)] * 2,
    *[(near_promotion, choose_promotable, 4)] * 4,
    (full_hands, choose_drop, 8),
)
"""Where a game begins, how moves are chosen, and how many are made at most."""

OPTIONS: tuple[dict[str, str | int], ...] = (
    {},
    {"entering_king": "csa24"},
    {"entering_king": "none", "history": 3},
    {"history_fill": "zero"},
    {"entering_king": "csa24", "policy": "flat"},
    {"history": 1},
)


def plays(seed: int, events: Counter[str]) -> Iterator[Play]:
    """Positions of one game after the other, without an end; the events of each are counted."""
    generator = random.Random(seed)
    for number in itertools.count():
        start, choose, most_plies = SCENARIOS[number % len(SCENARIOS)]
        options = OPTIONS[number // len(SCENARIOS) % len(OPTIONS)]
        play = Play(start(generator), max_plies=MAX_PLIES, **options)
        for _ in range(most_plies):
            note_position(play, events)
            yield play
            if not play.moves or (play.ended is not None and generator.random() < 0.5):
                break
            text = choose(play, generator)
            note_move(play, text, events)
            play.push(text)


def note_position(play: Play, events: Counter[str]) -> None:
    """Counts what a position is an example of."""
    twin, board, ended = play.twin, play.twin.board, play.ended
    side = SIDES[board.side]
    events["positions"] += 1
    if ended is not None:
        events[ending_event(ended, board, twin)] += 1
    checkers = len(board.checkers(board.side))
    events["check"] += checkers > 0
    events["double check"] += checkers > 1
    events["twofold repetition"] += twin.repetitions == 1
    events["threefold repetition"] += twin.repetitions == 2
    events["position set up"] += twin.is_set_up and not twin.plies
    events["history filled with zeros"] += twin.is_set_up and not twin.repeats
    events["shorter history"] += twin.history < 8
    events["flat policy"] += twin.policy == "flat"
    pawn_files = {square[1] for square, piece in board.pieces.items() if piece == ("P", board.side)}
    events["a second pawn may not be dropped on a file"] += bool(pawn_files and board.hands[board.side]["P"])
    events[f"pawn-drop mate by {side}"] += would_mate_by_a_pawn(board, set(play.moves))
    for text in play.moves:
        move = board.move(text)
        if move.promotes and text[:-1] not in play.moves:
            events[f"{move.kind} must promote"] += 1
    if row_of(board.side, board.king(board.side)) < 3:
        note_declaration(board, twin.entering_king, events)


def note_declaration(board: Board, rule: str, events: Counter[str]) -> None:
    """Counts what nearly is a declaration."""
    events["a declaration that the options do not know"] += rule == "none" and board.declared("csa27") is not None
    if board.declared("csa27"):
        return
    more = Board(dict(board.pieces), (board.hands[0] + Counter("P"), board.hands[1] + Counter("P")), board.side)
    events["one point too few to declare"] += more.declared("csa27") is not None
    free = next((square for square in SQUARES if row_of(board.side, square) < 3 and square not in board.pieces), None)
    if free is not None and more.declared("csa27") is None:
        fuller = Board({**board.pieces, free: ("G", board.side)}, board.hands, board.side)
        events["nine pieces in the camp"] += fuller.declared("csa27") is not None
    if checkers := board.checkers(board.side):
        quiet = {square: piece for square, piece in board.pieces.items() if square not in checkers}
        events["in check, and could else declare"] += (
            Board(quiet, board.hands, board.side).declared("csa27") is not None
        )


def ending_event(ended: Ended, board: Board, twin: Twin) -> str:
    side = SIDES[board.side]
    if not ended.is_soft:
        return f"{ended.ending} of {side}"
    if ended.ending == "perpetual check":
        checker = 1 if ended.result > 0 else 0
        mover = "the checker" if checker == board.side else "the victim"
        return f"perpetual check by {SIDES[checker]}, {mover} to move"
    if ended.ending == "declaration":
        return f"{side} {'wins' if ended.result else 'draws'} by declaration, {twin.entering_king}"
    return ended.ending


def note_move(play: Play, text: str, events: Counter[str]) -> None:
    """Counts what a move is an example of."""
    board = play.twin.board
    move: Move = board.move(text)
    side = SIDES[board.side]
    events["play past a soft ending"] += play.ended is not None
    if move.start is None:
        events[f"{side} drops {move.kind}"] += 1
    elif move.promotes:
        events[f"{side} promotes {move.kind}"] += 1
    elif text + "+" in play.moves:
        events[f"{move.kind} that could promote does not"] += 1


def describe(play: Play) -> str:
    """The position for a message: where the game began, and its moves."""
    sfen = play.twin.played[0].sfen() if play.twin.played else play.twin.board.sfen()
    last = square_text(play.twin.last_end) if play.twin.last_end else "none"
    return f"{play.options} from {sfen} {play.twin.number}: {' '.join(play.texts)}; last on {last}"
