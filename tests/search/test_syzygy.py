"""Syzygy tables: values as python-chess reads them, proven nodes, won wins, the fifty-move rule, and bad files."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from syzygy_for_tests import PLACE, constant_file, needs_tables, random_fen
from updatable_for_tests import random_updatable, saved
from zerosum._core import DeepeningSearch, Search, Syzygy
from zerosum.base.errors import GameError, SettingsError, ZerosumError
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.network.evaluators.updatable import value_of
from zerosum.play.contestant import ProgramContestant
from zerosum.play.entries import Entry, enter
from zerosum.play.player import load_player
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.syzygy import NAMED_ENDINGS, describe_syzygy, num_endings, open_syzygy

CHESS = make("chess")
NUM_POSITIONS = int(os.environ.get("ZEROSUM_SYZYGY_POSITIONS", "1000"))
"""Positions that are compared; 10,000 take a minute."""
CONFIG = SearchConfig(num_simulations=20, root_noise_fraction=0.0, root_noise_alpha=1.0)


def tables_of(folder: Path, *names: str, value: int = 4) -> Path:
    """A folder with constant tables."""
    folder.mkdir(exist_ok=True)
    for name in names:
        for ending in (".rtbw", ".rtbz"):
            (folder / f"{name}{ending}").write_bytes(constant_file(name, ending, value))
    return folder


def searched(fen: str, folder: Path | str, config: SearchConfig = CONFIG) -> Search:
    """The search of a position with tables, at its end."""
    search = new_search(CHESS, replace(config, syzygy_path=str(folder)))
    search.reset(0, CHESS.parse_position(fen))
    search.begin(0, config.num_simulations)
    while not len(search.finished()):
        answer(search, UniformEvaluator(), 1)
    return search


def text_of(fen: str, action: int | None) -> str:
    assert action is not None
    return CHESS.action_text(CHESS.parse_position(fen), action)


@needs_tables
def test_values_are_those_of_python_chess() -> None:
    """Each table as often as the others, with en passant, both colours, and either side to move."""
    chess, oracle_of = pytest.importorskip("chess"), pytest.importorskip("chess.syzygy")
    tables, rng = Syzygy([PLACE]), random.Random(1)
    results, num_en_passant = set(), 0
    with oracle_of.open_tablebase(str(PLACE)) as oracle:
        for number in range(NUM_POSITIONS):
            fen = random_fen(rng, tables.endings[number % len(tables.endings)][0])
            board, state = chess.Board(fen), CHESS.parse_position(fen)
            expected = oracle.probe_wdl(board), oracle.probe_dtz(board)
            assert (tables.wdl(CHESS, state), tables.dtz(CHESS, state)) == expected, fen
            results.add(expected[0])
            num_en_passant += board.has_legal_en_passant()
    assert results == {-2, 0, 2} and num_en_passant > NUM_POSITIONS // 500


@needs_tables
def test_values_follow_from_those_of_the_moves() -> None:
    """Without another reader: a result is the best over all moves, and a win comes nearer."""
    tables, rng = Syzygy([PLACE]), random.Random(2)
    for number in range(200):
        state = CHESS.parse_position(random_fen(rng, tables.endings[number % len(tables.endings)][0]))
        results, distances = [], []
        for action in CHESS.legal_actions(state, past_soft_endings=True):
            after = CHESS.play(state, action)
            if CHESS.legal_actions(after, past_soft_endings=True):
                results.append(-(tables.wdl(CHESS, after) or 0))
                distances.append((-(tables.dtz(CHESS, after) or 0), action))
            else:
                results.append(2 if CHESS.outcome(after) else 0)
                distances.append((0, action))
        assert tables.wdl(CHESS, state) == max(results)
        if max(results) == 2 and (own := tables.dtz(CHESS, state)) != 1:
            assert min(plies for plies, _ in distances if plies > 0) in (own - 1, own)


@needs_tables
@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KPvK", "KBNvK", "KQvKR"])
def test_a_win_is_won_against_the_longest_defence(name: str) -> None:
    """The search has few simulations and an evaluator that knows nothing."""
    tables, rng = open_syzygy(str(PLACE)), random.Random(name)
    search = new_search(CHESS, replace(CONFIG, syzygy_path=str(PLACE)))
    for _ in range(3):
        state = CHESS.parse_position(random_fen(rng, name))
        while tables.wdl(CHESS, state) != 2:
            state = CHESS.parse_position(random_fen(rng, name))
        winner, num_plies = CHESS.player(state), 0
        while CHESS.outcome(state) is None:
            if CHESS.player(state) == winner:
                search.reset(0, state)
                search.begin(0, CONFIG.num_simulations)
                while not len(search.finished()):
                    answer(search, UniformEvaluator(), 1)
                root = search.root(0)
                assert root.proven == 1 and root.best_action is not None
                action = root.best_action
            else:
                after = [(tables.dtz(CHESS, CHESS.play(state, move)) or 0, move) for move in CHESS.legal_actions(state)]
                action = max(after)[1]
            state, num_plies = CHESS.play(state, action), num_plies + 1
        assert CHESS.outcome(state) == (1 if winner == 0 else -1), CHESS.ending(state)
        assert num_plies < 150


@needs_tables
@pytest.mark.parametrize("name", ["KQvK", "KBNvK"])
def test_an_alpha_beta_search_wins_by_tables(name: str) -> None:
    """It counts material alone, and at the root it has no move but the best by the tables."""
    tables, rng = open_syzygy(str(PLACE)), random.Random(name)
    search, state = DeepeningSearch(CHESS, syzygy=tables), CHESS.initial_state()
    while tables.wdl(CHESS, state) != 2:
        state = CHESS.parse_position(random_fen(rng, name))
    winner, num_plies = CHESS.player(state), 0
    while CHESS.outcome(state) is None:
        if CHESS.player(state) == winner:
            found = search.think(state, nodes=50)
            assert found is not None and value_of(found) == pytest.approx(1)
            action = found.line[0]
        else:
            action = max(
                (tables.dtz(CHESS, CHESS.play(state, move)) or 0, move) for move in CHESS.legal_actions(state)
            )[1]
        state, num_plies = CHESS.play(state, action), num_plies + 1
    assert CHESS.outcome(state) == (1 if winner == 0 else -1), CHESS.ending(state)
    assert num_plies < 150


@needs_tables
def test_the_fifty_move_rule_decides() -> None:
    bishop_and_knight = "8/8/8/3k4/8/8/8/KBN5 w - - {} 1"
    plies = Syzygy([PLACE]).dtz(CHESS, CHESS.parse_position(bishop_and_knight.format(0)))
    assert plies is not None and 40 < plies < 70
    assert searched(bishop_and_knight.format(99 - plies), PLACE).root(0).proven == 1
    assert searched(bishop_and_knight.format(103 - plies), PLACE).root(0).proven is None
    # A mate at once comes before the rule.
    assert searched("7k/8/6K1/8/8/8/8/R7 w - - 99 80", PLACE).root(0).proven == 1


@needs_tables
def test_moves_that_give_the_draw_away_are_not_played() -> None:
    fen = "8/8/8/8/4k3/8/4P3/4K3 b - - 0 1"
    search = searched(fen, PLACE, replace(CONFIG, num_simulations=200))
    root, tables, state = search.root(0), open_syzygy(str(PLACE)), CHESS.parse_position(fen)
    for action, lower, upper in zip(root.actions, root.lower, root.upper, strict=True):
        if tables.wdl(CHESS, CHESS.play(state, int(action))) == 2:
            assert lower == upper == 1, "White wins after it: the bound is for the first player"
        else:
            assert (lower, upper) == (-1, 1) or lower == upper == 0
    assert root.best_action is not None
    assert tables.wdl(CHESS, CHESS.play(state, root.best_action)) == 0


def test_a_position_in_a_table_is_proven_in_the_tree(tmp_path: Path) -> None:
    """After the capture on d5 three men are left; the table says that its owner wins, whoever is to move."""
    fen = "8/8/8/3r4/2K5/8/Q7/7k w - - 0 1"
    folder = tables_of(tmp_path, "KQvK", value=0)
    search = searched(fen, folder, replace(CONFIG, num_simulations=300))
    root = search.root(0)
    taking = [text_of(fen, int(action)) for action in root.actions].index("c4d5")
    assert root.visits[taking] > 0 and search.num_table_hits >= 1
    assert root.lower[taking] == root.upper[taking] == 1, "a loss for Black, who is to move"
    assert root.proven == 1 and text_of(fen, root.best_action) == "c4d5"


def test_an_alpha_beta_search_knows_a_position_in_a_table(tmp_path: Path) -> None:
    """As above; without the table the rook is all that the capture wins."""
    fen = "8/8/8/3r4/2K5/8/Q7/7k w - - 0 1"
    state, tables = CHESS.parse_position(fen), open_syzygy(str(tables_of(tmp_path, "KQvK", value=0)))
    with_tables, without = DeepeningSearch(CHESS, syzygy=tables), DeepeningSearch(CHESS)
    for search, value in ((with_tables, 500_000), (without, 500)):
        found = search.think(state, depth=2)
        assert found is not None and text_of(fen, found.line[0]) == "c4d5" and found.plies_to_end is None
        assert value < found.value < 2 * value
    assert with_tables.num_table_hits > 0 == without.num_table_hits


@needs_tables
def test_an_alpha_beta_search_does_not_give_a_draw_away() -> None:
    tables, rng, num_tried = open_syzygy(str(PLACE)), random.Random(5), 0
    search = DeepeningSearch(CHESS, syzygy=tables)
    while num_tried < 10:
        state = CHESS.parse_position(random_fen(rng, "KPvK"))
        moves = CHESS.legal_actions(state)
        drawing = {move for move in moves if tables.wdl(CHESS, CHESS.play(state, move)) == 0}
        if tables.wdl(CHESS, state) == 0 and len(drawing) < len(moves):
            found = search.think(state, depth=1 + num_tried % 4)
            assert found is not None and found.line[0] in drawing
            num_tried += 1


def test_an_alpha_beta_players_setting_reaches_its_search(tmp_path: Path) -> None:
    """In play and in analysis, as a tree search's."""
    player = load_player(saved(random_updatable(make("chess(history=1)")), tmp_path / "run"), num_simulations=200)
    folder = tables_of(tmp_path / "tables", "KQvK", value=0)
    state = CHESS.parse_position("8/8/8/3r4/2K5/8/Q7/7k w - - 0 1")
    assert player.analyse(state).num_table_hits == 0
    found = player.judged_by(player.evaluator, replace(player.config, syzygy_path=str(folder))).analyse(state)
    assert found.num_table_hits > 0 and found.best_move == "c4d5" and found.value == pytest.approx(1)
    with pytest.raises(GameError, match="Syzygy tables are of chess, not of connect4"):
        DeepeningSearch(make("connect4"), syzygy=open_syzygy(str(folder)))


