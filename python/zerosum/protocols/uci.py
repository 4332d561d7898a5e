"""The UCI engine, after Stefan Meyer-Kahlen's specification of April 2006.

The loop and the commands that UCI shares with USI are in `line_engine.py`. UCI works for any game whose moves contain
no blanks; options choose variants of chess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from zerosum._core import uniform
from zerosum.base.errors import DataError, GameError, SettingsError, ZerosumError
from zerosum.games import Rules, make, parse_action
from zerosum.games.rules import given_options, plays_chess960
from zerosum.network.fit import fits
from zerosum.notation.polyglot import PolyglotBook, read_book
from zerosum.play.analysis import AnalysisLine
from zerosum.play.choice import describe_network
from zerosum.play.contestant import ROLLOUTS
from zerosum.play.player import Player
from zerosum.protocols.engine_options import EMPTY, INERT, OfferedOption, check, combo, text
from zerosum.protocols.engine_setup import EngineSetup, path_of
from zerosum.protocols.line_engine import Go, LineEngine
from zerosum.protocols.line_words import Position
from zerosum.search import SearchConfig
from zerosum.search.syzygy import describe_syzygy, open_syzygy

CHESS = ("chess", "chess960")
NO_BOOK = "<none>"
VARIANTS = {"chess": "chess", "gardner": "minichess"}
"""Fairy-Stockfish's names of variants, and our games."""


class UciSetup(EngineSetup):
    """The options of UCI."""

    _book: PolyglotBook | None = None
    """The book that was read last."""

    def _offer_more(self) -> Iterator[OfferedOption]:
        name = self.asked_game.spec.name
        yield check("UCI_ShowWDL", False, "chances of win, draw and loss in each `info`, in thousandths, see below")
        if name in (*CHESS, "minichess"):
            variant = "gardner" if name == "minichess" else "chess"
            yield combo("UCI_Variant", variant, VARIANTS, "the game: chess, or Gardner's minichess")
            yield check(
                "UCI_Chess960",
                plays_chess960(self.asked_game),
                "plays Chess960 instead of chess, with a network of Chess960 or else of chess",
            )
        if name in CHESS:
            yield check("OwnBook", False, "plays the moves of `BookFile`, by their weights, as long as it has any")
            yield text("BookFile", NO_BOOK, "a Polyglot book (.bin) for `OwnBook`, in chess")
            meaning = "a folder of [Syzygy tables](tables.md), or several as in `PATH`: endings are played by them"
            yield text("SyzygyPath", str(self.search_overrides.get("syzygy_path", EMPTY)), meaning)
        inert = "has no effect"
        yield check("UCI_AnalyseMode", False, f"{inert}: analysis and games use the same search", is_inert=True)
        yield text("UCI_Opponent", INERT, f"{inert}: the engine plays all opponents alike", is_inert=True)
        if name not in CHESS:
            yield text("SyzygyPath", INERT, f"{inert}: the tables are of chess", is_inert=True)

    def book(self) -> PolyglotBook | None:
        """The book to play from, if there is one for the game.

        Raises:
            DataError: the file cannot be read, or is not a Polyglot book.
            SettingsError: `OwnBook` is on without a file.
        """
        if self.game.spec.name != "chess" or plays_chess960(self.game) or not self.is_set("OwnBook"):
            return None
        path = self.value("BookFile")
        if path in ("", NO_BOOK):
            raise SettingsError("OwnBook is on without a book: set BookFile to a Polyglot book (.bin).")
        if self._book is None or self._book.name != path:
            self._book = read_book(path)
        return self._book

    def set(self, said_name: str, said_value: str) -> OfferedOption:
        """As in other engines; tables that cannot be used are refused at once."""
        if (
            said_name.casefold() == "syzygypath"
            and self.asked_game.spec.name in CHESS
            and said_value not in ("", EMPTY)
        ):
            open_syzygy(said_value)
        return super().set(said_name, said_value)

    def search_config(self, player: Player, *, proofs: bool = False, is_limited: bool = True) -> SearchConfig:
        """As in other engines, with the tables of `SyzygyPath` in chess."""
        config = super().search_config(player, proofs=proofs, is_limited=is_limited)
        return replace(config, syzygy_path=self.syzygy_path)

    @property
    def syzygy_path(self) -> str:
        """The folders of tables; "" for none."""
        path = self.values.get("SyzygyPath", "")
        return path if self.game.spec.name in CHESS and path not in (EMPTY, INERT) else ""

    def _game_asked(self) -> Rules:
        asked = self.asked_game
        name = VARIANTS.get(self.values.get("UCI_Variant", ""), asked.spec.name)
        if name in CHESS:
            options = given_options(asked) if asked.spec.name in CHESS else {}
            options.pop("rules", None)
            chess, chess960 = (_game(name, options) for name in CHESS)
            if not self.is_set("UCI_Chess960"):
                return chess
            return _game("chess", {"rules": "chess960", **options}) if self._has_only(chess, chess960) else chess960
        return asked if name == asked.spec.name else make(name)

    def _has_only(self, game: Rules, other: Rules) -> bool:
        """Whether the networks available fit `game` and none fits `other`."""
        named = self.value("WeightsFile")
        if named == ROLLOUTS:
            return False
        path = path_of(named)
        try:
            found = [info for rules in (game, other) if (info := describe_network(rules, path)) is not None]
        except DataError:
            return False  # loading the network reports the error
        return any(fits(info, game) for info in found) and not any(fits(info, other) for info in found)

    @property
    def shows_draws(self) -> bool:
        """Whether reports include chances of win, draw and loss."""
        return self.is_set("UCI_ShowWDL")


