"""The openings that a player chose over a run, as in figures 3 and S1 of the AlphaZero paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.arena.openings import packaged_openings
from zerosum.base.errors import ZerosumError
from zerosum.games import Rules, State
from zerosum.games.playthrough import Playthrough
from zerosum.report.game_statistics import GameBlock

MOST_LINES = 7
"""Most openings that have a band of their own; the others share one."""
OTHERS = "others"


@dataclass(frozen=True)
class OpeningShares:
    """Shares of a block's games, by block."""

    games: tuple[float, ...]
    """The place of each block: the number of games before its middle."""
    shares: dict[str, list[float]]
    """Shares in [0, 1] by the opening's moves or name."""


def opening_shares(blocks: Sequence[GameBlock], game: Rules, *, plies: int) -> OpeningShares | None:
    """The most frequent first moves over a run, and the share of all others.

    Args:
        blocks: The games in the order of play.
        game: The rules, which name the moves.
        plies: Number of moves of an opening; a shorter game is an opening of its own.

    Returns:
        The shares, which sum to 1 in each block, or None if no game began with moves of the player's own.
    """
    counted = [(block, _cut(block.openings, plies)) for block in blocks if block.openings]
    if not counted:
        return None
    total = sum((counts for _, counts in counted), start=Counter[tuple[int, ...]]())
    shown = [moves for moves, _ in total.most_common(MOST_LINES)]
    shares = {_text(game, moves): [counts[moves] / counts.total() for _, counts in counted] for moves in shown}
    if len(total) > len(shown):
        shares[OTHERS] = [1.0 - sum(counts[moves] for moves in shown) / counts.total() for _, counts in counted]
    return OpeningShares(_places([block for block, _ in counted]), shares)


def human_shares(blocks: Sequence[GameBlock], game: Rules) -> OpeningShares | None:
    """How often the player reached the human openings of the paper (`packaged_openings`), by any order of moves.

    Returns:
        The shares of games, or None if the package has no openings of this game or no game reached one.
    """
    try:
        openings = packaged_openings(f"{game.spec.name}-human", game)
    except ZerosumError:  # no such openings, or for another form of the game
        return None
    wanted = {_placed(game, opening.state(game)): opening.name or _text(game, opening.actions) for opening in openings}
    counted = [(block, _reached(block.openings, game, wanted)) for block in blocks if block.openings]
    if not any(counts for _, counts in counted):
        return None
    shares = {
        name: [counts[name] / block.openings.total() for block, counts in counted]
        for name in dict.fromkeys(wanted.values())
    }
    return OpeningShares(_places([block for block, _ in counted]), shares)


def _cut(openings: Counter[tuple[int, ...]], plies: int) -> Counter[tuple[int, ...]]:
    counts = Counter[tuple[int, ...]]()
    for moves, number in openings.items():
        counts[moves[:plies]] += number
    return counts


def _places(blocks: Sequence[GameBlock]) -> tuple[float, ...]:
    return tuple(block.first_game + block.num_games / 2 for block in blocks)


def _text(game: Rules, moves: Sequence[int]) -> str:
    return " ".join(Playthrough.of(game, actions=moves).texts)


def _reached(openings: Counter[tuple[int, ...]], game: Rules, wanted: dict[str, str]) -> Counter[str]:
    counts = Counter[str]()
    for moves, number in openings.items():
        reached = {_placed(game, state) for state in Playthrough.of(game, actions=moves).states}
        for name in {wanted[text] for text in reached & wanted.keys()}:
            counts[name] += number
    return counts


def _placed(game: Rules, state: State) -> str:
    """The position's text without its counters, which other orders of moves may change."""
    return " ".join(word for word in (game.position_text(state) or "").split() if not word.isdigit())
