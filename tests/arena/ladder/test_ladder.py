"""Placing players: ratings against slow twins, plans against all plans, simulated players, files, what goes wrong."""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import package_ladder
from commands_for_tests import Command
from games_for_tests import DoubleMove
from runs_for_tests import train_a_little
from zerosum import _core
from zerosum.arena import PlayedGame
from zerosum.arena.ladder.checkpoints import CheckpointName, passings
from zerosum.arena.ladder.command import _identity, place
from zerosum.arena.ladder.placement import LadderSettings, Placement, PlayFn, ladder_ratings
from zerosum.arena.ladder.results import PlayedPair, Results, read_pairs
from zerosum.arena.ladder.rungs import Rung, _data, known_scores, rungs_of
from zerosum.base.errors import DataError, SettingsError
from zerosum.contest.ratings import PairScore, Prior, outcome_probabilities
from zerosum.contest.sprt import Tally
from zerosum.games import adopt, make
from zerosum.play.engines.known_engines import KNOWN_ENGINES
from zerosum.play.entries import Entry, enter
from zerosum.play.runs import spread_checkpoints

TICTACTOE = make("tictactoe")


# ---- placing


class FakeArena:
    """Plays games by the ratings that it knows, instead of moves."""

    def __init__(self, elos: dict[str, float], *, seed: int = 0, nu: float = 0.2) -> None:
        self.elos, self.nu, self.generator = elos, nu, random.Random(seed)
        self.calls: list[tuple[str, str, int, int]] = []
        self.before_game: Callable[[int], None] = lambda _index: None
        self.num_games = 0

    def __call__(
        self, first: str, second: str, num_games: int, seed: int, on_game: Callable[[PlayedGame], None]
    ) -> None:
        self.calls.append((first, second, num_games, seed))
        win, draw, _ = outcome_probabilities(np.array(self.elos[first] - self.elos[second]), self.nu)
        indices = list(range(num_games))
        self.generator.shuffle(indices)  # games end in any order
        for index in indices:
            self.before_game(self.num_games)
            self.num_games += 1
            number = self.generator.random()
            result = 1.0 if number < win else 0.0 if number < win + draw else -1.0
            on_game(PlayedGame(index, (), 0, index % 2, result, "by the rules"))


RUNGS = [Rung("random"), *(Rung(f"rung {elo}", Prior(elo, 150)) for elo in (250, 500, 800, 1200, 1700))]


def placement_of(
    arena: PlayFn, tmp_path: Path | None = None, *, name: str = "player", num_games: int = 200, within: float = 0.0
) -> Placement:
    results = Results(tmp_path and tmp_path / "results.jsonl", game="tictactoe", report=lambda _said: None)
    settings = LadderSettings(num_games=num_games, within_elo=within)
    return Placement(arena, name=name, rungs=RUNGS, results=results, settings=settings)


def played_out(placement: Placement) -> Placement:
    while not placement.is_over:
        placement.step()
    return placement


def strengths(generator: random.Random, player: float) -> dict[str, float]:
    """The true ratings of a simulation: the rungs are near their priors."""
    rungs = {rung.name: generator.gauss(rung.prior.elo, rung.prior.deviation) for rung in RUNGS[1:]}
    return {"random": 0.0, "player": player, **rungs}


def test_simulated_players_come_out_where_they_are() -> None:
    generator, inside, errors = random.Random(5), 0, []
    truths = [generator.uniform(0, 2200) for _ in range(10)]
    for seed, truth in enumerate(truths):
        placement = played_out(placement_of(FakeArena(strengths(generator, truth), seed=seed), num_games=150))
        rating = placement.rating
        assert rating is not None and placement.num_games == 150
        inside += abs(rating.elo - truth) <= rating.error
        errors.append(abs(rating.elo - truth) / rating.error)
    assert inside >= 8, "95 % bars hold the truth in 19 of 20 on average"
    assert np.mean(errors) > 0.2, "and are not much too long"


def test_it_ends_when_the_bar_is_short() -> None:
    arena = FakeArena(strengths(random.Random(1), 600.0))
    placement = placement_of(arena, num_games=2000, within=120)
    while not placement.is_over:
        step = placement.step()
    assert step.rating is not None and step.rating.error <= 120 and placement.num_games < 400
    # Nobody far from it was worth many games.
    far = sum(count for first, second, count, _ in arena.calls if "rung 1700" in (first, second))
    assert far <= 20