def _game(name: str, options: Mapping[str, str]) -> Rules:
    return make(f"{name}({', '.join(f'{option}={value}' for option, value in options.items())})")


class UciEngine(LineEngine):
    """An engine that speaks UCI."""

    protocol = "uci"
    new_game_word = "ucinewgame"
    colors = "wb"
    no_move = "(none)"
    position_word = "Fen"

    def _score(self, line: AnalysisLine) -> list[str]:
        score = super()._score(line)
        if not self.setup.shows_draws:
            return score
        assert line.draw_share is not None, "the search keeps them"
        win, draw = (round(1000 * share) for share in ((1 - line.draw_share + line.value) / 2, line.draw_share))
        win = min(max(win, 0), 1000 - draw)
        return [*score, "wdl", str(win), str(draw), str(1000 - win - draw)]

    def _answer_unsearched(self, go: Go) -> str | None:
        answer = super()._answer_unsearched(go)
        if answer is not None or go.words.flags or go.words.chosen is not None or "mate" in go.words.numbers:
            return answer
        return self._book_answer(go.position)

    def _book_answer(self, position: Position) -> str | None:
        """The answer from the book; None without one. A book that cannot be read is told, and the search answers."""
        assert isinstance(self.setup, UciSetup)
        try:
            book = self.setup.book()
        except ZerosumError as error:
            self._tell(str(error))
            return None
        if book is None:
            return None
        game, state = position.game, position.state
        fen = game.position_text(state)
        assert fen is not None, "chess has a notation for positions"
        drawn = uniform(self.setup.seed, self._num_go, state.plies, "book move")
        move = book.drawn(fen, last_move=position.moves[-1] if position.moves else "", number=drawn)
        if move is None:
            return None
        try:
            action = parse_action(game, state, move.text)
        except GameError as error:
            self._tell(f"{book.name}, entry {move.entry}: {error}")
            return None
        self._tell(f"{book.name}, entry {move.entry}, weight {move.weight}")
        return f"bestmove {position.texts([action])[0]}"

    def _set_option(self, argument: str) -> None:
        super()._set_option(argument)
        assert isinstance(self.setup, UciSetup)
        if argument.casefold().startswith("name syzygypath") and (path := self.setup.syzygy_path):
            self._tell(describe_syzygy(open_syzygy(path)))

    def _mate_in(self, num_plies: int) -> int:
        return (num_plies + 1) // 2
