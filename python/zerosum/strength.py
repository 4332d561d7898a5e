"""How strong a run's checkpoints are, while it trains: rating games within a small share of the run, and an answer to "is it
learning?".

Each checkpoint meets random play, the pure MCTS anchors nearest to its strength, and the checkpoint before it. All results
of the run together give the ratings; random play is 0.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.arena import PairScore, Rating, fit_elo, play_match
from zerosum.checkpoint import checkpoint_path, load_checkpoint
from zerosum.config import RunConfig
from zerosum.errors import DataError
from zerosum.evaluator import Evaluator, make_evaluator
from zerosum.games import Rules
from zerosum.play.player import RANDOM, Contestant, rollouts
from zerosum.search import SearchConfig

GAMES_AT_ONCE = 32


@dataclass(frozen=True)
class RatingMatch:
    """One line of `strength.jsonl`: a checkpoint against an opponent."""

    step: int
    """The learner's step of the checkpoint."""
    opponent: str
    points: float
    """Of the checkpoint: 1 a win, half a draw, (result + 1) / 2 in general."""
    num_games: int
    evaluations: int
    """That networks made for it, on both sides."""
    seconds: float

    @property
    def player(self) -> str:
        """The checkpoint's name in the ratings."""
        return player_name(self.step)


def player_name(step: int) -> str:
    """A checkpoint's name in the ratings."""
    return f"step {step}"


class Strength:
    """The ratings of a run's checkpoints."""

    def __init__(self, directory: Path, game: Rules, config: RunConfig) -> None:
        """Read what was played so far."""
        self._path, self._directory = directory / "strength.jsonl", directory
        self._game, self._config = game, config
        self.matches = read_matches(self._path)
        self._ratings = self._fit()

    @property
    def ratings(self) -> dict[str, Rating]:
        """Of every player that has a result; random play is 0."""
        return self._ratings

    @property
    def newest(self) -> Rating | None:
        """Of the newest rated checkpoint."""
        return self._ratings.get(self.matches[-1].player) if self.matches else None

    def rate(self, step: int, evaluator: Evaluator, *, num_evaluations: int, elapsed_s: float) -> None:
        """Let the checkpoint of this step, which `evaluator` runs, play as many rating games as the budget has room for."""
        config = self._config.strength
        if any(match.step == step for match in self.matches):
            return
        room = config.budget_share * num_evaluations - sum(match.evaluations for match in self.matches)
        seconds = config.budget_share * elapsed_s - sum(match.seconds for match in self.matches)
        opponents = self._opponents(step)
        cost = self._evaluations_per_game()
        pairs = int(room / (2 * cost * len(opponents)))
        for opponent in opponents if seconds > 0 else []:
            if pairs > 0:
                num_games = 2 * min(pairs, GAMES_AT_ONCE // 2)
                self._play(step, evaluator, opponent, num_games=num_games)
        self._ratings = self._fit()

    def verdict(self) -> str:
        """A plain answer to "is it learning?", from the rating games."""
        steps = sorted({match.step for match in self.matches})
        if len(steps) < 2:
            return "too early to tell"
        last, before = player_name(steps[-1]), [player_name(step) for step in steps[:-1]]
        first = player_name(0) if player_name(0) in self._ratings else before[0]
        best = max(before, key=lambda name: self._ratings[name].elo)
        # Anchored at the player compared with, an error is that of the difference.
        lead, gain = self._fit(anchor=last)[best], self._fit(anchor=first)[last]
        if lead.elo > lead.error:
            return f"it did, but {best} is stronger by {lead.elo:.0f} ± {lead.error:.0f} Elo"
        if gain.elo > gain.error:
            return f"yes, {gain} Elo since {first}"
        return f"not visibly: {gain} Elo since {first}"

    def _opponents(self, step: int) -> list[Contestant]:
        """Random play while that tells something, the two rollout anchors around the strength so far, the checkpoint before."""
        counts = sorted(self._config.strength.rollout_simulations)
        beaten = [count for count in counts if self._is_beaten(f"rollouts@{count}")]
        nearest = len(beaten)
        anchors = counts[max(nearest - 1, 0) : nearest + 1]
        opponents = [rollouts(self._game, count, seed=self._config.training.seed + step) for count in anchors]
        if not self._is_beaten(RANDOM.name):
            opponents.insert(0, RANDOM)
        if (previous := self._previous(step)) is not None:
            opponents.append(previous)
        return opponents

    def _is_beaten(self, opponent: str) -> bool:
        """The newest checkpoint that met this opponent won nearly all games."""
        met = [match for match in self.matches if match.opponent == opponent]
        return bool(met) and met[-1].points >= 0.95 * met[-1].num_games

    def _previous(self, step: int) -> Contestant | None:
        """The rated checkpoint before this one; the untrained network before the first."""
        earlier = max((match.step for match in self.matches if match.step < step), default=0)
        path = checkpoint_path(self._directory / "checkpoints", earlier)
        if earlier == step or not path.exists():
            return None
        training = self._config.training
        evaluator = make_evaluator(
            load_checkpoint(path), backend=training.backend, device=training.device, batch_size=GAMES_AT_ONCE
        )
        return Contestant(player_name(earlier), evaluator, self._search())

    def _search(self) -> SearchConfig:
        config = self._config
        num_simulations = config.strength.num_simulations or config.search.num_simulations
        return replace(config.search, num_simulations=num_simulations)

    def _evaluations_per_game(self) -> float:
        """From the games so far, or an estimate of some length for the first ones."""
        games = sum(match.num_games for match in self.matches)
        if games:
            return max(sum(match.evaluations for match in self.matches) / games, 1.0)
        return self._search().num_simulations * min(self._game.spec.max_plies, 100) / 2

    def _play(self, step: int, evaluator: Evaluator, opponent: Contestant, *, num_games: int) -> None:
        started = time.monotonic()
        player = Contestant(player_name(step), evaluator, self._search())
        result = play_match(
            self._game,
            player,
            opponent,
            num_games=num_games,
            opening_plies=self._config.strength.opening_plies,
            seed=self._config.training.seed + step,
        )
        is_network = opponent.name.startswith("step ")
        # Two networks repeat a game wherever an opening comes again, which says nothing new.
        points = list({game.actions: (game.result + 1) / 2 for game in result.games}.values()) if is_network else result.points
        match = RatingMatch(
            step=step,
            opponent=opponent.name,
            points=sum(points),
            num_games=len(points),
            evaluations=result.evaluations[0] + (result.evaluations[1] if is_network else 0),
            seconds=time.monotonic() - started,
        )
        self.matches.append(match)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(match)) + "\n")

    def _fit(self, *, anchor: str = RANDOM.name) -> dict[str, Rating]:
        """Ratings of all that met. The first match was against random play, so all are connected."""
        scores = [PairScore(match.player, match.opponent, match.points, match.num_games) for match in self.matches]
        return fit_elo(scores, anchor=anchor) if scores else {}


def read_matches(path: Path) -> list[RatingMatch]:
    """The rating games of a run, without a line that was cut short.

    Raises:
        DataError: a line is damaged.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    matches = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            matches.append(RatingMatch(**json.loads(line)))
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}, line {number} is damaged ({error}): take the line out to go on.") from error
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return matches
