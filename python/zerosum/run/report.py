"""The text of `zerosum evaluate`: the strength of a run's player. That of `zerosum info` is in `info.py`."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from zerosum.arena import FAILURES, MatchResult, PlayedGame, play_match, require_pairs
from zerosum.base.errors import command_text
from zerosum.base.settings import num_cores
from zerosum.contest.elo import Rating
from zerosum.contest.ratings import fit_ratings
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.games.python_game import ENDING_OF_PYTHON_GAMES
from zerosum.games.short_names import short_name
from zerosum.network import load_checkpoint
from zerosum.play.contestant import RANDOM, Contestant, rollouts
from zerosum.play.own_contestants import contestant_of
from zerosum.play.player import Player, load_player
from zerosum.run.exam import PartResult, exam_of, has_exam, sit_exam
from zerosum.run.exam.result import HEAD, row
from zerosum.run.model_measures import measure_model, model_table
from zerosum.run.played_games import newest_games
from zerosum.run.search_measures import measure_searches
from zerosum.run.solved import MistakeRate, mistake_rates, published_mistakes, solved_sets, wilson_error
from zerosum.run.table_positions import table_sets

Write = Callable[[str], None]

GAMES_AT_ONCE = 64
OPENING_PLIES = 2
"""Random plies of games between players that do not draw their moves."""
EVALUATION_MATCHES = 5
"""Matches of an evaluation: three of the player, and two between opponents."""


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`."""

    matches: list[MatchResult]
    mistakes: list[MistakeRate]
    """One rate per set of solved positions."""
    exam: list[PartResult]
    """One result per part of the game's exam."""


def silent(line: str) -> None:
    """A `Write` that writes nothing."""


def evaluate(
    run: Path,
    *,
    game: str = "",
    num_games: int = 100,
    num_positions: int = 200,
    num_simulations: int | None = None,
    num_exam_tasks: int = 0,
    table_files: str = "",
    seed: int = 0,
    write: Write = print,
    write_json: Write = silent,
    on_game: Callable[[int, int], None] = lambda _done, _all: None,
) -> Evaluation:
    """Measure a run's newest checkpoint: against fixed opponents, in solved positions and in an exam.

    The last two are of games that have them.

    The opponents are random play and pure MCTS with rollouts, at as many simulations as the player has and at ten
    times as many; beside an alpha-beta search one for each `POSITIONS_PER_SIMULATION` positions. Rollouts are random,
    so games differ without random openings.

    Args:
        run: A run directory, a directory of checkpoints, or a checkpoint's JSON.
        game: The game, if the run does not name it or its file has moved.
        num_games: Games against each opponent, an even number; 0 for no matches.
        num_positions: Positions of each solved set, drawn at random if it has more; 0 for none.
        num_simulations: Simulations per move; those of the run if not given.
        num_exam_tasks: Positions of each part of the exam; 0 for none.
        table_files: Tables of exact results to draw solved positions from, in place of the bundled ones.
        seed: Key of the games and of the choice of positions.
        write: Gets the text.
        write_json: Gets each figure, as JSON.
        on_game: Gets the number of finished games, and of all games.

    Raises:
        DataError: the run has no undamaged checkpoint.
        SettingsError: the number of games is odd.
    """
    require_pairs("num_games", num_games)
    player = load_player(run, num_simulations=num_simulations, game=game or None, batch_size=GAMES_AT_ONCE)
    write(f"{run}: {player.config.num_simulations} {'positions' if player.is_alpha_beta else 'simulations'} a move.")
    matches = _play_matches(player, num_games, seed, write, write_json, on_game) if num_games else []
    mistakes = _count_mistakes(player, table_files, num_positions, seed, write, write_json) if num_positions else []
    exam = list[PartResult]()
    if num_exam_tasks and has_exam(player.game):
        exam = _sit_exam(player, num_exam_tasks, seed, write, write_json)
    if player.config.rules == "learned":
        _measure_model(run, player, num_games, seed, write, write_json)
    if matches:
        write("")
        write(transcript(player.game, matches[-1].games[0], matches[-1]))
    write(f"Play it yourself: {command_text('play', run)}")
    return Evaluation(matches, mistakes, exam)


