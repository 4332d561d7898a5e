"""HCPE3, dlshogi's training data: positions, moves, visits and results reach the records, and damage is refused."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commands_for_tests import Command
from zerosum.games import make
from zerosum.notation.centipawns import coefficient_of, value_of
from zerosum.notation.shogi_position import START, ShogiPosition
from zerosum.replay.game_store import GameStore
from zerosum.run import hcpe3
from zerosum.run.game_import import ImportCounts, import_games

SHOGI = make("shogi")
INITIAL = bytes.fromhex("58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49210c")
"""The initial position as cshogi packs it."""
PACKED = {
    "1ngrk1b2/6sg1/s2+Ppp1pl/4P4/1P3P2p/2p6/1GN+pL2P+b/+p2S+n1S1L/3K2G1P b LPrn4p": (
        "6a2426e57b086f21f8dac0f250025430dcfe247a79a10e2e84073668082439ff"
    ),
    "s1g1g2n1/3krb1l1/2n5l/4p1p2/l1pp1psp1/Pp2P4/N1P2PPPp/LB1P1GSRP/1P2K4 b gsnp": (
        "582e2654b8264afc406d62e18b128ff74f095084d7a504a07cc486298e0167bd"
    ),
    "1nlr2+P1p/l1n2+P+P2/7k1/g1p1+NPp2/G3p4/1K1pP1gg1/LpbP3PS/5p1S1/SN3Sb2 b RLP3p": (
        "888b020bf0c6225379f99202b5e0acc01f54305d8a2f2e2887c9fb182c083f92"
    ),
}
"""Positions of random games, and how cshogi packs them."""


def packed_move(text: str) -> int:
    """A move in USI, as the files have it: the twin of the reader."""

    def square(name: str) -> int:
        return 9 * (int(name[0]) - 1) + "abcdefghi".index(name[1])

    if text[1] == "*":
        return (80 + "PLNSBRG".index(text[0]) + 1) << 7 | square(text[2:])
    return square(text[2:4]) | square(text[:2]) << 7 | (text[4:] == "+") << 14


Searched = tuple[str, int, dict[str, int]]
"""A move, its evaluation, and the visits of the candidates."""


def packed_game(moves: Sequence[Searched], *, result: int, start: bytes = INITIAL) -> bytes:
    data = start + struct.pack("<HBB", len(moves), result, 0)
    for text, centipawns, visits in moves:
        data += struct.pack("<HhH", packed_move(text), centipawns, len(visits))
        for candidate, count in visits.items():
            data += struct.pack("<HH", packed_move(candidate), count)
    return data


def random_moves(seed: int, *, plies: int = 120) -> list[Searched]:
    rng, state, moves = random.Random(seed), SHOGI.initial_state(), list[Searched]()
    while len(moves) < plies and (legal := SHOGI.legal_actions(state)):
        texts = [SHOGI.action_text(state, action) for action in rng.sample(legal, min(4, len(legal)))]
        moves.append((texts[0], rng.randrange(-2000, 2000), {text: rng.randrange(1, 500) for text in texts}))
        state = SHOGI.play(state, SHOGI.parse_action(state, texts[0]) or 0)
    return moves


def import_bytes(data: bytes, folder: Path) -> tuple[ImportCounts, list[str]]:
    said: list[str] = []
    (folder / "games.hcpe3").write_bytes(data)
    counts = import_games([folder / "games.hcpe3"], folder / "run", complain=said.append)
    return counts, said


@pytest.mark.parametrize(("sfen", "packed"), PACKED.items())
def test_positions_are_those_that_cshogi_packed(sfen: str, packed: str) -> None:
    assert hcpe3.position_of(bytes.fromhex(packed)).sfen() == f"{sfen} 1"


def test_the_initial_position_needs_no_start() -> None:
    (record,) = hcpe3.parse([packed_game([("7g7f", 50, {})], result=1)])
    assert hcpe3.position_of(INITIAL).sfen() == START and record.start == ""


def test_random_positions_and_moves_agree_with_cshogi() -> None:
    cshogi = pytest.importorskip("cshogi")
    rng, board, packed = random.Random(5), cshogi.Board(), np.empty(1, cshogi.HuffmanCodedPos)
    for _ in range(100):
        board.reset()
        for _ in range(rng.randrange(250)):
            if not (legal := list(board.legal_moves)):
                break
            board.push(rng.choice(legal))
        board.to_hcp(packed)
        sfen = ShogiPosition.from_sfen(board.sfen())
        sfen.number = 1
        assert hcpe3.position_of(packed.tobytes()).sfen() == sfen.sfen()
        texts = {cshogi.move16(move): cshogi.move_to_usi(move) for move in board.legal_moves}
        assert {number: packed_move(text) for number, text in texts.items()} == {number: number for number in texts}


@pytest.mark.parametrize(
    ("result", "outcome", "ending"),
    [
        (0, 0.0, ""),
        (1, 1.0, ""),
        (2, -1.0, ""),
        (4, 0.0, "fourfold repetition"),
        (10, -1.0, "declaration"),
        (16, 0.0, "ply cap"),
    ],
)
def test_results(result: int, outcome: float, ending: str) -> None:
    (record,) = hcpe3.parse([packed_game(random_moves(0, plies=3), result=result)])
    assert (record.result, record.ending) == (outcome, ending)


def test_visits_and_evaluations_are_learned(tmp_path: Path) -> None:
    games = [random_moves(seed) for seed in range(3)]
    games[0][1] = (games[0][1][0], 900, {})  # a move without a search
    counts, said = import_bytes(b"".join(packed_game(game, result=1) for game in games), tmp_path)
    assert said == [] and counts.num_games == 3 and counts.num_evaluated == sum(map(len, games)) - 1
    store = GameStore(tmp_path / "run" / "records", report=said.append)
    records, coefficient = list(store.recent(1 << 60)), coefficient_of("shogi")
    store.close()
    for moves, record in zip(games, records, strict=True):
        state = SHOGI.initial_state()
        for ply, (text, centipawns, visits) in enumerate(moves):
            begin, end = record.target_offsets[ply : ply + 2]
            target = record.targets[begin:end]
            found = {
                SHOGI.action_text(state, int(action)): float(share)
                for action, share in zip(target["action"], target["probability"], strict=True)
            }
            assert found == pytest.approx(
                {move: count / sum(visits.values()) for move, count in visits.items()}, abs=1e-3
            )
            value = value_of(centipawns, coefficient) if visits else 0
            assert record.plies["search_value"][ply] == pytest.approx(value, abs=1e-3)
            state = SHOGI.play(state, SHOGI.parse_action(state, text) or 0)


def test_a_start_in_mid_game(tmp_path: Path) -> None:
    sfen, packed = next(iter(PACKED.items()))
    state = SHOGI.parse_position(f"{sfen} 1")
    text = SHOGI.action_text(state, SHOGI.legal_actions(state)[0])
    counts, said = import_bytes(packed_game([(text, 0, {text: 1})], result=1, start=bytes.fromhex(packed)), tmp_path)
    assert (counts.num_games, said) == (1, [])


WHOLE = packed_game(random_moves(1, plies=20), result=1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (WHOLE + WHOLE[:-1], "game 2: the file ends within the game"),
        (WHOLE + WHOLE[:20], "game 2: the file ends within the game"),
        (WHOLE[:34] + b"\x03" + WHOLE[35:], "game 1: the result is 3"),
        (packed_game([("5e5d", 0, {})], result=1), "game 1: '5e5d', move 1, is not legal here"),
        (packed_game([("7g7f", 0, {"7g7e": 3})], result=1), "game 1: the candidate 7g7e is not legal"),
        (b"\xff" * 32 + WHOLE[32:], "game 1: a king is on square 127"),
        (bytes(32) + b"\x01\x00\x01\x00" + bytes(6), "game 1: "),
        (WHOLE[:36] + b"\x7f" + WHOLE[37:], "game 1: the move"),
        (b"[Event]\n1. e4 e5 1-0\n" * 20, "game 1: "),
    ],
)
def test_damage_is_refused_with_its_game(data: bytes, reason: str, tmp_path: Path) -> None:
    counts, said = import_bytes(data, tmp_path)
    assert counts.num_games == (1 if data.startswith(WHOLE) else 0)
    assert len(said) == 1 and f"games.hcpe3, {reason}" in said[0] and "is not imported" in said[0]


def test_random_bytes_never_raise(tmp_path: Path) -> None:
    rng = random.Random(3)
    for _ in range(300):
        data = bytearray(WHOLE * 2)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        list(hcpe3.parse([bytes(data)]))
        list(hcpe3.parse([rng.randbytes(rng.randrange(400))]))


def test_pieces_of_any_size_are_read() -> None:
    whole = list(hcpe3.parse([WHOLE + WHOLE]))
    assert list(hcpe3.parse((WHOLE + WHOLE)[i : i + 1] for i in range(2 * len(WHOLE)))) == whole and len(whole) == 2


def test_the_command_line_reads_them(zero: Command, tmp_path: Path) -> None:
    (tmp_path / "games.hcpe3").write_bytes(WHOLE)
    answer = zero("import", tmp_path, "--run", tmp_path / "run")
    assert answer.status == 0 and "1 game imported from 1 file, 20 positions, 20 of them evaluated" in answer.out
