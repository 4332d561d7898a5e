"""Minishogi and minichess against their twins and, where pyffish is installed, against Fairy-Stockfish.

`compare_game` plays games in ways that lead to rare rules (repetition, perpetual check, fifty moves, mate by a pawn),
holds every position against both, and counts the rule events that it met.
"""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from types import ModuleType

import numpy as np

from minichess_twin import MinichessTwin
from minishogi_twin import MinishogiTwin
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, make

Twin = MinichessTwin | MinishogiTwin
TWINS: dict[str, type[Twin]] = {"minichess": MinichessTwin, "minishogi": MinishogiTwin}
SIDES = {"minichess": ("White", "Black"), "minishogi": ("Black", "White")}
FAIRY_VARIANTS = {"minichess": "gardner", "minishogi": "minishogi"}
FAIRY_LOSS = 32000


MINICHESS_EVENTS = (
    "checkmate, White wins",
    "checkmate, Black wins",
    "stalemate",
    "insufficient material",
    "threefold repetition",
    "fifty-move rule",
    "ply cap",
    *(f"promotion to {kind}{takes}" for kind in "QRBN" for takes in ("", " takes")),
)
MINISHOGI_EVENTS = (
    "checkmate, Black wins",
    "checkmate, White wins",
    "no legal move",
    "fourfold repetition, White wins",
    "perpetual check, Black wins",
    "perpetual check, White wins",
    "ply cap",
    "mate by a dropped pawn forbidden",
    *(f"drop of {kind}" for kind in "GSBRP"),
    *(f"promotion of {kind}" for kind in "SBRP"),
    *(f"no promotion of {kind}" for kind in "SBR"),
)
EVENTS = frozenset(
    {f"minichess: {event}" for event in MINICHESS_EVENTS} | {f"minishogi: {event}" for event in MINISHOGI_EVENTS}
)


def compare(num_positions: int, seed: int) -> Counter[str]:
    """Compare positions of both games, also with Fairy-Stockfish if pyffish is installed.

    Raises:
        AssertionError: the core differs.
    """
    fairy = importlib.import_module("pyffish") if importlib.util.find_spec("pyffish") else None
    seen = Counter[str]()
    for name in TWINS:
        for event, count in compare_game(name, num_positions, seed, fairy).items():
            seen[f"{name}: {event}"] += count
    return seen


def compare_game(name: str, num_positions: int, seed: int, fairy: ModuleType | None = None) -> Counter[str]:
    """Play games until so many positions were compared; the rule events that were met, "positions" among them.

    Raises:
        AssertionError: the core differs from its twin or from `fairy`, which is the module pyffish.
    """
    generator, events = random.Random(seed), Counter[str]()
    games = {max_plies: make(f"{name}(max_plies={max_plies})") for max_plies in (40, 300)}
    while events["positions"] < num_positions:
        max_plies = generator.choice((40, 40, 300))
        game = games[max_plies]
        text = _start_text(name, game, generator)
        if text is None:
            state, twin = game.initial_state(), TWINS[name]()
        else:
            state, twin = game.parse_position(text), TWINS[name](text, history_fill="repeat")
        twin.max_plies = max_plies
        line = Line(name, game, state, twin, generator, events)
        while True:
            line.compare_with_twin()
            if fairy is not None:
                line.compare_with_fairy(fairy)
            events["positions"] += 1
            if not game.legal_actions(line.state):
                break
            line.play(line.choose())
    return events


def _start_text(name: str, game: Rules, generator: random.Random) -> str | None:
    """The start of a quarter of the games; else a position of a few pieces, on which rare endings come soon."""
    if generator.random() < 0.25:
        return None
    while True:
        text = _few_pieces(name, generator)
        try:
            game.parse_position(text)
        except GameError:  # the side to move could take the king, a pawn on the last rank, two of them on a file
            continue
        return text


