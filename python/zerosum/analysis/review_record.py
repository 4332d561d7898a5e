"""Writes a review into its record, in the notation of each format.

        evaluation              mark                  better line       sentence
    PGN [%eval], pawns          $6, $2, $4            variation         comment at a mark
    SGF SBKV, percent           DO, BM[1], BM[2]      variation         comment at each move
    KIF #評価値=, centipawns    (in the sentence)     variation         comment at each move
    CSA '** centipawns line     (in the sentence)     in that comment   comment at a mark

The comment of SGF has the lead and the lost points in KaTrain's words, "Score: B+3.2" and "Estimated point loss: 2.1",
where the review knows the score.

Evaluations are the first player's, after the move, in all four. Earlier comments stay; earlier evaluations are
replaced.
A mark is not added to a move that already has one.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Sequence

from zerosum.analysis.go_score import points_lost
from zerosum.analysis.reviewed import MARKS, Review, ReviewedMove, ReviewedPosition
from zerosum.base.errors import SettingsError
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.notation.centipawns import centipawns, coefficient_of
from zerosum.notation.game_files import GAMES, game_text, read_games
from zerosum.notation.legality import NOTATIONS
from zerosum.notation.record import Evaluation, Move, Record, RecordError
from zerosum.play.analysis import AnalysisLine

VARIATION_PLIES = 12
"""Maximum length of a better line: deeper moves were hardly searched."""
GLYPHS = {"?!": 6, "?": 2, "??": 4}
MOVE_GLYPHS = range(1, 7)
SGF_MARKS = {"?!": ("DO", ""), "?": ("BM", "1"), "??": ("BM", "2")}
SGF_MOVE_PROPERTIES = {"BM", "DO", "IT", "TE"}
LEAST_POINTS = 0.5
"""Lost points from which the comment of SGF names them, as KaTrain's does."""


def annotated(review: Review, *, format: str, leads: Sequence[float | None] = ()) -> Record:
    """The record with the review's evaluations, marks and lines; moves and comments are unchanged.

    Args:
        review: The review.
        format: "pgn", "sgf", "kif" or "csa".
        leads: The first player's lead in points at each position, for SGF; empty where it is not known.

    Raises:
        SettingsError: the format cannot represent the record's game.
    """
    require_words(review.game, format)
    record = _in_format(review.record, format)
    annotate = {"pgn": _pgn, "sgf": _sgf, "kif": _kif, "csa": _csa}[format]
    moves = [
        annotate(move, _FormattedMove(review, format, *step, leads=tuple(leads[number : number + 2])))
        for number, (move, step) in enumerate(zip(record.moves, review.steps, strict=True))
    ]
    variations, who = record.variations, _who(review)
    if format != "csa":
        for ply, (move, before, _) in enumerate(review.steps):
            better = _better_lines(move, before)
            if ply == 0:
                variations = _joined(variations, better)
            else:
                moves[ply - 1] = dataclasses.replace(
                    moves[ply - 1], variations=_joined(moves[ply - 1].variations, better)
                )
    return dataclasses.replace(
        record,
        moves=tuple(moves),
        variations=variations,
        comments=_in_one_node(record.comments, who) if format == "sgf" else (*record.comments, who),
    )


def require_words(game: Rules, format: str) -> None:
    """Raise SettingsError if a format cannot represent a game's moves."""
    if game.spec.name not in GAMES[format]:
        known = ", ".join(GAMES[format])
        raise SettingsError(f"{format.upper()} cannot represent {game.spec.name}, only {known}: use text or json.")


def _in_format(record: Record, format: str) -> Record:
    """The record with the headers and rules of this format."""
    if record.format == format:
        return record
    try:
        text = game_text(record, format=format)
    except RecordError:
        if record.format or not record.ending:
            raise
        # The ending of a match's game may have no word in the format.
        winner = "nobody" if not record.result else f"the {'first' if record.result > 0 else 'second'} player"
        said = (*record.comments, f"Ended by {record.ending}: {winner} won.")
        text = game_text(dataclasses.replace(record, result=None, ending="", comments=said), format=format)
    return next(read_games(io.StringIO(text), format=format)).checked()


def _who(review: Review) -> str:
    thresholds = review.thresholds
    marks = ", ".join(f"{mark} from {getattr(thresholds, word):.0%}" for mark, word in MARKS.items())
    return f"Analysed by {review.by}; a move is marked by its loss of win rate, {marks}."


def _better_lines(move: ReviewedMove, before: ReviewedPosition) -> tuple[tuple[Move, ...], ...]:
    """The better line in place of a marked move."""
    if not move.mark or before.report is None:
        return ()
    lines = (line.moves[:VARIATION_PLIES] for line in before.report.lines if line.moves[0] != move.text)
    return tuple(tuple(Move(text) for text in line) for line in lines)


def _joined(said: tuple[tuple[Move, ...], ...], better: tuple[tuple[Move, ...], ...]) -> tuple[tuple[Move, ...], ...]:
    """Existing variations and the better lines that are not among them."""
    known = {tuple(move.text for move in line) for line in said}
    return (*said, *(line for line in better if tuple(move.text for move in line) not in known))


