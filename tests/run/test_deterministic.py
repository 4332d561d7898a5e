"""A deterministic run: the same bit for bit each time, however often and wherever it is interrupted."""

from __future__ import annotations

import itertools
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kill_training import result
from selfplay_twin import TwinGames
from zerosum.base.errors import RunError, SettingsError
from zerosum.learner import Learner
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import list_checkpoints
from zerosum.run.gate import Gate
from zerosum.run.metrics import read_metrics
from zerosum.run.selfplay_training import SelfplayTraining
from zerosum.run.strength import Strength
from zerosum.run.training import train
from zerosum.selfplay.worker import SelfplayWorker

STEPS = 24
SETTINGS = (
    "training.deterministic=true",
    "training.min_positions=50",
    "training.steps_per_phase=3",
    "training.num_checkpoints=4",
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.cache_positions=20",
    "search.num_simulations=8",
    "selfplay.games_per_worker=4",
    "selfplay.opening_share=0.2",
    "selfplay.resign_false_positives=0.2",
    "selfplay.resign_played_out_share=0.3",
    "learner.batch_size=16",
    "learner.samples_per_position=4",
    "replay.games_per_shard=7",
    "replay.window_min_positions=60",
    "strength.rollout_simulations=2",
    "strength.budget_share=0.2",
)


