"""Games on a page without a page: moves placed on boards, take-backs, clocks, links and records."""

from __future__ import annotations

import io
import random
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from games_for_tests import DoubleMove
from web_for_tests import own_game
from zerosum._core import core_game_names
from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Rules, adopt, make, parse_action, state_after
from zerosum.games.board_text import board_text
from zerosum.games.picture import svg
from zerosum.notation import read_games
from zerosum.web.boards import draw_board, place_moves
from zerosum.web.table import Table, side_names


def placed(game: Rules, moves: str = "") -> dict[str, tuple[int | str | None, tuple[int, ...], str]]:
    state = state_after(game, moves)
    return {
        move.text: (move.source, move.targets, move.rest)
        for move in place_moves(game, state, game.legal_actions(state))
    }


def test_moves_of_chess_begin_and_end_on_squares() -> None:
    found = placed(make("chess"))
    assert found["e2e4"] == (52, (36,), "") and found["g1f3"] == (62, (45,), "")
    game = make("chess")
    state = game.parse_position("8/P6k/8/8/8/8/7K/8 w - - 0 1")
    promotions = [move for move in place_moves(game, state, game.legal_actions(state)) if move.source == 8]
    assert sorted(move.rest for move in promotions) == ["b", "n", "q", "r"] and {m.targets for m in promotions} == {
        (0,)
    }


def test_drops_begin_in_the_hand_and_promotions_are_told_apart() -> None:
    found = placed(make("shogi"), "7g7f 3c3d")
    assert found["8h2b"][:2] == found["8h2b+"][:2] and (found["8h2b"][2], found["8h2b+"][2]) == ("", "+")
    found = placed(make("shogi"), "7g7f 3c3d 8h2b+ 3a2b")
    assert found["B*5e"] == ("B", (40,), "")
    board = draw_board(make("shogi"), state_after(make("shogi"), "7g7f 3c3d 8h2b+ 3a2b"))
    assert [(hand["player"], [piece[:2] for piece in hand["pieces"]]) for hand in board["hands"]] == [
        (1, [["B", 1]]),
        (0, [["B", 1]]),
    ]


@pytest.mark.parametrize("name", ["shogi", "minishogi"])
def test_pieces_in_hand_are_outlines_as_on_the_board(name: str) -> None:
    """Every kind of piece: none is a letter in a font that the system may lack."""
    game = make(name)
    hand = "RBGSNLP" if name == "shogi" else "RBGSP"
    rows = ["k8", *["9"] * 7, "K8"] if name == "shogi" else ["k4", "5", "5", "5", "K4"]
    state = game.parse_position(f"{'/'.join(rows)} b {hand}{hand.lower()} 1")
    for hand_ in draw_board(game, state)["hands"]:
        assert len(hand_["pieces"]) == len(hand)
        for _, _, drawing, _ in hand_["pieces"]:
            assert "<text" not in drawing and "<path id=" in drawing
            assert ("rotate(180" in drawing) == (hand_["player"] == 1)
    for hand_ in draw_board(game, state, western=True, flipped=True)["hands"]:
        for letter, _, drawing, _ in hand_["pieces"]:
            assert f">{letter}</text>" in drawing and ("rotate(180" in drawing) == (hand_["player"] == 0)


def test_a_column_is_clicked_anywhere_and_a_pass_nowhere() -> None:
    assert placed(make("connect4"))["4"] == (None, (3, 10, 17, 24, 31, 38), "")
    assert placed(make("go9"))["pass"] == (None, (), "pass")
    assert placed(make("go9"))["A9"] == (None, (0,), "")
    nim = placed(make("nim"))
    assert len({move[1] for move in nim.values()}) == len(nim), "each move has a cell of its own"


