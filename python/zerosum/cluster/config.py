"""The settings of self-play on a cluster: `ClusterConfig`."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.base.settings import check, setting


@dataclass(frozen=True)
class ClusterConfig:
    """How self-play is spread over a cluster, and which games count. Only `zerosum train --cluster` reads it."""

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
    max_staleness: int = setting(
        4096,
        "a game is refused if the network of its last search is more learner steps behind the learner than this",
        low=1,
    )
    verify_share: float | None = setting(
        None,
        "share of the received games whose searches are repeated with the networks that they name; with 0 every game is"
        " still replayed through the rules; none trusts the actors",
        low=0.0,
        high=1.0,
    )
    silence_seconds: float = setting(
        300.0, "an actor is ended and replaced after so many seconds without an answer, or without playing", low=1.0
    )

    def __post_init__(self) -> None:
        check(self, "cluster")
