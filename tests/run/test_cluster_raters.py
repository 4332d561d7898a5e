"""Raters play the games that the process of the run would play."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zerosum._core import __version__
from zerosum.base.errors import RunError
from zerosum.cluster import Connection
from zerosum.cluster.connection import START_S
from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights, save_checkpoint
from zerosum.run.cluster_raters import ClusterRaters, RaterActor, RaterLostError, RatingTask
from zerosum.run.config import RunConfig, new_config
from zerosum.run.rating_games import RatingGames, RatingPlayer, play_rating_games, rating_setup
from zerosum.run.strength import Strength
from zerosum.selfplay.worker_process import pack_weights

GAME = make("tictactoe")
SETTINGS = [
    "training.steps=100",
    "search.num_simulations=8",
    "strength.rollout_simulations=5,2",
    "network.num_blocks=1",
    "network.num_filters=4",
    "cluster.num_raters=3",
]


def config_with(*overrides: str) -> RunConfig:
    return new_config(GAME, "tictactoe", overrides=[*SETTINGS, *overrides])


def network(step: int) -> Checkpoint:
    info = CheckpointInfo.describe(GAME.spec, config_with().network, step=step)
    return Checkpoint(info, initial_weights(config_with().network, info.shape, seed=step))


def task(*names: str, version: str = __version__) -> bytes:
    config = config_with()
    setup = rating_setup(config)
    asked = RatingTask(
        version=version,
        game="tictactoe",
        search=dataclasses.asdict(setup.search),
        evaluator=dataclasses.asdict(setup.evaluator),
        opening_plies=setup.opening_plies,
        clock="wall",
        names=(names[0], names[1]),
        num_games=6,
        seed=5,
    )
    return json.dumps(dataclasses.asdict(asked)).encode()


@pytest.mark.parametrize("opponent", ["random", "rollouts@2", "step 1"])
def test_a_rater_plays_what_this_process_plays(opponent: str) -> None:
    other = RatingPlayer(opponent, network(1) if opponent == "step 1" else None)
    setup, first = rating_setup(config_with()), RatingPlayer("step 2", network(2))
    expected = play_rating_games(GAME, setup, first, other, num_games=6, seed=5)
    packed = pack_weights(other.checkpoint) if other.checkpoint else b""
    found = json.loads(RaterActor().play(task("step 2", opponent), pack_weights(network(2)), packed))
    assert [(tuple(actions), points) for actions, points in found["games"]] == expected.games
    assert found["evaluations"] == expected.evaluations > 0 and found["cpu_s"] > 0


def test_another_version_is_refused() -> None:
    with pytest.raises(RunError, match="and the run is of 0.0: install the same version"):
        RaterActor().play(task("random", "rollouts@2", version="0.0"), b"", b"")


Call = tuple[Any, ...]
"""An actor's number, and what it was asked."""


class _BrokenError(Exception):
    """As Ray's errors."""


class _Ray:
    """Ray whose actors answer at once, or are broken."""

    exceptions = SimpleNamespace(RayError=_BrokenError)

    def __init__(self) -> None:
        self.broken: set[int] = set()
        self.hung: set[int] = set()
        self.pulses_before_games = 0
        self.waited: list[float] = []
        self.asked: list[RatingTask] = []
        self.num_actors = 0

    def nodes(self) -> list[dict[str, object]]:
        resources = {"CPU": 3, "GPU": 0}
        names = {"NodeID": "a" * 8, "NodeManagerHostname": "host", "NodeManagerAddress": "127.0.0.1"}
        return [{**names, "Alive": True, "Resources": resources}]

    def wait(self, calls: list[Call], *, num_returns: int, timeout: float) -> tuple[list[Call], list[Call]]:
        self.waited.append(timeout)
        answered = [call for call in calls if call[0] not in self.hung]
        if self.pulses_before_games > 0:
            answered = [call for call in answered if call[1] == b"pulse"]
            self.pulses_before_games -= len(calls) == 1
        return answered, [call for call in calls if call not in answered]

    def get(self, call: Call) -> bytes:
        number, asked, *weights = call
        if number in self.broken:
            raise _BrokenError("the actor died\nwith a traceback")
        if asked == b"pulse":
            return RaterActor().pulse()
        self.asked.append(RatingTask(**json.loads(asked)))
        return RaterActor().play(asked, *weights)

    def kill(self, actor: object) -> None:
        pass


