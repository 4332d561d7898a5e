"""Tournaments: pairings, games as in matches, the table, and resumption."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs_for_tests import Scripted
from zerosum._core import Leaves
from zerosum.arena import Match, MatchPlan, MatchResult, MatchSettings, PlayedGame, play, play_match
from zerosum.arena.plan import FORMATS, Format, Schedule
from zerosum.arena.session import play_session
from zerosum.arena.standings import Standings
from zerosum.base.errors import DataError, SettingsError
from zerosum.contest.sprt import Sprt
from zerosum.games import make
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.notation import read_games
from zerosum.play.contestant import RANDOM, Contestant, ProgramContestant, SearchContestant
from zerosum.play.entries import Entry, parse_entries
from zerosum.search import SearchConfig

CONNECT4 = make("connect4")


def named(name: str) -> Contestant:
    return replace(RANDOM, name=name)


def search(num_simulations: int, evaluator: UniformEvaluator | None = None) -> Contestant:
    config = SearchConfig(num_simulations=num_simulations, exact_bounds=False, reuse_tree=False)
    return SearchContestant(f"search {num_simulations}", evaluator or UniformEvaluator(), config)


def plan(*players: Contestant, num_games: int = 4, format: Format = "round-robin") -> MatchPlan:
    settings = MatchSettings(num_games, seed=1, opening_plies=2, format=format, openings_name="two")
    return MatchPlan(CONNECT4, players, settings)


@given(st.integers(2, 7), st.integers(1, 5), st.sampled_from(FORMATS))
def test_each_pairing_plays_each_opening_from_both_sides(num_players: int, num_rounds: int, format: Format) -> None:
    schedule = Schedule.of(num_players, MatchSettings(2 * num_rounds, seed=1, format=format))
    expected = {
        (one, other) for other in range(num_players) for one in range(other) if format != "gauntlet" or one == 0
    }
    assert set(schedule.pairings) == expected
    seen = [(schedule.round(index), schedule.sides(index)) for index in range(schedule.num_games)]
    assert sorted(seen) == sorted(
        (number, sides)
        for number in range(num_rounds)
        for one, other in expected
        for sides in ((one, other), (other, one))
    )
    assert [number for number, _ in seen] == sorted(number for number, _ in seen), "rounds come one after the other"
    for index in range(0, schedule.num_games, 2):
        assert schedule.sides(index) == schedule.sides(index + 1)[::-1]
    more = Schedule.of(num_players, MatchSettings(2 * num_rounds + 2, seed=1, format=format))
    assert [more.sides(index) for index in range(schedule.num_games)] == [sides for _, sides in seen]


def test_games_of_a_tournament_are_those_of_matches() -> None:
    """Searches draw nothing at random, so with the same openings a pairing plays the same games in both."""
    players = search(5), search(20), search(40)
    first, second, third = play(plan(*players))
    for result, (one, other) in ((first, (0, 1)), (second, (0, 2)), (third, (1, 2))):
        assert (result.first, result.second) == (players[one].name, players[other].name)
        alone = play_match(CONNECT4, players[one], players[other], num_games=4, seed=1, opening_plies=2)
        assert [(game.actions, game.result, game.first_is_player) for game in result.games] == [
            (game.actions, game.result, game.first_is_player) for game in alone.games
        ]


def test_three_searches_of_one_network_share_batches() -> None:
    class CountingEvaluator(UniformEvaluator):
        def __init__(self) -> None:
            self.sizes: list[int] = []

        def evaluate(self, leaves: Leaves) -> Evaluations:
            self.sizes.append(len(leaves))
            return super().evaluate(leaves)

    evaluator = CountingEvaluator()
    players = search(20, evaluator), search(21, evaluator), search(22, evaluator)
    shared = play(plan(*players, num_games=8))
    assert max(evaluator.sizes) == 24
    alone = play(plan(search(20), search(21), search(22), num_games=8))
    assert [result.games for result in shared] == [result.games for result in alone]


def test_a_gauntlet_is_the_first_against_all_others() -> None:
    results = play(plan(search(30), named("a"), named("b"), named("c"), format="gauntlet"))
    assert [(result.first, result.second) for result in results] == [("search 30", name) for name in "abc"]


def test_engines_are_opened_for_games_under_way_not_for_all_boards() -> None:
    programs = [Scripted() for _ in range(4)]
    players = [ProgramContestant(f"program {number}", program) for number, program in enumerate(programs)]
    match = plan(*players, num_games=8)
    play(replace(match, settings=replace(match.settings, max_games_at_once=1)))
    assert [program.log.count("open") for program in programs] == [1] * 4
    assert [program.log.count("new game") for program in programs] == [24] * 4


def test_a_tournament_is_kept_and_goes_on(tmp_path: Path) -> None:
    path, players = tmp_path / "games.jsonl", (search(5), search(20), named("Bo"))
    whole = play_session(plan(*players), file=path)
    lines = path.read_text().splitlines(keepends=True)
    games = {json.loads(line)["game"]: json.loads(line)["players"] for line in lines[1:]}
    assert games[0] == ["search 5", "search 20"] and games[1] == games[0][::-1] and games[4] == ["search 20", "Bo"]
    path.write_text("".join(lines[:6]) + lines[6][:20])
    assert play_session(plan(*players), file=path).results == whole.results
    more = play_session(plan(*players, num_games=6), file=path).results
    assert [result.games[:4] for result in more] == [result.games for result in whole.results]
    for other in (plan(*players, format="gauntlet"), plan(*players[::-1]), plan(*players[:2])):
        with pytest.raises(DataError, match="holds another match"):
            play_session(other, file=path)


def test_files_for_people_name_the_players_of_each_game(tmp_path: Path) -> None:
    chess, path = make("chess(max_plies=6)"), tmp_path / "games.pgn"
    players = tuple(named(name) for name in ("Ada", "Bo", "Cy"))
    play_session(MatchPlan(chess, players, MatchSettings(2, seed=1)), file=path)
    records = {record.header("round"): record for record in read_games(path)}
    assert {round: record.players for round, record in records.items()} == {
        "1.1": ("Ada", "Bo"),
        "1.2": ("Bo", "Ada"),
        "1.3": ("Ada", "Cy"),
        "1.4": ("Cy", "Ada"),
        "1.5": ("Bo", "Cy"),
        "1.6": ("Cy", "Bo"),
    }
    assert {record.header("event") for record in records.values()} == {"round-robin of 3 players"}


def test_an_early_end_counts_whole_pairs_of_all_pairings_in_turn() -> None:
    played = [PlayedGame(index, (index,), 0, index % 2, 1.0, "some way") for index in (0, 1, 2, 3, 4, 6, 7)]
    with Match(plan(named("a"), named("b"), named("c")), played=played) as match:
        results = match.results
    assert [len(result.games) for result in results] == [2, 2, 0]
    assert [result.num_others for result in results] == [2, 0, 1]
    standings = Standings(results)
    assert "not counted: 3 games" in str(standings)
    (top, *_), text = standings.table(), str(standings)
    assert top.name == "a" and top.rating is not None and "4/4" not in text and "2/2" in text


def test_the_header_of_a_match_of_two_is_as_it_was() -> None:
    """Files of matches that were begun before there were tournaments go on."""
    match = plan(named("a"), named("b"))
    rest = '"network": "", "search": {}, "program": "", "terms": "", "sampled plies": 0, "resign": "never"'
    assert json.dumps(match.description()) == (
        f'{{"game": "connect4", "version": 1, "first": {{"name": "a", {rest}}}, "second": {{"name": "b", {rest}}},'
        ' "openings": "two", "openings digest": "ab5decd8", "seed": 1, "draw": "none"}'
    )


# What the table says


def result(first: str, second: str, results: list[float]) -> MatchResult:
    games = [PlayedGame(index, (index,), 0, index % 2, value, "some way") for index, value in enumerate(results)]
    return MatchResult(first, second, tuple(games), (0, 0))


def test_the_table_as_people_see_it() -> None:
    standings = Standings(
        (
            result("Ada", "Bo", [1.0, 1.0, 0.0, 0.0]),
            result("Ada", "Cy the Long", [1.0, 1.0, 1.0, -1.0]),
            result("Bo", "Cy the Long", [1.0, 0.0, 1.0, -1.0]),
        )
    )
    ratings = standings.ratings()
    assert [row.name for row in standings.table()] == ["Ada", "Bo", "Cy the Long"]
    assert (
        str(standings)
        == f"""\
   player              Elo  points  games    1      2      3
