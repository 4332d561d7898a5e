"""Games imported into a run: what is kept of each, what is refused and how, and that nothing is lost or there twice."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import games_for_tests
from zerosum.arena import MatchPlan, MatchSettings
from zerosum.arena.session import play_session
from zerosum.arena.store import parse_game
from zerosum.base.errors import GameError, RunError, SettingsError
from zerosum.games import make
from zerosum.games.names import GameName
from zerosum.notation import Move, Record, game_text, write_games
from zerosum.notation.centipawns import centipawns, value_of
from zerosum.play.contestant import RANDOM
from zerosum.replay.batch import make_batch
from zerosum.replay.config import ReplayConfig
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, PlyFlag, require_game
from zerosum.replay.window import ReplayWindow
from zerosum.run import game_import
from zerosum.run.game_import import ImportCounts, import_games
from zerosum.run.record_index import RecordIndex
from zerosum.run.run_directory import plan


def random_games(
    game: str, number: int, *, seed: int = 0, plies: int = 12, result: float = 1.0, ending: str = ""
) -> list[Record]:
    rules, rng, records = make(game), random.Random(f"{game} {seed}"), []
    for _ in range(number):
        state, moves = rules.initial_state(), []
        for _ in range(plies):
            if not (legal := rules.legal_actions(state)):
                break
            action = rng.choice(legal)
            moves.append(Move(rules.action_text(state, action)))
            state = rules.play(state, action)
        records.append(Record(rules.spec.full_name, tuple(moves), result=result, ending=ending))
    return records


def stored(run: Path) -> list[GameRecord]:
    store = GameStore(run / "records", report=lambda _: None)
    try:
        return list(store.recent(num_games=store.num_games))
    finally:
        store.close()


class Told:
    """An import, and what was said."""

    def __init__(self, *files: str | Path, run: Path, game: str = "", format: str | None = None) -> None:
        self.err: list[str] = []
        self.counts: ImportCounts = import_games(
            files, run, game=game, format=format, complain=self.err.append, report=self.err.append
        )


PGN = """[White "Ada"]
[Result "0-1"]

