"""Reviews as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zerosum.analysis.reviewed import MARKS, Review, ReviewedMove, ReviewedPosition
from zerosum.games.board_text import side_to_move
from zerosum.games.rules import move_number, peoples_notation
from zerosum.play.analysis import columns

SIDES = ("first player", "second player")
LINE_PLIES = 8
"""Maximum length of a line in a table; JSON has the whole line."""


def review_text(review: Review, *, number: int = 1) -> str:
    """A table of the game's moves, with a better line for each marked move, and each player's mean loss.

    The win rate is the first player's after the move.
    """
    return "\n".join([_headline(review, number), *_table(review), *_summary(review)])


def _headline(review: Review, number: int) -> str:
    record = review.record
    names = " - ".join(name or "?" for name in record.players)
    said = [record.game, *([names] if any(record.players) else []), record.header("date")]
    return (
        f"Game {number}: {', '.join(word for word in said if word)}. Win rates are the first player's, by {review.by}."
    )


def _table(review: Review) -> Iterator[str]:
    game, notation = review.game, peoples_notation(review.game)
    asked = next((move.people for move in review.moves if move.people), ())
    rows = [("no.", "by", "move", "win rate", "lost", *(share.by for share in asked), "")]
    start = review.positions[0]
    rows.append(("", "", "", f"{start.win_rate:.1%}", "", *("" for _ in asked), ""))
    for ply, (move, before, after) in enumerate(review.steps, start=1):
        lost = f"{move.loss:.1%}" if move.mark else ""
        text = game.action_text(before.state, move.action, notation) + move.mark
        by = side_to_move(game, before.state) or SIDES[game.player(before.state)].split()[0]
        number = move_number(game, before.state, ply)
        shares = [f"{share.played:.0%}" for share in move.people] or ["" for _ in asked]
        rows.append((number, by, text, f"{after.win_rate:.1%}", lost, *shares, _better(review, move, before)))
    widths = [max(columns(row[column]) for row in rows) for column in range(5 + len(asked))]
    for *cells, better in rows:
        padded = [
            text + _blanks(text, width) if column in (1, 2) else _blanks(text, width) + text
            for column, (text, width) in enumerate(zip(cells, widths, strict=True))
        ]
        yield "  ".join([*padded, better]).rstrip()


def _blanks(text: str, width: int) -> str:
    return " " * (width - columns(text))


def _better(review: Review, move: ReviewedMove, before: ReviewedPosition) -> str:
    if move.hindsight:
        return f"not sure: later moves show that it may lose {move.hindsight:.1%}"
    if not move.mark or before.report is None:
        return ""
    found = ", ".join(f"{share.by} {share.best:.0%}" for share in move.people if share.best is not None)
    return f"better: {_line(review, before)}" + (f" (found by {found})" if found else "")


def _line(review: Review, position: ReviewedPosition) -> str:
    """The beginning of a position's best line, as people write it."""
    assert position.report is not None
    line = position.report.lines[0]
    return " ".join(line.texts(peoples_notation(review.game))[:LINE_PLIES])


def _summary(review: Review) -> Iterator[str]:
    for player, side in enumerate(SIDES):
        loss = review.mean_loss(player)
        if loss is not None:
            counts = ", ".join(f"{_counted(number, word)}" for word, number in review.num_marks(player).items())
            yield f"{side}: {counts}; {loss:.1%} lost per move"
    last = review.positions[-1]
    if last.report is None:
        yield f"The game is over: {review.game.ending(last.state)}.{_count_text(last)}"
    else:
        yield f"Best now: {_line(review, last)}"


def _count_text(position: ReviewedPosition) -> str:
    """The sentence of a count in Go, such as " Black has 2.5 points more, without the dead stones C4."."""
    if position.count is None:
        return ""
    score, dead = position.count.score, position.count.dead
    lead = (
        f"{'Black' if score > 0 else 'White'} has {abs(score):g} points more" if score else "Both have as many points"
    )
    return f" {lead}, without the dead stones {' '.join(dead)}." if dead else f" {lead}."


def _counted(number: int, word: str) -> str:
    return f"{number} {word if number == 1 else word[:-1] + 'ies' if word.endswith('y') else word + 's'}"


def review_numbers(review: Review, *, number: int = 1) -> dict[str, Any]:
    """The whole review, ready for JSON.

    `positions` has the position before the first move and after each move, with the `move` before it. Values of lines
    are for the player to move, `win_rate` and `value` of a position are the first player's.
    """
    moves: list[ReviewedMove | None] = [None, *review.moves]
    return {
        "number": number,
        "game": review.record.game,
        "start": review.record.start,
        "headers": [list(header) for header in review.record.headers],
        "result": review.record.result,
        "warnings": list(review.record.warnings),
        "by": review.by,
        "thresholds": {word: getattr(review.thresholds, word) for word in MARKS.values()},
        "positions": [
            {**({} if move is None else _move_numbers(move)), **_position_numbers(review, position)}
            for move, position in zip(moves, review.positions, strict=True)
        ],
        "players": [{**review.num_marks(player), "mean_loss": _rounded(review.mean_loss(player))} for player in (0, 1)],
    }


def _move_numbers(move: ReviewedMove) -> dict[str, Any]:
    numbers = {"move": move.text, "by_player": move.player, "loss": _rounded(move.loss), "mark": move.mark}
    if move.hindsight:
        numbers["hindsight"] = _rounded(move.hindsight)
    return {**numbers, "people": [share.numbers() for share in move.people]} if move.people else numbers


def _position_numbers(review: Review, position: ReviewedPosition) -> dict[str, Any]:
    found = {} if position.report is None else position.report.numbers()
    found.pop("by", None)
    found.pop("value", None)
    return {
        "position": review.game.position_text(position.state),
        "ending": review.game.ending(position.state),
        "value": _rounded(position.value),
        "win_rate": _rounded(position.win_rate),
        **({} if position.count is None else {"score": position.count.score, "dead": list(position.count.dead)}),
        **found,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
