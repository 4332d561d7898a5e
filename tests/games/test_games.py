"""The core's games against a slow twin on numpy boards, their encodings bit by bit, and the doors to them."""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from games_for_tests import DoubleMove, Loop
from small_twins import SMALL_TWINS
from zerosum import _core
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, adopt, check_game, make, measure_game, parse_action, state_after
from zerosum.games.python_game import load
from zerosum.games.rules import GameSpec, Leaves

KNOWN = ", ".join(_core.core_game_names())
CORE_GAMES = sorted(_core.core_game_names())
ALL_GAMES = {name: make(name) for name in CORE_GAMES} | {"double-move": adopt(DoubleMove())}


class LineGame:
    """Stones on a board, `length` in a row win; in a game with gravity an action is a column. 1 is the first player."""

    def __init__(self, height: int, width: int, length: int, *, has_gravity: bool) -> None:
        self.height, self.width, self.has_gravity = height, width, has_gravity
        self.board = np.zeros((height, width), int)
        self.mover = 1
        self.lines = [
            tuple(np.array([(row + i * down, column + i * right) for i in range(length)]).T)
            for row in range(height)
            for column in range(width)
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
            if row + (length - 1) * down < height and 0 <= column + (length - 1) * right < width
        ]

    def legal_actions(self) -> list[int]:
        if self.outcome() is not None:
            return []
        return np.flatnonzero(self.board[0] == 0 if self.has_gravity else self.board.ravel() == 0).tolist()

    def play(self, action: int) -> None:
        if self.has_gravity:
            row, column = int(np.flatnonzero(self.board[:, action] == 0).max()), action
        else:
            row, column = divmod(action, self.width)
        assert self.board[row, column] == 0
        self.board[row, column] = self.mover
        self.mover = -self.mover

    def outcome(self) -> float | None:
        for line in self.lines:
            if abs(total := self.board[line].sum()) == len(line[0]):
                return float(np.sign(total))
        return None if (self.board == 0).any() else 0.0

    def planes(self) -> np.ndarray:
        return np.stack([self.board == self.mover, self.board == -self.mover]).astype(np.float32)

    def action_text(self, action: int) -> str:
        if self.has_gravity:
            return str(action + 1)
        row, column = divmod(action, self.width)
        return "abc"[column] + str(self.height - row)


TWINS = {
    "connect4": lambda: LineGame(6, 7, 4, has_gravity=True),
    "tictactoe": lambda: LineGame(3, 3, 3, has_gravity=False),
    **SMALL_TWINS,
}


TWINS_ELSEWHERE = {
    "chess": "test_chess.py",
    "chess960": "test_chess.py",
    **dict.fromkeys(("go", "go9", "go13", "go19"), "test_go.py"),
    "medley": "test_medley.py",
    "mixedgo": "test_mixed_go.py",
    "minichess": "test_mini.py",
    "minishogi": "test_mini.py",
    "shogi": "test_shogi.py",
}
"""Games whose twins are too big for this file, by the test that holds the core against them."""
STONES = sorted(TWINS)
"""Games that forget how they came to a position."""


def random_games(game: Rules, num_games: int, seed: int) -> Iterator[list[tuple[State, int | None]]]:
    """Games as lists of (state, the action that was played there, None at the end)."""
    generator = random.Random(seed)
    for _ in range(num_games):
        state, positions = game.initial_state(), []
        while legal := game.legal_actions(state):
            action = generator.choice(legal)
            positions.append((state, action))
            state = game.play(state, action)
        yield [*positions, (state, None)]


def random_states(game: Rules, num_states: int, seed: int) -> list[State]:
    states = [state for positions in random_games(game, 40, seed) for state, _ in positions]
    return random.Random(seed).sample(states, num_states)


# ---- rules


def test_every_core_game_has_a_twin() -> None:
    assert sorted([*TWINS, *TWINS_ELSEWHERE]) == CORE_GAMES, "an independent twin for each game of the core"


