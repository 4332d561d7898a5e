"""Peers of the search in benches: OpenSpiel's MCTS in C++, and mctx (JAX) with the games of pgx.

A peer runs in a separate process, in a Python that has it: `peer_process.py` is the other side. It gets the same
positions, number of simulations, priors (equal) and values (0) as this program's search.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError
from zerosum.bench.other_process import OtherProcess, open_process
from zerosum.games import Rules, openspiel
from zerosum.games.random_play import state_of

PEERS = {"openspiel": "OpenSpiel", "mctx": "mctx"}
"""Names of peers by the word after `--vs`."""

OPENSPIEL_GAMES = {
    "chess": "chess",
    "connect4": "connect_four",
    "go": "go(board_size=19)",
    "go(size=13)": "go(board_size=13)",
    "go(size=9)": "go(board_size=9)",
    "gomoku": "gomoku",
    "othello": "othello",
    "shogi": "shogi",
    "tictactoe": "tic_tac_toe",
}
"""OpenSpiel's names of games, by our full names; every `openspiel:NAME` is known as well."""

PGX_GAMES = {
    "chess": "chess",
    "connect4": "connect_four",
    "go": "go_19x19",
    "go(size=9)": "go_9x9",
    "othello": "othello",
    "shogi": "shogi",
    "tictactoe": "tic_tac_toe",
}
"""The names of pgx, by our full names."""

GIVEN_AS_TEXT = ("chess", "shogi")
"""Games whose actions the peers number in their own ways: positions travel as FEN or SFEN. Others travel as actions."""


@dataclass(frozen=True)
class SearchWork:
    """The searches to make."""

    lines: list[list[int]]
    """Moves that lead to the positions."""
    num_simulations: int
    c_init: float
    """The constant of PUCT."""
    solve: bool
    """Whether exact results are backed up, if the peer can."""


@contextmanager
def open_peer(
    peer: str, game: Rules, work: SearchWork, *, batch_size: int, python: str | None
) -> Iterator[OtherProcess]:
    """A prepared peer; `python` is the interpreter that has it, by default this one.

    Raises:
        SettingsError: the peer is not installed there, does not know the game, or would need too much memory.
    """
    request = {
        "game": _name_of(peer, game),
        "positions": [_position(game, line) for line in work.lines],
        "num_simulations": work.num_simulations,
        "c_init": work.c_init,
        "solve": work.solve,
        "batch_size": batch_size,
    }
    with tempfile.TemporaryDirectory() as directory:
        environment = {"JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off"}
        if peer == "openspiel":
            environment = {"LD_PRELOAD": str(_build_uniform_evaluator(Path(directory)))}
        command = [python or sys.executable, "-P", str(Path(__file__).with_name("peer_process.py")), peer]
        with open_process(command, request, name=PEERS[peer], **environment) as process:
            yield process


def _name_of(peer: str, game: Rules) -> str:
    name, games = game.spec.full_name, OPENSPIEL_GAMES if peer == "openspiel" else PGX_GAMES
    if peer == "openspiel" and name.startswith(openspiel.PREFIX):
        return name.removeprefix(openspiel.PREFIX)
    if name not in games:
        besides = f" and {openspiel.PREFIX}NAME" if peer == "openspiel" else ""
        raise SettingsError(
            f"{PEERS[peer]} does not know {name} as a game of its own, only {', '.join(games)}{besides}."
        )
    return games[name]


def _position(game: Rules, line: list[int]) -> dict[str, Any]:
    """A position for the other side, with the number of legal moves as a check."""
    state = state_of(game, line)
    where = {"text": game.position_text(state)} if game.spec.name in GIVEN_AS_TEXT else {"actions": line}
    return {**where, "num_legal": len(game.legal_actions(state))}


def _build_uniform_evaluator(directory: Path) -> Path:
    compiler, library = shutil.which("c++"), directory / "uniform_evaluator.so"
    if compiler is None:
        raise SettingsError(
            "a C++ compiler, 'c++', is needed to give OpenSpiel's search an evaluator without random games: install"
            " one, such as the package g++."
        )
    source = Path(__file__).with_name("uniform_evaluator.cc")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    return library
