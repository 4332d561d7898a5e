"""`zerosum analyse` for people: positions, games from a file, or moves; as text, JSON or an annotated file.

Errors of a game that cannot be analysed completely go to `complain`, and the next game follows. Warnings of a file go
there, too.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from zerosum.analysis.analyst import DEFAULT_SIMULATIONS, Analyst, position_of
from zerosum.analysis.review import review
from zerosum.analysis.review_record import annotated, require_words
from zerosum.analysis.review_text import review_numbers, review_text
from zerosum.analysis.reviewed import Review, Thresholds
from zerosum.base.errors import DataError, GameError, SettingsError, nearest, printable
from zerosum.games import Rules, State, make
from zerosum.games.picture import describe_position
from zerosum.games.playthrough import Playthrough
from zerosum.games.rules import peoples_notation
from zerosum.notation.game_files import GAMES, READ_SUFFIXES, UnknownFormatError, read_games, write_games
from zerosum.notation.own_files import OWN_SUFFIXES
from zerosum.notation.record import Move, Record
from zerosum.play.choice import Players
from zerosum.play.driver import Task
from zerosum.play.player import Player

T = TypeVar("T")

TEXT, JSON, SAME = "text", "json", "same"
STDIN = "-"
FORMATS = (TEXT, JSON, SAME, *GAMES)


def _complain(sentence: str) -> None:
    print(printable(f"zerosum: {sentence}"), file=sys.stderr)


@dataclass
class ReviewCommand:
    """The settings of an analysis; `run` executes it."""

    players: Players
    task: Task
    """The search of a position; without a limit it gets the player's usual one."""
    format: str = TEXT
    output: Path | None = None
    """A file to write instead of calling `write`."""
    thresholds: Thresholds = field(default_factory=Thresholds)
    people: tuple[str, ...] = ()
    """Networks that predict the moves of people."""
    last: bool = False
    """Whether to analyse only the position after the last move of each game."""
    write: Callable[[str], None] = print
    complain: Callable[[str], None] = _complain
    progress: Callable[[int, int, str], None] = lambda _done, _all, _game: None
    """Called with the finished positions of a game, all of its positions, and "game N, "."""
    num_refused: int = field(default=0, init=False)
    """Number of games that could not be analysed completely."""
    is_interrupted: bool = field(default=False, init=False)
    """Whether Ctrl-C ended it: what was reviewed by then is written."""
    _rules: dict[str, Rules] = field(default_factory=dict, init=False)
    _people: dict[str, Player] = field(default_factory=dict, init=False)
    _analysts: dict[str, Analyst] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise SettingsError(f"--format is {self.format!r}{nearest(self.format, FORMATS)}.")

    def run(self, what: str, *, game: str = "", position: str = "", moves: str = "") -> None:
        """Analyse a file, or a position or moves of a game.

        Args:
            what: The path of a file of games, "-" for standard input, or a position or moves as people write them;
                "" is the initial position.
            game: The game of `position`, of `moves`, and of `what` if it is not a file, or a file that does not name
                its game.
            position: The position before the first move.
            moves: The moves of a game.

        Raises:
            ZerosumError: the analysis is not possible. A game that cannot be read is reported to `complain` instead.
        """
        suffix = Path(what).suffix.lower()
        is_file = what == STDIN or suffix in READ_SUFFIXES | OWN_SUFFIXES or (bool(what) and Path(what).is_file())
        if is_file and (position or moves or (game and suffix in READ_SUFFIXES)):
            options = "--game, --position and --moves" if suffix in READ_SUFFIXES else "--position and --moves"
            raise SettingsError(f"{what} is a file of games: leave out {options}.")
        if not game and not is_file:
            where = f"{what!r} is not a file of games" if what else "There is nothing to analyse"
            raise SettingsError(f"{where}: name a file, or the --game of the position.")
        rules = make(game) if game else None
        if rules is not None:
            # The name alone does not find a game of the user's own.
            self._rules[rules.spec.full_name] = rules
        if is_file:
            self._write_games(_games_of(what, rules))
            return
        assert rules is not None
        if what and (position or moves):
            raise SettingsError(f"{what!r} excludes --position and --moves: give one of them.")
        if moves or (what and _begins_with_a_move(rules, what)):
            self._write_games(iter([_record_of(rules, position, moves or what)]))
        else:
            if self.format not in (TEXT, JSON):
                raise SettingsError(f"--format {self.format} is for games: for a position, expected {TEXT} or {JSON}.")
            self._refuse_people()
            player = self.players.of(rules)
            rules = player.game
            state = rules.parse_position(position) if position else position_of(rules, what)
            self._put([self._position_text(player, state)])

    def _write_games(self, records: Iterator[Record]) -> None:
        if self.last:
            self._refuse_people()
        if self.format not in (TEXT, JSON):
            self._write_records(records)
            return
        if self.format == TEXT and self.task.num_lines > 1 and not self.last:
            raise SettingsError(
                f"A game as {TEXT} has one line per move: leave out --lines, or use --format {JSON} or --last."
            )
        tell = self._last_position if self.last else self._review_text
        texts = (text for _, text in self._each(records, tell))
        blank = "\n" if self.format == TEXT else ""
        self._put(blank + text if number else text for number, text in enumerate(texts))

    def _write_records(self, records: Iterator[Record]) -> None:
        if self.last:
            raise SettingsError(f"--last is for {TEXT} and {JSON}: an annotated game has all its moves.")
        first = next(records)
        format = self._format_of(first)
        if not format:
            known = ", ".join(GAMES)
            raise SettingsError(
                f"--format {SAME} is for files of {known}: name one of these that represents the game, or {TEXT}."
            )
        found = self._each(itertools.chain([first], records), self._review)
        written = (annotated(review, format=format) for _, review in found)
        if self.output is not None:
            write_games(written, self.output, format=format)
            return
        text = io.StringIO()  # printed completely or not at all, like a file
        write_games(written, text, format=format)
        # A terminal would obey control characters, which a file keeps.
        self._put([printable(text.getvalue()) if sys.stdout.isatty() else text.getvalue()])

    def _each(self, records: Iterable[Record], work: Callable[[int, Record], T]) -> Iterator[tuple[int, T]]:
        """Yield each game's number and result; report refused games, and the warnings of the others."""
        for number, record in enumerate(records, start=1):
            for warning in record.warnings:
                self.complain(f"Game {number}: {warning}.")
            try:
                done = work(number, self._sound(number, record))
            except GameError as error:
                self.num_refused += 1
                self.complain(f"Game {number} is not analysed: {error}")
            else:
                self.num_refused += bool(record.errors)
                yield number, done
            if self.is_interrupted:
                return

    def _sound(self, number: int, record: Record) -> Record:
        """The readable part of a record, with a comment where it stops."""
        if not record.errors:
            return record
        sound = record.sound_part()
        last = len(sound.moves)
        self.complain(f"Game {number} is analysed up to move {last}: {record.errors[0]}.")
        for error in record.errors[1:]:
            self.complain(f"Game {number}: {error}.")
        comment = f"The record was not readable after this move: {_without_place(record, record.errors[0])}."
        told = replace(sound.moves[-1], comments=(*sound.moves[-1].comments, comment))
        return replace(sound, moves=(*sound.moves[:-1], told))

    def _review(self, number: int, record: Record) -> Review:
        rules = self._rules_of(record)
        if self._format_of(record) in GAMES:
            require_words(rules, self._format_of(record))  # before the search begins
        player = self.players.of(rules)
        found = review(
            record,
            self._analyst_of(player),
            self._task_of(player),
            thresholds=self.thresholds,
            people=[self._person(word, rules) for word in self.people],
            on_position=lambda done, of: self.progress(done, of, f"game {number}, "),
        )
        self.is_interrupted = found.is_interrupted
        return found

    def _task_of(self, player: Player) -> Task:
        """The task, with the usual limit of the player if it has none."""
        if self.task.num_visits is not None or self.task.seconds is not None:
            return self.task
        return replace(self.task, num_visits=player.visits_for(DEFAULT_SIMULATIONS))

    def _person(self, word: str, rules: Rules) -> Player:
        """The player of a network that predicts people, loaded once for all games."""
        if word not in self._people:
            self._people[word] = Players(word, say=lambda _: None).of(rules)
        return self._people[word]

    def _format_of(self, record: Record) -> str:
        return record.format if self.format == SAME else self.format

    def _review_text(self, number: int, record: Record) -> str:
        found = self._review(number, record)
        if self.format == TEXT:
            return printable(f"{review_text(found, number=number)}\n")
        return _json_line(review_numbers(found, number=number))

    def _refuse_people(self) -> None:
        if self.people:
            raise SettingsError("--people is for the moves of games: leave it out for a position, and with --last.")

    def _last_position(self, number: int, record: Record) -> str:
        player = self.players.of(self._rules_of(record))
        rules = player.game
        so_far = Playthrough.read(rules, (move.text for move in record.moves), record.start)
        return self._position_text(player, so_far.state, number=number)

    def _position_text(self, player: Player, state: State, *, number: int | None = None) -> str:
        rules = player.game
        report = self._analyst_of(player).final(self._task_of(player), start=state)
        plies_left = player.plies_left(state)
        if self.format == TEXT:
            heading = "" if number is None else f"Game {number}\n"
            left = "" if plies_left is None else f"about {plies_left:.0f} plies left\n"
            text = report.text(notation=peoples_notation(rules))
            return printable(f"{heading}{describe_position(rules, state)}\n\n{text}\n{left}")
        numbered = {} if number is None else {"number": number}
        left_of = {} if plies_left is None else {"plies_left": round(plies_left, 1)}
        return _json_line({**numbered, "position": rules.position_text(state), **report.numbers(), **left_of})

    def _analyst_of(self, player: Player) -> Analyst:
        """The analyst of a game, one for all records of a file: its tree takes time to make."""
        name = player.game.spec.full_name
        if name not in self._analysts:
            self._analysts[name] = Analyst(player)
        return self._analysts[name]

    def _rules_of(self, record: Record) -> Rules:
        if record.game not in self._rules:
            self._rules[record.game] = make(record.game)
        return self._rules[record.game]

    def _put(self, texts: Iterable[str]) -> None:
        """Write texts, each of which ends with a newline."""
        if self.output is None:
            for text in texts:
                self.write(text.removesuffix("\n"))
            return
        try:
            with self.output.open("w", encoding="utf-8") as stream:
                stream.writelines(texts)
        except OSError as error:
            raise DataError(f"{self.output} cannot be written: {error.strerror or error}.") from error


