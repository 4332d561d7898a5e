"""A game that was played in the terminal, as a file: PGN, SGF, KIF or CSA, or for any game its moves as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.base.files import replace_durably
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.notation import Move, Record
from zerosum.notation.game_files import GAMES, SUFFIXES, write_games
from zerosum.notation.own_files import MOVES_SUFFIX, line_text
from zerosum.notation.record import ENDINGS
from zerosum.play.go_ending import FinalScore


def suffixes(game: Rules) -> list[str]:
    """Endings of the names of files that `save_game` writes.

    >>> from zerosum.games import make
    >>> suffixes(make("go9")), suffixes(make("hex"))
    (['.sgf', '.txt'], ['.txt'])
    """
    formats = [suffix for suffix, format in SUFFIXES.items() if game.spec.name in GAMES[format]]
    return [*formats, MOVES_SUFFIX]


def save_game(
    path: Path,
    played: Playthrough,
    *,
    players: tuple[str, str],
    is_initial: bool,
    score: FinalScore | None = None,
) -> None:
    """Write a game, finished or not, in the format of the file's ending.

    Args:
        path: The file; an existing one is replaced.
        played: The game so far.
        players: The names of the first and the second player.
        is_initial: Whether it began with the game's initial position.
        score: The score of a finished game of Go without dead stones.

    Raises:
        DataError: the ending is not one of `suffixes`, or the file cannot be written.
    """
    game = played.game
    if path.suffix.lower() not in suffixes(game):
        raise DataError(
            f"{path} cannot hold a game of {game.spec.name}: name a file that ends in {' or '.join(suffixes(game))}."
        )
    texts, resigned = played.texts, played.resigned is not None
    position = "" if is_initial else game.position_text(played.start) or ""
    if path.suffix.lower() == MOVES_SUFFIX:
        try:
            replace_durably(path, line_text(position, texts) + "\n")
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
        return
    ending = "resignation" if resigned else game.ending(played.state) or ""
    record = Record(
        game=game.spec.full_name,
        moves=tuple(map(Move, texts)),
        headers=(("first player", players[0]), ("second player", players[1])),
        start=position,
        result=played.outcome,
        ending=ending if ending in ENDINGS else "",
    )
    if score is not None:
        record = replace(record, result=score.result, ending=f"{abs(score.lead):g} points" if score.lead else "")
    if SUFFIXES[path.suffix.lower()] in ("kif", "csa") and not record.ending:
        record = replace(record, result=None)  # these formats express a result only by its reason
    write_games([record], path)