@pytest.mark.parametrize("name", core_game_names())
def test_every_move_of_every_game_can_be_clicked(name: str) -> None:
    """Source, target and the rest of the text tell all legal moves of a position apart."""
    game, generator = make(name), random.Random(1)
    state = game.initial_state()
    for _ in range(25):
        legal = game.legal_actions(state)
        if not legal:
            break
        moves = place_moves(game, state, legal)
        assert len({(move.source, move.targets, move.rest) for move in moves}) == len(legal)
        assert all(move.targets or move.rest == move.text for move in moves)
        board = draw_board(game, state)
        assert len(board["cells"]) == game.spec.board_shape[0] * game.spec.board_shape[1]
        state = game.play(state, generator.choice(legal))


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("name", ["hex", "hex(size=2)", "hex(size=5, swap=true)"])
def test_the_edges_of_hex_have_the_colours_of_the_players_who_join_them(name: str, flipped: bool) -> None:
    game = make(name)
    shown = draw_board(game, game.initial_state(), flipped=flipped)
    xs, ys = ([cell[axis] for cell in shown["cells"]] for axis in (0, 1))
    size, across, down = round(len(xs) ** 0.5), shown["side"], max(ys) - min(ys)
    drawn: dict[str, set[str]] = {}
    for path, colour in re.findall(r'<path d="M([^"z]+)" fill="none" stroke="(#\w+)" stroke-width="8"', shown["svg"]):
        corners = [tuple(map(float, corner.split())) for corner in path.split("L")]
        # How far each corner is down the board, and how far right in its row, in cells.
        rows = [(y - min(ys)) * (size - 1) / down for _, y in corners]
        columns = [(x - min(xs)) / across - row / 2 for (x, _), row in zip(corners, rows, strict=True)]
        sides = {
            "top": max(rows) < 0,
            "bottom": min(rows) > size - 1,
            "left": max(columns) < 0,
            "right": min(columns) > size - 1,
        }
        drawn.setdefault(colour, set()).update(side for side, is_there in sides.items() if is_there)
        assert len(corners) >= 2 * size
    assert drawn == {"#16161a": {"top", "bottom"}, "#ffffff": {"left", "right"}}


def test_a_game_of_ones_own_has_a_board(tmp_path: Path) -> None:
    game = make(own_game(tmp_path))
    board = draw_board(game, game.initial_state())
    assert len(board["cells"]) == 25 and board["svg"].count("url(#zerosum-first)") == 10
    owners = [cell[3].split()[0] for cell in board["cells"] if cell[3]]
    assert owners == ["second"] * 10 + ["first"] * 10
    later = game.play(game.initial_state(), game.legal_actions(game.initial_state())[0])
    assert draw_board(game, later)["svg"].count("url(#zerosum-second)") == 10, "seen from the other side, too"
    assert all(isinstance(source, int) and len(targets) == 1 for source, targets, _ in placed(game).values())


def test_a_game_of_ones_own_says_how_it_looks(tmp_path: Path) -> None:
    """The example of docs/own-game.md in the README's game: one picture for `zerosum show` and the page."""
    own = make(with_picture(own_game(tmp_path)))
    state = own.initial_state()
    drawn = draw_board(own, state)
    assert drawn["grid"] == "chequered" and drawn["cells"][0][2:] == ["a5", "black pawn"]
    assert (
        svg(own, state).count("-p" + chr(34) + " transform") == drawn["svg"].count("-p" + chr(34) + " transform") == 20
    )
    moved = own.play(state, parse_action(own, state, "a2-b3"))
    assert draw_board(own, moved)["cells"][11][2:] == ["b3", "white pawn"]
    moves = place_moves(own, moved, own.legal_actions(moved))
    assert {move.source for move in moves} <= set(range(10)) and all(len(move.targets) == 1 for move in moves)
    assert "♟" not in board_text(own, moved) and board_text(own, moved).splitlines()[2].split() == list("3.w...")


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("5", "expected a zerosum.Picture"),
        ("zerosum.Picture('round', [None], ['a'], ['1'])", "expected one of chequered, squares, points, hexagons"),
        ("zerosum.Picture('squares', [None] * 3, ['a'], ['1', '2'])", "3 cells, expected a cell for each of 2 row"),
        ("zerosum.Picture('squares', [(2, 'x', '')], ['a'], ['1'])", "owner 2, expected 0 or 1"),
        ("zerosum.Picture('squares', [None], ['a'], ['1'], [1])", "cell 1 of the last move, expected 0 to 0"),
    ],
)
def test_a_picture_that_does_not_fit_is_named_with_its_position(tmp_path: Path, picture: str, message: str) -> None:
    own = make(with_picture(own_game(tmp_path), f"    def picture(self, state):\n        return {picture}\n"))
    with pytest.raises(GameError, match=f"(?s)breakthrough5: .*{message}.*at the position"):
        draw_board(own, own.initial_state())


