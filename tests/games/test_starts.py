"""Games that begin with one of several positions: drawn, recorded, gone on with, learned from, and shared by a pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zerosum
from runs_for_tests import SETTINGS
from zerosum import _core
from zerosum.arena import openings, play_match
from zerosum.base.errors import DataError, GameError
from zerosum.games import make, start_state
from zerosum.games.rules import drawn_start
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.contestant import RANDOM
from zerosum.replay.game_store import GameStore
from zerosum.run.report import transcript
from zerosum.search import SearchConfig
from zerosum.selfplay import MemoryLog, SelfplayConfig, SelfplayTask
from zerosum.selfplay import worker as selfplay
from zerosum.selfplay.worker import SelfplayWorker

GAME = make("connect4")
TEXTS = (
    "7/7/7/7/3O3/3X3 X",
    "7/7/7/7/7/2X4 O",
    "7/7/7/7/7/O5X X",
)


class Several:
    """Connect Four that begins with one of several positions: as the core shows such a game, and with a history.

    What stands in for a state is (text, whether its history is known).
    """

    def __init__(self, texts: tuple[str | None, ...]) -> None:
        self.texts, self.num_starts, self.spec = texts, len(texts), GAME.spec

    def initial_state(self) -> Any:
        return self.texts[0], True

    def start(self, number: int) -> Any:
        return self.texts[number], True

    def position_text(self, state: Any) -> str | None:
        return state[0]

    def parse_position(self, text: str) -> Any:
        return text, False


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-play and matches of Connect Four begin with one of `TEXTS`, and now and then with the initial position."""

    def draw(game: Any, *, seed: int, number: int) -> str:
        return ("", *TEXTS)[int(_core.uniform(seed, number, 0, "start") * 4)]

    for module in (selfplay, openings):
        monkeypatch.setattr(module, "drawn_start", draw)


def new_task(log: Any, **changes: Any) -> SelfplayTask:
    config = SelfplayConfig(games_per_worker=4, full_search_share=1.0, opening_share=0.5, opening_plies=3)
    values = {"search": SearchConfig(num_simulations=8, root_noise_alpha=1.0), "config": config} | changes
    return SelfplayTask(game=GAME, evaluator=UniformEvaluator(), log=log, seed=5, settings_hash="", **values)


def test_starts_are_drawn_evenly_and_repeat() -> None:
    game: Any = Several(tuple(f"position {number}" for number in range(8)))
    drawn = [drawn_start(game, seed=3, number=number) for number in range(4000)]
    assert drawn == [drawn_start(game, seed=3, number=number) for number in range(4000)]
    assert drawn != [drawn_start(game, seed=4, number=number) for number in range(4000)]
    counts = Counter(drawn)
    assert counts.keys() == {"", *game.texts[1:]}, "the initial position has no text"
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 24.3  # chi squared, 7 degrees: 0.1 % of seeds


def test_a_game_with_one_start_has_no_text() -> None:
    assert {drawn_start(GAME, seed=1, number=number) for number in range(9)} == {""}


def test_starts_need_a_notation() -> None:
    game: Any = Several((None, None))
    with pytest.raises(GameError, match="has 2 starting positions but no notation, which records need"):
        drawn_start(game, seed=1, number=1)


def test_a_start_of_the_rules_has_no_missing_history() -> None:
    game: Any = Several(("first", "second"))
    assert start_state(game, "") == ("first", True)
    assert start_state(game, "second") == ("second", True)
    assert GAME.initial_state() is not start_state(GAME, "") is not start_state(GAME, ""), "nobody keeps it"
    assert start_state(game, "somewhere") == ("somewhere", False), "what came before is for the game to say"


def test_every_start_of_the_core_is_found_by_its_text() -> None:
    for name in _core.core_game_names():
        game = make(name)
        if game.num_starts == 1:
            continue
        for number in range(0, game.num_starts, 37):
            start = game.start(number)
            text = game.position_text(start)
            assert text and game.outcome(start) is None
            np.testing.assert_array_equal(game.planes(start_state(game, text)), game.planes(start), text)


