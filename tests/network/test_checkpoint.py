"""Checkpoints: what is written is read, what is damaged is named and never read."""

from __future__ import annotations

import dataclasses
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

from zerosum import _core
from zerosum.base.errors import DataError
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights, load_checkpoint, save_checkpoint
from zerosum.network import checkpoint as checkpoint_module
from zerosum.network.checkpoint import (
    FORMAT_VERSION,
    DamagedCheckpointError,
    checkpoint_path,
    list_checkpoints,
    load_learner_state,
    load_newest,
    save_network,
    set_aside,
)
from zerosum.network.description import require_encoder

TINY = NetworkConfig(num_blocks=1, num_filters=2, policy_filters=1, value_filters=1, value_hidden=2)
LEARNER_STATE = {
    "momentum.stem": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
    "random_counter": np.array(2**63 + 5, dtype=np.uint64),
    "half": np.ones(3, np.float16),
}
LEARNER_INFO = {"optimizer": "sgd", "window": {"first": 3, "last": 9}, "by_count": {9: 1.5, 10: 0.1}}


def make_info(step=1000, **changes):
    info = CheckpointInfo(
        game="connect4",
        game_options="",
        game_version=1,
        encoder_id="connect4-1-abcd",
        planes=(("own stones", False), ("opponent's stones", False), ("second player to move", True)),
        board_shape=(6, 7),
        num_actions=7,
        max_plies=42,
        network=TINY,
        step=step,
        code_version="0.1.0",
        created_at="2025-01-01T00:00:00+00:00",
        training={"samples": 123, "minutes": 4.5},
    )
    return dataclasses.replace(info, **changes)


def make_checkpoint(step=1000):
    info = make_info(step)
    return Checkpoint(info=info, weights=initial_weights(info.network, info.shape, seed=step))


def save(directory, step=1000):
    return save_checkpoint(directory, make_checkpoint(step), learner_state=LEARNER_STATE, learner_info=LEARNER_INFO)


def make_spec(**changes):
    info = make_info()
    planes = [SimpleNamespace(name=name, is_constant=is_constant) for name, is_constant in info.planes]
    values = {
        "name": info.game,
        "version": info.game_version,
        "encoder_id": info.encoder_id,
        "planes": planes,
        "board_shape": info.board_shape,
        "num_actions": info.num_actions,
        "max_plies": info.max_plies,
    }
    values |= changes
    return SimpleNamespace(full_name=values["name"], **values)


def assert_same(found, expected):
    assert found.info == expected.info
    assert found.weights.keys() == expected.weights.keys()
    assert all((found.weights[name] == expected.weights[name]).all() for name in expected.weights)


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def damage_json(path, change):
    """Change the JSON's content and leave its checksum as it was."""
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))


def test_what_is_saved_is_loaded(tmp_path):
    path = save(tmp_path)
    assert path == checkpoint_path(tmp_path, 1000)
    assert names(tmp_path) == [
        "step-00001000.json",
        "step-00001000.learner.safetensors",
        "step-00001000.safetensors",
    ]
    assert_same(load_checkpoint(path), make_checkpoint())
    arrays, info = load_learner_state(path)
    assert info == LEARNER_INFO | {"by_count": {"9": 1.5, "10": 0.1}}  # JSON has no whole numbers as names
    assert arrays.keys() == LEARNER_STATE.keys()
    for name, array in LEARNER_STATE.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_a_directory_and_a_run_give_their_newest(tmp_path):
    for step in (0, 1000, 100_000_000, 99_999_999):
        save(tmp_path / "checkpoints", step)
    assert [path.stem for path in list_checkpoints(tmp_path / "checkpoints")] == [
        "step-00000000",
        "step-00001000",
        "step-99999999",
        "step-100000000",
    ]
    for path in (tmp_path, tmp_path / "checkpoints"):
        assert_same(load_checkpoint(path), make_checkpoint(100_000_000))
    newest, messages = load_newest(tmp_path / "checkpoints")
    assert newest is not None
    assert_same(newest, make_checkpoint(100_000_000))
    assert messages == []


