"""What only OpenVINO does: networks compiled by size, and 8-bit integers."""

from __future__ import annotations

import pytest

from networks_for_tests import SMALL, make_checkpoint, make_info, make_leaves
from zerosum.openvino_evaluator import OpenVinoEvaluator

pytest.importorskip("openvino")


def test_a_new_network_is_ready_for_every_size_that_the_old_one_was_asked_for(monkeypatch):
    """Or else a thread that evaluates would have to compile it."""
    from zerosum import openvino_graph

    compiled, build = [], openvino_graph.build_graph

    def build_graph(*arguments, batch_size, **options):
        compiled.append(batch_size)
        return build(*arguments, batch_size=batch_size, **options)

    monkeypatch.setattr(openvino_graph, "build_graph", build_graph)
    info = make_info(SMALL)
    evaluator = OpenVinoEvaluator(make_checkpoint(info), batch_size=64)

    def compiled_by(act):
        compiled.clear()
        act()
        return sorted(compiled)

    def evaluate():
        for size in (64, 40, 3):
            evaluator.evaluate(make_leaves(info, size))

    assert compiled_by(evaluate) == [4]
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=1))) == [4, 64]
    assert compiled_by(evaluate) == []
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=2))) == [4, 64]
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=3))) == [64], "nobody asked since"
