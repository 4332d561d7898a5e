"""The core's small games compared with OpenSpiel's: legal moves, players to move, texts and results.

`compare` plays games on both; `python tests/oracle_small_games.py` writes the package's perft tables by OpenSpiel.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspiel

import zerosum
from small_twins import GomokuTwin
from zerosum.games import Rules, State, make

PERFT = Path(zerosum.__file__).parent / "data" / "perft"


Chooser = Callable[[Rules, State, list[int], random.Random], int]
"""Which move is played, where random ones hardly meet a rule."""


@dataclass(frozen=True)
class Pair:
    """A game of the core and the same game of OpenSpiel."""

    ours: str
    theirs: str
    to_ours: Callable[[Rules, Any, int], int]
    """The core's number of one of OpenSpiel's legal actions."""
    choose: Chooser | None = None


def same(_game: Rules, _position: Any, action: int) -> int:
    return action


def transposed(game: Rules, position: Any, action: int) -> int:
    """Hex: the core numbers the second player's cells column by column; `swap` comes last in both."""
    size = game.spec.board_shape[0]
    is_first = position.current_player() == 0
    return action if is_first or action == size**2 else action % size * size + action // size


def in_view(game: Rules, position: Any, action: int) -> int:
    """Breakthrough: OpenSpiel's first player walks down, `a7b6*` being a capture."""
    size, player = game.spec.board_shape[0], position.current_player()
    return _step(size, player, position.action_to_string(player, action))


@functools.cache
def _step(size: int, player: int, text: str) -> int:
    column, number, to = ord(text[0]) - ord("a"), int(text[1]), ord(text[2]) - ord("a")
    row = number - 1 if player == 0 else size - number  # the far row is 0
    return (to - column + 1) * size**2 + row * size + column


def what_is_left(game: Rules, position: Any, action: int) -> int:
    """Nim: OpenSpiel says how many are taken, the core which object is the first of them."""
    heaps = [int(size) for size in str(position).split(":")[1].split()]
    pile, take = (int(part.split(":")[1]) for part in position.action_to_string(0, action).strip(";").split(","))
    return (pile - 1) * game.spec.board_shape[1] + heaps[pile - 1] - take


def crush(victim: int) -> Chooser:
    """Both sides (in Othello) leave one of them few discs, so that there are passes, early ends and empty sides."""

    def fewest(game: Rules, state: State, depth: int) -> float:
        """The victim's discs after the line of play that leaves it the fewest."""
        legal = game.legal_actions(state)
        if depth == 0 or not legal:
            return float(game.planes(state).sum(axis=(1, 2))[int(game.player(state) != victim)])
        return min(fewest(game, game.play(state, action), depth - 1) for action in legal)

    def choose(game: Rules, state: State, legal: list[int], generator: random.Random) -> int:
        if state.plies < 4 or state.plies > 30:
            return generator.choice(legal)
        return min(legal, key=lambda action: (fewest(game, game.play(state, action), 1), generator.random()))

    return choose


def draw(game: Rules, state: State, legal: list[int], generator: random.Random) -> int:
    """Both sides (in Othello) draw if they can, once they see the end."""

    def can_draw(state: State) -> bool:
        if (outcome := game.outcome(state)) is not None:
            return outcome == 0
        return any(can_draw(game.play(state, action)) for action in game.legal_actions(state))

    draws = [action for action in legal if state.plies >= 55 and can_draw(game.play(state, action))]
    return generator.choice(draws or legal)


def swap_often(game: Rules, state: State, legal: list[int], generator: random.Random) -> int:
    is_swap = state.plies == 1 and generator.random() < 0.5
    return game.spec.num_actions - 1 if is_swap else generator.choice(legal)


def hunt(victim: int) -> Chooser:
    """One side (in Breakthrough) captures; the other brings its pieces forward, rear rows first, and captures none."""

    def choose(game: Rules, state: State, legal: list[int], generator: random.Random) -> int:
        pieces, size = game.planes(state)[1].sum(), game.spec.board_shape[0]

        def badness(action: int) -> tuple[bool, bool, int, float]:
            is_capture, row = game.planes(game.play(state, action))[0].sum() < pieces, action // size % size
            if game.player(state) == victim:
                return row == 1, is_capture, -row, generator.random()
            return row == 1, not is_capture, 0, generator.random()

        return min(legal, key=badness)

    return choose


