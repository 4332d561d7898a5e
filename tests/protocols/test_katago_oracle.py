"""`kata-raw-nn` of KataGo and of `zerosum gtp` with the same network file, position by position.

It runs where two variables name them: ZEROSUM_KATAGO the command of KataGo in GTP with its network and configuration
(f32, `nnRandomize = false`), ZEROSUM_KATAGO_NETWORK the file of the same network, version 8 to 14.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gtp_client import Client
from zerosum.play.player import load_player

COMMAND, NETWORK = os.environ.get("ZEROSUM_KATAGO", ""), os.environ.get("ZEROSUM_KATAGO_NETWORK", "")
RULES = ("tromp-taylor", "chinese", "japanese", "aga", "new-zealand")
PLIES_ASKED = (4, 17, 40, 75, 110, 150)
COLUMNS = "ABCDEFGHJKLMNOPQRST"


@dataclass(frozen=True)
class Output:
    """What a network says of a position, for White."""

    numbers: dict[str, float]
    policy: NDArray[np.float64]
    """[points + 1], NaN where illegal."""
    ownership: NDArray[np.float64]

    @classmethod
    def parse(cls, answer: str, size: int) -> Output:
        lines = [line.split() for line in answer.removeprefix("=").split("\n") if line.strip()]
        numbers = {line[0]: float(line[1]) for line in lines if len(line) == 2}
        names = [line[0] for line in lines]

        def board(name: str) -> NDArray[np.float64]:
            first = names.index(name) + 1
            return np.array([line[:size] for line in lines[first : first + size]], float).reshape(-1)

        return cls(numbers, np.append(board("policy"), numbers["policyPass"]), board("whiteOwnership"))


class KataGo:
    """A process of KataGo."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            shlex.split(COMMAND), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, command: str) -> str:
        """The answer of any number of lines; it ends with an empty one."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        lines = list[str]()
        while line := self._process.stdout.readline().rstrip("\n"):
            lines.append(line)
        assert lines, f"KataGo has ended: {command}"
        return "\n".join(lines)

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


@pytest.fixture(scope="module")
def katago() -> Iterator[KataGo]:
    program = KataGo()
    yield program
    program.close()


@pytest.mark.skipif(not (COMMAND and NETWORK), reason="ZEROSUM_KATAGO and ZEROSUM_KATAGO_NETWORK name no KataGo")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("size", [7, 9, 13, 19])
@pytest.mark.parametrize("rules", RULES)
def test_outputs_are_those_of_katago(katago: KataGo, size: int, rules: str) -> None:
    """Games whose moves are drawn from KataGo's policy and, half of them, at random among its legal moves."""
    draw, ours = random.Random(f"{size} {rules}"), Client(choose=lambda game: load_player(Path(NETWORK), game=game))
    komi = draw.choice([7.5, 6.5, 0.5, -4.5, 7.0, 20.5])
    begin = [f"boardsize {size}", f"kata-set-rules {rules}", "clear_board", f"komi {komi}"]
    # Our rules have one set of words for each of KataGo's names, without its bonus for handicap stones.
    for command in (*begin, "kata-set-rule friendlyPassOk false", "kata-set-rule whiteHandicapBonus 0"):
        assert katago.ask(command).startswith("="), command
    for command in begin:
        ours.ask(command)
    num_asked = 0
    for ply in range(max(PLIES_ASKED) + 1):
        theirs = Output.parse(katago.ask("kata-raw-nn 0"), size)
        if ply in PLIES_ASKED:
            mine = Output.parse(ours.ask("kata-raw-nn 0"), size)
            for name in ("whiteWin", "whiteLoss", "noResult"):
                assert mine.numbers[name] == pytest.approx(theirs.numbers[name], abs=1e-4), (ply, name)
            assert mine.numbers["whiteLead"] == pytest.approx(theirs.numbers["whiteLead"], abs=0.01), ply
            is_legal = ~np.isnan(theirs.policy)
            assert not np.isnan(mine.policy[is_legal]).any(), f"ply {ply}"
            # KataGo never allows the suicide of a single stone, which only situational superko leaves legal here.
            assert rules == "new-zealand" or np.isnan(mine.policy[~is_legal]).all(), f"ply {ply}"
            policy = mine.policy[is_legal] / mine.policy[is_legal].sum()
            np.testing.assert_allclose(policy, theirs.policy[is_legal], atol=1e-3, err_msg=f"policy, ply {ply}")
            np.testing.assert_allclose(mine.ownership, theirs.ownership, atol=1e-3, err_msg=f"owners, ply {ply}")
            num_asked += 1
        points = np.flatnonzero(~np.isnan(theirs.policy[:-1]))
        if not len(points):
            break
        weights = theirs.policy[points] if draw.random() < 0.5 else np.ones(len(points))
        point = int(draw.choices(points.tolist(), (weights + 1e-9).tolist())[0])
        move = f"play {'bw'[ply % 2]} {COLUMNS[point % size]}{size - point // size}"
        assert katago.ask(move).startswith("="), move
        if not ours.send(move).startswith("="):
            break  # the end of our game, such as its limit of plies
    assert num_asked >= 3  # a game on a small board may end before the last plies
