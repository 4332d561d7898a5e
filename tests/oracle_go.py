"""The core's Go against others: a textbook twin, GNU Go (which moves are legal) and sgfmill (captures and area).

Games are directed: boards are small and games long, stones go where stones were taken, so that kos, snapbacks and long
cycles come up, and what came up is counted.
"""

from __future__ import annotations

import importlib
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from go_twin import BLACK, WHITE, Board, GoTwin
from zerosum.games import Rules, State, make, parse_action

GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
"""Debian keeps its games in a folder of their own."""

EVENTS = (
    "capture",
    "capture of several chains",
    "snapback",
    "ko",
    "superko: 3 plies, sending two and returning one",
    "superko: 4 to 5 plies",
    "superko: 6 plies, triple ko among them",
    "superko: more plies",
    "superko by a stone that takes none",
    "superko by suicide",
    "suicide",
    "suicide not allowed",
    "pass",
    "two passes",
    "ply cap",
    "Black wins",
    "White wins",
    "draw",
    "moves past the end",
    "position set up",
    "position set up with a ko",
    "handicap",
    "prisoners",
    "territory in seki",
)
"""What must have come up in a comparison that deserves the name."""


@dataclass(frozen=True)
class Variant:
    """A Go that is compared."""

    size: int
    weight: int
    """How often it is played."""
    stride: int = 1
    """Every how many plies the positions are compared: the twin is slow on large boards."""
    superko: str = "positional"
    suicide: bool = False
    scoring: str = "area"
    komi: float = 7.5
    max_plies: int = 0
    history: int = 8
    liberties: int = 0
    handicap: int = 0
    opening: str = ""
    """The position that games begin with, if it is not the game's own."""
    moves: str = ""
    """The moves that they begin with."""

    @property
    def name(self) -> str:
        options = [f"size={self.size}", f"komi={self.komi}", f"superko={self.superko}", f"history={self.history}"]
        options += [f"scoring={self.scoring}", f"liberties={self.liberties}"]
        options += ["rules=tromp-taylor"] * self.suicide + [f"handicap={self.handicap}"] * bool(self.handicap)
        options += [f"max_plies={self.max_plies}"] * bool(self.max_plies)
        return f"go({', '.join(options)})"

    def twin(self, board: Board | None = None, mover: int = BLACK, *, repeats_history: bool = False) -> GoTwin:
        return GoTwin(
            self.size,
            komi=self.komi,
            suicide=self.suicide,
            superko=self.superko,
            scoring=self.scoring,
            max_plies=self.max_plies or None,
            board=board,
            mover=mover,
            history=self.history,
            repeats_history=repeats_history,
            liberties=self.liberties,
        )


SENDING_TWO = "1O1O1/XXOOO/1XXO1/XXXOO/1XOO1 O"
"""White sends a second stone to the corner, Black takes two, White takes one: the board is as before."""
TWO_SENT = "OO1O1/XXOOO/1XXO1/XXXOO/1XOO1 X"
"""The same a move later: here the second stone, which takes nothing, is what brings the board back."""
THREE_KOS = "XXXOOOO/1X1XO1O/XXXOOOO/1XO1O1O/XXXOOOO/1X1XO1O/XXXOOOO O"
LARGE_EYES = "2XO1/XXXOO/1XOO1/XXOOO/1XO2 X"
"""Two stones one after the other in an eye of two points are gone."""

SEKI_WITH_EYES = "4OX3/4OX3/4OX3/4OX3/4OX3/OOOOOXXXX/OOOXXOXXX/XXXXXOOOO/1XXX1OOO1 X"
"""A chain of each colour inside the other's wall, with an eye each, and a point between them that nobody fills."""
SEKI = "O1O1X/XOOXX/XXOXO/1XOOO/X1XO1 X"
"""Chains that are short of liberties, with points that neither side can fill."""

