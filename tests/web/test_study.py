"""Analysis on a page without a page: what is read, walked, reviewed and exported."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from web_for_tests import Page, own_game, with_page
from zerosum._core import core_game_names
from zerosum.base.errors import GameError, SettingsError, ZerosumError
from zerosum.games import Rules
from zerosum.notation import read_games
from zerosum.notation.legality import check_record
from zerosum.notation.record import Record
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.study import Study
from zerosum.web.table import Table
from zerosum.web.visit import House

LIMITS = Limits(simulations=500, seconds=1.0, plies=200, games=3)
DATA = Path(__file__).resolve().parents[1] / "data"
SCHOLAR = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0"


@pytest.fixture
def house() -> Iterator[House]:
    made = House(Library([], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)
    yield made
    made.searches.close()


def opened(text: str, **more: Any) -> Study:
    return Study.opened(Library([], (), LIMITS), text=text, **more)


@pytest.mark.parametrize(
    ("text", "game", "plies"),
    [
        (SCHOLAR, "chess", 7),
        ('[White "<b>A</b>"]\n\n1. d4 *', "chess", 1),
        ("(;GM[1]SZ[9]KM[5.5];B[ee];W[cc])", "go(size=9, komi=5.5)", 2),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "chess", 0),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", "shogi", 0),
        ("V2.2\nPI\n+\n+7776FU\n-3334FU\n", "shogi", 2),
    ],
)
def test_texts_are_told_apart(text: str, game: str, plies: int) -> None:
    study = opened(text)
    assert (study.game.spec.full_name, len(study.actions)) == (game, plies)


def test_moves_need_their_game() -> None:
    assert opened("4 4 3", game="connect4").view()["history"] == ["4", "4", "3"]
    with pytest.raises(GameError, match="choose the game"):
        opened("4 4 3")
    with pytest.raises(GameError, match="move 2"):
        opened("4 9", game="connect4")
    with pytest.raises(SettingsError, match="at most 200 are allowed"):
        opened("4 " * 300, game="connect4")


def test_a_file_of_several_games() -> None:
    text = (DATA / "games.pgn").read_text(encoding="utf-8", errors="replace")
    with pytest.raises((SettingsError, GameError)):
        opened((SCHOLAR + "\n\n") * 4)
    two = opened(f"{SCHOLAR}\n\n1. d4 d5 *", index=1)
    assert two.view()["history"] == ["d4", "d5"] and len(two.view()["others"]) == 2 and text
    assert two.view()["index"] == 1
    with pytest.raises(SettingsError, match="the text has 2"):
        opened(f"{SCHOLAR}\n\n1. d4 d5 *", index=2)


def test_no_text_runs_a_file_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    name = f"{tmp_path / 'own.py'}:Own"
    match = json.dumps({"format": "zerosum match 1", "game": name, "names": ["a", "b"]})
    game = json.dumps({"first_is_player": 0, "result": 1, "moves": ["1"], "ending": ""})
    for text in (f"{match}\n{game}\n", f"\ufeff{match}", f'[Variant "{name}"]\n\n1. e4 *', f"(;GM[{name}];B[ee])"):
        with contextlib.suppress(ZerosumError):
            opened(text)
    with pytest.raises(ZerosumError, match="choose the game"):
        opened(f"{match}\n{game}\n")
    assert not (tmp_path / "ran").exists()


def test_a_match_of_any_game_is_opened() -> None:
    match = {"format": "zerosum match 1", "game": "connect4", "first": {"name": "a"}, "second": {"name": "b"}}
    game = {"first_is_player": 1, "result": -1, "moves": ["4", "4", "3"], "ending": "resignation"}
    study = opened(f"{json.dumps(match)}\n{json.dumps(game)}\n")
    assert study.game.spec.name == "connect4" and len(study.actions) == 3
    assert study.view()["players"] == ["b", "a"]


def test_a_variation_is_tried_and_left() -> None:
    study = opened(SCHOLAR)
    study.goto(1)
    game = study.game
    study.try_move(game.parse_action(study.state, "e5") or 0)
    assert (study.ply, study.variation) == (2, []), "the game's own move goes on in the game"
    study.try_move(game.parse_action(study.state, "Nf3") or 0)
    assert study.view()["variation"] == ["Nf3"] and study.view()["depth"] == 3
    study.back()
    study.back()
    assert (study.ply, study.variation) == (1, [])
    with pytest.raises(GameError, match="not legal"):
        study.try_move(60_000)


def test_a_game_is_reviewed_and_exported(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("study.open", text=SCHOLAR)
        assert "review it first" in (await page.ask("study.export", format="pgn"))["error"]
        assert (await page.ask("study.review", simulations=200))["result"]["positions"] == 8
        found = await page.event("reviewed")
        assert len(found["points"]) == 8 and found["points"][-1] == [1.0, 0.0]
        losses = [move["loss"] for move in found["moves"]]
        assert losses.index(max(losses)) == 5 and found["moves"][5]["mark"], "Nf6 allows mate"
        assert {event["done"] for event in page.events if event["event"] == "progress"} == set(range(1, 9))
        text = (await page.ask("study.export", format="pgn"))["result"]["text"]
        (record,) = read_games(io.StringIO(text))
        assert [move.nags for move in record.checked().moves][5] and len(record.moves) == 7
        numbers = json.loads((await page.ask("study.export", format="json"))["result"]["text"])
        assert numbers["positions"][6]["mark"] == found["moves"][5]["mark"]
        assert "is exported as pgn or json" in (await page.ask("study.export", format="sgf"))["error"]

    with_page(house, work)


def test_a_review_ends_when_it_is_stopped(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("study.open", game="go(size=19)", moves="D4 Q16 D16 Q4", vs="rollouts")
        await page.ask("study.review", simulations=500)
        while not house.searches.num_running:
            await asyncio.sleep(0.01)
        await page.ask("study.stop")
        for _ in range(300):
            if not house.searches.num_running:
                break
            await asyncio.sleep(0.01)
        assert house.searches.num_running == 0

    with_page(house, work)


def test_a_look_has_lines_heat_and_territory(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("study.open", game="go(size=5, komi=0.5)", moves="C3 pass")
        await page.ask("study.look", on=True)
        look = await page.event("look")
        assert len(look["lines"]) == 3 and 0 <= look["rate"] <= 1 and look["depth"] == 0
        assert 0.5 < sum(share for _, share in look["heat"]["policy"]) < 1.01

    with_page(house, work)


def test_territory_comes_with_the_first_results_of_a_search(house: House) -> None:
    async def work(page: Page) -> None:
        await page.ask("study.open", game="go(size=5, komi=0.5)", moves="C3 pass B3 pass", ply=4)
        await page.ask("study.look", on=True)
        while not any(event["event"] == "look" for event in page.events):
            await asyncio.sleep(0.01)
        owned = page.events[0]
        assert owned["event"] == "owned" and owned["depth"] == 4 and len(owned["ownership"]) == 25
        assert min(owned["ownership"]) > 0.3, "the board is black's"

    with_page(house, work)


def test_a_finished_game_has_its_territory_and_no_search(house: House) -> None:
    async def work(page: Page) -> None:
        moves = "C3 pass B3 pass D3 pass A3 pass E3 pass pass"
        await page.ask("study.open", game="go(size=5, komi=0.5)", moves=moves, ply=11)
        await page.ask("study.look", on=True)
        assert (await page.event("owned"))["ownership"] == [1.0] * 25
        await page.ask("study.goto", ply=10)
        await page.ask("study.look", on=True)
        assert (await page.event("look"))["depth"] == 10

    with_page(house, work)


@pytest.mark.parametrize("name", ["go9", "go(size=5)", "chess", "othello", "hex", "connect4"])
def test_only_games_whose_squares_have_owners_offer_territory(house: House, name: str) -> None:
    async def work(page: Page) -> None:
        view = (await page.ask("study.open", game=name))["result"]
        await page.ask("study.look", on=True)
        await page.event("look")
        assert view["hasOwners"] == any(event["event"] == "owned" for event in page.events) == name.startswith("go")

    with_page(house, work)


def test_limits_act_before_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking moves takes the most time: only those of the chosen game are checked, once they are few enough."""
    checked: list[int] = []

    def check(record: Record, known: Rules | None) -> Record:
        checked.append(len(record.moves))
        return check_record(record, known)

    monkeypatch.setattr("zerosum.web.study.check_record", check)
    assert len(opened(f"{SCHOLAR}\n\n1. d4 d5 *\n\n1. c4 *", index=1).actions) == 2
    assert checked == [2]
    with pytest.raises(SettingsError, match="has 800 moves, but at most 200"):
        opened("1. " + "Nf3 Nf6 Ng1 Ng8 " * 200)
    with pytest.raises(SettingsError, match="2,402 moves with its variations, but at most 2,000 are allowed: leave"):
        opened("1. e4 " + "(1. d4 d5 2. c4 e6) " * 600 + "e5")
    with pytest.raises(GameError, match="choose the game"):
        opened("8/" * 100_000)
    assert checked == [2]


