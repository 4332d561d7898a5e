"""Settings: defaults that fit, presets, what is asked on the command line, the file that says it all, and bad ones."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove, OnlyNumbers
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import adopt, make
from zerosum.games.rules import with_options
from zerosum.learner import LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.weights import num_operations
from zerosum.run import gpu_defaults
from zerosum.run.config import SECTIONS, changed, configured_game, dump_config, load_config, new_config, parse_overrides
from zerosum.run.config_words import network_words
from zerosum.run.defaults import default_settings
from zerosum.run.presets import load_preset, preset_names


@pytest.mark.parametrize(
    "game", [make("tictactoe"), make("connect4"), adopt(DoubleMove())], ids=lambda game: game.spec.name
)
def test_defaults_fit_any_game(game) -> None:
    config = new_config(game, game.spec.name)
    assert config.training.minutes == 30
    assert 32 <= config.search.num_simulations <= 200
    assert config.search.root_noise_alpha is not None


def test_actions_that_are_planes_of_squares_get_a_convolution() -> None:
    class Wide(DoubleMove):
        board_shape, num_actions = (1, 20), 20
        has_action_planes = True

        def planes(self, state):
            return np.zeros((len(self.plane_names), 1, 20))

    assert new_config(adopt(DoubleMove()), "double").network.policy_head == "dense"
    assert new_config(adopt(Wide()), "wide").network.policy_head == "planes"


PAPER_TABLE, ZERO_TABLE = (
    [
        [cell.strip() for cell in line.strip("| \n").split(" | ")]
        for line in part.partition("\n### The preprint\n")[0].splitlines()
        if line.startswith("| ") and "." in line.split("|")[1]
    ]
    for part in (Path(__file__).parents[2] / "docs" / "paper.md")
    .read_text(encoding="utf-8")
    .split("\n## AlphaGo Zero\n")
)


@pytest.mark.parametrize("number", [0, 1, 2], ids=["chess", "shogi", "go"])
def test_the_papers_preset_is_the_table_in_the_docs(number: int) -> None:
    """Every value of the preset stands in docs/paper.md, and the other way round."""
    preset = load_preset("paper", game=("chess", "shogi", "go")[number])
    assert_told(preset, {row[0]: (row[1].split(" / ") * 3)[number] for row in PAPER_TABLE})


def test_alphago_zeros_preset_is_the_table_in_the_docs() -> None:
    assert_told(load_preset("alphago-zero", game="go"), {row[0]: row[1] for row in ZERO_TABLE})


def assert_told(preset: dict[str, dict[str, object]], told: dict[str, str]) -> None:
    found = {f"{section}.{name}": value for section, values in preset.items() for name, value in values.items()}
    assert told.keys() == found.keys()
    for name, value in found.items():
        assert parse_overrides([f"{name}={told[name]}"]) == parse_overrides([f"{name}={text_of(value)}"]), name


def text_of(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def test_long_games_have_no_more_moves_by_chance_than_the_papers() -> None:
    plies = [new_config(make(name), name).selfplay.temperature_plies for name in ("tictactoe", "connect4", "chess")]
    assert plies[0] < plies[1] < plies[2] == 30


def test_the_random_moves_of_a_long_games_opening_are_few() -> None:
    """Setting only the share of random openings gives short openings, not games of hundreds of random moves."""
    for name, most in (("connect4", 40), ("go9", 10), ("chess", 10), ("shogi", 10), ("go19", 10)):
        assert new_config(make(name), name, overrides=["selfplay.opening_share=0.3"]).selfplay.opening_plies <= most


def test_go_is_learned_with_owners_and_openings() -> None:
    """As docs/log.md measured it; a preset of the paper has neither."""
    for name in ("go9", "go13", "go19"):
        config = new_config(make(name), name)
        assert config.network.ownership_head and config.selfplay.opening_share == 0.3
        assert make(config.game).spec.full_name == with_options(make(name), liberties="3").spec.full_name
    assert not new_config(make("chess"), "chess").network.ownership_head
    paper = new_config(make("go19"), "go19", preset="paper")
    assert not paper.network.ownership_head and paper.selfplay.opening_share == 0
    assert str(paper.game) == "go19" and len(make(paper.game).spec.planes) == 17


def test_planes_are_added_to_the_name_of_a_game_without_any() -> None:
    go9 = make("go9")
    assert str(new_config(go9, "go9", overrides=["training.planes="]).game) == "go9"
    assert str(new_config(go9, "go9", settings={"training.planes": "history=2"}).game) == "go(size=9, history=2)"
    assert str(new_config(go9, "go9", overrides=["training.source=records"]).game) == "go9"
    assert str(new_config(make("chess"), "chess").game) == "chess"
    named = make("go9(history=4)")
    assert str(new_config(named, "go(size=9, history=4)").game) == "go(size=9, history=4)"
    both = new_config(named, "", overrides=["training.planes=liberties=2"])
    assert str(both.game) == "go(size=9, history=4, liberties=2)"
    for game, planes, sentence in (
        (named, "history=2", r"go\(size=9, history=4\) and training.planes='history=2' disagree about history"),
        (go9, "komi=2", r"has no option 'komi' of planes, only history, history_fill, liberties"),
        (make("connect4"), "history=2", "has no option 'history' of planes. Leave it empty"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            new_config(game, "", overrides=[f"training.planes={planes}"])
    with pytest.raises(GameError, match='liberties is "9"'):
        new_config(go9, "", overrides=["training.planes=liberties=9"])


def test_a_gpu_gets_a_larger_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.run.defaults.uses_gpu", lambda: False)
    on_cpu = [new_config(make(name), name).network for name in ("chess", "tictactoe")]
    monkeypatch.setattr("zerosum.run.defaults.uses_gpu", lambda: True)
    on_gpu = [new_config(make(name), name).network for name in ("chess", "tictactoe")]
    assert on_gpu[0].num_filters >= 2 * on_cpu[0].num_filters and on_gpu[0].num_blocks > on_cpu[0].num_blocks
    assert on_gpu[1] == on_cpu[1], "tic-tac-toe needs no more"


def test_the_rates_of_a_gpu_are_those_that_were_measured() -> None:
    for name, size, filters, measured in (("chess", 19, 256, 207e3), ("go9", 6, 96, 838e3)):
        game = make(name)
        planes = configured_game(game, new_config(game, name))
        network = new_config(game, name, overrides=[f"network.num_blocks={size}", f"network.num_filters={filters}"])
        operations = num_operations(network.network, NetworkShape.of(planes.spec))
        rate = gpu_defaults.evaluations_per_second(operations, num_cores=16, num_gpus=1)
        assert rate == pytest.approx(measured, rel=0.05)


def test_the_budget_decides_the_size_on_a_gpu() -> None:
    """More parameters, then more simulations; the rate falls with the width, and grows with the batch."""

    def settings(game: str, minutes: float, num_gpus: int = 1) -> dict[str, dict[str, Any]]:
        return default_settings(make(game), minutes=minutes, num_cores=16, num_gpus=num_gpus)

    for game in ("chess", "shogi", "go9", "go19", "othello", "connect4"):
        found = [settings(game, minutes) for minutes in (0.1, 1, 10, 60, 480, 10_000, 1_000_000)]
        for name in ("num_blocks", "num_filters"):
            sizes = [one["network"][name] for one in found]
            assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
        simulations = [one["search"]["num_simulations"] for one in found]
        assert simulations == sorted(simulations) and simulations[0] < simulations[-1] <= 800
        for one in found:
            assert one["selfplay"]["fast_simulations"] == pytest.approx(one["search"]["num_simulations"] / 5, abs=4)
            filters, batch = one["network"]["num_filters"], one["learner"]["batch_size"]
            assert batch == (1024 if filters >= 192 else 512)
            expected = 2e-3 * 64 / filters * (batch / 256) ** 0.5
            assert one["learner"]["learning_rate"] == pytest.approx(expected, rel=0.03)
    assert settings("connect4", 10_000)["network"]["num_filters"] == 128, "its board is small"
    assert settings("go19", 480, num_gpus=8)["network"]["num_filters"] > settings("go19", 480)["network"]["num_filters"]
    assert settings("tictactoe", 480)["network"] == settings("tictactoe", 480, num_gpus=0)["network"]


def test_long_games_have_no_cache_of_evaluations_on_a_gpu() -> None:
    def cached(game: str, num_gpus: int) -> bool:
        settings = default_settings(make(game), minutes=60, num_cores=16, num_gpus=num_gpus)
        return bool(settings["search"]["cache_positions"])

    assert [cached(game, 1) for game in ("connect4", "othello", "chess", "go9")] == [True, True, False, False]
    assert all(cached(game, 0) for game in ("connect4", "othello", "chess", "go9"))


def test_what_is_asked_for_decides_the_learning_rate_on_a_gpu() -> None:
    def learner(*overrides: str, preset: str = "") -> tuple[int, float]:
        config = new_config(make("chess"), "chess", preset=preset, overrides=overrides, machine=(16, 1))
        return config.learner.batch_size, config.learner.learning_rate

    assert learner("network.num_filters=256") == (1024, 1e-3)
    assert learner(preset="chess") == (512, 2.8e-3), "it has 64 filters"
    assert learner("network.num_filters=256", "learner.batch_size=64") == (64, 1e-3)
    assert learner(preset="paper") == (4096, 0.2)
    assert new_config(make("chess"), "chess", machine=(16, 0)).learner == LearnerConfig()


def test_workers_and_games_are_measured_on_a_gpu_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.run.defaults.uses_gpu", lambda: True)
    selfplay = new_config(make("chess"), "chess").selfplay
    assert (selfplay.num_workers, selfplay.games_per_worker) == (None, None)


def filters_of(game: str, minutes: float, *overrides: str, cores: int = 2) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zerosum.run.config.num_cores", lambda: cores)
        patch.setattr("zerosum.run.defaults.uses_gpu", lambda: False)
        return new_config(make(game), game, minutes=minutes, overrides=overrides).network.num_filters


def test_the_budget_decides_the_number_of_filters() -> None:
    """A larger network where the budget pays for enough positions (docs/log.md has the measurements)."""
    for game in ("connect4", "go9", "chess", "shogi"):
        filters = [filters_of(game, minutes) for minutes in (1, 5, 30, 60, 240, 1000, 10_000)]
        assert filters == sorted(filters) and filters[0] == 32 and filters[-1] == 96
    assert filters_of("go9", 30) < filters_of("connect4", 30), "its games are longer, and its board is larger"
    assert filters_of("go9", 30, "search.num_simulations=64") >= filters_of("go9", 30)


def test_cpu_minutes_are_those_of_one_core() -> None:
    assert filters_of("connect4", 15, cores=4) == filters_of("connect4", 60, "training.clock=cpu", cores=4) == 64
    assert filters_of("connect4", 15, "training.clock=cpu", cores=4) == 32


def test_larger_games_get_larger_networks() -> None:
    small, large = (new_config(make(name), name) for name in ("tictactoe", "connect4"))
    assert small.network.num_filters < large.network.num_filters
    assert small.network.num_blocks < large.network.num_blocks
    assert small.search.root_noise_alpha > large.search.root_noise_alpha * 0.9


PRESETS_AND_GAMES = [
    *((name, name) for name in preset_names() if name not in ("paper", "stanford", "alphago-zero", "nnue", "muzero")),
    ("stanford", "chess"),
    *(("nnue", name) for name in ("chess", "go9", "breakthrough")),
    *(("muzero", name) for name in ("tictactoe", "connect4", "go9", "chess", "breakthrough")),
    ("alphago-zero", "go19"),
    ("alphago-zero", "connect4"),
    *(("paper", name) for name in ("chess", "shogi", "go19", "connect4")),
]


@pytest.mark.parametrize(("name", "game"), PRESETS_AND_GAMES)
def test_presets_are_settings(name: str, game: str) -> None:
    rules = make(game)
    config = new_config(rules, game, preset=name)
    for section, entries in load_preset(name, game=rules.spec.name).items():
        for key, value in entries.items():
            assert getattr(getattr(config, section), key) == (tuple(value) if isinstance(value, list) else value)


def test_what_is_asked_comes_last() -> None:
    config = new_config(
        make("connect4"),
        "connect4",
        preset="connect4",
        minutes=7,
        seed=3,
        overrides=["search.num_simulations=9", "learner.schedule_steps=5,6"],
    )
    assert (config.training.minutes, config.training.seed, config.search.num_simulations) == (7, 3, 9)
    assert config.learner.schedule_steps == (5, 6)


def test_a_budget_is_minutes_or_steps() -> None:
    config = new_config(make("connect4"), "connect4", overrides=["training.steps=50"])
    assert (config.training.steps, config.training.minutes) == (50, None)
    back = changed(config, {"training": {"minutes": 2.0}})
    assert (back.training.steps, back.training.minutes) == (None, 2.0)
    with pytest.raises(SettingsError, match="one of the two"):
        new_config(make("connect4"), "connect4", overrides=["training.steps=50", "training.minutes=5"])


def test_the_file_says_everything_and_reads_back(tmp_path: Path) -> None:
    config = new_config(make("connect4"), "connect4", preset="connect4", overrides=["training.steps=50"])
    text = dump_config(config)
    for section, config_type in SECTIONS.items():
        assert f"[{section}]" in text
        for field in dataclasses.fields(config_type):
            assert f"\n{field.name} = " in text or f"# {field.name} is none" in text
            assert field.metadata["help"] in text
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    assert load_config(tmp_path / "config.toml") == config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("search.num_simulation=64", "unknown setting search.num_simulation: did you mean 'num_simulations'"),
        ("serch.num_simulations=64", "unknown section of settings 'serch': did you mean 'search'"),
        ("search.num_simulations", "is not a setting: write section.name=value"),
        ("num_simulations=64", "is not a setting"),
        ("search.num_simulations=many", "expected a whole number"),
        ("search.num_simulations=0", "search.num_simulations is 0, but must be between 1 and"),
        ("search.unvisited_value=los", "did you mean 'loss'"),
        ("search.exact_bounds=yes", "expected true or false"),
        ("strength.rollout_simulations=", "expected one number or more"),
        ("learner.learning_rate=nan", "learner.learning_rate is nan, expected a finite number"),
    ],
)
def test_bad_settings_are_named(override: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        new_config(make("connect4"), "connect4", overrides=[override])
    assert message in str(caught.value)


def test_an_unknown_preset_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'connect4'"):
        new_config(make("connect4"), "connect4", preset="conect4")


def test_damaged_and_newer_files(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    text = dump_config(new_config(make("connect4"), "connect4"))
    for damaged, message in (
        (text.replace("format_version = 1", "format_version = 99"), "format version 99"),
        (text[: len(text) // 2] + "\n[[[", "cannot be read"),
        (re.sub(r"\nc_init = .*", r"\nc_init = -2.5", text), "search.c_init is -2.5"),
        (text.replace("\nc_init = ", "\nc_innit = "), "did you mean 'c_init'"),
    ):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises((DataError, SettingsError), match=message.replace("[", r"\[")):
            load_config(path)


def test_a_head_that_the_game_cannot_have_is_refused() -> None:
    asked = ["network.ownership_head=true"]
    assert new_config(make("go(size=7)"), "go(size=7)", overrides=asked).network.ownership_head
    for game in (make("chess"), adopt(DoubleMove())):
        with pytest.raises(SettingsError, match=r"ownership_head is true, but squares of .* have no owners"):
            new_config(game, game.spec.name, overrides=asked)


def test_an_alpha_beta_search_needs_planes_of_pieces(tmp_path: Path) -> None:
    asked = ["selfplay.alphabeta_depth=2"]
    assert new_config(make("connect4"), "connect4", overrides=asked).selfplay.alphabeta_depth == 2
    game = adopt(OnlyNumbers())
    error = "has no planes of pieces, so an alpha-beta search cannot learn what they are worth"
    with pytest.raises(SettingsError, match=error):
        new_config(game, game.spec.name, overrides=asked)


def test_the_size_of_a_network_is_said_in_plain_words() -> None:
    shape = NetworkShape.of(make("connect4").spec)
    assert network_words(NetworkConfig(num_blocks=1, num_filters=8), shape).startswith("1 block x 8 filters, ")
    assert network_words(NetworkConfig(num_blocks=2, num_filters=8), shape).startswith("2 blocks x 8 filters, ")
