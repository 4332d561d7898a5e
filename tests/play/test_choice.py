"""The default player."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import games_for_tests
from networks_for_tests import save_network
from searches_for_tests import Compiling
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, make
from zerosum.games.permission import allow_program
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights, save_checkpoint
from zerosum.network.checkpoint import read_info
from zerosum.play import bundled
from zerosum.play.bundled import bundled_network
from zerosum.play.choice import Players, choose_player, describe_network, game_at, open_player
from zerosum.play.own_contestants import existing_run, parse_player
from zerosum.play.player import Player, load_player
from zerosum.play.runs import NETWORKS, PlayerWord, network_at, newest_run, require_run, run_to_write
from zerosum.protocols.gtp import GtpEngine

CONNECT4, TICTACTOE = make("connect4"), make("tictactoe")
NAMED = "bundled/connect4 names the network that comes with zerosum."


def save_run(runs: Path, name: str, game: str, *, at: int) -> Path:
    path = save_network(runs / name / "checkpoints", make(game))
    os.utime(path, (at, at))
    return path


def chosen(game: Rules, path: Path | None = None, *, runs: Path | None = None) -> tuple[Player, str]:
    """A game's player, and what is said of it."""
    said: list[str] = []
    player = choose_player(game, path, runs=runs, say=said.append)
    return player, " ".join(said)


def test_takes_the_newest_run_of_the_game(tmp_path: Path) -> None:
    save_run(tmp_path, "old", "connect4", at=1_000)
    save_run(tmp_path, "a-new-one", "connect4", at=2_000)
    save_run(tmp_path, "other-game", "tictactoe", at=3_000)
    assert newest_run(CONNECT4, runs=tmp_path) == tmp_path / "a-new-one"
    player, said = chosen(CONNECT4, runs=tmp_path)
    assert said == f"Playing with the newest run, {tmp_path / 'a-new-one'}, step 7."
    assert player.analyse(num_simulations=4).num_simulations == 4


def test_a_damaged_description_is_passed_over(tmp_path: Path) -> None:
    whole = save_run(tmp_path, "run", "connect4", at=1_000)
    (whole.parent / "step-00000009.json").write_text("{")
    assert newest_run(CONNECT4, runs=tmp_path) == tmp_path / "run"


def test_a_run_that_has_not_learned_yet_is_not_the_newest(tmp_path: Path) -> None:
    info = CheckpointInfo.describe(CONNECT4.spec, NetworkConfig(num_blocks=1, num_filters=2), step=0)
    untrained = Checkpoint(info, initial_weights(info.network, info.shape, seed=0))
    save_checkpoint(tmp_path / "young" / "checkpoints", untrained, learner_state={}, learner_info={})
    assert newest_run(CONNECT4, runs=tmp_path) is None
    learned = save_run(tmp_path, "old", "connect4", at=1_000)
    assert newest_run(CONNECT4, runs=tmp_path) == learned.parents[1]


def test_plays_a_network_under_another_komi() -> None:
    assert make("go(size=9, komi=5.5)").spec.encoder_id == make("go9").spec.encoder_id


def test_without_a_run_rollouts_play(tmp_path: Path) -> None:
    save_run(tmp_path, "other-game", "tictactoe", at=1_000)
    for runs in (tmp_path, tmp_path / "nowhere"):
        player, said = chosen(CONNECT4, runs=runs)
        assert said == f"No run in {runs} has learned connect4: playing with uniform priors and rollouts."
        assert player.analyse(num_simulations=4).num_simulations == 4


def test_who_is_named_plays_or_is_refused(tmp_path: Path) -> None:
    path = save_run(tmp_path, "run", "connect4", at=1_000)
    for named in (path, path.parent, tmp_path / "run"):
        assert chosen(CONNECT4, named, runs=tmp_path / "nowhere")[1] == f"Playing with {named}, step 7."
    with pytest.raises(DataError, match="does not fit tictactoe"):
        choose_player(TICTACTOE, path)
    with pytest.raises(DataError, match="does not exist"):
        choose_player(TICTACTOE, tmp_path / "nobody")