def _few_pieces(name: str, generator: random.Random) -> str:
    cells = [""] * 25
    squares = generator.sample(range(25), generator.randint(3, 7))
    for king, square in zip("Kk", squares, strict=False):
        cells[square] = king
    held = ""
    if name == "minishogi":
        pieces = list("GSBRP" * 2)
        generator.shuffle(pieces)
        num_lost = generator.choice((0, 2, 6, 10, 10, 10))
        if generator.random() < 0.35:
            # A rook hunts a king, which has nothing to put between: checks go on until they are perpetual.
            pieces, squares, num_lost = ["R"], squares[:3], 10
        for square in squares[2:]:
            piece = pieces.pop()
            prefix = "+" if piece != "G" and generator.random() < 0.3 else ""
            cells[square] = prefix + generator.choice((piece, piece.lower()))
        # All, some or none of the others are in hand: with none, there is no move at last.
        counts = Counter(generator.choice((piece, piece.lower())) for piece in pieces[num_lost:])
        held = "".join(("2" if counts[p] == 2 else "") + p for p in "RBGSPrbgsp" if counts[p]) or "-"
    else:
        for square in squares[2:]:
            cells[square] = generator.choice("PNBRQpnbrq")
    rows = "/".join("".join(cell or "." for cell in cells[row : row + 5]) for row in range(0, 25, 5))
    for count in range(5, 0, -1):
        rows = rows.replace("." * count, str(count))
    if name == "minishogi":
        return f"{rows} {generator.choice('bw')} {held} {generator.randint(1, 90)}"
    return f"{rows} {generator.choice('wb')} - - {generator.choice((0, 0, 80, 96))} {generator.randint(31, 90)}"


