"""A player's analyses, and the names of players."""

from __future__ import annotations

import math
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games_for_tests
from networks_for_tests import save_network
from searches_for_tests import Compiling
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import Rules, adopt, make, state_after
from zerosum.games.permission import allow_program
from zerosum.network import NetworkConfig
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.contestant import RANDOM, rollouts
from zerosum.play.own_contestants import parse_player, search_contestant
from zerosum.play.player import Player, load_player
from zerosum.search import SearchConfig

CONNECT4, TICTACTOE, DOUBLE_MOVE = make("connect4"), make("tictactoe"), adopt(games_for_tests.DoubleMove())
SMALL = NetworkConfig(num_blocks=1, num_filters=4, policy_filters=2, value_filters=1, value_hidden=4)


def uniform_player(game: Rules, config: SearchConfig | None = None) -> Player:
    return Player(game, UniformEvaluator(), config or SearchConfig(), name="uniform")


def save_run(directory: Path, game: Rules, config: str) -> Path:
    """A run directory with two checkpoints."""
    for step in (3, 7):
        save_network(directory / "checkpoints", game, step=step)
    (directory / "config.toml").write_text(f"format_version = 1\n{config}", encoding="utf-8")
    return directory


# What a player says


@given(
    st.sampled_from([CONNECT4, TICTACTOE, DOUBLE_MOVE]),
    st.lists(st.integers(0, 1000), max_size=12),
    st.integers(1, 150),
    st.sampled_from([1, 8]),
    st.booleans(),
)
@settings(max_examples=60)
def test_an_analysis_keeps_its_promises(
    game: Rules, choices: list[int], num_simulations: int, leaves_in_flight: int, exact_bounds: bool
) -> None:
    state = game.initial_state()
    for choice in choices:
        legal = game.legal_actions(state)
        ahead = game.play(state, legal[choice % len(legal)])
        if game.outcome(ahead) is None:
            state = ahead
    config = SearchConfig(num_simulations=num_simulations, leaves_in_flight=leaves_in_flight, exact_bounds=exact_bounds)
    analysis = uniform_player(game, config).analyse(state)
    assert analysis.player == game.player(state)
    assert list(analysis.actions) == game.legal_actions(state)
    assert sum(analysis.visits) == analysis.num_simulations <= num_simulations
    assert (analysis.num_simulations == num_simulations) == (analysis.stop_reason == "simulations") or (
        analysis.proven is not None
    )
    assert sum(analysis.priors) == pytest.approx(1, abs=1e-6)
    assert [math.isnan(value) for value in analysis.values] == [visits == 0 for visits in analysis.visits]
    assert -1 <= analysis.value <= 1 and all(low <= up for low, up in zip(analysis.lower, analysis.upper, strict=True))
    assert analysis.best_action in game.legal_actions(state)
    plain = (analysis.best_action, analysis.visits[0], analysis.values[0], analysis.priors[0], analysis.value)
    assert [type(number) for number in plain] == [int, int, float, float, float]
    assert analysis.best_move == game.action_text(state, analysis.best_action)
    if analysis.best_line:
        assert analysis.best_line[0] == analysis.best_move
    ahead = state
    for text in analysis.best_line:  # each move is legal where it is made
        texts = {game.action_text(ahead, action): action for action in game.legal_actions(ahead)}
        ahead = game.play(ahead, texts[text])


def test_forced_wins_and_losses_are_found() -> None:
    """Three in a row on the bottom, open at both ends, wins for its owner, whoever moves next."""
    player = uniform_player(CONNECT4, SearchConfig(num_simulations=500))
    win = player.analyse("4 1 3 1 5 7")
    assert (win.proven, win.value, win.stop_reason) == (1, 1, "proven")
    assert win.best_move in ("2", "6") and win.best_line == (win.best_move,)
    loss = player.analyse("4 1 3 1 5")
    assert (loss.proven, loss.value) == (-1, -1)
    assert CONNECT4.outcome(state_after(CONNECT4, f"4 1 3 1 5 {' '.join(loss.best_line)}")) == 1


def test_rollouts_see_a_win_too_but_prove_nothing() -> None:
    analysis = rollouts(CONNECT4, 300, seed=1).player(CONNECT4).analyse("4 1 3 1 5 7")
    assert analysis.best_move in ("2", "6")
    assert analysis.value > 0.8 and analysis.proven is None
    assert sum(analysis.visits) == analysis.num_simulations == 300


