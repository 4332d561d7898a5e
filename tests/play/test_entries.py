"""Players of a match as a command line enters them, and profiles of the paper's opponents."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines_for_tests import fake_word
from networks_for_tests import save_network
from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import make
from zerosum.network.evaluators.evaluator import NetworkEvaluator
from zerosum.play.contestant import RANDOM, SearchContestant
from zerosum.play.engines import profiles
from zerosum.play.engines.engine import EngineCommand
from zerosum.play.engines.profiles import profile_of
from zerosum.play.entries import Entry, enter, sharing_evaluator
from zerosum.play.runs import PlayerWord

CHESS, CONNECT4 = make("chess"), make("connect4")
OPTIONS = ["Threads type spin default 1 min 1 max 512", "Hash type spin default 16 min 1 max 33554432"]
CHEAT = {"uci": ["id name Cheat", *(f"option name {option}" for option in OPTIONS), "uciok"]}


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs that are there, though nothing starts them."""
    monkeypatch.setattr("zerosum.play.engines.engine.DEBIAN_GAMES", str(tmp_path / "games"))
    (tmp_path / "games").mkdir()
    for name in ("x", "strong", "mogo"):
        (tmp_path / "games" / name).touch(mode=0o755)


def test_an_entry_has_the_words_of_fastchess() -> None:
    settings = ["tc=40/5", "nodes=9", "nodes=10", "option.Skill Level=0", "option.Clear Hash=", "sample=4", "name=Bo"]
    assert Entry.parse("x", [*settings, "within=1.5", "resign=score=600 movecount=3"]) == Entry(
        "x",
        Terms(TimeControl.parse("40/5"), nodes=10),
        options=(("Skill Level", "0"), ("Clear Hash", "")),
        name="Bo",
        sampled_plies=4,
        sampled_within=0.015,
        resign="score=600 movecount=3",
    )
    assert Entry.parse("x", ["tc=1", "timemargin=50"]).terms == Terms(TimeControl.parse("1"), margin_s=0.05)
    managed = Terms(time_config=TimeConfig(manager="paper", overhead_s=0.02))
    assert Entry.parse("x", ["manager=paper", "overhead=0.02"]).terms == managed
    assert Entry.parse("x", ["st=2.5"]).terms.time == TimeControl.parse("st=2.5")
    assert Entry.parse("x", []) == Entry("x")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("nodes", "'nodes' is not a setting of a player: expected NAME=VALUE"),
        ("node=5", "did you mean 'nodes'"),
        ("option.=5", "is not a setting of a player"),
        ("option.NAME2", "is not a setting of a player"),
        ("nodes=x", "nodes is 'x', expected an integer"),
        ("nodes=0", "nodes is 0, but must be at least 1"),
        ("depth=-1", "depth is '-1'"),
        ("tc=soon", "'soon' is not a time control"),
        ("st=", "'st=' is not a time control"),
        ("timemargin=0.5", "timemargin is '0.5', expected an integer"),
        ("ponder=yes", "ponder is 'yes', expected true or false"),
        ("precision=int9", "'int9': did you mean 'int8'"),
        ("timemargin=50", "timemargin=50 without a clock: add tc or st"),
    ],
)
def test_settings_that_say_nothing(setting: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Entry.parse("x", [setting])


def test_two_clocks_for_one_player() -> None:
    with pytest.raises(SettingsError, match="tc=1 and st=2: give one of them"):
        Entry.parse("x", ["tc=1", "st=2"])


def entered(word: str, *settings: str, game: str = "chess") -> tuple[str, Terms]:
    player = enter(Entry.parse(word, settings), make(game))
    return player.name, player.terms


def test_names_say_who_plays_on_what_terms() -> None:
    assert entered("random") == ("random", Terms())
    assert entered("rollouts@5", game="connect4") == ("rollouts@5", Terms())
    assert entered("rollouts", "nodes=5", game="connect4") == ("rollouts@5", Terms(nodes=5))
    timed = Terms(TimeControl.parse("10+0.1"))
    assert entered("rollouts", "tc=10+0.1", game="connect4") == ("rollouts (10+0.1)", timed)
    limited = Terms(TimeControl.parse("10+0.1"), nodes=5)
    assert entered("rollouts@5", "tc=10+0.1", game="connect4") == ("rollouts (10+0.1, 5 nodes)", limited)
    assert entered("uci:strong -q", "depth=3", "option.Hash=4") == ("strong (Hash 4, depth 3)", Terms(depth=3))
    assert entered("uci:strong", "depth=3", "name=Bo")[0] == "Bo"
    assert entered("usi:strong", "depth=3", "ponder=true", game="shogi")[0] == "strong (depth 3, ponder)"
    for protocol, game, option in (("uci", "chess", "Ponder"), ("usi", "shogi", "USI_Ponder")):
        player = enter(Entry.parse(f"{protocol}:x", ["st=1", "ponder=true"]), make(game))
        assert isinstance(player.program, EngineCommand) and player.program.options == ((option, "true"),)
    assert entered("gtp:mogo", game="go(size=9)") == ("mogo", Terms())


@pytest.mark.parametrize(
    ("word", "settings", "game", "message"),
    [
        ("rollots", [], "chess", "unknown player 'rollots': did you mean 'rollouts'"),
        ("", [], "chess", "unknown player ''"),
        (
            "nowhere/at/all@5",
            [],
            "chess",
            r"^nowhere/at/all does not exist: name a run .*runs, or a game, for its newest",
        ),
        ("nowhere.json", [], "chess", r"^nowhere\.json does not exist: name a run directory, a checkpoint's JSON,"),
        ("no\\where", [], "chess", r"^no\\where does not exist: name a run directory"),
        ("gnugo", [], "connect4", "unknown player 'gnugo'; available: alphabeta, random, rollouts, the path"),
        ("x", [], "chess", "gtp:COMMAND, and a game, for its newest run, else the bundled network"),
        ("uci:", [], "chess", "An engine's command is empty"),
        ("uci:'x", ["depth=1"], "chess", "cannot be read"),
        ("uci:x", [], "chess", "x has no limit: give it a time"),
        ("gtp:x", ["ponder=true"], "go", "x is set to ponder, which GTP cannot ask for"),
        ("rollouts", ["ponder=true"], "chess", "rollouts@1000 cannot ponder"),
        ("gtp:x", ["nodes=5"], "go", "GTP cannot limit nodes or depth"),
        ("uci:x", ["depth=1", "sample=3"], "chess", "cannot sample its moves in the first 3 plies"),
        ("uci:x", ["depth=1", "within=3"], "chess", "cannot sample its moves"),
        ("random", ["within=3"], "chess", "cannot sample its moves"),
        (
            "rollouts",
            ["within=3"],
            "chess",
            "draws moves within 3 % of the best one: expected 0 to 100, and a number of",
        ),
        (
            "rollouts",
            ["sample=3", "within=101"],
            "chess",
            "draws moves within 101 % of the best one: expected 0 to 100",
        ),
        ("rollouts", ["sample=3", "within=-1"], "chess", "within is '-1', expected percent such as 5"),
        ("rollouts@5", ["nodes=6"], "chess", "'rollouts@5' and nodes=6: give one of them"),
        ("rollouts@5", ["option.Hash=6"], "chess", "is one of our own players, and option.Hash is for engines"),
        ("rollouts@5", ["profile=paper"], "chess", "and profile is for engines"),
        ("rollouts@5", ["depth=6"], "chess", "has a depth of 6, which only engines take"),
        (
            "rollouts@5",
            ["manager=paper"],
            "chess",
            "manager=paper and overhead=0.1, which only our own searches with a clock take",
        ),
        ("uci:x", ["overhead=0.02", "tc=1"], "chess", "overhead=0.02, which only our own searches with a clock take"),
        (
            "rollouts@5",
            ["overhead=-1", "tc=1"],
            "connect4",
            "overhead_s is -1.0, but must be between 0.0 and 60.0",
        ),
        ("rollouts@5", ["overhead=x", "tc=1"], "connect4", "overhead is 'x', expected a number of seconds"),
        ("rollouts@5", ["manager=x", "tc=1"], "connect4", "time.manager is 'x'"),
        ("random", ["nodes=6"], "chess", "random play does not search"),
        ("random@6", [], "chess", "'random@6': random play does not search"),
        (
            "rollouts@5",
            ["resign=score"],
            "chess",
            "'score' in a rule to resign, 'score': expected words such as score=600",
        ),
        ("rollouts@5", ["resign=score=1 twosided=1"], "chess", "twosided is '1', expected true or false"),
        ("rollouts@5", ["resign=movecount=3"], "chess", "has no win_rate, centipawns or lead"),
        ("rollouts@5", ["resign=paper"], "connect4", "the paper has no match of connect4"),
        ("rollouts@5", ["precision=bf16"], "connect4", "has no network, and precision=bf16 is a network's"),
        ("uci:x", ["depth=1", "precision=bf16"], "chess", "is an engine, and precision=bf16 is for our own networks"),
    ],
)
def test_players_that_nobody_can_enter(word: str, settings: list[str], game: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        enter(Entry.parse(word, settings), make(game))


def test_resigning_as_in_the_paper() -> None:
    own = enter(Entry.parse("rollouts@5", ["resign=paper"]), CHESS).resign
    engine = enter(Entry.parse("uci:x", ["depth=1", "resign=paper"]), CHESS).resign
    shogi = enter(Entry.parse("usi:x", ["depth=1", "resign=paper"]), make("shogi")).resign
    assert (str(own), str(engine), str(shogi)) == (
        "a win rate under 0.05",
        "-650 centipawns or less for 4 moves in a row",
        "-4500 centipawns or less for 10 moves in a row",
    )
    assert enter(Entry.parse("gtp:x", ["resign=paper"]), make("go")).resign is None


def test_only_one_network_is_shared() -> None:
    one, other = (enter(Entry("rollouts@5"), CONNECT4) for _ in range(2))
    rollouts = PlayerWord.parse("rollouts@5")
    assert sharing_evaluator(one, other, words=(rollouts, rollouts)) is other, "each has games of its own"
    assert sharing_evaluator(one, RANDOM, words=(rollouts, PlayerWord("random"))) is RANDOM


def test_a_precision_makes_another_player(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    save_network(tmp_path / "run" / "checkpoints", make("tictactoe"))
    game, words = make("tictactoe"), (PlayerWord(run), PlayerWord(run))
    usual, again = (enter(Entry.parse(run, []), game) for _ in range(2))
    exact = enter(Entry.parse(run, ["precision=f32"]), game)
    assert isinstance(usual, SearchContestant) and isinstance(exact, SearchContestant)
    assert isinstance(exact.evaluator, NetworkEvaluator) and exact.evaluator.description.endswith("f32")
    assert exact.name == f"{usual.name} f32"
    assert exact.description() != usual.description(), "a match with the one is not continued with the other"
    shared = sharing_evaluator(usual, again, words=words)
    assert isinstance(shared, SearchContestant) and shared.evaluator is usual.evaluator
    assert sharing_evaluator(usual, exact, words=words) is exact


def test_a_profile_scales_down_to_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    command = EngineCommand.parse(fake_word(**CHEAT).removeprefix("uci:"), protocol="uci", name="Fake")
    monkeypatch.setattr(profiles, "num_cores", lambda: 64)
    monkeypatch.setattr(profiles, "_memory_mb", lambda: 8000)
    assert profile_of("paper", command, CHESS).options == (("Threads", "44"), ("Hash", "2000"))
    shared = profile_of("paper-2017", command, CHESS, num_engines=4)
    assert shared.options == (("Threads", "16"), ("Hash", "500"))
    assert shared.sentence == (
        "Fake plays with Threads 16, Hash 500; the paper's Stockfish 8 had 64 threads and 1,024 MB."
    )
    assert "It has no option Ponder." in profile_of("paper", command, CHESS).sentence
    with pytest.raises(SettingsError, match="profile 'paper' sets up no engine for go"):
        profile_of("paper", command, make("go"))
    bounded = fake_word(uci=["option name Hash type spin default 16 min 4 max 1024", "uciok"])
    command = EngineCommand.parse(bounded.removeprefix("uci:"), protocol="uci", name="Fake")
    assert profile_of("paper", command, CHESS).options == (("Hash", "1024"),), "no more than the engine takes"
    player = enter(Entry.parse(fake_word(**CHEAT), ["depth=1", "profile=paper", "option.hash=4"]), CHESS)
    assert isinstance(player.program, EngineCommand)
    assert player.program.options == (("Threads", "44"), ("hash", "4")), "what is said beside a profile counts"