def go_on(run: Path, *overrides: str, steps: int = STEPS, report: Callable[[str], None] = lambda _: None) -> None:
    """Train until the end, or as far as it gets."""
    fresh = () if (run / "config.toml").exists() else SETTINGS
    train("tictactoe", run, overrides=[*fresh, f"training.steps={steps}", *overrides], report=report)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing interrupted."""
    run, said = tmp_path_factory.mktemp("runs") / "whole", list[str]()
    go_on(run, report=said.append)
    assert any("resigns below" in line for line in said)
    return run


def assert_same(run: Path, other: Path) -> None:
    one, two = result(run), result(other)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


class Killed(BaseException):
    """Ends a training as far as it can tell."""


PLACES = {
    "play_batch": (SelfplayWorker, 600),
    "step": (Learner, 12),
    "_play": (Strength, 6),
    "_report_progress": (SelfplayTraining, 4),
    "_save": (SelfplayTraining, 2),
}
"""What a kill may come before or after, and about how often it may from one checkpoint to the next."""

Kill = Callable[[str, int], None]


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Kill:
    """Lets the next training die after so many more befores and afters of a place; "" stands for never."""
    place, left = "", 0

    def set_kill(name: str, count: int) -> None:
        nonlocal place, left
        place, left = name, count

    def pass_by(name: str) -> None:
        nonlocal left
        if name == place:
            left -= 1
            if left < 0:
                raise Killed

    def mortal(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            pass_by(name)
            answer = function(*arguments, **named)
            pass_by(name)
            return answer

        return call

    for name, (owner, _) in PLACES.items():
        monkeypatch.setattr(owner, name, mortal(name, getattr(owner, name)))
    return set_kill


def die(run: Path, kill: Kill, name: str, count: int, *overrides: str, steps: int = STEPS) -> None:
    kill(name, count)
    with pytest.raises(Killed):
        go_on(run, *overrides, steps=steps)
    kill("", 0)


def test_two_runs_are_the_same(whole: Path, tmp_path: Path) -> None:
    go_on(tmp_path / "run")
    assert_same(tmp_path / "run", whole)
    files = result(whole)
    assert [path.stem for path in list_checkpoints(whole / "checkpoints")][1:] == [
        f"step-{step:08d}" for step in (6, 12, 18, 24)
    ]
    assert len(list(whole.glob("games/*.parquet"))) > 5 and len(files["strength.jsonl"]) > 5
    assert [row.step for row in files["metrics.csv"]] == list(range(3, 25, 3))
    go_on(tmp_path / "other", "training.seed=1")
    theirs, ours = (load_checkpoint(run).weights for run in (tmp_path / "other", whole))
    assert not np.array_equal(theirs["stem.conv.weight"], ours["stem.conv.weight"])


def test_interruptions_change_nothing(whole: Path, tmp_path: Path, kill: Kill) -> None:
    """Killed at each kind of place in turn, and stopped by Ctrl-C near the end."""
    run, said, generator, num_kills = tmp_path / "run", list[str](), np.random.default_rng(0), 0

    def take(line: str) -> None:
        said.append(line)
        if "(75%)" in line:
            kill("", 0)  # a kill after it would begin again behind this line
            signal.raise_signal(signal.SIGINT)

    for name, (_, limit) in itertools.cycle(PLACES.items()):
        kill(name, int(generator.integers(limit)))
        try:
            go_on(run, report=take)
            break
        except Killed:
            num_kills += 1
    assert num_kills >= len(PLACES)
    assert "Stopped. To resume from the checkpoint of step " in said[-1]
    assert load_checkpoint(run).info.step < STEPS
    kill("", 0)
    go_on(run)
    assert_same(run, whole)


def test_games_of_an_alpha_beta_search_repeat_after_a_kill(tmp_path: Path, kill: Kill) -> None:
    """The search plays until the network of step 12, and a kill comes before and after it."""
    settings = ("depth=2", "share=0.5", "learning_nodes=2000")
    asked, said = tuple(f"selfplay.alphabeta_{setting}" for setting in settings), list[str]()
    go_on(tmp_path / "whole", *asked, report=said.append)
    told = [line.strip() for line in said if "plays self-play's games" in line]
    assert told == [
        "At first an alpha-beta search of depth 2 plays self-play's games.",
        "from now on the network plays self-play's games",
    ]
    for count in (2 * 8, 2 * 12):
        die(tmp_path / "run", kill, "step", count, *asked)
    assert load_checkpoint(tmp_path / "run").info.step >= 12
    go_on(tmp_path / "run")
    assert_same(tmp_path / "run", tmp_path / "whole")
    evaluations = [(tmp_path / run / "evaluation.json").read_text() for run in ("run", "whole")]
    assert evaluations[0] == evaluations[1]


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_position_of_the_alpha_beta_search_is_learned_from_once(tmp_path: Path, *, is_interrupted: bool) -> None:
    """`learner.samples_per_position` is 4 for the network's games."""
    asked = ("training.deterministic=false", "training.steps_per_phase=1", "selfplay.alphabeta_depth=2")
    asked += ("selfplay.alphabeta_share=1", "selfplay.alphabeta_learning_nodes=2000")
    for steps in (9, STEPS) if is_interrupted else (STEPS,):
        go_on(tmp_path, *asked, steps=steps)
    positions, samples = load_checkpoint(tmp_path).info.training["positions"], 16 * STEPS
    most_ahead = 16 * 4 * 4 + 2 * 9  # self-play waits at four phases, in samples of the network's games
    assert samples <= positions <= samples + most_ahead


