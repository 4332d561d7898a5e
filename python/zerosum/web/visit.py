"""One connected page: answers to its messages, and events.

    visit = Visit(house, HANDLERS, tell)
    reply = await visit.answer('{"id": 1, "do": "play.open", "game": "connect4", "side": "0"}')

A message is an object with `do`, an `id` that its reply repeats, and the fields of that request. The reply has `result`
or `error`, a sentence. Events have `event`. Nothing is kept of a disconnected page: its address holds what it needs to
return, so there are no session names that could be guessed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from zerosum._core import uniform
from zerosum.analysis.query_fields import Fields, QueryError
from zerosum.base.errors import GameError, SettingsError, ZerosumError, printable
from zerosum.games import Rules
from zerosum.games.short_names import short_name
from zerosum.play import like_people
from zerosum.play.contestant import RulesPlayer
from zerosum.play.player import Player
from zerosum.play.skill import MOST_SKILL, drawn_action, temperature_of, with_search_of_skill
from zerosum.web import catalogue, teaching
from zerosum.web.analyses import analysis_json
from zerosum.web.growth import Growth
from zerosum.web.lesson import Lesson
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.match import WatchedMatch
from zerosum.web.reviews import Reviews
from zerosum.web.searches import Searches
from zerosum.web.study import Study
from zerosum.web.table import Table, side_names
from zerosum.web.trainings import Trainings

LOG = logging.getLogger("zerosum.web")
WATCH_SECONDS = 0.4
"""Pause between two moves of computers that play each other."""
Handler = Callable[["Visit", Fields], Awaitable[Any]]
Tell = Callable[[dict[str, Any]], None]


@dataclass
class House:
    """The objects that all visits share."""

    library: Library
    limits: Limits
    searches: Searches
    seed: int = 0
    """Key of the moves of random players."""
    table_numbers: Iterator[int] = field(default_factory=itertools.count)
    """The numbers of the next games that pages open."""
    reviews: Reviews = field(default_factory=Reviews)
    """The newest reviews."""
    examining: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a network's blind spots are looked for, which has no turns: one at a time leaves room for searches."""
    trainings: Trainings | None = None
    """Trainings of the page; None if it may not start any."""
    address: str = ""
    """The address that the program has printed, with its token if one is required."""


