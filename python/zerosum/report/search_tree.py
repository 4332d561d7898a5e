"""The most visited part of a search tree as a picture, as figure 4 of the AlphaZero paper (Science 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from zerosum.base.errors import counted
from zerosum.games.picture import svg_uri
from zerosum.play.search_tree import TreeNode

WIDTH, HEIGHT = 92, 84
"""Space of a node, in pixels of the picture."""
RADIUS = 22
THINNEST, THICKEST = 1.0, 9.0
"""Widths of the border of a node with no visits and of the root."""


def tree_svg(nodes: Sequence[TreeNode]) -> str:
    """A tree as SVG: winning chances in percent in circles, whose borders show the shares of the visits.

    Children stand below their parent, the most visited on the left, and each node in the middle above its children.
    """
    places = _places(nodes)
    width = WIDTH * (1 + max(column for column, _ in places))
    height = HEIGHT * (1 + max(row for _, row in places))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}"'
        f' height="{height}" font-family="system-ui, sans-serif" text-anchor="middle" fill="#22262b">'
    ]
    centres = [(WIDTH * (column + 0.5), HEIGHT * row + RADIUS + 8) for column, row in places]
    for node, (x, y) in zip(nodes[1:], centres[1:], strict=True):
        above_x, above_y = centres[node.parent]
        parts.append(
            f'<line x1="{above_x:.1f}" y1="{above_y:.1f}" x2="{x:.1f}" y2="{y:.1f}"'
            ' stroke="#9aa2ab" stroke-width="1.5"/>'
        )
    for node, (x, y) in zip(nodes, centres, strict=True):
        border = THINNEST + (THICKEST - THINNEST) * node.visits / nodes[0].visits
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="#fdfdfc" stroke="#2f6fb0"'
            f' stroke-width="{border:.1f}"><title>{counted(node.visits, "visit")}</title></circle>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}" font-size="14">{100 * node.win_rate:.0f}</text>'
        )
        if node.move:
            parts.append(
                f'<text x="{x:.1f}" y="{y - RADIUS - 6:.1f}" font-size="13" font-weight="600" stroke="#fdfdfc"'
                f' stroke-width="4" paint-order="stroke">{escape(node.move)}</text>'
            )
    return "".join([*parts, "</svg>"])


def tree_image(nodes: Sequence[TreeNode]) -> str:
    """The picture as a data URI."""
    return svg_uri(tree_svg(nodes))


def _places(nodes: Sequence[TreeNode]) -> list[tuple[float, int]]:
    """The column, in widths of a node, and the row of each node."""
    children: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], start=1):
        children[node.parent].append(number)
    columns, rows, leaves = [0.0] * len(nodes), [0] * len(nodes), 0

    def place(number: int, row: int) -> None:
        nonlocal leaves
        rows[number] = row
        for child in children[number]:
            place(child, row + 1)
        if children[number]:
            columns[number] = sum(columns[child] for child in children[number]) / len(children[number])
        else:
            columns[number], leaves = float(leaves), leaves + 1

    place(0, 0)
    return list(zip(columns, rows, strict=True))