1  Ada          {ratings["Ada"]!s:>10}       6      8    -    3/4    3/4
2  Bo           {ratings["Bo"]!s:>10}     3.5      8  1/4      -  2.5/4
3  Cy the Long  {ratings["Cy the Long"]!s:>10}     2.5      8  1/4  1.5/4      -
points of games against each; the players' mean rating is 0, bars are 95 %"""
    )
    numbers = json.loads(json.dumps(standings.numbers()))
    assert [player["points"] for player in numbers["players"]] == [6, 3.5, 2.5]
    assert numbers["pairings"][0]["wins"] == 2 and numbers["pairings"][0]["score"] == 0.75


def test_without_a_chain_of_results_there_are_no_ratings() -> None:
    standings = Standings((result("a", "b", [1.0, 1.0]), result("a", "c", []), result("b", "c", [])))
    assert standings.ratings() == {} and "unknown" in str(standings)
    apart = Standings((result("a", "b", [1.0, 1.0]), result("c", "d", [1.0, 1.0]), result("a", "c", [])))
    assert apart.ratings() == {}


# Words


def test_settings_stand_behind_their_players() -> None:
    words = ["stockfish@5", "option.Skill Level=0", "uci:./x --depth=3", "./runs/a=b", "name=me", "random"]
    assert parse_entries(words, ["nodes=7"]) == [
        Entry.parse("stockfish@5", ["nodes=7", "option.Skill Level=0"]),
        Entry.parse("uci:./x --depth=3", ["nodes=7"]),
        Entry.parse("./runs/a=b", ["nodes=7", "name=me"]),
        Entry.parse("random", ["nodes=7"]),
    ]
    with pytest.raises(SettingsError, match="'nodes=5' precedes all players"):
        parse_entries(["nodes=5", "random"], [])
    with pytest.raises(SettingsError, match="'node=5' is not a setting of a player.*did you mean 'nodes'"):
        parse_entries(["random", "node=5"], [])


def test_tournaments_that_there_are_not() -> None:
    settings = MatchSettings(2, seed=1)
    with pytest.raises(SettingsError, match="1 players: a match has two or more"):
        MatchPlan(CONNECT4, (RANDOM,), settings)
    with pytest.raises(SettingsError, match="several players are called random: give all but one another name=WORDS"):
        MatchPlan(CONNECT4, (RANDOM, named("x"), RANDOM), settings)
    with pytest.raises(SettingsError, match="a sequential test compares two players, and here are 3"):
        MatchPlan(CONNECT4, (RANDOM, named("x"), named("y")), replace(settings, sprt=Sprt(0, 5)))
    with pytest.raises(SettingsError, match="format 'knockout'; available:"):
        MatchSettings(2, seed=1, format="knockout")  # type: ignore[arg-type]
