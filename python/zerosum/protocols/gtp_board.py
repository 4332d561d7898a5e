"""The board of a GTP session: stones, rules and the moves so far; either colour may move at any time.

In GTP a colour may move twice, and moves go on after two passes. The game of Go alternates, so a move out of turn is
played after a pass of the opponent, which keeps what superko and the planes need. For a search out of turn the position
is set up without that pass: otherwise a pass in reply would be the second one and end the game. Points that superko
forbids are kept in it, earlier positions are not.
Start with `GtpBoard.play` and `GtpBoard.root`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Rules, State
from zerosum.games.rules import NO_PLY_CAP, given_options, options_of
from zerosum.notation.go_status import Judgement, beside, judge
from zerosum.notation.go_words import COLUMNS, LETTERS, SHORTHANDS, GoRules, stones_of, text_of, vertex_of, without_past
from zerosum.notation.legality import game_of
from zerosum.notation.record import Record

COLOURS = ("black", "white")
BLACK = 0
MOST_KOMI = 375.0
"""Largest komi for either colour. The game accepts 1000, since White's bonus can be one for each point."""


SGF_RULES = {"japanese": "Japanese", "chinese": "Chinese", "aga": "AGA", "new-zealand": "NZ"}
"""KataGo's names of rules to those of SGF."""


class IllegalMoveError(GameError):
    """A move that the rules forbid; the message is "illegal move" and the reason."""


@dataclass(frozen=True)
class _Step:
    """A position, and the actions that led there from the one before it."""

    state: State
    actions: tuple[int, ...]
    """Includes the opponent's pass if a colour moved out of turn; empty if the position was set up."""


