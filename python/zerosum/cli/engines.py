"""Commands that play against people and in their programs: `play`, `uci`, `usi`, `gtp`."""

from __future__ import annotations

import io
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO, TypedDict, cast

import typer

from zerosum.cli.application import app
from zerosum.cli.words import PLAYER_HELP, WHO_HELP, PlayerGame, Position, Simulations, has_colours, say

if TYPE_CHECKING:
    from zerosum.games import Rules


class Named(TypedDict, total=False):
    """Arguments of an `EngineSetup`."""

    weights: str | Path | None
    num_simulations: int | None


EnginePlayer = Annotated[
    str,
    typer.Argument(
        metavar="[WHO]",
        help=PLAYER_HELP,
        show_default=False,
    ),
]
EngineGame = Annotated[
    str, typer.Option(help="The game, if not that of the network or the protocol.", show_default=False)
]
EngineOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A setting as `search.name=value` or `time.name=value`; may be repeated.", show_default=False
    ),
]


@app.command(
    epilog="Example: `zerosum play connect4`, `zerosum play runs/connect4 --simulations 200`, or without a network"
    " `zerosum play rollouts --game connect4`"
)
def play(
    who: Annotated[str, typer.Argument(help=f"{WHO_HELP} Or `rollouts@1000`.", show_default=False)] = "",
    game: PlayerGame = "",
    second: Annotated[bool, typer.Option("--second", metavar="", help="You move second.")] = False,
    simulations: Simulations = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds per move, instead of simulations.")] = None,
    elo: Annotated[
        float | None,
        typer.Option(help="Play at this rating of the game's ladder, where random play is 0, if it was measured."),
    ] = None,
    position: Position = "",
) -> None:
    """Play against a network in the terminal: type moves, or `hint`, `undo`, `resign`, `save`, `help`."""
    from zerosum.base.errors import SettingsError
    from zerosum.play.choice import open_player
    from zerosum.play.player import require_seconds
    from zerosum.play.skill import levels_of
    from zerosum.play.terminal import play_in_terminal

    if seconds is not None:
        require_seconds(seconds)
    if elo is not None and (simulations is not None or seconds is not None):
        raise SettingsError(f"--elo is {elo:g}, which limits the search: leave out --simulations and --seconds.")
    player = open_player(who, game=game, num_simulations=simulations, say=say)
    play_in_terminal(
        player,
        human_side=1 if second else 0,
        seconds=seconds,
        elo=elo,
        levels=levels_of(player.game, player.path),
        seed=secrets.randbits(62),
        position=position,
        has_colours=has_colours(),
    )


@app.command(epilog="Example: `zerosum uci runs/chess`, as the command of an engine in a program for chess")
def uci(who: EnginePlayer = "", game: EngineGame = "", set_: EngineOverrides = None) -> None:
    """Run as an engine with UCI, the protocol of chess programs."""
    from zerosum.protocols.line_engine import converse
    from zerosum.protocols.uci import UciEngine, UciSetup

    rules, named = _engine(who, game, "chess")
    converse(UciEngine(UciSetup(rules, **named, overrides=set_ or []), write=_say_line), _lines())


@app.command(epilog="Example: `zerosum usi runs/shogi`, as the command of an engine in a program for shogi")
def usi(who: EnginePlayer = "", game: EngineGame = "", set_: EngineOverrides = None) -> None:
    """Run as an engine with USI, the protocol of shogi programs."""
    from zerosum.protocols.line_engine import converse
    from zerosum.protocols.usi import UsiEngine, UsiSetup

    rules, named = _engine(who, game, "shogi")
    converse(UsiEngine(UsiSetup(rules, **named, overrides=set_ or []), write=_say_line), _lines())


def _engine(who: str, game: str, default: str) -> tuple[Rules, Named]:
    """The game of an engine and its player, from the arguments of the command line."""
    from zerosum.base.errors import SettingsError
    from zerosum.games import make
    from zerosum.play.choice import game_at
    from zerosum.play.own_contestants import existing_run, search_contestant
    from zerosum.play.runs import PlayerWord
    from zerosum.play.words import ROLLOUTS

    named = PlayerWord.parse(who)
    num_simulations = named.number
    if named.game is not None:
        if game:
            raise SettingsError(f"{named.word!r} is a game, and --game names {game!r}: give one of them.")
        return named.rules, {"num_simulations": num_simulations}
    if named.is_own:
        rules = make(game or default)
        search_contestant(named, rules)  # raises for a player without a search
        return rules, {"weights": ROLLOUTS, "num_simulations": num_simulations}
    run = existing_run(named) if named.word else None
    rules = make(game or default) if game or run is None else game_at(run)
    return rules, {"weights": run, "num_simulations": num_simulations}


def _lines() -> TextIO:
    """Lines from a program; bytes that are not text do not stop reading."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin


def _say_line(line: str) -> None:
    print(line, flush=True)


@app.command(epilog="Example: `zerosum gtp runs/go9 --seconds 5`; a board program runs this as its engine's command")
def gtp(
    player: Annotated[
        str,
        typer.Argument(
            help=PLAYER_HELP,
            show_default=False,
        ),
    ] = "",
    game: Annotated[
        str, typer.Option(help="Go with its options, until the client sets a size, komi or rules.", show_default=False)
    ] = "",
    rules: Annotated[
        str,
        typer.Option(
            help="KataGo's name of rules (`japanese`, `chinese`, `aga` …), until the client sets others.",
            show_default=False,
        ),
    ] = "",
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, help="Simulations a move at most.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Most seconds per move, whatever the clock says.")] = None,
    overhead: Annotated[float, typer.Option(help="Largest delay of a move, in seconds.")] = 0.15,
    time_manager: Annotated[
        str, typer.Option(help="`adaptive`, or `paper`: 1/20 of the remaining time for each move.")
    ] = "adaptive",
    resign: Annotated[
        float, typer.Option(help="Resign when the win rate is below this for three moves in a row; 0 for never.")
    ] = 0.05,
    ponder: Annotated[bool, typer.Option("--ponder", metavar="", help="Think on the opponent's time.")] = False,
    memory: Annotated[int | None, typer.Option(help="Mebibytes for the search's tree.", show_default=False)] = None,
) -> None:
    """Play Go in a board program that speaks GTP 2 (Sabaki, GoGui, Lizzie, KGS), with KataGo's analysis commands."""
    from zerosum.contest.time_manager import Manager, TimeConfig
    from zerosum.protocols.gtp import run_gtp
    from zerosum.protocols.gtp_params import GtpConfig

    run_gtp(
        player,
        game=game,
        rules=rules,
        config=GtpConfig(
            simulations=simulations, seconds=seconds, resign_below=resign, ponder=ponder, memory_mib=memory
        ),
        time_config=TimeConfig(manager=cast(Manager, time_manager), overhead_s=overhead),
    )
