"""Self-play and training run on every game of the core unchanged: a few steps of a tiny network each."""

from __future__ import annotations

import pytest

from runs_for_tests import train_a_little
from zerosum import _core
from zerosum.games import make
from zerosum.network.checkpoint import load_newest
from zerosum.run import strength
from zerosum.run.config import load_config, new_config

NAMES = sorted({make(name).spec.full_name for name in _core.core_game_names()})
"""Each game once, although it may have several names."""


@pytest.mark.parametrize("name", NAMES)
def test_it_learns(name: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Eight rating games took three quarters of the time: one of 19x19 Go has hundreds of moves.
    monkeypatch.setattr(strength, "CHUNK", 2)
    train_a_little(name, tmp_path, is_rated=True)
    checkpoint, damage = load_newest(tmp_path / "checkpoints")
    assert checkpoint is not None and checkpoint.info.step == 2 and not damage
    played = load_config(tmp_path / "config.toml").game  # with the planes that training.planes adds
    assert checkpoint.info.encoder_id == make(played).spec.encoder_id
    assert any(weight.any() for name, weight in checkpoint.weights.items() if name.startswith("policy_out"))
    assert (tmp_path / "strength.jsonl").exists()


@pytest.mark.parametrize("name", NAMES)
def test_its_defaults_fit(name: str) -> None:
    game = make(name)
    config = new_config(game, name)
    height, width = game.spec.board_shape
    is_planes = game.spec.has_action_planes and height * width > 16
    assert (config.network.policy_head == "planes") == is_planes
    assert config.search.root_noise_alpha is not None and config.search.root_noise_alpha < 5
