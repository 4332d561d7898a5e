"""An engine's answer as its protocol's client reads it, which `ExternalEngine` makes an `Answer` of a mover."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Thought


@dataclass(frozen=True)
class EngineAnswer:
    """An engine's answer; its moves are in the notation of its protocol and may be illegal."""

    move: str
    """A move, or another word of the protocol: "resign", "win"."""
    thought: Thought
    """The last that it reported, without lines; the seconds are those from the question to the answer, by our clock."""
    ponder: str = ""
    """Expected reply, to ponder on; "" if the engine named none."""
    lines: tuple[tuple[str, Score], ...] = ()
    """The moves that it compared (`MultiPV`) with their scores, the best first; empty if it reports one move."""
