"""The USI engine for shogi, after Tord Romstad's specification (http://hgm.nubati.net/usi.html).

`line_engine.py` has most of it. Shogi adds the declaration by an entering king (`bestmove win`), resigning,
and `go mate`, which is answered by `checkmate`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import ClassVar

from zerosum.games import Rules, make
from zerosum.games.rules import NO_PLY_CAP, given_options, with_options
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.engines.uci_client import USI_GAMES
from zerosum.protocols.engine_options import OfferedOption, combo, spin
from zerosum.protocols.engine_setup import EngineSetup
from zerosum.protocols.line_engine import Command, Go, LineEngine
from zerosum.protocols.line_words import GoWords

ENTERING_KING_RULES = {"CSARule27": "csa27", "CSARule24": "csa24-wins", "NoEnteringKing": "none"}
"""The values of shogi's option `entering_king`, by YaneuraOu's names.

USI has no word for the draw that a player with 24 points may declare, so games do not end by it.
"""
DECLARATION = "declaration"
"""Shogi's name of that ending."""


class UsiSetup(EngineSetup):
    """The options of USI."""

    names: ClassVar = {
        "Hash": "USI_Hash",
        "Ponder": "USI_Ponder",
        "Move Overhead": "MoveOverhead",
        "Clear Hash": "ClearHash",
        "Skill Level": "SkillLevel",
        "UCI_LimitStrength": "USI_LimitStrength",
        "UCI_Elo": "USI_Elo",
    }

    def _offer_more(self) -> Iterator[OfferedOption]:
        spec = self.asked_game.spec
        yield spin("Resign_Threshold", 0, 0, 1000, "resigns below this win rate, in thousandths (paper: 50)")
        if spec.name not in USI_GAMES:
            return
        yield combo("UCI_Variant", spec.name, USI_GAMES, "the game")
        of_game = given_options(self.asked_game).get("entering_king", "csa27").partition("-")[0]
        asked = next(rule for rule, name in ENTERING_KING_RULES.items() if name.partition("-")[0] == of_game)
        yield combo(
            "EnteringKingRule", asked, ENTERING_KING_RULES, "when a declaration by an entering king wins (shogi)"
        )
        yield spin("MaxMovesToDraw", 0, 0, NO_PLY_CAP, "plies after which a game is a draw; 0 is never")

    def _game_asked(self) -> Rules:
        asked, variant = self.asked_game, self.values.get("UCI_Variant")
        if variant is None:
            return asked
        game = asked if variant == asked.spec.name else make(variant)
        rule = ENTERING_KING_RULES[self.values["EnteringKingRule"]]
        game = with_options(game, entering_king=rule)
        cap = self.values["MaxMovesToDraw"]
        return game if cap == "0" else with_options(game, max_plies=cap)


class UsiEngine(LineEngine):
    """An engine that speaks USI."""

    protocol = "usi"
    new_game_word = "usinewgame"
    colors = "bw"
    no_move = "resign"
    position_word = "Sfen"

    def _more_commands(self) -> dict[str, Command]:
        return {"gameover": self._stop}

    def _mate_in(self, num_plies: int) -> int:
        return num_plies

    def _read_go(self, argument: str) -> GoWords:
        """Parse `go`, where `mate` is followed by milliseconds or by `infinite`, which does not hold the answer."""
        in_time = re.sub(r"\bmate\s+(\d+)", r"mate 0 movetime \1", argument)
        return super()._read_go(re.sub(r"\bmate\s+infinite\b", "mate 0", in_time))

    def _answer_unsearched(self, go: Go) -> str | None:
        game, state = go.position.game, go.position.state
        if "mate" in go.words.numbers:
            return None if go.choices else "checkmate nomate"
        sign = 1 if game.player(state) == 0 else -1
        if game.ending(state) == DECLARATION and game.outcome(state) == sign:
            return "bestmove win"
        return super()._answer_unsearched(go)

    def _answer(self, go: Go, report: Analysis) -> str:
        if "mate" in go.words.numbers:
            return self._checkmate(go, report)
        is_game = report.lines and not go.is_infinite
        if is_game and 1000 * win_rate(report.lines[0].value) < self.setup.number("Resign_Threshold"):
            return "bestmove resign"
        return super()._answer(go, report)

    def _answer_refused(self, go: Go) -> str:
        # Mate problems may have one king; our rules require two.
        return "checkmate notimplemented" if "mate" in go.words.numbers else super()._answer_refused(go)

    def _answer_anyhow(self, go: Go) -> str:
        return "checkmate timeout" if "mate" in go.words.numbers else super()._answer_anyhow(go)

    def _checkmate(self, go: Go, report: Analysis) -> str:
        """The answer to `go mate`, from proven results only."""
        if report.stop_reason != "proven":
            return "checkmate timeout"
        line = report.lines[0]
        if line.value < 1:
            return "checkmate nomate"
        game = go.position.game
        state = functools.reduce(game.play, line.actions, go.position.state)
        if game.is_soft_ending(state):
            # A win by a declaration or by perpetual check is not a mate, but a mate may exist.
            return "checkmate notimplemented"
        return " ".join(["checkmate", *go.position.texts(line.actions)])