PAIRS = (
    Pair("breakthrough", "breakthrough", in_view),
    Pair("breakthrough(size=7)", "breakthrough(rows=7,columns=7)", in_view),
    Pair("breakthrough(size=6)", "breakthrough(rows=6,columns=6)", in_view, hunt(0)),
    Pair("breakthrough(size=6)", "breakthrough(rows=6,columns=6)", in_view, hunt(1)),
    Pair("connect4", "connect_four", same),
    Pair("gomoku", "gomoku", same),
    Pair("gomoku(size=6)", "gomoku(size=6)", same),
    Pair("gomoku(size=9, length=4)", "mnk(m=9,n=9,k=4)", same),
    Pair("gomoku(size=8, length=6)", "gomoku(size=8,connect=6)", same),
    Pair("hex", "hex", transposed),
    Pair("hex(size=4)", "hex(board_size=4)", transposed),
    Pair("hex(size=6, swap=true)", "hex(board_size=6,swap=True)", transposed, swap_often),
    Pair("nim", "nim(is_misere=False)", what_is_left),
    Pair("nim(misere=true)", "nim(is_misere=True)", what_is_left),
    Pair("nim(heaps=9-2-14-3)", "nim(pile_sizes=9;2;14;3,is_misere=False)", what_is_left),
    Pair("nim(heaps=2-5, misere=true)", "nim(pile_sizes=2;5,is_misere=True)", what_is_left),
    Pair("othello", "othello", same),
    Pair("othello", "othello", same, draw),
    Pair("othello", "othello", same, crush(0)),
    Pair("othello", "othello", same, crush(1)),
    Pair("tictactoe", "tic_tac_toe", same),
)

SAME_TEXTS = ("hex", "othello")
"""Games whose actions OpenSpiel writes as the core does."""


EXACT_POSITIONS = "gomoku: positions with exact_five, beside the twin"
OVERLINE = "gomoku: a longer line that does not win, exact_five"
BOTH = ("first player wins", "second player wins")
EVENTS = frozenset(
    f"{game}, {result}"
    for game, results in {
        "breakthrough: last row reached": BOTH,
        "breakthrough: all pieces captured": BOTH,
        "connect4: four in a row": BOTH,
        "gomoku: five in a row": BOTH,
        "gomoku: board full": ("draw",),
        "hex: edges joined": BOTH,
        "nim: last object taken, normal": BOTH,
        "nim: last object taken, misere": BOTH,
        "othello: board full": (*BOTH, "draw"),
        "othello: neither side can move": BOTH,
        "tictactoe: three in a row": BOTH,
        "tictactoe: board full": ("draw",),
    }.items()
    for result in results
) | {OVERLINE, "othello: pass", "othello: one side has no disc", "hex: swap"}
"""Rule events that `compare` is sure to meet; full boards in Connect Four and Othello's early draws are too rare."""


def compare(num_positions: int, seed: int) -> Counter[str]:
    """Play each pair's games in step, at least `num_positions` of each game; answers the rule events that were seen.

    Raises:
        AssertionError: the two differ.
    """
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    num_pairs = Counter(pair.ours.partition("(")[0] for pair in PAIRS)
    for pair in PAIRS:
        game, oracle = make(pair.ours), pyspiel.load_game(pair.theirs)
        left = num_positions / num_pairs[game.spec.name]
        while left > 0:
            left -= _compare_game(pair, game, oracle, generator, seen)
    while seen[EXACT_POSITIONS] < num_positions / 3:
        _compare_exact_five(generator, seen)
    return seen


def _compare_exact_five(generator: random.Random, seen: Counter[str]) -> None:
    """OpenSpiel has no such rule: a game beside the slow twin; four in a row on a small board, with longer lines."""
    game, lax = make("gomoku(size=7, length=4, exact_five=true)"), make("gomoku(size=7, length=4)")
    state, twin, has_overline = game.initial_state(), GomokuTwin(7, 4, is_exact=True), False
    while legal := game.legal_actions(state):
        assert legal == twin.legal_actions(), game.draw(state)
        action = generator.choice(legal)
        state = game.play(state, action)
        twin.play(action)
        assert game.outcome(state) == twin.outcome(), game.draw(state)
        text = game.position_text(state)
        assert text is not None
        if game.outcome(state) is None and not has_overline and lax.outcome(lax.parse_position(text)) is not None:
            has_overline = True
            seen[OVERLINE] += 1
        seen[EXACT_POSITIONS] += 1