def test_a_game_of_openspiel_is_played_to_its_end() -> None:
    pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    for name in ("tic_tac_toe", "othello", "go(board_size=5,max_plies=60)", "breakthrough(rows=5,columns=5)", "oware"):
        game, generator = make(f"openspiel:{name}"), random.Random(1)
        table = Table(game, people=frozenset({0, 1}), most_plies=600)
        while not table.is_over:
            moves = table.view()["moves"]
            assert sorted(move[0] for move in moves) == game.legal_actions(table.state)
            table.play(generator.choice(moves)[0])
        assert table.view()["over"]
        assert bool(table.view()["board"]["cells"]) == (name != "oware")


def test_men_and_stones_in_a_board_of_text_are_drawn() -> None:
    class Men(DoubleMove):
        board_shape = (2, 2)

        def draw(self, state: object) -> str:
            return "♔ .\nX ♞\n"

        def planes(self, state: object) -> np.ndarray:
            return np.zeros((len(self.plane_names), 2, 2), np.float32)

    game = adopt(Men())
    svg = draw_board(game, game.initial_state())["svg"]
    assert 'href="#zerosum-first-k"' in svg and 'href="#zerosum-second-n"' in svg and "url(#zerosum-first)" in svg


def new_table(name: str = "connect4", **more: object) -> Table:
    return Table(make(name), people=frozenset({0}), computer="rollouts@10", **more)  # type: ignore[arg-type]


def test_a_table_goes_on_where_its_link_says() -> None:
    table = new_table(moves=["4", "4", "3"])
    link = table.link()
    again = Table(make(link["game"]), people=frozenset({0}), computer=link["vs"], moves=link["moves"].split())
    assert again.view() == table.view() and table.is_computers_turn


def test_taking_back_goes_to_a_persons_turn() -> None:
    table = new_table(moves=["4", "4", "3", "5"])
    table.undo()
    assert table.own_texts() == ["4", "4"] and table.mover == 0
    table.undo()
    assert table.own_texts() == []
    with pytest.raises(GameError, match="no move to take back"):
        table.undo()


def test_what_is_not_allowed_is_refused() -> None:
    table = new_table()
    with pytest.raises(GameError, match="not legal"):
        table.play(99)
    with pytest.raises(GameError, match="move 2"):
        new_table(moves=["4", "9"])
    with pytest.raises(SettingsError, match="at most 3 are allowed"):
        new_table(moves=["4"] * 4, most_plies=3)
    table.resign()
    assert table.outcome == -1 and "rollouts@10 wins: yellow resigns" in table.sentence()
    with pytest.raises(GameError, match="over"):
        table.play(3)
    table.undo()
    assert not table.is_over


def test_clocks_run_out() -> None:
    now = [0.0]
    table = Table(make("chess"), people=frozenset({0, 1}), control="10+1", now=lambda: now[0])
    now[0] = 4.0
    table.play(parse_action(table.game, table.state, "e4"))
    assert table.view()["clock"] == {"left": [7.0, 10.0], "running": 1}
    again = Table(make("chess"), people=frozenset({0, 1}), control="10+1", moves=["e2e4"], left_s=table.link()["left"])
    assert again.view()["clock"]["left"] == pytest.approx([7.0, 10.0], abs=0.5)
    now[0] = 14.5
    assert table.check_flag() and table.outcome == 1 and "black is out of time" in table.sentence()
    assert table.record().ending == "time"


@pytest.mark.parametrize(("name", "format"), [("chess", "pgn"), ("go9", "sgf"), ("shogi", "kif"), ("shogi", "csa")])
def test_games_are_saved_as_people_record_them(name: str, format: str) -> None:
    game, generator = make(name), random.Random(2)
    table = Table(game, people=frozenset({0, 1}))
    for _ in range(12):
        table.play(generator.choice(game.legal_actions(table.state)))
    table.resign()
    (record,) = read_games(io.StringIO(table.text(format)), format=format)
    assert [move.text for move in record.checked().moves] == table.own_texts()
    assert record.result == table.outcome