@pytest.mark.parametrize("name", STONES)
def test_the_core_plays_as_its_twin(name: str) -> None:
    game, num_positions, outcomes = make(name), 0, set()
    for positions in random_games(game, 150, seed=1):
        twin = TWINS[name]()
        for ply, (state, action) in enumerate(positions):
            where = game.draw(state)
            assert game.legal_actions(state) == twin.legal_actions(), where
            assert game.outcome(state) == twin.outcome(), where
            assert (game.ending(state) is None) == (twin.outcome() is None), where
            assert game.player(state) == (0 if twin.mover == 1 else 1)
            assert state.plies == ply
            np.testing.assert_array_equal(game.planes(state), twin.planes(), where)
            for legal in twin.legal_actions():
                assert game.action_text(state, legal) == twin.action_text(legal)
            num_positions += 1
            if action is not None:
                twin.play(action)
        outcomes.add(game.outcome(positions[-1][0]))
        if num_positions > 2000:
            break
    assert num_positions > 1000 and {1.0, -1.0} <= outcomes


@pytest.mark.parametrize(
    ("name", "moves", "outcome", "ending"),
    [
        ("connect4", "1 2 1 2 1 2 1", 1.0, "four in a row"),
        ("connect4", "1 4 1 5 1 6 2 7", -1.0, "four in a row"),
        ("tictactoe", "a1 a2 b1 b2 c1", 1.0, "three in a row"),
        ("tictactoe", "a1 b2 c3 a3 c1 b1 b3 c2 a2", 0.0, "board full"),
    ],
)
def test_how_games_end(name: str, moves: str, outcome: float, ending: str) -> None:
    game = make(name)
    before, state = state_after(game, moves.rpartition(" ")[0]), state_after(game, moves)
    assert (game.outcome(before), game.ending(before)) == (None, None)
    assert (game.outcome(state), game.ending(state), game.legal_actions(state)) == (outcome, ending, [])


@pytest.mark.parametrize(
    ("name", "counts"),
    [("connect4", [1, 7, 49, 343, 2401, 16807]), ("tictactoe", [1, 9, 72, 504, 3024, 15120, 54720])],
)
def test_perft(name: str, counts: list[int]) -> None:
    """Lines of play by length; those that ended earlier count no more. The Rust tests go deeper."""
    game = make(name)
    states = [game.initial_state()]
    for count in counts:
        assert len(states) == count
        states = [game.play(state, action) for state in states for action in game.legal_actions(state)]


@pytest.mark.parametrize("name", CORE_GAMES)
def test_core_games_keep_the_protocol(name: str) -> None:
    num_games = 60 if make(name).spec.max_plies < 100 else 5
    report = check_game(make(name), num_games=num_games, seed=3)
    assert report.num_games == num_games == sum(report.results.values())
    assert set(report.results) <= {-1.0, 0.0, 1.0}
    assert report.longest <= make(name).spec.max_plies


def image_of_planes(spec: GameSpec, planes: np.ndarray, permutation: list[int]) -> np.ndarray:
    """Actions are squares, or planes of squares; Connect Four's are columns."""
    image = np.empty_like(planes)
    if spec.has_action_planes:
        squares = spec.board_shape[0] * spec.board_shape[1]
        permuted = [action % squares for action in permutation[:squares]]
        image.reshape(-1, squares)[:, permuted] = planes.reshape(-1, squares)
    else:
        image[:, :, permutation] = planes
    return image


@pytest.mark.parametrize("name", CORE_GAMES)
def test_images_of_games_have_images_of_planes_and_actions(name: str) -> None:
    game = make(name)
    for permutation in game.spec.symmetries:
        for positions in random_games(game, 10 if game.spec.max_plies < 200 else 2, seed=2):
            image = game.initial_state()
            for state, action in positions:
                expected = image_of_planes(game.spec, game.planes(state), permutation)
                np.testing.assert_array_equal(game.planes(image), expected)
                assert game.legal_actions(image) == sorted(permutation[legal] for legal in game.legal_actions(state))
                assert game.outcome(image) == game.outcome(state)
                if action is not None:
                    image = game.play(image, permutation[action])


def test_the_symmetries_of_the_boards() -> None:
    assert make("connect4").spec.symmetries == [[6, 5, 4, 3, 2, 1, 0]]
    square = np.arange(9).reshape(3, 3)
    turned = [np.rot90(board, turns).ravel().tolist() for board in (square, square.T) for turns in range(4)]
    assert sorted(make("tictactoe").spec.symmetries) == sorted(turned)[1:], "all eight but the identity"


@pytest.mark.parametrize("name", ["connect4", "gomoku", "tictactoe"])
def test_a_move_swaps_the_colours(name: str) -> None:
    """For the next mover the own stones are the opponent's, plus one stone; colours do not matter."""
    game = make(name)
    for positions in random_games(game, 5, seed=4):
        for (before, action), (after, _) in itertools.pairwise(positions):
            own, opponent = game.planes(before)
            next_own, next_opponent = game.planes(after)
            np.testing.assert_array_equal(next_own, opponent)
            assert (next_opponent - own).sum() == 1 and action is not None
            assert game.player(after) == 1 - game.player(before)


