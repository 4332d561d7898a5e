"""A game being analysed on a page: its moves, variations tried on the board, and the review.

    study = Study.opened(library, text="1. e4 e5 2. Qh5 Ke7", game="chess")
    study.goto(3)
    study.view()

A `Study` does not search by itself: `reviewed` has `zerosum.analysis.review` search each position, with an analyst
whose searches take turns with those of other visitors.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from zerosum.analysis.analyst import Analyst
from zerosum.analysis.go_score import points_lost
from zerosum.analysis.review import review
from zerosum.analysis.review_record import annotated
from zerosum.analysis.review_text import review_numbers
from zerosum.analysis.reviewed import Review, ReviewedMove
from zerosum.base.errors import DataError, GameError, SettingsError, shown
from zerosum.games import Rules, State, parse_action, start_state
from zerosum.games.playthrough import Playthrough
from zerosum.games.rules import has_owners
from zerosum.games.short_names import short_name
from zerosum.games.written_moves import read_moves
from zerosum.notation.game_files import GAMES, game_text
from zerosum.notation.legality import check_record
from zerosum.notation.own_files import split_line
from zerosum.notation.record import Move, Record
from zerosum.play.analysis import Analysis
from zerosum.play.driver import Task
from zerosum.play.player import Player
from zerosum.web.analyses import point
from zerosum.web.boards import choices, draw_board, move_cells, page_notation, place_moves
from zerosum.web.library import Library
from zerosum.web.move_tree import MoveTree, Node
from zerosum.web.placed import Line, places_stones
from zerosum.web.table import side_names
from zerosum.web.uploads import read_upload

LINE_BEGINNINGS = ("position", "startpos", "fen", "sfen")
"""First words of a line of UCI or USI."""
MOST_POSITION = 2000
"""Characters of a position's text."""
MOST_WARNINGS = 5
"""Faults of a record that the page shows."""
MOST_HEADERS = 40
"""Headers of a record that the page shows."""


