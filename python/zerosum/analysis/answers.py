"""Answers of the analysis engine to a `Query`: objects of KataGo's protocol, for Go and for every other game.

Win rates are for the side that the query names. Besides KataGo's fields, lines have `proven` for an exact result and
`draw` for the probability of a draw, if the network predicts it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zerosum._core import Root
from zerosum.analysis import go_query, go_score
from zerosum.analysis.query import Query, QueryTurn
from zerosum.games import State
from zerosum.play.analysis import Analysis, AnalysisLine, lower_win_rate, win_rate
from zerosum.play.player import Player

DIGITS = 6
NUM_GAMES = 200
"""Random games for a position's ownership, if no network tells it, with standard errors of at most 0.07.

Moves share as many by their visits."""
FEWEST_GAMES = 2
"""Least number of random games for each move."""


def answer(query: Query, turn: QueryTurn, report: Analysis, player: Player) -> dict[str, Any]:
    """The answer of a search by `player`."""
    seen = _Seen(query, turn.state, player)
    if seen.is_go:
        seen.learn_lead(report.value)
    is_go = query.game.spec.name == "go"
    found = _head(query, turn, is_during=report.stop_reason is None) | {
        "moveInfos": [
            seen.line(line, order, num_visits=report.num_visits)
            for order, line in enumerate(line for line in report.lines if line.visits)
        ],
        "rootInfo": seen.root_info(report.value, report.num_visits + 1)
        | {"rawWinrate": seen.win_rate(report.net_value)},
    }
    if "includePolicy" in query.includes:
        found["policy"] = (
            go_query.policy(report.root, query.game.spec.num_actions) if is_go else seen.policy_by_move(report.root)
        )
    return found | (seen.ownership(turn.state, "includeOwnership", num_games=NUM_GAMES) if is_go else {})


def answer_without_search(query: Query, turn: QueryTurn) -> dict[str, Any]:
    """The answer for a position in which the game is over."""
    seen = _Seen(query, turn.state, None)
    outcome = query.game.outcome(turn.state)
    assert outcome is not None
    value = outcome if query.game.player(turn.state) == 0 else -outcome
    return _head(query, turn, is_during=False) | {"moveInfos": [], "rootInfo": seen.root_info(value, 0)}


def no_results(query: Query, turn: QueryTurn) -> dict[str, Any]:
    """The answer for a position that was not searched."""
    return _head(query, turn, is_during=False) | {"noResults": True}


def _head(query: Query, turn: QueryTurn, *, is_during: bool) -> dict[str, Any]:
    return {"id": query.id, "turnNumber": turn.number, "isDuringSearch": is_during}


class _Seen:
    """A position from the perspective that the query names."""

    def __init__(self, query: Query, state: State, searcher: Player | None) -> None:
        self.query, self.state, self.game, self.searcher = query, state, query.game, searcher
        self.player = self.game.player(state)
        self.sign = 1 if query.perspective in (None, self.player) else -1
        self.is_go = self.game.spec.name == "go"
        self.leads = go_score.Leads(self.game.spec.board_shape[0])

    def learn_lead(self, value: float) -> None:
        """Take the position's lead from what the network knows of the score, instead of from the search's value."""
        assert self.searcher is not None
        points = go_score.expected_points(self.searcher, self.state)
        if points is not None:
            self.leads = go_score.Leads(self.leads.size, value, points if self.player == 0 else points.of_opponent())

    def win_rate(self, value: float) -> float:
        """The win rate of a value for the player to move."""
        return _rounded(win_rate(self.sign * value))

    def values(self, value: float, visits: int) -> dict[str, Any]:
        """The fields that moves and the root share, from a value for the player to move."""
        lcb = self.win_rate(2 * lower_win_rate(value, visits) - 1)
        found: dict[str, Any] = {
            "winrate": self.win_rate(value),
            "utility": _rounded(self.sign * value),
            "lcb": lcb,
            "utilityLcb": _rounded(2 * lcb - 1),
            "visits": visits,
        }
        return found | (self.scores(self.leads.of(value)) if self.is_go else {})

    def scores(self, lead: float) -> dict[str, float]:
        """KataGo's three score fields, which are equal here, and the standard deviation."""
        points = _rounded(self.sign * lead)
        stdev = _rounded(self.leads.deviation)
        return {"scoreLead": points, "scoreMean": points, "scoreSelfplay": points, "scoreStdev": stdev}

    def root_info(self, value: float, visits: int) -> dict[str, Any]:
        """The fields of the position itself."""
        found = self.values(value, visits)
        if not self.is_go:
            left = None if self.searcher is None else self.searcher.plies_left(self.state)
            found |= {} if left is None else {"movesLeft": _rounded(left)}
            return found | {"currentPlayer": ("FIRST", "SECOND")[self.player]}
        exact = go_score.exact_lead(self.game, self.state, friendly_pass=self.query.friendly_pass)
        if exact is not None:
            side = exact if self.player == 0 else -exact
            found = self.values(float((side > 0) - (side < 0)), visits)
            found |= self.scores(side) | {"scoreStdev": 0.0}
        this, symmetric = go_query.hashes(self.game, self.state)
        return found | {"currentPlayer": "BW"[self.player], "thisHash": this, "symHash": symmetric}

    def line(self, line: AnalysisLine, order: int, *, num_visits: int) -> dict[str, Any]:
        """An entry of `moveInfos`, from a search with `num_visits` simulations."""
        moves = line.moves[: self.query.line_length]
        found = {"move": moves[0], "order": order, "prior": round(line.prior, 8), "pv": list(moves)}
        found |= self.values(line.value, line.visits)
        if line.proven:
            found["proven"] = True
        if line.draw_share is not None:
            found["draw"] = _rounded(line.draw_share)
        if "includePVVisits" in self.query.includes:
            found["pvVisits"] = [line.visits]
        if self.is_go:
            after = self.game.play(self.state, line.actions[0])
            num_games = max(NUM_GAMES * line.visits // max(num_visits, 1), FEWEST_GAMES)
            found |= self.ownership(after, "includeMovesOwnership", num_games=num_games)
        return found

    def ownership(self, state: State, included: str, *, num_games: int) -> dict[str, Any]:
        """The ownership fields of the position itself, or of the position after a move."""
        wanted = {name: f"{included}{name.removeprefix('ownership')}" for name in ("ownership", "ownershipStdev")}
        wanted = {name: include for name, include in wanted.items() if include in self.query.includes}
        if not wanted:
            return {}
        # Points belong to Black or White, not to the player to move.
        sign = self.sign if self.player == 0 else -self.sign
        assert self.searcher is not None
        owners = go_score.ownership(self.searcher, state, num_games)
        maps = {"ownership": sign * owners, "ownershipStdev": np.sqrt(1 - owners**2)}
        return {name: (maps[name].round(DIGITS) + 0.0).tolist() for name in wanted}

    def policy_by_move(self, root: Root) -> dict[str, float]:
        """The priors of the legal moves."""
        texts = (self.game.action_text(self.state, action) for action in root.actions.tolist())
        return {text: round(float(prior), 8) for text, prior in zip(texts, root.priors, strict=True)}


def _rounded(value: float) -> float:
    """The rounded value, without a sign at zero."""
    return round(value, DIGITS) + 0.0