class GtpBoard:
    """A game of Go from its start to the latest move. A method that raises changes nothing."""

    def __init__(self, game: Rules) -> None:
        """Raises SettingsError if the game is not Go or has handicap stones."""
        if game.spec.name != "go":
            raise SettingsError(f"GTP is for Go, not for {game.spec.full_name}.")
        options = options_of(game)
        if options["handicap"] != "0":
            raise SettingsError("In GTP handicap stones are placed by fixed_handicap: leave the option handicap out.")
        self._options = given_options(game)
        self.size, self.komi = int(options["size"]), float(options["komi"])
        self.rules = _rules_of(options)
        self._judged: Judgement | None = None
        self.clear()

    # ---- beginning

    def clear(self) -> None:
        """An empty board; size, komi and rules stay."""
        self._set_up("", 0)

    def resized(self, size: int) -> GtpBoard:
        """An empty board of another size.

        Raises:
            GameError: the game has no board of this size.
        """
        self._game(size=size)
        board = copy.copy(self)
        board.size = size
        board.clear()
        return board

    def set_komi(self, komi: float) -> None:
        """Set the komi. Raises SettingsError if it is out of range."""
        if not abs(komi) <= MOST_KOMI:
            raise SettingsError(f"komi is {komi:g}, but must be between -{MOST_KOMI:g} and {MOST_KOMI:g}")
        self.komi = komi
        self._replay()

    def set_rules(self, rules: GoRules) -> None:
        """Play on by other rules; the stones stay where they are.

        Raises:
            SettingsError: the rules have a button, or a tax that is not supported with their scoring.
        """
        if rules.unsupported:
            raise SettingsError(
                f"{', '.join(rules.unsupported)} is not supported: expected area scoring without tax or territory"
                " scoring with tax SEKI, both without a button"
            )
        self.rules = rules
        self._replay()

    def fixed_handicap(self, num_stones: int) -> list[str]:
        """Place handicap stones on the points of GTP 2 (section 4.1.1) and return the points.

        Raises:
            GameError: the board is not empty, or too small for this number.
        """
        points = [vertex for vertex, _ in stones_of(self._text_of(self._game(handicap=num_stones).initial_state()))]
        self.place_handicap(points)
        return points

    @property
    def most_handicap(self) -> int:
        """Largest number of stones that `fixed_handicap` can place."""
        for num_stones in range(9, 1, -1):
            try:
                self._game(handicap=num_stones)
            except GameError:
                continue
            return num_stones
        return 0

    def place_handicap(self, points: Sequence[str]) -> None:
        """Place Black's stones before White's first move.

        Raises:
            GameError: the board is not empty, a point is invalid or comes twice, or there are fewer than two.
        """
        if self.stones():
            raise GameError("board not empty")
        actions = [self.action(point) for point in points]
        if self.size * self.size in actions or len(set(actions)) < len(actions):
            raise GameError("bad vertex list")
        if not 2 <= len(actions) < self.size * self.size:
            raise GameError("invalid number of stones")
        self._set_up(text_of(self.size, {self.vertex(action): BLACK for action in actions}, 1 - BLACK), len(actions))

    def loaded(self, record: Record, *, num_moves: int | None) -> tuple[GtpBoard, list[str]]:
        """A board after some or all moves of a record from an SGF file, and a warning for each doubtful point.

        Moves that superko or suicide forbid are played, too. Komi is the record's if it has one; rules do not change.

        Raises:
            GameError: the record is not of Go, or its start position is invalid.
        """
        if not record.game:
            raise GameError(record.errors[0])
        warnings = [*record.warnings, *record.errors]
        options = dict(re.findall(r"(\w+)=([^,() ]+)", record.game))
        board = self.resized(int(options["size"]))
        board.set_komi(float(options.get("komi", board.komi)))
        handicap = int(record.header("HA") or 0)
        board._set_up(record.start, handicap if handicap > 1 else 0)
        for number, move in enumerate(record.moves[:num_moves], start=1):
            try:
                warnings += board._play(board.mover, _sgf_action(move.text, board.size), is_forced=True)
            except IllegalMoveError as error:
                warnings.append(f"move {number}: {error}; the record stops here")
                break
        return board, warnings

    def set_position(self, stones: Mapping[str, int]) -> None:
        """Set up stones, given as players by points, without earlier moves; Black is to move.

        Raises:
            GameError: a stone has no liberty.
        """
        start = text_of(self.size, stones, BLACK)
        self._game().parse_position(start)
        self._set_up(start, 0)

    def _set_up(self, start: str, num_handicap: int) -> None:
        self._start, self._num_handicap = start, num_handicap
        state = self._start_state()
        self._moves: list[tuple[int, int]] = []
        self._steps = [_Step(state, ())]
        self._out_of_turn: State | None = None

    def _start_state(self) -> State:
        if not self._start:
            return self.game.initial_state()
        # Before handicap stones the board was empty; before other positions it is unknown.
        return self._game(**({"history_fill": "zero"} if self._num_handicap else {})).parse_position(self._start)

    def _replay(self) -> None:
        moves = self._moves
        self._set_up(self._start, self._num_handicap)
        for player, action in moves:
            self._play(player, action, is_forced=True)

    # ---- playing

    def play(self, player: int, action: int) -> None:
        """Play a move of either player.

        Raises:
            IllegalMoveError: the rules forbid it.
        """
        self._play(player, action, is_forced=False)

    def undo(self) -> None:
        """Take back the last move. Raises GameError if there is none."""
        if not self._moves:
            raise GameError("cannot undo")
        self._moves.pop()
        self._steps.pop()
        self._out_of_turn = None

    def _play(self, player: int, action: int, *, is_forced: bool) -> list[str]:
        state, warnings = self.state, list[str]()
        actions: tuple[int, ...] = (action,)
        if self.game.player(state) != player:
            state, actions = self.game.play(state, self.size * self.size), (self.size * self.size, action)
        try:
            state = self.game.play(state, action)
        except GameError:
            why = self._why_illegal(state, action)
            if why == "the point is taken" or not is_forced:
                raise IllegalMoveError(f"illegal move: {why}") from None
            warnings.append(f"{COLOURS[player]} {self.vertex(action)} is forbidden here ({why}), and was played")
            state, actions = self._after_forbidden(state, action), ()
        self._moves.append((player, action))
        self._steps.append(_Step(state, actions))
        self._out_of_turn = None
        return warnings

    def _why_illegal(self, state: State, action: int) -> str:
        if self.vertex(action) in dict(stones_of(self._text_of(state))):
            return "the point is taken"
        banned = re.search(r" ko=(\S+)", self._text_of(state))
        return "superko" if banned and self.vertex(action) in banned[1].split(",") else "suicide"

    def _after_forbidden(self, state: State, action: int) -> State:
        """The board after a move that ko, superko or suicide forbids, as a position that was set up."""
        lenient = self._game(superko="simple", suicide="true")
        bare = lenient.parse_position(without_past(self._text_of(state)))
        return self.game.parse_position(without_past(self._text_of(lenient.play(bare, action))))

    # ---- asking

    @property
    def game(self) -> Rules:
        """The game with the komi of the score, which includes White's bonus for handicap stones."""
        return self._game()

    def _game(self, **options: object) -> Rules:
        bonus = {"0": 0, "N-1": self._num_handicap - 1, "N": self._num_handicap} if self._num_handicap else {}
        values = {
            "max_plies": NO_PLY_CAP,
            **self._options,
            "size": self.size,
            "komi": f"{self.komi + bonus.get(self.rules.handicap_bonus, 0):.10g}",
            "superko": self.rules.ko.lower(),
            "suicide": str(self.rules.suicide).lower(),
            "scoring": self.rules.scoring.lower(),
            **options,
        }
        return _go(values)

    @property
    def usual_game(self) -> Rules:
        """The game with this size and the original komi and rules, by which a player is chosen."""
        return _go({**self._options, "size": self.size})

    @property
    def state(self) -> State:
        """The position as the rules see it."""
        return self._steps[-1].state

    @property
    def mover(self) -> int:
        """The player to move if colours alternate."""
        return self.game.player(self.state)

    @property
    def num_moves(self) -> int:
        """Number of moves played."""
        return len(self._moves)

    def root(self, player: int) -> tuple[State, list[int]]:
        """A start and the actions from there to the position with `player` to move, for a `BackgroundSearch`.

        The start position is the same object as long as the game goes on from it.
        """
        if self.mover != player:
            return self._position_out_of_turn(), []
        first = max(index for index, step in enumerate(self._steps) if not step.actions)
        return self._steps[first].state, [action for step in self._steps[first + 1 :] for action in step.actions]

    def legal_actions(self, player: int) -> list[int]:
        """The moves that `player` may play."""
        state = self.state if self.mover == player else self._position_out_of_turn()
        return self.game.legal_actions(state, past_soft_endings=True)

    def _position_out_of_turn(self) -> State:
        if self._out_of_turn is None:
            text = self._text_of(self.game.play(self.state, self.size * self.size))
            self._out_of_turn = self.game.parse_position(re.sub(r" passes=\d", "", text))
        return self._out_of_turn

    def score(self) -> float:
        """Black's points minus White's points and komi, without dead stones if passes are friendly."""
        if self.rules.friendly_pass:
            return self.judged.score()
        score = self.game.score(self.state)
        assert score is not None
        return score

    def stones(self) -> dict[str, int]:
        """The stones on the board, as players by points."""
        return dict(stones_of(self._text_of(self.state)))

    @property
    def judged(self) -> Judgement:
        """Dead stones as random games judge them; computed once per position."""
        if self._judged is None or self._judged.state is not self.state or self._judged.game is not self.game:
            self._judged = judge(self.game, self.state)
        return self._judged

    def statuses(self) -> dict[str, list[str]]:
        """The points of stones by status: alive, dead or seki. Without friendly passes all are alive."""
        if not self.rules.friendly_pass:
            return {"alive": list(self.stones()), "dead": [], "seki": []}
        dead, seki = self.judged.dead, self.judged.seki
        found: dict[str, list[str]] = {"alive": [], "dead": [], "seki": []}
        for vertex in self.stones():
            point = self.action(vertex)
            found["dead" if point in dead else "seki" if point in seki else "alive"].append(vertex)
        return found

    def may_pass(self, player: int) -> bool:
        """Whether `player` may pass by rules for people and surely wins without the dead stones.

        Either the opponent has just passed, or territory is scored, where a further stone costs a point, and the
        territories are settled.
        """
        has_passed = self._moves[-1:] == [(1 - player, self.size * self.size)]
        if not has_passed and self.rules.scoring == "AREA":
            return False
        return self.wins_without_dead(player) and (has_passed or self.judged.is_settled)

    def wins_without_dead(self, player: int) -> bool:
        """Whether `player` surely wins by rules for people if the board is counted as it stands."""
        return self.rules.friendly_pass and self.judged.sure_lead(player) > 0

    def attacks_on_dead(self, player: int) -> list[int]:
        """Legal moves beside opposing stones that are judged dead."""
        stones = self.judged.stones
        dead = {point for point in self.judged.dead if stones[point] != player}
        return sorted(beside(self.size, dead).intersection(self.legal_actions(player)))

    def action(self, vertex: str) -> int:
        """The action of a point or a pass. Raises GameError if the text is neither."""
        if vertex.lower() == "pass":
            return self.size * self.size
        column, row = COLUMNS[: self.size].find(vertex[:1].upper()), vertex[1:]
        if not vertex or column < 0 or not re.fullmatch(r"[1-9]\d?", row, re.ASCII) or int(row) > self.size:
            raise GameError("invalid vertex")
        return (self.size - int(row)) * self.size + column

    def vertex(self, action: int) -> str:
        """The text of an action in GTP."""
        if action == self.size * self.size:
            return "pass"
        return vertex_of(self.size, action)

    def sgf(self) -> str:
        """The game as an SGF file, in one line."""
        names = [name for name, rules in SHORTHANDS.items() if rules == self.rules]
        head = f"FF[4]GM[1]CA[UTF-8]AP[zerosum]SZ[{self.size}]KM[{self.komi:.10g}]"
        head += f"RU[{SGF_RULES.get(names[0], names[0])}]" if names else ""
        head += f"HA[{self._num_handicap}]" if self._num_handicap else ""
        stones = dict(stones_of(self._start)) if self._start else {}
        for name, player in (("AB", BLACK), ("AW", 1 - BLACK)):
            points = [
                f"[{self._sgf_point(self.action(vertex))}]" for vertex, owner in stones.items() if owner == player
            ]
            head += name + "".join(points) if points else ""
        if self._start:
            head += f"PL[{'BW'[LETTERS.index(self._start.split()[1])]}]"
        mover, moves = LETTERS.index(self._start.split()[1]) if self._start else BLACK, ""
        for player, action in self._moves:
            if player != mover:  # a move out of turn implies a pass of the opponent
                moves += f";{'BW'[mover]}[]"
            moves += f";{'BW'[player]}[{self._sgf_point(action)}]"
            mover = 1 - player
        return f"(;{head}{moves})"

    def _sgf_point(self, action: int) -> str:
        if action == self.size * self.size:
            return ""
        row, column = divmod(action, self.size)
        return chr(ord("a") + column) + chr(ord("a") + row)

    def _text_of(self, state: State) -> str:
        text = self.game.position_text(state)
        assert text is not None
        return text


def _go(options: Mapping[str, object]) -> Rules:
    return game_of(f"go({', '.join(f'{name}={value}' for name, value in options.items())})")


def _rules_of(options: Mapping[str, str]) -> GoRules:
    """The rules that a game's options describe; with territory scoring, friendly passes leave dead stones."""
    rules = GoRules(options["superko"].upper(), options["suicide"] == "true")
    if options["scoring"] == "territory":
        rules = replace(rules, scoring="TERRITORY", tax="SEKI", friendly_pass=True)
    return rules


def _sgf_action(point: str, size: int) -> int:
    if point == "pass":
        return size * size
    return (ord(point[1]) - ord("a")) * size + ord(point[0]) - ord("a")
