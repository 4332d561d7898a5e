"""Raters: actors on a cluster that play a run's rating games while its learner goes on.

The process that trains decides who meets whom (`zerosum.run.strength`) and sends both networks; each rater plays a part
of the games. `RaterActor` does not know Ray.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zerosum.base.errors import RunError
from zerosum.base.settings import from_mapping
from zerosum.base.version import __version__
from zerosum.cluster.connection import START_S, Connection, Place, SilentActorError, first_line
from zerosum.games import make
from zerosum.network.evaluators import EvaluatorConfig
from zerosum.run.config import RunConfig
from zerosum.run.rating_games import RatingGames, RatingPlayer, RatingSetup, play_rating_games, rating_setup
from zerosum.search import SearchConfig
from zerosum.selfplay.worker_process import checkpoint_of, pack_weights

PULSE_S = 5.0
"""Time between two looks at whether a rater is still there."""


class RaterLostError(RunError):
    """A rater has ended before its games had."""


@dataclass(frozen=True)
class RatingTask:
    """The rating games of one rater."""

    version: str
    """Version of zerosum where the run is."""
    game: str
    """The game's name as `zerosum.games.make` takes it, with an absolute path."""
    search: dict[str, Any]
    """A `SearchConfig` as a mapping, as `evaluator` is an `EvaluatorConfig`."""
    evaluator: dict[str, Any]
    opening_plies: int
    clock: str
    """How the seconds of games are counted: "wall" or "cpu"."""
    names: tuple[str, str]
    num_games: int
    seed: int


class RaterActor:
    """Plays rating games on a node. It answers two calls at a time, so that `pulse` has an answer during the games."""

    def pulse(self) -> bytes:
        """Nothing, at once."""
        return b""

    def play(self, task: bytes, *weights: bytes) -> bytes:
        """Play the games of a `RatingTask`, as JSON.

        Args:
            task: The games.
            weights: The network of each player, packed by `pack_weights`; none is empty.

        Returns:
            `RatingGames` and the process's CPU-seconds, as JSON.

        Raises:
            RunError: the node has another version of zerosum.
        """
        values = json.loads(task)
        if values["version"] != __version__:
            raise RunError(
                f"it has zerosum {__version__}, and the run is of {values['version']}: install the same version"
            )
        asked = RatingTask(**values)
        game = make(asked.game)
        setup = RatingSetup(
            search=from_mapping(SearchConfig, asked.search, "search"),
            evaluator=from_mapping(EvaluatorConfig, asked.evaluator, "evaluator"),
            opening_plies=asked.opening_plies,
        )
        first, second = (
            RatingPlayer(name, checkpoint_of(packed, game) if packed else None)
            for name, packed in zip(asked.names, weights, strict=True)
        )
        clock = time.process_time if asked.clock == "cpu" else time.monotonic
        played = play_rating_games(game, setup, first, second, num_games=asked.num_games, seed=asked.seed, clock=clock)
        return json.dumps({**dataclasses.asdict(played), "cpu_s": time.process_time()}).encode()


class ClusterRaters:
    """The raters of a run. `play` may be called on any one thread, `close` on another."""

    def __init__(self, connection: Connection, config: RunConfig) -> None:
        """Keep room for `cluster.num_raters` actors, which start with their first games. Raises RunError."""
        self._connection, self._config = connection, config
        self._raters: list[_Rater] = []
        self._is_closed = False
        try:
            for number in range(config.cluster.num_raters):
                self._raters.append(_Rater(connection, config, f"rater {number + 1}"))
        except BaseException:
            self.close()
            raise

    @property
    def cpu_s(self) -> float:
        """CPU-seconds that the raters have used up to their last games."""
        return sum(rater.cpu_s for rater in self._raters)

    def play(self, player: RatingPlayer, opponent: RatingPlayer, *, num_games: int, seed: int) -> RatingGames:
        """See `PlaysRatingGames`. Each rater plays an equal part of the pairs of games.

        Raises:
            RaterLostError: a rater has ended, or there is no room for one. It is replaced the next time.
        """
        weights = [pack_weights(each.checkpoint) if each.checkpoint else b"" for each in (player, opponent)]
        setup, ray = rating_setup(self._config), self._connection.ray
        calls = {}
        for number, size in enumerate(_parts(num_games, len(self._raters))):
            task = RatingTask(
                version=__version__,
                game=str(self._config.game),
                search=dataclasses.asdict(setup.search),
                evaluator=dataclasses.asdict(setup.evaluator),
                opening_plies=setup.opening_plies,
                clock=self._config.training.clock,
                names=(player.name, opponent.name),
                num_games=size,
                seed=seed + (number << 32),
            )
            rater = self._raters[number]
            if self._is_closed:
                raise RaterLostError("the training has ended")
            calls[rater] = rater.call(json.dumps(dataclasses.asdict(task)).encode(), weights)
        parts = []
        for rater, call in calls.items():
            try:
                values = json.loads(rater.answer(call))
            except (ray.exceptions.RayError, SilentActorError) as error:
                if not self._is_closed:
                    rater.note_loss(first_line(error))
                rater.stop()
                raise RaterLostError(f"{rater.role} has failed: {first_line(error)}") from error
            rater.cpu_s = rater.ended_cpu_s + values.pop("cpu_s")
            parts.append(RatingGames([(tuple(actions), points) for actions, points in values.pop("games")], **values))
        return _joined(parts)

    def close(self) -> None:
        """End all raters, also in the midst of their games."""
        self._is_closed = True
        for rater in self._raters:
            rater.stop()


