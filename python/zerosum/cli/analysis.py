"""Commands that analyse positions and games: `analyse`, `explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from zerosum.base.errors import SettingsError
from zerosum.cli.application import app
from zerosum.cli.progress import Progress
from zerosum.cli.words import PLAYER_HELP, WHO_HELP, Json, PlayerGame, Position, refuse, say


@app.command(epilog="Example: `zerosum analyse game.pgn --format same --output annotated.pgn --simulations 2000`")
def analyse(
    what: Annotated[
        str,
        typer.Argument(
            help="A file of games (PGN, SGF, KIF, CSA, a match's .jsonl; moves in a .txt with --game; `-` for standard"
            " input), or a position or moves of --game."
        ),
    ] = "",
    player: Annotated[str, typer.Option(help=f"The player. {PLAYER_HELP}")] = "",
    game: Annotated[str, typer.Option(help="The game of a position or of moves, also of a file of moves.")] = "",
    position: Position = "",
    moves: Annotated[str, typer.Option(help="A game's moves, as the game writes them, separated by blanks.")] = "",
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, max=1 << 24, help="Simulations a position.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds per position, instead of simulations.")] = None,
    lines: Annotated[int, typer.Option(min=1, max=1000, help="Best lines of a position.")] = 1,
    format: Annotated[
        str,
        typer.Option(
            help="`text`, `json`, `same` (the file's own, with comments, evaluations and better lines), `pgn`, `sgf`,"
            " `kif` or `csa`."
        ),
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; standard output by default.", show_default=False),
    ] = None,
    last: Annotated[bool, typer.Option("--last", metavar="", help="Only the position after the last move.")] = False,
    inaccuracy: Annotated[float, typer.Option(help="Loss of win rate, in percent, at which a move is marked ?!.")] = 5,
    mistake: Annotated[float, typer.Option(help="The same for ?.")] = 10,
    blunder: Annotated[float, typer.Option(help="The same for ??.")] = 15,
    people: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NETWORK",
            help="A network that learned from people's games, such as Maia's: for each move of a game, the share of"
            " people who play it; may be repeated.",
            show_default=False,
        ),
    ] = None,
    json_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines",
            metavar="",
            help="Answer queries from standard input, as KataGo's analysis engine does.",
        ),
    ] = False,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="With --json-lines: positions searched at a time.")] = 2,
) -> None:
    """Analyse positions and games: win rates, best moves and mistakes; for people or for another program."""
    from zerosum.analysis.analyst import limits
    from zerosum.analysis.review_command import ReviewCommand
    from zerosum.analysis.reviewed import Thresholds
    from zerosum.play.choice import Players
    from zerosum.play.driver import Task

    players = Players(player, say=say)
    if json_lines:
        refuse(
            "--json-lines has each query say what to analyse",
            {
                "WHAT": what,
                "--position": position,
                "--moves": moves,
                "--output": output,
                "--last": last,
                "--people": bool(people),
                "--lines": lines != 1,
                "--format": format != "text",
            },
        )
        from zerosum.analysis.server import serve

        serve(players, game=game, max_simulations=simulations, max_seconds=seconds, parallel=parallel)
        return
    refuse("only --json-lines has queries side by side", {"--parallel": parallel != 2})
    if simulations is None and seconds is None:
        simulations = players.num_simulations
    num_simulations, seconds = limits(simulations, seconds, default=None)
    with Progress("position") as progress:

        def write(text: str) -> None:
            progress.clear()
            print(text)

        command = ReviewCommand(
            players,
            Task(num_visits=num_simulations, seconds=seconds, num_lines=lines),
            format=format,
            output=output,
            thresholds=Thresholds(inaccuracy / 100, mistake / 100, blunder / 100),
            people=tuple(people or ()),
            last=last,
            write=write,
            progress=lambda done, of, game: progress.tell(done, of, of_what=game),
        )
        command.run(what, game=game, position=position, moves=moves)
    if command.is_interrupted:
        say("Interrupted: what was reviewed until then is written.")
        raise typer.Exit(130)
    if command.num_refused:
        raise typer.Exit(2)


@app.command(epilog="Example: `zerosum explain connect4 '4 4 3' -n 20`")
def explain(
    what: Annotated[
        str,
        typer.Argument(
            help=f"{WHO_HELP} Rollouts evaluate if no network exists.",
            show_default=False,
        ),
    ],
    moves: Annotated[str, typer.Argument(help="Moves that lead to the position, as the game writes them.")] = "",
    game: PlayerGame = "",
    position: Position = "",
    simulations: Annotated[int, typer.Option("--simulations", "-n", min=1, max=100_000, help="Simulations.")] = 20,
    choices: Annotated[int, typer.Option(min=1, help="Moves to show of each position on the path.")] = 3,
    json: Json = False,
) -> None:
    """Show a search simulation by simulation: N, P, Q and U of the moves on its path, and the value backed up."""
    from zerosum.analysis.explanation import explain as simulate
    from zerosum.base.errors import GameError
    from zerosum.games import make, state_after
    from zerosum.play.choice import Players

    players = Players(what, say=say)
    player = players.of(make(game) if game else players.own_game() or _require_game(what))
    state = state_after(player.game, moves, position=position)
    if player.game.outcome(state) is not None:
        raise GameError(f"The game is over ({player.game.ending(state)}), there is nothing to search.")
    for simulation in simulate(player.game, player.evaluator, state, num_simulations=simulations, num_choices=choices):
        print(simulation.json() if json else simulation)


def _require_game(who: str) -> NoReturn:
    raise SettingsError(f"{who!r} plays any game: name the one to play, such as --game connect4.")
