"""Ablations: the same short training with one setting changed, over several seeds.

    python tools/ablation.py runs/ablation --game "go(size=7)" --minutes 10 --seeds 3

It trains every variant for the same CPU-minutes, so that all have the same compute on a busy machine. For a game with
solved positions it counts the mistakes of the last checkpoints. For any other game the last checkpoints of a seed play
a round robin, and each of them plays the fixed opponents; ratings are fitted to all results together
(`zerosum.contest.ratings`). The command goes on where it stopped. It ends with two tables in Markdown, which --table
prints at any time: the strength of each variant, and the amounts of its training.

`--variants FILE` replaces the variants by a TOML table of names and settings. The others are compared with the first
one:

    "defaults" = []
    "fewer simulations" = ["search.num_simulations=64", "selfplay.fast_simulations=12"]
    "liberties" = ["game=go(size=7, liberties=3)"]

The setting `game` is for variants with other planes of the same rules.

`--positions FILE` takes other solved positions than the package's, made by `tools/solve_positions.py --seed 7`, to keep
tuning and measuring apart.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import statistics
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from zerosum.arena import PlayedGame, play_match
from zerosum.arena.ladder.results import PlayedPair, Results
from zerosum.arena.ladder.rungs import Rung, known_scores, rungs_of
from zerosum.base.errors import SettingsError
from zerosum.contest.elo import NORMAL_95, Rating
from zerosum.contest.ratings import Prior, Ratings, fit_ratings
from zerosum.contest.sprt import Tally
from zerosum.games import Rules, make
from zerosum.network.checkpoint import list_checkpoints, load_learner_state
from zerosum.play.contestant import RANDOM, Contestant
from zerosum.play.own_contestants import parse_player
from zerosum.play.player import load_player
from zerosum.replay.game_store import GameStore
from zerosum.run.config import RunConfig, new_config
from zerosum.run.metrics import read_metrics
from zerosum.run.solved import SolvedSet, mistake_rates, parse_solved, solved_sets

# One thread of self-play beside the learner's: two trainings share two cores. Rating games would only take time, and
# games in flight that are measured anew each time would be one more difference.
COMMON = [
    "training.clock=cpu",
    "selfplay.num_workers=1",
    "selfplay.games_per_worker=64",
    "strength.budget_share=0",
    "strength.solved_positions=0",
]
GAME = "game="
POSITIONS = {1: 1000, 600: 500}
"""Solved positions of each set, by simulations a move."""
OPPONENTS = ("rollouts@1000", "alphabeta@4", "gnugo level 0", "fairy-stockfish skill -10, 500 nodes")
"""Fixed opponents, as far as the game's ladder has them and they are installed."""
CHUNK = 16
"""Games of two players before the next two play: an interrupted round robin has seen all of them."""


def variants_of(defaults: RunConfig) -> dict[str, list[str]]:
    """The tool's own variants: settings that differ from a game's defaults, by name; the first one has none."""
    search, selfplay = defaults.search, defaults.selfplay

    def simulations(factor: float) -> list[str]:
        full, fast = round(search.num_simulations * factor), round(selfplay.fast_simulations * factor)
        return [f"search.num_simulations={full}", f"selfplay.fast_simulations={fast}"]

    variants = {
        "defaults": [],
        "no random openings": ["selfplay.opening_share=0"],
        "random openings": ["selfplay.opening_share=0.3", "selfplay.opening_plies=10"],
        "Gumbel root, completed-Q targets": ["search.root_selection=gumbel", "search.policy_target=completed-q"],
        "completed-Q targets": ["search.policy_target=completed-q"],
        "value: the outcome alone": ["replay.search_value_weight=0"],
        "value: the search alone": ["replay.search_value_weight=1"],
        "every move searched in full": ["selfplay.full_search_share=1"],
        "twice the simulations": simulations(2),
        "half of the simulations": simulations(0.5),
        "no evaluation cache": ["search.cache_positions=0"],
        "no symmetries": ["replay.use_symmetries=false"],
        "a fixed window": ["replay.window_growth_factor=0"],
        "no exact bounds": ["search.exact_bounds=false"],
        "64 filters": ["network.num_filters=64"],
    }

    def is_change(settings: list[str]) -> bool:
        return changed(defaults, settings) != defaults

    return {name: settings for name, settings in variants.items() if not settings or is_change(settings)}


