"""Shogi against rsshogi and cshogi (the latter GPL, for tests only), and against our own slow twin.

The two say what is legal, how positions and moves are written, what a fourth occurrence means (rsshogi) and who may
declare (cshogi); the twin reads planes and action indices from the design's tables.
"""

from __future__ import annotations

import random
from collections import Counter

import cshogi
import cshogi.KIF
import numpy as np
from rsshogi.core import Board as RsBoard
from rsshogi.types import RepetitionState

from shogi_scenarios import EVENTS, Play, describe, plays

__all__ = ["EVENTS", "compare"]

DECLARED = {cshogi.NYUGYOKU_NONE: None, cshogi.NYUGYOKU_WIN: "win", cshogi.NYUGYOKU_DRAW: "draw"}
REPEATED = {
    str(RepetitionState.DRAW): "fourfold repetition",
    str(RepetitionState.WIN): "perpetual check",
    str(RepetitionState.LOSE): "perpetual check",
}
SPELLED_OUT = {"杏": "成香", "圭": "成桂", "全": "成銀"}
KANJI_FILES, KANJI_RANKS = "１２３４５６７８９", "一二三四五六七八九"  # noqa: RUF001


class Oracles:
    """The same game in both libraries."""

    def __init__(self, play: Play) -> None:
        sfen = play.twin.sfen()
        self.rs = RsBoard()
        self.rs.set_sfen(sfen)
        assert self.rs.is_valid(), sfen
        self.cs = cshogi.Board(sfen)
        self.num_moves = 0
        self.last_move: int | None = None

    def follow(self, play: Play) -> None:
        """Make the moves that the game is ahead."""
        for text in play.texts[self.num_moves :]:
            self.rs.apply_usi(text)
            self.last_move = self.cs.push_usi(text)
        self.num_moves = len(play.texts)


def compare(num_positions: int, seed: int) -> Counter[str]:
    """Play scenarios until so many positions are compared; answers how often each event occurred.

    Raises:
        AssertionError: the core and an oracle differ; the message has the position.
    """
    events: Counter[str] = Counter()
    generator = random.Random(seed)
    followed: Play | None = None
    for play in plays(seed, events):
        if play is not followed:
            followed, oracles = play, Oracles(play)
        oracles.follow(play)
        try:
            check_rules(play, oracles)
            check_planes(play)
            check_texts(play, oracles, generator)
            if generator.random() < 0.05:
                check_set_up(play)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{describe(play)}\n{play.game.draw(play.state)}") from error
        if events["positions"] >= num_positions:
            return events
    raise AssertionError("plays end")


def check_rules(play: Play, oracles: Oracles) -> None:
    """Legal moves, what is said of the position, and whether it is the end."""
    game, state, twin, rs, cs = play.game, play.state, play.twin, oracles.rs, oracles.cs
    assert set(play.moves) == {move.to_usi() for move in rs.legal_moves()}
    assert set(play.moves) == {cshogi.move_to_usi(move) for move in cs.legal_moves}
    assert game.position_text(state) == twin.sfen() == rs.to_sfen() == cs.sfen()
    is_check = bool(twin.board.checkers(twin.board.side))
    assert is_check == rs.is_in_check() == cs.is_check()
    repetition = twin.repetition()
    if twin.repetitions == 3 or twin.repetitions == 0:
        assert REPEATED.get(str(rs.repetition_state())) == (repetition and repetition.ending), rs.repetition_state()
    if repetition and repetition.result:
        mover_wins = (repetition.result > 0) == (twin.board.side == 0)
        assert rs.repetition_state() == (RepetitionState.WIN if mover_wins else RepetitionState.LOSE)
    for rule, law in (("csa27", cshogi.LAW_27), ("csa24", cshogi.LAW_24)):
        assert DECLARED[cs.nyugyoku_result(law)] == twin.board.declared(rule), rule
    check_ending(play)


def check_ending(play: Play) -> None:
    """The end as the twin has it."""
    game, state, ended = play.game, play.state, play.ended
    assert game.player(state) == play.twin.board.side
    if ended is None:
        assert game.outcome(state) is None
        assert game.legal_actions(state) == sorted(play.moves.values())
        return
    found = game.ending(state), game.outcome(state), game.is_soft_ending(state)
    assert found == (ended.ending, ended.result, ended.is_soft)
    assert game.legal_actions(state) == []


def check_planes(play: Play) -> None:
    """Planes and action indices as the twin has them."""
    np.testing.assert_array_equal(play.game.planes(play.state), play.twin.planes())
    assert {text: play.twin.index(text) for text in play.moves} == play.moves


def check_set_up(play: Play) -> None:
    """The position written down and read back."""
    text = play.game.position_text(play.state)
    assert text is not None
    again = Play(text, **play.options)
    assert again.moves == play.moves
    np.testing.assert_array_equal(again.game.planes(again.state), again.twin.planes())


def check_texts(play: Play, oracles: Oracles, generator: random.Random) -> None:
    """Some moves as people write them."""
    game, state = play.game, play.state
    for usi in generator.sample(list(play.moves), min(3, len(play.moves))):
        action, theirs = play.moves[usi], oracles.cs.move_from_usi(usi)
        csa, kif = (game.action_text(state, action, notation) for notation in ("csa", "kif"))
        assert csa == "+-"[play.twin.board.side] + cshogi.move_to_csa(theirs)
        expected = cshogi.KIF.move_to_kif(theirs, oracles.last_move)
        for short, spelled_out in SPELLED_OUT.items():
            expected = expected.replace(short, spelled_out)
        assert kif == expected
        for text in (usi, csa, kif, csa[1:], *sloppy(play, usi, kif)):
            assert game.parse_action(state, text) == action, text
        wrong_side = "-+"[play.twin.board.side] + csa[1:], "△▲"[play.twin.board.side] + kif
        assert all(game.parse_action(state, text) is None for text in wrong_side)
        for text in (usi, csa, kif):
            broken = list(text)
            broken[generator.randrange(len(text))] = generator.choice("0159abij+*一九同成打歩龍()　\u0301")
            read = game.parse_action(state, "".join(broken))
            assert read is None or read in play.moves.values()


def sloppy(play: Play, usi: str, kif: str) -> list[str]:
    """Other ways to write a move."""
    texts = [f" {usi.upper()} ", f"{'▲△'[play.twin.board.side]}{kif}", kif.replace("　", ""), kif.replace("　", " ")]
    for file, rank in zip(KANJI_FILES, KANJI_RANKS, strict=True):
        digit = str(KANJI_FILES.index(file) + 1)
        texts.append(texts[-1].replace(file, digit).replace(rank, digit) if len(texts) > 4 else kif)
    move = play.twin.board.move(usi)
    if move.start is not None and not move.promotes and usi + "+" in play.moves:
        texts.append(kif.replace("(", "不成("))
    for name, other in (("龍", "竜"), ("成銀", "全"), ("成桂", "圭"), ("成香", "杏"), ("玉", "王")):
        texts.append(kif.replace(name, other))
    if kif.startswith("同"):
        row, column = move.end
        texts.append(KANJI_FILES[8 - column] + KANJI_RANKS[row] + kif[2:])
    same_end = [
        text
        for text in play.moves
        if (other := play.twin.board.move(text)).end == move.end
        and (other.kind, other.promotes) == (move.kind, move.promotes)
    ]
    if len(same_end) == 1:
        texts += [kif.partition("(")[0].removesuffix("打")]
    return texts
