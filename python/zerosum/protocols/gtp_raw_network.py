"""The network's output for a position without a search, in the format of `kata-raw-nn`.

The network sees the position in one of eight symmetries, and its output is turned back: bit 0 of a symmetry's number
mirrors the rows, bit 1 the columns, bit 2 swaps both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zerosum.analysis.go_score import ownership
from zerosum.games import State
from zerosum.notation.go_words import point_of, stones_of, text_of, vertex_of
from zerosum.play.analysis import win_rate
from zerosum.play.player import Player
from zerosum.protocols.gtp_board import GtpBoard

NUM_SYMMETRIES = 8


def raw_network_text(board: GtpBoard, player: Player, symmetry: int) -> str:
    """KataGo's lines for a symmetry, without the outputs that the network lacks.

    Our own networks tell scores and owners of points if they have heads for them; KataGo's errors in the short term and
    the time left are not read.
    """
    size = board.size
    image = _image(size, symmetry)
    start, actions = board.root(board.mover)
    state = _turned(board, start, image)
    for action in actions:
        state = board.game.play(state, int(image[action]))
    leaves = player.game.encode([state])  # its network may have other planes than the board's game
    found = player.evaluator.evaluate(leaves)
    shares = np.exp(found.logits - found.logits.max())
    policy = np.full(size * size + 1, np.nan)
    policy[leaves.legal_actions] = shares / shares.sum()
    policy = policy[image]
    rate = win_rate(float(found.values[0]))
    white = rate if board.mover == 1 else 1 - rate
    rows = [
        " ".join("     NAN" if np.isnan(p) else f"{p:8.6f}" for p in row) for row in policy[:-1].reshape(size, size)
    ]
    no_result, scores = 0.0, list[str]()
    if player.knows_no_result:
        assert found.wdl is not None
        win, no_result, loss = found.wdl[0].tolist()
        white = win if board.mover == 1 else loss
    if (points := player.points(state)) is not None:
        points = points.of_opponent()
        scores = [
            f"whiteLead {points.lead:.3f}",
            f"whiteScoreSelfplay {points.mean:.3f}",
            f"whiteScoreSelfplaySq {points.mean**2 + points.deviation**2:.3f}",
        ]
    head = [
        f"symmetry {symmetry}",
        f"whiteWin {white:.6f}",
        f"whiteLoss {1 - white - no_result:.6f}",
        f"noResult {no_result:.6f}",
    ]
    lines = [*head, *scores, "policy", *rows, f"policyPass {policy[-1]:8.6f}"]
    if player.knows_owners:
        owners = -ownership(player, state, 0)[image[:-1]].reshape(size, size)
        lines += ["whiteOwnership", *(" ".join(f"{owner:9.7f}" for owner in row) for row in owners)]
    return "\n".join(lines)


def _image(size: int, symmetry: int) -> NDArray[np.int64]:
    """The image of each action under a symmetry; the pass stays."""
    points = np.arange(size * size).reshape(size, size)
    if symmetry & 4:
        points = points.T
    if symmetry & 2:
        points = points[:, ::-1]
    if symmetry & 1:
        points = points[::-1]
    return np.append(points.reshape(-1), size * size)


def _turned(board: GtpBoard, start: State, image: NDArray[np.int64]) -> State:
    game, size = board.game, board.size
    text = game.position_text(start)
    assert text is not None
    rows, player, *fields = text.split()
    turned = {vertex_of(size, int(image[point_of(size, vertex)])): owner for vertex, owner in stones_of(rows)}
    kept = [field for field in fields if not field.startswith("ko=")]
    banned = [field.removeprefix("ko=").split(",") for field in fields if field.startswith("ko=")]
    kept += ["ko=" + ",".join(vertex_of(size, int(image[point_of(size, v)])) for v in ones) for ones in banned]
    return game.parse_position(" ".join([text_of(size, turned, "XO".index(player)), *kept]))
