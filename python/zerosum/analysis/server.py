"""The analysis server: queries come in, one JSON object a line, and answers go out as searches end.

The protocol is KataGo's analysis engine (docs/Analysis_Engine.md there); our `docs/analyse.md` lists the differences.
Start with `AnalysisServer.receive`, which reads a line, and `_work`, which `parallel` threads run.
"""

from __future__ import annotations

import errno
import heapq
import itertools
import json
import math
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zerosum._core import Leaves
from zerosum.analysis.analyst import DEFAULT_SIMULATIONS, Analyst, limits
from zerosum.analysis.answers import answer, answer_without_search, no_results
from zerosum.analysis.query import Query, QueryTurn, read_query
from zerosum.analysis.query_fields import QueryError
from zerosum.base.errors import ZerosumError
from zerosum.base.version import __version__
from zerosum.games import Rules, make
from zerosum.games.rules import options_of
from zerosum.network.evaluators import Evaluations, Evaluator
from zerosum.notation.legality import game_of
from zerosum.play.choice import Players
from zerosum.play.driver import REPORT_SECONDS, Task
from zerosum.play.player import MOST_SECONDS, MOST_SIMULATIONS, Player

TERMINATED = "terminated"
ACTIONS = ("query_version", "query_models", "clear_cache", "terminate", "terminate_all")


def serve(
    players: Players,
    *,
    game: str = "",
    max_simulations: int | None = None,
    max_seconds: float | None = None,
    parallel: int = 2,
) -> None:
    """Answer the queries of standard input until it ends and all of them are answered.

    Args:
        players: The player of each game; networks are loaded with the first query.
        game: The game of queries that name none; if not given, the named network's, or else Go.
        max_simulations: Simulations per position if a query does not say.
        max_seconds: Seconds per position if a query does not say.
        parallel: Number of positions searched at the same time.
    """
    rules = make(game) if game else players.own_game()

    def write(line: str) -> None:
        try:
            sys.stdout.write(line)
            sys.stdout.flush()
        except OSError as error:  # in any thread: nobody hears further answers
            if error.errno != errno.EPIPE:
                print(f"zerosum: the output cannot be written: {error.strerror}.", file=sys.stderr, flush=True)
            os._exit(1 if error.errno == errno.EPIPE else 2)

    limits(max_simulations, max_seconds)
    server = AnalysisServer(
        players,
        default_game=rules,
        write=write,
        max_simulations=max_simulations,
        max_seconds=max_seconds,
        parallel=parallel,
    )
    print("zerosum: started, ready to begin handling requests", file=sys.stderr, flush=True)
    try:
        for line in sys.stdin.buffer:
            server.receive(line)
    except KeyboardInterrupt:
        server.terminate(lambda _: True)
    server.finish()


@dataclass
class _Job:
    """A position to be searched."""

    query: Query
    turn: QueryTurn
    is_started: bool = False
    is_terminated: bool = False


@dataclass(order=True)
class _QueueKey:
    """The order of the queue: higher priority first, then first come, first served."""

    priority: int
    number: int
    job: _Job = field(compare=False)


