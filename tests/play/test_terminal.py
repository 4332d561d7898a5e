"""A human at the terminal: whole conversations, as they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import pytest

import games_for_tests
from updatable_for_tests import random_updatable, saved
from zerosum.games import Rules, adopt, make, parse_action, state_after
from zerosum.network.evaluators import UniformEvaluator
from zerosum.notation import read_games
from zerosum.play.game_file import suffixes
from zerosum.play.player import Player, load_player
from zerosum.play.skill import Level, Levels
from zerosum.play.terminal import COMMANDS, play_in_terminal
from zerosum.search import SearchConfig

CONNECT4, TICTACTOE, DOUBLE_MOVE = make("connect4"), make("tictactoe"), adopt(games_for_tests.DoubleMove())


def converse(
    game: Rules,
    lines: Iterable[str],
    *,
    human_side: Literal[0, 1, "both"] = 0,
    num_simulations: int = 300,
    **limits: Any,
) -> str:
    """The terminal's content, with the human's lines; after the last one the input ends."""
    # c_init is here because a transcript holds what searches found.
    player = Player(game, UniformEvaluator(), SearchConfig(num_simulations=num_simulations, c_init=2.5), name="uniform")
    shown, ahead = [], iter(lines)

    def read(prompt: str) -> str:
        line = next(ahead, None)
        if line is None:
            shown.append(prompt)
            raise EOFError
        shown.append(f"{prompt}{line}")
        return line

    play_in_terminal(player, human_side=human_side, read=read, write=shown.append, **limits)
    return "\n".join(shown)


def test_a_whole_game() -> None:
    lines = ["b2", "hint", "A1", "undo", "b3", "b4", "a1", "c1", "moves", "c2", "a3", "maybe", "no"]
    assert converse(TICTACTOE, lines) == TRANSCRIPT


TRANSCRIPT = """\
tictactoe against uniform. You move first. Type a move, or 'help'.

3  . . .
2  . . .
1  . . .
   a b c

Your move: b2
The computer plays c1. Its view: winning chance 46%.

3  . . .
2  . X .
1  . .[O]
   a b c

Your move: hint
move  visits   value  prior
b1        58  +0.103  14.3%
c2        55  +0.109  14.3%
c3        49  +0.082  14.3%
a2        41  +0.049  14.3%
a1        39  +0.051  14.3%
a3        29  +0.000  14.3%
b3        29  +0.000  14.3%
best line: b1 b3 a1 c3 a3
for the player to move: winning chance 53%, after 300 simulations
Your move: A1
The computer plays c3. Its view: a draw with best play.

3  . .[O]
2  . X .
1  X . O
   a b c

Your move: undo

3  . . .
2  . X .
1  . .[O]
   a b c

Your move: b3
The computer plays b1. Its view: a draw with best play.

3  . X .
2  . X .
1  .[O]O
   a b c

Your move: b4
'b4' is not a legal move here: legal are a1, a2, a3, c2, c3. 'help' lists the commands.
Your move: a1
The computer plays c3. Its view: a draw with best play.

3  . X[O]
2  . X .
1  X O O
   a b c

Your move: c1
'c1' is not a legal move here: near are c2, of 3 that are legal. 'help' lists the commands.
Your move: moves
a3 a2 c2
Your move: c2
The computer plays a2. Its view: a draw with best play.

3  . X O
2 [O]X X
1  X O O
   a b c

Your move: a3

3 [X]X O
2  O X X
1  X O O
   a b c

