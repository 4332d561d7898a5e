"""Learning tic-tac-toe from random weights, checked against every game that an opponent could play."""

from __future__ import annotations

from pathlib import Path

import zerosum
from zerosum.games import State
from zerosum.run.metrics import read_metrics


def results_against_everything(player: zerosum.Player, *, side: int) -> set[float]:
    """The player's results when the opponent tries every move at every turn."""
    game, known = player.game, dict[bytes, set[float]]()

    def explore(state: State) -> set[float]:
        key = game.planes(state).tobytes() + bytes([game.player(state)])
        if key not in known:
            outcome = game.outcome(state)
            if outcome is not None:
                known[key] = {outcome if side == 0 else -outcome}
            elif game.player(state) == side:
                known[key] = explore(game.play(state, player.analyse(state).best_action))
            else:
                known[key] = set().union(*(explore(game.play(state, action)) for action in game.legal_actions(state)))
        return known[key]

    return explore(game.initial_state())


def test_tictactoe_is_never_lost(tmp_path: Path) -> None:
    """After some seconds of learning by the command's own path, with few simulations, so that the network matters."""
    run = tmp_path / "run"
    overrides = ["training.steps=400", "selfplay.num_workers=1", "learner.samples_per_position=12"]
    zerosum.train("tictactoe", run, preset="tictactoe", overrides=overrides, report=lambda _: None)
    player = zerosum.load(run, num_simulations=25)
    assert results_against_everything(player, side=0) <= {0.0, 1.0}
    assert results_against_everything(player, side=1) <= {0.0, 1.0}
    last = read_metrics(run / "metrics.csv")[-1]
    assert last.elo is not None
    assert last.elo > 100