def test_states_are_values() -> None:
    game = make("connect4")
    root = game.initial_state()
    child = game.play(root, 3)
    drawn = game.draw(child)
    for action in range(7):
        game.play(child, action)
    assert (game.draw(root), game.draw(child)) == (game.draw(game.initial_state()), drawn)
    assert (root.plies, child.plies) == (0, 1)


def test_boards_are_drawn() -> None:
    game = make("tictactoe")
    assert game.draw(state_after(game, "a1 b2 c3")) == "3  . . X\n2  . O .\n1  X . .\n   a b c\n"
    game = make("connect4")
    assert game.draw(state_after(game, "4 4 1 7 7 7")).splitlines() == [
        " . . . . . . .",
        " . . . . . . .",
        " . . . . . . .",
        " . . . . . . O",
        " . . . O . . X",
        " X . . X . . O",
        " 1 2 3 4 5 6 7",
    ]


def test_what_a_game_is_said_to_be() -> None:
    spec = make("connect4").spec
    assert (spec.name, spec.num_actions, spec.board_shape, spec.max_plies) == ("connect4", 7, (6, 7), 42)
    assert [plane.name for plane in spec.planes] == ["own stones", "opponent stones"]
    assert not any(plane.is_constant for plane in spec.planes)
    assert spec.encoder_id == make("connect4").spec.encoder_id != make("tictactoe").spec.encoder_id


def test_games_are_measured() -> None:
    loop = measure_game(adopt(Loop()), num_games=3)
    assert (loop.legal_actions, loop.plies) == (3, Loop.max_plies)
    connect4 = measure_game(make("connect4"))
    assert 6 < connect4.legal_actions < 7 and 7 < connect4.plies < 42


# ---- encodings


def test_leaves_hold_what_the_game_says() -> None:
    for game in ALL_GAMES.values():
        states = random_states(game, 50, seed=5)
        leaves = game.encode(states)
        assert (len(leaves), leaves.ticket) == (50, None)
        np.testing.assert_array_equal(leaves.planes(), np.stack([game.planes(state) for state in states]))
        assert_legal(leaves, [game.legal_actions(state) for state in states])
        for player, state in zip(leaves.players, states, strict=True):
            assert player == game.player(state)


def assert_legal(leaves: Leaves, legal: list[list[int]]) -> None:
    offsets = leaves.legal_offsets
    assert offsets[0] == 0 and offsets[-1] == len(leaves.legal_actions)
    found = [leaves.legal_actions[start:end].tolist() for start, end in itertools.pairwise(offsets)]
    assert found == legal