def test_playing_needs_no_learner_state(tmp_path):
    path = save(tmp_path)
    path.with_suffix(".learner.safetensors").unlink()
    assert_same(load_checkpoint(path), make_checkpoint())
    with pytest.raises(DamagedCheckpointError, match=r"step-00001000\.learner\.safetensors is missing"):
        load_learner_state(path)


def test_a_network_to_play_with_has_weights_of_half_the_size(tmp_path):
    checkpoint = make_checkpoint()
    read = load_checkpoint(save_network(tmp_path, checkpoint))
    assert read.info == checkpoint.info
    for name, weight in checkpoint.weights.items():
        np.testing.assert_array_equal(read.weights[name], weight.astype(np.float16).astype(np.float32))
    name = next(iter(checkpoint.weights))
    too_large = {**checkpoint.weights, name: np.full_like(checkpoint.weights[name], 70_000)}
    with pytest.raises(DataError, match=f"weights {name} do not fit float16, whose largest number is 65504"):
        save_network(tmp_path / "other", dataclasses.replace(checkpoint, weights=too_large))


def test_a_step_is_saved_once(tmp_path):
    save(tmp_path)
    with pytest.raises(FileExistsError, match=r"step-00001000\.json"):
        save(tmp_path)


def test_what_a_crash_leaves_behind_is_no_checkpoint(tmp_path):
    """Stopped after any number of steps of a save: not listed, not loaded, and saving again completes it."""
    whole = tmp_path / "whole"
    save(whole)
    written = ["step-00001000.safetensors", "step-00001000.learner.safetensors"]
    for count in range(3):
        crashed = tmp_path / f"crashed-{count}"
        crashed.mkdir()
        for name in written[:count]:
            (crashed / name).write_bytes((whole / name).read_bytes()[:50])
        unfinished = (whole / "step-00001000.json").read_bytes()[:100]
        (crashed / ".step-00001000.json.unfinished").write_bytes(unfinished)
        assert list_checkpoints(crashed) == []
        assert load_newest(crashed) == (None, [])
        with pytest.raises(DataError, match="no undamaged checkpoint"):
            load_checkpoint(crashed)
        assert_same(load_checkpoint(save(crashed)), make_checkpoint())


def test_the_json_is_renamed_into_place_last_and_everything_is_synced(tmp_path, monkeypatch):
    events = []
    real_replace, real_fsync = os.replace, os.fsync

    def replace(source, target):
        events.append(os.path.basename(target))
        real_replace(source, target)

    def fsync(descriptor):
        events.append("sync")
        real_fsync(descriptor)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "fsync", fsync)
    save(tmp_path)
    after_rename = [] if os.name == "nt" else ["sync"]
    assert events == [
        event
        for name in ("step-00001000.safetensors", "step-00001000.learner.safetensors", "step-00001000.json")
        for event in ("sync", name, *after_rename)
    ]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def remove(path):
    path.unlink()