def _without_place(record: Record, sentence: str) -> str:
    return sentence.removeprefix(f"{record.file}, ")


def _games_of(what: str, rules: Rules | None) -> Iterator[Record]:
    """The games of a file or of standard input, which must have at least one."""
    name = "The input" if what == STDIN else what
    records = read_games(sys.stdin.buffer if what == STDIN else what, game=rules)
    try:
        first = next(records, None)
    except UnknownFormatError as error:
        known = ", ".join(GAMES)
        raise DataError(f"{name} begins like no known game record ({known}): for moves, name their --game.") from error
    if first is None:
        raise DataError(f"{name} contains no game: expected at least one.")
    return itertools.chain([first], records)


def _json_line(numbers: dict[str, Any]) -> str:
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False)
    escaped = (letter if letter == printable(letter) else _json_escape(letter) for letter in text)
    return f"{''.join(escaped)}\n"


def _json_escape(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 1 << 16 else json.dumps(letter)[1:-1]


def _begins_with_a_move(rules: Rules, text: str) -> bool:
    try:
        rules.parse_position(text)
    except GameError:
        words = text.split()
        return bool(words) and rules.parse_action(rules.initial_state(), words[0]) is not None
    return False


def _record_of(rules: Rules, position: str, moves: str) -> Record:
    """The record of a game from its moves, checked by the rules."""
    so_far = Playthrough.read(rules, moves.split(), position)
    return Record(rules.spec.full_name, moves=tuple(map(Move, so_far.texts)), start=position)
