"""Tables of exact results: games by other means, endings as Syzygy tables have them, files, searches with tables."""

from __future__ import annotations

import functools
import json
import operator
import os
import random
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from games_for_tests import DoubleMove
from syzygy_for_tests import PLACE, needs_tables, random_fen
from zerosum._core import ResultTable, Search
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, State, adopt, make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.result_tables import make_table, open_tables, read_table, table_endings, write_table
from zerosum.search.syzygy import open_syzygy

CHESS, TICTACTOE = make("chess"), make("tictactoe")
CONFIG = SearchConfig(num_simulations=20, root_noise_fraction=0.0, root_noise_alpha=1.0)
OTHER_ENDINGS = os.environ.get("ZEROSUM_TABLE_ENDINGS", "").split()
"""Larger endings to compare with Syzygy tables, such as "KBNvK KQvKR"; each takes minutes and gigabytes."""


@functools.cache
def three_men() -> ResultTable:
    """KPvK and all to which it leads: KQvK, KRvK. It takes two seconds, once."""
    return make_table(CHESS, endings=["KPvK"])


def open_states(game: Rules) -> list[State]:
    """All positions of a game that are not over, each once."""
    found, waiting = dict[str, State](), [game.initial_state()]
    while waiting:
        state = waiting.pop()
        if game.outcome(state) is None and (key := f"{game.draw(state)} {game.player(state)}") not in found:
            found[key] = state
            waiting += [game.play(state, action) for action in game.legal_actions(state)]
    return list(found.values())