def changed(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """The settings of a run of the same time with other overrides, and of the same game unless they name another."""
    name, own = game_and_settings(str(config.game), settings)
    planes = [f"training.planes={config.training.planes}"] if name == str(config.game) else []
    return new_config(make(name), name, minutes=config.training.minutes, overrides=[*COMMON, *planes, *own])


def game_and_settings(game: str, settings: Sequence[str]) -> tuple[str, list[str]]:
    """A variant's game, `game` unless its settings name another, and its other settings."""
    names = [setting.removeprefix(GAME) for setting in settings if setting.startswith(GAME)]
    return [game, *names][-1], [setting for setting in settings if not setting.startswith(GAME)]


def read_variants(path: Path, defaults: RunConfig) -> dict[str, list[str]]:
    """The variants of a file.

    Raises:
        SettingsError: the file is not such a table, or a setting is unknown or out of range.
    """
    variants = read_lists(path)
    for settings in variants.values():
        changed(defaults, settings)
    return variants


def read_lists(path: Path) -> dict[str, list[str]]:
    """The lists of settings in a file, by the variants' names.

    Raises:
        SettingsError: the file is not such a table. What the settings say is not looked at.
    """
    try:
        variants = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.") from error
    for name, settings in variants.items():
        if not isinstance(settings, list) or not all(isinstance(setting, str) for setting in settings):
            raise SettingsError(f'{path}: {name!r} is {settings!r}, expected a list such as ["learner.batch_size=64"].')
    if not variants:
        raise SettingsError(f"{path} holds no variant.")
    return variants


@dataclass(frozen=True)
class Result:
    """One training: its amounts, and its mistakes if the game has solved positions."""

    variant: str
    seed: int
    games: int
    """Finished ones."""
    games_in_flight: int
    """At the end."""
    plies: int
    """Of the finished games, random openings included."""
    positions: int
    """Recorded ones: plies with a policy target."""
    evaluations: int
    simulations: int
    """New ones, of all searches."""
    step: int
    cpu_s: float
    learner_cpu_s: float
    endings: dict[str, int]
    """Finished games by how they ended."""
    draws: int
    mistakes: dict[str, list[float]] = field(default_factory=dict)
    """By simulations a move: the rate in each set."""

    @property
    def player(self) -> str:
        """The name of its last checkpoint in the results of matches."""
        return player_name(self.variant, self.seed)


def player_name(variant: str, seed: int) -> str:
    """A training's last checkpoint as a player."""
    return f"{variant}, seed {seed}"


def main() -> None:
    """Train what is missing, play what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description="Ablations: short trainings with one thing changed.")
    parser.add_argument("directory", type=Path, help="holds the runs, results.jsonl and games.jsonl")
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--minutes", type=float, default=4.0, help="CPU-minutes a run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    parser.add_argument("--variants", type=Path, metavar="FILE", help="TOML: names and lists of settings")
    parser.add_argument("--only", nargs="*", metavar="VARIANT", help="only these variants and the first one")
    parser.add_argument("--set", action="append", default=[], help="section.name=value, for all variants")
    parser.add_argument("--positions", type=Path, help="solved positions, instead of the package's")
    parser.add_argument("--games", type=int, default=400, help="games of two variants; even")
    parser.add_argument("--opponent-games", type=int, default=48, help="games of a variant and a fixed opponent; even")
    parser.add_argument("--opponents", nargs="*", metavar="NAME", help="fixed opponents, from the game's ladder")
    parser.add_argument("--simulations", type=int, default=100, help="simulations a move in matches")
    parser.add_argument("--opening-plies", type=int, default=4, help="random plies that begin a pair of games")
    parser.add_argument("--table", action="store_true", help="print the tables without training or play")
    asked = parser.parse_args()
    try:
        print(Ablation(asked).run(is_table_only=asked.table))
    except SettingsError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


class Ablation:
    """The trainings of a directory, their results and their matches."""

    def __init__(self, asked: argparse.Namespace) -> None:
        """Read the directory. Raises SettingsError if the arguments do not fit it."""
        self._asked, self._directory = asked, asked.directory
        self._game = make(asked.game)
        name = asked.game if self._game.is_python else self._game.spec.full_name
        defaults = new_config(self._game, name, minutes=asked.minutes, overrides=[*COMMON, *asked.set])
        variants = read_variants(asked.variants, defaults) if asked.variants else variants_of(defaults)
        if unknown := [name for name in asked.only or [] if name not in variants]:
            raise SettingsError(f"unknown variant {unknown[0]!r}: there are {', '.join(map(repr, variants))}.")
        for option, count in (("--games", asked.games), ("--opponent-games", asked.opponent_games)):
            if count < 0 or count % 2:
                raise SettingsError(f"{option} is {count}, expected an even number of at least 0.")
        self._baseline = next(iter(variants))
        chosen = {self._baseline, *(asked.only or variants)}
        self._variants = {name: settings for name, settings in variants.items() if name in chosen}
        text = asked.positions.read_text(encoding="utf-8") if asked.positions else None
        sets = solved_sets(self._game) if text is None else [*parse_solved(asked.game, text).values()]
        self._sets: list[SolvedSet] = sets
        self._directory.mkdir(parents=True, exist_ok=True)
        self._path = self._directory / "results.jsonl"
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        results = [Result(**json.loads(line)) for line in lines]
        self._results = [result for result in results if result.variant in self._variants]
        self._matches = Results(self._directory / "games.jsonl", game=self._game.spec.full_name, report=print)
        self._lock = threading.Lock()

    def run(self, *, is_table_only: bool) -> str:
        """Train and play what is missing, seed by seed, so that tables are available early. Returns the tables."""
        if not is_table_only:
            done = {(result.variant, result.seed) for result in self._results}
            for seed in range(self._asked.seeds):
                with ThreadPoolExecutor(self._asked.jobs) as pool:
                    missing = [variant for variant in self._variants if (variant, seed) not in done]
                    list(pool.map(lambda variant, seed=seed: self._train_and_measure(variant, seed), missing))
                if not self._sets:
                    self._play_round_robin(seed)
                if seed + 1 < self._asked.seeds:
                    print(self.tables(), flush=True)
        return self.tables()

    def tables(self) -> str:
        """The strength of each variant, and the amounts of its training."""
        order = [result for variant in self._variants for result in self._results if result.variant == variant]
        if not order:
            return "Nothing has been trained yet."
        strength = mistake_table(order) if self._sets else rating_table(order, self._ratings(), self._matches.pairs)
        return f"{strength}\n\n{training_table(order)}"

    def _train_and_measure(self, variant: str, seed: int) -> None:
        run = self._run_of(variant, seed)
        name = self._asked.game if self._game.is_python else self._game.spec.full_name
        name, own = game_and_settings(name, self._variants[variant])
        settings = [*COMMON, *self._asked.set, *own]
        train(run, name, minutes=self._asked.minutes, seed=seed, settings=settings)
        result = measure(run, variant, seed, self._sets)
        with self._lock:
            self._results.append(result)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            print(f"{result.player}: {result.games:,} games, {result.positions:,} positions", flush=True)

    def _run_of(self, variant: str, seed: int) -> Path:
        name = re.sub(r"[^\w.=-]+", "-", variant)
        path: Path = self._directory / f"{name}-{seed}"
        return path

    def _play_round_robin(self, seed: int) -> None:
        """Every two variants of a seed, and each of them against each fixed opponent, as many games as are missing."""
        rungs = {rung.name: rung for rung in rungs_of(self._game)}
        asked = self._asked.opponents
        if unknown := [name for name in asked or [] if name not in rungs]:
            raise SettingsError(f"unknown opponent {unknown[0]!r}: the ladder has {', '.join(map(repr, rungs))}.")
        fixed = [name for name in (OPPONENTS if asked is None else asked) if name in rungs]
        for name in list(fixed):
            if sentence := rungs[name].missing(self._game):
                print(f"{name} is left out: {sentence}")
                fixed.remove(name)
        runs = {player_name(variant, seed): self._run_of(variant, seed) for variant in self._variants}
        contestants = {name: contestant(self._game, run, self._asked.simulations) for name, run in runs.items()}
        pairs = [(pair, self._asked.games) for pair in itertools.combinations(contestants, 2)]
        pairs += [(pair, self._asked.opponent_games) for pair in itertools.product(contestants, fixed)]
        while missing := [
            (pair, num - self._num_played(*pair)) for pair, num in pairs if self._num_played(*pair) < num
        ]:
            for (first, second), num in missing:
                self._play(contestants, rungs, first, second, num_games=min(num, CHUNK))

    def _play(
        self,
        contestants: Mapping[str, Contestant],
        rungs: Mapping[str, Rung],
        first: str,
        second: str,
        *,
        num_games: int,
    ) -> None:
        seed = self._matches.num_lines  # no opening comes again
        halves: dict[int, PlayedGame] = {}

        def take(game: PlayedGame) -> None:
            other = halves.pop(game.index ^ 1, None)
            if other is None:
                halves[game.index] = game
                return
            sound = [half.result for half in (other, game) if not half.has_failure]
            pair = PlayedPair(self._matches.game, "", first, second, **asdict(Tally.of(sound)), faults=2 - len(sound))
            self._matches.add(pair)

        opponent = contestants[second] if second in contestants else rungs[second].contestant(self._game, seed=seed)
        plies = self._asked.opening_plies
        play_match(
            self._game, contestants[first], opponent, num_games=num_games, opening_plies=plies, seed=seed, on_game=take
        )

    def _num_played(self, first: str, second: str) -> int:
        return 2 * sum((pair.first, pair.second) == (first, second) for pair in self._matches.pairs)

    def _ratings(self) -> Ratings:
        priors = {rung.name: rung.prior for rung in rungs_of(self._game) if rung.name != RANDOM.name}
        priors |= {result.player: Prior() for result in self._results}
        played = [pair.score for pair in self._matches.pairs]
        return fit_ratings([*known_scores(self._game), *played], priors, zero=RANDOM.name)


def contestant(game: Rules, run: Path, num_simulations: int) -> Contestant:
    """A run's last checkpoint with the run's own search, and the same number of simulations for all."""
    return parse_player(f"{run}@{num_simulations}", game, batch_size=32)


def train(run: Path, game: str, *, minutes: float, seed: int, settings: Sequence[str]) -> None:
    """Train in a process of its own, or go on where it stopped."""
    command = [sys.executable, "-m", "zerosum", "train", game, "--run", str(run), "--minutes", str(minutes)]
    if not (run / "config.toml").exists():
        command += ["--seed", str(seed)]
        command += [part for setting in settings for part in ("--set", setting)]
    with (run.parent / f"{run.name}.log").open("a") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)


def measure(run: Path, variant: str, seed: int, sets: Sequence[SolvedSet]) -> Result:
    """The amounts of a training, and the mistakes of its last checkpoint in solved positions, if there are any."""
    last = read_metrics(run / "metrics.csv")[-1]
    _, learner = load_learner_state(list_checkpoints(run / "checkpoints")[-1])
    if not learner:
        raise SettingsError(f"{run} recorded {last.positions} positions and learned nothing: give more --minutes.")
    store = GameStore(run / "games", report=print)
    endings: Counter[str] = Counter()
    plies, draws = 0, 0
    for record in store.recent(num_games=store.num_games):
        endings[record.ending] += 1
        plies += record.num_plies
        draws += record.outcome == 0
    in_flight = len(store.running)
    store.close()
    mistakes = {}
    if sets:
        player = load_player(run, batch_size=64)
        for count, num in POSITIONS.items():
            rates = mistake_rates(player, sets, num_simulations=count, max_positions=num)
            mistakes[str(count)] = [rate.value for rate in rates]
    return Result(
        variant=variant,
        seed=seed,
        games=last.games,
        games_in_flight=in_flight,
        plies=plies,
        positions=last.positions,
        evaluations=last.evaluations,
        simulations=learner["simulations"],
        step=last.step,
        cpu_s=60 * last.minutes,
        learner_cpu_s=learner["learner_cpu_s"],
        endings=dict(endings.most_common()),
        draws=draws,
        mistakes=mistakes,
    )


def mean_percent(result: Result, num_simulations: int) -> float:
    """Mean mistakes over all sets, in percent."""
    return 100 * statistics.mean(result.mistakes[str(num_simulations)])


def by_variant(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Trainings by variant, both in the order of `results`."""
    return {name: [r for r in results if r.variant == name] for name in dict.fromkeys(r.variant for r in results)}


def mistake_table(results: Sequence[Result]) -> str:
    """Mistakes, means over the seeds, and differences to the first variant seed by seed, each with a standard error."""
    lines = ["| variant | seeds | mistakes at 600 | difference | network alone |", "|---|---|---|---|---|"]
    first = {result.seed: result for result in next(iter(by_variant(results).values()))}
    for variant, own in by_variant(results).items():
        gains = [mean_percent(r, 600) - mean_percent(first[r.seed], 600) for r in own if r.seed in first]
        at = {count: with_error([mean_percent(result, count) for result in own]) for count in POSITIONS}
        difference = "" if own[0] is first.get(own[0].seed) or not gains else with_error(gains, sign="+")
        lines.append(f"| {variant} | {len(own)} | {at[600]} | {difference} | {at[1]} |")
    return "\n".join(lines)


def rating_table(results: Sequence[Result], ratings: Ratings, pairs: Sequence[PlayedPair]) -> str:
    """Ratings, means over the seeds, and differences to the first variant, together and seed by seed.

    Intervals are 95 % and follow from the number of games alone; compare the seeds for the spread of trainings.
    The last columns are points against the fixed opponents.
    """
    played = {name for pair in pairs for name in (pair.first, pair.second)}
    variants = by_variant([result for result in results if result.player in played])
    if not variants:
        return "No games have been played yet."
    players = {result.player for result in results}
    opponents = sorted({pair.second for pair in pairs} - players, key=lambda name: ratings.rating(name).elo)
    head = ["variant", "seeds", "Elo", "difference", "by seed", *opponents]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    first = {result.seed: result.player for result in next(iter(variants.values()))}
    for variant, own in variants.items():
        paired = [] if own[0].player in first.values() else [r for r in own if r.seed in first]
        gains = [mean_difference(ratings, [result.player], [first[result.seed]]).elo for result in paired]
        reference = [first[result.seed] for result in paired]
        cells = [
            variant,
            str(len(own)),
            str(mean_difference(ratings, [result.player for result in own], [])),
            str(mean_difference(ratings, [result.player for result in paired], reference)) if paired else "",
            ", ".join(f"{gain:+.0f}" for gain in gains),
            *(points_against(opponent, {result.player for result in own}, pairs) for opponent in opponents),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def mean_difference(ratings: Ratings, ours: Sequence[str], theirs: Sequence[str]) -> Rating:
    """The mean rating of some players less that of others (0 if there are none), with its 95 % interval."""
    weights = np.zeros(len(ratings.names))
    for names, sign in ((ours, 1), (theirs, -1)):
        for name in names:
            weights[ratings.names.index(name)] += sign / len(names)
    return Rating(float(weights @ ratings.elos), NORMAL_95 * math.sqrt(weights @ ratings.covariance @ weights))


def points_against(opponent: str, players: Collection[str], pairs: Sequence[PlayedPair]) -> str:
    """The share of points that some players made against an opponent, and the number of games."""
    met = [pair for pair in pairs if pair.second == opponent and pair.first in players]
    games = sum(pair.score.num_games for pair in met)
    return f"{sum(pair.wins + pair.draws / 2 for pair in met) / games:.0%} of {games}" if games else ""


def training_table(results: Sequence[Result]) -> str:
    """The amounts of training of each variant, means over the seeds.

    "Evaluations a second" are per CPU-second of self-play, which compares machines.
    """
    head = [
        "variant",
        "games",
        "positions",
        "evaluations",
        "simulations a position",
        "plies a game",
        "draws",
        "endings",
    ]
    head += ["learner's share of the CPU", "games in flight", "evaluations a second"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for variant, own in by_variant(results).items():
        games, positions = sum(r.games for r in own), sum(r.positions for r in own)
        cpu_s, learner_cpu_s = sum(r.cpu_s for r in own), sum(r.learner_cpu_s for r in own)
        endings = sum((Counter(r.endings) for r in own), Counter[str]())
        in_flight = sum(r.games_in_flight for r in own)
        cells = [
            variant,
            f"{games / len(own):,.0f}",
            f"{positions / len(own):,.0f}",
            f"{sum(r.evaluations for r in own) / len(own) / 1e6:.2f} M",
            f"{sum(r.simulations for r in own) / positions:.0f}",
            f"{sum(r.plies for r in own) / games:.1f}",
            f"{sum(r.draws for r in own) / games:.1%}",
            ", ".join(f"{ending} {count / games:.1%}" for ending, count in endings.most_common()),
            f"{learner_cpu_s / cpu_s:.0%}",
            f"{in_flight / len(own):.0f} ({in_flight / games:.1%})",
            f"{sum(r.evaluations for r in own) / (cpu_s - learner_cpu_s):,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_error(values: Sequence[float], *, sign: str = "", digits: int = 2) -> str:
    """Mean and its standard error, which takes two values or more."""
    mean = f"{statistics.mean(values):{sign}.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values) / math.sqrt(len(values)):.{digits}f}"


if __name__ == "__main__":
    main()