class AnalysisServer:
    """Receives lines and writes answers from `parallel` threads of its own, until `finish`."""

    def __init__(
        self,
        players: Players,
        *,
        write: Callable[[str], None],
        default_game: Rules | None = None,
        max_simulations: int | None = None,
        max_seconds: float | None = None,
        parallel: int = 1,
    ) -> None:
        self._players, self._write, self._default_game = players, write, default_game
        self._max_simulations, self._max_seconds = max_simulations, max_seconds
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        self._queue: list[_QueueKey] = []
        self._open: list[_Job] = []
        """Jobs that have not been answered yet."""
        self._numbers = itertools.count()
        self._is_closed = self._has_warned = False
        self._threads = [
            threading.Thread(target=self._work, name=f"analysis {n}", daemon=True) for n in range(parallel)
        ]
        for thread in self._threads:
            thread.start()

    def receive(self, line: bytes | str) -> None:
        """Receive a line of the input. Errors are answered and do not affect later lines."""
        if not line.strip():
            return
        try:
            values = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self._say({"error": f"Could not parse input line as json request: {error}"})
            return
        if not isinstance(values, dict):
            self._say({"error": "Request line was valid json but was not an object"})
            return
        named = values.get("id")
        if "action" in values:
            # Some actions of KaTrain have no id.
            self._act(values, named if isinstance(named, str) else None)
            return
        if not isinstance(named, str):
            self._say({"error": 'Request must have a string "id" field'})
            return
        try:
            query = read_query(values, id=named, default_game=self._default_game)
        except QueryError as error:
            self._say({"error": str(error), "field": error.field, "id": named})
            return
        for name, warning in query.warnings:
            self._say({"warning": warning, "field": name, "id": named})
        self._enqueue(query)

    def terminate(self, is_meant: Callable[[_Job], bool]) -> None:
        """End searches; those that have not begun are answered without results."""
        with self._changed:
            ended = [job for job in self._open if is_meant(job) and not job.is_terminated]
            for job in ended:
                job.is_terminated = True
            unstarted = [job for job in ended if not job.is_started]
            self._open = [job for job in self._open if not any(job is other for other in unstarted)]
        for job in unstarted:
            self._say(no_results(job.query, job.turn))

    def finish(self) -> None:
        """Answer all remaining queries, then return."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    # ---- queries that only ask something of the engine

    def _act(self, values: dict[str, Any], named: str | None) -> None:
        action = values["action"]
        try:
            if action == "query_version":
                self._say(values | {"version": __version__, "git_hash": "<omitted>", "program": "zerosum"})
            elif action == "query_models":
                models = [{"name": player.name, "game": player.game.spec.name} for player in self._players.chosen]
                self._say(values | {"models": models})
            elif action == "clear_cache":
                self._say(values)  # searches share nothing that could be cleared
            elif action in ("terminate", "terminate_all"):
                self.terminate(_meant(values, is_all=action == "terminate_all"))
                self._say(values)
            else:
                raise QueryError("action", f"'action' field must be one of {', '.join(ACTIONS)}")
        except QueryError as error:
            self._say({"error": str(error), "field": error.field, **({} if named is None else {"id": named})})

    # ---- queries to be searched

    def _enqueue(self, query: Query) -> None:
        with self._changed:
            for turn in query.turns:
                job = _Job(query, turn)
                self._open.append(job)
                heapq.heappush(self._queue, _QueueKey(-turn.priority, next(self._numbers), job))
            self._changed.notify_all()

    def _next(self) -> _Job | None:
        """The next job; None once no other will come."""
        with self._changed:
            while True:
                while self._queue:
                    job = heapq.heappop(self._queue).job
                    if not job.is_terminated:
                        job.is_started = True
                        return job
                if self._is_closed:
                    return None
                self._changed.wait()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._search(job)
            except Exception as error:  # the client waits for an answer in any case
                # Without a player, no network has learned the game or its size.
                name = "boardXSize" if job.query.game.spec.name == "go" else "game"
                self._say({"error": str(error) or repr(error), "field": name, "id": job.query.id})
                if not isinstance(error, ZerosumError):
                    traceback.print_exc()
            finally:
                with self._changed:
                    self._open = [other for other in self._open if other is not job]

    def _search(self, job: _Job) -> None:
        query, state = job.query, job.turn.state
        game = query.game
        if not game.legal_actions(state, past_soft_endings=True):
            self._say(answer_without_search(query, job.turn))
            return
        allowed = query.allowed(state)
        if allowed is None:
            self._say({"warning": "No legal move is left", "field": "avoidMoves", "id": query.id})
            self._say(no_results(query, job.turn))
            return
        first, every = query.first_report_s, query.report_every_s
        pace = min(first, every)
        player = self._players.of(game)
        self._warn_of_scoring(player, game)
        analyst = Analyst(as_asked(player, query), report_seconds=REPORT_SECONDS if pace == math.inf else pace)
        task = self._task(job, player, allowed, num_lines=len(game.legal_actions(state, past_soft_endings=True)))
        due = first
        for report in analyst.reports(task, start=state):
            if report.stop_reason is not None:
                self._say(answer(query, job.turn, report, player))
            elif report.seconds >= due:
                due = report.seconds + every
                self._say(answer(query, job.turn, report, player))

    def _warn_of_scoring(self, player: Player, game: Rules) -> None:
        """Warn once on stderr that scoring differs from what the network learned."""
        if game.spec.name != "go" or not player.learned_game or self._has_warned:
            return
        learned, scoring = (options_of(go)["scoring"] for go in (game_of(player.learned_game), game))
        if learned != scoring:
            self._has_warned = True
            sentence = f"The network learned {learned} scoring and cannot see that {scoring} scoring applies."
            print(f"zerosum: {sentence}", file=sys.stderr, flush=True)

    def _task(self, job: _Job, player: Player, allowed: tuple[int, ...], *, num_lines: int) -> Task:
        query = job.query
        visits, seconds = query.max_visits, query.max_seconds
        if visits is None and seconds is None:
            default = player.visits_for(DEFAULT_SIMULATIONS)
            simulations, seconds = limits(self._max_simulations, self._max_seconds, default=default)
        else:
            # The root's own evaluation is a visit; at least one simulation is needed.
            simulations = None if visits is None else min(max(visits - 1, 1), MOST_SIMULATIONS)
        return Task(
            num_visits=simulations,
            seconds=None if seconds is None else min(seconds, MOST_SECONDS),
            allowed=allowed,
            num_lines=num_lines,
            line_share=0.0,
            is_enough=lambda _root, _seconds: TERMINATED if job.is_terminated else None,
        )

    def _say(self, values: Mapping[str, Any]) -> None:
        with self._writing:
            try:
                self._write(f"{json.dumps(values, allow_nan=False)}\n")
            except BrokenPipeError:
                self._write = lambda _: None  # the output is closed


class _RootTempered:
    """An evaluator whose first answer, the root's, has its logits divided by a temperature."""

    def __init__(self, evaluator: Evaluator, temperature: float) -> None:
        self._evaluator, self._temperature = evaluator, temperature

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Evaluate leaves; see `Evaluator.evaluate`."""
        found, temperature = self._evaluator.evaluate(leaves), self._temperature
        self._temperature = 1.0
        logits = (found.logits / temperature).astype(np.float32)
        return found if temperature == 1.0 else replace(found, leaves=leaves, logits=logits)


def as_asked(player: Player, query: Query) -> Player:
    """The player with a query's settings, for one search from scratch."""
    player = player.with_rules(player.game)
    player.config = replace(player.config, **query.search)
    if query.root_temperature != 1.0:
        player.evaluator = _RootTempered(player.evaluator, query.root_temperature)
    return player


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _meant(values: Mapping[str, Any], *, is_all: bool) -> Callable[[_Job], bool]:
    """The predicate of the searches that an action ends."""
    named, numbers = values.get("terminateId"), values.get("turnNumbers")
    if not is_all and not isinstance(named, str):
        raise QueryError("terminateId", 'Requests for a terminate action must have a string "terminateId" field')
    if "turnNumbers" in values and not (isinstance(numbers, list) and all(type(number) is int for number in numbers)):
        raise QueryError("turnNumbers", "If provided, must be an array of integers indicating turns to terminate")
    return lambda job: (is_all or job.query.id == named) and (numbers is None or job.turn.number in numbers)