class _Rater:
    """The actor of one rater, while there is one."""

    def __init__(self, connection: Connection, config: RunConfig, role: str) -> None:
        self.role, self.cpu_s, self.ended_cpu_s = role, 0.0, 0.0
        self._connection, self._config = connection, config.cluster
        self._actor: Any = None
        self._place: Place | None = None
        self._reserve()

    def call(self, task: bytes, weights: Iterable[bytes]) -> Any:
        """Ray's reference to the games. Starts the actor if needed. Raises RaterLostError without room for it."""
        if self._actor is None:
            try:
                place = self._reserve()
            except RunError as error:
                raise RaterLostError(str(error)) from error
            self._actor = self._connection.new_actor(
                RaterActor, node=place.node, cpus=place.cpus, gpus=place.gpus, num_calls=2
            )
        return self._actor.play.remote(task, *weights)

    def answer(self, call: Any) -> Any:
        """The games, which may take any time as long as the actor shows that it is there.

        Raises SilentActorError, and the errors of Ray.
        """
        actor, ray, limit = self._actor, self._connection.ray, max(self._config.silence_seconds, START_S)
        while actor is not None:
            pulse = actor.pulse.remote()
            answered, _ = ray.wait([call, pulse], num_returns=1, timeout=limit)
            if not answered:
                raise SilentActorError(f"it has not answered for {limit:.0f} seconds")
            if pulse in answered:
                ray.get(pulse)
                limit = self._config.silence_seconds
                answered, _ = ray.wait([call], num_returns=1, timeout=PULSE_S)
            if call in answered:
                break
        return ray.get(call)

    def note_loss(self, why: str) -> None:
        """Add the loss of the actor to the cluster's events."""
        if self._place is not None:
            self._connection.lost.append((self._place, why))

    def stop(self) -> None:
        """End the actor, and give its room back."""
        if self._actor is not None:
            self._connection.ray.kill(self._actor)
        if self._place is not None:
            with contextlib.suppress(ValueError):  # the other thread was quicker
                self._connection.places.remove(self._place)
        self._actor, self._place, self.ended_cpu_s = None, None, self.cpu_s

    def _reserve(self) -> Place:
        if self._place is None:
            self._place = self._connection.reserve(
                self.role, cpus=self._config.cpus_per_rater, gpus=self._config.gpus_per_rater
            )
        return self._place


def _parts(num_games: int, num_raters: int) -> list[int]:
    """Numbers of games of the raters: nearly equal parts in whole pairs, without empty ones.

    >>> _parts(32, 3), _parts(4, 3)
    ([12, 10, 10], [2, 2])
    """
    pairs, longer = divmod(num_games // 2, num_raters)
    sizes = [2 * (pairs + (number < longer)) for number in range(num_raters)]
    return [size for size in sizes if size]


def _joined(parts: Iterable[RatingGames]) -> RatingGames:
    parts = list(parts)
    return RatingGames(
        [game for part in parts for game in part.games],
        evaluations=sum(part.evaluations for part in parts),
        seconds=sum(part.seconds for part in parts),
    )