def heaps_of(game: Rules, state: State) -> list[int]:
    """The number of free squares in each row."""
    columns, heaps = game.spec.board_shape[1], dict[int, int]()
    for action in game.legal_actions(state):
        heaps[action // columns] = heaps.get(action // columns, 0) + 1
    return list(heaps.values())


@pytest.mark.parametrize("is_misere", [False, True])
def test_nim_is_arithmetic(is_misere: bool) -> None:
    """The player to move wins if the sum of the heaps without carrying is not zero (Bouton 1901).

    In misère play this holds while a heap has two objects.
    """
    game = make(f"nim(heaps=1-3-5-7, misere={str(is_misere).lower()})")
    table, states = make_table(game), open_states(game)
    assert len(table) == len(states)
    for state in states:
        heaps = heaps_of(game, state)
        is_won = functools.reduce(operator.xor, heaps) != 0
        if is_misere and max(heaps) == 1:
            is_won = not is_won
        plies = table.get(game, state)
        assert plies is not None and (plies > 0) == is_won and plies != 0
        # Each move takes one object at least.
        assert abs(plies) <= sum(heaps)


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@functools.cache
def minimax(own: frozenset[int], opponent: frozenset[int]) -> int:
    """Tic-tac-toe for the player to move: 10 less the plies to its win, the opposite for a loss, 0 for a draw."""
    if any(set(line) <= opponent for line in LINES):
        return -10
    free = set(range(9)) - own - opponent
    values = [-minimax(opponent, own | {square}) for square in free]
    best = max(values, default=0)
    return best - (best > 0) + (best < 0)


def test_tictactoe_is_minimax() -> None:
    table, num_states = make_table(TICTACTOE), 0
    waiting: list[tuple[State, frozenset[int], frozenset[int]]] = [
        (TICTACTOE.initial_state(), frozenset(), frozenset())
    ]
    seen = set()
    while waiting:
        state, own, opponent = waiting.pop()
        if TICTACTOE.outcome(state) is not None:
            assert table.get(TICTACTOE, state) is None
            continue
        if (own, opponent) in seen:
            continue
        seen.add((own, opponent))
        value = minimax(own, opponent)
        assert table.get(TICTACTOE, state) == (10 - value if value > 0 else -10 - value if value < 0 else 0)
        num_states += 1
        after = [(TICTACTOE.play(state, action), opponent, own | {action}) for action in TICTACTOE.legal_actions(state)]
        waiting += after
    assert len(table) == num_states == 4520


def compare_with_syzygy(table: ResultTable, name: str, num_positions: int) -> None:
    syzygy, rng, results = open_syzygy(str(PLACE)), random.Random(name), set[int]()
    for _ in range(num_positions):
        state = CHESS.parse_position(fen := random_fen(rng, name))
        if CHESS.outcome(state) is not None:
            continue
        wdl, plies = syzygy.wdl(CHESS, state), table.get(CHESS, state)
        assert wdl is not None and plies is not None, fen
        # A win that the fifty-move rule makes a draw (1) is one in the table.
        assert (wdl > 0) - (wdl < 0) == (plies > 0) - (plies < 0), fen
        results.add(wdl)
    assert {-2, 2} <= results


@needs_tables
@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KPvK"])
def test_three_men_are_as_syzygy_says(name: str) -> None:
    compare_with_syzygy(three_men(), name, 300)


@needs_tables
@pytest.mark.skipif(not OTHER_ENDINGS, reason="no endings in ZEROSUM_TABLE_ENDINGS")
def test_other_endings_are_as_syzygy_says() -> None:
    """Endings with pawns of both sides have captures en passant."""
    for name in OTHER_ENDINGS:
        compare_with_syzygy(make_table(CHESS, endings=[name], memory_mib=16_384), name, 20_000)


def test_mirror_images_and_colours_are_one_position() -> None:
    table = three_men()
    won = ["8/8/8/4k3/8/4K3/4P3/8 b - - 0 1", "8/8/8/3k4/8/3K4/3P4/8 b - - 0 1", "8/3p4/3k4/8/3K4/8/8/8 w - - 0 1"]
    of = [table.get(CHESS, CHESS.parse_position(fen)) for fen in won]
    assert of[0] is not None and of[0] < 0 and of == [of[0]] * 3
    assert table.get(CHESS, CHESS.parse_position(won[0].replace(" b ", " w "))) == 0
    # Promotions lead to endings that are there, too.
    assert table.get(CHESS, CHESS.parse_position("8/8/8/4k3/8/8/3Q4/3K4 w - - 0 1"))
    assert table.get(CHESS, CHESS.initial_state()) is None
    assert table.get(CHESS, CHESS.parse_position("8/8/8/3k4/8/8/3P4/4K2R w K - 0 1")) is None


def searched(game: Rules, state: State, tables: Sequence[Path], config: SearchConfig = CONFIG) -> Search:
    search = new_search(game, replace(config, table_files=os.pathsep.join(map(str, tables))))
    search.reset(0, state)
    search.begin(0, config.num_simulations)
    while not len(search.finished()):
        answer(search, UniformEvaluator(), 1)
    return search


def test_a_search_wins_by_the_shortest_line(tmp_path: Path) -> None:
    """The evaluator knows nothing; against the longest resistance the win takes as many plies as the table says."""
    table, path = three_men(), tmp_path / "chess.table"
    write_table(path, CHESS, table, endings=["KPvK"])
    assert table_endings(path) == ["KPvK"]
    state = CHESS.parse_position("8/8/8/3k4/8/8/8/K6R w - - 0 1")
    expected, num_plies = table.get(CHESS, state), 0
    while CHESS.outcome(state) is None:
        root = searched(CHESS, state, [path]).root(0)
        assert root.proven == (1 if num_plies % 2 == 0 else -1) and root.best_action is not None
        state, num_plies = CHESS.play(state, root.best_action), num_plies + 1
    assert (CHESS.ending(state), num_plies) == ("checkmate", expected)


def test_positions_in_the_tree_are_proven(tmp_path: Path) -> None:
    write_table(path := tmp_path / "t.table", TICTACTOE, make_table(TICTACTOE))
    search = searched(TICTACTOE, TICTACTOE.initial_state(), [path])
    # The root is drawn, and so are its moves, which are searched once each.
    assert search.root(0).proven == 0 and search.num_table_hits > 0
    bare = searched(TICTACTOE, TICTACTOE.initial_state(), [])
    assert bare.root(0).proven is None and bare.num_table_hits == 0


def test_a_draw_is_kept_and_losing_moves_are_known(tmp_path: Path) -> None:
    """Black has two corners and White the centre: a third corner loses."""
    write_table(path := tmp_path / "t.table", TICTACTOE, make_table(TICTACTOE))
    state = TICTACTOE.initial_state()
    for action in (0, 4, 8):
        state = TICTACTOE.play(state, action)
    root = searched(TICTACTOE, state, [path]).root(0)
    lower = dict(zip(root.actions.tolist(), root.upper.tolist(), strict=True))
    assert {action for action, upper in lower.items() if upper == -1} == {2, 6}
    assert root.best_action in {1, 3, 5, 7}


def test_the_fifty_move_rule_may_come_first(tmp_path: Path) -> None:
    write_table(path := tmp_path / "chess.table", CHESS, three_men(), endings=["KPvK"])
    for clock, is_proven in ((60, True), (95, False)):
        state = CHESS.parse_position(f"8/8/8/3k4/8/8/8/K6R w - - {clock} 80")
        assert (searched(CHESS, state, [path]).root(0).proven == 1) == is_proven


def test_files_come_back_and_are_read_once(tmp_path: Path) -> None:
    table = make_table(TICTACTOE)
    write_table(path := tmp_path / "t.table", TICTACTOE, table)
    found = read_table(path, TICTACTOE)
    assert np.array_equal(found.keys, table.keys) and np.array_equal(found.plies, table.plies)
    assert not found.is_of_endings
    assert open_tables(str(path), TICTACTOE)[0] is open_tables(str(path), make("tictactoe"))[0]
    assert [file.name for file in tmp_path.iterdir()] == ["t.table"]
    # Options of planes and history do not change endings.
    write_table(path, CHESS, three_men(), endings=["KPvK"])
    assert read_table(path, make("chess(history=1)")).is_of_endings


def changed_header(content: bytes, **changes: object) -> bytes:
    line, columns = content.split(b"\n", 1)
    return json.dumps(json.loads(line) | changes).encode() + b"\n" + columns


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.table"
    write_table(path, TICTACTOE, make_table(TICTACTOE))
    good = path.read_bytes()
    columns = good.split(b"\n", 1)[1]
    unordered = columns[8:16] + columns[:8] + columns[16:]
    cases = {
        b"": "is not a table of results",
        b"no table": "is not a table of results",
        b"[" * 60_000: "is not a table of results",
        b"{}\n": "is not a table of results",
        b"\xff\xfe\n": "is not a table of results",
        changed_header(good, version=2): "or of another version",
        changed_header(good, positions="many"): "is not a table of results",
        changed_header(good, positions=-1): "is not a table of results",
        changed_header(good, positions=10**15): "bytes, expected 10,000,000,000,000,",
        changed_header(good, endings=None): "is not a table of results",
        changed_header(good, game="nim"): "is a table of nim, rules 1, not of tictactoe, rules 1",
        changed_header(good, rules=99): "rules 99, not of tictactoe, rules 1",
        good[:-1]: "bytes, expected",
        good + b"x": "bytes, expected",
        good[:-1] + b"\x55": "its checksum is another",
        changed_header(good.replace(columns, unordered), crc32=zlib.crc32(unordered)): "key 1 is not above",
    }
    for content, words in cases.items():
        path.write_bytes(content)
        with pytest.raises(DataError) as refused:
            read_table(path, TICTACTOE)
        assert words in str(refused.value) and "zerosum tables" in str(refused.value), (words, str(refused.value))
        assert "\n" not in str(refused.value)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        open_tables(str(tmp_path / "nothing"), TICTACTOE)
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_table(tmp_path, TICTACTOE)
    with pytest.raises(DataError, match="cannot be written: No such file"):
        write_table(tmp_path / "no" / "t.table", TICTACTOE, make_table(TICTACTOE))


def test_what_has_no_table_is_refused() -> None:
    for name, endings, words in (
        ("tictactoe", ("KQvK",), "tictactoe has no positions of KQvK, or all are drawn by its rules"),
        ("chess", ("KQQQvK",), "KQQQvK. is not an ending"),
        ("chess", (), "chess needs more than 1 MiB: [0-9]+ positions and [0-9]+ moves were found so far"),
        ("chess", ("KQvKR",), "KQvKR with the 3 endings below may need [0-9]+ MiB, and 1 MiB are allowed"),
        ("go9", (), "has no keys of positions"),
    ):
        with pytest.raises(SettingsError, match=words):
            make_table(make(name), endings=endings, memory_mib=1)
    with pytest.raises(SettingsError, match=r"search.rules is 'learned', but search.table_files"):
        SearchConfig(rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False, table_files="x.table")


def test_several_files_are_opened_and_changed_ones_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    one, other = tmp_path / "one.table", tmp_path / "other.table"
    write_table(one, CHESS, three_men(), endings=["KPvK"])
    write_table(other, CHESS, make_table(CHESS, endings=["KRvK"]), endings=["KRvK"])
    assert [len(table) for table in open_tables("", CHESS)] == []
    first, second = open_tables(os.pathsep.join(["", str(one), "~/other.table", ""]), CHESS)
    assert len(first) == len(three_men()) > len(second) > 0
    assert table_endings(other) == ["KRvK"]
    write_table(other, TICTACTOE, make_table(TICTACTOE))
    os.utime(other, (1, 1))
    assert table_endings(other) == []
    assert len(read_table(other, TICTACTOE)) == 4520
    with pytest.raises(DataError, match="is a table of tictactoe"):
        read_table(other, CHESS)
    with pytest.raises(DataError, match="is a table of chess"):
        read_table(one, TICTACTOE)


def test_the_memory_of_a_table_is_counted_in_mebibytes() -> None:
    """An ending says how many it may need: with so many it is made, and with one less it is not."""
    with pytest.raises(SettingsError) as refused:
        make_table(CHESS, endings=["KRvK"], memory_mib=1)
    need = int(re.findall("([0-9]+) MiB", str(refused.value))[0])
    assert need > 1
    assert len(make_table(CHESS, endings=["KRvK"], memory_mib=need)) > 20_000
    with pytest.raises(SettingsError, match=rf"{need - 1} MiB are allowed"):
        make_table(CHESS, endings=["KRvK"], memory_mib=need - 1)


def test_a_table_of_nothing_has_no_positions(tmp_path: Path) -> None:
    """Its checksum is 0, as any table's may be."""
    write_table(path := tmp_path / "t.table", TICTACTOE, make_table(TICTACTOE))
    line, _ = changed_header(path.read_bytes(), positions=0, crc32=0).split(b"\n", 1)
    path.write_bytes(line + b"\n")
    assert len(read_table(path, TICTACTOE)) == 0


def test_a_games_table_in_python_is_refused() -> None:
    with pytest.raises(SettingsError, match="is a game in Python"):
        make_table(adopt(DoubleMove()))
