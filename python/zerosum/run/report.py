"""The text of `zerosum info` and `zerosum evaluate`: a run, and the strength of its player."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from zerosum.arena import FAILURES, MatchResult, PlayedGame, play_match, require_pairs
from zerosum.base.errors import DataError, ZerosumError, command_from_anywhere, command_text, counted, printable
from zerosum.base.files import require_own_files
from zerosum.base.settings import num_cores
from zerosum.contest.elo import Rating
from zerosum.contest.ratings import fit_ratings
from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.games.python_game import ENDING_OF_PYTHON_GAMES
from zerosum.network import Checkpoint, NetworkShape, load_checkpoint
from zerosum.network.checkpoint import DamagedCheckpointError, checkpoints_to_play, list_checkpoints, read_info
from zerosum.network.updatable import piece_values
from zerosum.network.weights import num_parameters
from zerosum.play.bundled import is_bundled, read_card
from zerosum.play.contestant import RANDOM, Contestant, rollouts
from zerosum.play.own_contestants import contestant_of
from zerosum.play.player import Player, load_player
from zerosum.replay.shards import MANIFEST, read_manifest
from zerosum.run.config import RunConfig, load_config
from zerosum.run.config_words import budget_words, minutes_word, tower_words, train_text
from zerosum.run.core_use import mean_use
from zerosum.run.exam import PartResult, exam_of, has_exam, sit_exam
from zerosum.run.exam.result import HEAD, row
from zerosum.run.game_import import game_of_records
from zerosum.run.held_out import HeldOutFile, held_out_table
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.mistakes import Mistakes, mean_rate
from zerosum.run.model_measures import measure_model, model_table
from zerosum.run.played_games import newest_games
from zerosum.run.run_directory import RECORDS
from zerosum.run.search_measures import measure_searches
from zerosum.run.solved import MistakeRate, mistake_rates, published_mistakes, solved_sets, wilson_error
from zerosum.run.storage.mirror import NOTE as STORE_NOTE
from zerosum.run.storage.mirror import StoreNote
from zerosum.run.strength import Strength, player_name
from zerosum.run.table_positions import table_sets
from zerosum.selfplay.evaluation_learning import values_text

Write = Callable[[str], None]

GAMES_AT_ONCE = 64
OPENING_PLIES = 2
"""Random plies of games between players that do not draw their moves."""
PROTOCOLS = {
    "chess": "uci",
    "chess960": "uci",
    "minichess": "uci",
    "shogi": "usi",
    "minishogi": "usi",
    "go": "gtp",
}
"""The protocol of the games that board programs know."""

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
    times as many. Rollouts are random, so games differ without random openings.

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
    write(f"{run}: {player.config.num_simulations} simulations a move.")
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
    simulations = player.config.num_simulations
    contestant = contestant_of(player, f"{player.name}@{simulations}")

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

    def anchor(count: int) -> Contestant:
        return rollouts(player.game, count, seed=seed)

    write(f"{num_games} games against each opponent, both colours:")
    results = []
    for opponent in (RANDOM, anchor(simulations), anchor(10 * simulations)):
        results.append(meet(contestant, opponent))
        write(str(results[-1]))
        write_json(score_json(results[-1]))
    # Games between anchors connect the ratings if the player wins all its games.
    links = [meet(anchor(simulations), RANDOM), meet(anchor(10 * simulations), anchor(simulations))]
    ratings = fit_ratings([result.pair_score for result in (*results, *links)], zero=RANDOM.name).by_name
    write("Elo, with random play at 0:")
    width = max(map(len, ratings))
    for name, rating in sorted(ratings.items(), key=lambda item: -item[1].elo):
        write(f"  {name:<{width}}  {rating}")
        write_json(_elo_json(name, rating))
    return results


def _measure_model(run: Path, player: Player, num_games: int, seed: int, write: Write, write_json: Write) -> None:
    """What the player's network has learned of the rules, and what its errors cost."""
    records = newest_games(run)
    for line in model_table(
        measures := list(measure_model(player.game, load_checkpoint(run), records=records, seed=seed))
    ):
        write(line)
    for measure in measures:
        write_json(_figure_json("model", player=player.name, **asdict(measure)))
    searched = measure_searches(player.game, player.evaluator, player.config, seed=seed)
    write(searched.words())
    write_json(_figure_json("model_search", player=player.name, **asdict(searched)))
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
        write_json(_figure_json("mistake_rate", player=player.name, **asdict(rate)))
    write(mistake_table(rates, game=player.game.spec.full_name))
    return rates


