"""Learning from records: the split, what is learned from, what is measured, and that a stop changes nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from commands_for_tests import Command
from kill_training import result
from zerosum.base.errors import DataError, RunError
from zerosum.games import make
from zerosum.network.checkpoint import load_newest
from zerosum.network.evaluators import UniformEvaluator
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.play.entries import Entry
from zerosum.play.player import load_player
from zerosum.replay.config import ReplayConfig
from zerosum.replay.game_store import GameStore
from zerosum.replay.record_source import Part, RecordSource
from zerosum.replay.records import GameRecord
from zerosum.replay.shards import Seal, journal_name
from zerosum.replay.window import ReplayWindow
from zerosum.run.config import load_config, new_config
from zerosum.run.generation import GenerationSettings, generate_games
from zerosum.run.held_out import HeldOutFile, measure
from zerosum.run.record_training import RecordTraining, _Schedule
from zerosum.run.training import train
from zerosum.selfplay.playing_network import PROGRESS

GAME = "connect4"
SETTINGS = (
    "training.source=records",
    "training.deterministic=true",
    "training.num_checkpoints=4",
    "network.num_blocks=1",
    "network.num_filters=16",
    "learner.batch_size=64",
    "replay.dev_share=0.1",
    "replay.test_share=0.1",
    "replay.held_out_positions=300",
    "search.num_simulations=8",
    "strength.rollout_simulations=2",
    "strength.budget_share=0.01",
    "strength.solved_positions=0",
)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with games of a player that looks ahead, and nothing else."""
    run = tmp_path_factory.mktemp("runs") / "records"
    player = Entry.parse("alphabeta@3", [])
    generate_games(GAME, player, player, run, GenerationSettings(400, opening_plies=8))
    return run


def copied(records: Path, run: Path) -> Path:
    run.mkdir()
    for path in records.rglob("*"):
        if path.is_file():
            target = run / path.relative_to(records)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    return run


def learn(run: Path, *overrides: str, steps: int = 60) -> list[str]:
    said: list[str] = []
    fresh = () if (run / "config.toml").exists() else SETTINGS
    train(GAME, run, overrides=[*fresh, f"training.steps={steps}", *overrides], report=said.append)
    return said


def all_games(run: Path) -> list[GameRecord]:
    store = GameStore(run / "records", report=lambda _: None)
    try:
        return list(store.recent(num_games=store.num_games))
    finally:
        store.close()


def test_a_run_without_games_is_not_begun(tmp_path: Path) -> None:
    for source in ("records", "games"):
        with pytest.raises(RunError, match="has no games to learn from: .* --set training.source=selfplay"):
            train(GAME, tmp_path / "run", overrides=[*SETTINGS, "training.steps=5", f"training.source={source}"])
    assert not (tmp_path / "run").exists()


# ---- what is learned from


def test_every_pass_goes_through_all_parts(records: Path, tmp_path: Path) -> None:
    run = copied(records, tmp_path / "run")
    config = ReplayConfig(games_in_memory=100)
    store = GameStore(run / "records", report=print, games_per_shard=60)
    player = Entry.parse("random", [])
    store.close()
    generate_games(GAME, player, player, run, GenerationSettings(100, seed=7))
    parts = RecordSource(run / "records", config, report=print).parts
    assert len(parts) == 2
    learn(run, "replay.games_in_memory=100", "training.num_checkpoints=1", steps=2)
    schedule = _Schedule(parts, load_config(run / "config.toml"))
    lengths = [max(1, round(part.num_positions / 64)) for part in parts]
    orders = set()
    for number in range(20):
        steps = range(number * schedule.steps_per_pass, (number + 1) * schedule.steps_per_pass)
        told = [schedule.part(step) for step in steps]
        assert [told.count(part) for part in range(2)] == lengths
        assert sum(one != other for one, other in pairwise(told)) == 1
        orders.add(told[0])
    assert orders == {0, 1}


def test_steps_may_follow_the_number_of_games() -> None:
    """The preset `stanford`: 100 steps for 1,000 games, so that a file of 10,000 games has 1,000 steps."""
    config = new_config(make("chess"), "chess", preset="stanford")
    sizes = [10_000, 10_000, 500]
    parts = [part_of(at, size) for at, size in enumerate(sizes)]
    schedule = _Schedule(parts, config)
    assert schedule.steps_per_pass == 2050
    told = [schedule.part(step) for step in range(2050)]
    assert [told.count(part) for part in range(3)] == [1000, 1000, 50]
    assert schedule.steps_per_pass / (sum(sizes) / 1000) == 100


def part_of(number: int, num_games: int) -> Part:
    """A part of one file with so many games."""
    seal = Seal(
        number=number,
        shard=None,
        sha256="",
        num_bytes=0,
        num_games=num_games,
        num_positions=80 * num_games,
        first_game_id=0,
        last_game_id=0,
        next_game_id=0,
        journal=journal_name(number + 1),
    )
    return Part((seal,), 78 * num_games)


# ---- what is measured


class Best:
    """Knows what was played."""

    def __init__(self, window: ReplayWindow, num: int, seed: int) -> None:
        from zerosum.run.held_out import DRAW

        samples = window.sample(num, seed=seed, step=DRAW)
        self.targets = samples.policies.dense(make(GAME).spec.num_actions)
        self.returns, self.begin = samples.returns, 0

    def evaluate(self, leaves: object) -> Evaluations:
        size = len(leaves)  # type: ignore[arg-type]
        rows = slice(self.begin, self.begin + size)
        self.begin += size
        logits = leaves.select_legal(np.ascontiguousarray(20 * self.targets[rows]))  # type: ignore[attr-defined]
        return Evaluations(leaves, logits, np.ascontiguousarray(self.returns[rows]))  # type: ignore[arg-type]