def test_a_table_is_to_be_read() -> None:
    player = uniform_player(TICTACTOE)
    assert player.analyse("b2 b3 a3 c1 b1 a2").table() == GOLDEN_TABLE
    assert player.analyse("").table(num_moves=2).splitlines()[3] == "and 7 more"


GOLDEN_TABLE = """\
move  visits   value  prior
c3         5  +0.000  33.3%  a draw
c2         4  +0.000  33.3%
a1         4  +0.000  33.3%
best line: c3 a1 c2
for the player to move: a draw with best play, after 13 simulations"""


def test_the_number_of_simulations_is_the_players_or_the_callers() -> None:
    player = uniform_player(CONNECT4, SearchConfig(num_simulations=20))
    assert player.analyse().num_simulations == 20
    assert player.analyse(num_simulations=30).num_simulations == 30
    with pytest.raises(SettingsError, match=r"search.num_simulations is 0, but must be between 1 and"):
        player.analyse(num_simulations=0)


def test_an_analysis_needs_a_position_that_can_be_played_on() -> None:
    player = uniform_player(CONNECT4)
    with pytest.raises(GameError, match="move 2: '8' is not a legal move"):
        player.analyse("4 8")
    with pytest.raises(GameError, match=r"The game is over \(four in a row\)"):
        player.analyse("1 2 1 2 1 2 1")


def test_threads_may_share_a_player() -> None:
    player = uniform_player(CONNECT4, SearchConfig(num_simulations=200))
    positions = ["", "4", "4 4", "4 4 3"] * 4

    def visits(moves: str) -> list[int]:
        return list(player.analyse(moves).visits)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(visits, positions)) == [visits(moves) for moves in positions]


# Who goes by which words


def test_words_for_players() -> None:
    assert parse_player("random", CONNECT4) is RANDOM
    assert parse_player("rollouts", CONNECT4).name == "rollouts@1000"
    contestant = parse_player("rollouts@50", CONNECT4)
    assert (contestant.name, contestant.search.num_simulations) == ("rollouts@50", 50)
    assert not contestant.search.exact_bounds and not contestant.search.reuse_tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rollout",
            r"unknown player 'rollout': did you mean 'rollouts'\? .*, the path of a run or checkpoint, and a game,",
        ),
        ("rollouts@many", r"unknown player 'rollouts@many': did you mean 'rollouts'\?"),
        ("rollouts@0", "search.num_simulations is 0, but must be between 1 and"),
        ("alphabeta@0", "alphabeta@0: expected a depth of 1 to 64 plies"),
        ("random@10", "'random@10': random play does not search, so it takes no number of simulations"),
        (
            "runs/nowhere@100",
            "^runs/nowhere does not exist: name a run directory, .*runs, or a game, for its newest run",
        ),
        ("", "unknown player ''; available: alphabeta, random, rollouts, the path .*, alphabeta N plies"),
    ],
)
def test_unknown_words_for_players(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=message):
        parse_player(text, CONNECT4)


def test_random_play_has_no_view() -> None:
    with pytest.raises(SettingsError, match="'random' plays without a search: use 'rollouts@10' instead"):
        search_contestant("random", CONNECT4)


def test_a_search_is_not_offered_players_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="^unknown player 'nobody'; available: rollouts, the path") as caught:
        search_contestant("nobody@5", CONNECT4)
    assert str(caught.value).endswith(
        "With @N they search N simulations per move. In matches random, alphabeta and engines by UCI, USI and GTP are"
        " players, too."
    )


def test_rollouts_explore_alike_in_every_game() -> None:
    """The factor c * P of a position with as many moves as is typical is 0.6."""
    for game, num_moves in ((CONNECT4, 6.8), (TICTACTOE, 5.7), (DOUBLE_MOVE, 3)):
        assert rollouts(game, 10, seed=0).search.c_init / num_moves == pytest.approx(0.6, rel=0.02)


def test_a_network_plays_from_its_run_its_directory_and_its_file(tmp_path: Path) -> None:
    run = save_run(tmp_path / "demo", CONNECT4, 'game = "connect4"\n[search]\nnum_simulations = 33\nc_init = 1.5\n')
    newest = run / "checkpoints" / "step-00000007.json"
    analyses: list[Analysis] = []
    for path in (run, run / "checkpoints", newest, str(run)):
        player = load_player(path, backend="torch")
        assert (player.config.num_simulations, player.config.c_init) == (33, 1.5)
        assert (player.name, player.step) == (str(path), 7)
        analyses.append(player.analyse("4 4"))
    assert len(set(analyses[0].priors)) > 1
    assert all(analysis.visits == analyses[0].visits for analysis in analyses)
    assert load_player(run, num_simulations=5, backend="torch", batch_size=16).analyse().num_simulations == 5
    older = load_player(run / "checkpoints" / "step-00000003.json", backend="torch").analyse("4 4")
    assert older.priors != analyses[0].priors
    contestant = parse_player(f"{run}@20", CONNECT4)
    assert (contestant.name, contestant.search.num_simulations, contestant.search.c_init) == (f"{run}@20", 20, 1.5)
    assert contestant.player(CONNECT4).analyse("4 4").priors == pytest.approx(analyses[0].priors, abs=0.01)