def test_polite_kills_in_phases_of_learning_add_no_row(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run, stopped before each of these steps: in the first phase, within, first and last of later ones."""
    run, step, place = tmp_path / "run", Learner.step, 0

    def stopping(learner: Learner, *arguments: Any, **named: Any) -> Any:
        if learner.step_number + 1 == place:
            signal.raise_signal(signal.SIGTERM)
        return step(learner, *arguments, **named)

    monkeypatch.setattr(Learner, "step", stopping)
    for place in (1, 2, 3, 8, 13, 24):
        go_on(run)
        steps = [row.step for row in read_metrics(run / "metrics.csv")]
        assert steps == list(range(3, place, 3)), "a row a phase, and none for the one cut short"
    place = 0
    go_on(run)
    assert_same(run, whole)


def test_a_used_up_run_goes_on_with_more(whole: Path, tmp_path: Path, kill: Kill) -> None:
    runs = [tmp_path / name for name in ("at once", "killed")]
    for run in runs:
        shutil.copytree(whole, run)
        go_on(run)
        assert_same(run, whole)
    go_on(runs[0], steps=36)
    die(runs[1], kill, "step", 3, steps=36)
    die(runs[1], kill, "_save", 1, steps=36)
    go_on(runs[1], steps=36)
    assert_same(*runs)


def test_a_gate_repeats_its_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after kills before a match for the best network's place, and between its verdict and its use."""
    gated = (
        "training.gate_games=6",
        "training.gate_score=0.5",
        "training.leaf_symmetries=true",
        "training.leaf_values=mean",
        "learner.importance_limit=1",
        "search.reuse_tree=false",
    )
    whole, run = tmp_path / "whole", tmp_path / "run"
    go_on(whole, *gated)
    verdicts = [line for line in (whole / "gate.jsonl").read_text().splitlines() if '"is_passed": true' in line]
    assert 1 <= len(verdicts) < 4, "networks that pass and networks that do not, so that both are repeated"
    judge, calls = Gate.judge, itertools.count(1)

    def mortal(self: Gate, *arguments: Any, **named: Any) -> Any:
        call = next(calls)
        if call % 3 == 2:
            raise Killed
        answer = judge(self, *arguments, **named)
        if call % 3 == 0:
            raise Killed
        return answer

    monkeypatch.setattr(Gate, "judge", mortal)
    overrides, num_kills = gated, 0
    while True:
        try:
            go_on(run, *overrides)
            break
        except Killed:
            num_kills += 1
    assert num_kills >= 3
    assert_same(run, whole)


def test_what_it_cannot_keep_is_refused(whole: Path, tmp_path: Path, kill: Kill) -> None:
    run = tmp_path / "run"
    with pytest.raises(SettingsError, match="needs a budget in learner steps.*--steps 2000"):
        train("tictactoe", run, overrides=SETTINGS)
    assert not run.exists()
    die(run, kill, "step", 0)
    for change in ("learner.learning_rate=0.1", "training.steps=99"):
        with pytest.raises(
            SettingsError, match="its settings cannot be changed until its budget of 24 steps is used up"
        ):
            go_on(run, change)
    free = tmp_path / "free"
    shutil.copytree(whole, free)
    go_on(free, "training.deterministic=false")
    with pytest.raises(SettingsError, match="began without training.deterministic"):
        go_on(free, "training.deterministic=true")


def test_what_comes_out_different_is_told(tmp_path: Path, kill: Kill, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other moves when games are played again, another opponent in a rating game, a shard that is not there."""
    run = tmp_path / "run"
    die(run, kill, "_save", 6)  # all is done for the fourth checkpoint, which is not there
    before = result(run)
    with monkeypatch.context() as patch:
        patch.setattr("zerosum.selfplay.worker.GamesInFlight", TwinGames)
        patch.setattr("selfplay_twin.choose_action", lambda root, *_, **__: (int(root.actions[0]), False))
        with pytest.raises(RunError, match=r"Game \d+ was played again and is not the game recorded in .*=false"):
            go_on(run)
    assert result(run) == before
    matches = run / "strength.jsonl"
    text = matches.read_text()
    *lines, last = text.splitlines(keepends=True)
    matches.write_text("".join(lines) + last.replace('"step 24"', '"step 23"'))
    with pytest.raises(RunError, match="is to meet .* again, and in .*strength.jsonl .* met .*=false"):
        go_on(run)
    matches.write_text(text)
    shard = sorted(run.glob("games/*.parquet"))[0]
    shard.rename(tmp_path / shard.name)
    with pytest.raises(RunError, match=r"only \d+ of the \d+ games before its checkpoint of step 18 exist"):
        go_on(run)
    (tmp_path / shard.name).rename(shard)
    go_on(run, "training.deterministic=false")
    assert matches.read_text().startswith(text)
    games = {name: content for name, content in before.items() if name.endswith(".parquet")}
    assert games.items() <= result(run).items()
