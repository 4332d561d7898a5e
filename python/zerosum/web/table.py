"""A game being played on a page: its moves, the side to move, clocks, and the ending.

    table = Table(library.game("connect4"), people=frozenset({0}), computer="rollouts@400")
    table.play(3)
    table.view()

It does not search: `visit.py` asks players for the computer's moves. The result of `link` recreates the table, so that
a reloaded page continues the game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from zerosum.base.errors import GameError, SettingsError
from zerosum.contest.clock import Clock, TimeControl, TimeLeft
from zerosum.games import Rules, State
from zerosum.games.board_in_text import board_picture
from zerosum.games.picture import stone_names
from zerosum.games.playthrough import Playthrough
from zerosum.games.python_game import ENDING_OF_PYTHON_GAMES
from zerosum.games.short_names import short_name
from zerosum.notation.game_files import GAMES, game_text
from zerosum.notation.own_files import line_text
from zerosum.notation.record import Move, Record
from zerosum.play.go_ending import FinalScore, final_score
from zerosum.web.boards import choices, draw_board, faces_players, move_cells, page_notation, place_moves
from zerosum.web.placed import Line, places_stones, taken_json

SIDES = ("first", "second")
OWNERSHIP_GAMES = 64
"""Random games for the territory shown at the end of a game with a score."""


class Table:
    """One game. People play from the page; computers have the other sides."""

    def __init__(
        self,
        game: Rules,
        *,
        people: frozenset[int],
        computer: str = "",
        second_computer: str = "",
        start: str = "",
        moves: Sequence[str] = (),
        control: str = "",
        left_s: Sequence[float] = (),
        resigned: int | None = None,
        marked: Sequence[int] = (),
        most_plies: int = 2000,
        number: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up a game.

        Args:
            game: The rules.
            people: Sides of people: 0 (first), 1 (second), both or none.
            computer: Name of the player that has the other sides.
            second_computer: Name of the second player, if two different computers play.
            start: The starting position as text; "" for the initial one.
            moves: The moves made so far, in the game's notation.
            control: A time control of `TimeControl.parse`; "" for no clock.
            left_s: Seconds left of both players, if a game with a clock continues.
            resigned: The side that has resigned.
            marked: Points of Go's chains that are judged otherwise than by random games, as `mark_dead` does.
            most_plies: Largest number of plies.
            number: The key of the computers' random draws; equal moves are drawn in games of equal numbers.
            now: Seconds of a monotonic clock.

        Raises:
            GameError: the position or a move is illegal.
            SettingsError: the time control is invalid, or the game has too many moves.
        """
        if len(moves) > most_plies:
            raise SettingsError(f"the game has {len(moves):,} moves, but at most {most_plies:,} are allowed.")
        self.game, self.people, self.computer, self.control = game, people, computer, control
        self.computers = (computer, second_computer or computer)
        """Name of the computer for each side without a person."""
        self.number = number
        self._most_plies, self._now = most_plies, now
        self.start = start
        self._control = TimeControl.parse(control) if control else TimeControl()
        self.so_far = replace(Playthrough.read(game, moves, start), resigned=resigned)
        self._names = side_names(game, self.so_far.start)
        self._line = Line(game)
        self.marked = frozenset(marked)
        self._judged: tuple[tuple[int, frozenset[int]], FinalScore | None] | None = None
        """The number of moves and the marked points, and the score of the position."""
        self._turns: dict[int, tuple[TimeLeft, TimeLeft]] = {}
        """Both players' time at the beginning of the turn after so many moves, from the first turn at this table on."""
        self._left = [float(seconds) for seconds in left_s]
        self.clock = self._new_clock()
        self._start_clock()

    # ---- the game

    @property
    def state(self) -> State:
        """The position after the last move."""
        return self.so_far.state

    @property
    def mover(self) -> int:
        """The player to move, 0 or 1."""
        return self.so_far.player

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, by the rules, time or resignation."""
        return self.outcome is not None

    @property
    def outcome(self) -> float | None:
        """The first player's result in [-1, 1]; None while the game goes on."""
        if self.so_far.resigned is not None:
            return self.so_far.outcome
        if self.clock is not None and self.clock.flag_fallen is not None:
            return -1.0 if self.clock.flag_fallen == 0 else 1.0
        return final.result if (final := self._final()) is not None else self.so_far.outcome

    @property
    def was_persons_move(self) -> bool:
        """Whether a person has made the last move."""
        return (before := self.so_far.before) is not None and self.game.player(before) in self.people

    @property
    def is_computers_turn(self) -> bool:
        """Whether the computer is to move."""
        return not self.is_over and self.mover not in self.people

    def play(self, action: int) -> None:
        """Make a legal move.

        Raises:
            GameError: the game is over, or the action is illegal.
        """
        if self.is_over:
            raise GameError(f"the game is over ({self.ending()}): take a move back or begin a new game.")
        if len(self.so_far.actions) >= self._most_plies:
            raise GameError(f"the game has {self._most_plies:,} moves, more are not allowed here.")
        if action not in self.game.legal_actions(self.state):
            raise GameError(f"action {action} is not legal here.")
        if self.clock is not None:
            self.clock.stop()
            if self.clock.flag_fallen is not None:
                return
        self.so_far = self.so_far.play(action)
        self._start_clock()

    def undo(self) -> None:
        """Go back to the latest earlier position with a person to move, and to the clocks of that moment.

        Clocks of a turn before those at this table are unknown; both players then have what they had at its first one.

        Raises:
            GameError: there is no such position.
        """
        if self.so_far.resigned is not None:
            self.so_far = replace(self.so_far, resigned=None)
            self._set_clock_back()
            return
        turns = [ply for ply, player in enumerate(self.so_far.players) if player in self.people]
        if not turns and self.people:
            raise GameError("there is no move to take back.")
        self.marked = frozenset()
        self.so_far = self.so_far.back_to((turns or [0])[-1])
        self._set_clock_back()

    def mark_dead(self, point: int) -> None:
        """Judge a chain of a finished game of Go the other way: dead stones live, and others are dead.

        Raises:
            GameError: the game has no dead stones, or no stone is on this point.
        """
        final = self._final()
        if final is None or self.so_far.resigned is not None:
            raise GameError("dead stones are marked after two passes have ended a game of Go.")
        chain = next((chain for chain in final.chains if point in chain), None)
        if chain is None:
            raise GameError(f"no stone is on point {point}: click a stone.")
        self.marked = self.marked - chain if self.marked & chain else self.marked | {min(chain)}

    def resign(self) -> None:
        """Resign for the person to move, or for the only person.

        Raises:
            GameError: the game is over, or no person plays.
        """
        if self.is_over or not self.people:
            raise GameError("there is no game to resign.")
        resigned = self.mover if self.mover in self.people else min(self.people)
        self.so_far = replace(self.so_far, resigned=resigned)

    def check_flag(self) -> bool:
        """Whether the time of the player to move has run out, which ends the game."""
        if self.clock is None or self.is_over:
            return False
        left = self.clock.left(self.mover)
        if self._now() - self._turn_began <= self._limit(left):
            return False
        self.clock.stop()
        return self.clock.flag_fallen is not None

    def seconds_to_flag(self) -> float | None:
        """Seconds until `check_flag` becomes true without a move; None without a clock."""
        if self.clock is None or self.is_over:
            return None
        return max(self._limit(self.clock.left(self.mover)) - (self._now() - self._turn_began), 0.0)

    # ---- the data for the page

    def view(
        self, *, flipped: bool = False, western: bool = False, ply: int | None = None, numbered: bool = False
    ) -> dict[str, Any]:
        """The game as JSON for the page.

        Args:
            flipped: Whether the board is seen from the second player's side.
            western: Whether letters replace Japanese characters.
            ply: The position to show, by default the last one. Only the last position has legal moves.
            numbered: Whether stones bear the numbers of their moves.
        """
        game, states, actions = self.game, self.so_far.states, self.so_far.actions
        last = len(actions)
        shown = last if ply is None else min(max(ply, 0), last)
        state = states[shown]
        before = (states[shown - 1], actions[shown - 1]) if shown else None
        can_move = shown == last and not self.is_over and self.mover in self.people
        moves = place_moves(game, state, game.legal_actions(state) if can_move else [])
        return {
            "game": short_name(game),
            "board": draw_board(game, state, last=before, flipped=flipped, western=western),
            "moves": [move.json() for move in moves],
            "moved": move_cells(game, *before) if before else [],
            "canNumber": places_stones(game),
            "numbers": self._line.numbers(states[: shown + 1], actions[:shown]) if numbered else None,
            "taken": [taken_json(taken) for taken in self._line.taken(states[: shown + 1], actions[:shown])],
            "choices": choices(game, state, moves, flipped=flipped, western=western),
            "ply": shown,
            "history": self.texts(),
            "firsts": list(self.so_far.players),
            "mover": self.mover,
            "people": sorted(self.people),
            "computer": self.computer,
            "computers": self.computers,
            "sides": self._names,
            "over": self.is_over,
            "says": self.sentence(),
            "position": game.position_text(state),
            "score": self._score(shown),
            "ownership": self._ownership(state) if shown == last and self.is_over else None,
            "marks": self.so_far.resigned is None and self._final() is not None,
            "counts": self._counts(shown),
            "clock": self._clock_json(),
            "formats": self.formats(),
            "canUndo": not self.people.isdisjoint(self.so_far.players),
            "link": self.link(),
        }

    def texts(self) -> list[str]:
        """The moves in the players' usual notation, such as SAN for chess."""
        return list(self.so_far.texts_in(page_notation(self.game)))

    def own_texts(self) -> list[str]:
        """The moves in the game's own notation, without blanks."""
        return list(self.so_far.texts)

    def sentence(self) -> str:
        """The side to move, or the ending, in words."""
        outcome = self.outcome
        if outcome is None:
            who = self._side_name(self.mover)
            if len(self.people) == 1:
                is_person = self.mover in self.people
                return f"Your move ({who})." if is_person else f"{self.computers[self.mover]} is to move ({who})."
            return f"{who.capitalize()} to move."
        if outcome == 0:
            verdict = "A draw"
        else:
            winner = 0 if outcome > 0 else 1
            verdict = f"{self._side_name(winner).capitalize()} wins"
            if len(self.people) == 1:
                verdict = "You win" if winner in self.people else f"{self.computers[winner]} wins"
            elif not self.people:
                verdict = f"{self.computers[winner]} ({self._side_name(winner)}) wins"
            if abs(outcome) != 1:
                verdict += f" by {abs(outcome):g}"
        ending = self.ending()
        how = "" if ending in ("", ENDING_OF_PYTHON_GAMES) else f": {ending}"
        score = self._score(len(self.so_far.actions))
        margin = f", by {abs(score):g} points" if score and how and self.so_far.resigned is None else ""
        dead = final.words() if how and self.so_far.resigned is None and (final := self._final()) is not None else ""
        return f"{verdict}{how}{margin}. {dead}".rstrip()

    def ending(self) -> str:
        """The ending in a few words; "" while the game goes on."""
        if self.so_far.resigned is not None:
            return f"{self._side_name(self.so_far.resigned)} resigns"
        if self.clock is not None and self.clock.flag_fallen is not None:
            return f"{self._side_name(self.clock.flag_fallen)} is out of time"
        return self.game.ending(self.state) or ""

    def link(self) -> dict[str, Any]:
        """The arguments that recreate the table."""
        side = "both" if len(self.people) == 2 else "none" if not self.people else str(min(self.people))
        found: dict[str, Any] = {"game": short_name(self.game), "side": side, "moves": " ".join(self.own_texts())}
        if self.start:
            found["start"] = self.start
        if self.computer:
            found["vs"] = self.computer
        if self.computers[1] != self.computer:
            found["vs2"] = self.computers[1]
        if self.so_far.resigned is not None:
            found["resigned"] = self.so_far.resigned
        if self.marked:
            found["marked"] = sorted(self.marked)
        if self.control and self.clock is not None:
            found["clock"] = self.control
            found["left"] = [round(seconds, 1) for seconds in self._seconds_left()]
        return found

    # ---- records

    def formats(self) -> list[str]:
        """Formats in which the game can be saved: those of its records, or its moves as text."""
        name = self.game.spec.name
        return [format for format, games in GAMES.items() if name in games] or ["txt"]

    def record(self) -> Record:
        """The game as a record."""
        outcome = self.outcome
        names = ["a person" if side in self.people else self.computers[side] for side in (0, 1)]
        ending = ""
        if self.so_far.resigned is not None:
            ending = "resignation"
        elif self.clock is not None and self.clock.flag_fallen is not None:
            ending = "time"
        elif (final := self._final()) is not None and final.lead:
            ending = f"{abs(final.lead):g} points"
        elif outcome is not None:
            ending = self.game.ending(self.state) or ""
        return Record(
            self.game.spec.full_name,
            tuple(map(Move, self.own_texts())),
            headers=(("first player", names[0]), ("second player", names[1])),
            start=self.start,
            result=outcome,
            ending=ending,
        )

    def text(self, format: str) -> str:
        """The game in a file's format.

        Raises:
            SettingsError: the game cannot be written in this format.
            GameError: the format cannot express the ending.
        """
        if format not in self.formats():
            raise SettingsError(f"{self.game.spec.full_name} is saved as {' or '.join(self.formats())}.")
        if format == "txt":
            line = line_text(self.start, self.own_texts())
            return f"# {self.game.spec.full_name}\n{line}\n# {self.sentence()}\n"
        return game_text(self.record(), format=format)

    # ---- parts of the view

    def _side_name(self, player: int) -> str:
        return self._names[player]

    def _final(self) -> FinalScore | None:
        """The score of a game of Go that two passes have ended, without the dead stones; None of any other game."""
        now = (len(self.so_far.actions), self.marked)
        if self._judged is None or self._judged[0] != now:
            self._judged = (now, final_score(self.game, self.state, marked=self.marked))
        return self._judged[1]

    def _score(self, ply: int) -> float | None:
        """The first player's margin at a ply: without dead stones once Go is over; None in games without points."""
        final = self._final() if ply == len(self.so_far.actions) else None
        return self.game.score(self.so_far.states[ply]) if final is None else final.lead

    def _ownership(self, state: State) -> list[float] | None:
        """Ownership of each cell in a game with a score, in [-1, 1] for the first player."""
        if (final := self._final()) is not None:
            return [float(owner) for owner in final.owners]
        if self.game.score(state) is None:
            return None
        found = self.game.ownership(state, OWNERSHIP_GAMES, 0)
        return None if found is None else [round(float(share), 2) for share in found]

    def _counts(self, ply: int) -> dict[str, Any]:
        """Captured stones, if the game has captures, and the count of material."""
        state = self.so_far.states[ply]
        counts: dict[str, Any] = {"material": round(float(self.game.material(state)), 1)}
        if self.game.score(state) is not None and (picture := self.game.picture(state)) is not None:
            captured = [self._num_stones(player, self.so_far.start) for player in (0, 1)]
            made = self.so_far.back_to(ply)
            for player, text in zip(made.players, made.texts, strict=True):
                captured[player] += text != "pass"
            on_board = [sum(cell is not None and cell[0] == player for cell in picture.cells) for player in (0, 1)]
            counts["captured"] = [captured[1] - on_board[1], captured[0] - on_board[0]]
        elif not faces_players(self.game) and all(self._num_stones(player, self.so_far.start) for player in (0, 1)):
            discs = [self._num_stones(player, state) for player in (0, 1)]
            if self._are_discs(state) and discs[0] - discs[1] == counts["material"]:
                counts["discs"] = discs
        return counts

    def _are_discs(self, state: State) -> bool:
        picture = self.game.picture(state)
        return picture is not None and not any(cell is not None and cell[2] for cell in picture.cells)

    def _num_stones(self, player: int, state: State) -> int:
        picture = self.game.picture(state)
        return 0 if picture is None else sum(cell is not None and cell[0] == player for cell in picture.cells)

    def _new_clock(self) -> Clock | None:
        self._turn_began = self._now()
        control = self._control
        if not control.start().is_limited:
            return None
        clock = Clock(control, now=self._now)
        for player, left in enumerate(self._left[:2]):
            spent = control.flag_falls_after_s(control.start()) - left + control.increment_s
            if spent > 0 and clock.flag_fallen is None:
                clock.charge(player, spent)
        return clock

    def _set_clock_back(self) -> None:
        if self.clock is not None:
            start = self._control.start()
            first = self._turns[min(self._turns)] if self._turns else (start, start)
            self.clock.go_back(self._turns.get(len(self.so_far.actions), first))
        self._start_clock()

    def _start_clock(self) -> None:
        self._turn_began = self._now()
        if self.clock is not None and not self.is_over:
            self._turns[len(self.so_far.actions)] = (self.clock.left(0), self.clock.left(1))
            self.clock.start(self.mover)

    def _limit(self, left: TimeLeft) -> float:
        return self._control.flag_falls_after_s(left)

    def _seconds_left(self) -> list[float]:
        assert self.clock is not None
        left = [self._limit(self.clock.left(player)) for player in (0, 1)]
        if not self.is_over:
            left[self.mover] = max(left[self.mover] - (self._now() - self._turn_began), 0.0)
        elif self.clock.flag_fallen is not None:
            left[self.clock.flag_fallen] = 0.0
        return left

    def _clock_json(self) -> dict[str, Any] | None:
        if self.clock is None:
            return None
        running = None if self.is_over else self.mover
        return {"left": [round(seconds, 2) for seconds in self._seconds_left()], "running": running}


def side_names(game: Rules, state: State) -> tuple[str, str]:
    """The names of the players: their colours if the game has colours or stones, else first and second.

    >>> from zerosum.games import make
    >>> [side_names(make(name), make(name).initial_state())[0] for name in ("chess", "go9", "nim")]
    ['white', 'black', 'the first player']
    """
    picture, mover = board_picture(game, state), game.player(state)
    captions = picture.captions if picture is not None else []
    for name, other in (("White", "Black"), ("Black", "White")):
        if f"{name} to move" in captions:
            names = (name.lower(), other.lower())
            return names if mover == 0 else (names[1], names[0])
    if picture is not None and not any(piece is not None and piece[2] for piece in picture.cells):
        return stone_names(picture)
    return f"the {SIDES[0]} player", f"the {SIDES[1]} player"