@pytest.mark.usefixtures("several")
def test_selfplay_begins_there_and_goes_on_from_there() -> None:
    def play(log: MemoryLog, *, running: Any = ()) -> Iterator[Any]:
        worker = SelfplayWorker(new_task(log), running=running)
        while True:
            yield from worker.play_batch()

    records = [record for record, _ in zip(play(MemoryLog()), range(24), strict=False)]
    assert {record.start for record in records} == {"", *TEXTS}
    for record in records:
        state = start_state(GAME, record.start)
        for action, player in zip(record.plies["action"].tolist(), record.plies["player"].tolist(), strict=True):
            assert action in GAME.legal_actions(state) and player == GAME.player(state)
            state = GAME.play(state, action)
        assert (record.outcome, record.ending) == (GAME.outcome(state), GAME.ending(state))

    # Cut off in the middle of games, and gone on with: the same games.
    running: dict[int, Any] = {}
    worker = SelfplayWorker(new_task(MemoryLog(running)))
    ended = [record for _ in range(60) for record in worker.play_batch()]
    assert any(game.plies and game.header.start for game in running.values())
    going_on = zip(play(MemoryLog(running), running=list(running.values())), range(4), strict=False)
    by_id = {record.game_id: record for record in records}
    common = [record for record in (*ended, *(record for record, _ in going_on)) if record.game_id in by_id]
    assert len(common) > 4
    for record in common:
        same = by_id[record.game_id]
        assert (record.start, record.outcome) == (same.start, same.outcome)
        assert record.plies["action"].tolist() == same.plies["action"].tolist()


@pytest.mark.usefixtures("several")
def test_a_pair_of_a_match_shares_its_start() -> None:
    result = play_match(GAME, RANDOM, RANDOM, num_games=40, opening_plies=1, seed=2)
    starts = [game.start for game in result.games]
    assert starts[::2] == starts[1::2] and set(starts) == {"", *TEXTS}
    for game in result.games:
        state = start_state(GAME, game.start)
        for action in game.actions:
            state = GAME.play(state, action)
        assert game.ending == GAME.ending(state)
    shown = next(game for game in result.games if game.start == TEXTS[0])
    assert f"\n  from {TEXTS[0]}\n" in transcript(GAME, shown, result)


@pytest.mark.usefixtures("several")
def test_a_run_learns_from_such_games_and_resumes(tmp_path: Path) -> None:
    run, lines = tmp_path / "run", list[str]()
    settings = [*SETTINGS, "replay.games_per_shard=3"]
    zerosum.train("connect4(max_plies=30)", run, overrides=settings, report=lines.append)
    zerosum.train("connect4( max_plies = 30 )", run, overrides=["training.steps=4"], report=lines.append)
    assert "Learning connect4(max_plies=30) in" in lines[0]
    store = GameStore(run / "games", report=lines.append)
    headers = [*store.recent(10_000), *(game.header for game in store.running.values())]
    store.close()
    assert {header.options for header in headers} == {"max_plies=30"}
    assert len({header.start for header in headers}) > 1
    player = zerosum.load(next((run / "checkpoints").glob("step-*4.json")))
    assert player.game.spec.full_name == "connect4(max_plies=30)"


def test_a_checkpoint_alone_knows_its_options(tmp_path: Path) -> None:
    zerosum.train("connect4(max_plies=30)", tmp_path / "run", overrides=SETTINGS, report=lambda _: None)
    (tmp_path / "run" / "checkpoints").rename(tmp_path / "alone")
    assert zerosum.load(tmp_path / "alone").game.spec.max_plies == 30
    with pytest.raises(DataError, match=r"for connect4\(max_plies=30\) does not fit tictactoe"):
        zerosum.load(tmp_path / "alone", game="tictactoe")
