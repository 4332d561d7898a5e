"""Fixtures of all tests: the same terminal and the same examples on every machine."""

import atexit
import gc
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from commands_for_tests import Answer, Command

# Before anything reads them: help texts and errors have no colours and one width, in a terminal and in CI alike.
os.environ.update(COLUMNS="120", NO_COLOR="1", TERM="dumb", _TYPER_FORCE_DISABLE_TERMINAL="1")
os.environ.pop("FORCE_COLOR", None)

# What a user has allowed on this machine has no part in the tests, and they none in it; processes that they start too.
os.environ["ZEROSUM_CONFIG"] = tempfile.mkdtemp(prefix="zerosum-tests-")
atexit.register(shutil.rmtree, os.environ["ZEROSUM_CONFIG"], ignore_errors=True)

# No test fails because a machine is slow or because today's random draw differs.
settings.register_profile("zerosum", deadline=None, derandomize=True)
settings.load_profile("zerosum")


LONGEST = (
    "cluster/test_kill_cluster.py",
    "cluster/test_cluster_training.py",
    "run/test_run.py",
    "run/test_kill_training.py",
    "cluster/test_cluster_learner.py",
    "report/test_report.py",
    "run/test_deterministic.py",
    "learner/parallel/test_parallel_learner.py",
    "selfplay/test_selfplay_processes.py",
    "bench/test_bench.py",
    "run/test_foreign_runs.py",
    "web/test_browser_engines.py",
    "run/test_record_training.py",
    "run/test_growth.py",
    "test_docs.py",
    "run/test_exam.py",
    "games/test_every_game.py",
    "learner/test_learner.py",
    "web/test_browser_boards.py",
    "web/test_browser_access.py",
    "games/test_games.py",
    "cli/test_cli.py",
    "games/test_mini.py",
    "web/test_browser_sizes.py",
    "learner/test_rewards.py",
    "web/test_browser.py",
    "run/test_learned.py",
    "web/test_browser_kept.py",
    "tools/test_relearn.py",
    "bench/test_gpu.py",
    "web/test_browser_play.py",
    "search/test_learned_rules.py",
    "cli/test_cli_play.py",
    "web/test_browser_analyse.py",
    "network/test_lc0.py",
    "play/test_choice.py",
    "run/test_reanalysis.py",
    "cli/test_cli_runs.py",
    "web/test_browser_runs.py",
    "report/studies/test_ablations_study.py",
    "run/test_gate.py",
    "analysis/test_hindsight.py",
    "protocols/test_uci.py",
    "games/test_shogi.py",
    "base/test_unwritable.py",
    "run/test_muzero_run.py",
    "protocols/test_usi.py",
    "report/studies/test_nim_study.py",
    "report/studies/test_one_network_study.py",
    "web/test_browser_table.py",
    "run/test_updatable_run.py",
    "test_examples.py",
    "tools/test_mutate.py",
    "web/test_browser_games.py",
    "network/evaluators/test_openvino_evaluator.py",
    "contest/test_time_manager.py",
)
"""Files of eight CPU-seconds and more, the longest first; Ray's come early, because they wait most of their time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: where files run side by side, the last one would run alone."""
    tests = Path(__file__).parent
    places = {tests / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look at half a million objects again."""
    gc.freeze()


@pytest.fixture(autouse=True)
def no_bundled_networks(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bundled networks play in their own tests only: elsewhere a game that no run has learned has none."""
    monkeypatch.setattr("zerosum.play.bundled.DIRECTORY", tmp_path_factory.getbasetemp() / "no networks")


@pytest.fixture
def zero(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`zerosum` with these words and lines typed."""
    from zerosum.cli import main

    def run(*words: str | Path, typed: str = "") -> Answer:
        monkeypatch.setattr(sys, "argv", ["zerosum", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert isinstance(stop.value.code, int | None)
        return Answer(stop.value.code or 0, out, err)

    return run