def test_a_checkpoint_plays_outside_of_any_run(tmp_path: Path) -> None:
    player = load_player(save_network(tmp_path, TICTACTOE), backend="torch")
    assert player.config.num_simulations == SearchConfig().num_simulations
    assert player.game.spec.name == "tictactoe"


def test_a_network_of_a_users_game_finds_its_rules_in_the_run(tmp_path: Path) -> None:
    shutil.copy(games_for_tests.__file__, tmp_path / "race.py")
    name = f"{tmp_path / 'race.py'}:DoubleMove"
    run = save_run(tmp_path / "race", make(name), f"game = '{name}'\n")
    with pytest.raises(GameError, match="a program that you have not allowed to run on this machine"):
        load_player(run)
    allow_program(tmp_path / "race.py")
    assert load_player(run, backend="torch").analyse("+1 +1", num_simulations=20).proven == 1.0
    alone = save_network(tmp_path / "elsewhere", make(name))
    with pytest.raises(GameError, match="a network for 'double-move', a game of your own: name it as path.py:Class"):
        load_player(alone)
    assert load_player(alone, game=name, backend="torch").game.spec.name == "double-move"


def test_a_network_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = save_network(tmp_path, CONNECT4)
    with pytest.raises(DataError, match="does not fit tictactoe"):
        load_player(path, game="tictactoe")
    with pytest.raises(DataError, match="does not fit tictactoe"):
        parse_player(str(path), TICTACTOE)


@pytest.mark.parametrize(
    "config",
    ["game = ", "format_version = 1\ngame = 3", "format_version = 1\nsearch = 3", "game = 'connect4'", b"\xff"],
)
def test_a_damaged_config_is_named(tmp_path: Path, config: str | bytes) -> None:
    run = save_run(tmp_path, CONNECT4, "")
    (run / "config.toml").write_bytes(config if isinstance(config, bytes) else config.encode())
    with pytest.raises(DataError, match=r"config.toml .*([Cc]orrect it|expected the settings)"):
        load_player(run)


def test_a_setting_that_is_not_known_is_named_with_its_file(tmp_path: Path) -> None:
    run = save_run(tmp_path, CONNECT4, "[search]\nnum_simulation = 5\n")
    for opening in (lambda: load_player(run), lambda: parse_player(str(run), CONNECT4)):
        with pytest.raises(
            DataError, match=r"config.toml: unknown setting search.num_simulation: .* Correct or remove that line"
        ):
            opening()


def test_a_newer_run_is_refused(tmp_path: Path) -> None:
    run = save_run(tmp_path, CONNECT4, "")
    (run / "config.toml").write_text("format_version = 2\n", encoding="utf-8")
    for opening in (lambda: load_player(run), lambda: parse_player(str(run), CONNECT4)):
        with pytest.raises(DataError, match=r"config.toml has format version 2, this zerosum .* reads up to 1: use a"):
            opening()


def test_a_search_by_time_ends_when_the_time_is_up() -> None:
    player = uniform_player(CONNECT4, SearchConfig())
    analysis = player.analyse(seconds=0.02)
    assert analysis.stop_reason == "time" and analysis.num_simulations > 0
    assert player.analyse("1 2 1 2 1 7", seconds=1000).stop_reason == "proven", "what is proven needs no more time"
    for seconds in (0, -1, float("nan"), 1e9):
        with pytest.raises(SettingsError, match="seconds is"):
            player.analyse(seconds=seconds)


def test_a_player_is_made_ready_for_the_batches_of_a_search_by_time() -> None:
    evaluator = Compiling()
    player = Player(make("tictactoe"), evaluator, SearchConfig(), name="compiling", num_batches=3, batch_size=4)
    player.make_ready()
    assert sorted(evaluator.sizes) == [1, 1, 1, 4, 4, 4]
    player.make_ready(SearchConfig(leaves_in_flight=20, batches_in_flight=2))
    assert evaluator.compiled == [1, 4, 16]
    Player(make("tictactoe"), UniformEvaluator(), SearchConfig(), name="uniform").make_ready()
