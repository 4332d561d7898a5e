"""The moves of an analysed game as a tree: its main line, the variations of its record, and moves tried on the page.

    tree = MoveTree(game, start, record, notation="san")
    here = tree.child(tree.main[3], action) or tree.add(tree.main[3], action)

Positions are numbered in the order in which they were added: the start is 0, and position n of the main line is n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from zerosum.base.errors import GameError
from zerosum.games import Rules, State, parse_action
from zerosum.games.playthrough import Playthrough
from zerosum.notation.record import Evaluation, Move, Record, clock_text

MOST_TRIED = 2000
"""Most moves that a page may add to the tree of a game."""
SIGNS = {
    **{
        1: "!",
        2: "?",
        3: "!!",
        4: "??",
        5: "!?",
        6: "?!",
        7: "□",
        10: "=",
        13: "∞",
        14: "⩲",
        15: "⩱",
        16: "±",
        17: "∓",
    },
    **{18: "+−", 19: "−+", 22: "⨀", 23: "⨀", 36: "↑", 37: "↑", 40: "→", 41: "→", 132: "⇆", 133: "⇆", 146: "N"},
}
"""Signs of annotation glyphs of the PGN standard; others are shown by their numbers, as $9."""


@dataclass(eq=False, slots=True)
class Node:
    """A position of the tree, and the move that leads to it."""

    number: int
    parent: Node | None
    action: int = -1
    """The move; -1 at the start."""
    text: str = ""
    """The move in the page's notation."""
    player: int = 0
    """The player of the move."""
    move: Move | None = None
    """The record's move with its annotations; None at the start and for a move that was tried on the page."""
    children: list[Node] = field(default_factory=list)

    @property
    def path(self) -> list[Node]:
        """The nodes from the first move to this one."""
        found: list[Node] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            found.append(node)
            node = node.parent
        return found[::-1]

    def json(self) -> dict[str, Any]:
        """The node for the page, with those annotations that it has."""
        found: dict[str, Any] = {"at": self.number, "text": self.text, "player": self.player}
        found["after"] = self.parent.number if self.parent else None
        if (move := self.move) is None:
            return found | {"tried": True}
        annotations = {
            "signs": [SIGNS.get(glyph, f"${glyph}") for glyph in move.nags],
            "before": list(move.comments_before),
            "comments": list(move.comments),
            "clock": "" if move.clock_s is None else clock_text(move.clock_s),
            "spent": "" if move.spent_s is None else clock_text(move.spent_s),
            "value": "" if move.evaluation is None else evaluation_text(move.evaluation),
            "ending": move.ending,
        }
        return found | {name: value for name, value in annotations.items() if value}


class MoveTree:
    """All known lines of a game."""

    def __init__(
        self, game: Rules, states: Sequence[State], actions: Sequence[int], record: Record, *, notation: str | None
    ) -> None:
        """Build the tree of a record whose moves are legal.

        Args:
            game: The rules.
            states: The positions of the main line.
            actions: Its moves.
            record: The record with its variations.
            notation: The notation of the texts of moves; None is the game's own.
        """
        self.game, self._notation = game, notation
        self.root = Node(0, None)
        self.nodes = [self.root]
        self.num_tried = 0
        self.main = [self.root]
        for state, action, move in zip(states, actions, record.moves, strict=False):
            self.main.append(self._new(self.main[-1], state, action, move))
        ahead = [(self.root, states[0], line) for line in record.variations]
        for node, state, move in zip(self.main[1:], states[1:], record.moves, strict=True):
            ahead += [(node, state, line) for line in move.variations]
        for node, state, line in ahead:  # which grows meanwhile
            for move in line:
                action = parse_action(game, state, move.text)
                node, state = self._new(node, state, action, move), game.play(state, action)
                ahead += [(node, state, inner) for inner in move.variations]

    def child(self, node: Node, action: int) -> Node | None:
        """The position after a move that the tree has."""
        return next((child for child in node.children if child.action == action), None)

    def add(self, node: Node, state: State, action: int) -> Node:
        """Add a legal move after a node, whose position is `state`.

        Raises:
            GameError: the page has added too many moves.
        """
        if self.num_tried >= MOST_TRIED:
            raise GameError(f"{MOST_TRIED:,} moves were tried here, which is the limit: open the game again.")
        self.num_tried += 1
        return self._new(node, state, action, None)

    def json(self, after: int = 0) -> list[dict[str, Any]]:
        """All nodes but the start, or those with larger numbers than `after`."""
        return [node.json() for node in self.nodes[after + 1 :]]

    def tried(self) -> list[str]:
        """Every line that ends with a move of the page: its moves from the start, in the game's own notation."""
        ends = [node for node in self.nodes[1:] if node.move is None and not node.children]
        return [" ".join(self.own_texts(end.path)) for end in ends]

    def own_texts(self, path: Iterable[Node], state: State | None = None) -> list[str]:
        """The moves of a path in the game's own notation; `state` is where it begins, by default the start."""
        state = self._start if state is None else state
        return list(Playthrough.of(self.game, state, (node.action for node in path)).texts)

    def _new(self, node: Node, state: State, action: int, move: Move | None) -> Node:
        if node is self.root:
            self._start = state
        text = self.game.action_text(state, action, self._notation)
        made = Node(len(self.nodes), node, action, text, self.game.player(state), move)
        node.children.append(made)
        self.nodes.append(made)
        return made


def evaluation_text(evaluation: Evaluation) -> str:
    """An evaluation for the first player, in pawns or moves to mate.

    >>> evaluation_text(Evaluation(pawns=0.5)), evaluation_text(Evaluation(mate=-3))
    ('+0.50', '#-3')
    """
    return f"{evaluation.pawns:+.2f}" if evaluation.pawns is not None else f"#{evaluation.mate}"