VARIANTS = (
    Variant(5, 36, max_plies=300, komi=0.5, liberties=3),
    Variant(5, 20, max_plies=200, suicide=True, komi=3),
    Variant(5, 8, max_plies=200, superko="situational", komi=-25),
    Variant(5, 8, max_plies=120, superko="situational", suicide=True, komi=-25),
    Variant(5, 8, max_plies=200, superko="simple", komi=25),
    Variant(5, 6, superko="simple", suicide=True, komi=-25),
    Variant(5, 4, superko="none", max_plies=100, komi=25),
    Variant(5, 16, komi=25),
    Variant(5, 70, opening=SENDING_TWO),
    Variant(5, 20, opening=TWO_SENT, moves="C5 B5 pass"),
    Variant(5, 4, opening=SENDING_TWO, superko="situational"),
    Variant(5, 20, opening=LARGE_EYES, suicide=True, komi=-1),
    Variant(5, 10, superko="simple", scoring="territory", komi=0.5, max_plies=150),
    Variant(5, 6, suicide=True, scoring="territory", komi=1),
    Variant(5, 12, opening=SEKI, superko="simple", scoring="territory", komi=-1),
    Variant(7, 8, superko="simple", scoring="territory"),
    Variant(9, 6, stride=9, opening=SEKI_WITH_EYES, superko="simple", scoring="territory"),
    Variant(6, 6, history=3, liberties=8),
    Variant(7, 24, handicap=4, komi=20, liberties=1),
    Variant(7, 14, opening=THREE_KOS, komi=-5),
    Variant(7, 14, opening=THREE_KOS, superko="situational"),
    Variant(9, 4, stride=4, komi=7),
    Variant(9, 3, stride=5, suicide=True, handicap=9),
    Variant(13, 1, stride=40, history=1),
    Variant(19, 1, stride=180, liberties=4),
    Variant(25, 1, stride=400),
)

STYLES = (
    (0.0, 0.9, False),
    (0.05, 0.3, False),
    (0.3, 0.0, False),
    (0.02, 0.9, True),
    (0.2, 0.5, True),
    (0.3, 0.9, True),
)
"""How games are played: see `_choose`."""