def test_a_go_game_is_counted() -> None:
    table = Table(make("go(size=5, komi=0.5)"), people=frozenset({0, 1}))
    for text in ["C3", "pass", "B3", "pass", "D3", "pass", "A3", "pass", "E3", "A1", "A2", "pass", "pass", "pass"]:
        if not table.is_over:
            table.play(parse_action(table.game, table.state, text))
    view = table.view()
    assert view["over"] and "two passes" in view["says"] and "points" in view["says"]
    assert len(view["ownership"]) == 25 and sum(view["ownership"]) > 15
    captured = Table(make("go(size=5, komi=0.5)"), people=frozenset({0, 1}), moves=["A1", "A2", "E5", "B1"]).view()
    assert captured["counts"]["captured"] == [0, 1]


def test_dead_stones_do_not_count() -> None:
    """As in the terminal and for GTP's `final_score`: here a record that Black won by 2.5 points."""
    (record,) = read_games(Path(__file__).parents[1] / "data" / "people" / "sgf20_dead_stones_japanese.sgf")
    table = Table(make("go(size=9, komi=6.5)"), people=frozenset({0, 1}), moves=[move.text for move in record.moves])
    assert table.game.outcome(table.state) == -1 and table.outcome == 1
    view = table.view()
    assert view["score"] == 2.5 and view["says"].startswith("Black wins: two passes, by 2.5 points. Dead stones: ")
    assert table.view(ply=20)["score"] == table.game.score(table.so_far.states[20])
    (saved,) = read_games(io.StringIO(table.text("sgf")), format="sgf")
    assert (saved.result, saved.ending) == (1.0, "2.5 points")


def test_players_have_the_names_of_their_colours() -> None:
    names = {
        name: side_names(make(name), make(name).initial_state())
        for name in ("chess", "shogi", "go9", "hex", "connect4", "othello", "nim")
    }
    assert names["chess"] == ("white", "black") and names["shogi"] == names["go9"] == ("black", "white")
    assert names["hex"] == names["othello"] == ("black", "white"), "as the stones are drawn"
    assert names["connect4"] == ("yellow", "red")
    assert names["nim"] == ("the first player", "the second player")
    hex_ = make("hex")
    assert draw_board(hex_, hex_.initial_state())["captions"] == ["Black joins top and bottom, White left and right"]
    assert "Black joins top" in svg(hex_, hex_.initial_state()) and "X joins" in board_text(hex_, hex_.initial_state())


def with_picture(own: str, method: str = "") -> str:
    """The name of a copy of a game with a method `picture`, by default the one of docs/own-game.md."""
    path, _, name = own.rpartition(":")
    if not method:
        page = (Path(__file__).parents[2] / "docs" / "own-game.md").read_text(encoding="utf-8")
        example = page.partition("def picture(")[2].partition("\n\n\n")[0]
        method = textwrap.indent("def picture(" + example, "    ") + "\n"
    changed = Path(path).with_name("with_picture.py")
    changed.write_text("import zerosum\n" + Path(path).read_text(encoding="utf-8") + "\n" + method, encoding="utf-8")
    return f"{changed}:{name}"


def test_a_saved_list_of_moves_is_read_back(tmp_path: Path) -> None:
    table = new_table(moves=["4", "4", "3"])
    (tmp_path / "game.txt").write_text(table.text("txt"))
    (record,) = read_games(tmp_path / "game.txt", game=table.game)
    assert [move.text for move in record.moves] == ["4", "4", "3"] and not record.errors


@pytest.mark.parametrize("name", ["connect4", "go9", "hex", "othello", "gomoku", "tictactoe"])
def test_only_boards_between_players_are_turned(name: str) -> None:
    """Stones fall to the bottom and A1 stays at the lower left for the second player, too."""
    game = make(name)
    table = Table(game, people=frozenset({1}), computer="random")
    straight, asked = table.view()["board"], table.view(flipped=True)["board"]
    assert asked == straight and not asked["flipped"] and not asked["turns"]


def test_a_board_between_players_is_turned_for_the_second_also_in_an_own_game(tmp_path: Path) -> None:
    for game in (make("chess"), make("minishogi"), make(own_game(tmp_path))):
        table = Table(game, people=frozenset({1}), computer="random")
        board = table.view(flipped=True)["board"]
        assert board["flipped"] and board["turns"] and board != table.view()["board"]