1. f3 {[%eval -0.5]} e5 {[%eval -0.7]} (1... d5) 2. g4 {[%eval #-1]} Qh4# 0-1
"""


# ---- what is kept


def test_a_game_is_kept_ply_by_ply(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(PGN)
    told = Told(path, run=tmp_path / "run")
    assert told.err == ["The game is chess, as the first record says."]
    assert (told.counts.num_games, told.counts.num_positions, told.counts.num_evaluated) == (1, 4, 3)
    (record,) = stored(tmp_path / "run")
    game = make("chess")
    require_game(record, game.spec)
    texts, state = [], game.initial_state()
    for action, player in zip(record.plies["action"].tolist(), record.plies["player"].tolist(), strict=True):
        assert game.player(state) == player
        texts.append(game.action_text(state, action))
        state = game.play(state, action)
    assert texts == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert (record.outcome, record.ending, record.start) == (-1.0, "checkmate", "")
    assert record.settings_hash == f"{path}:1"
    assert record.targets["action"].tolist() == record.plies["action"].tolist() and set(
        record.targets["probability"]
    ) == {1.0}
    recorded, both = int(PlyFlag.RECORDED), int(PlyFlag.RECORDED | PlyFlag.EVALUATED)
    assert record.plies["flags"].tolist() == [recorded, both, both, both]
    expected = [0.0, value_of(50, 272), value_of(-70, 272), 1.0]  # each for its mover
    assert record.plies["search_value"].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("suffix", "text", "values"),
    [
        ("pgn", "1. e4 {+0.30/12 3.2s} e5 {-0.40/11 1s} 2. d4 {book} d5 {+M5/20} 1-0\n", (0.3, -0.4, None, "win")),
        ("pgn", "1. e4 {[%eval 1.5]} e5 {0.00/8} 2. d4 1-0\n", (None, 0.0, None)),
        ("csa", "PI\n+\n+7776FU\n'** 100 -3334FU\n-3334FU\n'** 250\n+2726FU\n%TORYO\n", (None, -1.0, 2.5)),
        ("kifu", "   1 ７六歩(77)\n*#評価値=-100\n   2 ３四歩(33)\n   3 投了\n", (None, 1.0)),
    ],
)
def test_evaluations_are_kept(suffix: str, text: str, values: tuple[float | str | None, ...], tmp_path: Path) -> None:
    path = tmp_path / f"game.{suffix}"
    path.write_text(text, encoding="utf-8")
    Told(path, run=tmp_path / "run")
    (record,) = stored(tmp_path / "run")
    coefficient = 272 if suffix == "pgn" else 600
    expected = [
        0.0 if value is None else 1.0 if value == "win" else value_of(100 * float(value), coefficient)
        for value in values
    ]
    assert record.plies["search_value"].tolist() == pytest.approx(expected)
    assert [bool(flag & PlyFlag.EVALUATED) for flag in record.plies["flags"]] == [value is not None for value in values]


def test_evaluations_of_sgf_are_win_rates(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]RE[W+R];B[ee]SBKV[75.0];W[cc]SBKV[nan];B[gg])")
    Told(path, run=tmp_path / "run")
    (record,) = stored(tmp_path / "run")
    assert record.plies["search_value"].tolist() == [0.0, -0.5, 0.0] and record.outcome == -1.0
    assert [bool(flag & PlyFlag.EVALUATED) for flag in record.plies["flags"]] == [False, True, False]


def test_centipawns_and_values_are_inverse() -> None:
    for coefficient in (272, 600):
        for score in (-9000, -299, 0, 1, 500, 10_000):
            assert abs(centipawns(value_of(score, coefficient), coefficient) - score) <= 1


@pytest.mark.parametrize(
    ("game", "suffix", "ending"),
    [
        ("chess", "pgn", ""),
        ("go(size=7, komi=9)", "sgf", "resignation"),
        ("shogi", "csa", "resignation"),
        ("chess960", "pgn", ""),
    ],
)
def test_every_format_can_be_learned_from(game: str, suffix: str, ending: str, tmp_path: Path) -> None:
    rules = make(game)
    sent = random_games(game, 5, plies=20, result=-1.0, ending=ending)
    write_games(sent, tmp_path / f"games.{suffix}")
    told = Told(tmp_path, run=tmp_path / "run")
    assert told.counts.num_games == 5 and not told.counts.refused, told.err
    records = stored(tmp_path / "run")
    assert {record.outcome for record in records} == {-1.0}
    for record in records:
        require_game(record, rules.spec)
    window = ReplayWindow(ReplayConfig())
    window.load(records, total_positions=100)
    batch = make_batch(rules, window.sample(64, seed=1, step=1), search_value_weight=0.0)
    assert (batch.policies.probabilities == 1).all() and set(batch.targets["value"]) == {-1.0, 1.0}


def test_a_match_can_be_learned_from(tmp_path: Path) -> None:
    """A match of a game without a record format; the moves of its openings are no targets."""
    rules, path = make("connect4"), tmp_path / "match.jsonl"
    settings = MatchSettings(4, 1, opening_plies=2)
    play_session(MatchPlan(rules, (RANDOM, replace(RANDOM, name="other")), settings), file=path)
    told = Told(path, run=tmp_path / "run")
    assert told.counts.num_games == 4 and not told.counts.refused, told.err
    for record, line in zip(stored(tmp_path / "run"), path.read_text().splitlines()[1:], strict=True):
        played = parse_game(rules, line)
        assert tuple(record.plies["action"]) == played.actions
        assert record.outcome == (-1 if played.first_is_player else 1) * played.result
        is_opening = [bool(flag & PlyFlag.OPENING) for flag in record.plies["flags"]]
        assert is_opening == [ply < 2 for ply in range(len(played.actions))]


def test_a_match_of_a_users_game_can_be_learned_from(tmp_path: Path) -> None:
    name = f"{Path(games_for_tests.__file__)}:DoubleMove"
    rules, path = make(name), tmp_path / "match.jsonl"
    play_session(MatchPlan(rules, (RANDOM, replace(RANDOM, name="other")), MatchSettings(4, 1)), file=path)
    told = Told(path, run=tmp_path / "run", game=name)
    assert told.counts.num_games == 4 and not told.counts.refused, told.err


def test_games_that_go_on_past_a_soft_ending_can_be_learned_from(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text("Nf3 Nf6 Ng1 Ng8 " * 5 + "e4 1-0\n")
    Told(tmp_path / "a.pgn", run=tmp_path / "run")
    (record,) = stored(tmp_path / "run")
    window = ReplayWindow(ReplayConfig())
    window.add(record)
    assert len(make_batch(make("chess"), window.sample(32, seed=1, step=1), search_value_weight=0.0)) == 32


def test_games_that_begin_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"]\n[SetUp "1"]\n\n1... Kd7 2. e4 1-0\n')
    Told(tmp_path / "a.pgn", run=tmp_path / "run")
    (record,) = stored(tmp_path / "run")
    assert record.start == "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1" and record.plies["player"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "text", "plies", "outcome", "said"),
    [
        ("a.pgn", "1. e4 e5 2. -- Nc6 3. Nf3 1-0\n", 2, 1.0, "'--', move 3, is a null move"),
        ("a.pgn", "1. f3 e5 2. g4 Qh4# *\n", 4, -1.0, ""),
        ("a.kifu", "   1 ７六歩(77)\n   2 ３四歩(33)\n   3 トライ\nまで2手で先手の勝ち\n", 2, 1.0, "'トライ'"),
    ],
)
def test_games_that_end_in_other_ways(
    tmp_path: Path, name: str, text: str, plies: int, outcome: float, said: str
) -> None:
    """Endings by a null move, by the rules without a result in the file, and by an unknown word."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    told = Told(tmp_path / name, run=tmp_path / "run")
    (record,) = stored(tmp_path / "run")
    assert (len(record.plies), record.outcome) == (plies, outcome)
    assert [said in line for line in told.err if str(tmp_path) in line] == [True] * bool(said)


# ---- what is refused


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (b"1. e4 Ke4 1-0\n", "damaged or illegal", "line 1: 'Ke4', move 2, is not legal here"),
        (b"1. e4 {open\n", "damaged or illegal", "line 1: a comment that is not closed"),
        (
            b"1. f3 e5 2. g4 Qh4# 1-0\n",
            "damaged or illegal",
            "line 1: the first player's result is 1, by the rules",
        ),
        (b"1. e4 e5 *\n", "without a result", "line 1: the record has no result, and the game is not over"),
        (b"1. -- e5 1-0\n", "without moves", "line 1: no move was played"),
        (b'[Result "1-0"]\n\n1. e4 0-1\n', "without a result", "line 1: the record has no result"),
        (b"1-0\n", "without moves", "line 1: no move was played"),
        (b'[Variant "Atomic"]\n\n1. e4 1-0\n', "damaged or illegal", "line 1: the variant 'Atomic' is unknown"),
        (
            b'[Variant "Chess960"]\n\n1. e4 1-0\n',
            "of another game or other options",
            "line 1: a game of chess960",
        ),
        (b'[Result "1-0"]\n\n1. e4 e5 2. N', "cut off", "line 1: the file ends before the game"),
        (b'[Result "1-0"]\n\n1. e4 e5\n', "cut off", "line 1: the file ends before the game"),
        (PGN.encode() + b"\n1. f3 e5 2. g4 Qh4# 0-1\n", "double", "line 6: its start, moves and result are those of"),
    ],
)
def test_refused_games_are_named(content: bytes, kind: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(content)
    told = Told(path, run=tmp_path / "run", game="chess")
    assert dict(told.counts.refused) == {kind: 1}
    (said,) = (said for said in told.err if said.endswith("the game is not imported."))
    assert said.startswith(f"{path}, {sentence}")
    assert f"refused 1 {kind}" in str(told.counts)


@pytest.mark.parametrize("end", ["1-0", "1-0 ", "1-0 {Time.}", "1-0\n{Time.} ; end\n\n", "1-0 ; end"])
def test_a_last_game_with_its_result_is_whole(end: str, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(f'[Result "1-0"]\n\n1. e4 {end}')
    assert Told(tmp_path / "a.pgn", run=tmp_path / "run").counts.num_games == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(;SZ[13]RE[B+R];B[aa])", "size is 13, the run's is 9"),
        ("(;SZ[9]KM[6.5]RE[B+R];B[aa])", "komi is 6.5, the run's is 7"),
        ("(;SZ[9]KM[7.0]RU[Japanese]RE[B+R];B[aa])", ""),
        ("(;SZ[9]RE[B+R];B[aa])", ""),
    ],
)
def test_options_are_checked(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text(text)
    told = Told(tmp_path / "a.sgf", run=tmp_path / "run", game="go(size=9, komi=7)")
    assert told.counts.num_games == (not sentence)
    assert not sentence or sentence in told.err[0]


def test_one_run_has_one_game(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "b.csa").write_text("PI\n+\n+7776FU\n%TORYO\n")
    run = tmp_path / "run"
    told = Told(tmp_path / "a.pgn", tmp_path / "b.csa", run=run)
    assert told.counts.num_games == 1 and "a game of shogi, the run's is chess" in told.err[-1]
    assert Told(tmp_path / "b.csa", run=run).counts.refused == {"of another game or other options": 1}
    with pytest.raises(SettingsError, match="has games of chess, not of shogi: name another directory"):
        Told(tmp_path / "b.csa", run=run, game="shogi")
    planned = plan(run, make("chess"), GameName.parse("chess"), asked={})
    assert str(planned.config.game) == "chess", "a training may begin in it"


def test_files_that_cannot_be_read_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(PGN)
    (tmp_path / "utf16.pgn").write_text(PGN, encoding="utf-16")
    (tmp_path / "what").write_text("hello")
    (tmp_path / "empty").mkdir()
    names = ("no.pgn", "utf16.pgn", "what", "empty", "a.pgn")
    told = Told(*(tmp_path / name for name in names), run=tmp_path / "run")
    counts = told.counts
    assert (counts.num_games, counts.num_files, counts.num_failed_files) == (1, 1, 4)
    words = (
        "cannot be read: No such file",
        "the text is UTF-16",
        "begins like no known game record",
        "contains no game files",
    )
    for name, word, said in zip(names, words, told.err, strict=False):
        assert name in said and word in said
    assert "1 game imported from 1 file (4 more could not be read)" in str(counts)


def test_without_a_file_there_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for made in (False, True):
        told = Told(tmp_path / "no.pgn", tmp_path / "empty", run=tmp_path / "run")
        assert (told.counts.num_files, told.counts.num_failed_files) == (0, 2)
        assert told.err[0].endswith("no.pgn cannot be read: No such file or directory.")
        assert "contains no game files" in told.err[1]
        assert (tmp_path / "run").exists() == made
        (tmp_path / "run").mkdir(exist_ok=True)
    assert list((tmp_path / "run").iterdir()) == []


def test_an_import_without_a_game_leaves_nothing(tmp_path: Path) -> None:
    cut_off, run = tmp_path / "games.pgn", tmp_path / "a" / "b"
    cut_off.write_text("1. e4 e5")

    def files() -> set[str]:
        return {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}

    before = files()
    assert Told(cut_off, run=run).counts.refused == {"cut off": 1}
    with pytest.raises(GameError, match="unknown game 'nonsense'"):
        Told(cut_off, run=run, game="nonsense")
    assert files() == before
    run.mkdir(parents=True)
    (run / "notes").write_text("mine")
    before = files()
    Told(cut_off, run=run)
    assert files() == before
    cut_off.write_text(PGN)
    assert Told(cut_off, run=run).counts.num_games == 1
    before = files()
    cut_off.write_text("1. e4 e5")
    Told(cut_off, run=run)
    assert files() == before and len(stored(run)) == 1


def test_counts_have_their_units() -> None:
    one = game_import.ImportCounts(num_games=1, num_positions=1, num_files=1, num_known=1)
    assert str(one) == "1 game imported from 1 file, 1 position, 0 of them evaluated, 1 was there."
    more = game_import.ImportCounts(num_games=1200, num_positions=3, num_files=2, num_known=2)
    assert str(more) == "1,200 games imported from 2 files, 3 positions, 0 of them evaluated, 2 were there."


def test_blemishes_are_told_and_counted(tmp_path: Path) -> None:
    games = "".join(f"1. e4!!! {'e5' if number % 2 else 'c5'} 2. a{3 + number % 2} 1-0\n" for number in range(30))
    (tmp_path / "a.pgn").write_text(games)
    told = Told(tmp_path / "a.pgn", run=tmp_path / "run")
    assert told.counts.num_games == 2 and told.counts.refused == {"double": 28}
    assert sum("!!! is left out" in said for said in told.err) == game_import.MOST_WARNINGS
    assert told.err[-1].endswith("a.pgn: 10 further warnings are not shown.")


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(PGN.encode())

    monkeypatch.setattr(sys, "stdin", Input())
    assert Told("-", run=tmp_path / "run", format="pgn").counts.num_games == 1
    assert stored(tmp_path / "run")[0].settings_hash == "-:1"


# ---- again, after a kill, while a file grows


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_import, "GAMES_PER_SHARD", 8)