def test_bits_are_packed_little_endian_row_by_row() -> None:
    for game in ALL_GAMES.values():
        leaves, spec = game.encode(random_states(game, 30, seed=6)), game.spec
        height, width = spec.board_shape
        is_constant = np.array([plane.is_constant for plane in spec.planes])
        bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little", count=height * width)
        planes = leaves.planes()
        np.testing.assert_array_equal(bits.reshape(30, -1, height, width), planes[:, ~is_constant])
        np.testing.assert_array_equal(leaves.constant_planes, planes[:, is_constant, 0, 0])
        assert leaves.packed_planes.shape == (30, (~is_constant).sum(), -(-height * width // 8))


def test_legal_logits_and_mask_equal_their_twins() -> None:
    for game in ALL_GAMES.values():
        states, num_actions = random_states(game, 20, seed=7), game.spec.num_actions
        leaves = game.encode(states)
        logits = np.random.default_rng(0).standard_normal((25, num_actions), dtype=np.float32)
        mask, selected = np.zeros((20, num_actions), bool), []
        for row, state in enumerate(states):
            for action in game.legal_actions(state):
                mask[row, action] = True
                selected.append(logits[row, action])
        np.testing.assert_array_equal(leaves.legal_mask(), mask)
        np.testing.assert_array_equal(leaves.select_legal(logits), np.array(selected, np.float32))


def test_planes_are_written_into_the_first_rows() -> None:
    leaves = make("connect4").encode(random_states(make("connect4"), 3, seed=8))
    out = np.full((5, 2, 6, 7), -1, np.float32)
    leaves.write_planes(out)
    np.testing.assert_array_equal(out[:3], leaves.planes())
    assert (out[3:] == -1).all()


@pytest.mark.parametrize("shape", [(1, 2, 6, 7), (2, 1, 6, 7), (2, 2, 7, 6), (2, 3, 6, 7)])
def test_arrays_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    game = make("connect4")
    leaves = game.encode([game.initial_state()] * 2)
    with pytest.raises(ValueError, match=r"out has shape .*, expected at least \[2, 2, 6, 7\]"):
        leaves.write_planes(np.zeros(shape, np.float32))
    for logits in ((1, 7), (2, 6), (2, 8)):
        with pytest.raises(ValueError, match=r"logits have shape .*, expected at least \[2, 7\]"):
            leaves.select_legal(np.zeros(logits, np.float32))


def test_arrays_in_another_order_are_refused() -> None:
    """Fortran's order is contiguous too, and would be read as if transposed."""
    game = make("connect4")
    leaves = game.encode([game.initial_state()] * 2)
    for logits in (np.zeros((2, 7), np.float32, order="F"), np.zeros((2, 14), np.float32)[:, ::2]):
        with pytest.raises(ValueError, match="logits: expected a C-contiguous array"):
            leaves.select_legal(logits)
    with pytest.raises(ValueError, match="out: expected a C-contiguous array"):
        leaves.write_planes(np.zeros((2, 2, 6, 7), np.float32, order="F"))
    with pytest.raises(TypeError, match="float64"):
        leaves.write_planes(np.zeros((2, 2, 6, 7)))


def columns(*numbers: int, dtype: type = np.int64) -> np.ndarray:
    return np.array(numbers, dtype)


def test_recorded_games_are_encoded_at_any_ply() -> None:
    for game in ALL_GAMES.values():
        games = [list(positions) for positions in random_games(game, 12, seed=9)]
        actions = [action for positions in games for _, action in positions if action is not None]
        offsets = np.cumsum([0, *(len(positions) - 1 for positions in games)])
        generator = np.random.default_rng(1)
        chosen = generator.integers(12, size=60)
        plies = np.array([generator.integers(len(games[index])) for index in chosen])
        leaves = game.encode_plies(columns(*actions, dtype=np.uint16), offsets, chosen, plies)
        states = [games[index][ply][0] for index, ply in zip(chosen, plies, strict=True)]
        np.testing.assert_array_equal(leaves.planes(), game.encode(states).planes())
        assert_legal(leaves, [game.legal_actions(state) for state in states])


@pytest.mark.parametrize(
    ("games", "plies", "message"),
    [
        ([0], [4], "sample 0: game 0 has no ply 4"),
        ([0, 1], [0, 0], "sample 1: game 1 has no ply 0"),
        ([-1], [0], "game -1 has no"),
        ([0], [-1], "no ply -1"),
        ([0, 0], [0], "2 games and 1 plies"),
        ([0], [3], r"sample 0, ply 2: action 9 is illegal here, legal are \[0, 1"),
    ],
)
def test_samples_that_do_not_exist_are_refused(games: list[int], plies: list[int], message: str) -> None:
    moves = columns(3, 3, 9, dtype=np.uint16)
    with pytest.raises(GameError, match=message):
        make("connect4").encode_plies(moves, columns(0, 3), columns(*games), columns(*plies))


# ---- names, files and moves as people write them


def test_illegal_moves_are_refused_with_the_board() -> None:
    game = make("tictactoe")
    state = state_after(game, "b2")
    for action in (4, 9, -1, 1 << 20):
        with pytest.raises(GameError, match=f"action {action} is illegal"):
            game.play(state, action)
        with pytest.raises(GameError, match=f"action {action} is illegal"):
            game.action_text(state, action)
    with pytest.raises(GameError, match=r"legal are \[0, 1, 2, 3, 5, 6, 7, 8\]:\n3  . . .\n2  . X ."):
        game.play(state, 4)


def test_moves_are_read_as_written() -> None:
    game = make("tictactoe")
    for positions in random_games(game, 5, seed=10):
        for state, _ in positions:
            for action in game.legal_actions(state):
                text = game.action_text(state, action)
                assert parse_action(game, state, text) == parse_action(game, state, f" {text.upper()} ") == action
    with pytest.raises(GameError, match="'a4' is not a legal move here: near are .*a1"):
        parse_action(game, game.initial_state(), "a4")
    for written, near in (("E2E4", "e2e4"), ("NC4", "c4, Nc3"), ("e2e5", "e2e4, e2e3, of 20 that are legal")):
        with pytest.raises(GameError, match=f"'{written}' is not a legal move here: near are {near}"):
            state_after(make("chess"), written)
    with pytest.raises(GameError, match=r"^move 2: 'e{40}…' is not a legal move here: legal are Na6, .*h5, h6\.$"):
        state_after(make("chess"), f"e4 {'e' * 100_000}")
    with pytest.raises(GameError, match="'z0' is not a legal move here: legal are A1, A2, A3, A4, A5 and 77 more"):
        state_after(make("go9"), "z0")
    with pytest.raises(GameError, match="move 2: 'b2' is not a legal move here"):
        state_after(game, "b2 b2")
    with pytest.raises(GameError, match="move 6: 'c3' is not a legal move here: the game is over .three in a row."):
        state_after(game, "a1 b1 a2 b2 a3 c3")
    assert state_after(game, "").plies == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "conect4",
            f"unknown game 'conect4': did you mean 'connect4'. Available: {KNOWN}. Your own game",
        ),
        ("", "unknown game ''"),
        ("xyz", f"unknown game 'xyz'; available: {KNOWN}. Your own game"),
        ("chess.py", "the file 'chess.py' does not exist; your own game is given as path.py:Class"),
        ("nowhere.py:Chess", "the file 'nowhere.py' does not exist"),
    ],
)
def test_unknown_games_are_named(name: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        make(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nraise RuntimeError('no')", r"could not be run: RuntimeError: no \(own.py, line 2, in <module>\)$"),
        ("class Own(:\n", r"could not be run: SyntaxError: invalid syntax \(own.py, line 1\)$"),
        ("import nothing_of_that_name", "could not be run: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)", "could not be run: SystemExit: 3"),
        ("class Own:\n    def __init__(self, size): pass", r"TypeError: Own.__init__\(\) missing 1 .*'size'$"),
        ("class Wown: pass", "has no class 'Own': did you mean 'Wown'"),
        ("own = 3", "has no class 'Own'; none is available"),
        ("class Own: pass", "Own has no attributes 'name', .* and no methods .*: the Game protocol requires them"),
    ],
)
def test_files_that_hold_no_game_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "own.py").write_text(text)
    with pytest.raises(GameError, match=message):
        make(f"{tmp_path / 'own.py'}:Own")