def test_a_move_taken_back_sets_both_clocks_to_that_moment() -> None:
    """Time that earlier moves took stays spent, byoyomi periods and a fallen flag included."""
    now = [0.0]
    for control, left in (("10+1", [8.0, 6.0]), ("5+3x4", [14.0, 12.0]), ("40/60+1", [58.0, 56.0])):
        both = Table(make("chess"), people=frozenset({0, 1}), control=control, now=lambda: now[0])
        for seconds, move in ((3.0, "e2e4"), (5.0, "e7e5"), (4.0, "g1f3")):
            now[0] += seconds
            both.play(parse_action(both.game, both.state, move))
        now[0] += 2.0
        both.undo()
        assert both.view()["clock"] == {"left": pytest.approx(left), "running": 0}, control
        now[0] += 100.0
        assert both.check_flag() and both.is_over
        both.undo()
        assert not both.is_over and both.clock is not None
    again = Table(
        make("chess"),
        people=frozenset({0, 1}),
        control="10+1",
        moves=["e2e4", "e7e5"],
        left_s=[7.0, 4.0],
        now=lambda: now[0],
    )
    now[0] += 1.0
    again.undo()
    assert again.view()["clock"] == {"left": pytest.approx([7.0, 4.0]), "running": 1}, "as far as it is known"
    again.resign()
    again.undo()
    assert again.view()["clock"] == {"left": pytest.approx([7.0, 4.0]), "running": 1}


def test_moves_between_the_same_squares_are_told_apart_by_pieces() -> None:
    table = Table(make("chess"), people=frozenset({0, 1}), start="8/P6k/8/8/8/8/7K/8 w - - 0 1")
    view = table.view()
    promotions = {move[0]: move[4] for move in view["moves"] if move[4]}
    assert set(view["choices"]) == set(promotions) and len(promotions) == 4
    for action, rest in promotions.items():
        assert f"#zerosum-first-{rest}" in view["choices"][action]
    shogi = Table(make("shogi"), people=frozenset({0, 1}), moves=["7g7f", "3c3d"])
    assert len(shogi.view()["choices"]) == 4 and len({*shogi.view()["choices"].values()}) == 2, "to 3c and to 2b"
    assert Table(make("go9"), people=frozenset({0, 1})).view()["choices"] == {}


def test_dead_stones_of_go_are_marked_and_territory_agrees_with_the_score() -> None:
    """White's stone in Black's half is dead; if it is marked as alive, or another one as dead, the score follows."""
    moves = "C1 D1 C2 D2 C3 D3 C4 D4 C5 D5 pass A3 pass pass"
    table = Table(make("go(size=5, komi=0.5)"), people=frozenset({0, 1}), moves=moves.split())
    assert table.is_over

    def counted() -> tuple[float, float, str]:
        view = table.view()
        return sum(view["ownership"]) - 0.5, view["score"], view["says"]

    area, score, says = counted()
    assert area == score == 4.5 and "Dead stones: White A3" in says and "by 4.5 points" in says
    table.mark_dead(10)
    area, score, says = counted()
    assert area == score != 4.5 and "Dead stones" not in says and table.link()["marked"] == [10]
    again = Table(table.game, people=frozenset({0, 1}), moves=moves.split(), marked=[10])
    assert again.view()["says"] == says
    table.mark_dead(10)
    table.mark_dead(2)
    area, score, says = counted()
    assert area == score and score < 0, "all of Black's wall is dead"
    table.mark_dead(17)  # another stone of the wall
    assert counted()[0] == 4.5
    with pytest.raises(GameError, match="no stone is on point 0"):
        table.mark_dead(0)
    with pytest.raises(GameError, match="after two passes"):
        new_table("go9").mark_dead(0)
    table.undo()
    assert not table.marked


def test_discs_of_othello_are_counted_and_pieces_are_not() -> None:
    assert new_table("othello", moves=["d3"]).view()["counts"]["discs"] == [4, 1]
    for name in ("chess", "go9", "connect4", "breakthrough", "shogi"):
        assert "discs" not in new_table(name).view()["counts"]