def test_the_same_files_again_change_nothing(tmp_path: Path, small_shards: None) -> None:
    path, run = tmp_path / "games.pgn", tmp_path / "run"
    write_games(random_games("chess", 20), path)
    assert Told(path, run=run).counts.num_games == 20
    again = Told(path, run=run).counts
    assert (again.num_games, again.num_known, dict(again.refused)) == (0, 20, {})
    assert "20 were there" in str(again)
    copy = tmp_path / "copy.pgn"
    copy.write_bytes(path.read_bytes())
    assert Told(copy, run=run).counts.refused == {"double": 20}
    assert len(stored(run)) == 20


def test_a_file_that_grows_is_taken_up_where_it_was_left(tmp_path: Path, small_shards: None) -> None:
    path, run = tmp_path / "games.pgn", tmp_path / "run"
    text = "".join(game_text(record, format="pgn") for record in random_games("chess", 10))
    num_games = 0
    for size in range(0, len(text), 331):
        path.write_text(text[:size])
        if size > 3:
            num_games += Told(path, run=run, format="pgn").counts.num_games
            assert len(stored(run)) == num_games
    path.write_text(text)
    counts = Told(path, run=run).counts
    assert num_games + counts.num_games == 10 and counts.num_known == num_games
    ids = [record.game_id for record in stored(run)]
    assert ids == list(range(10))