A draw: board full, after 9 moves.
Another game (yes, no, undo)? maybe
'maybe' is not an answer: yes, no, undo or save.
Another game (yes, no, undo)? no
Goodbye."""


def test_games_are_played_to_their_end() -> None:
    """A human on either side types random legal and illegal moves, and "no" to another game."""
    for human_side in (0, 1):
        text = converse(CONNECT4, cycle(["1", "2", "3", "5", "6", "7", "4", "no"]), human_side=human_side)
        assert f"You move {('first', 'second')[human_side]}." in text
        assert "The computer wins: four in a row, after" in text
        assert "Its view: a win with best play." in text
        assert text.endswith("Another game (yes, no, undo)? no\nGoodbye.")


def test_undo_goes_back_to_the_humans_turn() -> None:
    """Past the computer's answer, and not to before the human's first turn."""
    for human_side in (0, 1):
        text = converse(TICTACTOE, ["undo", "b2", "undo", "quit"], human_side=human_side)
        assert text.count("There is no move to take back.") == 1
        _, first, *_, last, _ = text.split("Your move: ")
        before, after = text.partition("Your move: undo\n")[0], last.removeprefix("undo\n")
        assert before.endswith(after) and "a b c" in after and first.startswith("undo")


def test_two_people_at_one_board() -> None:
    moves = ["1", "2", "1", "2", "side", "1", "2", "undo", "3", "1", "y", "4", "quit"]
    text = converse(CONNECT4, moves, human_side="both")
    assert "connect4 against uniform. You move both sides." in text
    assert "First player's move: 1\n" in text and "Second player's move: 2\n" in text
    assert "You play both sides." in text
    assert "The first player wins: four in a row, after 7 moves." in text
    assert "The computer" not in text
    assert text.endswith("Second player's move: quit\nGoodbye.")


def test_the_heading_names_the_game_without_options_of_a_networks_planes() -> None:
    game = make("chess(history=1)")
    assert converse(game, ["quit"]).startswith("chess against uniform. You move first.")


def test_sides_are_changed_under_way() -> None:
    text = converse(TICTACTOE, ["b2", "side", "quit"])
    assert text.count("The computer plays") == 2
    assert "Your move: side\nThe computer plays" in text


def test_a_side_that_moves_twice_is_asked_twice() -> None:
    text = converse(DOUBLE_MOVE, ["+2", "+2", "undo", "quit"])
    assert "The computer" not in text
    assert [line for line in text.splitlines() if " of 12" in line] == [
        "0 of 12, player 0 to move",
        "2 of 12, player 0 to move",
        "4 of 12, player 0 to move",
        "2 of 12, player 0 to move",
    ]


def test_results_between_win_and_draw_are_told() -> None:
    text = converse(DOUBLE_MOVE, ["+2", "+2", "+2", "+2", "+3", "+3", "no"], human_side="both")
    assert "player wins by 0.5, after 6 moves." in text


def test_strength_is_set() -> None:
    text = converse(CONNECT4, ["strength", "strength 7", "hint", "strength 0", "strength -3", "strength many", "quit"])
    assert "The computer searches 300 simulations a move." in text
    assert "The computer searches 7 simulations a move." in text
    assert "after 7 simulations" in text
    assert "strength is 0, but must be between 1 and 16777216." in text and "strength is -3, but must be" in text
    assert "num_simulations" not in text
    assert "'many' is not a number of simulations: write 'strength 200', or '5s' for 5 seconds." in text


LEVELS = Levels("connect4", "uniform", (Level(0, 100.0, 50.0, 20), Level(19, 480.0, 60.0, 20)))


def test_strength_may_be_a_measured_rating() -> None:
    lines = ["strength elo 99", "strength elo much", "strength elo 290", "4", "strength 9", "3", "quit"]
    text = converse(CONNECT4, lines, levels=LEVELS)
    assert "elo is 99, expected 100 to 480: the measured ratings on the ladder of connect4" in text
    assert "'elo much' is not a rating: write 'strength elo 900'." in text
    assert "The computer plays at a rating of about +290, where random play is 0." in text
    assert "The computer searches 9 simulations a move." in text
    assert "no rating of uniform's skills at connect4 is known" in converse(CONNECT4, ["strength elo 290", "quit"])
    # At the lowest skill moves are drawn: games with other seeds differ, games with the same do not.
    games = {converse(CONNECT4, ["4", "4", "quit"], levels=LEVELS, elo=100, seed=seed) for seed in (1, 1, 2, 3, 4, 5)}
    assert 1 < len(games) <= 5


def test_strength_may_be_seconds() -> None:
    text = converse(
        CONNECT4, ["strength 0.05s", "hint", "strength", "strength 0s", "strength xs", "strength 9", "quit"]
    )
    assert text.count("The computer searches 0.05 seconds a move.") == 2
    assert "for the player to move" in text
    assert "seconds is 0, but must be more than 0" in text and "'xs' is not a number" in text
    assert "The computer searches 9 simulations a move." in text


def test_help_lists_every_command_and_each_is_obeyed() -> None:
    text = converse(CONNECT4, ["help", *(command for command in COMMANDS if command != "quit"), "quit"])
    assert all(f"  {command}" in text for command in COMMANDS)
    assert "is not a legal move" not in text


def test_what_is_not_understood_is_asked_again() -> None:
    text = converse(CONNECT4, ["", "  ", "9", "hlep", "quit"])
    assert text.count("Your move: ") == 5
    assert "'9' is not a legal move here: legal are 1, 2, 3, 4, 5, 6, 7. 'help' lists the commands." in text
    assert "'hlep' is not a legal move here:" in text


def test_moves_go_before_commands() -> None:
    class Undo(games_for_tests.DoubleMove):
        def action_text(self, state: tuple[int, int, int], action: int) -> str:
            return ("undo", "hint", "quit")[action]

    assert "2 of 12" in converse(adopt(Undo()), ["hint"])


@pytest.mark.parametrize("ending", [EOFError, KeyboardInterrupt])
def test_the_end_of_the_input_and_ctrl_c_are_a_goodbye(ending: type[BaseException]) -> None:
    shown: list[str] = []

    def read(prompt: str) -> str:
        raise ending

    player = Player(TICTACTOE, UniformEvaluator(), SearchConfig(), name="uniform")
    play_in_terminal(player, read=read, write=shown.append)
    assert shown[-1] == "\nGoodbye."


def test_ctrl_c_while_the_computer_thinks_is_a_goodbye() -> None:
    class Interrupted(UniformEvaluator):
        def evaluate(self, leaves: object) -> object:  # type: ignore[override]
            raise KeyboardInterrupt

    shown: list[str] = []
    player = Player(TICTACTOE, Interrupted(), SearchConfig(), name="uniform")  # type: ignore[arg-type]
    play_in_terminal(player, human_side=1, read=input, write=shown.append)
    assert shown[-1] == "\nGoodbye."


def test_a_wrong_word_is_answered_in_its_notation_or_that_of_the_session() -> None:
    words = ["nonsense", "e2e5", "Nf4", "notation uci", "Nf4", "nonsense"]
    shown = converse(make("chess"), words, human_side="both")
    assert "'nonsense' is not a legal move here: legal are Na3, Nc3, Nf3, Nh3, a3, a4, " in shown
    assert "'e2e5' is not a legal move here: near are e2e4, e2e3, of 20 that are legal." in shown
    assert shown.count("'Nf4' is not a legal move here: near are f4, Nf3, of 20 that are legal.") == 2
    assert "'nonsense' is not a legal move here: legal are a2a3, a2a4, b1a3, b1c3, b2b3, " in shown


@pytest.mark.parametrize("written", ["25歩", "２五歩", "2五歩"])
def test_near_moves_of_shogi_are_as_people_write_them(written: str) -> None:
    shown = converse(make("shogi"), [written], human_side="both")
    near = re.search(r"near are (.*), of 30 that are legal", shown)
    assert near and "２六歩(27)" in near[1].split(", ") and near[1].isascii() is False


def test_moves_are_shown_as_people_read_them_and_read_in_any_notation() -> None:
    shown = converse(
        make("chess"), ["moves", "notation", "notation uci", "e2e4", "undo", "Nf3", "notation x"], human_side="both"
    )
    assert "Nf3" in shown and "Moves are shown in san, and read in any notation of the game." in shown
    assert "Moves are shown in uci, and" in shown and "'x' is not a notation of this game" in shown
    assert "hint" not in shown and "legal move here" not in shown
    shown = converse(make("shogi"), ["７六歩(77)", "undo", "7g7f", "hint"], num_simulations=4)
    assert "The computer plays " in shown and "best line: ７五歩(76)" in shown, "as KIF has it"
    assert "legal move here" not in shown


def test_the_board_is_turned_and_the_last_move_marked() -> None:
    shown = converse(TICTACTOE, ["a1", "flip", "flip", "board"], human_side="both")
    upright, flipped = "3  . . .\n2  . . .\n1 [X]. .\n   a b c", "1  . .[X]\n2  . . .\n3  . . .\n   c b a"
    assert shown.count(upright) == 3 and shown.count(flipped) == 1
    assert "it cannot be turned" in converse(DOUBLE_MOVE, ["flip"])


def test_a_game_is_saved(tmp_path: Path) -> None:
    for name, moves in (("chess", "f3 e5 g4 Qh4"), ("go5", "C3 D3"), ("shogi", "7g7f 3c3d")):
        game = make("go(size=5)") if name == "go5" else make(name)
        for suffix in suffixes(game):
            path = tmp_path / f"A {name}{suffix}"
            shown = converse(game, [*moves.split(), f"save {path}"], human_side="both")
            assert f"{len(moves.split())} moves are in {path}." in shown
            if suffix == ".txt":
                assert state_after(game, path.read_text()) == state_after(game, moves)
                continue
            (record,) = read_games(path)
            assert not record.errors and record.players == ("you", "you")
            assert [move.text for move in record.moves] == [*move_texts(game, moves)]
            assert record.result == (-1.0 if name == "chess" else None)
    shown = converse(TICTACTOE, ["save", "save x.pgn", "save /no/where.txt", "b2"])
    assert "Name the file, such as 'save game.txt'" in shown and "name a file that ends in .txt" in shown
    assert "/no/where.txt cannot be written" in shown


def test_a_game_is_resigned(tmp_path: Path) -> None:
    shown = converse(TICTACTOE, ["b2", "resign", "maybe", "undo", "moves", "resign", "yes", "quit"])
    assert shown.count("The computer wins: resignation, after 2 moves.") == 2
    _, maybe, undone = shown.partition("'maybe' is not an answer")
    _, moves, rest = undone.partition("Your move: moves\n")
    assert maybe and moves and len(rest.partition("\n")[0].split()) == 7, "the resignation is taken back"
    assert rest.count("Your move: ") == 2 and rest.endswith("Goodbye.")
    assert "You win: resignation" not in shown
    shown = converse(TICTACTOE, ["b2", "resign", "no"], human_side="both")
    assert "The first player wins: resignation, after 1 moves." in shown


@pytest.mark.parametrize(("name", "first"), [("chess", "e4"), ("go(size=5)", "C3"), ("shogi", "7g7f")])
def test_a_resignation_is_in_the_saved_game(name: str, first: str, tmp_path: Path) -> None:
    game = make(name)
    for moves, result in (([], -1.0), ([first], 1.0)):
        for suffix in suffixes(game):
            path = tmp_path / f"game-{len(moves)}{suffix}"
            converse(game, [*moves, "resign", f"save {path}", "no"], human_side="both")
            if suffix != ".txt":
                (record,) = read_games(path)
                assert (record.checked().result, record.ending) == (result, "resignation")
                assert len(record.moves) == len(moves)


def test_a_game_replaces_its_own_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    shown = converse(TICTACTOE, ["a1", f"save {path}", "b2", f"save {path}"], human_side="both")
    assert f"2 moves are in {path}." in shown
    shown = converse(TICTACTOE, ["c3", f"save {path}"], human_side="both")
    assert f"{path} exists: name another file." in shown and path.read_text() == "a1 b2\n"


def move_texts(game: Rules, moves: str) -> Iterable[str]:
    state = game.initial_state()
    for text in moves.split():
        action = parse_action(game, state, text)
        yield game.action_text(state, action)
        state = game.play(state, action)


@pytest.mark.parametrize(
    ("game", "said", "not_said"),
    [
        ("chess", "of shown moves, which are read in all notations of the game; 'notation uci' changes it", "usi"),
        ("shogi", "; 'notation usi' changes it", "uci"),
        ("go9", "; 'notation sgf' changes it", "uci"),
        ("connect4", "of shown moves, which are read in all notations of the game\n", "changes it"),
    ],
)
def test_help_names_a_notation_that_the_game_has(game: str, said: str, not_said: str) -> None:
    shown = converse(make(game), ["help", "quit"], human_side="both")
    line = shown[shown.index("  notation ") :].partition("\n")[0] + "\n"
    assert said in line and not_said not in line


def test_hints_of_an_alpha_beta_search_are_its_lines(tmp_path: Path) -> None:
    """It has no visits and no policy of other moves."""
    place = saved(random_updatable(make("minichess(history=1)")), tmp_path)
    shown, lines = list[str](), iter(["hint", "strength much", "strength 50"])
    play_in_terminal(load_player(place, num_simulations=300), read=lambda _: next(lines, "quit"), write=shown.append)
    hint, refused, taken = shown[2:5]
    assert [row.split()[0] for row in hint.splitlines()[:1]] == ["win"] and len(hint.splitlines()) == 5
    assert re.search(r"for the player to move, \d+ positions, \d+ pl(y|ies) deep in", hint)
    assert "is not a number of positions" in refused and taken == "The computer searches 50 positions a move."