def test_tables_reach_an_alpha_beta_player_of_matches(tmp_path: Path) -> None:
    """An option names them, or the settings of its run."""
    fen, folder = "8/8/8/3r4/2K5/8/Q7/7k w - - 0 1", tables_of(tmp_path, "KQvK", value=0)

    def knows_the_win(word: str, *settings: str) -> bool:
        contestant = enter(Entry.parse(word, settings), CHESS)
        assert isinstance(contestant, ProgramContestant)
        found = contestant.program.open(CHESS).think(fen, (), MoveLimits(nodes=300))
        assert found.thought.score is not None
        return text_of(fen, found.action) == "c4d5" and (found.thought.score.win_rate or 0) > 0.99

    option = f"option.syzygy_path={folder}"
    assert not knows_the_win("alphabeta", "nodes=300")
    assert knows_the_win("alphabeta", "nodes=300", option)
    run = saved(random_updatable(make("chess(history=1)")), tmp_path / "run")
    assert not knows_the_win(f"{run}@300")
    assert knows_the_win(f"{run}@300", option)
    (run / "config.toml").write_text(f'format_version = 1\ngame = "chess"\n[search]\nsyzygy_path = "{folder}"\n')
    assert knows_the_win(f"{run}@300")
    for bad, words in (
        (f"option.syzygy_path={tmp_path / 'nowhere'}", "does not exist"),
        (f"option.table_files={tmp_path / 'nowhere'}", "nowhere"),
    ):
        with pytest.raises(ZerosumError, match=words):
            enter(Entry.parse("alphabeta", ["nodes=300", bad]), CHESS)


