"""The board that a Go program and its user talk of: stones, whose turns nobody counts, rules, and what was played.

In GTP a colour may move twice, and moves go on after two passes. The game of Go alternates: where a colour moves out of
turn, its opponent passes in between, which keeps all that superko and the planes need. A position in which a colour is
asked for a move out of turn is searched as one that was set up, for nobody passed: else the answer to that pass would
be a second one, and end the game. What superko forbids there is kept, earlier positions are not.

Start with `GtpBoard.play` and `GtpBoard.root`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Rules, State
from zerosum.games.rules import NO_PLY_CAP, given_options
from zerosum.notation.go_status import Judgement, beside, judge
from zerosum.notation.go_words import COLUMNS, LETTERS, SHORTHANDS, GoRules, stones_of, text_of, vertex_of, without_past
from zerosum.notation.legality import game_of, options_of
from zerosum.notation.record import Record

COLOURS = ("black", "white")
BLACK = 0
MOST_KOMI = 375.0
"""Or as much for Black. The game takes 1000: White may have a bonus for as many handicap stones as there are points."""


SGF_RULES = {"japanese": "Japanese", "chinese": "Chinese", "aga": "AGA", "new-zealand": "NZ"}
"""KataGo's names of rules as SGF has them."""


class IllegalMoveError(GameError):
    """A move that the rules forbid: "illegal move", and why."""


@dataclass(frozen=True)
class _Step:
    """A position, and the actions that led there from the one before it."""

    state: State
    actions: tuple[int, ...]
    """With a pass of the opponent's, if a colour moved out of turn; none if the position was set up."""


