"""Positions of tables: what they are, their results beside those of all lines of play, and who is measured by them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from commands_for_tests import Command
from networks_for_tests import save_network
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, State, make, state_after
from zerosum.games.names import GameName
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.player import Player
from zerosum.run.config import new_config
from zerosum.run.mistakes import Mistakes
from zerosum.run.solved import mistake_rates
from zerosum.run.table_positions import RANDOM_LINES, table_sets
from zerosum.search import SearchConfig
from zerosum.search.result_tables import make_table, write_table

MINICHESS, TICTACTOE = make("minichess"), make("tictactoe")


def table_of(folder: Path, game: Rules, *endings: str) -> str:
    path = folder / f"{game.spec.name}.table"
    write_table(path, game, make_table(game, endings=endings), endings=endings)
    return str(path)


def by_all_lines(game: Rules, state: State) -> float:
    """The result for the player to move."""

    @cache
    def value(state: State) -> float:
        outcome = game.outcome(state)
        if outcome is not None:
            return outcome
        results = [value(game.play(state, action)) for action in game.legal_actions(state)]
        return max(results) if game.player(state) == 0 else min(results)

    return value(state) if game.player(state) == 0 else -value(state)


def test_positions_of_a_game_have_the_results_of_all_lines(tmp_path: Path) -> None:
    [solved] = table_sets(TICTACTOE, table_of(tmp_path, TICTACTOE), number=100, seed=1)
    assert (solved.game, solved.name, len(solved.positions)) == ("tictactoe", RANDOM_LINES, 100)
    assert len({position.moves for position in solved.positions}) == 100
    assert len({len(position.moves.split()) for position in solved.positions}) >= 6
    for position in solved.positions:
        state = state_after(TICTACTOE, position.moves, position=position.start)
        expected = []
        for action in TICTACTOE.legal_actions(state):
            after, sign = TICTACTOE.play(state, action), 1 if TICTACTOE.player(state) == 0 else -1
            outcome = TICTACTOE.outcome(after)
            expected.append(-by_all_lines(TICTACTOE, after) if outcome is None else sign * outcome)
        assert position.results == tuple(expected)


def test_positions_of_endings(tmp_path: Path) -> None:
    """Those that the table was asked for, or others that it has; equal seeds give equal positions."""
    path = table_of(tmp_path, MINICHESS, "KQvKR", "KPvK")
    sets = table_sets(MINICHESS, path, number=30, seed=2)
    assert [each.name for each in sets] == ["KQvKR", "KPvK"]
    men = Counter("".join(sorted(filter(str.isalpha, each.start.split()[0]))) for each in sets[0].positions)
    assert set(men) == {"KQkr", "KRkq"} and men.total() == 30
    assert any(len(set(position.results)) > 1 for position in sets[1].positions)
    assert table_sets(MINICHESS, path, number=30, seed=2) == sets != table_sets(MINICHESS, path, number=30, seed=3)
    [other] = table_sets(MINICHESS, path, ["KRvK"], number=5)
    assert other.name == "KRvK" and len(other.positions) == 5


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = table_of(tmp_path, MINICHESS, "KPvK")
    with pytest.raises(SettingsError, match="The tables have no result of .*: make one of its ending by `zerosum tab"):
        table_sets(MINICHESS, path, ["KQvKR"])
    with pytest.raises(SettingsError, match="'krk' is not an ending"):
        table_sets(MINICHESS, path, ["krk"])
    with pytest.raises(DataError, match="is a table of minichess, rules 1, not of tictactoe"):
        table_sets(TICTACTOE, path)


def test_checkpoints_are_measured_without_the_tables_of_their_search(tmp_path: Path) -> None:
    """A search of two simulations errs where the tables do not tell it the results; its mistakes are written down."""
    path, run = table_of(tmp_path, MINICHESS, "KQvKR"), tmp_path / "run"
    run.mkdir()
    plain = new_config(MINICHESS, GameName.parse("minichess"))
    config = replace(
        plain,
        search=replace(plain.search, table_files=path),
        strength=replace(plain.strength, table_files=path, solved_positions=50, solved_simulations=2),
    )
    mistakes = Mistakes(run, MINICHESS, config, report=print)
    assert mistakes.has_positions and not Mistakes(run, MINICHESS, plain).has_positions
    mistakes.count(10, UniformEvaluator())
    [rate] = mistakes.of_step(10)
    assert (rate.set, rate.positions, rate.num_simulations) == ("KQvKR", 50, 2) and 0.02 < rate.value < 1
    assert Mistakes(run, MINICHESS, config).newest is not None
    # A search with the table makes no mistake.
    knowing = SearchConfig(num_simulations=2, root_noise_fraction=0.0, root_noise_alpha=1.0, table_files=path)
    player = Player(MINICHESS, UniformEvaluator(), knowing, name="knowing")
    [without] = mistake_rates(player, table_sets(MINICHESS, path, number=50))
    assert without.value == 0


def test_the_commands(zero: Command, tmp_path: Path) -> None:
    answer = zero("tables", "minichess", "KRvK", "--out", str(path := tmp_path / "endings.table"))
    assert answer.status == 0 and answer.out.startswith(f"{path}: "), answer.err
    assert "won for the player to move" in answer.words
    network = str(save_network(tmp_path / "checkpoints", MINICHESS))
    probed = zero("probe", network, "--table", str(path), "-n", "1", "--worst", "1", "--json")
    assert probed.status == 0, probed.err
    numbers = json.loads(probed.out)
    assert numbers["num_positions"] == 500 and 0 < numbers["network"]["right"] < numbers["network"]["of"]
    evaluated = zero("evaluate", network, "--games", "0", "--positions", "20", "--table", str(path), "-n", "2")
    assert evaluated.status == 0 and "KRvK" in evaluated.words, evaluated.err
    refused = zero("probe", network, "--table", str(path), "--syzygy", str(tmp_path))
    assert refused.status == 2 and "leave out one of the two" in refused.words + refused.err
    refused = zero("tables", "chess", "KQvKR", "--memory-mib", "1")
    assert refused.status == 2 and "KQvKR with the 3 endings below may need" in refused.words + refused.err
