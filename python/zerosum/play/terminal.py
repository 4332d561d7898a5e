"""A game against a player in the terminal: a board, typed moves and a few commands.

`play_in_terminal` reads and writes through two functions, so tests can play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from zerosum._core import uniform
from zerosum.base.errors import DataError, GameError, SettingsError, nearest
from zerosum.games import State, parse_action, state_after
from zerosum.games.board_text import board_text, side_to_move
from zerosum.games.playthrough import Playthrough
from zerosum.games.python_game import ENDING_OF_PYTHON_GAMES
from zerosum.games.rules import peoples_notation
from zerosum.games.short_names import short_name
from zerosum.play.analysis import Analysis
from zerosum.play.game_file import save_game, suffixes
from zerosum.play.go_ending import final_score, passes_instead
from zerosum.play.player import Player, require_seconds
from zerosum.play.skill import Levels, drawn_action, temperature_of, with_search_of_skill

ORDINALS = ("first", "second")
BOTH = frozenset({0, 1})

COMMANDS = {
    "undo": "take back to your previous turn",
    "hint": "the computer's analysis of the position",
    "moves": "the legal moves",
    "board": "the board again",
    "flip": "show the board from the other side, or back",
    "notation": "the notation of shown moves, which are read in all notations of the game",
    "save": "save the game in a file; 'save game.txt' writes only its moves",
    "side": "exchange sides with the computer",
    "resign": "give up the game",
    "strength": "the computer's limit; 'strength 200' sets 200 simulations a move, '5s' 5 seconds, 'elo 900' a rating",
    "help": "this list",
    "quit": "leave",
}


def play_in_terminal(
    player: Player,
    *,
    human_side: Literal[0, 1, "both"] = 0,
    seconds: float | None = None,
    elo: float | None = None,
    levels: Levels | None = None,
    seed: int = 0,
    position: str = "",
    has_colours: bool = False,
    read: Callable[[str], str] = input,
    write: Callable[[str], None] = print,
) -> None:
    """Play games until the human quits, also by Ctrl-C or the end of the input.

    Args:
        player: The opponent, which also gives the hints.
        human_side: 0 moves first, 1 second; "both" is for two people, and the player only gives hints.
        seconds: Seconds per move of the player, instead of its number of simulations.
        elo: A rating on the game's ladder, by one of the `levels`: the player searches less and draws its moves.
        levels: The measured ratings of the player's skills; None if there are none.
        seed: Key of the drawn moves.
        position: The first position of the games, as people write it; "" is the initial one.
        has_colours: Whether the board is drawn in colours.
        read: Called with a prompt, returns a line; raises EOFError at the end.
        write: Called with text to show.

    Raises:
        GameError: the game cannot read the position.
        SettingsError: the rating is not among the measured ones.
    """
    humans = BOTH if human_side == "both" else frozenset({human_side})
    start = state_after(player.game, "", position=position)
    table = _Table(player, humans, seconds, levels, seed, start, not position, has_colours, read, write)
    if elo is not None:
        table.limit_to(elo)
    try:
        table.play()
    except (EOFError, KeyboardInterrupt):
        write("\nGoodbye.")


HINT_LINES = 3
"""Lines of an alpha-beta search in a hint."""


class _Table:
    """A board, one human (or two) and the computer."""

    def __init__(
        self,
        player: Player,
        humans: frozenset[int],
        seconds: float | None,
        levels: Levels | None,
        seed: int,
        start: State,
        is_initial: bool,
        has_colours: bool,
        read: Callable[[str], str],
        write: Callable[[str], None],
    ) -> None:
        self._player, self._game, self._humans = player, player.game, humans
        self._num_simulations, self._seconds = player.config.num_simulations, seconds
        self._read, self._write = read, write
        self._so_far = Playthrough.of(self._game, start)
        self._is_initial, self._has_colours = is_initial, has_colours
        self._notation = peoples_notation(self._game)
        self._is_flipped = False
        self._saved = set[Path]()  # files that this game may write again
        self._levels, self._seed = levels, seed
        self._skill: float | None = None
        self._has_quit = False

    def play(self) -> None:
        """Play games until the human quits."""
        whom = "both sides" if self._humans == BOTH else "second" if 1 in self._humans else "first"
        self._write(f"{short_name(self._game)} against {self._player.name}. You move {whom}. Type a move, or 'help'.")
        self._show()
        while not self._has_quit:
            if self._so_far.outcome is not None:
                self._after_the_game()
            elif self._so_far.player in self._humans:
                self._human_turn()
            else:
                self._computer_turn()
        self._write("Goodbye.")

    @property
    def _state(self) -> State:
        return self._so_far.state

    def _human_turn(self) -> None:
        whose = f"{ORDINALS[self._so_far.player]} player's" if self._humans == BOTH else "your"
        text = self._read(f"{whose.capitalize()} move: ").strip()
        if not text:
            return
        try:
            action = parse_action(self._game, self._state, text, notation=self._notation)
        except GameError as error:
            self._command(text, error)
        else:
            self._move(action)

    def _computer_turn(self) -> None:
        if (settled := passes_instead(self._game, self._state, self._so_far.before)) is not None:
            self._write("The computer passes: the board is settled.")
            self._move(settled)
            return
        action, verdict = self._choose()
        own, text = self._game.action_text(self._state, action), self._text(action)
        move = text if text.isascii() else f"{text} ({own})"
        self._write(f"The computer plays {move}. Its view: {verdict}.")
        self._move(action)

    def _choose(self) -> tuple[int, str]:
        """The computer's move, and its view of the position in words."""
        if self._skill is None:
            analysis = self._analyse()
            return analysis.best_action, analysis.verdict()
        analysis = with_search_of_skill(self._player, self._skill).analyse(self._state)
        number = uniform(self._seed, len(self._so_far.actions), 0, "drawn move")
        return drawn_action(analysis.root, number, temperature=temperature_of(self._skill)), analysis.verdict()

    def _move(self, action: int) -> None:
        self._so_far = self._so_far.play(action)
        self._show()

    def _text(self, action: int) -> str:
        return self._game.action_text(self._state, action, self._notation)

    def _show(self) -> None:
        """Show the board, unless the computer is about to move, and the result if the game is over."""
        outcome = self._game.outcome(self._state)
        if outcome is None and self._game.player(self._state) not in self._humans:
            return
        self._board()
        if outcome is not None:
            ending, score = self._game.ending(self._state), final_score(self._game, self._state)
            how = "" if ending == ENDING_OF_PYTHON_GAMES else f": {ending}"
            if score is None:
                self._tell_result(outcome, how)
            else:
                points = f" by {abs(score.lead):g} points" if score.lead else ""
                self._tell_result(score.result, f"{points}{how}")
                if words := score.words():
                    self._write(words)

    def _tell_result(self, outcome: float, how: str) -> None:
        self._write(f"{self._winner(outcome)}{how}, after {self._state.plies} moves.")

    def _winner(self, outcome: float) -> str:
        if outcome == 0:
            return "A draw"
        winner = 0 if outcome > 0 else 1
        side = self._side_of(winner)
        if self._humans == BOTH:
            verdict = f"{side or f'The {ORDINALS[winner]} player'} wins"
        else:
            named = f" ({side})" if side else ""
            verdict = f"You{named} win" if winner in self._humans else f"The computer{named} wins"
        return verdict if abs(outcome) == 1 else f"{verdict} by {abs(outcome):g}"

    def _side_of(self, player: int) -> str:
        """The player's name by the game's board, such as "White"; "" if it has none."""
        turns = (state for state in reversed(self._so_far.states) if self._game.outcome(state) is None)
        return next((side_to_move(self._game, turn) for turn in turns if self._game.player(turn) == player), "")

    def _after_the_game(self) -> None:
        line = self._read("Another game (yes, no, undo)? ").strip()
        text = line.lower()
        if text in ("yes", "y"):
            self._back_to(0)
        elif text in ("no", "n", "quit"):
            self._has_quit = True
        elif text == "undo":
            self._undo()
        elif text.partition(" ")[0] in ("save", "board", "flip"):
            self._command(line, GameError())
        elif text:
            self._write(f"{text!r} is not an answer: yes, no, undo or save.")

    def _command(self, text: str, not_a_move: GameError) -> None:
        """Execute a command; report the error in a line that is neither a command nor a move."""
        word, _, argument = text.partition(" ")
        word, argument = word.lower(), argument.strip()
        if word not in COMMANDS:
            self._write(f"{not_a_move} 'help' lists the commands.")
            return
        with_argument = {"strength": self._strength, "notation": self._set_notation, "save": self._save}
        if word in with_argument:
            with_argument[word](argument)
            return
        commands = {
            "undo": self._undo,
            "hint": self._hint,
            "moves": self._moves,
            "board": self._board,
            "flip": self._flip,
            "side": self._side,
            "resign": self._resign,
            "help": self._help,
            "quit": self._quit,
        }
        commands[word]()

    def _undo(self) -> None:
        """Take back a resignation, or go back to the latest earlier position with a human to move."""
        if self._so_far.resigned is not None:
            self._back_to(len(self._so_far.actions))
            return
        turns = [ply for ply, player in enumerate(self._so_far.players) if player in self._humans]
        if not turns:
            self._write("There is no move to take back.")
            return
        self._back_to(turns[-1])

    def _back_to(self, ply: int) -> None:
        self._so_far = self._so_far.back_to(ply)
        self._show()

    def _resign(self) -> None:
        self._so_far = self._so_far.resign()
        assert self._so_far.outcome is not None
        self._tell_result(self._so_far.outcome, ": resignation")

    def _hint(self) -> None:
        # A tree has the figures of all moves; an alpha-beta search has those of the lines that it is asked for.
        num_lines = HINT_LINES if self._player.is_alpha_beta else 1
        self._write(self._analyse(num_lines=num_lines).table(notation=self._notation))

    def _analyse(self, *, num_lines: int = 1) -> Analysis:
        return self._player.analyse(
            self._state, num_simulations=self._num_simulations, seconds=self._seconds, num_lines=num_lines
        )

    @property
    def _unit(self) -> str:
        return "positions" if self._player.is_alpha_beta else "simulations"

    def _moves(self) -> None:
        legal = self._game.legal_actions(self._state)
        self._write(" ".join(map(self._text, legal)))

    def _board(self) -> None:
        board = board_text(
            self._game,
            self._state,
            before=self._so_far.before,
            is_flipped=self._is_flipped,
            has_colours=self._has_colours,
        )
        self._write(f"\n{board.rstrip()}\n")

    def _flip(self) -> None:
        if self._game.picture(self._state) is None:
            self._write("This game draws its board by itself: it cannot be turned.")
            return
        self._is_flipped = not self._is_flipped
        self._board()

    def _set_notation(self, name: str) -> None:
        own = self._own_notation
        if name in (own, *self._game.notations):
            self._notation = None if name == own else name
        elif name:
            self._write(f"{name!r} is not a notation of this game{nearest(name, (own, *self._game.notations))}.")
            return
        self._write(f"Moves are shown in {self._notation or own}, and read in any notation of the game.")

    @property
    def _own_notation(self) -> str:
        return {"san": "uci", "kif": "usi"}.get(peoples_notation(self._game) or "", "own")

    def _save(self, name: str) -> None:
        if not name:
            endings = " or ".join(suffixes(self._game))
            self._write(f"Name the file, such as 'save game{suffixes(self._game)[0]}': it may end in {endings}.")
            return
        names = [self._player.name, self._player.name]
        for side in self._humans:
            names[side] = "you"
        path = Path(name).expanduser()
        if path.exists() and path.absolute() not in self._saved:
            self._write(f"{path.absolute()} exists: name another file.")
            return
        try:
            save_game(
                path,
                self._so_far,
                players=(names[0], names[1]),
                is_initial=self._is_initial,
                score=final_score(self._game, self._state) if self._so_far.resigned is None else None,
            )
        except (DataError, GameError) as error:
            self._write(str(error))
        else:
            self._saved.add(path.absolute())
            self._write(f"{len(self._so_far.actions)} moves are in {path.absolute()}.")

    def _side(self) -> None:
        if self._humans == BOTH:
            self._write("You play both sides.")
        else:
            self._humans = BOTH - self._humans

    def limit_to(self, elo: float) -> None:
        """Play at a rating from now on. Raises SettingsError if it is not among the measured ones."""
        if self._levels is None:
            raise SettingsError(
                f"no rating of {self._player.own_name}'s skills at {short_name(self._game)} is known:"
                " `zerosum levels` measures them."
            )
        self._skill = self._levels.require(elo)
        self._write(f"The computer plays at a rating of about {elo:+g}, where random play is 0.")

    def _strength(self, argument: str) -> None:
        if argument.startswith("elo"):
            try:
                self.limit_to(float(argument.removeprefix("elo")))
            except SettingsError as error:
                self._write(str(error))
            except ValueError:
                self._write(f"{argument!r} is not a rating: write 'strength elo 900'.")
            return
        strength, seconds = self._num_simulations, self._seconds
        try:
            if argument.endswith("s"):
                seconds = require_seconds(float(argument[:-1]))
            elif argument:
                strength, seconds = int(argument), None
                replace(self._player.config, num_simulations=strength)
        except SettingsError as error:
            self._write(str(error).replace("search.num_simulations", "strength"))
            return
        except ValueError:
            self._write(f"{argument!r} is not a number of {self._unit}: write 'strength 200', or '5s' for 5 seconds.")
            return
        self._num_simulations, self._seconds, self._skill = strength, seconds, None
        much = f"{strength} {self._unit}" if seconds is None else f"{seconds:g} seconds"
        self._write(f"The computer searches {much} a move.")

    def _help(self) -> None:
        width, shown = max(map(len, COMMANDS)), self._notation or self._own_notation
        others = [name for name in (self._own_notation, *self._game.notations) if name != shown]
        change = f"; 'notation {others[0]}' changes it" if others else ""
        texts = {**COMMANDS, "notation": COMMANDS["notation"] + change}
        self._write("\n".join(f"  {name:<{width}}  {what}" for name, what in texts.items()))

    def _quit(self) -> None:
        self._has_quit = True