class Study:
    """A game, the current position, and the review of the game if there is one."""

    def __init__(self, game: Rules, record: Record, *, others: Sequence[str] = (), index: int = 0) -> None:
        """Take a record without errors; `others` names all games of its file, in which it is number `index`."""
        self.game, self.record, self.others, self.index = game, record, list(others), index
        self.states = [start_state(game, record.start)]
        self.actions: list[int] = []
        for action, state in read_moves(game, self.states[0], [move.text for move in record.moves]):
            self.actions.append(action)
            self.states.append(state)
        self.tree = MoveTree(game, self.states, self.actions, record, notation=page_notation(game))
        self.here = self.tree.root
        """The current position."""
        self.review: Review | None = None
        self.leads: Sequence[float | None] = ()
        """The first player's lead in points at each position of the review, where it is known."""
        self._line = Line(game)

    @classmethod
    def opened(cls, library: Library, *, text: str = "", game: str = "", index: int = 0) -> Study:
        """A study of a pasted or uploaded text.

        Args:
            library: The games.
            text: A file of games (PGN, SGF, KIF, CSA), a position, or moves; "" is the initial position.
            game: The game of a position or of moves; a file names its own.
            index: Number of the game in a file of several, from 0.

        Raises:
            GameError, DataError, SettingsError: the text is none of these, or too long.
        """
        text = text.strip()
        if text.split(maxsplit=1)[:1] and text.split(maxsplit=1)[0] in LINE_BEGINNINGS:
            return cls._of_line(library, text, game)
        own = _own_game(text, library)
        try:
            upload = read_upload(text, index=index, game=own, limits=library.limits) if text else None
        except DataError:
            upload = None
        if upload is None:
            return cls.of_moves(library, text=text, game=game)
        record = check_record(upload.record, own).sound_part()
        return cls(own or library.game(record.game), record, others=upload.titles, index=index)

    @classmethod
    def _of_line(cls, library: Library, text: str, game: str) -> Study:
        """A study of a line of UCI or USI, such as `position sfen … moves 7g7f`; its game by its position or moves."""
        position, moves = split_line(text.split())
        if not "".join(position):
            raise GameError(f"{shown(text)} names no position: expected startpos, a FEN or an SFEN.")
        start = "" if position[:1] == ["startpos"] else " ".join(position)
        if not game:
            names = [name for name in ("chess", "shogi") if _fits(library.game(name), start, moves[:1])]
            if not names:
                raise GameError(f"{shown(text)} is a position of neither chess nor shogi: choose its game.")
            game = names[0]
        rules = library.game(game)
        if len(moves) > library.limits.plies:
            raise SettingsError(f"these are {len(moves):,} moves, but at most {library.limits.plies:,} are allowed.")
        return cls(rules, Record(rules.spec.full_name, tuple(map(Move, moves)), start=start))

    @classmethod
    def of_moves(cls, library: Library, *, text: str, game: str, start: str = "") -> Study:
        """A study of moves, or of a position."""
        if game:
            rules = library.game(game)
            if not start and text and _position(rules, text):
                return cls(rules, Record(rules.spec.full_name, start=text))
        else:
            found = [name for name in library.game_names() if text and _position(library.game(name), text)]
            if not found:
                raise GameError(
                    "this is neither a game record (PGN, SGF, KIF, CSA) nor a position: choose the game whose"
                    " moves these are."
                )
            rules = library.game(found[0])
            return cls(rules, Record(rules.spec.full_name, start=text))
        words = [word for word in text.split() if not word.rstrip(".").isdigit() or rules.spec.num_actions < 100]
        if len(words) > library.limits.plies:
            raise SettingsError(f"these are {len(words):,} moves, but at most {library.limits.plies:,} are allowed.")
        return cls(rules, Record(rules.spec.full_name, tuple(map(Move, words)), start=start))

    # ---- the current position

    @property
    def ply(self) -> int:
        """Number of moves of the main line before the current position, or before the branch that leads to it."""
        node: Node | None = self.here
        while node is not None and node.number >= len(self.tree.main):
            node = node.parent
        return 0 if node is None else node.number

    @property
    def branch(self) -> list[Node]:
        """The moves after `ply` that lead to the current position."""
        return self.here.path[self.ply :]

    @property
    def variation(self) -> list[int]:
        """The actions of `branch`."""
        return [node.action for node in self.branch]

    @property
    def key(self) -> tuple[str | int, ...]:
        """What tells this game from others: its rules, start and moves, but not its names and comments."""
        return (self.game.spec.full_name, self.record.start, *self.actions)

    @property
    def state(self) -> State:
        """The current position."""
        return self._state_at(self.ply, self.variation)

    @property
    def path(self) -> list[int]:
        """All actions that lead to the current position."""
        return [node.action for node in self.here.path]

    def goto(self, ply: int) -> None:
        """Go to the game's position after `ply` moves."""
        self.here = self.tree.main[min(max(ply, 0), len(self.actions))]

    def goto_node(self, number: int) -> None:
        """Go to a position of the tree.

        Raises:
            SettingsError: there is no such position.
        """
        if not 0 <= number < len(self.tree.nodes):
            raise SettingsError(f"position {number} is out of range: 0 to {len(self.tree.nodes) - 1}.")
        self.here = self.tree.nodes[number]

    def try_move(self, action: int) -> None:
        """Make a move, one of the tree or a new one.

        Raises:
            GameError: the move is illegal, or too many were tried.
        """
        state = self.state
        if action not in self.game.legal_actions(state, past_soft_endings=True):
            raise GameError(f"action {action} is not legal here.")
        self.here = self.tree.child(self.here, action) or self.tree.add(self.here, state, action)

    def walk(self, moves: Sequence[str]) -> None:
        """Make moves from the current position, in the game's own notation, up to the first illegal one."""
        for text in moves:
            try:
                self.try_move(parse_action(self.game, self.state, text))
            except GameError:
                return

    def back(self) -> None:
        """Take one move back."""
        self.here = self.here.parent or self.here

    def _state_at(self, ply: int, variation: Sequence[int]) -> State:
        return functools.reduce(self.game.play, variation, self.states[ply])

    def _states_to_here(self) -> list[State]:
        tried = Playthrough.of(self.game, self.states[self.ply], self.variation)
        return [*self.states[: self.ply], *tried.states]

    # ---- the data for the page

    def view(
        self, *, flipped: bool = False, western: bool = False, numbered: bool = False, known: int | None = 0
    ) -> dict[str, Any]:
        """The position and the moves.

        `known` is the number of the last position of the tree that the page knows; None leaves the tree out.
        """
        game, branch, ply = self.game, self.branch, self.ply
        line = [*self.actions[:ply], *(node.action for node in branch)]
        before = self._state_at(ply if branch else max(ply - 1, 0), [node.action for node in branch[:-1]])
        state = game.play(before, line[-1]) if line else before
        last = (before, line[-1]) if line else None
        moves = place_moves(game, state, game.legal_actions(state))
        names = [name or "?" for name in self.record.players]
        return {
            "game": short_name(game),
            "board": draw_board(game, state, last=last, flipped=flipped, western=western),
            "moves": [move.json() for move in moves],
            "choices": choices(game, state, moves, flipped=flipped, western=western),
            "moved": move_cells(game, *last) if last else [],
            "canNumber": places_stones(game),
            "numbers": self._line.numbers(self._states_to_here(), line) if numbered or self.review else [],
            "numbered": numbered,
            "mover": game.player(state),
            "sides": side_names(game, self.states[0]),
            "hasOwners": has_owners(game),
            "ply": ply,
            "here": self.here.number,
            "tree": [] if known is None else self.tree.json(known),
            "tried": self.tree.tried(),
            "comments": list(self.record.comments),
            "headers": [[name[:60], value[:300]] for name, value in self.record.headers[:MOST_HEADERS]],
            "history": [node.text for node in self.tree.main[1:]],
            "firsts": [node.player for node in self.tree.main[1:]],
            "variation": [node.text for node in branch],
            "branch": " ".join(self.tree.own_texts(branch, self.states[ply])),
            "isTried": any(node.move is None for node in branch),
            "depth": len(line),
            "over": game.ending(state),
            "position": game.position_text(state),
            "players": names if any(self.record.players) else None,
            "others": self.others,
            "index": self.index,
            "start": self.record.start,
            "ownMoves": " ".join(game.action_text(one, a) for one, a in zip(self.states, self.actions, strict=False)),
            "formats": [format for format, games in GAMES.items() if game.spec.name in games] + ["json"],
            "warnings": list(self.record.warnings[-MOST_WARNINGS:]),  # the fault that ended the moves is the last one
        }

    def review_view(self) -> dict[str, Any]:
        """The review for the page: a point per position, a line per move."""
        found = self.review
        assert found is not None
        moves = []
        for number, (move, before, _) in enumerate(found.steps):
            best = before.report.lines[0] if before.report is not None and before.report.lines else None
            moves.append(
                {
                    "mark": move.mark,
                    "unsure": move.unsure,
                    "loss": round(move.loss, 4),
                    "hindsight": round(move.hindsight, 4),
                    "points": self._points_lost(number, move),
                    "better": list(best.texts(page_notation(self.game))[:8]) if best is not None else [],
                    "cells": move_cells(self.game, before.state, best.actions[0]) if best is not None else [],
                }
            )
        return {
            "points": [point(position.report, position.value) for position in found.positions],
            "moves": moves,
            "by": found.by,
            "leads": list(self.leads),
            "players": [{**found.num_marks(player), "loss": found.mean_loss(player)} for player in (0, 1)],
        }

    def _points_lost(self, number: int, move: ReviewedMove) -> float | None:
        """The points that a move of the review lost, 0 for the best one; None where the score is not known."""
        if len(self.leads) < number + 2:
            return None
        return points_lost(*self.leads[number : number + 2], player=move.player, is_best=move.loss == 0)

    def export(self, format: str) -> str:
        """The record with the review, in a file's format or as JSON.

        Raises:
            SettingsError: the game is not reviewed yet, or cannot be written in this format.
        """
        if self.review is None:
            raise SettingsError("the game is not reviewed yet: review it first.")
        if format == "json":
            return json.dumps(review_numbers(self.review), ensure_ascii=False) + "\n"
        return game_text(annotated(self.review, format=format, leads=self.leads), format=format)

    def reviewed(self, analyst: Analyst, task: Task, on_position: Callable[[int, int], None]) -> Review:
        """Have each position searched, which takes a while. Errors of `on_position` are raised."""
        return review(replace(self.record, game=self.game.spec.full_name), analyst, task, on_position=on_position)