def _compare_game(pair: Pair, game: Rules, oracle: Any, generator: random.Random, seen: Counter[str]) -> int:
    """Plays one game; answers how many positions it had."""
    state, position = game.initial_state(), oracle.new_initial_state()
    while True:
        where = f"{pair.ours}\n{game.draw(state)}{position}"
        assert (game.outcome(state) is not None) == position.is_terminal(), where
        if position.is_terminal():
            break
        theirs = {pair.to_ours(game, position, action): action for action in position.legal_actions()}
        legal = game.legal_actions(state)
        assert legal == sorted(theirs), where
        assert game.player(state) == position.current_player(), where
        action = pair.choose(game, state, legal, generator) if pair.choose else generator.choice(legal)
        text = game.action_text(state, action)
        assert text == position.action_to_string(theirs[action]) or game.spec.name not in SAME_TEXTS, where
        if text in ("pass", "swap"):
            seen[f"{game.spec.name}: {text}"] += 1
        state = game.play(state, action)
        position.apply_action(theirs[action])
    outcome = game.outcome(state)
    assert outcome == position.returns()[0], where
    seen[f"{game.spec.name}: positions"] += state.plies + 1
    seen.update(_events_at_end(game, state, outcome))
    return state.plies + 1


def _events_at_end(game: Rules, state: State, outcome: float) -> Iterator[str]:
    name = game.spec.name
    variant = ("misere, " if "misere" in game.spec.options else "normal, ") if name == "nim" else ""
    yield f"{name}: {game.ending(state)}, {variant}{ {1.0: BOTH[0], -1.0: BOTH[1], 0.0: 'draw'}[outcome] }"
    if name == "othello" and not game.planes(state).any(axis=(1, 2)).all():
        yield "othello: one side has no disc"


def count_lines(position: Any, depth: int) -> int:
    """OpenSpiel's number of lines of play of this many plies; lines that end earlier do not count."""
    if position.is_terminal():
        return 0
    if depth == 1:
        return len(position.legal_actions())
    return sum(count_lines(position.child(action), depth - 1) for action in position.legal_actions())


def perft_table(pair: Pair, nums_plies: Iterable[int], *, enough: int) -> str:
    """Positions after so many random plies, with counts of lines up to the first depth that has enough, or 9."""
    game, oracle = make(pair.ours), pyspiel.load_game(pair.theirs)
    text = f"# Lines of play of {game.spec.name}, counted by OpenSpiel 2.0.2 ({pair.theirs}).\n"
    text += "# name | position, empty for the initial one | lines of play of 1, 2, 3 ... plies\n"
    for num_plies in nums_plies:
        generator, state = random.Random(num_plies), game.initial_state()
        position = oracle.new_initial_state()
        while state.plies < num_plies or position.is_terminal():
            if position.is_terminal():
                state, position = game.initial_state(), oracle.new_initial_state()
            action = generator.choice(position.legal_actions())
            state = game.play(state, pair.to_ours(game, position, action))
            position.apply_action(action)
        counts = [count_lines(position, 1)]
        while counts[-1] < enough and len(counts) < 9 and (count := count_lines(position, len(counts) + 1)):
            counts.append(count)
        name = f"after {num_plies} plies" if num_plies else "start"
        text += f"{name} | {game.position_text(state) if num_plies else ''} | {' '.join(map(str, counts))}\n"
    return text


NUMS_PLIES = {
    "breakthrough": (0, 9, 24, 41, 60),
    "gomoku": (0, 71, 110, 150),
    "hex": (0, 60, 90, 100),
    "nim": (0, 3),
    "othello": (0, 20, 35, 50, 54, 57),
}

if __name__ == "__main__":
    for pair in PAIRS:
        if pair.ours in NUMS_PLIES and pair.choose is None:
            # Othello's start is known to 9 plies.
            table = perft_table(pair, NUMS_PLIES[pair.ours], enough=400_000 if pair.ours == "othello" else 50_000)
            (PERFT / f"{pair.ours}.txt").write_text(table)