class Visit:
    """A connected page."""

    def __init__(self, house: House, handlers: Mapping[str, Handler], tell: Tell) -> None:
        """Connect a page; `tell` sends it events and is called in the event loop."""
        self.house, self._handlers, self._tell = house, handlers, tell
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.table: Table | None = None
        self._shown: dict[str, Any] = {}
        self._strength: dict[str, Any] = {}
        self._teaches = False
        self.kept = 0
        """Number of moves up to which no move is doubted any more."""
        self.lesson: Lesson | None = None
        self.study: Study | None = None
        self.study_shown: dict[str, bool] = {}
        self.growth: Growth | None = None
        self.match: WatchedMatch | None = None

    # ---- messages

    async def answer(self, text: str) -> dict[str, Any]:
        """The reply to a message, also to an invalid one."""
        number: Any = None
        try:
            message = json.loads(text)
            if not isinstance(message, dict):
                raise QueryError("", "expected an object with `do` and `id`.")
            number = message.get("id") if isinstance(message.get("id"), int) else None
            handler = self._handlers.get(str(message.get("do"))[:40])
            if handler is None:
                raise QueryError("do", f"unknown request {str(message.get('do'))[:40]!r}.")
            return {"id": number, "result": await handler(self, Fields(message))}
        except QueryError as error:
            return {"id": number, "error": printable(f"{error.field}: {error}" if error.field else str(error))}
        except ZerosumError as error:
            return {"id": number, "error": str(error)}
        except (ValueError, RecursionError):
            return {"id": number, "error": "the message is not JSON that this program understands."}
        except Exception as error:  # a bug must not end the connection
            LOG.error("a request failed: %s", printable(f"{type(error).__name__}: {error}")[:300])
            return {"id": number, "error": f"This failed inside the program ({type(error).__name__})."}

    def tell(self, event: str, **values: Any) -> None:
        """Send an event to the page."""
        self._tell({"event": event, **values})

    def begin(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start a background task. A running task of this name is ended."""
        self.stop(name)
        self._tasks[name] = asyncio.get_running_loop().create_task(self._guarded(name, work))

    def stop(self, *names: str) -> None:
        """End tasks with their searches; all tasks without names."""
        for name in names or tuple(self._tasks):
            if (task := self._tasks.pop(name, None)) is not None:
                task.cancel()

    def close(self) -> None:
        """End all tasks after the page has disconnected."""
        self.stop()

    async def _guarded(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except ZerosumError as error:
            self.tell("trouble", about=name, says=str(error))
        except Exception as error:
            LOG.error("a task failed: %s", printable(f"{type(error).__name__}: {error}")[:300])
            self.tell("trouble", about=name, says=f"This failed inside the program ({type(error).__name__}).")

    # ---- playing

    def open_table(self) -> Table:
        """The open game.

        Raises:
            SettingsError: there is none.
        """
        if self.table is None:
            raise SettingsError("no game is open: open one first.")
        return self.table

    def _table_view(self) -> dict[str, Any]:
        return self.open_table().view(**self._shown) | {"strength": self._strength, "teach": self._teaches}

    async def play_open(self, fields: Fields) -> dict[str, Any]:
        """Set up a new game, or continue one."""
        limits = self.house.limits
        game = await asyncio.to_thread(self.house.library.game, fields.text("game") or "connect4")
        side = fields.text("side") or "0"
        people = {"0": {0}, "1": {1}, "both": {0, 1}, "none": set[int]()}.get(side)
        if people is None:
            raise QueryError("side", "Must be 0, 1, both or none")
        seconds = fields.number("seconds", 0.05, limits.seconds)
        rating = fields.number("rating", -1000, 5000)
        word = fields.text("vs") or self.house.library.usual_opponent(game)
        second = fields.text("vs2") if not people else ""
        is_like_people = fields.flag("people") and len(people) < 2
        if len(people) < 2:  # load a network now instead of at the first move
            await asyncio.to_thread(self.house.library.player, word, game)
            if rating is not None:
                await asyncio.to_thread(_skill_for, self.house.library, word, game, rating)
            if is_like_people:
                await asyncio.to_thread(self.house.library.require_people, word, game)
        if second:
            await asyncio.to_thread(self.house.library.player, second, game)
        left = fields.get("left", [])
        if not isinstance(left, list) or not all(isinstance(one, int | float) and 0 <= one < 1e9 for one in left):
            raise QueryError("left", "Must be an array of seconds")
        marked = fields.get("marked", [])
        if not isinstance(marked, list) or not all(isinstance(one, int) and 0 <= one < 1000 for one in marked):
            raise QueryError("marked", "Must be an array of points")
        if (teaches := fields.flag("teach")) and (fields.text("clock") or len(people) != 1):
            raise QueryError("teach", "bad moves are told to one person in a game without a clock")
        table = Table(
            game,
            people=frozenset(people),
            computer="" if len(people) == 2 else word,
            second_computer=second,
            start=fields.text("start"),
            moves=fields.text("moves").split(),
            control=fields.text("clock"),
            left_s=left,
            resigned=fields.integer("resigned", 0, 1),
            marked=marked,
            most_plies=limits.plies,
            number=next(self.house.table_numbers),
        )
        self.stop("computer", "flag", "hint")
        self.table, self._teaches, self.kept = table, teaches, 0
        self._strength = {
            name: value for name, value in (("seconds", seconds), ("rating", rating)) if value is not None
        } | ({"people": True} if is_like_people else {})
        self._shown = {
            "flipped": people == {1},
            "western": fields.flag("western"),
            "numbered": fields.flag("numbered"),
        }
        if fields.has("flipped"):
            self._shown["flipped"] = fields.flag("flipped")
        self._go_on()
        return self._table_view()

    async def play_move(self, fields: Fields) -> dict[str, Any]:
        """Play a move by its action."""
        table, action = self.open_table(), fields.integer("action", 0, 1 << 16)
        if action is None:
            raise QueryError("action", "Must be an integer")
        if not table.is_over and table.mover not in table.people:
            raise GameError("it is not your turn.")
        table.play(action)
        return self.go_on()

    async def play_keep(self, fields: Fields) -> dict[str, Any]:
        """Let a move stand that was doubted: the computer answers."""
        table = self.open_table()
        if not table.is_computers_turn:
            raise GameError("no move is doubted.")
        self.kept = len(table.so_far.actions)
        return self.go_on()

    async def play_undo(self, fields: Fields) -> dict[str, Any]:
        """Take moves back to the person's last turn."""
        self.open_table().undo()
        self.kept = min(self.kept, len(self.open_table().so_far.actions))
        return self.go_on()

    async def play_resign(self, fields: Fields) -> dict[str, Any]:
        """Resign."""
        self.open_table().resign()
        return self.go_on()

    async def play_dead(self, fields: Fields) -> dict[str, Any]:
        """Mark a chain of a finished game of Go as dead or alive."""
        self.open_table().mark_dead(fields.integer("cell", 0, 1000) or 0)
        return self._table_view()

    async def play_view(self, fields: Fields) -> dict[str, Any]:
        """The same game with other options of the view: flipped, western, an earlier ply."""
        for name in ("flipped", "western"):
            if fields.has(name):
                self._shown[name] = fields.flag(name)
        if fields.has("numbered"):
            self._shown["numbered"] = fields.flag("numbered")
        self._shown["ply"] = fields.integer("ply", 0, self.house.limits.plies)
        return self._table_view()

    async def play_save(self, fields: Fields) -> dict[str, Any]:
        """The text of a file with the game."""
        table = self.open_table()
        format = fields.text("format") or table.formats()[0]
        return {"name": f"{table.game.spec.name}.{format}", "text": table.text(format)}

    async def play_address(self, fields: Fields) -> dict[str, Any]:
        """The address for a link to others, and whether it has a token; who asks has given the token already."""
        return {"address": self.house.address, "token": "token=" in self.house.address}

    async def play_hint(self, fields: Fields) -> dict[str, Any]:
        """Search the position; the result is sent as an event."""
        table = self.open_table()
        if table.is_over:
            raise GameError("the game is over, there is nothing to search.")
        player = await asyncio.to_thread(self.judge, table)
        self.begin("hint", lambda: self._hint(table, player))
        return {"by": player.own_name}

    def judge(self, table: Table) -> Player:
        """The player that gives hints: the person's opponent, or random games if it has no search."""
        library = self.house.library
        word = table.computer or library.usual_opponent(table.game)
        try:
            return library.analyst(word, table.game)
        except SettingsError:  # the player has no search
            return library.analyst("rollouts", table.game)

    async def _hint(self, table: Table, player: Player) -> None:
        ply = len(table.so_far.actions)
        found = await self.house.searches.search(player, table.state, seconds=1.0, num_lines=3)
        if self.table is table and len(table.so_far.actions) == ply:
            self.tell("hint", **analysis_json(found))

    def go_on(self) -> dict[str, Any]:
        """Let the computer move if it is its turn; the view of the game."""
        self.stop("computer", "hint")
        self._shown.pop("ply", None)
        self._go_on()
        return self._table_view()

    def _go_on(self) -> None:
        """Let the computer move, and watch the clock."""
        table = self.open_table()
        if table.is_computers_turn:
            self.begin("computer", lambda: self._computer(table))
        if table.clock is not None and not table.is_over:
            self.begin("flag", lambda: self._watch_flag(table))

    async def _watch_flag(self, table: Table) -> None:
        while self.table is table and (left := table.seconds_to_flag()) is not None:
            await asyncio.sleep(min(left, 5.0) + 0.02)
            if self.table is table and table.check_flag():
                self.stop("computer")
                self.tell("table", **self._table_view())

    async def _computer(self, table: Table) -> None:
        if self._teaches and table.so_far.actions and len(table.so_far.actions) > self.kept and table.was_persons_move:
            ply = len(table.so_far.actions)
            player, limits = await asyncio.to_thread(self.judge, table), self.house.limits
            found = await teaching.doubt(table, player, self.house.searches, most_simulations=limits.simulations)
            if found is not None:
                self.tell("doubt", **found)
                return
            self.kept = ply
        while table.is_computers_turn and self.table is table:
            ply = len(table.so_far.actions)
            action, said = await self.chosen_move(table, self._strength)
            if not table.people:
                await asyncio.sleep(WATCH_SECONDS)
            if self.table is not table or len(table.so_far.actions) != ply or table.is_over:
                return
            table.play(action)
            self.tell("table", **self._table_view(), said=said)

    async def chosen_move(
        self, table: Table, strength: Mapping[str, float] = MappingProxyType({})
    ) -> tuple[int, dict[str, Any] | None]:
        """The computer's move and its analysis, with `seconds` a move, a `rating`, or moves of `people` if given."""
        house, game, state = self.house, table.game, table.state
        player = await asyncio.to_thread(house.library.player, table.computers[table.mover], game)
        draw_ = uniform(house.seed, table.number, len(table.so_far.actions), "web")
        if isinstance(player, RulesPlayer):
            if (depth := player.depth) is None:
                legal = game.legal_actions(state)
                return legal[int(draw_ * len(legal))], None
            found = await house.searches.call(lambda: game.alpha_beta(state, depth=depth, seed=house.seed))
            return found.action, None
        seconds, temperature = strength.get("seconds"), 0.0
        simulations = None if seconds is not None else player.config.num_simulations
        if (rating := strength.get("rating")) is not None:
            word = table.computers[table.mover]
            skill = await asyncio.to_thread(_skill_for, house.library, word, game, rating)
            if skill < MOST_SKILL:
                player = with_search_of_skill(player, skill)
                simulations, seconds, temperature = player.config.num_simulations, None, temperature_of(skill)
        if strength.get("people"):
            player = player.judged_by(player.evaluator, like_people.like_people(player.config))
            simulations, seconds, temperature = 1, None, like_people.TEMPERATURE
        if table.clock is not None:
            left = table.seconds_to_flag() or 0.1
            seconds = min(seconds or house.limits.seconds, max(left / 25, 0.05))
        analysis = await house.searches.search(player, state, simulations=simulations, seconds=seconds)
        action = drawn_action(analysis.root, draw_, temperature=temperature) if temperature else analysis.best_action
        return action, analysis_json(analysis)

    # ---- games

    async def games_list(self, fields: Fields) -> list[dict[str, Any]]:
        """All games with their boards."""
        return await asyncio.to_thread(catalogue.games, self.house.library)

    async def games_page(self, fields: Fields) -> dict[str, Any]:
        """The page about one game."""
        game = await asyncio.to_thread(self.house.library.game, fields.text("game"))
        return await asyncio.to_thread(catalogue.page, game, fields.text("moves"))

    async def games_opponents(self, fields: Fields) -> dict[str, Any]:
        """The players of a game."""
        game = await asyncio.to_thread(self.house.library.game, fields.text("game"))
        if wanted := fields.get("options", {}):
            if not isinstance(wanted, dict):
                raise QueryError("options", "Must be an object")
            values = {str(name)[:40]: str(value)[:40] for name, value in wanted.items()}
            game = await asyncio.to_thread(catalogue.game_with, self.house.library, game, values)
        found = await asyncio.to_thread(self.house.library.opponents, game)
        ratings = await asyncio.to_thread(_ratings, self.house.library, game, found)
        return {
            "game": short_name(game),
            "controls": catalogue.controls(game),
            "opponents": found,
            "ratings": ratings,
            "sides": side_names(game, game.initial_state()),
        }


def _skill_for(library: Library, word: str, game: Rules, rating: float) -> float:
    """The skill that corresponds to a rating of the ladder.

    Raises:
        SettingsError: the player has no skills, or they have not been measured.
    """
    player = library.player(word, game)
    if not isinstance(player, Player):
        raise SettingsError("a rating is for networks and rollouts: give this player simulations or a depth instead.")
    levels = library.levels(word, game)
    if levels is None:
        raise SettingsError(
            f"the skills of {player.own_name} at {player.game.spec.full_name} are not measured: `zerosum levels`"
            " measures them. Give it simulations or seconds instead."
        )
    return levels.skill_for(rating)


def _ratings(library: Library, game: Rules, opponents: list[dict[str, Any]]) -> dict[str, list[int]]:
    """The lowest and highest ratings of the opponents with measured skills."""
    found: dict[str, list[int]] = {}
    for one in opponents:
        with contextlib.suppress(ZerosumError):
            if (levels := library.levels(one["name"], game)) is not None:
                found[one["name"]] = [levels.lowest, levels.highest]
    return found