def test_a_ladder_places_itself() -> None:
    truth = strengths(random.Random(3), 0.0)
    placement = placement_of(FakeArena(truth), name="", num_games=300)
    before = {rung.name: placement.ratings.rating(rung.name).error for rung in RUNGS}
    while not placement.is_over:
        assert placement.step().rating is None
    for rung in RUNGS[1:]:
        rating = placement.ratings.rating(rung.name)
        assert rating.error < before[rung.name] / 1.5 and abs(rating.elo - truth[rung.name]) < 2 * rating.error
    assert "player" not in placement.ratings.names and "points" not in placement.table()


def test_it_goes_on_after_a_kill(tmp_path: Path) -> None:
    truth = strengths(random.Random(2), 900.0)
    arena = FakeArena(truth)

    def stop(index: int) -> None:
        if index == 45:
            raise KeyboardInterrupt

    arena.before_game = stop
    placement = placement_of(arena, tmp_path, num_games=100)
    with pytest.raises(KeyboardInterrupt):
        played_out(placement)
    again = FakeArena(truth, seed=1)
    placement = placement_of(again, tmp_path, num_games=100)
    assert 30 <= placement.num_games <= 44, "all pairs that were complete are there"
    played_out(placement)
    assert placement.num_games == 100 == placement_of(again, tmp_path, num_games=100).num_games
    seeds = [seed for *_, seed in arena.calls[:-1] + again.calls]
    assert len(set(seeds)) == len(seeds), "or else openings come again"
    # The same results, the same ratings.
    assert placement_of(again, tmp_path).table() == placement.table()
    # Another player is placed by what is known of the rungs; its budget is its own.
    other = placement_of(again, tmp_path, name="newcomer", num_games=10)
    assert other.num_games == 0 and other.ratings.rating("rung 800").elo == pytest.approx(
        placement.ratings.rating("rung 800").elo, abs=1
    )


def test_a_fault_is_told_and_says_nothing_of_strength(tmp_path: Path) -> None:
    def crash(first: str, second: str, num_games: int, seed: int, on_game: Callable[[PlayedGame], None]) -> None:
        for index in range(num_games):
            game = PlayedGame(index, (), 0, index % 2, -1.0, "checkmate")
            on_game(replace(game, ending="forfeit", notes=("player crashed.",)) if index == 0 else game)

    placement = placement_of(crash, tmp_path, num_games=2)
    step = placement.step()
    assert step.faults == ("player crashed.",) and step.tally == Tally(0, 0, 1) and "player crashed." in str(step)
    assert placement.is_over
    line = json.loads((tmp_path / "results.jsonl").read_text())
    assert (line["losses"], line["faults"]) == (1, 1)


def test_a_player_may_be_a_rung() -> None:
    placement = placement_of(FakeArena(strengths(random.Random(1), 0.0)), name="rung 500", num_games=4)
    placement.step()
    assert placement.rating is not None and placement.rating.error < 294  # it begins with what is known
    with pytest.raises(SettingsError, match="random play is the zero of the ladder: place another player"):
        placement_of(FakeArena({}), name="random")


def test_the_table_has_everybody_in_order() -> None:
    placement = placement_of(FakeArena(strengths(random.Random(4), 700.0)), num_games=40)
    played_out(placement)
    lines = placement.table().splitlines()
    elos = [int(line[line.index("±") - 6 : line.index("±")]) for line in lines[1:-1]]
    assert elos == sorted(elos, reverse=True) and len(elos) == len(RUNGS) + 1
    assert sum("<-" in line for line in lines) == 1
    assert "random play is 0, bars are 95 %; equal players draw " in lines[-1] and "Davidson's model" in lines[-1]
    numbers = json.loads(json.dumps(placement.numbers()))
    assert numbers["games"] == 40 and numbers["draws"] == "Davidson" and len(numbers["opponents"]) == len(RUNGS)
    own = [row for row in placement.rows() if row.num_games]
    assert sum(row.num_games for row in own) <= 40
    assert sum(row.points for row in own) == pytest.approx(sum(row.expected for row in own), abs=2)


# ---- the file