class GtpBoard:
    """A game of Go from its start, as far as it was played. Whatever raises leaves it as it was."""

    def __init__(self, game: Rules) -> None:
        """Raises SettingsError if it is not Go, or has handicap stones."""
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
            GameError: there is none of this size.
        """
        self._game(size=size)
        board = copy.copy(self)
        board.size = size
        board.clear()
        return board

    def set_komi(self, komi: float) -> None:
        """Raises SettingsError if no game has such a komi."""
        if not abs(komi) <= MOST_KOMI:
            raise SettingsError(f"komi is {komi:g}, allowed is -{MOST_KOMI:g} to {MOST_KOMI:g}")
        self.komi = komi
        self._replay()

    def set_rules(self, rules: GoRules) -> None:
        """Play on by other rules; the stones stay where they are.

        Raises:
            SettingsError: they have a button, or another tax than their scoring has here.
        """
        if rules.unsupported:
            raise SettingsError(
                f"{', '.join(rules.unsupported)} is not played, but area scoring without tax and territory scoring with"
                " tax SEKI, both without a button"
            )
        self.rules = rules
        self._replay()

    def fixed_handicap(self, num_stones: int) -> list[str]:
        """Place handicap stones where GTP 2 has them (section 4.1.1), and return where.

        Raises:
            GameError: the board is not empty, or does not take so many.
        """
        points = [vertex for vertex, _ in stones_of(self._text_of(self._game(handicap=num_stones).initial_state()))]
        self.place_handicap(points)
        return points

    @property
    def most_handicap(self) -> int:
        """Stones that `fixed_handicap` can place."""
        for num_stones in range(9, 1, -1):
            try:
                self._game(handicap=num_stones)
            except GameError:
                continue
            return num_stones
        return 0

    def place_handicap(self, points: Sequence[str]) -> None:
        """Black's stones before White's first move.

        Raises:
            GameError: the board is not empty, a point is none or comes twice, or they are fewer than two.
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
        """A board after some or all moves of a record as its SGF file has them, and a sentence for each doubt.

        Moves that superko or suicide forbid are played, for they were. Komi is the record's if it says one, rules stay.

        Raises:
            GameError: it is no record of Go, or its position is none.
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
        """These stones, by points and players, without a past; Black is to move.

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
        # Before handicap stones there was nothing; before other positions, nobody knows what.
        return self._game(**({"history_fill": "zero"} if self._num_handicap else {})).parse_position(self._start)

    def _replay(self) -> None:
        moves = self._moves
        self._set_up(self._start, self._num_handicap)
        for player, action in moves:
            self._play(player, action, is_forced=True)

    # ---- playing

    def play(self, player: int, action: int) -> None:
        """A move of either player.

        Raises:
            IllegalMoveError: the rules forbid it.
        """
        self._play(player, action, is_forced=False)

    def undo(self) -> None:
        """Raises GameError if nothing was played."""
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
        """What the board looks like after a move that ko, superko or suicide forbids, as a position that was set up."""
        lenient = self._game(superko="simple", suicide="true")
        bare = lenient.parse_position(without_past(self._text_of(state)))
        return self.game.parse_position(without_past(self._text_of(lenient.play(bare, action))))

    # ---- asking

    @property
    def game(self) -> Rules:
        """With the komi that the score has, which is White's bonus for handicap stones besides."""
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
        """As it was when nobody had told komi or rules, but for the size: what players are known for."""
        return _go({**self._options, "size": self.size})

    @property
    def state(self) -> State:
        """The position as the rules see it."""
        return self._steps[-1].state

    @property
    def mover(self) -> int:
        """Whose turn it would be."""
        return self.game.player(self.state)

    @property
    def num_moves(self) -> int:
        """That were played."""
        return len(self._moves)

    def root(self, player: int) -> tuple[State, list[int]]:
        """A start position and the actions from there to the one that `player` is to move in, as `Engine` takes them.

        As long as nothing else is played, the start position is the same object.
        """
        if self.mover != player:
            return self._position_out_of_turn(), []
        first = max(index for index, step in enumerate(self._steps) if not step.actions)
        return self._steps[first].state, [action for step in self._steps[first + 1 :] for action in step.actions]

    def legal_actions(self, player: int) -> list[int]:
        """What `player` may play."""
        state = self.state if self.mover == player else self._position_out_of_turn()
        return self.game.legal_actions(state, past_soft_endings=True)

    def _position_out_of_turn(self) -> State:
        if self._out_of_turn is None:
            text = self._text_of(self.game.play(self.state, self.size * self.size))
            self._out_of_turn = self.game.parse_position(re.sub(r" passes=\d", "", text))
        return self._out_of_turn

    def score(self) -> float:
        """Black's points less White's and komi: with friendly passes without dead stones, else all are alive."""
        if self.rules.friendly_pass:
            return self.judged.score()
        score = self.game.score(self.state)
        assert score is not None
        return score

    def stones(self) -> dict[str, int]:
        """Whose stone is on which point."""
        return dict(stones_of(self._text_of(self.state)))

    @property
    def judged(self) -> Judgement:
        """Which stones are dead, as random games see it; worked out once for a position."""
        if self._judged is None or self._judged.state is not self.state or self._judged.game is not self.game:
            self._judged = judge(self.game, self.state)
        return self._judged

    def statuses(self) -> dict[str, list[str]]:
        """The points of stones by what they are: alive, dead or seki. Without friendly passes all are alive."""
        if not self.rules.friendly_pass:
            return {"alive": list(self.stones()), "dead": [], "seki": []}
        dead, seki = self.judged.dead, self.judged.seki
        found: dict[str, list[str]] = {"alive": [], "dead": [], "seki": []}
        for vertex in self.stones():
            point = self.action(vertex)
            found["dead" if point in dead else "seki" if point in seki else "alive"].append(vertex)
        return found

    def may_pass(self, player: int) -> bool:
        """Whether `player` may pass by rules for people and wins without the dead stones, whatever is not clear.

        Either the opponent has just passed, or territory is counted, where each further stone costs a point, and no
        point between both sides is left.
        """
        has_passed = self._moves[-1:] == [(1 - player, self.size * self.size)]
        if not has_passed and self.rules.scoring == "AREA":
            return False
        return self.wins_without_dead(player) and (has_passed or self.judged.num_neutral == 0)

    def wins_without_dead(self, player: int) -> bool:
        """Whether rules for people let `player` win by the count as the board is, whatever is not clear."""
        return self.rules.friendly_pass and self.judged.sure_lead(player) > 0

    def attacks_on_dead(self, player: int) -> list[int]:
        """Legal moves beside stones of the opponent's that are taken for dead."""
        stones = self.judged.stones
        dead = {point for point in self.judged.dead if stones[point] != player}
        return sorted(beside(self.size, dead).intersection(self.legal_actions(player)))

    def action(self, vertex: str) -> int:
        """The action of a point or a pass. Raises GameError if it is none."""
        if vertex.lower() == "pass":
            return self.size * self.size
        column, row = COLUMNS[: self.size].find(vertex[:1].upper()), vertex[1:]
        if not vertex or column < 0 or not re.fullmatch(r"[1-9]\d?", row, re.ASCII) or int(row) > self.size:
            raise GameError("invalid vertex")
        return (self.size - int(row)) * self.size + column

    def vertex(self, action: int) -> str:
        """As GTP writes it."""
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
            if player != mover:  # who moved out of turn is taken to have been passed to
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
    """The rules that a game's options say; who counts territory passes where dead stones stay."""
    rules = GoRules(options["superko"].upper(), options["suicide"] == "true")
    if options["scoring"] == "territory":
        rules = replace(rules, scoring="TERRITORY", tax="SEKI", friendly_pass=True)
    return rules


def _sgf_action(point: str, size: int) -> int:
    if point == "pass":
        return size * size
    return (ord(point[1]) - ord("a")) * size + ord(point[0]) - ord("a")
