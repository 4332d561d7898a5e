"""Blind spots: solved positions in which a network alone errs, and what its search makes of them.

A small game is solved here, position by position. The bundled solved positions stand for a larger one.
`probe_blind_spots` measures, `BlindSpots.text` is for people.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, State, state_after
from zerosum.games.playthrough import Playthrough
from zerosum.play.player import Player
from zerosum.replay.records import GameRecord
from zerosum.report.run_data import read_run
from zerosum.run.solved import SolvedSet, best_actions, solved_games, solved_sets

MOST_POSITIONS = 200_000
"""Positions of a game that is solved here; it takes some ten seconds."""
MOST_SEARCHED = 500
"""Positions of a sample that is searched."""
SIMULATIONS = (1, 10, 100, 800)
BATCH = 256


@dataclass(frozen=True)
class ExactPosition:
    """A position that is not over, and the result of each legal action for the player to move, in [-1, 1]."""

    state: State
    results: dict[int, float]

    @property
    def value(self) -> float:
        """The result of the best play, for the player to move."""
        return max(self.results.values())

    @property
    def best(self) -> list[int]:
        """The moves that keep it."""
        return [action for action, result in self.results.items() if result == self.value]

    @property
    def is_critical(self) -> bool:
        """Whether a move can lose something."""
        return len(self.best) < len(self.results)


@dataclass(frozen=True)
class BlindSpot:
    """A position in which the network's favourite move loses something."""

    board: str
    position: str
    """The position as text, which `zerosum.games.start_state` reads; "" if the game writes none."""
    favourite: str
    prior: float
    """The network's probability of its favourite, in [0, 1]."""
    best: tuple[str, ...]
    exact: float
    """Results for the player to move, in [-1, 1]: with best play, after the favourite, and as the network says."""
    after_favourite: float
    value: float
    repaired_at: int | None
    """The least number of simulations from which on the search finds a best move; None if the largest does not."""
    visits: int | None
    """Positions of the run's games that are this one; None without games."""

    @property
    def sentence(self) -> str:
        """What the network plays and says, what is exact, and what the search makes of it."""
        words = {1.0: "wins", 0.0: "draws", -1.0: "loses"}
        exact, after = (words.get(value, f"has {value:+.2f}") for value in (self.exact, self.after_favourite))
        said = (
            f"The network plays {self.favourite} ({self.prior:.0%}), which {after}; {' '.join(self.best)} {exact}."
            f" It says {self.value:+.2f}."
        )
        if self.repaired_at is None:
            repaired = "The search does not find it."
        else:
            repaired = f"The search finds it with {self.repaired_at} simulations."
        seen = "" if self.visits is None else f" Its games met the position {self.visits} times."
        return f"{said} {repaired}{seen}"

    def text(self) -> str:
        """The board and a sentence."""
        return f"{self.board}\n{self.sentence}"


@dataclass(frozen=True)
class Share:
    """A share of positions."""

    right: int
    of: int

    def __str__(self) -> str:
        return f"{self.right / self.of:7.2%} of {self.of:,}" if self.of else "no position"


