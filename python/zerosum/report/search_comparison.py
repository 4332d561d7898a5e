"""Tree search against alpha-beta search, both with the same evaluator: which of the two makes more of it.

The AlphaZero paper claims that Monte Carlo tree search averages the errors of a network away, where alpha-beta carries
the worst of them to the root. Here both search with the same network, at equal evaluations and at equal time, with more
of either, and with an error on each position's value that both see alike, a function of the position.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from zerosum.arena import MatchResult, play_match
from zerosum.base.errors import DataError, SettingsError
from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms
from zerosum.games import measure_game
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator
from zerosum.play.contestant import Contestant, ProgramContestant, SearchContestant
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.player import Player

FACTORS = (1, 3, 10, 30)
NOISES = (0.0, 0.1, 0.2, 0.4)
"""Standard deviations of the error on the expected result, which lies in [-1, 1]."""
NOISE_FACTOR = 3
"""Factor of the evaluations in matches with errors."""
OPENING_PLIES = 4
MOST_VALUE = 0.999
"""Bound of a value with an error, as the core has it."""
UNIFORM_SCALE = 0.6
"""c * P of a tree search whose evaluator has no policy, as that of rollouts (`contestant.rollouts`)."""
MOST_C_INIT = 100.0
"""The maximum of `search.c_init`."""


@dataclass(frozen=True)
class Condition:
    """A match of the comparison."""

    question: str
    """"evaluations", "time", "noise", or "tree" and "alpha-beta", a search with more against itself."""
    factor: int
    """Factor of the evaluations or the time."""
    noise: float = 0.0

    def words(self, evaluations: int, seconds: float) -> str:
        """The condition for people.

        >>> Condition("evaluations", 3).words(400, 0.1)
        'tree against alpha-beta, 1,200 evaluations a move'
        >>> Condition("tree", 10).words(400, 0.1)
        'tree, 4,000 against 400 evaluations a move'
        """
        if self.question == "time":
            return f"tree against alpha-beta, {self.factor * seconds:g} s a move"
        noise = f", error {self.noise:g}" if self.question == "noise" else ""
        if self.question in ("tree", "alpha-beta"):
            return f"{self.question}, {self.factor * evaluations:,} against {evaluations:,} evaluations a move"
        return f"tree against alpha-beta, {self.factor * evaluations:,} evaluations a move{noise}"


@dataclass(frozen=True)
class Measured:
    """The result of a match, for the player named first."""

    condition: Condition
    num_games: int
    num_distinct: int
    score: float
    """Mean points, in [0, 1]."""
    elo: float | None
    """None if all games ended alike."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference."""

    @classmethod
    def of(cls, condition: Condition, result: MatchResult) -> Measured:
        """The figures of a match."""
        numbers = result.statistics.numbers()
        elo, low, high = (numbers[name] for name in ("elo", "elo_low", "elo_high"))
        return cls(condition, len(result.games), result.num_distinct, result.score, elo, low, high)

    def text(self, evaluations: int, seconds: float) -> str:
        """A line for people."""
        interval = "" if self.low is None or self.high is None else f" (95 %: {self.low:+.0f} to {self.high:+.0f})"
        elo = "no difference to be told" if self.elo is None else f"{self.elo:+.0f} Elo{interval}"
        words = self.condition.words(evaluations, seconds)
        return f"{words}: {self.score:.1%} of {self.num_games} games ({self.num_distinct} different), {elo}"


class NoisyEvaluator(Evaluator):
    """An evaluator whose values are off by fixed amounts, as those of a `DeepeningSearch` with a disturbance."""

    def __init__(self, inner: Evaluator, deviation: float, *, seed: int) -> None:
        self._inner, self._deviation, self._seed = inner, deviation, seed

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """The inner evaluations, with errors on the values."""
        found = self._inner.evaluate(leaves)
        errors = self._deviation * leaves.disturbances(self._seed)
        values = np.clip(found.values + errors, -MOST_VALUE, MOST_VALUE).astype(np.float32)
        return Evaluations(leaves, found.logits, values)


def conditions(factors: Sequence[int], noises: Sequence[float]) -> Iterator[Condition]:
    """All matches of a comparison."""
    for question in ("evaluations", "time"):
        yield from (Condition(question, factor) for factor in factors)
    for question in ("tree", "alpha-beta"):
        yield from (Condition(question, factor) for factor in factors if factor > 1)
    yield from (Condition("noise", NOISE_FACTOR, noise) for noise in noises if noise > 0)


