"""The drawn tree of a search: its most visited nodes, found again by walking there, and a drawing without overlap."""

from __future__ import annotations

import functools
import html
import itertools
import math
import re
from xml.etree import ElementTree

import pytest

from selfplay_for_tests import UniformEvaluator
from zerosum._core import Search
from zerosum.games import Rules, State, make
from zerosum.play.driver import SearchDriver
from zerosum.play.search_tree import most_visited
from zerosum.play.task import Task
from zerosum.report.search_tree import tree_svg
from zerosum.search import SearchConfig, new_search


def uniform_search(num_visits: int) -> tuple[Rules, State, Search]:
    game = make("connect4")
    config = SearchConfig(num_simulations=num_visits, root_noise_fraction=0.0)
    search, state = new_search(game, config), game.initial_state()
    search.reset(0, state)
    SearchDriver(search, UniformEvaluator(), config).run(Task(num_visits=num_visits))
    return game, state, search


def test_the_most_visited_nodes_are_those_of_the_roots_below() -> None:
    """Each is found again by walking there: its visits are those of its parent's move."""
    game, state, search = uniform_search(400)
    nodes = most_visited(game, state, search, count=30)
    assert len(nodes) == 31 and nodes[0].move == ""
    visits = [node.visits for node in nodes]
    assert visits == sorted(visits, reverse=True)
    paths: list[list[int]] = [[]]
    for node in nodes[1:]:
        at = paths[node.parent]
        reached = functools.reduce(game.play, at, state)
        paths.append([*at, game.parse_action(reached, node.move)])
    for node, path in zip(nodes[1:], paths[1:], strict=True):
        _, _, walked = uniform_search(400)
        for action in path[:-1]:
            walked.advance(0, action, keep=True)
        root = walked.root(0)
        at = root.actions.tolist().index(path[-1])
        assert root.visits[at] == node.visits
        expected = root.q[at] if root.player == 0 else -root.q[at]
        assert 2 * node.win_rate - 1 == pytest.approx(expected, abs=1e-6)


def test_no_node_outside_of_the_drawn_part_has_more_visits() -> None:
    game, state, search = uniform_search(300)
    everything, few = (most_visited(game, state, search, count=count) for count in (10_000, 12))
    assert everything[:13] == few
    assert sum(node.parent == 0 for node in everything[1:]) == 7


def test_a_tree_is_drawn_without_overlap() -> None:
    game, state, search = uniform_search(2000)
    nodes = most_visited(game, state, search)
    text = tree_svg(nodes)
    centres = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', text)
    points = [(float(x), float(y)) for x, y in centres]
    assert len(points) == 11 == text.count("</title>")
    assert all(math.dist(one, other) > 50 for one, other in itertools.combinations(points, 2))
    widths = [float(width) for width in re.findall(r'<circle [^>]*stroke-width="([\d.]+)"', text)]
    assert widths == sorted(widths, reverse=True) and max(widths) <= 10
    for node in nodes[1:]:
        assert f">{html.escape(node.move)}</text>" in text
    assert ElementTree.fromstring(text).tag.endswith("svg")