@pytest.mark.parametrize(
    "line",
    [
        '{"game": "tictactoe", "placed": "", "first": "a", "second": "a", "wins": 1, "draws": 0, "losses": 1}',
        '{"game": "tictactoe", "placed": "", "first": "a", "second": "b", "wins": 2, "draws": 0, "losses": 1}',
        '{"game": "tictactoe", "placed": "", "first": "a", "second": "b", "wins": -1, "draws": 0, "losses": 1}',
        '{"game": "tictactoe", "placed": "", "first": "a", "second": "b", "wins": "2", "draws": 0, "losses": 0}',
        '{"game": "tictactoe", "placed": 1, "first": "a", "second": "b", "wins": 2, "draws": 0, "losses": 0}',
        '{"first": "a"}',
        "[]",
        "",
    ],
)
def test_damaged_lines_are_taken_out(line: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = PlayedPair(game="tictactoe", placed="", first="a", second="random", wins=1, draws=1, losses=0)
    other = replace(whole, game="connect4")
    Results(path, game="tictactoe", report=print).add(whole)
    with path.open("a") as file:
        file.write(line + "\n")
    Results(path, game="tictactoe", report=print).add(other)
    said: list[str] = []
    results = Results(path, game="tictactoe", report=said.append)
    assert results.pairs == [whole] and results.num_lines == 2
    assert not said, "the second reading has mended it already"


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\nof a year\n")
    with pytest.raises(DataError, match="no line that is a ladder's result: name its file, or one that is not there"):
        Results(path, game="tictactoe", report=print)
    assert path.read_text() == "my notes\nof a year\n"


# ---- rungs


@pytest.mark.parametrize("name", sorted({make(name).spec.full_name for name in _core.core_game_names()}))
def test_every_game_has_a_ladder(name: str) -> None:
    game = make(name)
    rungs = rungs_of(game)
    names = [rung.name for rung in rungs]
    assert names[0] == "random" and len(set(names)) == len(names) and len(names) >= 3
    for rung in rungs:
        contestant = rung.contestant(game, seed=1)
        assert contestant.name == rung.name
        if rung.engine:
            assert contestant.program is not None and (
                contestant.terms.nodes or contestant.terms.depth or rung.arguments
            )
    assert {player for score in known_scores(game) for player in (score.first, score.second)} <= set(names)


def test_packaged_results_are_those_of_the_rules_not_of_the_encoding() -> None:
    assert known_scores(make("shogi(history=1, policy=flat)")) == known_scores(make("shogi")) != []
    assert known_scores(make("go9(history=1)")) == known_scores(make("go9")) != []
    assert known_scores(make("go9(komi=5)")) == known_scores(make("shogi(max_plies=300)")) == []


def test_what_is_packaged_is_of_known_games_and_engines() -> None:
    data = _data()
    engines = {(opponent.name, game) for opponent in KNOWN_ENGINES for game in opponent.games}
    assert all((rung["engine"], game) in engines for rung in data["rungs"] for game in rung["games"])
    for table in data.get("results", []):
        assert make(table["game"]).spec.full_name == table["game"]
        assert all(wins + draws + losses > 0 for _, _, wins, draws, losses in table["scores"])


def test_a_slow_game_has_cheap_rungs(monkeypatch: pytest.MonkeyPatch) -> None:
    game = adopt(DoubleMove())
    assert len(rungs_of(game)) > 3
    monkeypatch.setattr("zerosum.arena.ladder.rungs.SLOWER_IN_PYTHON", 1e9)
    assert [rung.name for rung in rungs_of(game)] == ["random", "alphabeta@1", "rollouts@10"]


def test_results_are_packaged_as_they_were() -> None:
    def pair(first: str, second: str, wins: int, draws: int, losses: int, game: str = "connect4") -> PlayedPair:
        return PlayedPair(game=game, placed="", first=first, second=second, wins=wins, draws=draws, losses=losses)

    pairs = [
        pair("rollouts@10", "random", 2, 0, 0),
        pair("random", "rollouts@10", 1, 1, 0),
        pair("alphabeta@1", "somebody else", 2, 0, 0),
        pair("alphabeta@1", "rollouts@10", 1, 0, 1),
        pair("random", "alphabeta@1", 0, 0, 2, game="go(size=9)"),
    ]
    assert tomllib.loads("\n".join(package_ladder.tables(pairs)))["results"] == [
        {"game": "connect4", "scores": [["random", "rollouts@10", 1, 1, 2], ["alphabeta@1", "rollouts@10", 1, 0, 1]]},
        {"game": "go(size=9)", "scores": [["random", "alphabeta@1", 0, 0, 2]]},
    ]


# ---- the command


def say_nothing(_said: str) -> None:
    """Takes lines that a test does not read."""


def test_the_command_places_a_player(tmp_path: Path) -> None:
    written: list[str] = []
    settings = LadderSettings(num_games=12, opening_plies=1, seed=3)
    path = tmp_path / "results.jsonl"
    entry = Entry.parse("rollouts@20", [])
    opponents = ["alphabeta@1", "rollouts@10"]
    place("tictactoe", entry, settings, opponents=opponents, results=path, write=written.append, say=say_nothing)
    assert "rollouts@20" in written[-1] and "12 games" in written[-1]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 6
    assert {line[side] for line in lines for side in ("first", "second")} <= {"rollouts@20", "random", *opponents}
    # Again, and it has been done; as JSON.
    written.clear()
    place(
        "tictactoe",
        entry,
        settings,
        opponents=opponents,
        results=path,
        is_json=True,
        write=written.append,
        say=say_nothing,
    )
    (line,) = map(json.loads, written)
    assert line["player"] == "rollouts@20" and line["games"] == 12 and line["error"] > 0


def test_results_know_a_player_by_all_that_its_strength_depends_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").touch(mode=0o755)

    def identity(word: str, *settings: str) -> str:
        entry = Entry.parse(word, settings)
        return _identity(entry, enter(entry, make("chess")))

    assert identity("rollouts@20") == "rollouts@20"
    assert identity("rollouts@20", "sample=8", "resign=winrate=5") == "rollouts@20, sample=8, resign=winrate=5"
    assert identity("uci:./mine --level 3", "nodes=10", "option.Hash=1") == "uci:./mine --level 3 (Hash 1, 10 nodes)"
    assert identity("uci:./mine --level 4", "nodes=10") == "uci:./mine --level 4 (10 nodes)"
    assert identity("uci:./mine --level 4", "nodes=10", "name=mine, level 4") == "mine, level 4"


def test_no_games_show_what_is_known() -> None:
    written: list[str] = []
    place("chess", None, LadderSettings(num_games=0), write=written.append, say=say_nothing)
    assert "stockfish 1,000 nodes" in written[0] and "0 games" in written[0]


@pytest.mark.parametrize("name", ["connect4", "chess"])
def test_the_page_shows_what_is_known(name: str) -> None:
    written: list[str] = []
    place(name, None, LadderSettings(num_games=0), write=written.append, say=say_nothing)
    page = Path(__file__).resolve().parents[3] / "docs" / "ladder.md"
    assert written[0] in page.read_text(encoding="utf-8"), f"paste the output of `zerosum ladder {name} --games 0`"


def test_an_engine_that_is_missing_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("zerosum.play.engines.engine.DEBIAN_GAMES", str(tmp_path))
    said: list[str] = []
    settings = LadderSettings(num_games=2)
    place("go(size=5)", Entry.parse("alphabeta@1", []), settings, write=said.append, say=said.append)
    assert said[0] == (
        "Left out: gnugo level 0; gnugo level 5; gnugo level 10. On Debian and Ubuntu, `sudo apt-get install gnugo`"
        " installs gnugo."
    )
    assert not any(line.startswith("alphabeta@1 against gnugo") for line in said)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_games": 3}, "--games is 3, expected an even number of at least 0"),
        ({"num_games": -2}, "--games is -2, expected"),
        ({"within_elo": -1.0}, "--within is -1, expected a number of Elo of at least 0"),
        ({"within_elo": math.nan}, "--within is nan"),
        ({"opening_plies": -1}, "--opening-plies is -1, but must be at least 0"),
    ],
)
def test_settings_out_of_range(settings: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        LadderSettings(**settings)  # type: ignore[arg-type]


def test_unknown_words() -> None:
    settings = LadderSettings(num_games=2)
    with pytest.raises(SettingsError, match="No opponent 'alphabeta@33' on the ladder of tictactoe: did you mean"):
        place("tictactoe", None, settings, opponents=["alphabeta@33"], write=say_nothing, say=say_nothing)
    with pytest.raises(SettingsError, match="unknown player 'rolouts'"):
        place("tictactoe", Entry.parse("rolouts", []), settings, write=say_nothing, say=say_nothing)
    with pytest.raises(SettingsError, match="random play is the zero"):
        place("tictactoe", Entry.parse("random", []), settings, write=say_nothing, say=say_nothing)


# ---- checkpoints


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the checkpoints of steps 0, 1 and 2."""
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train_a_little("tictactoe", path)
    return path


def test_checkpoints_meet_opponents_and_one_another(run: Path, zero: Command) -> None:
    words = ["ladder", "tictactoe", f"{run}@3", "--checkpoints", "2", "--games", "12", "--opponent", "alphabeta@1"]
    told = zero(*words, "--player", "sample=2")
    assert told.status == 0, told.err
    names = [f"step {step}@3, sample=2" for step in (0, 2)]
    pairs = read_pairs(run / "ladder.jsonl").entries
    assert [sum(pair.placed == name for pair in pairs) for name in names] == [6, 6]
    met = {frozenset((pair.first, pair.second)) for pair in pairs}
    assert {"alphabeta@1", *names} <= frozenset().union(*met) <= {"random", "alphabeta@1", *names}
    assert {pair.placed for pair in pairs if {pair.first, pair.second} == {*names}} <= {names[1]}
    assert "passed by the checkpoint of\n" in told.out and f"zerosum report {run} draws them" in told.err
    # Again, and all has been played; a third checkpoint only adds its own games.
    lines = zero(*words, "--player", "sample=2", "--json").out.splitlines()
    rated = {line["checkpoint"]: line["elo"] for line in map(json.loads, lines) if "checkpoint" in line}
    assert list(rated) == names and len(read_pairs(run / "ladder.jsonl").entries) == 12
    words[words.index("--checkpoints") + 1] = "9"
    assert zero(*words, "--player", "sample=2").status == 0
    assert len(read_pairs(run / "ladder.jsonl").entries) == 18


def test_checkpoints_are_spread_from_the_first_to_the_last(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    for step in range(0, 110, 10):
        (tmp_path / "checkpoints" / f"step-{step:08d}.json").touch()

    def steps(count: int) -> list[int]:
        return [int(path.stem.removeprefix("step-")) for path in spread_checkpoints(tmp_path, count)]

    assert (steps(2), steps(3), steps(6)) == ([0, 100], [0, 50, 100], list(range(0, 110, 20)))
    assert steps(11) == steps(50) == list(range(0, 110, 10))


def test_an_opponent_is_passed_by_the_first_checkpoint_above_it(tmp_path: Path) -> None:
    """Checkpoints of known strengths pass the opponents between them."""
    truth = {**strengths(random.Random(8), 0.0), "step 1@9": 100.0, "step 2@9": 1000.0, "step 3@9": 2000.0}
    arena, names = FakeArena(truth, seed=3), ["step 1@9", "step 2@9", "step 3@9"]
    for name in names:
        placement = played_out(placement_of(arena, tmp_path, name=name, num_games=120))
    rungs = [rung.name for rung in RUNGS[1:]]
    found = passings(placement.ratings, names, rungs)
    assert [one.opponent for one in found] == rungs[::-1], "the strongest first"
    for one in found:
        assert one.first == next(name for name in names if truth[name] > truth[one.opponent])
        assert one.first_shown is None or names.index(one.first_shown) >= names.index(one.first)
    assert found[-1].first_shown == "step 2@9" and str(found[-1]).startswith("rung 250: step 2@9, shown at 95 % from")


def test_an_opponent_that_nobody_is_stronger_than_is_not_passed() -> None:
    scores = [PairScore("step 1@9", "rung 800", 0, 0, 30), PairScore("step 2@9", "rung 800", 15, 0, 15)]
    ratings = ladder_ratings([*RUNGS, Rung("unknown", Prior(1000, 900))], scores)
    last, *others = passings(ratings, ["step 1@9", "step 2@9"], ["rung 1700", "rung 800", "unknown"])
    assert (last.first, last.first_shown, str(last)) == (None, None, "rung 1700: not passed")
    assert [one.opponent for one in others] == ["rung 800"], "a rating of ±1764 says nothing"
    assert others[0].first_shown is None, "half of the points show nothing"


@pytest.mark.parametrize("name", ["step 500@100", "step 0", "step 12 (st=0.1), sample=30"])
def test_a_checkpoints_name_can_be_read(name: str) -> None:
    found = CheckpointName.parse(name)
    assert found is not None and str(found) == name
    assert CheckpointName.parse(f"runs/demo@5, {name}") is None


def test_what_has_no_checkpoints_to_rate(run: Path, tmp_path: Path, zero: Command) -> None:
    def refusal(*words: str | Path) -> str:
        told = zero("ladder", "tictactoe", *words, "--checkpoints", "2")
        assert told.status == 2
        return told.err

    assert "'rollouts' is not the directory of one" in refusal("rollouts")
    assert "there is no PLAYER" in refusal()
    assert "the results of checkpoints are kept in their run" in refusal(run, "--results", tmp_path / "x.jsonl")
    assert "name=mine: with --checkpoints each has the name of its step" in refusal(run, "--player", "name=mine")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step-00000001.json").touch()
    assert f"needs two checkpoints or more, and {tmp_path} has 1 checkpoint" in refusal(tmp_path)