class GnuGo:
    """GNU Go, spoken to by GTP."""

    def __init__(self, options: Sequence[str]) -> None:
        assert GNUGO is not None
        self.process = subprocess.Popen(
            [GNUGO, "--mode", "gtp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        answer = []
        while line := self.process.stdout.readline().rstrip():
            answer.append(line)
        assert answer[0].startswith("="), (command, answer)
        return " ".join(answer)[1:].strip()

    def close(self) -> None:
        self.process.communicate("quit\n")


class Oracles:
    """GNU Go and sgfmill beside a game, as far as they know its rules."""

    def __init__(self) -> None:
        self.boards = importlib.import_module("sgfmill.boards")
        self.engines: dict[tuple[str, bool], GnuGo] = {}
        self.gnugo: GnuGo | None = None
        self.board: Any = None

    def begin(self, variant: Variant, twin: GoTwin) -> None:
        """Begin at a position without a last move."""
        points = {colour: [p for p, owner in enumerate(twin.board) if owner == colour] for colour in (BLACK, WHITE)}
        places = [[self._low(divmod(p, variant.size), variant) for p in points[colour]] for colour in (BLACK, WHITE)]
        self.board = self.boards.Board(variant.size)
        assert self.board.apply_setup(*places, []), "it is legal"
        self.gnugo = None
        # GNU Go has boards up to 19x19, and no suicide of single stones, which positional superko forbids anyway.
        if variant.size > 19 or variant.superko == "none" or (variant.suicide and variant.superko != "positional"):
            return
        key = (variant.superko, variant.suicide)
        if key not in self.engines:
            ko = "--simple-ko" if variant.superko == "simple" else f"--{variant.superko}-superko"
            self.engines[key] = GnuGo([ko, "--allow-suicide" if variant.suicide else "--forbid-suicide"])
        self.gnugo = self.engines[key]
        stones = "".join(self._sgf(name, points[colour], twin) for name, colour in (("AB", BLACK), ("AW", WHITE)))
        with tempfile.NamedTemporaryFile("w", suffix=".sgf") as file:
            file.write(f"(;GM[1]FF[4]SZ[{variant.size}];{stones}PL[{'B' if twin.mover == BLACK else 'W'}])")
            file.flush()
            self.gnugo.ask(f"loadsgf {file.name}")

    @staticmethod
    def _sgf(name: str, points: list[int], twin: GoTwin) -> str:
        letters = "abcdefghijklmnopqrstuvwxy"
        places = [f"[{letters[p % twin.size]}{letters[p // twin.size]}]" for p in points]
        return name + "".join(places) if points else ""

    @staticmethod
    def _low(place: tuple[int, int], variant: Variant) -> tuple[int, int]:
        return variant.size - 1 - place[0], place[1]

    def play(self, variant: Variant, twin: GoTwin, action: int) -> None:
        """The move that is about to be made."""
        colour = "b" if twin.mover == BLACK else "w"
        if self.gnugo:
            self.gnugo.ask(f"play {colour} {twin.text(action)}")
        if action != twin.pass_:
            self.board.play(*self._low(divmod(action, variant.size), variant), colour)

    def check(self, variant: Variant, twin: GoTwin, game: Rules, state: State, legal: list[int]) -> list[str]:
        """Compare a position with both programs. Returns the names of the comparisons."""
        found = [
            [self.board.get(variant.size - 1 - row, c) for c in range(variant.size)] for row in range(variant.size)
        ]
        assert [{"b": BLACK, "w": WHITE, None: 0}[owner] for row in found for owner in row] == list(twin.board)
        if variant.scoring == "area":
            assert game.score(state) == self.board.area_score() - variant.komi, game.draw(state)
        if self.gnugo is None or twin.ply > 500:  # it remembers 500 moves
            return ["held against sgfmill"]
        answer = self.gnugo.ask(f"all_legal {'b' if twin.mover == BLACK else 'w'}")
        found, expected = {twin.text(point) for point in legal[:-1]}, set(answer.split())
        # GNU Go 3.8 does not hold suicides against superko.
        expected -= {twin.text(point) for point in twin.banned() if twin.put(point).lost}
        assert found == expected, f"{variant}: {found - expected}, {expected - found}\n{game.draw(state)}"
        return ["held against sgfmill", "held against GNU Go"]

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()


def compare(num_positions: int, seed: int, *, with_others: bool = True) -> Counter[str]:
    """Play until this many positions are compared. Returns the counts of events and of comparisons.

    Raises AssertionError with the position at the first difference.
    """
    generator, events = random.Random(seed), Counter[str]()
    games = {variant: make(variant.name) for variant in VARIANTS}
    oracles = Oracles() if with_others else None
    try:
        while events["positions"] < num_positions:
            variant = generator.choices(VARIANTS, [variant.weight for variant in VARIANTS])[0]
            _compare_game(variant, games[variant], generator, events, oracles)
    finally:
        if oracles:
            oracles.close()
    return events


def _compare_game(
    variant: Variant, game: Rules, generator: random.Random, events: Counter[str], oracles: Oracles | None
) -> None:
    state, twin = game.initial_state(), variant.twin()
    if variant.handicap:
        twin = variant.twin(_stones(game, state), WHITE)
        events["handicap"] += 1
    if variant.opening:
        state = game.parse_position(variant.opening)
        mover = BLACK if variant.opening.endswith("X") else WHITE
        twin = variant.twin(_stones(game, state), mover, repeats_history=True)
    if oracles:
        oracles.begin(variant, twin)
    style = generator.choice(STYLES)
    past_end = generator.choice([0, 0, 10])
    places: list[int] = []
    while True:
        outcome = twin.outcome()
        if twin.ply % variant.stride == 0 or outcome:
            legal = _check(variant, game, state, twin, events)
            if oracles:
                events.update(oracles.check(variant, twin, game, state, legal))
        else:
            legal = game.legal_actions(state, past_soft_endings=True)
        if outcome:
            if past_end == 0:
                break
            past_end -= 1
            events["moves past the end"] += 1
        elif generator.random() < (0.2 if twin.ply % variant.stride == 0 and twin.banned() else 0.01):
            _compare_set_up(variant, game, state, twin, generator, events)
        forced = variant.moves.split()[twin.ply : twin.ply + 1]
        action = parse_action(game, state, *forced) if forced else _choose(legal, twin, places, style, generator)
        if oracles:
            oracles.play(variant, twin, action)
        _count_move(twin, action, events)
        state = game.play(state, action)
        twin.play(action)
        places = [*places, *twin.last_taken][-12:]
    result, ending = outcome
    events[ending] += 1
    events[{1.0: "Black wins", -1.0: "White wins", 0.0: "draw"}[result]] += 1


def _choose(
    legal: list[int], twin: GoTwin, places: list[int], style: tuple[float, float, bool], generator: random.Random
) -> int:
    """A move where stones were taken lately with the chance `daring`, a pass with the chance `passes`.

    Who is careful does not fill eyes: then boards settle, and what is left are kos and longer cycles.
    """
    passes, daring, is_careful = style
    points = legal[:-1]
    if is_careful:
        points = [p for p in points if any(twin.board[q] != twin.mover for q in twin.near(p))]
    if not points or generator.random() < passes:
        return twin.pass_
    near = [point for point in places if point in points]
    return generator.choice(near) if near and generator.random() < daring else generator.choice(points)


def _stones(game: Rules, state: State) -> Board:
    picture = game.picture(state)
    assert picture is not None
    return tuple(0 if piece is None else (BLACK, WHITE)[piece[0]] for piece in picture.cells)


def _check(variant: Variant, game: Rules, state: State, twin: GoTwin, events: Counter[str]) -> list[int]:
    """Hold a position against the twin; answers the legal moves."""
    where = f"{variant}\n{game.draw(state)}"
    legal = game.legal_actions(state, past_soft_endings=True)
    assert legal == twin.legal_actions(), where
    outcome = twin.outcome()
    assert (game.outcome(state), game.ending(state)) == (outcome or (None, None)), where
    assert game.is_soft_ending(state) == (outcome is not None)
    assert game.player(state) == (0 if twin.mover == BLACK else 1), where
    assert game.score(state) == twin.score(), where
    assert _stones(game, state) == twin.board, where
    np.testing.assert_array_equal(game.planes(state), twin.planes(), where)
    events["positions"] += 1
    events["prisoners"] += variant.scoring == "territory" and any(twin.prisoners)
    events["territory in seki"] += variant.scoring == "territory" and _has_territory_in_seki(twin)
    _count_bans(twin, events)
    return legal


def _has_territory_in_seki(twin: GoTwin) -> bool:
    counted = twin.territory(BLACK) + twin.territory(WHITE)
    return counted < sum(len(kinds) == 1 for kinds in twin.borders().values())


def _count_bans(twin: GoTwin, events: Counter[str]) -> None:
    if not twin.suicide and any(twin.put(p).lost for p in range(twin.pass_) if twin.board[p] == 0):
        events["suicide not allowed"] += 1
    for point in twin.banned():
        stone = twin.put(point)
        plies = twin.ply + 1 - twin.seen.get(twin.situation(stone.board, -twin.mover), twin.ply - 1)
        if stone.taken and stone.board == twin.before_last:
            events["ko"] += 1
        elif stone.taken:
            names = {3: "3 plies, sending two and returning one", 4: "4 to 5 plies", 5: "4 to 5 plies"}
            names[6] = "6 plies, triple ko among them"
            events[f"superko: {names.get(plies, 'more plies')}"] += 1
        else:
            events[f"superko by {'suicide' if stone.lost else 'a stone that takes none'}"] += 1


def _count_move(twin: GoTwin, action: int, events: Counter[str]) -> None:
    if action == twin.pass_:
        events["pass"] += 1
        return
    stone = twin.put(action)
    events["capture"] += bool(stone.taken)
    events["capture of several chains"] += stone.chains_taken > 1
    events["suicide"] += bool(stone.lost)
    events["snapback"] += len(twin.last_taken) == 1 and action in twin.last_taken and len(stone.taken) > 1


def _compare_set_up(
    variant: Variant, game: Rules, state: State, twin: GoTwin, generator: random.Random, events: Counter[str]
) -> None:
    """Read the position from its own text, without the moves that led there, and play some more."""
    text = game.position_text(state)
    assert text is not None
    state = game.parse_position(text)
    assert game.position_text(state) == text
    fresh = variant.twin(twin.board, twin.mover, repeats_history=True)
    fresh.passes, fresh.prisoners = twin.passes, list(twin.prisoners)
    banned = twin.banned()
    for point in banned:
        stone = twin.put(point)
        fresh.seen[fresh.situation(stone.board, -fresh.mover)] = -1
        fresh.before_last = stone.board  # by the simple rule there is one such point at most
    events["position set up"] += 1
    events["position set up with a ko"] += bool(banned)
    for _ in range(5 if variant.size < 9 else 2):
        action = generator.choice(_check(variant, game, state, fresh, events))
        state = game.play(state, action)
        fresh.play(action)


def compare_pgx(num_positions: int, seed: int) -> int:
    """Hold planes and legal moves of 9x9 against pgx; answers how many positions were compared.

    pgx bans the simple ko alone, and ends a game that repeats a position: the comparison ends there.
    """
    pgx = importlib.import_module("pgx")
    jax = importlib.import_module("jax")
    env, game, generator = pgx.make("go_9x9"), make("go9"), random.Random(seed)
    start, step = jax.jit(env.init), jax.jit(env.step)
    compared = 0
    while compared < num_positions:
        state, theirs = game.initial_state(), start(jax.random.PRNGKey(0))
        while compared < num_positions and (legal := game.legal_actions(state)) and not theirs.terminated:
            planes = np.moveaxis(np.asarray(theirs.observation), 2, 0).astype(np.float32)
            planes[16] = 1 - planes[16]
            np.testing.assert_array_equal(game.planes(state), planes, game.draw(state))
            assert set(legal) <= set(np.flatnonzero(theirs.legal_action_mask).tolist())
            compared += 1
            action = generator.choice(legal)
            state, theirs = game.play(state, action), step(theirs, action)
    return compared


def random_states(game: Rules, num_games: int, seed: int) -> Iterator[State]:
    """All positions of random games."""
    generator = random.Random(seed)
    for _ in range(num_games):
        state = game.initial_state()
        while legal := game.legal_actions(state):
            yield state
            state = game.play(state, generator.choice(legal))
        yield state
