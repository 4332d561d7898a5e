"""The settings of a training on a cluster: `ClusterConfig`."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.base.settings import check, setting


@dataclass(frozen=True)
class ClusterConfig:
    """How a training is spread over a cluster, and which games count. Only `zerosum train --cluster` reads it."""

    num_actors: int | None = setting(
        None, "largest number of self-play actors at a time; none is as many as the nodes have room for", low=1
    )
    cpus_per_actor: int | None = setting(
        None,
        "CPUs that an actor asks for, a thread each; none is all CPUs of a node, shared among the actors of its GPUs,"
        " and 1 for a game in Python",
        low=1,
        high=256,
    )
    gpus_per_actor: float | None = setting(
        None, "GPUs that an actor asks for; none is 1 on a node with GPUs, 0 on one without", low=0.0, high=64.0
    )
    gpus_per_learner: float | None = setting(
        None,
        "GPUs that each of the learner's actors asks for (learner.num_devices of them); 0 learns on CPUs; none learns"
        " in the process of the command, without an actor",
        low=0.0,
        high=1.0,
    )
    cpus_per_learner: int = setting(
        1, "CPUs that each of the learner's actors asks for; with 0 it shares them with others", low=0, high=256
    )
    num_raters: int = setting(
        0,
        "actors that play the rating games, while the learner continues; 0 plays them in the process of the command,"
        " while the learner waits",
        low=0,
        high=64,
    )
    cpus_per_rater: int = setting(1, "CPUs that a rater asks for; with 0 it shares them with others", low=0, high=256)
    gpus_per_rater: float = setting(0.0, "GPUs that a rater asks for", low=0.0, high=1.0)
    max_staleness: int = setting(
        4096,
        "a game is refused if the network of its last search is more learner steps behind the learner than this",
        low=1,
    )
    verify: bool = setting(
        False,
        "whether every received game is replayed through the rules before it counts; otherwise actors are trusted",
    )
    silence_seconds: float = setting(
        300.0, "an actor is ended and replaced after so many seconds without an answer, or without playing", low=1.0
    )

    def __post_init__(self) -> None:
        check(self, "cluster")
