"""What a run is and how strong its player is, told to a person: the words of `zerosum info` and `zerosum evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from zerosum.arena import MatchResult, PlayedGame, play_match
from zerosum.checkpoint import list_checkpoints, load_checkpoint
from zerosum.config import load_config
from zerosum.elo import fit_elo
from zerosum.errors import DataError
from zerosum.games import Rules, make
from zerosum.metrics import read_metrics
from zerosum.network import num_parameters
from zerosum.play.player import RANDOM, Contestant, load_player, rollouts
from zerosum.run import network_shape
from zerosum.strength import Strength, player_name

Write = Callable[[str], None]

GAMES_AT_ONCE = 64


def evaluate(
    run: Path, *, num_games: int = 100, num_simulations: int | None = None, seed: int = 0, write: Write = print
) -> list[MatchResult]:
    """Let a run's newest checkpoint play fixed opponents, print ratings and a game; answers its matches.

    The opponents are random play and pure MCTS with rollouts, at as many simulations as the player has and at ten
    times as many. Those draw at random, so games differ without random openings.

    Raises:
        DataError: there is no whole checkpoint.
    """
    player = load_player(run, num_simulations=num_simulations, batch_size=GAMES_AT_ONCE)
    simulations = player.config.num_simulations
    contestant = Contestant(f"{run}@{simulations}", player.evaluator, player.config)

    def meet(first: Contestant, second: Contestant) -> MatchResult:
        return play_match(player.game, first, second, num_games=num_games, opening_plies=0, seed=seed)

    def anchor(count: int) -> Contestant:
        return rollouts(player.game, count, seed=seed)

    write(f"{run}: {simulations} simulations a move, {num_games} games against each opponent, both colours.")
    results = []
    for opponent in (RANDOM, anchor(simulations), anchor(10 * simulations)):
        results.append(meet(contestant, opponent))
        write(str(results[-1]))
    # The anchors' own games tie the ratings together where the player wins everything.
    links = [meet(anchor(simulations), RANDOM), meet(anchor(10 * simulations), anchor(simulations))]
    ratings = fit_elo([result.pair_score for result in (*results, *links)], anchor=RANDOM.name)
    write("Elo, with random play at 0:")
    for name, rating in sorted(ratings.items(), key=lambda item: -item[1].elo):
        write(f"  {name:<24} {rating}")
    write("")
    write(transcript(player.game, results[-1].games[0], results[-1]))
    write(f"Play it yourself: zerosum play {run}")
    return results


def transcript(game: Rules, played: PlayedGame, match: MatchResult) -> str:
    """A game of a match as text: moves, the last position, how it ended."""
    names = (match.first, match.second) if played.first_is_player == 0 else (match.second, match.first)
    state, moves = game.initial_state(), []
    for ply, action in enumerate(played.actions):
        moves.append(game.action_text(state, action) + (")" if ply + 1 == played.opening_plies else ""))
        state = game.play(state, action)
    result = played.result if played.first_is_player == 0 else -played.result
    word = "drawn" if result == 0 else f"{names[0] if result > 0 else names[1]} won"
    opening = "(" if played.opening_plies else ""
    return (
        f"A game: {names[0]} moved first against {names[1]}.\n"
        f"  {opening}{' '.join(moves)}\n"
        f"{game.draw(state)}{word}: {played.ending}."
    )


def describe(run: Path, *, write: Write = print) -> None:
    """Say what a run (or a checkpoint) is, how far it came and how strong its checkpoints are.

    Raises:
        DataError: it is neither, or it is damaged.
    """
    if not (run / "config.toml").is_file():
        if not run.exists():
            raise DataError(f"{run} is not there: name a run directory or a checkpoint's JSON.")
        _describe_checkpoint(run, write)
        return
    config = load_config(run / "config.toml")
    game = make(config.game)
    rows = read_metrics(run / "metrics.csv")
    budget = (
        f"{config.training.minutes:g} minutes"
        if config.training.minutes is not None
        else f"{config.training.steps} steps"
    )
    write(f"{run}: learning {config.game}, budget {budget}" + (f", preset {config.preset}" if config.preset else ""))
    if rows:
        last = rows[-1]
        write(
            f"  so far {last.minutes:.1f} minutes, {last.games:,} games, {last.positions:,} positions,"
            f" {last.evaluations:,} evaluations, learner step {last.step:,}"
        )
    network = config.network
    parameters = num_parameters(network, network_shape(game))
    write(f"  network {network.num_blocks} blocks x {network.num_filters} filters, {parameters:,} parameters")
    strength = Strength(run, game, config)
    write("  learning? " + strength.verdict())
    write("  checkpoints, Elo with random play at 0:")
    for path in list_checkpoints(run / "checkpoints"):
        step = int(path.stem.partition("-")[2])
        rating = strength.ratings.get(player_name(step))
        write(f"    {path.name}  {'not rated' if rating is None else str(rating)}")
    write(
        f"`zerosum play {run}` plays it, `zerosum evaluate {run}` measures it,"
        f" `zerosum train {config.game} --run {run}` goes on."
    )


def _describe_checkpoint(path: Path, write: Write) -> None:
    info = load_checkpoint(path).info
    network = info.network
    write(
        f"{path}: a network for {info.game}, version {info.game_version}, learner step {info.step:,}, {info.created_at}"
    )
    parameters = num_parameters(network, info.shape)
    write(f"  {network.num_blocks} blocks x {network.num_filters} filters, {parameters:,} parameters")
    for name, value in info.training.items():
        write(f"  {name}: {value}")