@pytest.mark.parametrize(
    ("suffix", "harm"),
    [(".json", harm) for harm in (truncate, flip_a_byte, empty)]  # without its JSON it is not a checkpoint
    + [(s, harm) for s in (".safetensors", ".learner.safetensors") for harm in (truncate, flip_a_byte, empty, remove)],
)
def test_damage_is_named_and_set_aside_and_the_one_before_is_used(tmp_path, suffix, harm):
    for step in (500, 1000):
        save(tmp_path, step)
    path = checkpoint_path(tmp_path, 1000)
    harm(path.with_suffix(suffix))
    there = [name for name in names(tmp_path) if name.startswith("step-00001000")]

    newest, messages = load_newest(tmp_path)
    assert newest is not None
    assert_same(newest, make_checkpoint(500))
    assert len(messages) == 1
    assert f"{path} is damaged: step-00001000{suffix}" in messages[0]
    assert [name for name in names(tmp_path) if name.startswith("step-00001000")] == [
        f"{name}.damaged" for name in there
    ]
    assert list_checkpoints(tmp_path) == [checkpoint_path(tmp_path, 500)]
    assert load_newest(tmp_path)[1] == []
    save(tmp_path, 1000)  # the name is free again


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_reading_a_run_passes_damage_over_aloud_and_touches_nothing(tmp_path, suffix, capsys):
    for step in (500, 1000):
        save(tmp_path, step)
    path = checkpoint_path(tmp_path, 1000)
    flip_a_byte(path.with_suffix(suffix))
    before = names(tmp_path)
    messages = []
    assert_same(load_checkpoint(tmp_path, report=messages.append), make_checkpoint(500))
    assert len(messages) == 1
    assert f"is damaged: step-00001000{suffix}" in messages[0]
    assert messages[0].endswith("Another checkpoint is used instead.")
    assert capsys.readouterr().err == ""
    assert_same(load_checkpoint(tmp_path), make_checkpoint(500))
    assert capsys.readouterr().err == messages[0] + "\n"
    with pytest.raises(DamagedCheckpointError, match=f"step-00001000{suffix}"):
        load_checkpoint(path)
    assert names(tmp_path) == before


def test_all_damaged_leaves_none(tmp_path):
    for step in (500, 1000):
        flip_a_byte(save(tmp_path, step))
    newest, messages = load_newest(tmp_path)
    assert newest is None
    assert ["step-00001000" in messages[0], "step-00000500" in messages[1]] == [True, True]


def test_no_changed_byte_of_the_json_passes(tmp_path):
    path = save(tmp_path)
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(DataError):
            load_checkpoint(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedCheckpointError, match="not complete JSON"):
            load_checkpoint(path)


def test_a_newer_format_is_refused_and_left_alone(tmp_path):
    save(tmp_path, 500)
    path = save(tmp_path, 1000)
    damage_json(path, lambda body: body.update(format_version=FORMAT_VERSION + 1))
    before = names(tmp_path)
    for read in (load_newest, load_checkpoint):
        with pytest.raises(DataError, match=r"newer than this version of zerosum reads \(1\)") as caught:
            read(tmp_path)
        assert not isinstance(caught.value, DamagedCheckpointError)
    assert names(tmp_path) == before


def test_setting_aside_says_why_and_what(tmp_path):
    path = save(tmp_path)
    path.with_suffix(".safetensors").unlink()
    message = set_aside(path, "It is not wanted.")
    assert message == (
        "It is not wanted. It was set aside as step-00001000.json.damaged, step-00001000.learner.safetensors.damaged."
    )


def test_a_network_of_another_version_is_not_called_damaged(tmp_path):
    path = save(tmp_path)
    body = json.loads(path.read_text())
    body["network"]["old_trick"] = 3
    body["sha256"] = checkpoint_module._body_checksum(body)
    path.write_text(json.dumps(body))
    for read in (load_checkpoint, checkpoint_module.read_info):
        with pytest.raises(DataError, match=r"has 'network\.old_trick', which this version of zerosum does not have"):
            read(path)
    with pytest.raises(DataError, match=r"old_trick"):
        load_checkpoint(tmp_path)
    assert path.exists()


def test_what_is_no_checkpoint_is_said(tmp_path):
    save(tmp_path)
    for missing in (checkpoint_path(tmp_path, 7), tmp_path / "nowhere"):
        with pytest.raises(
            DataError, match=f"{missing.name} does not exist: name a run directory or a checkpoint's JSON"
        ):
            load_checkpoint(missing)
    with pytest.raises(DataError, match=r"is not a network: name a checkpoint's \.json file"):
        load_checkpoint(tmp_path / "step-00001000.safetensors")


