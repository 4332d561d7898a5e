"""Clients of engines with line protocols: one in this process, and one that sends random lines."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from zerosum.games import Rules, make
from zerosum.games.rules import Leaves, without_ply_cap
from zerosum.network.evaluators import Evaluations, Evaluator, UniformEvaluator
from zerosum.play.choice import choose_player
from zerosum.play.player import Player
from zerosum.protocols.line_engine import LineEngine
from zerosum.protocols.uci import UciEngine, UciSetup
from zerosum.protocols.usi import UsiEngine, UsiSetup
from zerosum.search import SearchConfig

ANSWERS = ("bestmove", "checkmate")


class FakeTime:
    """A clock that stands still but while an evaluator works."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class TimedEvaluator:
    """Uniform, a batch in a fixed time. Who holds its lock stops the time."""

    def __init__(self, time: FakeTime, seconds: float) -> None:
        self.time, self._seconds, self.lock = time, seconds, threading.Lock()

    def evaluate(self, leaves: Leaves) -> Evaluations:
        with self.lock:
            self.time.now_s += self._seconds
        return UniformEvaluator().evaluate(leaves)


class LineClient:
    """An engine in this process, and what it said."""

    def __init__(
        self,
        protocol: str,
        game: str,
        *,
        evaluator: Evaluator | None = None,
        clock: Callable[[], float] | None = None,
        weights: str | Path | None = None,
        overrides: Sequence[str] = (),
    ) -> None:
        self.said: list[str] = []
        self.loaded: list[str] = []

        def open_player(rules: Rules, path: Path | None, *, backend: str, say: Callable[[str], None]) -> Player:
            self.loaded.append(rules.spec.full_name)
            if path is not None:
                return choose_player(rules, path, backend=backend, say=say)
            say("Playing uniformly.")
            return Player(
                without_ply_cap(rules),
                evaluator or UniformEvaluator(),
                SearchConfig(num_simulations=40),
                name="uniform",
            )

        make_setup, make_engine = (UciSetup, UciEngine) if protocol == "uci" else (UsiSetup, UsiEngine)
        setup = make_setup(make(game), weights=weights, overrides=overrides, open_player=open_player)
        self.engine: LineEngine = make_engine(setup, write=self.said.append, clock=clock or time.monotonic)

    def tell(self, *lines: str) -> list[str]:
        """The output until all lines are processed; a search may go on."""
        before = len(self.said)
        for line in lines:
            self.engine.obey(line)
        return self.said[before:]

    def ask(self, *lines: str) -> list[str]:
        """The output until a search has ended, with or without an answer."""
        before = len(self.said)
        self.tell(*lines)
        self.wait()
        return self.said[before:]

    def answer(self, *lines: str) -> str:
        """The one answer."""
        (line,) = answers(self.ask(*lines))
        return line

    def wait(self) -> None:
        if self.engine._engine is not None:
            self.engine._engine.wait()

    @property
    def board(self) -> str:
        position = self.engine._position
        return position.game.draw(position.state)


def answers(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.split()[0] in ANSWERS]


def strings(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("info string ")]


def value_of(line: str, word: str) -> str:
    words = line.split()
    return words[words.index(word) + 1]


def noise(seed: int, count: int, words: Sequence[str], positions: Sequence[str]) -> Iterator[str]:
    """Lines out of order, with their words out of order, cut off, doubled, misspelt, or of no language."""
    draw = random.Random(seed)
    numbers = ("0", "1", "-1", "30", "9" * 30, "1e3", "0x10", "nan", "", "½", "1.5")
    junk = ("\0", "\t", "ö", "\x1b[2J", "豆", "x" * 300, "name", "value", "true", "\ufffd", "%s", "..", "mate mate")
    for _ in range(count):
        kind = draw.random()
        if kind < 0.25:
            line = draw.choice(positions)
        else:
            line = " ".join(draw.choices((*words, *numbers, *junk), k=draw.randint(0, 6)))
            if kind < 0.6:
                line = f"{draw.choice(words)} {line}"
        if draw.random() < 0.3 and line:
            at = draw.randrange(len(line))
            line = line[:at] + draw.choice(("", " ", "7", "\t", "e")) + line[at + draw.randint(0, 3) :]
        yield line


def fuzz(client: LineClient, lines: Iterator[str]) -> None:
    """Each `go` has one answer, whatever the input, and a refused line does not change the position."""
    commands, num_go = set(client.engine._commands), 0
    num_threads = threading.active_count()  # threads that earlier tests of this process left are not counted
    client.tell("setoption name Simulations value 20")
    for line in lines:
        word = next((word for word in line.split() if word in commands), "")
        if word in ("quit", "debug"):
            continue
        position = client.engine._position
        said = client.tell(line)
        num_go += word == "go"
        if word == "position" and client.engine._refusal:
            assert strings(said), line
            assert client.engine._position is position, line
        elif word in ("stop", "isready", "go", "ponderhit") or not line.strip():
            assert client.engine._position is position, line
    client.tell("stop", "stop")
    assert len(answers(client.said)) == num_go > 20
    assert client.tell("isready")[-1] == "readyok"
    assert not [line for line in client.said if "\n" in line]
    assert not [line for line in client.said if "Error:" in line], "a bug of ours, caught"
    assert threading.active_count() < num_threads + 10


__all__ = ["FakeTime", "LineClient", "TimedEvaluator", "answers", "fuzz", "noise", "strings", "value_of"]