class TurnAnalyst(Analyst):
    """An analyst that passes its searches to a function."""

    def __init__(self, player: Player, search: Callable[[State, Task], Analysis]) -> None:
        """`search` returns the analysis of a position within the limits of a task."""
        self.player, self._search = player, search

    def final(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Analysis:
        """As in `Analyst`."""
        game = self.player.game
        return self._search(functools.reduce(game.play, moves, game.initial_state() if start is None else start), task)

    def after(self, task: Task, action: int, state: State) -> Analysis:
        """As in `Analyst`."""
        return self._search(state, task)


def _own_game(text: str, library: Library) -> Rules | None:
    """The game of a text file that a page has saved, which its first line names; None for any other text.

    Games of KIF begin with # as well, but their line names no game.
    """
    if (found := re.match(r"# ([^\n]+)", text)) is None:
        return None
    try:
        return library.game(found[1].strip())
    except GameError:
        return None


def _fits(game: Rules, start: str, moves: Sequence[str]) -> bool:
    """Whether a game has this position, "" for the initial one, and these legal moves from it."""
    try:
        Playthrough.read(game, moves, start)
    except GameError:
        return False
    return True


def _position(game: Rules, text: str) -> bool:
    if len(text) > MOST_POSITION:
        return False
    try:
        game.parse_position(text)
    except GameError:
        return False
    return True