@dataclass(frozen=True)
class BlindSpots:
    """What a network and its search know of solved positions."""

    game: str
    by: str
    num_positions: int
    is_whole: bool
    """Whether these are all positions of the game with a move to make."""
    by_chance: float
    """The share of random moves that keep the best result, where a move can lose something."""
    network: Share
    """Positions in which the favourite of the network alone keeps the best result, of those where a move can lose."""
    searched: dict[int, Share]
    """The same for the search, by its number of simulations, in a sample of these."""
    signs: Share
    """Decided positions whose value has the right sign."""
    value_error: float
    """The mean distance of the network's value from the exact one."""
    met: Share | None
    """`network` in the positions that the run's games met, and in the others; None without games."""
    not_met: Share | None
    worst: tuple[BlindSpot, ...]

    def figures(self) -> str:
        """The figures, for people."""
        kind = "all" if self.is_whole else "a sample of"
        rows = [("random play", f"{self.by_chance:7.2%}"), ("network alone", str(self.network))]
        rows += [(f"search, {number:,} simulations", str(share)) for number, share in self.searched.items()]
        if self.met is not None and self.not_met is not None:
            rows += [("network, where its games were", str(self.met)), ("network, elsewhere", str(self.not_met))]
        width = max(len(name) for name, _ in rows)
        lines = (
            f"{self.by}: {self.game}, {kind} {self.num_positions:,} solved positions. The best result is kept, where a"
            " move can lose it:",
            *(f"  {name:<{width}}  {share}" for name, share in rows),
            f"The value has the right sign in {str(self.signs).strip()} decided positions; its mean error is"
            f" {self.value_error:.3f}.",
        )
        return "\n".join(lines)

    def text(self) -> str:
        """The figures and the worst blind spots, for people."""
        if not self.worst:
            return self.figures()
        return "\n".join([self.figures(), "", "The worst blind spots:", *(f"\n{spot.text()}" for spot in self.worst)])

    def numbers(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return asdict(self)


def probe_blind_spots(
    player: Player,
    records: Iterable[GameRecord] | None = None,
    *,
    positions: Sequence[ExactPosition] = (),
    simulations: Sequence[int] = SIMULATIONS,
    num_worst: int = 5,
    seed: int = 0,
) -> BlindSpots:
    """Compare a player's network, alone and with its search, with the exact results.

    Args:
        player: The player; its evaluator and search settings are used, without noise and without tables.
        records: The games of its run, if there are any.
        positions: Positions with exact results; those of the whole game, or the bundled ones, if there are none.
        simulations: Numbers of simulations, ascending.
        num_worst: Blind spots to describe: those whose favourite loses most, then those of which it is surest.
        seed: Key of the sample that is searched.

    Raises:
        SettingsError: the game is too large to be solved here and has no solved positions, or a number is out of range.
    """
    if not simulations or list(simulations) != sorted(set(simulations)) or simulations[0] < 1:
        raise SettingsError(f"simulations are {list(simulations)}, expected ascending numbers from 1.")
    game = player.game
    positions, is_whole = (positions, False) if positions else _exact_positions(game)
    favourites, priors, values = network_answers(player, [position.state for position in positions])
    critical = [number for number, position in enumerate(positions) if position.is_critical]
    right = {number for number in critical if favourites[number] in positions[number].best}
    visits = None if records is None else _visits(game, records)
    sample = critical if len(critical) <= MOST_SEARCHED else sorted(random.Random(seed).sample(critical, MOST_SEARCHED))
    wrong = sorted(
        (number for number in critical if number not in right),
        key=lambda number: (
            positions[number].results[favourites[number]] - positions[number].value,
            -priors[number],
            number,
        ),
    )[:num_worst]
    found = _searched(player, positions, sorted({*sample, *wrong}), simulations)
    decided = [number for number, position in enumerate(positions) if position.value]
    signs = sum(values[number] * positions[number].value > 0 for number in decided)
    of_chance = [len(positions[number].best) / len(positions[number].results) for number in critical]
    met = None if visits is None else [number for number in critical if visits[_key(game, positions[number].state)]]
    return BlindSpots(
        game=game.spec.full_name,
        by=player.own_name,
        num_positions=len(positions),
        is_whole=is_whole,
        by_chance=float(np.mean(of_chance)) if of_chance else 1.0,
        network=Share(len(right), len(critical)),
        searched={each: Share(sum(number in found[each] for number in sample), len(sample)) for each in simulations},
        signs=Share(int(signs), len(decided)),
        value_error=float(np.mean([abs(value - one.value) for value, one in zip(values, positions, strict=True)])),
        met=None if met is None else Share(len(right & set(met)), len(met)),
        not_met=None if met is None else Share(len(right - set(met)), len(critical) - len(met)),
        worst=tuple(
            _spot(game, positions[number], favourites[number], priors[number], values[number], number, found, visits)
            for number in wrong
        ),
    )


def _spot(
    game: Rules,
    position: ExactPosition,
    favourite: int,
    prior: float,
    value: float,
    number: int,
    found: dict[int, set[int]],
    visits: Counter[str] | None,
) -> BlindSpot:
    repaired = None
    for each in sorted(found, reverse=True):
        if number not in found[each]:
            break
        repaired = each
    return BlindSpot(
        board=game.draw(position.state),
        position=game.position_text(position.state) or "",
        favourite=game.action_text(position.state, favourite),
        prior=prior,
        best=tuple(game.action_text(position.state, action) for action in position.best),
        exact=position.value,
        after_favourite=position.results[favourite],
        value=value,
        repaired_at=repaired,
        visits=None if visits is None else visits[_key(game, position.state)],
    )


def _exact_positions(game: Rules) -> tuple[Sequence[ExactPosition], bool]:
    """Solved positions, each once, and whether they are all of the game."""
    try:
        return solve(game), True
    except _TooLargeError:
        solved = exact_positions(game, solved_sets(game))
    if not solved:
        raise SettingsError(
            f"{game.spec.full_name} has more than {MOST_POSITIONS:,} positions, too many to solve it here, and no"
            f" solved positions: probe a smaller game, or {', '.join(solved_games())}; chess with --syzygy or --table."
        )
    return solved, False


def exact_positions(game: Rules, sets: Iterable[SolvedSet]) -> list[ExactPosition]:
    """The positions of solved sets."""
    return [
        ExactPosition(state, dict(zip(game.legal_actions(state), map(float, position.results), strict=True)))
        for each in sets
        for position in each.positions
        for state in [state_after(game, position.moves, position=position.start)]
    ]


def records_of(path: Path) -> list[GameRecord] | None:
    """The games of a run's directory, evenly spread over a large run; None without games."""
    if not (path / "config.toml").is_file() or not (path / "games").is_dir():
        return None
    return list(read_run(path).games()) or None


class _TooLargeError(Exception):
    """A game has too many positions."""


def solve(game: Rules, *, most: int = MOST_POSITIONS) -> list[ExactPosition]:
    """All positions of a small game that are not over, with their exact results, by looking at all lines of play.

    Positions that differ by their history alone and have the same results count once.

    >>> from zerosum.games import make
    >>> len(solve(make("tictactoe")))
    4520
    """
    values: dict[State, float] = {}
    found: dict[tuple[str, tuple[float, ...]], ExactPosition] = {}

    def value(state: State) -> float:
        """The result for the first player."""
        if (known := values.get(state)) is not None:
            return known
        if len(values) >= most:
            raise _TooLargeError
        outcome = game.outcome(state)
        if outcome is None:
            sign = 1 if game.player(state) == 0 else -1
            results = {action: sign * value(game.play(state, action)) for action in game.legal_actions(state)}
            position = ExactPosition(state, results)
            found.setdefault((_key(game, state), tuple(results.values())), position)
            outcome = sign * position.value
        values[state] = outcome
        return outcome

    try:
        for number in range(game.num_starts):
            value(game.start(number))
    except RecursionError:
        raise _TooLargeError from None
    return list(found.values())


def _key(game: Rules, state: State) -> str:
    """A position without its history."""
    return game.position_text(state) or f"{game.draw(state)} {game.player(state)}"


def network_answers(player: Player, states: Sequence[State]) -> tuple[list[int], list[float], list[float]]:
    """For each position the network's favourite, its probability, and the value for the player to move."""
    favourites, priors, values = list[int](), list[float](), list[float]()
    for first in range(0, len(states), BATCH):
        leaves = player.game.encode(list(states[first : first + BATCH]))
        said = player.evaluator.evaluate(leaves)
        values += said.values.tolist()
        for start, end in zip(leaves.legal_offsets[:-1], leaves.legal_offsets[1:], strict=True):
            logits = said.logits[start:end].astype(np.float64)
            best = int(logits.argmax())
            favourites.append(int(leaves.legal_actions[start + best]))
            priors.append(float(1 / np.exp(logits - logits[best]).sum()))
    return favourites, priors, values


def _searched(
    player: Player, positions: Sequence[ExactPosition], numbers: Sequence[int], simulations: Sequence[int]
) -> dict[int, set[int]]:
    """Positions in which the search keeps the best result, by the number of simulations."""
    found = {}
    for each in simulations:
        config = replace(player.config, num_simulations=each, syzygy_path="", table_files="")
        searcher = player.judged_by(player.evaluator, config)
        actions = best_actions(searcher, [positions[number].state for number in numbers])[0] if numbers else []
        chosen = zip(numbers, actions, strict=True)
        found[each] = {number for number, action in chosen if action in positions[number].best}
    return found


def _visits(game: Rules, records: Iterable[GameRecord]) -> Counter[str]:
    """How often the games of a run met each position."""
    visits: Counter[str] = Counter()
    for record in records:
        so_far = Playthrough.of(game, record.start, record.plies["action"].tolist())
        visits.update(_key(game, state) for state in so_far.states[:-1])
    return visits