@pytest.mark.parametrize("where", ["before the shard", "within the seal", "before the index"])
def test_a_kill_costs_no_game_and_doubles_none(
    where: str, tmp_path: Path, small_shards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, run = tmp_path / "games.pgn", tmp_path / "run"
    write_games(random_games("chess", 20), path)
    owner, name = {
        "before the shard": (GameStore, "add_games"),
        "within the seal": (GameStore, "_commit"),
        "before the index": (RecordIndex, "add"),
    }[where]
    real, calls = getattr(owner, name), []

    class KilledError(BaseException):
        pass

    def killed(*arguments: object) -> object:
        calls.append(0)
        if len(calls) >= 2:
            raise KilledError
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises((KilledError, RunError)):
            Told(path, run=run)
    before = len(stored(run))
    assert before == (16 if where == "before the index" else 8)
    counts = Told(path, run=run).counts
    assert (counts.num_games, counts.num_known) == (20 - before, before) and not counts.refused
    records = stored(run)
    assert len({record.plies["action"].tobytes() for record in records}) == len(records) == 20


@pytest.mark.parametrize("damage", ["missing", "nonsense", "of another store"])
def test_the_index_is_made_anew(damage: str, tmp_path: Path) -> None:
    run, path = tmp_path / "run", tmp_path / "games.pgn"
    write_games(random_games("chess", 5), path)
    Told(path, run=run)
    index = run / "records-index.sqlite"
    if damage == "missing":
        index.unlink()
    elif damage == "nonsense":
        index.write_bytes(b"no database " * 1000)
    else:
        write_games(random_games("chess", 9, seed=1), tmp_path / "others.pgn")
        Told(tmp_path / "others.pgn", run=tmp_path / "other")
        index.write_bytes((tmp_path / "other" / index.name).read_bytes())
    assert Told(path, run=run).counts.num_known == 5


def test_games_of_a_shard_that_was_set_aside_can_be_imported_again(tmp_path: Path, small_shards: None) -> None:
    run, path = tmp_path / "run", tmp_path / "games.pgn"
    write_games(random_games("chess", 16), path)
    Told(path, run=run)
    shard = sorted((run / "records").glob("*.parquet"))[0]
    shard.write_bytes(shard.read_bytes()[:-1])
    told = Told(path, run=run)
    assert (told.counts.num_games, told.counts.num_known) == (8, 8)
    assert len(stored(run)) == 16


IMPORT = """
import gc, json, sys, tracemalloc
from pathlib import Path
from zerosum.run import game_import

game_import.GAMES_PER_SHARD = 100
held = []

def measure(_):
    gc.collect()
    held.append(tracemalloc.get_traced_memory()[0])

tracemalloc.start()
counts = game_import.import_games([Path(sys.argv[1])], Path(sys.argv[2]), progress=measure)
print(json.dumps([counts.num_games, held]))
"""


def test_memory_stays_the_same(tmp_path: Path) -> None:
    """However long a file is: what is held after each shard does not grow with the games before it.

    In a process of its own, in which no thread of another test holds anything.
    """
    text = "".join(game_text(record, format="pgn") for record in random_games("chess", 3000, plies=6))
    (tmp_path / "games.pgn").write_text(text)
    words = [sys.executable, "-c", IMPORT, str(tmp_path / "games.pgn"), str(tmp_path / "run")]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    num_games, held = json.loads(answer.stdout)
    assert num_games > 2900 and len(held) >= 29
    assert max(held[15:]) < max(held[5:15]) + 100_000 and max(held) < 20_000_000
