"""What a network has learned, by questions that the rules answer: to win at once, and to keep the opponent from it.

    questions = ask_questions(game, number=40)
    answered(player, questions)["win"]

A question is a position of random games with a move that is right by the rules. A network is asked without a search:
its answer is the share of its policy on the right moves.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zerosum.games import Rules, State
from zerosum.play.player import Player

MOST_GAMES = 400
"""Random games in which questions are looked for."""
KINDS = ("win", "save")


@dataclass(frozen=True)
class Question:
    """A position with right moves."""

    kind: str
    """"win": a move wins at once; "save": the opponent would win at once, and one move keeps it from that."""
    state: State
    moves: tuple[int, ...]
    """The moves that led here, from the initial position."""
    right: frozenset[int]
    """The right actions."""


def winning_actions(game: Rules, state: State) -> list[int]:
    """The moves that win at once for the player to move."""
    mover = game.player(state)
    found = []
    for action in game.legal_actions(state):
        outcome = game.outcome(game.play(state, action))
        if outcome is not None and (outcome if mover == 0 else -outcome) > 0:
            found.append(action)
    return found


def question_at(game: Rules, state: State, moves: tuple[int, ...]) -> Question | None:
    """The question that a position asks; None if there is none: no threat, or several ways out."""
    legal = game.legal_actions(state)
    if not legal or game.outcome(state) is not None or len(legal) < 3:
        return None
    if wins := winning_actions(game, state):
        return Question("win", state, moves, frozenset(wins)) if len(wins) < len(legal) else None
    mover = game.player(state)
    safe = []
    for action in legal:
        after = game.play(state, action)
        if game.outcome(after) is not None or game.player(after) == mover or not winning_actions(game, after):
            safe.append(action)
    return Question("save", state, moves, frozenset(safe)) if len(safe) == 1 else None


def ask_questions(game: Rules, *, number: int, seed: int = 0) -> list[Question]:
    """At most `number` questions of each kind, one of a game and kind; equal seeds ask the same ones."""
    generator = random.Random(seed)
    found: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    for _ in range(MOST_GAMES):
        if all(len(questions) >= number for questions in found.values()):
            break
        state, moves = game.initial_state(), tuple[int, ...]()
        asked = set[str]()
        while game.outcome(state) is None and (legal := game.legal_actions(state)):
            question = question_at(game, state, moves)
            if question is not None and question.kind not in asked and len(found[question.kind]) < number:
                asked.add(question.kind)
                found[question.kind].append(question)
            action = generator.choice(legal)
            state, moves = game.play(state, action), (*moves, action)
    return [question for questions in found.values() for question in questions]


def answered(player: Player, questions: Sequence[Question]) -> dict[str, float]:
    """The mean share of a network's policy on the right moves, in [0, 1], for each kind of question."""
    if not questions:
        return {}
    answer = player.evaluator.evaluate(player.game.encode([question.state for question in questions]))
    shares: dict[str, list[float]] = {}
    first = 0
    for question in questions:
        legal = player.game.legal_actions(question.state, past_soft_endings=True)
        logits = np.asarray(answer.logits[first : first + len(legal)], float)
        first += len(legal)
        weights = np.exp(logits - logits.max())
        on_right = sum(weight for action, weight in zip(legal, weights, strict=True) if action in question.right)
        shares.setdefault(question.kind, []).append(float(on_right / weights.sum()))
    return {kind: sum(found) / len(found) for kind, found in shares.items()}


def by_chance(game: Rules, questions: Sequence[Question]) -> dict[str, float]:
    """The shares of a policy that plays all legal moves alike."""
    shares: dict[str, list[float]] = {}
    for question in questions:
        shares.setdefault(question.kind, []).append(len(question.right) / len(game.legal_actions(question.state)))
    return {kind: sum(found) / len(found) for kind, found in shares.items()}
