"""Rating games of a run's checkpoints while it trains, in a small share of the run, and "is it learning?".

A checkpoint meets, as far as the budget goes: the weakest anchor (pure MCTS with rollouts) that is not beaten yet, the
rated checkpoint before it, the first network until one is stronger, and random play until it is beaten. All results
of the run together give the ratings; random play is 0.
"""

from __future__ import annotations

import functools
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.base.errors import DataError, RunError
from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.contest.elo import NORMAL_95, Rating
from zerosum.contest.ratings import PairScore, connected, fit_ratings
from zerosum.games import Rules, measure_game
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import checkpoint_path
from zerosum.network.evaluators import Evaluator
from zerosum.play.contestant import RANDOM
from zerosum.run.config import RunConfig
from zerosum.run.rating_games import (
    GAMES_AT_ONCE,
    ROLLOUTS,
    PlaysRatingGames,
    RatingPlayer,
    play_rating_games,
    rating_search,
    rating_setup,
)

LINK_GAMES = 96
"""Games of an anchor against the next weaker one, which tie the ratings together."""
REFERENCE_GAMES = 32
"""Games of the first network, the reference for what was learned."""
CHUNK = 8
"""Games of a link between two looks at the time."""
LEVEL_CHECKPOINTS = 4
"""Checkpoints without a difference that are called level."""
EARLY_SHARE = 0.75
"""Share of the budget that is used before the last checkpoint."""
REFERENCE_SHARE = 0.5
"""Share of that time for games of anchors with one another and of the first network."""
FINAL_GAMES = 100
"""Maximum number of games of the last checkpoint against one anchor."""
BEATEN_SHARE = 0.95
"""Share of the points from which an opponent counts as beaten."""

_NAME = re.compile(r"random|rollouts@[1-9]\d*|step \d+")


@dataclass(frozen=True)
class RatingMatch:
    """One line of `strength.jsonl`."""

    player: str
    """A checkpoint (`player_name`) or an anchor."""
    opponent: str
    points: float
    """Points of the player: 1 a win, half a draw, (result + 1) / 2 in general."""
    num_games: int
    evaluations: int
    """Positions that networks evaluated for it, on both sides."""
    seconds: float


def _is_beyond_chance(points: float, games: int) -> bool:
    """Whether equal players make so many points more than half in less than 5 % of such matches."""
    return points - games / 2 > NORMAL_95 * math.sqrt(games) / 2


def player_name(step: int) -> str:
    """A checkpoint's name in the ratings."""
    return f"step {step}"


