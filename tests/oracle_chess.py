"""Chess and Chess960 against python-chess (GPL, for tests only): rules, FEN, UCI, SAN, planes and action indices.

Planes and indices are read here from the design's tables anew, on python-chess boards, square by square. Scenarios make
play that meets the rare rules; `compare` counts what occurred, and `EVENTS` names what has to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import chess
import numpy as np

from zerosum.games import Rules, make

MAX_PLIES = 90
"""The games compared are capped so early that the cap is met."""

ENDINGS = (
    "checkmate",
    "stalemate",
    "insufficient material",
    "threefold repetition",
    "fifty-move rule",
    "ply cap",
)
SIDES = ("White", "Black")
EVENTS = (
    *ENDINGS,
    *(
        f"{side} castles on the {wing} side in {name}"
        for name in ("chess", "chess960")
        for side in SIDES
        for wing in ("king", "queen")
    ),
    *(f"{side} promotes to a {piece}" for side in SIDES for piece in ("knight", "bishop", "rook", "queen")),
    *(f"{side} takes en passant" for side in SIDES),
    "en passant by a pinned pawn",
    "check",
    "double check",
    "checkmate at the hundredth ply",
    "twofold repetition",
    "play past a soft ending",
    "position set up",
    "true start set up",
    "halfmove clock beyond 100",
    "inner rook in X-FEN",
)

DIRECTIONS = {(0, 1): 0, (1, 1): 1, (1, 0): 2, (1, -1): 3, (0, -1): 4, (-1, -1): 5, (-1, 0): 6, (-1, 1): 7}
"""By (files to the right, ranks ahead): clockwise from straight ahead."""
KNIGHT_MOVES = {(1, 2): 0, (2, 1): 1, (2, -1): 2, (1, -2): 3, (-1, -2): 4, (-2, -1): 5, (-2, 1): 6, (-1, 2): 7}


class Twin:
    """A game on a python-chess board, and what the core says of it."""

    def __init__(self, game: Rules, fen: str | None = None) -> None:
        self.game = game
        self.is_960 = game.spec.name == "chess960"
        if fen is None:
            self.state = game.initial_state()
            self.board = chess.Board(chess960=self.is_960)
        else:
            self.state = game.parse_position(fen)
            self.board = chess.Board(fen, chess960=self.is_960)
        assert self.board.is_valid(), fen
        self.plies = 0
        self.keys = Counter([self.key()])
        self.frames = [(frame(self.board), 0)]
        if not is_start(self.board, self.is_960):
            before = self.board.copy(stack=False)
            if (passed := self.board.ep_square) is not None:
                ahead = 8 if self.board.turn == chess.WHITE else -8
                before.set_piece_at(passed + ahead, before.remove_piece_at(passed - ahead))
            self.frames += [(frame(before), 0)] * 7

    def key(self) -> str:
        """The key of repetitions: EPD writes en passant only if it is legal."""
        return self.board.epd()

    @property
    def repetitions(self) -> int:
        return self.frames[0][1]

    def play(self, move: chess.Move) -> None:
        [action] = [action for action in self.legal() if self.index(move) == action]
        self.state = self.game.play(self.state, action)
        self.board.push(move)
        self.plies += 1
        self.frames = [(frame(self.board), self.keys[self.key()]), *self.frames[:7]]
        self.keys[self.key()] += 1

    def legal(self) -> list[int]:
        return self.game.legal_actions(self.state, past_soft_endings=True)

    def ending(self) -> str | None:
        board = self.board
        if not any(board.legal_moves):
            return "checkmate" if board.is_check() else "stalemate"
        if board.is_insufficient_material():
            return "insufficient material"
        if self.repetitions >= 2:
            return "threefold repetition"
        if board.is_fifty_moves():
            return "fifty-move rule"
        return "ply cap" if self.plies >= self.game.spec.max_plies else None

    def index(self, move: chess.Move) -> int:
        """The action of a move, read from the design's table."""
        turned = 0 if self.board.turn == chess.WHITE else 7
        from_file, from_rank = chess.square_file(move.from_square), chess.square_rank(move.from_square) ^ turned
        to_file, to_rank = chess.square_file(move.to_square), chess.square_rank(move.to_square) ^ turned
        if self.board.is_castling(move) and not self.is_960:
            to_file = 6 if to_file > from_file else 2
        right, ahead = to_file - from_file, to_rank - from_rank
        if move.promotion not in (None, chess.QUEEN):
            plane = 64 + 3 * (right + 1) + (chess.KNIGHT, chess.BISHOP, chess.ROOK).index(move.promotion)
        elif (right, ahead) in KNIGHT_MOVES:
            plane = 56 + KNIGHT_MOVES[right, ahead]
        else:
            distance = max(abs(right), abs(ahead))
            plane = 7 * DIRECTIONS[right // distance, ahead // distance] + distance - 1
        return 64 * plane + 8 * (7 - from_rank) + from_file

    def planes(self) -> np.ndarray:
        """[119, 8, 8], read from the design's table."""
        board, mover = self.board, self.board.turn
        planes = np.zeros((119, 8, 8), np.float32)
        for age, (pieces, repetitions) in enumerate(self.frames):
            seen = pieces if mover == chess.WHITE else pieces[::-1, :, ::-1]
            planes[14 * age : 14 * age + 12] = seen.reshape(12, 8, 8)
            planes[14 * age + 12] = repetitions >= 1
            planes[14 * age + 13] = repetitions >= 2
        planes[112] = mover == chess.BLACK
        planes[113] = np.float32(2 * (board.fullmove_number - 1) + (mover == chess.BLACK)) / np.float32(512)
        for plane, (color, wing) in enumerate((color, wing) for color in (mover, not mover) for wing in "kq"):
            rank = chess.BB_RANK_1 if color == chess.WHITE else chess.BB_RANK_8
            king = board.king(color)
            rooks = [
                square
                for square in chess.SquareSet(board.clean_castling_rights() & rank)
                if king is not None and (square > king) == (wing == "k")
            ]
            for square in rooks:
                row = chess.square_rank(square) if mover == chess.BLACK else 7 - chess.square_rank(square)
                cells = (row, chess.square_file(square)) if self.is_960 else slice(None)
                planes[114 + plane][cells] = 1
        planes[118] = np.float32(board.halfmove_clock) / np.float32(100)
        return planes

    def check(self, generator: random.Random) -> None:
        """Hold all that the core says of the position against python-chess."""
        game, state, board = self.game, self.state, self.board
        where = board.fen()
        moves = {self.index(move): move for move in board.legal_moves}
        legal = self.legal()
        assert legal == sorted(moves), where
        assert game.position_text(state) == where
        ending = self.ending()
        assert game.ending(state) == ending, where
        assert (self.repetitions >= 2) == board.is_repetition(3), where
        if ending is None:
            assert game.outcome(state) is None and game.legal_actions(state) == legal
        else:
            expected = 0.0 if ending != "checkmate" else 1.0 if board.turn == chess.BLACK else -1.0
            assert game.outcome(state) == expected, where
            assert game.is_soft_ending(state) == (ending not in ("checkmate", "stalemate")), where
        assert game.player(state) == (0 if board.turn == chess.WHITE else 1)
        assert {game.action_text(state, action): action for action in legal} == {
            board.uci(move): action for action, move in moves.items()
        }, where
        for action in generator.sample(legal, min(3, len(legal))):
            self.check_san(action, moves[action], generator)
        np.testing.assert_array_equal(game.planes(state), self.planes(), where)

    def check_san(self, action: int, move: chess.Move, generator: random.Random) -> None:
        game, state, board = self.game, self.state, self.board
        san, theirs = game.action_text(state, action, "san"), board.san(move)
        # Of three pieces or more python-chess sometimes names both file and rank where the PGN standard asks for one.
        assert san == theirs or (len(theirs) == len(san) + 1 and board.parse_san(san) == move), board.fen()
        uci = board.uci(move)
        texts = [san, theirs, uci, *sloppy(san, board, move)]
        if board.is_castling(move) and not self.is_960:
            texts.append(uci.replace("g", "h").replace("c", "a"))
        for text in texts:
            assert game.parse_action(state, text) == action, (text, board.fen())
        broken = list(san)
        broken[generator.randrange(len(san))] = generator.choice("abhKQRxZ019=+- \u265e")
        read = game.parse_action(state, "".join(broken))
        assert read is None or read in self.legal()


def sloppy(san: str, board: chess.Board, move: chess.Move) -> Iterator[str]:
    """Other ways to write a move."""
    bare = san.rstrip("+#")
    yield from (bare, f"{bare}!?", f" {bare}+ ", f"{bare}#")
    if "O" in bare:
        yield from (bare.replace("O", "0"), bare.lower())
        return
    yield bare.replace("x", "") if "x" in bare else bare
    yield bare.replace("=", "")
    start, end = chess.square_name(move.from_square), chess.square_name(move.to_square)
    piece = board.piece_type_at(move.from_square)
    letter = "" if piece in (None, chess.PAWN) else chess.piece_symbol(piece).upper()
    promotion = f"={chess.piece_symbol(move.promotion).upper()}" if move.promotion else ""
    yield from (
        f"{letter}{start}{end}{promotion}",
        f"{letter}{start}-{end}{promotion}",
        f"{letter}{start}x{end}{promotion}",
    )
    if move.promotion:
        yield from (f"{start}{end}{chess.piece_symbol(move.promotion).upper()}", f"{bare[:-2]}({bare[-1]})")


def frame(board: chess.Board) -> np.ndarray:
    """[2, 6, 8, 8]: White's pieces and Black's, by kind, the eighth rank first. Black sees axes 0 and 2 reversed."""
    pieces = np.zeros((2, 6, 8, 8), bool)
    for square, piece in board.piece_map().items():
        color = 0 if piece.color == chess.WHITE else 1
        pieces[color, piece.piece_type - 1, 7 - chess.square_rank(square), chess.square_file(square)] = True
    return pieces


def is_start(board: chess.Board, is_960: bool) -> bool:
    if board.fullmove_number != 1 or board.halfmove_clock != 0 or board.turn == chess.BLACK:
        return False
    number = board.chess960_pos()
    return number is not None and (is_960 or number == 518)


# ---- scenarios: where a game begins, and how moves are chosen

Chooser = Callable[[chess.Board, list[chess.Move], random.Random], chess.Move]


def choose_eventful(board: chess.Board, moves: list[chess.Move], generator: random.Random) -> chess.Move:
    """Rare kinds of moves far more often than by chance."""

    def weight(move: chess.Move) -> float:
        if board.is_castling(move) or board.is_en_passant(move):
            return 60
        if move.promotion:
            return 6
        is_double_step = (
            board.piece_type_at(move.from_square) == chess.PAWN and abs(move.from_square - move.to_square) == 16
        )
        return 8 if is_double_step else 3 if board.is_capture(move) else 1

    return generator.choices(moves, [weight(move) for move in moves])[0]


def choose_shuffle(board: chess.Board, moves: list[chess.Move], generator: random.Random) -> chess.Move:
    """Mostly back to where the piece came from."""
    if len(board.move_stack) >= 2 and generator.random() < 0.8:
        last = board.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in moves:
            return back
    return generator.choice(moves)


def choose_end(board: chess.Board, moves: list[chess.Move], generator: random.Random) -> chess.Move:
    """Mostly a move that leaves none to the other side."""
    if generator.random() < 0.7 and (ends := last_moves(board)):
        return generator.choice(ends)
    return choose_eventful(board, moves, generator)


def scatter(pieces: str, generator: random.Random) -> chess.Board:
    """A valid board of these pieces on random squares, either side to move."""
    while True:
        board = chess.Board(None)
        for square, symbol in zip(generator.sample(range(64), len(pieces)), pieces, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        board.turn = generator.random() < 0.5
        if board.is_valid():
            return board


MATERIAL = (
    *("Q", "R", "QR", "RR", "QQ", "RP", "BN", "NN", "B", "N", "BB", "P", "PP"),
    *("Qq", "Rr", "Rq", "Bb", "Nn", "BBb", "Bn", "Qp", "Pp", "PPpp", "RPrp", "BBbb"),
)


def ending_position(generator: random.Random) -> chess.Board:
    pieces = generator.choice(MATERIAL)
    board = scatter("Kk" + (pieces if generator.random() < 0.5 else pieces.swapcase()), generator)
    board.halfmove_clock = generator.choice(
        (0, 0, generator.randrange(101), 98, 99, 100, generator.randrange(100, 300))
    )
    board.fullmove_number = generator.randrange(1, 400)
    return board


def last_moves(board: chess.Board) -> list[chess.Move]:
    """Moves that leave none to the other side."""
    found = []
    for move in board.legal_moves:
        board.push(move)
        if not any(board.legal_moves):
            found.append(move)
        board.pop()
    return found


def last_move_position(generator: random.Random) -> chess.Board:
    """Some move mates, or stalemates."""
    while True:
        pieces = generator.choice(("Q", "R", "QR", "RR", "QQ", "RP", "QP", "BN"))
        board = scatter("Kk" + (pieces if generator.random() < 0.5 else pieces.swapcase()), generator)
        board.halfmove_clock = generator.choice((0, 98, 99, 99, 99, 150))
        if last_moves(board):
            return board


def double_check(generator: random.Random) -> chess.Board:
    while True:
        board = scatter("KkQRRBBNNp", generator)
        if len(board.checkers()) == 2:
            return board if generator.random() < 0.5 else board.mirror()


def pawn_position(generator: random.Random) -> chess.Board:
    """Pawns before their promotion, and pawns that can pass each other."""
    while True:
        board = scatter("Kk" + generator.choice(("Bq", "Rr", "br", "", "")), generator)
        for color, start, near in ((chess.WHITE, 1, 6), (chess.BLACK, 6, 1)):
            ahead = 4 if color == chess.WHITE else 3
            for rank in (start, start, near, ahead, ahead):
                square = chess.square(generator.randrange(8), rank)
                if board.piece_at(square) is None:
                    board.set_piece_at(square, chess.Piece(chess.PAWN, color))
        if board.is_valid():
            return board


def pinned_en_passant(generator: random.Random) -> chess.Board:
    """Two pawns side by side, and beside them the king and a rook: taken in passing, both would leave the rank."""
    while True:
        ends = [0, 3 + generator.randrange(5)]
        pawns = [ends[0] + 1 + generator.randrange(ends[1] - 2)] * 2
        pawns[generator.randrange(2)] += 1
        board = chess.Board(None)
        for file, symbol in zip(generator.sample(ends, 2) + pawns, "Kr" + "Pp", strict=True):
            board.set_piece_at(chess.square(file, 4), chess.Piece.from_symbol(symbol))
        board.set_piece_at(generator.randrange(64), chess.Piece.from_symbol("k"))
        board.ep_square = chess.square(pawns[1], 5)
        if board.is_valid():
            return board if generator.random() < 0.5 else board.mirror()


def castling_position(generator: random.Random, is_960: bool) -> chess.Board:
    """Kings and rooks that may castle, and few pieces between them."""
    while True:
        board = chess.Board.from_chess960_pos(generator.randrange(960)) if is_960 else chess.Board()
        for square, piece in board.piece_map().items():
            is_bystander = piece.piece_type not in (chess.KING, chess.ROOK)
            if is_bystander and generator.random() < (0.4 if piece.piece_type == chess.PAWN else 0.75):
                board.remove_piece_at(square)
        if is_960 and generator.random() < 0.4:  # a rook beyond the one that may castle
            free = [square for square in (*range(8), *range(56, 64)) if board.piece_at(square) is None]
            for square in generator.sample(free, min(2, len(free))):
                color = chess.WHITE if square < 8 else chess.BLACK
                board.set_piece_at(square, chess.Piece(chess.ROOK, color))
        board.turn = generator.random() < 0.5
        if board.is_valid():
            return board


def scenario(game: Rules, number: int, generator: random.Random) -> tuple[Twin, Chooser, int]:
    """The number-th game: its start, how moves are chosen, and how many are played at most."""
    is_960 = game.spec.name == "chess960"

    def set_up(board: chess.Board) -> Twin:
        board.chess960 = is_960
        return Twin(game, board.fen(shredder=is_960 and generator.random() < 0.5, en_passant="fen"))

    match number % 16:
        case 0:
            start = chess.Board.from_chess960_pos(generator.randrange(960) if is_960 else 518)
            return set_up(start) if is_960 else Twin(game), choose_eventful, MAX_PLIES + 5
        case 1 | 2 | 3:
            return set_up(castling_position(generator, is_960)), choose_eventful, 8
        case 4 | 5 | 6:
            return set_up(pawn_position(generator)), choose_eventful, 12
        case 7:
            return set_up(scatter(generator.choice(("KkRr", "KkQnp", "KkPp")), generator)), choose_shuffle, 30
        case 8:
            return set_up(pinned_en_passant(generator)), choose_eventful, 2
        case 9 | 10 | 11:
            return set_up(last_move_position(generator)), choose_end, 2
        case 12:
            return set_up(double_check(generator)), choose_eventful, 2
    return set_up(ending_position(generator)), choose_end, 12


def compare(num_positions: int, seed: int) -> Counter[str]:
    """Play scenarios of both games until so many positions are compared; answers how often each event occurred.

    Raises:
        AssertionError: the core and python-chess differ; the message has the position.
    """
    generator = random.Random(seed)
    games = [make(f"{name}(max_plies={MAX_PLIES})") for name in ("chess", "chess960")]
    events: Counter[str] = Counter()
    number = 0
    while events["positions"] < num_positions:
        twin, choose, most_plies = scenario(games[number % 2], number // 2, generator)
        note_start(twin, events)
        for _ in range(most_plies):
            twin.check(generator)
            note_position(twin, events)
            ending = twin.ending()
            moves = list(twin.board.legal_moves)
            if not moves or (ending is not None and generator.random() < 0.5):
                break
            events["play past a soft ending"] += ending is not None
            move = choose(twin.board, moves, generator)
            note_move(twin, move, events)
            twin.play(move)
        if twin.board.legal_moves:
            set_up = Twin(twin.game, twin.board.fen())
            set_up.check(generator)
        number += 1
    return events


def note_start(twin: Twin, events: Counter[str]) -> None:
    events["position set up"] += 1
    events["true start set up"] += is_start(twin.board, twin.is_960)
    events["halfmove clock beyond 100"] += twin.board.halfmove_clock > 100
    events["inner rook in X-FEN"] += any(letter not in "KQkq-" for letter in twin.board.castling_xfen())


def note_position(twin: Twin, events: Counter[str]) -> None:
    board, ending = twin.board, twin.ending()
    events["positions"] += 1
    if ending is not None:
        events[ending] += 1
    events["check"] += board.is_check()
    events["double check"] += len(board.checkers()) == 2
    events["twofold repetition"] += twin.repetitions == 1
    if board.halfmove_clock == 100:
        events[f"{ending} at the hundredth ply"] += 1
    events["en passant by a pinned pawn"] += board.has_pseudo_legal_en_passant() and not board.has_legal_en_passant()


def note_move(twin: Twin, move: chess.Move, events: Counter[str]) -> None:
    board = twin.board
    side = "White" if board.turn == chess.WHITE else "Black"
    if board.is_castling(move):
        wing = "king" if board.is_kingside_castling(move) else "queen"
        events[f"{side} castles on the {wing} side in {twin.game.spec.name}"] += 1
    if move.promotion:
        events[f"{side} promotes to a {chess.piece_name(move.promotion)}"] += 1
    events[f"{side} takes en passant"] += board.is_en_passant(move)