@dataclasses.dataclass(frozen=True)
class _FormattedMove:
    """A move of a review in a format."""

    review: Review
    format: str
    move: ReviewedMove
    before: ReviewedPosition
    after: ReviewedPosition
    leads: tuple[float | None, ...] = ()
    """The first player's lead in points before and after the move; empty where it is not known."""

    @property
    def centipawns(self) -> int:
        return centipawns(self.after.value, coefficient_of(self.review.game.spec.name))

    @property
    def mate(self) -> int | None:
        """Moves to mate after the move, as in `Evaluation.mate`; None if no mate was found."""
        if self.after.report is None:
            return None
        line = self.after.report.lines[0]
        plies = len(line.moves)
        if not line.proven or abs(line.value) != 1 or not self._ends_the_game(line):
            return None
        return (plies + 1) // 2 if self.after.value > 0 else -((plies + 1) // 2)

    def _ends_the_game(self, line: AnalysisLine) -> bool:
        return Playthrough.read(self.review.game, line.moves, self.after.state).outcome in (-1.0, 1.0)

    def sentence(self) -> str:
        """The sentence of a mark, such as "Blunder, 62 % -> 31 % for the mover. Better: Nf3."; "" without a mark."""
        if not self.move.mark or self.before.report is None:
            return ""
        rates = [
            position.win_rate if self.move.player == 0 else 1 - position.win_rate
            for position in (self.before, self.after)
        ]
        better = self.text_of(self.before, self.before.report.lines[0].moves[:1])
        word = MARKS[self.move.mark].capitalize()
        people = "".join(
            f" {share.by} plays this {share.played:.0%} of the time, and finds {better} {share.best:.0%}."
            for share in self.move.people
            if share.best is not None
        )
        return f"{word}, {rates[0]:.1%} -> {rates[1]:.1%} for the mover. Better: {better}.{people}"

    def score(self) -> str:
        """The lead after the move and the points that it lost, in KaTrain's words; "" where the score is not known."""
        if len(self.leads) < 2 or (lead := self.leads[1]) is None:
            return ""
        lost = points_lost(*self.leads, player=self.move.player, is_best=self.move.loss == 0) or 0.0
        loss = f" Estimated point loss: {lost:.1f}." if lost > LEAST_POINTS else ""
        return f"Score: {'B' if lead >= 0 else 'W'}+{abs(lead):.1f}.{loss}"

    def text_of(self, position: ReviewedPosition, moves: tuple[str, ...]) -> str:
        """The format's text of moves from a position."""
        notation = NOTATIONS[self.format] if self.format != "sgf" else None
        return " ".join(Playthrough.read(self.review.game, moves, position.state).texts_in(notation))


def _with_comments(move: Move, *said: str, keep: Callable[[str], bool] = lambda _: True) -> Move:
    kept = tuple(comment for comment in move.comments if keep(comment))
    return dataclasses.replace(move, comments=(*kept, *(text for text in said if text and text not in kept)))


def _in_one_node(comments: tuple[str, ...], said: str) -> tuple[str, ...]:
    """Comments with another sentence in the last of them: SGF has one a node, and a second one is a node of its own."""
    if any(said in comment for comment in comments):
        return comments
    return (*comments[:-1], "\n".join([*comments[-1:], said]))


def _pgn(move: Move, step: _FormattedMove) -> Move:
    evaluation = None
    if step.mate is not None:
        evaluation = Evaluation(mate=step.mate)
    elif step.after.report is not None:
        evaluation = Evaluation(pawns=step.centipawns / 100)
    has_glyph = any(glyph in MOVE_GLYPHS for glyph in move.nags)
    nags = move.nags if has_glyph or not step.move.mark else (*move.nags, GLYPHS[step.move.mark])
    return dataclasses.replace(_with_comments(move, step.sentence()), evaluation=evaluation, nags=nags)


def _sgf(move: Move, step: _FormattedMove) -> Move:
    rate = f"{100 * step.after.win_rate:.2f}"
    said = [(name, value) for name, value in move.properties if name != "SBKV"]
    is_marked = any(name in SGF_MOVE_PROPERTIES for name, _ in said)
    marks = [SGF_MARKS[step.move.mark]] if step.move.mark and not is_marked else []
    text = " ".join(word for word in (f"Black {step.after.win_rate:.1%}.", step.score(), step.sentence()) if word)
    comments = _in_one_node(move.comments, text)
    return dataclasses.replace(move, comments=comments, properties=(*said, *marks, ("SBKV", rate)))


def _kif(move: Move, step: _FormattedMove) -> Move:
    return _with_comments(
        move, f"#評価値={step.centipawns}", step.sentence(), keep=lambda comment: not comment.startswith("#評価値=")
    )


def _csa(move: Move, step: _FormattedMove) -> Move:
    report = step.after.report
    line = step.text_of(step.after, report.lines[0].moves[:VARIATION_PLIES]) if report else ""
    said = f"** {step.centipawns} {line}".rstrip()
    return _with_comments(move, said, step.sentence(), keep=lambda comment: not comment.startswith("** "))
