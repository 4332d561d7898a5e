"""Who plays where nobody is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from test_player import save_network
from zerosum.checkpoint import read_info
from zerosum.errors import DataError
from zerosum.games import make
from zerosum.play.choice import choose_player, describe_network, network_at, newest_run

CONNECT4, TICTACTOE = make("connect4"), make("tictactoe")


def save_run(runs: Path, name: str, game: str, *, at: int) -> Path:
    path = save_network(runs / name / "checkpoints", make(game))
    os.utime(path, (at, at))
    return path


def test_takes_the_newest_run_of_the_game(tmp_path: Path) -> None:
    save_run(tmp_path, "old", "connect4", at=1_000)
    save_run(tmp_path, "a-new-one", "connect4", at=2_000)
    save_run(tmp_path, "other-game", "tictactoe", at=3_000)
    assert newest_run(CONNECT4, runs=tmp_path) == tmp_path / "a-new-one"
    chosen = choose_player(CONNECT4, runs=tmp_path)
    assert chosen.sentence == f"Playing with the newest run, {tmp_path / 'a-new-one'}, step 7."
    assert chosen.player.analyse(num_simulations=4).num_simulations == 4


def test_a_damaged_description_is_passed_over(tmp_path: Path) -> None:
    whole = save_run(tmp_path, "run", "connect4", at=1_000)
    (whole.parent / "step-00000009.json").write_text("{")
    assert newest_run(CONNECT4, runs=tmp_path) == tmp_path / "run"


def test_plays_a_network_under_another_komi() -> None:
    assert make("go(size=9, komi=5.5)").spec.encoder_id == make("go9").spec.encoder_id


def test_without_a_run_rollouts_play(tmp_path: Path) -> None:
    save_run(tmp_path, "other-game", "tictactoe", at=1_000)
    for runs in (tmp_path, tmp_path / "nowhere"):
        chosen = choose_player(CONNECT4, runs=runs)
        expected = f"No run in {runs} has learned connect4: playing with uniform priors and rollouts."
        assert chosen.sentence == expected
        assert chosen.player.analyse(num_simulations=4).num_simulations == 4


def test_who_is_named_plays_or_is_refused(tmp_path: Path) -> None:
    path = save_run(tmp_path, "run", "connect4", at=1_000)
    for named in (path, path.parent, tmp_path / "run"):
        assert choose_player(CONNECT4, named, runs=tmp_path / "nowhere").sentence == f"Playing with {named}, step 7."
    with pytest.raises(DataError, match="does not fit tictactoe"):
        choose_player(TICTACTOE, path)
    with pytest.raises(DataError, match="is not there"):
        choose_player(TICTACTOE, tmp_path / "nobody")


def test_info_is_read_without_weights(tmp_path: Path) -> None:
    path = save_run(tmp_path, "run", "connect4", at=1_000)
    for weights in path.parent.glob("*.safetensors"):
        weights.unlink()
    assert read_info(path).full_name == "connect4"


def test_a_network_is_described_without_its_weights(tmp_path: Path) -> None:
    path = save_run(tmp_path, "run", "connect4", at=1_000)
    for weights in path.parent.glob("*.safetensors"):
        weights.unlink()
    for named in (path, path.parent, tmp_path / "run"):
        assert network_at(named) == read_info(path) == describe_network(TICTACTOE, named)
    assert describe_network(CONNECT4, runs=tmp_path) == read_info(path)
    assert describe_network(TICTACTOE, runs=tmp_path) is None
    with pytest.raises(DataError, match="is not there: name a run directory"):
        network_at(tmp_path / "nowhere")
    with pytest.raises(DataError, match="There is no checkpoint in"):
        network_at(tmp_path)