def test_a_win_counts_only_just_after_a_capture_or_a_pawn_move(tmp_path: Path) -> None:
    """Four men are in no table, the root's quiet moves lead to no hits."""
    folder = tables_of(tmp_path, "KQvKR", value=4)
    search = searched("8/8/8/3r4/2K5/8/Q7/7k w - - 7 1", folder, replace(CONFIG, num_simulations=50))
    assert search.num_table_hits == 0


def test_other_games_and_castling_have_no_tables(tmp_path: Path) -> None:
    folder = tables_of(tmp_path, "KRvK")
    with pytest.raises(SettingsError, match=r"Syzygy tables are of chess, not of connect4. Leave it empty\."):
        new_search(make("connect4"), replace(CONFIG, syzygy_path=str(folder)))
    tables = open_syzygy(str(folder))
    assert tables.wdl(CHESS, CHESS.parse_position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")) is None
    assert tables.wdl(CHESS, CHESS.parse_position("4k3/8/8/8/8/8/8/4K2R w - - 0 1")) == 2
    assert tables.wdl(make("connect4"), make("connect4").initial_state()) is None


def test_a_search_without_tables_is_the_same(tmp_path: Path) -> None:
    """Where no table has a position nothing changes, visit by visit."""
    folder = tables_of(tmp_path, "KRvK")
    with_tables, without = (
        searched(CHESS.position_text(CHESS.initial_state()) or "", path, replace(CONFIG, num_simulations=80))
        for path in (folder, "")
    )
    assert np.array_equal(with_tables.root(0).visits, without.root(0).visits)


# Bad input


def message_of(path: str) -> str:
    with pytest.raises(SettingsError) as caught:
        open_syzygy(path)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    assert "does not exist" in message_of(str(tmp_path / "nowhere"))
    (tmp_path / "file").write_bytes(b"")
    assert "is not a folder" in message_of(str(tmp_path / "file"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme.rtbw.txt").write_text("no table")
    assert "no file there is one" in message_of(str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda content: content[:50], "KQvK.rtbw has 50 bytes, and by its own description 80"),
        (lambda content: content[:6], "KQvK.rtbw is damaged: its beginning makes no sense"),
        (lambda content: b"", "KQvK.rtbw does not begin as a Syzygy file .rtbw does"),
        (lambda content: b"\0" + content[1:], "KQvK.rtbw does not begin as"),
        (lambda content: content + bytes(64), "KQvK.rtbw has 144 bytes"),
        (lambda content: content[:6] + b"\x05\x05" + content[8:], "KQvK.rtbw is damaged"),
    ],
)
def test_damaged_files(tmp_path: Path, change: Callable[[bytes], bytes], expected: str) -> None:
    folder = tables_of(tmp_path, "KQvK")
    (folder / "KQvK.rtbw").write_bytes(change(constant_file("KQvK", ".rtbw", 4)))
    assert expected in message_of(str(folder))


def test_half_a_set_is_told_and_searched_without(tmp_path: Path) -> None:
    folder = tables_of(tmp_path, "KQvK", "KRvK")
    (folder / "KRvK.rtbz").unlink()
    told = describe_syzygy(open_syzygy(str(folder)))
    assert told == (
        "Syzygy endings: 2 of 5 with 3 men. 1 file is missing (KRvK.rtbz): its ending is searched without tables."
    )
    assert searched("4k3/8/8/8/8/8/8/4K2R w - - 0 1", folder).root(0).best_action is not None


@needs_tables
def test_a_damaged_file_is_never_a_crash(tmp_path: Path) -> None:
    """Wherever a file is cut or changed it is refused, or its positions have some value or none."""
    rng = random.Random(3)
    names = ["KRvK", "KPvK", "KQvKR", "KPvKP", "KPPvK"]
    states = [CHESS.parse_position(random_fen(rng, name)) for name in names for _ in range(20)]
    for number in range(150):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in names:
            for ending in (".rtbw", ".rtbz"):
                shutil.copy(PLACE / f"{name}{ending}", folder)
        path = folder / f"{rng.choice(names)}{rng.choice(('.rtbw', '.rtbz'))}"
        content = bytearray(path.read_bytes())
        if number % 3 == 0:
            del content[rng.randrange(len(content)) :]
        else:
            span = len(content) if number % 3 == 1 else 200
            for _ in range(rng.randrange(1, 6)):
                content[rng.randrange(min(span, len(content)))] = rng.randrange(256)
        path.write_bytes(content)
        try:
            tables = Syzygy([folder])
        except ValueError:
            shutil.rmtree(folder)
            continue
        for state in states:
            assert tables.wdl(CHESS, state) in (None, -2, -1, 0, 1, 2)
            tables.dtz(CHESS, state)
        shutil.rmtree(folder)


def test_the_number_of_endings_is_that_of_all_pairs_of_armies() -> None:
    """Either army may be the stronger one: a pair counts once."""
    for men in range(2, 8):
        pairs = set()
        for own in range(men - 1):
            for one in itertools.combinations_with_replacement("QRBNP", own):
                for other in itertools.combinations_with_replacement("QRBNP", men - 2 - own):
                    pairs.add(frozenset([one, other]))
        assert num_endings(men) == len(pairs)


@pytest.mark.parametrize("num_missing", [0, 1, 2, NAMED_ENDINGS, NAMED_ENDINGS + 1])
def test_what_is_missing_is_named_up_to_a_few(num_missing: int) -> None:
    names = ["KQvK", "KQRvK", "KRvK", "KBNvK", "KPvK", "KQQvKQ"]
    tables = SimpleNamespace(
        endings=[
            (name, index % 2 == 0 or index >= num_missing, index % 2 == 1 or index >= num_missing)
            for index, name in enumerate(names)
        ]
    )
    told = describe_syzygy(cast(Syzygy, tables))
    assert "3 of 5 with 3 men, 2 of 30 with 4 men, 1 of 110 with 5 men" in told
    files = [f"{name}{('.rtbz', '.rtbw')[index % 2]}" for index, name in enumerate(names[:num_missing])]
    assert [file for file in files if file in told] == files[:NAMED_ENDINGS]
    assert ("..." in told) == (num_missing > NAMED_ENDINGS)
    assert ("missing" in told) == (num_missing > 0)
    if num_missing:
        words = "1 file is missing" if num_missing == 1 else f"{num_missing} files are missing"
        assert words in told


def test_several_folders_are_one_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folders = [tables_of(tmp_path / name, name) for name in ("KQvK", "KRvK")]
    short = "~" + str(folders[1]).removeprefix(str(tmp_path))
    for path in (os.pathsep.join(map(str, folders)), os.pathsep.join(["", str(folders[0]), short, ""])):
        found = open_syzygy(path)
        assert sorted(name for name, _, _ in found.endings) == ["KQvK", "KRvK"]
        assert open_syzygy(path) is found, "files are opened once"