def test_a_game_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may import its neighbours, its classes find their module, and no module of its name is pushed aside."""
    (tmp_path / "neighbour.py").write_text("from games_for_tests import DoubleMove\n")
    imports = "from __future__ import annotations\nimport dataclasses\nfrom neighbour import DoubleMove\n"
    (tmp_path / "json.py").write_text(f"{imports}@dataclasses.dataclass\nclass Mine(DoubleMove):\n    x: int = 3\n")
    before, path = sys.modules["json"], list(sys.path)
    monkeypatch.setattr(sys, "path", list(path))
    game = make(f"{tmp_path / 'json.py'}:Mine")
    assert game.spec.name == "double-move" and game.legal_actions(game.initial_state()) == [0, 1, 2]
    assert sys.modules["json"] is before and sys.path == [*path, str(tmp_path.resolve())]


def test_a_game_may_import_its_neighbours_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "late_neighbour.py").write_text("NUMBER = 1\n")
    (tmp_path / "late.py").write_text(
        "from games_for_tests import DoubleMove\n\n\nclass Late(DoubleMove):\n"
        "    def player(self, state):\n        import late_neighbour\n\n        return late_neighbour.NUMBER\n"
    )
    for _ in range(2):
        game = make(f"{tmp_path / 'late.py'}:Late")
        assert game.player(game.initial_state()) == 1
    assert sys.path.count(str(tmp_path.resolve())) == 1


def test_an_edited_file_runs_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would take the cached bytecode of the first text: size and time of both are equal."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "own.py"
    for name in ("first", "other"):
        file.write_text(f"from games_for_tests import DoubleMove\nclass Own(DoubleMove):\n    name = {name!r}\n")
        os.utime(file, (1e9, 1e9))
        assert load(file, "Own").name == name


def test_a_file_without_a_class_gets_those_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("from games_for_tests import DoubleMove\nclass One(DoubleMove): pass\n")
    with pytest.raises(GameError, match=r"^own.py is a file, .* Name the class: own.py:One.$"):
        make("own.py")
    Path("own.py").write_text("class One: pass\nclass Two: pass\n")
    with pytest.raises(GameError, match=r"Name the class: own.py:One or own.py:Two.$"):
        make("own.py")
    Path("own.py").write_text("")
    with pytest.raises(GameError, match=r"^own.py has no class: "):
        make("own.py")


# ---- options, positions, pictures


def test_options_stand_in_brackets() -> None:
    game = make("connect4(max_plies=20)")
    assert (game.spec.name, game.spec.options, game.spec.max_plies) == ("connect4", "max_plies=20", 20)
    assert game.spec.full_name == "connect4(max_plies=20)" and make(game.spec.full_name).spec.max_plies == 20
    assert make("connect4(max_plies=42)").spec.full_name == "connect4"
    for name, sentence in (
        ("connect4(rows=9)", "has no option"),
        ("connect4(max_plies=0)", "expected a number from 1"),
        ("connect4(", "lacks its closing bracket"),
        ("connect4(max_plies=9)x", 'has "x" behind its closing bracket'),
        ("conect4(max_plies=9)", "did you mean 'connect4'"),
    ):
        with pytest.raises(GameError, match=sentence):
            make(name)


def test_what_a_game_does_not_have_is_said() -> None:
    game, chess960 = make("connect4"), make("chess960")
    for number in (-1, 960, 1 << 40):
        with pytest.raises(GameError, match=f"^chess960 has no start {number}: they are 0 to 959$"):
            chess960.start(number)
    with pytest.raises(GameError, match='^connect4 has no notation "san", it has only its own$'):
        game.action_text(game.initial_state(), 3, "san")
    with pytest.raises(GameError, match='^chess960 has no notation "uci"; available: san$'):
        chess960.action_text(chess960.initial_state(), chess960.legal_actions(chess960.initial_state())[0], "uci")


def test_a_soft_ending_leaves_moves_that_records_may_make() -> None:
    game = make("connect4(max_plies=2)")
    state = state_after(game, "4 4")
    assert (game.outcome(state), game.ending(state), game.is_soft_ending(state)) == (0.0, "ply cap", True)
    assert game.legal_actions(state) == [] and game.legal_actions(state, past_soft_endings=True) == list(range(7))
    assert "X" in game.draw(game.play(state, parse_action(game, state, "4")))
    won = state_after(make("connect4"), "1 2 1 2 1 2 1")
    assert not game.is_soft_ending(won) and game.legal_actions(won, past_soft_endings=True) == []


@pytest.mark.parametrize("name", STONES)
def test_positions_read_back(name: str) -> None:
    game = make(name)
    for state in random_states(game, 100, seed=3):
        text = game.position_text(state)
        assert text is not None
        again = game.parse_position(text)
        assert (again.plies, game.position_text(again)) == (0, text)
        assert game.outcome(again) == game.outcome(state) and game.legal_actions(again) == game.legal_actions(state)
        np.testing.assert_array_equal(game.planes(again), game.planes(state))


def test_a_malformed_position_is_named() -> None:
    for text, sentence in (
        ("7/7/7/7/7 X", "has 5 rows, expected 6"),
        ("7/7/7/7/X6/7 O", "the stone in column 1, row 5 from the top, has none below it"),
        ("7/7/7/7/7/X6 X", "X is to move, and there are 1 X and 0 O"),
    ):
        with pytest.raises(GameError, match=sentence):
            make("connect4").parse_position(text)


def test_records_may_begin_elsewhere() -> None:
    game = make("connect4")
    start = game.parse_position("7/7/7/7/7/3X3 O")
    moves = np.array([3, 3, 2], np.uint16)
    leaves = game.encode_plies(
        moves, np.array([0, 1, 3]), np.array([0, 1, 1]), np.array([1, 0, 2]), starts=[start, None]
    )
    for row, state in enumerate((game.play(start, 3), game.initial_state(), state_after(game, "4 3"))):
        np.testing.assert_array_equal(leaves.planes()[row], game.planes(state))


def test_the_picture_is_what_is_drawn() -> None:
    game = make("tictactoe")
    state = state_after(game, "b2 a1")
    picture = game.picture(state)
    assert picture is not None and picture.grid == "squares" and picture.column_labels == ["a", "b", "c"]
    assert {cell: piece for cell, piece in enumerate(picture.cells) if piece} == {4: (0, "X", ""), 6: (1, "O", "")}
    assert adopt(DoubleMove()).picture(adopt(DoubleMove()).initial_state()) is None