def test_a_network_is_compiled_when_its_player_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the first move, whose clock runs, and once for all rules that it can read."""
    network = Compiling()
    monkeypatch.setattr("zerosum.play.player.make_evaluator", lambda *_, **__: network)
    players = Players(str(save_network(tmp_path, make("go(size=5)"))))
    said: list[str] = []
    engine = GtpEngine(make("go(size=5)"), players.of, write=said.append, warn=said.append)
    engine.handle("showboard")
    assert network.compiled == [1, 4, 16]
    first = len(network.sizes)
    engine.handle("komi 3")
    engine.handle("showboard")
    assert len(network.sizes) == first
    engine.handle("genmove b")
    assert network.compiled == [1, 4, 16] and len(network.sizes) > first


def test_opponents_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_player("rollouts@7", game="connect4").config.num_simulations == 7
    assert open_player("rollouts@7", game="connect4", num_simulations=8).config.num_simulations == 8
    assert open_player("rollouts", game="tictactoe").game.spec.name == "tictactoe"
    run = save_run(tmp_path / "elsewhere", "run", "connect4", at=1_000).parents[1]
    assert open_player(f"{run}@9").config.num_simulations == 9
    for words, message in (
        (("rollouts@7",), "'rollouts' plays any game: name the one to play, such as --game connect4"),
        (("random",), "'random' plays without a search: use 'rollouts@10' instead"),
        (("rolouts", "connect4"), "unknown player 'rolouts': did you mean 'rollouts'"),
        (("rollouts@0", "connect4"), "search.num_simulations is 0"),
        (("random", "connect4"), "plays without a search"),
        (("connect4", "hex"), "'connect4' is a game, and --game names 'hex': give one of them"),
        (("",), "no player is named"),
    ):
        who, game = (*words, "")[:2]
        with pytest.raises(SettingsError, match=message):
            open_player(who, game=game)


def test_one_rule_for_who_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, a run's name and a game mean the same run, everywhere; without a run rollouts play."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZEROSUM_RUNS", str(tmp_path / "elsewhere"))
    none = f"No run in {tmp_path / 'elsewhere'} has learned connect4"
    said: list[str] = []
    open_player("connect4", say=said.append)
    assert said == [f"{none}: playing with uniform priors and rollouts."]
    with pytest.raises(DataError, match=f"{none}: train one"):
        require_run("connect4")
    with pytest.raises(SettingsError, match=f"{none}: name another player"):
        parse_player("connect4", CONNECT4)
    run = save_run(tmp_path / "elsewhere", "mine", "connect4", at=1_000).parents[1]
    for word in ("connect4", "mine", str(run), "connect4@9", "mine@9"):
        number = 9 if "@" in word else 100
        opened, player = open_player(word), Players(word).of(CONNECT4)
        assert opened.name == player.name == str(run) and opened.step == player.step == 7
        assert opened.config.num_simulations == player.config.num_simulations == number
        assert parse_player(word, CONNECT4).name.endswith(f"@{number}")
    open_player("", game="connect4", say=said.append)
    assert said[1:] == [f"Playing with the newest run, {run}, step 7."]
    open_player(str(run), say=said.append)
    assert len(said) == 2, "a path tells all"
    assert PlayerWord("connect4").run == PlayerWord("mine").run == require_run("mine") == run
    assert PlayerWord("").run is PlayerWord("nobody").run is None
    assert load_player("connect4").step == load_player("mine").step == 7
    (tmp_path / "connect4").mkdir()
    assert PlayerWord("connect4").run == run, "a directory of that name that holds no run"
    local = save_run(tmp_path, "connect4", "connect4", at=2_000).parents[1]
    assert PlayerWord("connect4").run == local.relative_to(tmp_path), "a run's path goes before a game's name"


def test_a_run_to_write_is_named_as_one_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = save_run(tmp_path / "runs", "mine", "connect4", at=1_000).parents[1].relative_to(tmp_path)
    assert run_to_write(Path("mine")) == run == PlayerWord("mine").run
    assert run_to_write(run) == run and run_to_write(run.absolute()) == run.absolute()
    assert run_to_write(Path("new")) == Path("new")
    Path("mine").mkdir()
    assert run_to_write(Path("mine")) == Path("mine"), "a path goes before a run's name"


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
    with pytest.raises(DataError, match="does not exist: name a run directory"):
        network_at(tmp_path / "nowhere")
    with pytest.raises(DataError, match="There is no checkpoint in"):
        network_at(tmp_path)


def test_a_damaged_checkpoint_is_passed_over_by_all(tmp_path: Path) -> None:
    path = save_run(tmp_path, "run", "connect4", at=1_000)
    (path.parent / "step-00000009.json").write_text("{")
    assert network_at(tmp_path / "run") == read_info(path)
    assert (
        game_at(tmp_path / "run").spec.name == Players(str(tmp_path / "run")).of(CONNECT4).game.spec.name == "connect4"
    )


@pytest.mark.parametrize("words", ["", "rollouts@5"])
@pytest.mark.parametrize(("name", "most_plies"), [("tictactoe", 36), ("shogi", 2048), ("shogi(max_plies=20)", 20)])
def test_random_games_have_an_end(name: str, most_plies: int, words: str, tmp_path: Path) -> None:
    assert Players(words, runs=tmp_path).of(make(name)).game.spec.max_plies == most_plies


def test_networks_play_games_of_any_length(tmp_path: Path) -> None:
    save_run(tmp_path, "run", "connect4", at=1_000)
    players = Players(runs=tmp_path)
    assert players.of(CONNECT4).game.spec.max_plies == 65535
    assert players.of(make("connect4(max_plies=20)")).game.spec.max_plies == 20


@pytest.fixture
def own_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a game of one's own, race.py:DoubleMove, which the user has named once."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(games_for_tests.__file__, "race.py")
    allow_program(Path("race.py"))
    run = Path("runs/race")
    save_network(run / "checkpoints", make("race.py:DoubleMove"))
    (run / "config.toml").write_text("format_version = 1\ngame = 'race.py:DoubleMove'\n", encoding="utf-8")
    return run


def test_a_game_of_ones_own_is_played_by_its_run(own_run: Path) -> None:
    game = make("race.py:DoubleMove")
    sentence = f"Playing with the newest run, {own_run.absolute()}, step 7."
    for player in (choose_player(game), choose_player(game, own_run)):
        assert (player.step, player.game.spec.name) == (7, "double-move")
    assert chosen(game)[1] == sentence
    assert game_at(own_run).spec.name == "double-move"
    (own_run / "config.toml").unlink()
    assert chosen(game)[1] == sentence, "its checkpoints are enough where the game is named"


@pytest.mark.parametrize("arguments", [["--game", "race.py:DoubleMove"], ["runs/race"]])
def test_an_engine_plays_a_game_of_ones_own(arguments: list[str], own_run: Path) -> None:
    command = [sys.executable, "-m", "zerosum", "uci", *arguments]
    lines = "setoption name Backend value torch\nisready\ngo nodes 5\n"
    said = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    assert "runs/race, step 7." in said and "rollouts" not in said
    assert "\nbestmove +" in said


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled networks, which other tests do without."""
    monkeypatch.setattr(bundled, "DIRECTORY", NETWORKS)