class Line:
    """One game, on the core and on its twin, and the way in which its moves are chosen."""

    def __init__(
        self, name: str, game: Rules, state: State, twin: Twin, generator: random.Random, events: Counter[str]
    ) -> None:
        self.name, self.game, self.state, self.twin = name, game, state, twin
        self.generator, self.events = generator, events
        self.start = game.position_text(state) or ""
        self.moves: list[str] = []
        self.seen = Counter([self._key(state)])
        checks = ("checks of the first", "checks of the second")
        self.way = generator.choice(("random", "random", "quiet", "repeat", *checks, *checks))
        rooks = [side for side, kind in twin.board.values() if kind in ("R", "+R")]
        if len(twin.board) == 3 and rooks:
            self.way = checks[rooks == [-1]]

    def _key(self, state: State) -> str:
        return " ".join((self.game.position_text(state) or "").split()[:3])

    # ---- which move

    def choose(self) -> int:
        legal = self.game.legal_actions(self.state)
        if self.way == "quiet" and self.generator.random() < 0.98:
            legal = [action for action in legal if not self._is_progress(action)] or legal
        checker = {"checks of the first": 1, "checks of the second": -1}.get(self.way)
        if checker == self.twin.mover:
            checkers = {action: self.twin.num_checkers(action) for action in legal}
            legal = [action for action in legal if checkers[action] == max(checkers.values())]
        repeats = self.way == "repeat" or checker is not None
        if repeats and self.generator.random() < 0.9:
            seen = {action: self.seen[self._key(self.game.play(self.state, action))] for action in legal}
            legal = [action for action in legal if seen[action] == max(seen.values())]
        return self.generator.choice(legal)

    def _is_progress(self, action: int) -> bool:
        move = self.twin.moves()[action]
        return move.target in self.twin.board or self.twin.board.get(move.source or (-1, -1), (0, ""))[1] == "P"

    def play(self, action: int) -> None:
        self._count_move(action)
        self.moves.append(self.game.action_text(self.state, action))
        self.state = self.game.play(self.state, action)
        self.twin.play(action)
        self.seen[self._key(self.state)] += 1

    def _count_move(self, action: int) -> None:
        move, far = self.twin.moves()[action], (0, 4)[self.twin.mover == -1]
        takes = " takes" if move.target in self.twin.board else ""
        if isinstance(self.twin, MinichessTwin):
            if self.twin.moves()[action].promotion:
                self.events[f"promotion to {move[2]}{takes}"] += 1
        elif move.source is None:
            self.events[f"drop of {move[2]}"] += 1
        elif move[3]:
            self.events[f"promotion of {move[2]}"] += 1
        elif move[2] in ("S", "B", "R", "P") and far in (move.source[0], move.target[0]):
            self.events[f"no promotion of {move[2]}"] += 1
        if self.twin.num_checkers(action) > 1:
            self.events["double check"] += 1

    # ---- the comparison

    def compare_with_twin(self) -> None:
        game, state, twin = self.game, self.state, self.twin
        where = f"{self.start} moves {' '.join(self.moves)}\n{game.draw(state)}"
        assert game.position_text(state) == twin.text(), where
        assert game.player(state) == (0 if twin.mover == 1 else 1), where
        assert game.legal_actions(state, past_soft_endings=True) == sorted(twin.moves()), where
        texts = [game.action_text(state, action) for action in sorted(twin.moves())]
        assert texts == [twin.action_text(action) for action in sorted(twin.moves())], where
        ending = twin.ending()
        assert (game.ending(state), game.outcome(state)) == (ending or (None, None)), where
        assert (game.legal_actions(state) == []) == (ending is not None), where
        np.testing.assert_array_equal(game.planes(state), twin.planes(), where)
        if ending is not None:
            winner = {0.0: "", 1.0: f", {SIDES[self.name][0]} wins", -1.0: f", {SIDES[self.name][1]} wins"}[ending[1]]
            self.events[ending[0] if ending[0] == "no legal move" else ending[0] + winner] += 1
            assert game.is_soft_ending(state) == bool(twin.moves()), where
        if isinstance(twin, MinishogiTwin):
            self.events["mate by a dropped pawn forbidden"] += len(twin.pawn_drops_that_mate())

    def compare_with_fairy(self, fairy: ModuleType) -> None:
        """The same legal moves, SAN and result; but pyffish lists the pawn drops that mate."""
        game, state, variant = self.game, self.state, FAIRY_VARIANTS[self.name]
        start, line = _fairy_fen(self.start), [_fairy_move(move) for move in self.moves]
        where = f"{self.start} moves {' '.join(self.moves)}\n{game.draw(state)}"
        legal = game.legal_actions(state, past_soft_endings=True)
        texts = {_fairy_move(game.action_text(state, action)): action for action in legal}
        found = set(fairy.legal_moves(variant, start, line))
        if isinstance(self.twin, MinishogiTwin):
            for move in self.twin.pawn_drops_that_mate():
                drop = "P@" + "abcde"[move.target[1]] + str(5 - move.target[0])
                mates = drop in found and not fairy.legal_moves(variant, start, [*line, drop])
                assert mates and fairy.gives_check(variant, start, [*line, drop]), where
                found.remove(drop)
        assert found == set(texts), where
        mover = 1 - 2 * game.player(state)
        if not legal:
            value = fairy.game_result(variant, start, line)
            assert value == (game.outcome(state) or 0) * mover * FAIRY_LOSS, where
            return
        ends, value = fairy.is_optional_game_end(variant, start, line)
        is_material = game.ending(state) == "insufficient material"
        if not is_material:
            assert ends == (game.ending(state) not in (None, "ply cap")), where
        if ends:
            assert value == (game.outcome(state) or 0) * mover * FAIRY_LOSS, where
        if self.name == "minichess" and self.generator.random() < 0.1:
            assert all(fairy.has_insufficient_material(variant, start, line)) == is_material, where
            fen = game.position_text(state)
            for move, action in texts.items():
                assert fairy.get_san(variant, fen, move) == game.action_text(state, action, "san"), where


def _fairy_fen(text: str) -> str:
    rows, side, *rest = text.split()
    if rest[:2] == ["-", "-"] and len(rest) == 4:
        return text
    hands, number = rest
    held = "".join(letter * int(count) for count, letter in _counted(hands))
    # SFEN counts plies, FEN moves; nothing that is compared depends on the number.
    return f"{rows}[{held}] {'w' if side == 'b' else 'b'} - - 0 {number}"


def _counted(hands: str) -> list[tuple[str, str]]:
    before = " " + hands
    return [(n if n.isdigit() else "1", letter) for n, letter in zip(before, hands, strict=False) if letter.isalpha()]


def _fairy_move(text: str) -> str:
    """Minishogi's squares renamed: `3e3d` is `c1c2`, `P*3c` is `P@c3`; minichess's moves as they are."""
    if text[0] in "abcde":
        return text
    if text[1] == "*":
        return f"{text[0]}@{_fairy_square(text[2:])}"
    return _fairy_square(text[:2]) + _fairy_square(text[2:4]) + text[4:]


def _fairy_square(text: str) -> str:
    return "abcde"[5 - int(text[0])] + str(5 - "abcde".index(text[1]))
