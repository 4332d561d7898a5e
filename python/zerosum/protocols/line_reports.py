"""Reports of a position for people at a keyboard: the board, an evaluation, perft, the moves of a search.

Each function yields lines of text and needs no engine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from zerosum._core import Root
from zerosum.base.errors import SettingsError
from zerosum.network.evaluators import Evaluator
from zerosum.notation.centipawns import centipawns
from zerosum.play.analysis import win_rate
from zerosum.protocols.line_words import Position

MOST_PERFT_DEPTH = 255


def board_lines(position: Position, *, text_word: str) -> Iterator[str]:
    """The board, its text after the label `text_word`, and the legal moves."""
    game, state = position.game, position.state
    yield from game.draw(state).splitlines()
    if (text := game.position_text(state)) is not None:
        yield f"{text_word}: {text}"
    yield f"Legal moves: {' '.join(sorted(game.action_text(state, action) for action in position.legal))}"
    if (ending := game.ending(state)) is not None:
        yield f"The game is over: {ending}"


def evaluation_lines(position: Position, evaluator: Evaluator, *, coefficient: int) -> Iterator[str]:
    """An evaluator's output for a position, for the player to move; moves by falling priors."""
    game, state = position.game, position.state
    if not game.legal_actions(state):
        yield f"The game is over: {game.ending(state)}"
        return
    leaves = game.encode([state])
    evaluations = evaluator.evaluate(leaves)
    value = float(evaluations.values[0])
    score = centipawns(value, coefficient)
    yield f"Value for the player to move: {value:+.4f} ({win_rate(value):.1%}, {score} centipawns)"
    if evaluations.wdl is not None:
        win, draw, loss = evaluations.wdl[0].tolist()
        yield f"Win, draw, loss: {win:.1%}, {draw:.1%}, {loss:.1%}"
    logits = evaluations.logits.astype(np.float64)
    priors = np.exp(logits - logits.max())
    priors /= priors.sum()
    moves = (
        f"{game.action_text(state, int(leaves.legal_actions[index]))} {priors[index]:.2%}"
        for index in np.argsort(-priors, kind="stable").tolist()
    )
    yield f"Priors: {', '.join(moves)}"


def perft_lines(position: Position, depth: int) -> Iterator[str]:
    """The number of lines of play of `depth` plies that begin with each move, and their sum.

    Raises:
        SettingsError: the depth is out of range.
    """
    game, state, total = position.game, position.state, 0
    if not 1 <= depth <= MOST_PERFT_DEPTH:
        raise SettingsError(f"go perft {depth}: expected 1 to {MOST_PERFT_DEPTH} plies.")
    for action in position.legal:
        count = game.perft(game.play(state, action), depth - 1)
        total += count
        yield f"{game.action_text(state, action)}: {count}"
    yield f"Nodes searched: {total}"


def move_lines(position: Position, root: Root) -> Iterator[str]:
    """A search's statistics of each move, the most visited last, and of the position, in Leela Chess Zero's format.

    N: visits, P: prior, Q: mean value, D: share of draws, V: the network's value of the position after the move. Values
    are for the player to move; unknown ones are left out.
    """
    for index in np.lexsort((root.priors, root.visits)).tolist():
        action, draw_shares = int(root.actions[index]), root.draw_shares
        words = [*position.texts([action]), f"({action})", f"N: {root.visits[index]}", f"(P: {root.priors[index]:.2%})"]
        if root.visits[index]:
            words.append(f"(Q: {root.q[index]:.5f})")
            words += [] if draw_shares is None else [f"(D: {draw_shares[index]:.3f})"]
        if not np.isnan(root.net_values[index]):
            words.append(f"(V: {root.net_values[index]:.4f})")
        words += ["(proven)"] if root.lower[index] == root.upper[index] else []
        yield " ".join(words)
    words = ["node", f"({len(root.actions)})", f"N: {root.num_simulations}", f"(Q: {root.value:.5f})"]
    words += [] if root.draw_share is None else [f"(D: {root.draw_share:.3f})"]
    yield " ".join([*words, f"(V: {root.net_value:.4f})"])