def _sit_exam(player: Player, num_tasks: int, seed: int, write: Write, write_json: Write) -> list[PartResult]:
    """The game's exam at the simulations of the player."""
    name = f"{player.name}@{player.config.num_simulations}"
    write(f"The exam of {player.game.spec.full_name}:\n{HEAD}")
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
    return _figure_json(
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


def _elo_json(player: str, rating: Rating) -> str:
    return _figure_json("elo", player=player, value=rating.elo, error=rating.error, anchor=RANDOM.name)


def _figure_json(metric: str, **values: object) -> str:
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


def list_runs(runs: Path, *, write: Write = print, write_json: Write = silent) -> None:
    """List the runs in a directory, one line per run: its game, learner step and strength.

    Args:
        runs: The directory.
        write: Gets the text.
        write_json: Gets each run's step, as JSON.
    """
    found = sorted(run for run in runs.glob("*") if (run / "config.toml").exists() or has_only_records(run))
    if not found:
        write(f"There are no runs in {runs.absolute()}. To begin one: {command_text('train', 'connect4')}")
    for run in found:
        try:
            require_own_files(run)
            if has_only_records(run):
                write(printable(_records_text(run)))
                continue
            config, rows = load_config(run / "config.toml"), read_metrics(run / "metrics.csv")
        except ZerosumError as error:
            write(printable(f"{run}: {error}"))
            continue
        step, minutes = (rows[-1].step, rows[-1].minutes) if rows else (0, 0.0)
        newest = Strength(run, None, config)
        elo = f", Elo of step {newest.rated_steps[-1]:,} {newest.newest}" if newest.newest else ""
        unit = minutes_word(config.training)
        write(printable(f"{run}: {config.game}, step {step:,} after {minutes:.1f} {unit}{elo}"))
        write_json(_figure_json("step", run=str(run), value=step))


def has_only_records(run: Path) -> bool:
    """Whether games were imported into or generated for a run, and nothing was trained yet."""
    has_more = (run / "config.toml").exists() or (run / "checkpoints").exists()
    return not has_more and (run / RECORDS / MANIFEST).is_file()


def _records_text(run: Path) -> str:
    shards = read_manifest(run / RECORDS).shards
    games, positions = sum(seal.num_games for seal in shards), sum(seal.num_positions for seal in shards)
    return (
        f"{run}: {counted(games, 'game')} of {game_of_records(run) or 'an unknown game'} to learn from,"
        f" {counted(positions, 'position')}; no training yet"
    )


def _describe_records(run: Path, write: Write, write_json: Write) -> None:
    shards = read_manifest(run / RECORDS).shards
    write(_records_text(run))
    train = command_text("train", game_of_records(run) or "GAME", "--run", run, "--from-records")
    write(f"`{train}` learns from them.")
    for metric, value in (
        ("record_games", sum(seal.num_games for seal in shards)),
        ("record_positions", sum(seal.num_positions for seal in shards)),
    ):
        write_json(_figure_json(metric, run=str(run), value=value))


def describe(run: Path, *, write: Write = print, write_json: Write = silent) -> None:
    """Describe a run, its progress and the strength of its checkpoints; or a checkpoint, or a bundled network.

    Of a run without a training it describes the games to learn from.

    The run's files alone are read: a user's game is not executed.

    Args:
        run: A run directory, a checkpoint's JSON, or the directory of a bundled network.
        write: Gets the text.
        write_json: Gets each figure, as JSON.

    Raises:
        DataError: it is neither of both, is damaged, or contains a link that leads outside.
    """

    def say(line: str) -> None:
        write(printable(line))

    require_own_files(run)
    if has_only_records(run):
        _describe_records(run, say, write_json)
        return
    if not (run / "config.toml").is_file():
        if not run.exists():
            raise DataError(f"{run} does not exist: name a run directory or a checkpoint's JSON.")
        _describe_checkpoint(run, say, write_json)
        return
    if is_bundled(run):
        _describe_bundled(run, say, write_json)
        return
    config = load_config(run / "config.toml")
    rows = read_metrics(run / "metrics.csv")
    say(
        f"{run}: learning {config.game}, budget {budget_words(config.training)}"
        + (f", preset {config.preset}" if config.preset else "")
    )
    if (store := StoreNote.read(run)) is not None:
        say(f"  copied to {store.url}, says its {STORE_NOTE}")
    if rows:
        last, unit = rows[-1], minutes_word(config.training)
        say(
            f"  so far {last.minutes:.1f} {unit}, {last.games:,} games, {last.positions:,} positions,"
            f" {last.evaluations:,} evaluations, learner step {last.step:,}"
        )
        for metric in ("minutes", "games", "positions", "evaluations", "step"):
            write_json(_figure_json(metric, run=str(run), value=getattr(last, metric)))
    if (use := mean_use(row.core_use for row in rows)) is not None:
        say(f"  {use.summary(has_selfplay=config.training.source == 'selfplay')}")
        for metric, value in asdict(use).items():
            if value is not None:
                write_json(_figure_json(metric, run=str(run), value=value))
    network = config.network
    game = make(config.game) if config.game.is_core else None
    parameters = _num_parameters(run, config, game)
    size = "" if parameters is None else f", {parameters:,} parameters"
    begun = f", begun with {config.training.initial_network}" if config.training.initial_network else ""
    say(f"  network {tower_words(network)}{size}{begun}")
    if network.kind == "updatable" and checkpoints_to_play(run / "checkpoints"):
        with contextlib.suppress(DataError):  # damaged checkpoints are told below
            if words := _values_words(load_checkpoint(run, report=silent)):
                say(f"  {words}")
    if parameters is not None:
        write_json(_figure_json("parameters", run=str(run), value=parameters))
    strength = Strength(run, None, config)
    say("  learning? " + strength.verdict())
    measured = HeldOutFile(run)
    if figures := [found for split in ("dev", "test") if (found := measured.newest(split)) is not None]:
        say(held_out_table(figures))
        for found in figures:
            write_json(_figure_json("held_out", run=str(run), **asdict(found)))
    mistakes = Mistakes(run, None, config)
    say("  checkpoints, Elo with random play at 0" + (", mistakes in solved positions:" if mistakes.rates else ":"))
    checkpoints = list_checkpoints(run / "checkpoints")
    best = checkpoints_to_play(run / "checkpoints")[:1]
    for path in checkpoints:
        step = int(path.stem.partition("-")[2])
        rating, rates = strength.ratings.get(player_name(step)), mistakes.of_step(step)
        line = f"    {path.name}  {rating or 'not rated'}"
        if rating is not None:
            write_json(_elo_json(str(path), rating))
        if rates:
            mean, error = mean_rate(rates)
            line += f"  {mean:.1%} ± {error:.1%} at {rates[0].num_simulations} simulations"
        line += "  the best, which plays" if [path] == best != checkpoints[-1:] else ""
        say(line + ("  damaged" if _is_damaged(path, whole=path == checkpoints[-1]) else ""))
        for rate in rates:
            write_json(_figure_json("mistake_rate", player=str(path), **asdict(rate)))
    if rates := mistakes.of_step(mistakes.rates[-1].step) if mistakes.rates else []:
        say(mistake_table(rates, game=str(config.game)))
    if config.game.origin == "object":
        uses = f"`zerosum.load({str(run)!r}, game=game)` plays it"
    else:
        uses = f"`{command_text('play', run)}` plays it, `{command_text('evaluate', run)}` measures it"
    say(f"{uses}, `{train_text(config, run, **larger_budget(config, rows))}` resumes it.")
    if game is not None and (protocol := PROTOCOLS.get(game.spec.name)):
        say(f"As an engine of a board program: {command_from_anywhere(protocol, run)}")


def _values_words(checkpoint: Checkpoint) -> str:
    """The values of pieces that an updatable network has learned; "" for other networks and for games of one's own."""
    game = checkpoint.info.core_game()
    if checkpoint.info.network.kind != "updatable" or game is None:
        return ""
    return f"values of pieces: {values_text(piece_values(checkpoint, game))}"


def _is_damaged(path: Path, *, whole: bool) -> bool:
    """Whether a checkpoint's description is damaged, or any part of the `whole` checkpoint, which takes longer."""
    try:
        load_checkpoint(path) if whole else read_info(path)
    except DamagedCheckpointError:
        return True
    return False


def _num_parameters(run: Path, config: RunConfig, game: Rules | None) -> int | None:
    """Number of parameters of the run's network; None if only the code of a user's game could tell."""
    if game is not None:
        return num_parameters(config.network, NetworkShape.of(game.spec))
    for path in reversed(list_checkpoints(run / "checkpoints")):
        with contextlib.suppress(DamagedCheckpointError):
            return num_parameters(config.network, read_info(path).shape)
    return None


def larger_budget(config: RunConfig, rows: Sequence[MetricsRow]) -> dict[str, Any]:
    """The arguments of a training that continues the run: twice the budget, or what was used, if it is used up."""
    minutes, seconds, steps = config.training.minutes, config.learning_seconds, config.training.steps
    if rows and minutes is not None and seconds is not None and 60 * rows[-1].minutes >= seconds:
        return {"minutes": round(2 * max(minutes, rows[-1].minutes), 2)}
    if rows and steps is not None and rows[-1].step >= steps:
        return {"steps": 2 * max(steps, rows[-1].step)}
    return {}


def _describe_bundled(directory: Path, write: Write, write_json: Write) -> None:
    card, info = read_card(directory), load_checkpoint(directory).info
    network, parameters = info.network, num_parameters(info.network, info.shape)
    write(f"{info.full_name}: a bundled network, {directory}")
    write(f"  network {tower_words(network)}, {parameters:,} parameters")
    speed = f", {card.evaluations_per_second:,} evaluations a CPU-second" if card.evaluations_per_second else ""
    write(f"  {card.budget} of training{speed}, code of {card.date}:")
    for command in card.commands:
        write(f"    {command}")
    if card.strength:
        write(f"  {card.strength}")
    if card.exam:
        write(f"  exam: {card.exam}")
    write(
        f"`{command_text('play', directory)}` plays it, `{command_text('evaluate', directory)}` measures it,"
        f" `{command_text('train', info.full_name)}` learns one of your own."
    )
    for metric, value in (("step", info.step), ("parameters", parameters)):
        write_json(_figure_json(metric, run=str(directory), value=value))
    write_json(_figure_json("card", run=str(directory), **asdict(card)))


def _describe_checkpoint(path: Path, write: Write, write_json: Write) -> None:
    info = load_checkpoint(path).info
    network = info.network
    write(
        f"{path}: a network for {info.full_name}, version {info.game_version}, learner step {info.step:,},"
        f" {info.created_at}"
    )
    parameters = num_parameters(network, info.shape)
    write(f"  {tower_words(network)}, {parameters:,} parameters")
    if words := _values_words(load_checkpoint(path)):
        write(f"  {words}")
    for metric, value in (("step", info.step), ("parameters", parameters)):
        write_json(_figure_json(metric, checkpoint=str(path), value=value))
    for name, value in info.training.items():
        write(f"  {name}: {f'{value:.4g}' if isinstance(value, float) else value}")