class _Connection(Connection):
    ray: _Ray

    def new_actor(self, actor: type, **_: object) -> object:
        number = self.ray.num_actors
        self.ray.num_actors += 1
        return SimpleNamespace(
            play=SimpleNamespace(remote=lambda *words: (number, *words)),
            pulse=SimpleNamespace(remote=lambda: (number, b"pulse")),
        )


def test_raters_share_the_games_and_are_replaced(tmp_path: Path) -> None:
    connection = _Connection(_Ray(), "local")
    raters = ClusterRaters(connection, config_with())
    assert [place.role for place in connection.places] == ["rater 1", "rater 2", "rater 3"]
    for step in (5, 6):
        save_checkpoint(tmp_path / "checkpoints", network(step), learner_state={}, learner_info={})
    strength = Strength(tmp_path, GAME, config_with(), play=raters.play)
    strength.rate_last(5, None, num_evaluations=5000, seconds=1e6)
    assert strength.rated_steps == [5] and strength.ratings.keys() >= {"random", "rollouts@2"}
    assert {asked.num_games for asked in connection.ray.asked} <= {2, 4, 6, 8, 12}
    seeds = [asked.seed for asked in connection.ray.asked]
    assert len(set(seeds)) == len(seeds) and connection.ray.num_actors == 3
    assert raters.cpu_s > 0

    connection.ray.broken = {1}
    num_matches = len(strength.matches)
    with pytest.raises(RaterLostError, match="rater 2 has failed: the actor died with a traceback"):
        strength.rate_last(6, None, num_evaluations=5000, seconds=1e6)
    assert len(strength.matches) == num_matches, "nothing of a match that was not played whole"
    assert [(place.role, why) for place, why in connection.lost] == [("rater 2", "the actor died with a traceback")]
    strength.rate_last(6, None, num_evaluations=5000, seconds=1e6)
    assert strength.rated_steps == [5, 6] and connection.ray.num_actors == 4

    raters.close()
    assert not connection.places
    with pytest.raises(RaterLostError, match="the training has ended"):
        raters.play(RatingPlayer("random"), RatingPlayer("rollouts@2"), num_games=4, seed=0)


def test_a_rater_that_hangs_is_lost_and_one_that_plays_long_is_not() -> None:
    connection = _Connection(_Ray(), "local")
    raters = ClusterRaters(connection, config_with("cluster.num_raters=1", "cluster.silence_seconds=7"))
    players = RatingPlayer("rollouts@5"), RatingPlayer("random")
    connection.ray.pulses_before_games = 3
    assert len(raters.play(*players, num_games=4, seed=3).games) == 4
    assert connection.ray.waited[0] == START_S and 7 in connection.ray.waited and connection.ray.num_actors == 1
    connection.ray.hung = {0}
    with pytest.raises(RaterLostError, match="rater 1 has failed: it has not answered for 300 seconds"):
        raters.play(*players, num_games=4, seed=4)
    assert [place.role for place, _ in connection.lost] == ["rater 1"] and not connection.places
    assert len(raters.play(*players, num_games=4, seed=5).games) == 4 and connection.ray.num_actors == 2
    raters.close()


def test_games_keep_their_order() -> None:
    raters = ClusterRaters(_Connection(_Ray(), "local"), config_with("cluster.num_raters=2"))
    played = raters.play(RatingPlayer("rollouts@5"), RatingPlayer("random"), num_games=8, seed=3)
    assert isinstance(played, RatingGames) and len(played.games) == 8 and played.evaluations == 0