class Strength:
    """The ratings of a run's checkpoints."""

    def __init__(
        self,
        directory: Path,
        game: Rules | None,
        config: RunConfig,
        *,
        report: Callable[[str], None] | None = None,
        num_matches: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        play: PlaysRatingGames | None = None,
    ) -> None:
        """Read what was played so far. Reading alone needs no game.

        With `report`, damaged lines are removed from the file, and `report` gets a sentence about them. Without it,
        nothing is written, and damaged lines are skipped.

        With `num_matches`, only so many matches count. The other matches of the file are replayed: each is taken from
        the file when its turn comes.

        `clock` counts the seconds of rating games, as the run's budget counts them. `play` plays them, on other
        machines for instance; by default this process does.

        Raises:
            RunError: the directory cannot be written.
        """
        self._clock, self._play_games = clock, play
        self._path, self._directory = directory / "strength.jsonl", directory
        self._rules, self._config, self._report = game, config, report
        found = read_lines(self._path, _parse_match)
        if report is not None:
            repair_lines(self._path, found, report=report)
        self.matches, self._recorded = found.entries[:num_matches], found.entries[len(found.entries[:num_matches]) :]
        self._lock = threading.Lock()  # games may be played on another thread than the one that asks for the verdict
        self._verdict = ""
        self._fit()

    @property
    def _game(self) -> Rules:
        assert self._rules is not None, "playing needs a game"
        return self._rules

    @property
    def ratings(self) -> dict[str, Rating]:
        """Ratings of all players that a chain of results connects with random play, which is 0."""
        return self._ratings

    @property
    def rated_steps(self) -> list[int]:
        """The checkpoints that have a rating, ascending."""
        return sorted(int(name.removeprefix("step ")) for name in self._ratings if name.startswith("step "))

    @property
    def newest(self) -> Rating | None:
        """Rating of the newest rated checkpoint."""
        steps = self.rated_steps
        return self._ratings[player_name(steps[-1])] if steps else None

    def rate(self, step: int, evaluator: Evaluator | None, *, num_evaluations: int, elapsed_s: float) -> None:
        """Let the checkpoint of this step play as many rating games as its budget allows.

        `evaluator` runs its network here; None reads it from the checkpoint.

        The budget is a share of the run's evaluations so far, less what rating has used already; twice that share of
        its time, where rollouts are slow. `EARLY_SHARE` of it is for this, the rest for `rate_last`.

        Raises:
            RunError: the directory cannot be written.
        """
        if any(match.player == player_name(step) for match in self.matches):
            return
        share = self._config.strength.budget_share * EARLY_SHARE
        most_evaluations, until_s = share * num_evaluations, 2 * share * elapsed_s
        if step > 0:
            self._rate_first(most_evaluations / 2, until_s)
        names = self._opponents(step)
        num_pairs = int(self._num_games(most_evaluations) / (2 * len(names)))
        player = self._player(step, evaluator) if num_pairs > 0 and self._has_time(until_s) else None
        if player is not None:
            for name in names:
                opponent = self._opponent(name, until_s) if self._has_time(until_s) else None
                if opponent is not None and self._has_time(until_s):
                    self._play(player, opponent, num_games=2 * min(num_pairs, GAMES_AT_ONCE // 2))
        self._fit()

    def rate_last(self, step: int, evaluator: Evaluator | None, *, num_evaluations: float, seconds: float) -> None:
        """Let the last checkpoint of a run play rating games, also if it was rated already.

        It meets the opponents of `rate` in a few games each, then the weakest anchor that it has not beaten, up to
        `FINAL_GAMES` games. Its first games are played whatever was used before: a run's end says how strong its last
        network is.

        Args:
            step: The checkpoint's.
            evaluator: Runs its network here; None reads it from the checkpoint.
            num_evaluations: Evaluations of the run so far; infinite if only time counts. All rating games take
                `strength.budget_share` of them at most, or the first games of this checkpoint.
            seconds: For these games; infinite if only evaluations count.

        Raises:
            RunError: the directory cannot be written.
        """
        share = self._config.strength.budget_share
        if share == 0:
            return
        # What `rate` leaves is there even if a match of its went beyond its part.
        budget, used = share * num_evaluations, self._evaluations_used()
        most_evaluations = max(budget, used + (1 - EARLY_SHARE) * budget)
        used_s = self._seconds_used()
        until_s = used_s + seconds
        player = self._player(step, evaluator)
        if player is None:
            return

        def meet(name: str, num_games: int) -> None:
            opponent = self._opponent(name, used_s + REFERENCE_SHARE * seconds)
            if opponent is not None:
                self._play(player, opponent, num_games=num_games)

        first, *others = self._opponents(step)
        meet(first, CHUNK)
        for name in others:
            if self._num_games(most_evaluations) >= CHUNK and self._has_time(until_s):
                meet(name, CHUNK)
        while self._num_games(most_evaluations) >= CHUNK and self._has_time(until_s):
            name, num_games = self._next_anchor(step, until_s)
            if num_games == 0:
                break
            meet(name, num_games)
        self._fit()

    def _next_anchor(self, step: int, until_s: float) -> tuple[str, int]:
        """The anchor that the last checkpoint meets next, and in how many games; 0 if it met enough of them.

        It is the weakest that the checkpoint has not beaten, or the strongest for which there is time.
        """
        met, chosen = self._points(player_name(step)), 0
        for count in sorted(self._config.strength.rollout_simulations):
            points, games = met.get(f"rollouts@{count}", (0.0, 0))
            if chosen and games == 0 and not self._fits(step, count, until_s):
                break
            chosen = count
            if games < CHUNK or points < BEATEN_SHARE * games:
                break
        _, games = met.get(f"rollouts@{chosen}", (0.0, 0))
        return f"rollouts@{chosen}", min(
            CHUNK if games < 2 * CHUNK else GAMES_AT_ONCE // 2, max(FINAL_GAMES - games, 0)
        )

    def _fits(self, step: int, count: int, until_s: float) -> bool:
        """Whether games against an anchor that nobody met yet, and its link to a weaker one, are over in time.

        Their time is estimated from the strongest anchor that has met a weaker one: it grows with its simulations.
        """
        links = {int(match.player.partition("@")[2]): match for match in self.matches if match.player[:1] == "r"}
        known, own = max(links, default=0), [match for match in self.matches if match.player == player_name(step)]
        if math.isinf(until_s) or not known or not own:
            return True
        rollouts_s = links[known].seconds / links[known].num_games * count / known
        own_s = sum(match.seconds for match in own) / sum(match.num_games for match in own)
        return self._seconds_used() + CHUNK * (2 * rollouts_s + own_s) <= until_s

    def summary(self, step: int) -> str:
        """How a checkpoint fared, in a person's words, such as "beats rollouts@100: 87 of 100 points".

        The opponent is the strongest anchor that it beats by more than chance, else the strongest that it has more than
        half of the points against, else the weakest that it met. "" if it met none.
        """
        met = self._points(player_name(step))
        strength_of = {name: int(name.partition("@")[2] or 0) for name in met if not name.startswith("step ")}
        ahead = [name for name in strength_of if met[name][0] > met[name][1] / 2]
        beaten = [name for name in ahead if _is_beyond_chance(*met[name])]
        if not strength_of:
            return ""
        choose = max if ahead else min
        name = choose(beaten or ahead or strength_of, key=strength_of.__getitem__)
        points, games = met[name]
        if ahead:
            verb = "beats" if beaten else "has no clear lead over"
        else:
            verb = "draws level with" if 2 * points == games else "does not beat"
        return f"{verb} {name}: {points:g} of {games} points"

    def _points(self, player: str) -> dict[str, tuple[float, int]]:
        """A player's points and games against each opponent that it met."""
        results: dict[str, tuple[float, int]] = {}
        for match in self.matches:
            if match.player == player:
                points, games = results.get(match.opponent, (0.0, 0))
                results[match.opponent] = points + match.points, games + match.num_games
        return results

    def verdict(self) -> str:
        """A plain answer to "is it learning?", from the rating games; a number only where they tell a difference."""
        with self._lock:
            if not self._verdict:
                self._verdict = self._judge()
            return self._verdict

    def _judge(self) -> str:
        steps = self.rated_steps
        if len(steps) < 2:
            return "too early to tell"
        last, first = player_name(steps[-1]), player_name(steps[0])
        best = max((player_name(step) for step in steps[:-1]), key=lambda name: self._ratings[name].elo)
        if self._fitted.is_stronger(best, last):
            lead = f"{best} is stronger by {self._ratings[best].elo - self._ratings[last].elo:.0f} Elo"
            return f"it did, but {lead}" if self._fitted.is_stronger(best, first) else f"not now, {lead}"
        if self._fitted.is_stronger(last, first):
            gain = self._ratings[last].elo - self._ratings[first].elo
            return f"yes, {gain:+.0f} Elo since {first}"
        if level := self._level_since(steps):
            return f"level since {level}, stronger than every anchor it met"
        return f"too few games to tell: {last} has {self._known(last) or 'none of its own'}"

    def _level_since(self, steps: list[int]) -> str:
        """The first of the last checkpoints without a difference, if they are many and the last one is strong.

        A strong checkpoint is stronger than random play and than each anchor that has a rating.
        """
        last = player_name(steps[-1])
        others = [name for name in self._ratings if not name.startswith("step ")]
        if len(steps) < LEVEL_CHECKPOINTS or not all(self._fitted.is_stronger(last, name) for name in others):
            return ""
        level = [last]
        for name in (player_name(step) for step in reversed(steps[:-1])):
            if self._fitted.is_stronger(last, name) or self._fitted.is_stronger(name, last):
                break
            level.append(name)
        return level[-1] if len(level) >= LEVEL_CHECKPOINTS else ""

    def _known(self, player: str) -> str:
        """A player's results, in words."""
        results = self._points(player).items()
        return ", ".join(f"{points:g} of {games} points against {name}" for name, (points, games) in results)

    def _opponents(self, step: int) -> list[str]:
        """Opponents, the most informative first: the weakest anchor not beaten yet, the checkpoint before, ..."""
        counts = sorted(self._config.strength.rollout_simulations)
        unbeaten = [count for count in counts if not self._is_beaten(f"rollouts@{count}")]
        names = [f"rollouts@{count}" for count in unbeaten[:1] or counts[-1:]]
        earlier = [rated for rated in self.rated_steps if rated < step]
        names += [
            player_name(before) for before in [max(earlier, default=0)] if self._is_there(before) and before < step
        ]
        reference = player_name(0)
        if reference in self._ratings and reference not in names and step > 0 and self._is_there(0):
            names += [] if self._fitted.is_stronger(player_name(max(earlier)), reference) else [reference]
        return names if self._is_beaten(RANDOM.name) else [*names, RANDOM.name]

    def _is_beaten(self, opponent: str) -> bool:
        """The newest checkpoint that met this opponent won nearly all games."""
        met = [match for match in self.matches if match.opponent == opponent and match.player.startswith("step ")]
        return bool(met) and met[-1].points >= BEATEN_SHARE * met[-1].num_games

    def _is_there(self, step: int) -> bool:
        return checkpoint_path(self._directory / "checkpoints", step).exists()

    def _opponent(self, name: str, until_s: float) -> RatingPlayer | None:
        """The player of this name; None if it is a checkpoint that is damaged."""
        if name == RANDOM.name:
            return RatingPlayer(name)
        kind, number = re.split("[ @]", name)
        return self._anchor(int(number), until_s) if kind == "rollouts" else self._player(int(number))

    def _anchor(self, count: int, until_s: float) -> RatingPlayer:
        """Pure MCTS with `count` simulations. Its games against the next weaker anchor tie the ratings together."""
        anchor = RatingPlayer(f"{ROLLOUTS}{count}")
        weaker = [other for other in self._config.strength.rollout_simulations if other < count]
        num_played = sum(match.num_games for match in self.matches if match.player == anchor.name)
        while num_played < LINK_GAMES and (num_played == 0 or self._has_reference_time(until_s)):
            opponent = self._anchor(max(weaker), until_s) if weaker else RatingPlayer(RANDOM.name)
            self._play(anchor, opponent, num_games=CHUNK)
            num_played += CHUNK
        return anchor

    def _player(self, step: int, evaluator: Evaluator | None = None) -> RatingPlayer | None:
        """The checkpoint of this step; None, and a sentence, if it cannot be read."""
        if evaluator is not None:
            return RatingPlayer(player_name(step), evaluator=evaluator)
        try:
            checkpoint = load_checkpoint(checkpoint_path(self._directory / "checkpoints", step))
        except DataError as error:
            if self._report is not None:
                self._report(f"{error} It plays no rating games.")
            return None
        return RatingPlayer(player_name(step), checkpoint)

    def _rate_first(self, most_evaluations: float, until_s: float) -> None:
        """Let the first network meet random play and the weakest anchor, if it has not had its games yet."""
        name = player_name(0)
        num_played = sum(match.num_games for match in self.matches if match.player == name)
        num_games = min(REFERENCE_GAMES - num_played, int(self._num_games(most_evaluations)))
        if num_games < 4 or not self._has_reference_time(until_s) or not self._is_there(0):
            return
        reference = self._player(0)
        for opponent in (RANDOM.name, f"{ROLLOUTS}{min(self._config.strength.rollout_simulations)}"):
            if reference is not None and self._has_reference_time(until_s):
                met = self._opponent(opponent, until_s)
                assert met is not None, "it is not a checkpoint"
                self._play(reference, met, num_games=num_games // 4 * 2)
        self._fit()

    def _has_time(self, until_s: float) -> bool:
        return self._seconds_used() < until_s

    def _has_reference_time(self, until_s: float) -> bool:
        """Whether games that say nothing of a trained checkpoint by themselves still have time."""
        references = [
            match for match in self.matches if not match.player.startswith("step ") or match.player == "step 0"
        ]
        used = sum(match.seconds for match in references)
        return used < REFERENCE_SHARE * until_s and self._has_time(until_s)

    def _seconds_used(self) -> float:
        return sum(match.seconds for match in self.matches)

    def _evaluations_used(self) -> int:
        return sum(match.evaluations for match in self.matches)

    def _num_games(self, most_evaluations: float) -> float:
        """Number of games of one network that the rest of an evaluation budget pays for."""
        return (most_evaluations - self._evaluations_used()) / self._evaluations_per_game()

    def _evaluations_per_game(self) -> float:
        """Evaluations by networks per game: of the games so far, or an estimate from the length of random games."""
        met = [match for match in self.matches if match.evaluations]
        if met:
            return sum(match.evaluations for match in met) / sum(match.num_games for match in met)
        return rating_search(self._config).num_simulations * self._random_plies / 2

    @functools.cached_property
    def _random_plies(self) -> float:
        return measure_game(self._game, num_games=10).plies

    def _play(self, player: RatingPlayer, opponent: RatingPlayer, *, num_games: int) -> None:
        if self._recorded:
            match = self._recorded.pop(0)
            if (match.player, match.opponent) != (player.name, opponent.name):
                raise RunError(
                    f"{player.name} is to meet {opponent.name} again, and in {self._path} {match.player} met"
                    f" {match.opponent}: the machine, a version or a file has changed. Go on as it was then, or"
                    " without repeating: --set training.deterministic=false."
                )
            self.matches.append(match)
            return
        play = self._play_games or functools.partial(
            play_rating_games, self._game, rating_setup(self._config), clock=self._clock
        )
        played = play(player, opponent, num_games=num_games, seed=self._config.training.seed + len(self.matches))
        points = [points for _, points in played.games]
        if player.is_network and opponent.is_network:
            points = _points_of_lines(played.games)
        match = RatingMatch(
            player=player.name,
            opponent=opponent.name,
            points=sum(points),
            num_games=len(points),
            evaluations=played.evaluations,
            seconds=played.seconds,
        )
        self.matches.append(match)
        append_line(self._path, json.dumps(asdict(match)))

    def ratings_from_first(self, elo: float) -> dict[int, Rating]:
        """Ratings of the checkpoints by step on a scale where checkpoint 0 has this rating, ascending.

        Empty if results connect no later checkpoint with checkpoint 0.
        """
        first = player_name(0)
        scores = self._scores(first)
        if not scores:
            return {}
        found = fit_ratings(scores, zero=first).by_name
        steps = {int(name.removeprefix("step ")): rating for name, rating in found.items() if name.startswith("step ")}
        return (
            {step: replace(steps[step], elo=elo + steps[step].elo) for step in sorted(steps)} if len(steps) > 1 else {}
        )

    def _scores(self, zero: str) -> list[PairScore]:
        """The results of all players that results connect with one player. A damaged line may disconnect some."""
        scores = [
            PairScore.of_points(match.player, match.opponent, match.points, match.num_games) for match in self.matches
        ]
        reached = connected(scores, [zero])
        return [score for score in scores if score.first in reached]

    def _fit(self) -> None:
        """Rate all players that results connect with random play."""
        scores = self._scores(RANDOM.name)
        fitted = fit_ratings(scores, zero=RANDOM.name)
        with self._lock:
            self._fitted = fitted
            self._ratings = fitted.by_name if scores else {}
            self._verdict = ""


def _points_of_lines(games: Iterable[tuple[tuple[int, ...], float]]) -> list[float]:
    """The points of each different game of two networks, which repeat their games: a repeated one tells nothing new.

    The mean counts where both have played the same moves, each once on either side.
    """
    by_moves: dict[tuple[int, ...], list[float]] = {}
    for moves, points in games:
        by_moves.setdefault(moves, []).append(points)
    return [sum(points) / len(points) for points in by_moves.values()]


def _parse_match(line: str) -> RatingMatch:
    """A line as a match. Raises ValueError or TypeError if it is not one."""
    match = RatingMatch(**json.loads(line))
    if not (_NAME.fullmatch(match.player) and _NAME.fullmatch(match.opponent)) or match.player == match.opponent:
        raise ValueError("no match of two players")
    if not isinstance(match.num_games, int) or match.num_games < 1 or not 0 <= match.points <= match.num_games:
        raise ValueError("no points of so many games")
    if not isinstance(match.evaluations, int) or not 0 <= min(match.evaluations, match.seconds) < math.inf:
        raise ValueError("nothing that was measured")
    return match
