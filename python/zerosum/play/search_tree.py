"""A search that is seen as it grows, with the most visited part of its tree, as in figure 4 of the AlphaZero paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from zerosum._core import Search
from zerosum.games import Rules, State
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.driver import SearchDriver
from zerosum.play.player import Player
from zerosum.play.task import Task
from zerosum.search import new_search

MOST_NODES = 10
"""Positions below the root that are shown, as many as in the paper's figure."""


@dataclass(frozen=True)
class TreeNode:
    """A position of the drawn part of a tree."""

    parent: int
    """Place of its parent in the list; the root, the first, names itself."""
    move: str
    """The move from the parent, as people write it; "" for the root."""
    visits: int
    win_rate: float
    """The first player's expected points, in [0, 1]."""


def most_visited(game: Rules, state: State, search: Search, *, count: int = MOST_NODES) -> list[TreeNode]:
    """The root of a search and its `count` most visited descendants, each after its parent.

    Args:
        game: The rules.
        state: The position at the root.
        search: A search whose first tree has this root.
        count: Number of nodes beside the root.

    Raises:
        ValueError: the search's rules are learned.
    """
    states, nodes = list[State](), list[TreeNode]()
    for parent, action, visits, value in search.most_visited(0, count + 1):
        move = game.action_text(states[parent], action) if nodes else ""
        states.append(game.play(states[parent], action) if nodes else state)
        nodes.append(TreeNode(parent, move, visits, win_rate(value)))
    return nodes


@dataclass(frozen=True)
class SearchStage:
    """A search after a number of simulations."""

    num_simulations: int
    analysis: Analysis
    tree: list[TreeNode]
    """The most visited positions; empty for a search without positions below the root."""


def search_stages(
    player: Player, state: State, counts: Iterable[int], *, leaves_in_flight: int = 1
) -> Iterator[SearchStage]:
    """One search of a position, seen after each of these numbers of simulations, which ascend.

    With one leaf in flight it is exactly the sequential search.

    Raises:
        GameError: the game is over there.
    """
    game, config = player.game, replace(player.config, root_noise_fraction=0.0, leaves_in_flight=leaves_in_flight)
    search = new_search(game, config)
    search.reset(0, state)
    driver = SearchDriver(search, player.evaluator, config, by=player.own_name)
    has_positions = config.rules == "known" and not player.is_alpha_beta
    for count in counts:
        analysis = driver.run(Task(num_visits=count))
        yield SearchStage(count, analysis, most_visited(game, state, search) if has_positions else [])