def trained(runs: Path, *, minutes: float | None, initial: str = "") -> Path:
    """A run of Connect Four that has been trained for so long."""
    info = CheckpointInfo.describe(CONNECT4.spec, NetworkConfig(num_blocks=1, num_filters=2), step=7)
    info = dataclasses.replace(info, training={} if minutes is None else {"minutes": minutes})
    save_network_of = Checkpoint(info, initial_weights(info.network, info.shape, seed=0))
    run = runs / "mine"
    save_checkpoint(run / "checkpoints", save_network_of, learner_state={}, learner_info={})
    (run / "config.toml").write_text(
        f'format_version = 1\n[training]\ninitial_network = "{initial}"\n', encoding="utf-8"
    )
    return run


@pytest.mark.parametrize(
    ("minutes", "initial", "is_preferred"),
    [(0.2, "", False), (1.9, "", False), (5.0, "", True), (None, "", True), (0.2, "connect4", True)],
)
@pytest.mark.usefixtures("packaged")
def test_a_run_with_a_hundredth_of_the_training_is_not_preferred(
    minutes: float | None, initial: str, is_preferred: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(tmp_path / "runs", minutes=minutes, initial=initial)
    monkeypatch.setenv("ZEROSUM_RUNS", str(run.parent))
    _, said = chosen(CONNECT4)
    if is_preferred:
        assert said == f"Playing with the newest run, {run}, step 7. {NAMED}"
    else:
        assert said.startswith("Playing with the network connect4 that comes with zerosum (20 CPU-minutes")
        told = f"The newest run, {run}, has had {minutes} minutes of training, this network 20 CPU-minutes; {run} names"
        assert told in said
    assert (open_player("connect4").step == 7) == is_preferred
    assert (existing_run(PlayerWord("connect4")) == run) == is_preferred, "in matches and engines, too"
    assert chosen(CONNECT4, run)[1] == f"Playing with {run}, step 7."


@pytest.mark.usefixtures("packaged")
def test_the_network_of_the_package_has_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(tmp_path / "runs", minutes=50)
    monkeypatch.setenv("ZEROSUM_RUNS", str(run.parent))
    said: list[str] = []
    assert open_player("bundled/connect4@20", say=said.append).config.num_simulations == 20
    assert said[0].startswith("Playing with the network connect4 that comes with zerosum")
    assert PlayerWord("bundled/connect4").run == require_run("bundled/connect4") == bundled_network(CONNECT4)
    assert parse_player("bundled/connect4@5", CONNECT4).name == "bundled/connect4@5"
    with pytest.raises(DataError, match="bundled/nim does not exist"):
        require_run("bundled/nim")
