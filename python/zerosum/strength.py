"""How strong a run's checkpoints are while it trains: rating games in a small share of the run, and "is it learning?".

Each checkpoint meets random play, the anchors (pure MCTS with rollouts) nearest to its strength, and the checkpoint
before it. All results of the run together give the ratings; random play is 0.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.arena import play_match
from zerosum.checkpoint import checkpoint_path, load_checkpoint
from zerosum.config import RunConfig
from zerosum.elo import PairScore, Rating, fit_elo, is_stronger
from zerosum.errors import DataError
from zerosum.evaluator import Evaluator, make_evaluator
from zerosum.games import Rules
from zerosum.play.player import RANDOM, Contestant, rollouts
from zerosum.search import SearchConfig

GAMES_AT_ONCE = 32
LINK_GAMES = 96


@dataclass(frozen=True)
class RatingMatch:
    """One line of `strength.jsonl`."""

    player: str
    """A checkpoint, as `player_name` has it, or an anchor."""
    opponent: str
    points: float
    """Of the player: 1 a win, half a draw, (result + 1) / 2 in general."""
    num_games: int
    evaluations: int
    """That networks made for it, on both sides."""
    seconds: float


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
    def rated_steps(self) -> list[int]:
        """The checkpoints that played rating games, ascending."""
        names = {match.player for match in self.matches if match.player.startswith("step ")}
        return sorted(int(name.removeprefix("step ")) for name in names)

    @property
    def newest(self) -> Rating | None:
        """Of the newest rated checkpoint."""
        steps = self.rated_steps
        return self._ratings[player_name(steps[-1])] if steps else None

    def rate(self, step: int, evaluator: Evaluator, *, num_evaluations: int, elapsed_s: float) -> None:
        """Let the checkpoint of this step, which `evaluator` runs, play as many rating games as its budget allows.

        The budget is a share of the run's evaluations so far, less what rating has used already; twice that share of
        its time, where rollouts are slow.
        """
        share = self._config.strength.budget_share
        if step in self.rated_steps or 2 * share * elapsed_s <= sum(match.seconds for match in self.matches):
            return
        opponents = self._opponents(step)
        room = share * num_evaluations - sum(match.evaluations for match in self.matches)
        num_pairs = int(room / (2 * self._evaluations_per_game() * len(opponents)))
        player = Contestant(player_name(step), evaluator, self._search())
        for opponent in opponents if num_pairs > 0 else []:
            if 2 * share * elapsed_s > sum(match.seconds for match in self.matches):
                self._play(player, opponent, num_games=2 * min(num_pairs, GAMES_AT_ONCE // 2))
        self._ratings = self._fit()

    def verdict(self) -> str:
        """A plain answer to "is it learning?", from the rating games."""
        steps = self.rated_steps
        if len(steps) < 2:
            return "too early to tell"
        last, before = player_name(steps[-1]), [player_name(step) for step in steps[:-1]]
        first = player_name(0) if player_name(0) in self._ratings else before[0]
        best = max(before, key=lambda name: self._ratings[name].elo)
        scores = self._scores()
        if is_stronger(scores, best, last):
            lead = self._ratings[best].elo - self._ratings[last].elo
            return f"it did, but {best} is stronger by {lead:.0f} Elo"
        gain = self._ratings[last].elo - self._ratings[first].elo
        return f"{'yes' if is_stronger(scores, last, first) else 'not visibly'}, {gain:+.0f} Elo since {first}"

    def _opponents(self, step: int) -> list[Contestant]:
        """Who would tell most, first: the weakest anchor that is not beaten yet, the checkpoint before, random play."""
        counts = sorted(self._config.strength.rollout_simulations)
        unbeaten = [count for count in counts if not self._is_beaten(f"rollouts@{count}")]
        opponents = [self._anchor(count) for count in unbeaten[:1] or counts[-1:]]
        if (previous := self._previous(step)) is not None:
            opponents.append(previous)
        return opponents if self._is_beaten(RANDOM.name) else [*opponents, RANDOM]

    def _is_beaten(self, opponent: str) -> bool:
        """The newest checkpoint that met this opponent won nearly all games."""
        met = [match for match in self.matches if match.opponent == opponent and match.player.startswith("step ")]
        return bool(met) and met[-1].points >= 0.95 * met[-1].num_games

    def _anchor(self, count: int) -> Contestant:
        """Pure MCTS with so many simulations, which has met the next weaker anchor: that ties the ratings together."""
        # Rollouts draw on with every call: each match has its own stream.
        anchor = rollouts(self._game, count, seed=self._config.training.seed + len(self.matches))
        if all(match.player != anchor.name for match in self.matches):
            weaker = [other for other in self._config.strength.rollout_simulations if other < count]
            self._play(anchor, self._anchor(max(weaker)) if weaker else RANDOM, num_games=LINK_GAMES)
        return anchor

    def _previous(self, step: int) -> Contestant | None:
        """The rated checkpoint before this one; the untrained network before the first."""
        earlier = max((rated for rated in self.rated_steps if rated < step), default=0)
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
        return replace(
            config.search,
            num_simulations=config.strength.num_simulations or config.search.num_simulations,
            root_noise_fraction=0.0,
        )

    def _evaluations_per_game(self) -> float:
        """Of networks, from the games so far; an estimate of some length for the first ones."""
        met = [match for match in self.matches if match.evaluations]
        if met:
            return sum(match.evaluations for match in met) / sum(match.num_games for match in met)
        return self._search().num_simulations * min(self._game.spec.max_plies, 100) / 2

    def _play(self, player: Contestant, opponent: Contestant, *, num_games: int) -> None:
        started = time.monotonic()
        result = play_match(
            self._game,
            player,
            opponent,
            num_games=num_games,
            opening_plies=self._config.strength.opening_plies,
            seed=self._config.training.seed + len(self.matches),
            max_games_at_once=GAMES_AT_ONCE,
        )
        are_networks = [contestant.name.startswith("step ") for contestant in (player, opponent)]
        points = result.points
        if all(are_networks):
            # Two networks repeat a game wherever an opening comes again, which says nothing new.
            points = list({game.actions: (game.result + 1) / 2 for game in result.games}.values())
        match = RatingMatch(
            player=player.name,
            opponent=opponent.name,
            points=sum(points),
            num_games=len(points),
            evaluations=sum(
                count for count, is_network in zip(result.evaluations, are_networks, strict=True) if is_network
            ),
            seconds=time.monotonic() - started,
        )
        self.matches.append(match)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(match)) + "\n")

    def _scores(self) -> list[PairScore]:
        return [PairScore(match.player, match.opponent, match.points, match.num_games) for match in self.matches]

    def _fit(self) -> dict[str, Rating]:
        """Ratings of all that met. Every anchor is linked to random play, so all are connected."""
        return fit_elo(self._scores(), anchor=RANDOM.name) if self.matches else {}


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