def test_texts_are_read_one_by_one_while_others_are_answered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, read = [0], [0], Study.opened

    def slow(*args: Any, **more: Any) -> Study:
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.1)
        running[0] -= 1
        return read(*args, **more)

    monkeypatch.setattr(Study, "opened", slow)

    async def work(page: Page) -> None:
        others = [Page(house) for _ in range(4)]
        asked = [asyncio.create_task(other.ask("study.open", text=SCHOLAR)) for other in others]
        for _ in range(20):
            assert "result" in await page.ask("lesson.open", scenario="trap")
            await asyncio.sleep(0.01)
        assert sum(one.done() for one in asked) < 4, "they were answered in the meantime"
        assert all("result" in answer for answer in await asyncio.gather(*asked))
        assert most == [1]

    with_page(house, work)


@pytest.mark.parametrize("name", [*core_game_names(), "own"])
def test_what_a_page_saves_it_opens(name: str, tmp_path: Path) -> None:
    """Games of each kind, to their end or for 60 moves, from the initial position and from another one."""
    library = Library([], [own_game(tmp_path)] if name == "own" else (), LIMITS)
    game, generator = library.game(library.game_names()[0] if name == "own" else name), random.Random(3)
    has_starts = {"txt", "pgn"} & {*Table(game, people=frozenset({0, 1})).formats()}
    for number in range(4):
        table = Table(game, people=frozenset({0, 1}))
        while not table.is_over and len(table.so_far.actions) < 60:
            table.play(generator.choice(game.legal_actions(table.state)))
            if (
                number == 3
                and len(table.so_far.actions) == 2
                and has_starts
                and (start := game.position_text(table.state)) is not None
            ):
                table = Table(game, people=frozenset({0, 1}), start=start)
        for format in table.formats():
            study = Study.opened(library, text=table.text(format))
            texts = [study.game.action_text(state, a) for state, a in zip(study.states, study.actions, strict=False)]
            assert (study.game.spec.name, texts) == (game.spec.name, table.own_texts()), table.text(format)
            assert not study.record.warnings


@pytest.mark.parametrize(
    ("text", "game", "plies"),
    [
        ("position startpos moves 7g7f 3c3d", "shogi", 2),
        ("startpos moves e2e4 e7e5", "chess", 2),
        ("position startpos", "chess", 0),
        ("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f", "shogi", 1),
        ("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", "shogi", 0),
        ("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1", "chess", 1),
    ],
)
def test_lines_of_engines_are_read(text: str, game: str, plies: int) -> None:
    study = opened(text)
    assert (study.game.spec.full_name, len(study.actions)) == (game, plies)


def test_a_wrong_line_of_an_engine_is_one_sentence() -> None:
    for text in ("position sfen nonsense", "position", "position startpos moves a1a9", "fen"):
        with pytest.raises(GameError) as caught:
            opened(text)
        assert "\n" not in str(caught.value)
    with pytest.raises(SettingsError, match="at most 200 are allowed"):
        opened("position startpos moves " + "e2e4 " * 300)
