"""The client of engines that speak UCI or USI, which is UCI with other words and with byoyomi.

Sources: Stefan Meyer-Kahlen's specification of UCI (April 2006) and Tord Romstad's of USI
(http://hgm.nubati.net/usi.html). Unknown lines and words are skipped, as both demand. An engine ponders after
`go ponder` until the opponent has moved: then it receives `ponderhit` if that was the expected move, or else `stop`,
and its answer is dropped.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.contest.adjudication import Score, moves_to_mate
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import MoveLimits, Thought
from zerosum.games import Rules
from zerosum.games.rules import rules_name
from zerosum.play.engines.answer import EngineAnswer
from zerosum.play.engines.position import EnginePosition
from zerosum.play.engines.process import EngineLine, EngineProcess, EngineTimeouts

VARIANTS = {"chess": "chess", "chess960": "chess", "minichess": "gardner", "minishogi": "minishogi", "shogi": "shogi"}
"""Names of our games in the option `UCI_Variant` of engines with many games (Fairy-Stockfish)."""
USI_GAMES = ("shogi", "minishogi")
"""Games of USI; Fairy-Stockfish has the same names."""
PONDER_LOOK_S = 0.01
"""Interval at which the end of pondering is checked, outside of any clock."""
UNLISTED = ("USI_Hash", "USI_Ponder")
"""Options that USI engines accept without listing them."""
UNKNOWN_MATE = 10_000
"""`Score.mate`, of either sign, of a mate whose length the engine does not tell, as USI allows."""


@dataclass(frozen=True)
class EngineOption:
    """An option as an engine lists it; missing fields are ""."""

    name: str
    kind: str = ""
    """"check", "spin", "combo", "string", "filename" or "button"."""
    default: str = ""
    low: str = ""
    high: str = ""
    choices: tuple[str, ...] = ()

    def within(self, number: int) -> int:
        """The nearest number that the engine takes, for an option of kind "spin" with bounds.

        >>> EngineOption.parse("option name Hash type spin default 16 min 4 max 1024").within(6026)
        1024
        """
        numbers = [int(text) if text.lstrip("-").isdecimal() else number for text in (self.low, self.high)]
        return min(max(number, numbers[0]), numbers[1])

    @classmethod
    def parse(cls, line: str) -> EngineOption:
        """`option name Skill Level type spin default 20 min 0 max 20`: values may have blanks."""
        values: list[tuple[str, list[str]]] = []
        for word in line.split()[1:]:
            if word in ("name", "type", "default", "min", "max", "var"):
                values.append((word, []))
            elif values:
                values[-1][1].append(word)
        texts = [(key, " ".join(words)) for key, words in values]
        found = dict(texts)
        return cls(
            name=found.get("name", ""),
            kind=found.get("type", ""),
            default=found.get("default", ""),
            low=found.get("min", ""),
            high=found.get("max", ""),
            choices=tuple(text for key, text in texts if key == "var"),
        )

    def expected(self, value: str) -> str | None:
        """The accepted values as a phrase; None if this value is one of them."""
        if self.kind == "check" and value not in ("true", "false"):
            return "true or false"
        if self.kind == "button" and value:
            return "no value, because it is a button"
        if self.kind == "combo" and value not in self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind == "spin":
            number, low, high = (_number(text) for text in (value, self.low, self.high))
            if number is None or (low is not None and number < low) or (high is not None and number > high):
                return f"an integer from {self.low} to {self.high}"
        return None


class UciClient:
    """The client's side of UCI and USI."""

    farewell = "quit"

    def __init__(self, process: EngineProcess, game: Rules, *, protocol: str, timeouts: EngineTimeouts) -> None:
        """`protocol` is "uci" or "usi". Raises SettingsError for USI unless the game is a shogi."""
        if protocol == "usi" and game.spec.name not in USI_GAMES:
            raise SettingsError(
                f"{process.name} speaks USI, which is for {' and '.join(USI_GAMES)}, not for {game.spec.full_name}."
            )
        self._process, self._game, self._timeouts = process, game, timeouts
        self._protocol, self._is_usi = protocol, protocol == "usi"
        self.reported_name = ""
        """The engine's own name, with its version."""
        self.options: dict[str, EngineOption] = {}
        """The engine's options by name."""
        self._pondered = ""
        """The command of the position that it ponders on; "" while it does not ponder."""
        self._info = _Info(is_usi=self._is_usi)
        """The engine's latest information about the latest position."""

    def shake_hands(self, options: Sequence[tuple[str, str]]) -> None:
        """Learn the engine's name and options, set options, and the variant if it has that option and none was given.

        Raises:
            EngineFailure: the engine does not answer.
            SettingsError: an option is unknown, or does not accept the value.
        """
        self._process.send(self._protocol)
        for line in self._process.lines_until(f"{self._protocol}ok", self._timeouts.handshake_s):
            if line.text.startswith("id name "):
                self.reported_name = line.text.removeprefix("id name ").strip()
            elif line.text.startswith("option "):
                option = EngineOption.parse(line.text)
                self.options[option.name] = option
        for name, value in [*self._game_options(options), *options]:
            self._set(name, value)

    def _game_options(self, given: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        game = rules_name(self._game)
        names = {name.casefold() for name, _ in given}
        variants, variant = self.options.get("UCI_Variant"), VARIANTS.get(game, "")
        if variants is not None and variant in variants.choices and "uci_variant" not in names:
            yield "UCI_Variant", variant
        if game == "chess960":
            yield "UCI_Chess960", "true"

    def _set(self, name: str, value: str) -> None:
        known = {option.casefold(): option for option in (*self.options, *(UNLISTED if self._is_usi else ()))}
        listed = known.get(name.casefold())
        if listed is None:
            raise SettingsError(f"{self._process.name} has no option {shown(name)}{nearest(name, self.options)}.")
        option = self.options.get(listed)
        if option is not None and (expected := option.expected(value)) is not None:
            raise SettingsError(f"option {listed} of {self._process.name} is {shown(value)}, expected {expected}.")
        is_button = option is not None and option.kind == "button"
        self._process.send(f"setoption name {listed}" + ("" if is_button else f" value {value}"))

    def new_game(self) -> None:
        """Announce another game, and wait until the engine is ready for it."""
        self._stop_pondering()
        if self._is_usi:
            self._wait_until_ready()
            self._process.send("usinewgame")
        else:
            self._process.send("ucinewgame")
            self._wait_until_ready()

    def end_game(self, result: float) -> None:
        """Report the engine's result in [-1, 1]; UCI has no command for it."""
        self._stop_pondering()
        if self._is_usi:
            self._process.send(f"gameover {'win' if result > 0 else 'lose' if result < 0 else 'draw'}")

    def _wait_until_ready(self) -> None:
        self._process.send("isready")
        self._refuse_moves(self._process.lines_until("readyok", self._timeouts.ready_s))

    def _refuse_moves(self, lines: Iterable[EngineLine]) -> None:
        """Refuse a second move after one `go`: it would answer the next one."""
        for line in lines:
            if _first_word(line.text) == "bestmove":
                raise self._process.failure("made a move without being asked")

    def search(self, position: EnginePosition, limits: MoveLimits) -> EngineAnswer:
        """Ask for a move. The clock runs from `go` to `bestmove`.

        Raises:
            EngineFailure: no legible move came in time.
            SettingsError: the protocol cannot express the limits.
        """
        go = self._go(limits, position.player)
        if self._pondered == self._position(position):
            self._pondered, go = "", "ponderhit"
            self._hear(self._process.read_waiting())
        else:
            self._stop_pondering()
            self._tell_position(position)
        allowed_s = limits.allowed_s(position.player)
        asked = self._process.send(go)
        patience_s = self._timeouts.search_s if allowed_s is None else allowed_s + limits.margin_s
        while line := self._process.read(asked + patience_s):
            word = _first_word(line.text)
            if word == "info":
                self._info.read(line.text)
            elif word == "bestmove":
                move, ponder = self._moves_of(line, asked)
                return self._info.answer(move, line.at - asked, ponder)
        if allowed_s is None:
            raise self._process.failure(f"did not move within {patience_s:g} s")
        raise self._process.failure(f"did not move within its {max(allowed_s, 0):.3f} s", ending="time")

    def ponder(self, position: EnginePosition, limits: MoveLimits, is_over: threading.Event) -> None:
        """Let the engine search the expected position until the event is set.

        The engine still ponders then; `search`, `end_game` and `new_game` end it.

        Raises:
            EngineFailure: the engine fails, or moves without being asked.
        """
        go = self._go(limits, position.player, is_pondering=True)
        self._stop_pondering()
        self._tell_position(position)
        self._pondered = self._position(position)
        self._process.send(go)
        while not is_over.is_set():
            if line := self._process.read(time.monotonic() + PONDER_LOOK_S):
                self._hear([line])

    def _hear(self, lines: Sequence[EngineLine]) -> None:
        """Read lines of a pondering engine."""
        for line in lines:
            if _first_word(line.text) == "info":
                self._info.read(line.text)
        self._refuse_moves(lines)

    def _stop_pondering(self) -> None:
        """Stop a pondering engine and drop its move."""
        if not self._pondered:
            return
        self._pondered = ""
        deadline = self._process.send("stop") + self._timeouts.ready_s
        while line := self._process.read(deadline):
            if _first_word(line.text) == "bestmove":
                return
        raise self._process.failure(f"did not stop pondering within {self._timeouts.ready_s:g} s")

    def _moves_of(self, line: EngineLine, asked: float) -> tuple[str, str]:
        """The engine's move, and the reply that it would ponder on; "" without one."""
        words = line.text.split()
        if line.at < asked:
            raise self._process.failure("made a move without being asked")
        if len(words) < 2:
            raise self._process.failure("answered without a move")
        return words[1], words[3] if words[2:3] == ["ponder"] and len(words) > 3 else ""

    def _tell_position(self, position: EnginePosition) -> None:
        self._info = _Info(is_usi=self._is_usi)
        self._process.send(self._position(position))
        if self._is_usi:  # in USI `isready` precedes a game: some engines then clear their memory
            self._refuse_moves(self._process.read_waiting())
        else:
            self._wait_until_ready()

    def _position(self, position: EnginePosition) -> str:
        start = f"{'sfen' if self._is_usi else 'fen'} {position.start}" if position.start else "startpos"
        moves = [text for _, text in position.moves]
        return " ".join(["position", start, *(["moves", *moves] if moves else [])])

    def _go(self, limits: MoveLimits, player: int, *, is_pondering: bool = False) -> str:
        words = ["go", *self._clock_words(limits.clocks, player)]
        for name in ("nodes", "depth"):
            if (value := getattr(limits, name)) is not None:
                words += [name, str(value)]
        if len(words) == 1:
            raise SettingsError(f"{self._process.name} has no limit: give it a time, nodes or a depth.")
        return " ".join([words[0], *(["ponder"] if is_pondering else []), *words[1:]])

    def _clock_words(self, clocks: tuple[TimeLeft, TimeLeft], player: int) -> list[str]:
        """The words of `go` for the clocks; none if this player, the engine, has no clock.

        The engine hears of one period of overtime at a time, and of Canadian overtime once it begins. An opponent
        without a clock is reported with the engine's.
        """
        own = clocks[player]
        if not own.is_limited:
            return []
        if own.is_overtime and own.period_moves == 1:
            period = _ms(own.period_s)
            return ["btime", "0", "wtime", "0", "byoyomi", period] if self._is_usi else ["movetime", period]
        one, other = (clock if clock.is_limited else own for clock in clocks)
        has_increment = one.increment_s or other.increment_s
        byoyomi_s = own.period_s if own.period_moves == 1 else 0.0
        moves_to_go = own.period_moves if own.is_overtime else own.moves_to_go
        if self._is_usi and moves_to_go is not None:
            raise SettingsError("USI cannot express moves to go: use increments or byoyomi.")
        if self._is_usi and byoyomi_s and has_increment:
            raise SettingsError("USI has either increments or byoyomi: leave one of them out.")
        if not self._is_usi and byoyomi_s:
            raise SettingsError("UCI cannot express byoyomi: use increments, or a time per move.")
        # In USI the first player is Black.
        first, second = "bw" if self._is_usi else "wb"
        words = [f"{first}time", _ms(one.shown_s), f"{second}time", _ms(other.shown_s)]
        if has_increment:
            words += [f"{first}inc", _ms(one.increment_s), f"{second}inc", _ms(other.increment_s)]
        elif self._is_usi:
            words += ["byoyomi", _ms(byoyomi_s)]
        return words if moves_to_go is None else [*words, "movestogo", str(moves_to_go)]


class _Info:
    """An engine's latest information about its lines, above all the best. Illegible numbers are ignored."""

    def __init__(self, *, is_usi: bool) -> None:
        self._is_usi = is_usi
        self._lines: dict[int, tuple[str, Score]] = {}
        """The newest move and score of each rank."""
        self._score: Score | None = None
        self._depth: int | None = None
        self._nodes: int | None = None

    def answer(self, move: str, seconds: float, ponder: str) -> EngineAnswer:
        lines = tuple(self._distinct_lines()) if len(self._lines) > 1 else ()
        thought = Thought(self._score, seconds=seconds, depth=self._depth, nodes=self._nodes)
        return EngineAnswer(move, thought, ponder, lines)

    def _distinct_lines(self) -> Iterator[tuple[str, Score]]:
        """The newest line of each rank, by rank. A move that has changed its rank counts where it is better."""
        seen = set[str]()
        for _, (move, score) in sorted(self._lines.items()):
            if move not in seen:
                seen.add(move)
                yield move, score

    def read(self, line: str) -> None:
        text, _, pv = line.partition(" pv ")
        words = text.split()
        values = dict(itertools.pairwise(words))  # the word after each word
        if "string" in values:
            return
        # A bound is not an evaluation.
        is_scored = "score" in words and not {"lowerbound", "upperbound"} & set(line.split())
        score = self._score_of(values) if is_scored else None
        rank, moves = _number(values.get("multipv", "1")), pv.split()
        if score is not None and moves and rank is not None:
            self._lines[rank] = moves[0], score
        if rank != 1:
            return
        self._depth = _number(values.get("depth", ""), self._depth)
        self._nodes = _number(values.get("nodes", ""), self._nodes)
        self._score = score or self._score

    def _score_of(self, values: Mapping[str, str]) -> Score | None:
        """The score by the words after `mate` or `cp`; a mate is in moves in UCI, and in plies or a sign in USI."""
        if (unknown := {"+": UNKNOWN_MATE, "-": -UNKNOWN_MATE}.get(values.get("mate", ""))) is not None:
            return Score(mate=unknown)
        if (mate := _number(values.get("mate", ""))) is not None:
            return Score(mate=moves_to_mate(mate) if self._is_usi else mate)
        centipawns = _number(values.get("cp", ""))
        return None if centipawns is None else Score(centipawns=centipawns)


def _number(text: str, default: int | None = None) -> int | None:
    try:
        return int(text)
    except ValueError:
        return default


def _ms(seconds: float) -> str:
    """Whole milliseconds, rounded down: a flag falls earlier rather than later."""
    return str(math.floor(seconds * 1000))


def _first_word(line: str) -> str:
    return line.split(maxsplit=1)[0] if line.strip() else ""
