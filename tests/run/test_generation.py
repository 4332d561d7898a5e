"""Games that engines play into a run's records: what is kept, that games differ, that a stop loses nothing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from zerosum.base.errors import RunError, SettingsError
from zerosum.games import make
from zerosum.notation.centipawns import coefficient_of
from zerosum.play.entries import Entry
from zerosum.replay import ReplayConfig, ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.run.game_import import import_games
from zerosum.run.generation import GenerationCounts, GenerationSettings, generate_games

FAKE = Path(__file__).parents[1] / "fake_engine.py"


def stored(run: Path) -> list[GameRecord]:
    store = GameStore(run / "records", report=lambda _: None)
    try:
        return list(store.recent(num_games=store.num_games))
    finally:
        store.close()


def generate(run: Path, num_games: int, *, game: str = "connect4", player: str = "rollouts@4") -> GenerationCounts:
    entry = Entry.parse(player, [])
    return generate_games(game, entry, entry, run, GenerationSettings(num_games, opening_plies=4))


def fake_chess(**answers: object) -> Entry:
    script = {"uci": ["uciok"], "isready": ["readyok"], **answers}
    command = f"uci:{shlex.quote(sys.executable)} {shlex.quote(str(FAKE))} {shlex.quote(json.dumps(script))}"
    return Entry.parse(command, ["nodes=100"])


def test_openings_are_not_learned_from_and_moves_are_evaluated(tmp_path: Path) -> None:
    counts = generate(tmp_path, 40)
    records = stored(tmp_path)
    assert counts.num_games == len(records) == 40 - counts.num_doubles
    lengths = set()
    game = make("connect4")
    for record in records:
        is_opening = (record.plies["flags"] & int(PlyFlag.OPENING)) > 0
        opening_plies = int(is_opening.sum())
        lengths.add(opening_plies)
        assert is_opening[:opening_plies].all()
        targets = np.split(record.targets, record.target_offsets[1:-1])
        for ply, target in enumerate(targets):
            assert (len(target) == 0) == is_opening[ply]
            if len(target):  # the shares of the search's visits, of which the played move has the most
                assert target["probability"].sum() == pytest.approx(1, abs=2e-3)
                best = target["probability"].max()
                assert best == target["probability"][target["action"] == record.plies["action"][ply]]
        assert (record.plies["flags"][opening_plies:] == PlyFlag.RECORDED | PlyFlag.EVALUATED).all()
        state = game.initial_state()
        for action, player in zip(record.plies["action"].tolist(), record.plies["player"].tolist(), strict=True):
            assert game.player(state) == player
            state = game.play(state, action)
        assert game.outcome(state) == record.outcome and game.ending(state) == record.ending
    assert lengths == {0, 1, 2, 3, 4}
    assert len({record.plies["action"].tobytes() for record in records}) == len(records)


def test_the_same_command_goes_on(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    player = "alphabeta@1"
    generate(whole, 30, player=player)
    generate(parts, 10, player=player)
    counts = generate(parts, 30, player=player)
    assert counts.num_known == 10 - _num_doubles(parts, 10) and counts.num_known > 0
    told = [[(record.settings_hash, record.plies.tobytes()) for record in stored(run)] for run in (whole, parts)]
    assert sorted(told[0]) == sorted(told[1])
    before = stored(parts)
    generate(parts, 30, player=player)
    assert [record.settings_hash for record in stored(parts)] == [record.settings_hash for record in before]


def _num_doubles(run: Path, most: int) -> int:
    numbers = {int(record.settings_hash.rpartition(":")[2]) for record in stored(run)}
    return most - len([number for number in numbers if number <= most])


def test_a_kill_costs_the_games_under_way(tmp_path: Path) -> None:
    words = ["generate", "connect4", "--first", "rollouts@30", "--games", "4000", "--run", str(tmp_path)]
    process = subprocess.Popen([sys.executable, "-m", "zerosum", *words], stdout=subprocess.DEVNULL)
    journal = tmp_path / "records" / "journal-000001.bin"
    while not (journal.exists() and journal.stat().st_size > 20_000):
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = stored(tmp_path)
    assert before
    settings = GenerationSettings(len(before) + 10 + len(before) % 2)
    entry = Entry.parse("rollouts@30", [])
    counts = generate_games("connect4", entry, entry, tmp_path, settings)
    after = stored(tmp_path)
    assert counts.num_known > 0
    assert [record.settings_hash for record in after[: len(before)]] == [record.settings_hash for record in before]
    origins = [record.settings_hash for record in after]
    assert len(set(origins)) == len(origins) > len(before)


def test_import_and_generation_share_the_records(tmp_path: Path) -> None:
    generate(tmp_path / "run", 6, game="tictactoe")
    num_generated = len(stored(tmp_path / "run"))
    path = tmp_path / "one.sgf"
    path.write_text("(;SZ[9]RE[W+R];B[ee];W[cc])")
    with pytest.raises(SettingsError, match="has games of tictactoe"):
        import_games([path], tmp_path / "run", game="go9")
    with pytest.raises(SettingsError, match="has games of tictactoe"):
        generate(tmp_path / "run", 6)
    assert len(stored(tmp_path / "run")) == num_generated


def test_nodes_differ_from_move_to_move_and_repeat(tmp_path: Path) -> None:
    def asked(log: Path, *, exact: bool) -> list[str]:
        script = json.dumps({"uci": ["uciok"], "isready": ["readyok"], "go": ["bestmove a1a1"]})
        command = f"uci:{shlex.quote(sys.executable)} {shlex.quote(str(FAKE))} {shlex.quote(script)} {log}"
        entry = Entry.parse(command, ["nodes=1000"])
        settings = GenerationSettings(2, opening_plies=0, exact_nodes=exact, max_games_at_once=1)
        generate_games("chess", entry, entry, tmp_path / log.stem, settings)
        return sorted(line for line in log.read_text().splitlines() if line.startswith("go "))

    first, again = (asked(tmp_path / f"{name}.log", exact=False) for name in ("first", "again"))
    assert first == again
    nodes = [int(line.split()[-1]) for line in first]
    assert len(set(nodes)) == 2 and all(500 <= number <= 1500 for number in nodes)
    assert asked(tmp_path / "exact.log", exact=True) == ["go nodes 1000", "go nodes 1000"]


def test_games_that_an_engine_spoils_are_left_out(tmp_path: Path) -> None:
    bad, said = fake_chess(go=["!exit 3"]), list[str]()
    counts = generate_games("chess", bad, bad, tmp_path, GenerationSettings(4), say=said.append)
    assert (counts.num_games, counts.num_failures) == (0, 4) and not stored(tmp_path)
    assert len([line for line in said if "The game is left out" in line]) == 4
    with pytest.raises(RunError, match="20 games in a row"):
        generate_games("chess", bad, bad, tmp_path, GenerationSettings(40))


def test_compared_moves_are_soft_targets(tmp_path: Path) -> None:
    """A fool's mate, whose engine compares two moves at its first move and one at the others."""
    lines = ["info multipv 1 score cp 60 pv f2f3", "info multipv 2 score cp 0 pv e2e4", "bestmove f2f3"]
    crash = {"go": ["!exit 3"]}  # in the second game
    white = fake_chess(**crash, **{"go 1": lines, "go 2": ["info score mate -1 pv g2g4", "bestmove g2g4"]})
    black = fake_chess(**crash, **{"go 1": ["bestmove e7e5"], "go 2": ["bestmove d8h4"]})
    settings = GenerationSettings(2, opening_plies=0, exact_nodes=True, max_games_at_once=1, line_temperature=0.2)
    said = list[str]()
    generate_games("chess", white, black, tmp_path, settings, say=said.append)
    (record, *_) = stored(tmp_path)
    game = make("chess")
    state = game.initial_state()
    target = record.targets[: record.target_offsets[1]]
    value = np.tanh(60 / (2 * coefficient_of("chess")))
    weights = np.exp(np.array([0, -value]) / 0.2)
    assert [game.action_text(state, int(action)) for action in target["action"]] == ["f2f3", "e2e4"]
    np.testing.assert_allclose(target["probability"], weights / weights.sum(), atol=1e-3)
    assert np.diff(record.target_offsets).tolist() == [2, 1, 1, 1]
    samples = window_of([record]).sample(4, seed=0, step=0)
    policy = samples.policies.dense(game.spec.num_actions)
    np.testing.assert_allclose(policy.sum(axis=1), 1, atol=1e-3)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 11.0, float("nan")])
def test_a_temperature_out_of_range_is_refused(temperature: float) -> None:
    with pytest.raises(SettingsError, match=r"line_temperature is .*, but must be between 0.001 and 10"):
        GenerationSettings(2, line_temperature=temperature)


def window_of(records: list[GameRecord]) -> ReplayWindow:
    window = ReplayWindow(ReplayConfig())
    window.load(records, total_positions=sum(record.num_positions for record in records))
    return window
