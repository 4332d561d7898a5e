"""The opponents of a ladder: players of ours, which need nothing installed, and engines that are free to install.

`data/ladders.toml` lists the engines of each game, their limits, and what is known of all opponents. Limits are nodes,
depth or level, never time, so that opponents are as strong on a busy machine as on an idle one.
"""

from __future__ import annotations

import functools
import math
import shlex
import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from zerosum.contest.mover import Terms
from zerosum.contest.ratings import PairScore, Prior
from zerosum.games import Rules, measure_game
from zerosum.games.rules import rules_name, with_usual_encoding
from zerosum.play.contestant import ALPHA_BETA, RANDOM, ROLLOUTS, Contestant, ProgramContestant
from zerosum.play.engines.known_engines import KnownEngine, known_engines
from zerosum.play.own_contestants import parse_player

DEPTHS = (1, 2, 3, 4, 5, 6, 8)
"""Depths of alpha-beta, as far as a move takes no more than about `MOST_NODES`."""
MOST_NODES = 30_000
ROLLOUT_COUNTS = (10, 30, 100, 300, 1000)
"""Simulations of rollouts, as far as a player's moves in a game take no more random plies than `MOST_PLIES`."""
MOST_PLIES = 5_000_000
SLOWER_IN_PYTHON = 100
"""How many times slower rules in Python are, about; our own opponents get as much less work there."""


OWN_DEVIATION = 400.0
"""Standard deviation of the prior of our own opponents in a game that was not measured."""


@dataclass(frozen=True)
class Rung:
    """A player of a ladder, whose strength does not change, with what is known of it before its contestant plays."""

    name: str
    """For a player of ours, the words of `parse_player`."""
    prior: Prior = Prior()
    engine: str = ""
    """One of `zerosum.play.engines.known_engines`, by name; "" is a player of ours, without the fields that follow."""
    arguments: str = ""
    """Arguments of its command line."""
    options: tuple[tuple[str, str], ...] = ()
    """(name, value) in its protocol, besides those that the engine always has."""
    nodes: int | None = None
    depth: int | None = None

    def missing(self, game: Rules) -> str:
        """How to install what it needs, as a sentence; "" if it can play."""
        if not self.engine:
            return ""
        known = _known(self.engine, game)
        return "" if known.is_installed else known.how_to_install

    def contestant(self, game: Rules, *, seed: int) -> Contestant:
        """The player. Equal seeds give equal random moves."""
        if not self.engine:
            return parse_player(self.name, game, seed=seed)
        command = _known(self.engine, game).command
        command = replace(
            command,
            argv=(*command.argv, *shlex.split(self.arguments)),
            options=tuple({**dict(command.options), **dict(self.options)}.items()),
            name=self.name,
        )
        return ProgramContestant(self.name, command, terms=Terms(nodes=self.nodes, depth=self.depth))


def _known(name: str, game: Rules) -> KnownEngine:
    return next(engine for engine in known_engines(game) if engine.name == name)


def rungs_of(game: Rules) -> list[Rung]:
    """All opponents of a game, installed or not; random play, the zero of the scale, comes first."""
    own = [Rung(RANDOM.name)]
    slowness = SLOWER_IN_PYTHON if game.is_python else 1
    size = measure_game(game)
    own += [
        Rung(f"{ALPHA_BETA}@{depth}", Prior(200 + 150 * depth, OWN_DEVIATION))
        for depth in DEPTHS
        # Nodes of alpha-beta if the best move is always tried first (Knuth and Moore 1975).
        if size.legal_actions ** ((depth + 1) / 2) * slowness <= MOST_NODES or depth == 1
    ]
    own += [
        Rung(f"{ROLLOUTS}@{count}", Prior(450 * math.log10(count), OWN_DEVIATION))
        for count in ROLLOUT_COUNTS
        # Half of the plies are its moves, and a random game lasts half of the game on average.
        if count * size.plies**2 / 4 * slowness <= MOST_PLIES or count == ROLLOUT_COUNTS[0]
    ]
    return own + [_rung(table) for table in _data()["rungs"] if rules_name(game) in table["games"]]


def known_scores(game: Rules) -> list[PairScore]:
    """Packaged results of the opponents of a game, by exactly its rules, against each other."""
    name = with_usual_encoding(game).spec.full_name
    return [
        PairScore(first, second, wins, draws, losses)
        for table in _data().get("results", [])
        if table["game"] == name
        for first, second, wins, draws, losses in table["scores"]
    ]


def _rung(table: dict[str, Any]) -> Rung:
    return Rung(
        table["name"],
        prior=Prior(table["elo"], table["deviation"]) if "elo" in table else Prior(),
        engine=table["engine"],
        arguments=table.get("arguments", ""),
        options=tuple(table.get("options", {}).items()),
        nodes=table.get("nodes"),
        depth=table.get("depth"),
    )


@functools.cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files("zerosum").joinpath("data/ladders.toml").read_text(encoding="utf-8"))