def test_the_figures_of_those_who_know_nothing_and_everything(records: Path, tmp_path: Path) -> None:
    source = RecordSource(copied(records, tmp_path / "run") / "records", ReplayConfig(dev_share=0.2), report=print)
    window, game = source.held_out()["dev"], make(GAME)
    nothing = measure(game, UniformEvaluator(), window, step=1, split="dev", num_positions=600, seed=3)
    assert nothing.top1 == pytest.approx(nothing.uniform_top1) and nothing.top5 == pytest.approx(nothing.uniform_top5)
    assert nothing.cross_entropy == pytest.approx(nothing.uniform_cross_entropy)
    assert 0.14 < nothing.uniform_top1 < 0.3 and nothing.constant_value_error <= nothing.value_error <= 1
    everything = measure(game, Best(window, 600, 3), window, step=1, split="dev", num_positions=600, seed=3)
    assert (everything.top1, everything.top5, everything.value_error) == (1, 1, 0)
    assert everything.cross_entropy < 1e-6


# ---- runs


def test_a_network_learns_moves_and_results(records: Path, tmp_path: Path, zero: Command) -> None:
    run = copied(records, tmp_path / "run")
    said = learn(run, steps=300)
    line = HeldOutFile(run).newest("test")
    assert line is not None and line.step == 300
    # Which of equally good moves this player makes is drawn, so there is little to foretell.
    assert line.top1 > line.uniform_top1 + 0.03 and line.cross_entropy < line.uniform_cross_entropy
    assert line.value_error < line.constant_value_error
    assert any("record's move is in the best five" in text for text in said)
    assert [one.step for one in HeldOutFile(run).lines if one.split == "dev"] == [75, 150, 225, 300]
    assert "Held-out games, test" in zero("info", run).out


RATED = ("strength.budget_share=0.1", "strength.opening_plies=4")


def test_a_stopped_run_repeats_itself_bit_for_bit(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two rows of metrics and after a checkpoint's rating games, too."""
    whole = copied(records, tmp_path / "whole")
    learn(whole, *RATED, steps=120)
    again = copied(records, tmp_path / "again")
    saves = RecordTraining._save

    class Killed(BaseException):
        """Ends a training as far as it can tell."""

    for kill_at in (1, 2, 2):
        count = 0

        def save(self: RecordTraining, kill_at: int = kill_at) -> None:
            nonlocal count
            count += 1
            if count == kill_at:
                raise Killed
            saves(self)

        monkeypatch.setattr(RecordTraining, "_save", save)
        with pytest.raises(Killed):
            learn(again, *RATED, steps=120)
    monkeypatch.setattr(RecordTraining, "_save", saves)
    learn(again, *RATED, steps=120)
    one, two = result(whole), result(again)
    assert len({match["player"] for match in one["strength.jsonl"]} & {"step 30", "step 60", "step 90"}) > 1
    assert one.keys() == two.keys() and len(one) > 5
    assert [name for name in one if one[name] != two[name]] == []
    assert HeldOutFile(whole).lines == HeldOutFile(again).lines


def test_a_used_up_deterministic_run_goes_on_with_more(records: Path, tmp_path: Path) -> None:
    run = copied(records, tmp_path / "run")
    learn(run, *RATED, steps=20)
    learn(run, steps=40)
    names = sorted(path.name for path in (run / "checkpoints").glob("step-*.json"))
    assert names[-1] == "step-00000040.json"


def test_such_a_network_starts_self_play(records: Path, tmp_path: Path) -> None:
    run = copied(records, tmp_path / "run")
    learn(run, "training.deterministic=false")
    learn(run, "training.source=selfplay", "training.min_positions=50", "training.steps_per_phase=4", steps=72)
    names = sorted(path.name for path in (run / "checkpoints").glob("step-*.json"))
    assert names[-1] == "step-00000072.json"
    said = learn(run, "training.source=games", steps=76)
    assert any("positions: dev" in line for line in said)
    newest, _ = load_newest(run / "checkpoints")
    assert newest is not None and newest.info.step == 76
    assert newest.info.training[PROGRESS] == 1.0, "the games of the alpha-beta search do not begin again"


def test_masked_and_unmasked_learn(records: Path, tmp_path: Path) -> None:
    figures = []
    for mask in ("true", "false"):
        run = copied(records, tmp_path / mask)
        learn(run, f"learner.mask_illegal={mask}", "training.num_checkpoints=1")
        line = HeldOutFile(run).newest("test")
        assert line is not None
        figures.append(line.cross_entropy)
    assert figures[0] != figures[1]


def test_without_games_it_says_where_they_come_from(tmp_path: Path, zero: Command, records: Path) -> None:
    told = zero("train", GAME, "--run", tmp_path / "empty", "--from-records")
    assert told.status == 2 and "`zerosum import` reads people's, `zerosum generate`" in told.err
    with pytest.raises((DataError, RunError), match="recorded as connect4"):
        train("tictactoe", copied(records, tmp_path / "run"), overrides=[*SETTINGS, "training.steps=2"])
    with pytest.raises(RunError, match="it has played none"):
        learn(copied(records, tmp_path / "other"), "training.source=games")


def test_a_small_network_of_an_alpha_beta_search_learns_results(records: Path, tmp_path: Path) -> None:
    run = copied(records, tmp_path / "run")
    own = [setting for setting in SETTINGS if not setting.startswith(("network.", "search."))]
    own += ["network.updatable_units=16", "learner.learning_rate=0.01", "training.steps=300"]
    train(GAME, run, preset="nnue", overrides=own, report=lambda _: None)
    held_out = HeldOutFile(run).newest("dev")
    assert held_out is not None and held_out.value_error < 0.9 * held_out.constant_value_error
    assert load_player(run).is_alpha_beta
