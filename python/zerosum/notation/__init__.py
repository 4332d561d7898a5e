"""People's game records: PGN, SGF, KIF and CSA, to and from one `Record`. `docs/notation.md` shows it."""

from zerosum.notation.game_files import append_game as append_game
from zerosum.notation.game_files import game_text as game_text
from zerosum.notation.game_files import read_games as read_games
from zerosum.notation.game_files import write_game as write_game
from zerosum.notation.game_files import write_games as write_games
from zerosum.notation.legality import states_of as states_of
from zerosum.notation.record import Evaluation as Evaluation
from zerosum.notation.record import Move as Move
from zerosum.notation.record import Record as Record
from zerosum.notation.record import RecordError as RecordError

__all__ = [
    "Evaluation",
    "Move",
    "Record",
    "RecordError",
    "append_game",
    "game_text",
    "read_games",
    "states_of",
    "write_game",
    "write_games",
]