def compare_searches(
    player: Player,
    *,
    num_games: int,
    evaluations: int,
    seconds: float,
    factors: Sequence[int] = FACTORS,
    noises: Sequence[float] = NOISES,
    seed: int = 0,
    out: Path | None = None,
    write: Callable[[str], None] = print,
) -> list[Measured]:
    """Play all matches, or those that `out` does not have yet.

    Args:
        player: The player whose evaluator both searches have.
        num_games: Games of each match; each opening is played from both sides.
        evaluations: Evaluations of a move at factor 1.
        seconds: Seconds of a move at factor 1.
        factors: Factors of both.
        noises: Deviations of the errors, 0 to 1.
        seed: Key of openings and errors.
        out: A JSON file, which is written after each match and from which a stopped comparison continues.
        write: Gets a line for each match.

    Raises:
        SettingsError: a number is out of range.
        DataError: `out` is not such a file, or is of another comparison.
    """
    for noise in noises:
        if not 0 <= noise <= 1:
            raise SettingsError(f"an error of {noise:g}, expected 0 to 1: expected results lie between -1 and 1.")
    for factor in factors:
        if factor < 1:
            raise SettingsError(f"a factor of {factor}, expected at least 1.")
    about: dict[str, object] = {
        "game": player.game.spec.full_name,
        "player": player.own_name,
        "step": player.step,
        "games": num_games,
        "evaluations": evaluations,
        "seconds": seconds,
        "seed": seed,
    }
    known = _read(out, about) if out is not None and out.exists() else {}
    found = list[Measured]()
    for condition in conditions(factors, noises):
        if condition in known:
            measured = known[condition]
        else:
            first, second = _contestants(player, condition, evaluations=evaluations, seconds=seconds, seed=seed)
            result = play_match(player.game, first, second, num_games=num_games, opening_plies=OPENING_PLIES, seed=seed)
            measured = Measured.of(condition, result)
        found.append(measured)
        write(measured.text(evaluations, seconds))
        if out is not None:
            rows = [asdict(row) for row in [*found, *(row for one, row in known.items() if one not in _of(found))]]
            replace_durably(out, json.dumps({**about, "matches": rows}, indent=1))
    return found


def _of(found: Sequence[Measured]) -> set[Condition]:
    return {measured.condition for measured in found}


def _read(path: Path, about: dict[str, object]) -> dict[Condition, Measured]:
    try:
        values = json.loads(read_text(path, most_bytes=MOST_NOTE_BYTES))
        rows = values.pop("matches")
        measured = [Measured(**{**row, "condition": Condition(**row["condition"])}) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a comparison of searches ({error}): name another file.") from error
    if different := sorted(name for name, value in about.items() if values.get(name) != value):
        raise DataError(
            f"{path} has another comparison ({', '.join(different)} differ): name another file, or repeat its command."
        )
    return {row.condition: row for row in measured}


def _contestants(
    player: Player, condition: Condition, *, evaluations: int, seconds: float, seed: int
) -> tuple[Contestant, Contestant]:
    many, few = condition.factor * evaluations, evaluations
    if condition.question == "tree":
        return _tree(player, Terms(nodes=many), 0.0, seed), _tree(player, Terms(nodes=few), 0.0, seed)
    if condition.question == "alpha-beta":
        return _alpha_beta(player, Terms(nodes=many), 0.0, seed), _alpha_beta(player, Terms(nodes=few), 0.0, seed)
    terms = Terms(nodes=many)
    if condition.question == "time":
        terms = Terms(TimeControl.parse(f"st={condition.factor * seconds:g}"))
    return _tree(player, terms, condition.noise, seed), _alpha_beta(player, terms, condition.noise, seed)


def _tree(player: Player, terms: Terms, noise: float, seed: int) -> SearchContestant:
    """A tree search. Its evaluator is always wrapped: one with an updatable network would be searched by alpha-beta."""
    search = replace(player.config, proof_nodes=0)
    if player.is_alpha_beta:  # it has no policy
        c_init = min(UNIFORM_SCALE * measure_game(player.game).legal_actions, MOST_C_INIT)
        search = replace(search, c_init=c_init, c_factor=0.0, unvisited_value="parent", unvisited_reduction=0.0)
    evaluator = NoisyEvaluator(player.evaluator, noise, seed=seed)
    return SearchContestant(f"tree ({terms})", evaluator, search, terms)


def _alpha_beta(player: Player, terms: Terms, noise: float, seed: int) -> ProgramContestant:
    program = DeepeningProgram(player.own_name, player.evaluator, player.game, disturbance=noise, seed=seed)
    return ProgramContestant(f"alpha-beta ({terms})", program, terms)