def test_weights_of_another_network_are_refused():
    info, weights = make_info(), make_checkpoint().weights
    with pytest.raises(DataError, match=r"no weights named value_out\.bias"):
        Checkpoint(info=info, weights={name: weight for name, weight in weights.items() if name != "value_out.bias"})
    with pytest.raises(DataError, match="superfluous weights: extra"):
        Checkpoint(info=info, weights={**weights, "extra": weights["value_out.bias"]})
    with pytest.raises(DataError, match=r"value_out\.bias are float32 \[4\], expected float32 \[3\]"):
        Checkpoint(info=info, weights={**weights, "value_out.bias": np.zeros(4, np.float32)})
    with pytest.raises(DataError, match=r"value_out\.bias are float64 \[3\]"):
        Checkpoint(info=info, weights={**weights, "value_out.bias": np.zeros(3)})
    with_head = dataclasses.replace(info, network=dataclasses.replace(TINY, ownership_head=True))
    with pytest.raises(DataError, match=r"no weights named ownership_conv\.conv\.weight, .*ownership_out\.weight"):
        Checkpoint(info=with_head, weights=weights)
    with pytest.raises(DataError, match=r"superfluous weights: ownership_conv\.conv\.weight, .*ownership_out\.weight"):
        Checkpoint(info=info, weights=initial_weights(with_head.network, info.shape, seed=0))


def test_a_checkpoint_from_before_a_head_has_none(tmp_path):
    path = save(tmp_path)
    body = json.loads(path.read_text())
    del body["network"]["ownership_head"]
    body["sha256"] = checkpoint_module._body_checksum(body)
    path.write_text(json.dumps(body))
    assert load_checkpoint(path).info.network == TINY


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"name": "tictactoe"}, "the game is connect4, not tictactoe"),
        ({"version": 2}, "the game's version is 1, not 2"),
        ({"board_shape": (3, 3)}, "the board is 6x7, not 3x3"),
        ({"num_actions": 9}, "the number of actions is 7, not 9"),
        ({"planes": []}, "the number of planes is 3, not 0"),
        (
            {"planes": [SimpleNamespace(name="own stones", is_constant=False)] * 3},
            r"plane 1 is 'opponent's stones', not 'own stones'; "
            r"plane 2 is 'second player to move' \(one number\), not 'own stones'",
        ),
        ({}, "the encoding is connect4-1-abcd, not other"),
    ],
)
def test_a_network_of_another_encoding_is_refused_by_name(changes, difference):
    with pytest.raises(DataError, match=f"in the network, {difference}"):
        require_encoder(make_info(), make_spec(encoder_id="other", **changes))


def test_a_network_of_the_same_encoding_fits():
    require_encoder(make_info(), make_spec())


def test_a_description_is_taken_from_the_games_spec():
    spec = _core.Game("connect4").spec
    info = CheckpointInfo.describe(spec, TINY, step=3, training={"samples": 1})
    assert (info.game, info.encoder_id, info.code_version) == ("connect4", spec.encoder_id, _core.__version__)
    assert (info.shape.height, info.shape.width, info.shape.num_actions) == (6, 7, 7)
    require_encoder(info, spec)
    with pytest.raises(DataError, match="the game is connect4, not tictactoe"):
        require_encoder(info, _core.Game("tictactoe").spec)


def test_a_description_runs_no_file_that_it_names(tmp_path, monkeypatch):
    """A checkpoint may come from anybody."""
    monkeypatch.chdir(tmp_path)
    for directory in (tmp_path, tmp_path / "connect4(x"):
        directory.mkdir(exist_ok=True)
        (directory / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    spec = _core.Game("connect4").spec
    info = CheckpointInfo.describe(spec, TINY, step=3)
    assert info.core_game().spec.encoder_id == spec.encoder_id
    names = [{"game": "own.py:Own"}, {"game": f"{tmp_path}/own.py:Own"}, {"game_options": "x/../own.py:Own"}]
    for changes in (*names, {"encoder_id": "own-1"}, {"game": "double-move"}, {"game_options": "columns=0"}):
        assert dataclasses.replace(info, **changes).core_game() is None
    assert not (tmp_path / "ran").exists()
