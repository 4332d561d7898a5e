"""The evaluator with hidden states: its answers are those of a straight walk, by one network a search."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from networks_for_tests import with_opinions
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make, state_after
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.evaluators import Evaluations, EvaluatorConfig, make_evaluator, openvino_requests
from zerosum.network.evaluators.muzero import MuZeroEvaluator
from zerosum.network.evaluators.muzero_openvino import OpenVinoMuZeroEvaluator
from zerosum.network.evaluators.muzero_torch import TorchMuZeroEvaluator
from zerosum.network.heads import values_of
from zerosum.network.muzero_module import MuZeroModule
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all, back_up

NETWORK = NetworkConfig(kind="muzero", num_blocks=1, dynamics_blocks=1, num_filters=8, value_hidden=8)
MakeEvaluator = Callable[[Checkpoint], MuZeroEvaluator]
LEARNED = SearchConfig(rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False, root_noise_alpha=1.0)


def checkpoint_of(game: Rules, *, seed: int = 1, step: int = 0) -> Checkpoint:
    info = CheckpointInfo.describe(game.spec, NETWORK, step=step)
    return with_opinions(Checkpoint(info, initial_weights(NETWORK, info.shape, seed=seed)), seed=seed)


def torch_evaluator(checkpoint: Checkpoint) -> MuZeroEvaluator:
    return TorchMuZeroEvaluator(checkpoint, device="cpu")


def openvino_evaluator(checkpoint: Checkpoint) -> MuZeroEvaluator:
    """In float32, compiled for at most four leaves: larger batches are run in parts."""
    pytest.importorskip("openvino")
    return OpenVinoMuZeroEvaluator(checkpoint, batch_size=4, precision="f32")


EVALUATORS = pytest.mark.parametrize("evaluator_of", [torch_evaluator, openvino_evaluator], ids=["torch", "openvino"])


class Straight:
    """Answers each leaf by a walk from its root through all its moves, and compares the evaluator's answer with it."""

    def __init__(self, evaluator: MuZeroEvaluator, checkpoint: Checkpoint) -> None:
        info = checkpoint.info
        self.evaluator, self.module = evaluator, MuZeroModule(info.network, info.shape, checkpoint.weights)
        self.lines: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self.largest_error, self.num_leaves, self.longest = 0.0, 0, 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        found, hidden = self.evaluator.evaluate(leaves), leaves.hidden()
        assert hidden is not None
        bits = np.unpackbits(leaves.packed_planes, axis=2, count=42, bitorder="little").astype(np.float32)
        offsets = leaves.legal_offsets
        for leaf, (parent, move, slot) in enumerate(zip(*(array.tolist() for array in hidden), strict=True)):
            root, moves = self.lines[parent] if parent else (bits[leaf].reshape(-1, 6, 7), ())
            line = (*moves, move) if parent else ()
            self.lines[slot] = (root, line)
            with torch.inference_mode():
                state = self.module.represent(torch.from_numpy(root[None]))
                for one in line:
                    state = self.module.advance(state, torch.tensor([one]))
                logits = self.module.predict(state)
            legal = slice(int(offsets[leaf]), int(offsets[leaf + 1]))
            expected = logits["policy"][0].numpy()[leaves.logit_actions[legal]]
            error = np.abs(expected - found.logits[legal]).max()
            error = max(error, abs(float(values_of(logits["value"])[0]) - float(found.values[leaf])))
            self.largest_error = max(self.largest_error, error)
            self.longest = max(self.longest, len(line))
        self.num_leaves += len(leaves)
        return found


@EVALUATORS
def test_answers_are_those_of_a_straight_walk(evaluator_of: MakeEvaluator) -> None:
    game = make("connect4")
    checkpoint = checkpoint_of(game)
    straight = Straight(evaluator_of(checkpoint), checkpoint)
    search = new_search(game, LEARNED, num_trees=3)
    for ply in range(3):
        for tree in range(3):
            search.begin(tree, 20 + tree)
        answer_all(search, straight, max_leaves=5)
        for tree in range(3):
            search.advance(tree, (ply + tree) % 7, keep=False)
    assert straight.num_leaves == 3 * (21 + 22 + 23)
    assert straight.longest > 2
    assert straight.largest_error < 1e-4


@EVALUATORS
def test_a_search_ends_with_the_network_that_began_it(evaluator_of: MakeEvaluator) -> None:
    game = make("connect4")
    old, new = checkpoint_of(game), checkpoint_of(game, seed=2, step=1)
    evaluator = evaluator_of(old)
    search = new_search(game, LEARNED, num_trees=2)
    search.begin(0, 12)
    leaves = search.gather(1)
    back_up(search, leaves, evaluator.evaluate(leaves))
    evaluator.update(new)
    search.begin(1, 12)
    leaves = search.gather(1)
    back_up(search, leaves, evaluator.evaluate(leaves))
    is_mixed = False
    while len(leaves := search.gather(2)):
        is_mixed |= len(set(leaves.trees.tolist())) == 2
        back_up(search, leaves, evaluator.evaluate(leaves))
    assert is_mixed, "one batch has leaves of both searches"
    for tree, checkpoint in enumerate((old, new)):
        alone = new_search(game, LEARNED)
        alone.begin(0, 12)
        answer_all(alone, evaluator_of(checkpoint), max_leaves=1)
        assert search.root(tree).visits.tolist() == alone.root(0).visits.tolist()
        assert search.root(tree).value == pytest.approx(alone.root(0).value, abs=1e-4)


