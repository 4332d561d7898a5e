"""Commands about games and their rules: `games`, `show`, `perft`, `tables`, `book`, `check-game`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.progress import Progress
from zerosum.cli.words import DOUBTFUL, GameArgument, Json, Position, require_game_name, seed_option


@app.command(epilog="Example: `zerosum games --json`")
def games(json: Json = False) -> None:
    """List the games that come with the program, their sizes and their options."""
    from zerosum.games.catalogue import catalogue, print_catalogue

    if json:
        for entry in catalogue():
            print(entry.json())
    else:
        print_catalogue()


@app.command(
    epilog="Example: `zerosum show connect4 --moves '4 4 3' --svg board.svg`",
    context_settings={"allow_extra_args": True},  # a position without its option gets a sentence about it
)
def show(
    context: typer.Context,
    game: GameArgument,
    position: Position = "",
    moves: Annotated[
        str, typer.Option(help="Moves from the position, in the game's notation, separated by blanks.")
    ] = "",
    svg: Annotated[Path | None, typer.Option(help="Also draw the board into this file.", show_default=False)] = None,
    western: Annotated[
        bool, typer.Option("--western", metavar="", help="Draw letters instead of the characters of shogi.")
    ] = False,
) -> None:
    """Show a position: the board, its notation, and the player to move or the ending."""
    from zerosum.base.errors import SettingsError, shown
    from zerosum.games import make, state_after
    from zerosum.games.picture import describe_position
    from zerosum.games.picture import svg as draw_svg

    rules = make(game)
    if context.args:
        said = " ".join(context.args)
        raise SettingsError(
            f"{shown(said)} has no option before it: name a position by --position {shlex.quote(said)}, or moves by"
            " --moves."
        )
    state = state_after(rules, moves, position=position)
    print(describe_position(rules, state))
    if svg is not None:
        svg.write_text(draw_svg(rules, state, western=western), encoding="utf-8")


@app.command(epilog="Example: `zerosum perft connect4 6 --divide`")
def perft(
    game: GameArgument,
    depth: Annotated[int, typer.Argument(min=0, max=255, help="Plies of a line.", show_default=False)],
    position: Position = "",
    divide: Annotated[
        bool, typer.Option("--divide", metavar="", help="First print the count for each first move.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the lines of play of a length, the usual test of rules; the last line is the bare count."""
    from zerosum.games import make, state_after
    from zerosum.games.perft import perft_lines

    rules = make(game)
    with Progress("first move") as progress:
        state = state_after(rules, "", position=position)
        for line in perft_lines(rules, state, depth, divided=divide, on_move=progress.tell):
            progress.clear()
            print(line.json() if json else line)


@app.command(epilog="Example: `zerosum tables chess KRvK KQvK`, then `--set search.table_files=chess.table`")
def tables(
    game: GameArgument,
    endings: Annotated[
        list[str] | None,
        typer.Argument(
            help="Endings of up to four men, such as KRvK, with all to which they lead; the whole game by default.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file; GAME.table by default.", show_default=False)] = None,
    memory_mib: Annotated[
        int, typer.Option("--memory-mib", min=1, max=1 << 20, help="Most memory while the table is made.")
    ] = 2048,
) -> None:
    """Make a table of the exact results of a small game, or of endings, for searches and to measure networks."""
    from zerosum.games import make
    from zerosum.run.table_making import make_table_file

    rules = make(game)
    path = out or Path(f"{rules.spec.name}.table")
    print(make_table_file(rules, path, endings=endings or (), memory_mib=memory_mib))


@app.command(epilog="Example: `zerosum book mine.bin games.pgn --plies 16`, then UCI's `BookFile` and `OwnBook`")
def book(
    file: Annotated[
        Path,
        typer.Argument(
            help="The book to write: a Polyglot book of chess (.bin), or lines of moves of any game (.txt).",
            show_default=False,
        ),
    ],
    games: Annotated[
        list[str], typer.Argument(help="Game records, as `analyse` reads them, or folders of runs.", show_default=False)
    ],
    game: Annotated[
        str, typer.Option(callback=require_game_name, help="The game of files that do not name it, such as .txt.")
    ] = "",
    plies: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Plies of a game that count, by default 24; the length of a line, by default 8.",
            show_default=False,
        ),
    ] = None,
    least_games: Annotated[int, typer.Option(min=1, help="Games in which a move or line must have been played.")] = 2,
) -> None:
    """Make an opening book of chess, or lines of any game, from game records or from the games of runs.

    A move's weight in a book is the half points that it scored. Lines are sorted by how often they were played.
    """
    from zerosum.arena.book_making import make_book
    from zerosum.games import make
    from zerosum.report.run_data import read_run
    from zerosum.run.given_game import recorded_game
    from zerosum.run.played_games import played_games

    rules = make(game) if game else None
    runs = [Path(source) for source in games if Path(source).is_dir()]
    files = [source for source in games if not Path(source).is_dir()]
    data = [read_run(run) for run in runs]
    kept = [played_games(make(recorded_game(run.path)), run.games()) for run in data]
    print(make_book(file, [*files, *kept], num_plies=plies, least_games=least_games, game=rules))


@app.command(name="check-game", epilog="Example: `zerosum check-game mygame.py:MyGame`")
def check_game(
    game: GameArgument,
    games: Annotated[int, typer.Option(min=1, help="Random games to play.")] = 100,
    seed: Annotated[int, seed_option("the random moves")] = 0,
) -> None:
    """Check every rule of the protocol in random games, and show results that only the game's author can judge.

    A doubt has the exit status 3, a broken rule 2.
    """
    from zerosum.games import Rules, adopt
    from zerosum.games import check_game as check
    from zerosum.games.findings import report_lines
    from zerosum.games.names import GameName
    from zerosum.games.rules import find_game
    from zerosum.network import NetworkShape
    from zerosum.network.weights import policy_remark
    from zerosum.run.config import new_config

    name = GameName.parse(game)
    found = find_game(name)
    with Progress("random game") as progress:
        report = check(found, num_games=games, seed=seed, on_game=progress.tell)
    rules = found if isinstance(found, Rules) else adopt(found)
    for line in report_lines(game, report):
        print(line)
    if rules.is_python:
        remark = policy_remark(new_config(rules, name).network, NetworkShape.of(rules.spec))
        print(end=f"\n{remark}\n" if remark else "")
    if report.doubts:
        raise typer.Exit(DOUBTFUL)