def _play_matches(
    player: Player,
    num_games: int,
    seed: int,
    write: Write,
    write_json: Write,
    on_game: Callable[[int, int], None],
) -> list[MatchResult]:
    contestant = contestant_of(player, f"{player.name}@{player.config.num_simulations}")
    count = max(1, player.config.num_simulations // player.visits_for(1))

    done = itertools.count(1)

    def meet(first: Contestant, second: Contestant) -> MatchResult:
        return play_match(
            player.game,
            first,
            second,
            num_games=num_games,
            opening_plies=0,
            seed=seed,
            on_game=lambda _: on_game(next(done), EVALUATION_MATCHES * num_games),
        )

    def anchor(factor: int) -> Contestant:
        return rollouts(player.game, factor * count, seed=seed)

    write(f"{num_games} games against each opponent, both colours:")
    results = []
    for opponent in (RANDOM, anchor(1), anchor(10)):
        results.append(meet(contestant, opponent))
        write(str(results[-1]))
        write_json(score_json(results[-1]))
    # Games between anchors connect the ratings if the player wins all its games.
    links = [meet(anchor(1), RANDOM), meet(anchor(10), anchor(1))]
    ratings = fit_ratings([result.pair_score for result in (*results, *links)], zero=RANDOM.name).by_name
    write("Elo, with random play at 0:")
    width = max(map(len, ratings))
    for name, rating in sorted(ratings.items(), key=lambda item: -item[1].elo):
        write(f"  {name:<{width}}  {rating}")
        write_json(elo_json(name, rating))
    return results


def _measure_model(run: Path, player: Player, num_games: int, seed: int, write: Write, write_json: Write) -> None:
    """What the player's network has learned of the rules, and what its errors cost."""
    records = newest_games(run)
    for line in model_table(
        measures := list(measure_model(player.game, load_checkpoint(run), records=records, seed=seed))
    ):
        write(line)
    for measure in measures:
        write_json(figure_json("model", player=player.name, **asdict(measure)))
    searched = measure_searches(player.game, player.evaluator, player.config, seed=seed)
    write(searched.words())
    write_json(figure_json("model_search", player=player.name, **asdict(searched)))
    if num_games:
        known = player.judged_by(player.evaluator, replace(player.config, rules="known"))
        learned, own = contestant_of(player, "learned rules"), contestant_of(known, "the game's rules")
        result = play_match(player.game, learned, own, num_games=num_games, opening_plies=OPENING_PLIES, seed=seed)
        write("The same network, searched by the rules that it has learned and by those of the game:")
        write(str(result))
        write_json(score_json(result))


def _count_mistakes(
    player: Player, table_files: str, num_positions: int, seed: int, write: Write, write_json: Write
) -> list[MistakeRate]:
    if table_files:
        sets = table_sets(player.game, table_files, seed=seed)
        player = player.judged_by(player.evaluator, replace(player.config, table_files=""))
    else:
        sets = solved_sets(player.game)
    if not sets:
        return []
    rates = mistake_rates(player, sets, max_positions=num_positions, seed=seed, num_threads=num_cores())
    for rate in rates:
        write_json(figure_json("mistake_rate", player=player.name, **asdict(rate)))
    write(mistake_table(rates, game=player.game.spec.full_name))
    return rates


def _sit_exam(player: Player, num_tasks: int, seed: int, write: Write, write_json: Write) -> list[PartResult]:
    """The game's exam at the simulations of the player."""
    name = f"{player.name}@{player.config.num_simulations}"
    write(f"The exam of {short_name(player.game)}:\n{HEAD}")
    results = list[PartResult]()
    for result in sit_exam(
        player.game, contestant_of(player, name), exam_of(player.game), num_tasks=num_tasks, seed=seed
    ):
        write(row(result))
        write_json(result.json(name))
        results.append(result)
    return results


def mistake_table(rates: Iterable[MistakeRate], *, game: str) -> str:
    """The rate of mistakes in each set of solved positions, beside published rates of the game (by its full name)."""
    rates, published = list(rates), published_mistakes(game)
    title, columns = "Mistakes in solved positions, which are moves that give away a win or a draw", ""
    if published is not None and any(rate.set in published.sets for rate in rates):
        title += f"; beside them those of others{published.explanation}"
        columns = "".join(f"{column:>11}" for column in published.columns)
    else:
        title += "."
    lines = [title, f"  {'set':<14} {'positions':>9}  {'mistakes':<15}{columns}".rstrip()]
    for rate in rates:
        percents = published.sets.get(rate.set, ()) if published is not None else ()
        others = "".join(f"{percent:>10.1f}%" for percent in percents)
        lines.append(f"  {rate.set:<14} {rate.positions:>9}  {rate!s:<15}{others}".rstrip())
    return "\n".join(lines)


def score_json(result: MatchResult, **more: object) -> str:
    """A match as one line of JSON: the first player's score, in [0, 1], and the match's statistics."""
    return figure_json(
        "score",
        player=result.first,
        opponent=result.second,
        value=result.score,
        error=wilson_error(result.score, len(result.games)),
        games=len(result.games),
        **result.statistics.numbers(),
        distinct=result.num_distinct,
        failures={ending: result.num_failures(ending) for ending in FAILURES},
        evaluations=result.evaluations,
        **more,
    )


def elo_json(player: str, rating: Rating) -> str:
    """A rating of a player, with random play at 0, as JSON."""
    return figure_json("elo", player=player, value=rating.elo, error=rating.error, anchor=RANDOM.name)


def figure_json(metric: str, **values: object) -> str:
    """A figure as JSON, which has no NaN: null."""
    numbers = {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()
    }
    return json.dumps({"metric": metric, **numbers})


def transcript(game: Rules, played: PlayedGame, match: MatchResult) -> str:
    """A game of a match as text: its moves, last position and ending."""
    names = (match.first, match.second) if played.first_is_player == 0 else (match.second, match.first)
    so_far = Playthrough.of(game, played.start, played.actions)
    moves = [text + (")" if ply == played.opening_plies else "") for ply, text in enumerate(so_far.texts, start=1)]
    result = played.result if played.first_is_player == 0 else -played.result
    word = "drawn" if result == 0 else f"{names[0] if result > 0 else names[1]} won"
    opening = "(" if played.opening_plies else ""
    ending = "" if played.ending == ENDING_OF_PYTHON_GAMES else f": {played.ending}"
    start = f"\n  from {played.start}" if played.start else ""
    return (
        f"A game: {names[0]} moved first against {names[1]}.{start}\n"
        f"  {opening}{' '.join(moves)}\n"
        f"{game.draw(so_far.state)}{word}{ending}."
    )