@EVALUATORS
def test_hidden_states_end_with_their_search(evaluator_of: MakeEvaluator) -> None:
    game = make("connect4")
    evaluator = evaluator_of(checkpoint_of(game))
    search = new_search(game, LEARNED)
    search.begin(0, 8)
    leaves = search.gather(1)
    back_up(search, leaves, evaluator.evaluate(leaves))
    assert leaves.memory is not None
    (memory,) = leaves.memory.values()
    is_there = weakref.ref(memory)
    assert len(memory.slab) >= 9
    del memory, leaves, search
    gc.collect()
    assert is_there() is None


@EVALUATORS
def test_it_evaluates_positions_too(evaluator_of: MakeEvaluator) -> None:
    """The same weights are searched by the known rules."""
    game = make("connect4")
    checkpoint = checkpoint_of(game)
    evaluator = evaluator_of(checkpoint)
    leaves = game.encode([state_after(game, " ".join("123456"[:ply])) for ply in range(6)])
    module = MuZeroModule(NETWORK, checkpoint.info.shape, checkpoint.weights)
    with torch.inference_mode():
        logits = module(torch.from_numpy(leaves.planes())).logits
    np.testing.assert_allclose(evaluator.evaluate(leaves).logits, logits["policy"].numpy().ravel(), atol=1e-5)
    search = new_search(game, SearchConfig(root_noise_alpha=1.0))
    search.begin(0, 30)
    answer_all(search, evaluator, max_leaves=4)
    assert search.root(0).num_simulations == 30


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "go(size=5)", "chess(history=1)"])
def test_openvino_walks_as_torch_does(name: str) -> None:
    """Games of columns, of squares, of squares and a pass, and of several planes of moves."""
    game = make(name)
    checkpoint = checkpoint_of(game)
    hidden, logits = [], []
    for evaluator_of in (torch_evaluator, openvino_evaluator):
        evaluator = evaluator_of(checkpoint)
        search = new_search(game, LEARNED)
        search.begin(0, 40)
        while len(leaves := search.gather(3)):
            answers = evaluator.evaluate(leaves)
            back_up(search, leaves, answers)
            logits.append(answers.logits)
        assert leaves.memory is not None
        (memory,) = leaves.memory.values()
        hidden.append(np.asarray(memory.slab[1:41]))
    np.testing.assert_allclose(hidden[0], hidden[1], atol=1e-4)
    half = len(logits) // 2
    np.testing.assert_allclose(np.concatenate(logits[:half]), np.concatenate(logits[half:]), atol=1e-3)


def test_bf16_rounds_and_does_not_mislead() -> None:
    """As far from float32 as one rounding of each layer, in hidden states that stay in [0, 1]."""
    if "BF16" not in openvino_requests.cpu_capabilities():
        pytest.skip("this CPU has no bf16")
    game = make("connect4")
    checkpoint = checkpoint_of(game)
    exact, rounded = (
        OpenVinoMuZeroEvaluator(checkpoint, batch_size=4, precision=precision) for precision in ("f32", "bf16")
    )
    assert exact.description == "OpenVINO, CPU, f32, learned rules"
    assert rounded.description == "OpenVINO, CPU, bf16, learned rules"
    search = new_search(game, LEARNED)
    search.begin(0, 30)
    errors = []
    while len(leaves := search.gather(4)):
        answers = exact.evaluate(leaves)
        errors.append(np.abs(answers.values - rounded.evaluate(leaves).values).max())
        back_up(search, leaves, answers)
    assert 0 < max(errors) < 0.05
    assert leaves.memory is not None
    slabs = [memory.slab[1:31] for memory in leaves.memory.values()]
    assert all(slab.min() >= 0 and slab.max() <= 1 for slab in slabs)


def test_an_update_compiles_the_sizes_in_use() -> None:
    checkpoint = checkpoint_of(make("connect4"))
    evaluator = openvino_evaluator(checkpoint)
    assert evaluator.batch_sizes(3) == [1, 4]
    search = new_search(make("connect4"), LEARNED)
    search.begin(0, 3)
    answer_all(search, evaluator, max_leaves=1)
    evaluator.update(checkpoint)
    assert isinstance(evaluator, OpenVinoMuZeroEvaluator) and evaluator._compiled is not None
    assert sorted(evaluator._compiled.recurrent.sizes._compiled) == [1, 4]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            EvaluatorConfig(backend="torch", precision="bf16"),
            "precision of the torch backend for a MuZero network is 'bf16'",
        ),
        (
            EvaluatorConfig(device="cpu", precision="int8"),
            "precision of the openvino backend for a MuZero network is 'int8'",
        ),
        (EvaluatorConfig(symmetry_seed=1), "no symmetry turns"),
        (EvaluatorConfig(leaf_values="rollouts"), "a network of kind 'muzero' does not have: leave it 'network'"),
    ],
)
def test_what_it_cannot_do_is_refused(config: EvaluatorConfig, words: str) -> None:
    pytest.importorskip("openvino")
    game = make("connect4")
    with pytest.raises(SettingsError, match=words):
        make_evaluator(checkpoint_of(game), config, batch_size=4, game=game)
