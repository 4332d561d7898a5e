"""The MuZero network: shapes, scaling, moves as planes by hand, and checkpoints without a part of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, NetworkShape, initial_weights
from zerosum.network.growing import grown_weights, growth_obstacle
from zerosum.network.muzero import num_move_planes
from zerosum.network.muzero_module import MuZeroModule, scaled
from zerosum.network.weights import weight_shapes

SMALL = NetworkConfig(kind="muzero", num_blocks=1, dynamics_blocks=2, num_filters=8)


def module_of(name: str, config: NetworkConfig = SMALL) -> MuZeroModule:
    shape = NetworkShape.of(make(name).spec)
    return MuZeroModule(config, shape, initial_weights(config, shape, seed=1))


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "go(size=5)", "nim", "chess"])
def test_a_line_of_hidden_states(name: str) -> None:
    game = make(name)
    module, spec = module_of(name), game.spec
    hidden = module.represent(torch.rand(4, len(spec.planes), *spec.board_shape))
    for moves in ([0, 1, 2, spec.num_actions - 1], [spec.num_actions // 2] * 4):
        hidden = module.advance(hidden, torch.tensor(moves))
        assert hidden.shape == (4, 8, *spec.board_shape)
        assert hidden.min() >= 0 and hidden.max() <= 1
        logits = module.predict(hidden)
        assert logits["policy"].shape == (4, spec.num_actions)
        assert logits["value"].shape == (4, 3)


def test_each_hidden_state_is_scaled_by_itself() -> None:
    x = torch.tensor([[1.0, 3.0, 2.0, 1.0], [-5.0, 0.0, 5.0, 0.0], [7.0, 7.0, 7.0, 7.0]]).view(3, 1, 2, 2)
    expected = torch.tensor([[0, 1, 0.5, 0], [0, 0.5, 1, 0.5], [0, 0, 0, 0]]).view(3, 1, 2, 2)
    torch.testing.assert_close(scaled(x), expected, atol=1e-5, rtol=0)


def test_moves_as_planes_by_hand() -> None:
    """5x5 Go: 25 points, a plane with a 1 on the point, and a pass, which fills the second plane."""
    planes = module_of("go(size=5)").moves(torch.tensor([7, 25]), torch.float32)
    assert planes.shape == (2, 2, 5, 5)
    assert planes[0].nonzero().tolist() == [[0, 1, 2]]
    assert planes[1, 0].sum() == 0
    assert bool((planes[1, 1] == 1).all())


def test_fewer_moves_than_squares_are_one_hot() -> None:
    shape = NetworkShape.of(make("connect4").spec)
    assert num_move_planes(shape) == 0
    assert module_of("connect4").moves(torch.tensor([3]), torch.float32).tolist() == [[0, 0, 0, 1, 0, 0, 0]]
    assert weight_shapes(SMALL, shape)["dynamics.move.weight"] == (8 * 42, 7)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "go(size=5)"])
def test_moves_lead_to_different_states(name: str) -> None:
    module, spec = module_of(name), make(name).spec
    hidden = module.represent(torch.rand(1, len(spec.planes), *spec.board_shape)).expand(spec.num_actions, -1, -1, -1)
    after = module.advance(hidden, torch.arange(spec.num_actions)).flatten(1)
    distances = torch.cdist(after, after) + torch.eye(spec.num_actions)
    assert distances.min() > 1e-4


def test_its_settings_change_it() -> None:
    shape = NetworkShape.of(make("connect4").spec)
    blocks = weight_shapes(NetworkConfig(kind="muzero", dynamics_blocks=3), shape)
    assert "dynamics.blocks.2.first.weight" in blocks
    assert "dynamics.blocks.2.first.weight" not in weight_shapes(NetworkConfig(kind="muzero"), shape)
    assert not any(".norm." in name for name in blocks)


def test_equal_seeds_have_equal_weights() -> None:
    shape = NetworkShape.of(make("connect4").spec)
    one, same, other = (initial_weights(SMALL, shape, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["dynamics.stem.weight"], other["dynamics.stem.weight"])


def test_a_checkpoint_without_its_dynamics_is_refused() -> None:
    game = make("tictactoe")
    info = CheckpointInfo.describe(game.spec, SMALL, step=0)
    weights = initial_weights(SMALL, info.shape, seed=1)
    without = {name: weight for name, weight in weights.items() if not name.startswith("dynamics.")}
    with pytest.raises(DataError, match=r"The network has no weights named dynamics\.blocks\.0\.first\.bias"):
        Checkpoint(info, without)


@pytest.mark.parametrize("changes", [{"ownership_head": True}, {"policy_out_norm": True}, {"module": "x.py:Net"}])
def test_what_it_does_not_have_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="network.kind is 'muzero', a network without norms"):
        NetworkConfig(kind="muzero", **changes)  # type: ignore[arg-type]


def test_it_grows_by_blocks_but_not_by_filters() -> None:
    assert growth_obstacle(SMALL, dataclasses.replace(SMALL, num_filters=16)) == "num_filters"
    larger = dataclasses.replace(SMALL, num_blocks=3)
    assert growth_obstacle(SMALL, larger) == ""
    shape = NetworkShape.of(make("connect4").spec)
    generator = np.random.default_rng(1)
    weights = {
        name: (weight + generator.normal(0, 0.1, weight.shape)).astype(np.float32)
        for name, weight in initial_weights(SMALL, shape, seed=1).items()
    }
    planes = torch.rand(3, shape.num_planes, shape.height, shape.width)
    before = MuZeroModule(SMALL, shape, weights)
    after = MuZeroModule(larger, shape, grown_weights(weights, larger, shape, seed=2))
    for module in (before, after):
        module.eval()
    with torch.inference_mode():
        moves = torch.tensor([0, 3, 6])
        for one, other in zip(
            before.predict(before.advance(before.represent(planes), moves)).values(),
            after.predict(after.advance(after.represent(planes), moves)).values(),
            strict=True,
        ):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
