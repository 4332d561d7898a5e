"""The command line: `zerosum train | play | uci | usi | match | evaluate | analyse | info | export | games | …`.

Each command reads its words, calls the library and prints; what it imports it imports when it runs, so that `--help` is
quick. An error that the user can mend is printed as its sentence, with exit status 2.
"""

from __future__ import annotations

import faulthandler
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from zerosum.errors import ZerosumError

if TYPE_CHECKING:
    from zerosum.games import Rules

app = typer.Typer(
    name="zerosum",
    help="AlphaZero for any two-player board game: learn it, play it, measure it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

GAME_HELP = (
    "A game's name (`connect4`), options in brackets (`'connect4(max_plies=30)'`), or your own as `path.py:Class`."
)
GameArgument = Annotated[str, typer.Argument(help=GAME_HELP, show_default=False)]
Position = Annotated[str, typer.Option(help="A position as people write it, instead of the initial one.")]
RunArgument = Annotated[Path, typer.Argument(help="A run directory, or a checkpoint's JSON.", show_default=False)]
Simulations = Annotated[
    int | None, typer.Option("--simulations", "-n", min=1, help="Simulations a move; the run's own if not given.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting as `section.name=value`; may be repeated.", show_default=False),
]
PlayerSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--each",
        metavar="NAME=VALUE",
        help="What both players have, once for each setting: a clock `tc=10+0.1` (or `40/60`, byoyomi `10+5x3`), `st=1`"
        " second, `nodes=1000` or `depth=5` a move, `'option.Hash=64'` of an engine, `profile=paper`, `sample=30` plies"
        " by visits, `'resign=score=600 movecount=3'`, `resign=winrate=5`, `resign=paper`.",
        show_default=False,
    ),
]
FirstSettings = Annotated[
    list[str] | None,
    typer.Option("--first", metavar="NAME=VALUE", help="What the first player has, before that.", show_default=False),
]
SecondSettings = Annotated[
    list[str] | None,
    typer.Option("--second", metavar="NAME=VALUE", help="What the second player has.", show_default=False),
]


def _seed(keys: str) -> Any:
    """Within the bounds of `training.seed`."""
    return typer.Option(min=0, max=(1 << 63) - 1, help=f"Keys {keys}.")


Json = Annotated[bool, typer.Option("--json", metavar="", help="Print the figures alone, one JSON object a line.")]


def main() -> None:
    """Run the command line."""
    if sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)  # a crash in a library says at least where it was called from
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Whoever reads a training through a pipe sees each line at once; what the terminal cannot write is escaped.
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except ZerosumError as error:
        print(f"zerosum: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except UnicodeEncodeError as error:
        if not any(error.object in word for word in sys.argv):
            raise
        print(f"zerosum: {error.object!r} is no text in {sys.getfilesystemencoding()}: type it anew.", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is None:
            raise
        print(f"zerosum: {error.filename} cannot be used: {error.strerror}. See that it can be.", file=sys.stderr)
        raise SystemExit(2) from None


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from zerosum._core import __version__

        print(__version__)
        raise typer.Exit


def _require_pairs(games: int) -> int:
    from zerosum.arena import require_pairs

    require_pairs("--games", games)
    return games


@app.callback()
def _zerosum(
    version: Annotated[
        # Eager: without a command, which is otherwise missed before anything else is looked at.
        bool,
        typer.Option(
            "--version", metavar="", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None: ...


@app.command(epilog="Example: `zerosum train connect4 --run runs/mine --minutes 5 --set search.num_simulations=64`")
def train(
    game: GameArgument,
    run: Annotated[
        Path | None, typer.Option(help="The run directory; `runs/GAME` if not given. One that is there goes on.")
    ] = None,
    preset: Annotated[
        str, typer.Option(help="Settings to begin with, such as `connect4`; defaults fit the game's size.")
    ] = "",
    minutes: Annotated[
        float | None, typer.Option(help="The budget, 30 if not given. A larger one makes a finished run go on.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="The budget in learner steps, instead of minutes.")] = None,
    seed: Annotated[int | None, _seed("every random draw of a new run")] = None,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            metavar="",
            help="A new run that repeats and resumes bit for bit on this machine; its budget is in --steps.",
        ),
    ] = False,
    set_: Overrides = None,
) -> None:
    """Learn a game from its rules alone, or go on with a run that stopped."""
    from zerosum.config import directory_name
    from zerosum.run import train as train_run

    directory = run or Path("runs") / directory_name(game)
    overrides = [
        *(set_ or []),
        *([] if steps is None else [f"training.steps={steps}"]),
        *(["training.deterministic=true"] if deterministic else []),
    ]
    train_run(game, directory, preset=preset, minutes=minutes, seed=seed, overrides=overrides)


@app.command(
    epilog="Example: `zerosum play runs/connect4 --simulations 200`, or without a network"
    " `zerosum play rollouts --game connect4`"
)
def play(
    player: Annotated[
        str, typer.Argument(help="Who to play: a run, a checkpoint, or `rollouts@1000`.", show_default=False)
    ],
    game: Annotated[str, typer.Option(help="The game, where the player does not say it.")] = "",
    second: Annotated[bool, typer.Option("--second", metavar="", help="You move second.")] = False,
    simulations: Simulations = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds a move, instead of simulations.")] = None,
    position: Position = "",
) -> None:
    """Play against what was learned, in the terminal: type moves, or `hint`, `undo`, `help`."""
    from zerosum.play.player import open_player, require_seconds
    from zerosum.play.terminal import play_in_terminal

    if seconds is not None:
        require_seconds(seconds)
    opponent = open_player(player, game=game or None, num_simulations=simulations)
    play_in_terminal(opponent, human_side=1 if second else 0, seconds=seconds, position=position)


EnginePlayer = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RUN]",
        help="A run or a checkpoint; if not given the newest run of the game in `runs`, or rollouts.",
        show_default=False,
    ),
]
EngineGame = Annotated[
    str, typer.Option(help="The game, if not the network's own, or the protocol's.", show_default=False)
]
EngineOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="A setting as `search.name=value` or `time.name=value`; may be repeated.", show_default=False
    ),
]


@app.command(epilog="Example: `zerosum uci runs/chess`, as the command of an engine in a program for chess")
def uci(run: EnginePlayer = None, game: EngineGame = "", set_: EngineOverrides = None) -> None:
    """Be an engine that speaks UCI, the protocol of programs for chess."""
    from zerosum.protocols.line_engine import converse
    from zerosum.protocols.uci import UciEngine, UciSetup

    rules = _engine_game(run, game or "chess" if run is None else game)
    setup = UciSetup(rules, weights=run, overrides=set_ or [])
    converse(UciEngine(setup, write=_say_line), _lines())


@app.command(epilog="Example: `zerosum usi runs/shogi`, as the command of an engine in a program for shogi")
def usi(run: EnginePlayer = None, game: EngineGame = "", set_: EngineOverrides = None) -> None:
    """Be an engine that speaks USI, the protocol of programs for shogi."""
    from zerosum.protocols.line_engine import converse
    from zerosum.protocols.usi import UsiEngine, UsiSetup

    rules = _engine_game(run, game or "shogi" if run is None else game)
    setup = UsiSetup(rules, weights=run, overrides=set_ or [])
    converse(UsiEngine(setup, write=_say_line), _lines())


def _engine_game(run: Path | None, name: str) -> Rules:
    """The game of an engine: the one that is named, else that of its network."""
    from zerosum.games import make
    from zerosum.play.choice import game_at

    return make(name) if name or run is None else game_at(run)


def _lines() -> TextIO:
    """What a program says to us, whatever its bytes are."""
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
            help="Who plays: a run, a checkpoint or `rollouts@1000`; if not given, the newest run that fits the board.",
            show_default=False,
        ),
    ] = "",
    game: Annotated[
        str, typer.Option(help="Go with its options, until the client says a size, komi or rules.", show_default=False)
    ] = "",
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, help="Simulations a move at most.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds a move at most, whatever the clock says.")] = None,
    overhead: Annotated[float, typer.Option(help="Seconds that a move is late by at worst.")] = 0.15,
    time_manager: Annotated[
        str, typer.Option(help="`adaptive`, or `paper`: 1/20 of the time that is left for each move.")
    ] = "adaptive",
    resign: Annotated[
        float, typer.Option(help="Resign when the win rate is below this for three moves in a row; 0 is never.")
    ] = 0.05,
    ponder: Annotated[bool, typer.Option("--ponder", metavar="", help="Think on the opponent's time.")] = False,
    memory: Annotated[int | None, typer.Option(help="Mebibytes for the search's tree.", show_default=False)] = None,
) -> None:
    """Play Go in a board program that speaks GTP 2 (Sabaki, GoGui, Lizzie, KGS), with KataGo's analysis commands."""
    from zerosum.protocols.gtp import run_gtp
    from zerosum.protocols.gtp_player import GtpConfig
    from zerosum.time_manager import TimeConfig

    run_gtp(
        player,
        game=game,
        config=GtpConfig(
            simulations=simulations, seconds=seconds, resign_below=resign, ponder=ponder, memory_mib=memory
        ),
        time_config=TimeConfig(manager=time_manager, overhead_s=overhead),
    )


@app.command(
    epilog="Example: `zerosum match connect4 rollouts@100 random --games 20`; against an engine"
    " `zerosum match chess runs/chess stockfish@1000 --second 'option.Skill Level=0' --out games.pgn`"
)
def match(
    game: Annotated[
        str, typer.Argument(help=f"{GAME_HELP} With --suite only if it is to be one game.", show_default=False)
    ] = "",
    first: Annotated[
        str,
        typer.Argument(
            help="A run or checkpoint, `rollouts`, `alphabeta`, `random`, an engine by its name (`stockfish`) or by its"
            " command as `uci:COMMAND`, `usi:…` or `gtp:…`; `@N` behind it sets simulations, nodes or plies a move.",
            show_default=False,
        ),
    ] = "",
    second: Annotated[str, typer.Argument(help="The same for the opponent.", show_default=False)] = "",
    games: Annotated[
        int, typer.Option(min=2, callback=_require_pairs, help="Games; each opening is played from both sides.")
    ] = 100,
    each: PlayerSettings = None,
    first_: FirstSettings = None,
    second_: SecondSettings = None,
    openings: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Begin with these: PGN, EPD, SFEN, SGF, moves (.txt), a Polyglot book (.bin), or `chess-human`,"
            " `shogi-human`, which come with the program.",
            show_default=False,
        ),
    ] = "",
    opening_plies: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Random plies that open each pair of games, 2 if not given; with --openings, the most of an opening.",
            show_default=False,
        ),
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", metavar="", help="Take the openings of a file in random order.")
    ] = False,
    draw: Annotated[
        str, typer.Option(help="Agree a draw: `'movenumber=40 movecount=8 score=10'`.", show_default=False)
    ] = "",
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Games at once: if not given 64 between our own players without clocks, else one a core.",
            show_default=False,
        ),
    ] = None,
    sprt: Annotated[
        str,
        typer.Option(
            metavar="ELO0,ELO1", help="Stop as soon as one of these differences is accepted.", show_default=False
        ),
    ] = "",
    model: Annotated[
        str | None,
        typer.Option(help="Which Elo they are in: `normalized` if not given, `logistic` or `bayesian`."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="How often the test may accept ELO1 in error, 0.05 if not given.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="The same for ELO0.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the games as they end: .pgn, .sgf or .csa, or .jsonl for any game; of a suite, a directory. The"
            " same command goes on with a match that was stopped.",
            show_default=False,
        ),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Play the matches of the AlphaZero paper, `paper` or `paper-2017`, --games of each.",
            show_default=False,
        ),
    ] = "",
    time_scale: Annotated[
        float | None,
        typer.Option(
            help="With --suite: its times are multiplied by this, 0.001 if not given (of 3 hours that makes 10.8 s)."
        ),
    ] = None,
    seed: Annotated[int, _seed("openings, random play and sampled moves")] = 0,
    json: Json = False,
) -> None:
    """Let two players meet, and say how they compare."""
    from zerosum.adjudication import DrawRule
    from zerosum.arena.session import plan_match, play_session
    from zerosum.errors import SettingsError
    from zerosum.games import make
    from zerosum.play.contestants import Entry
    from zerosum.report import score_json
    from zerosum.sprt import Sprt

    test: dict[str, Any] = {"model": model, "alpha": alpha, "beta": beta}
    if suite:
        _refuse(
            "a --suite says how it is played",
            {
                "--each": each,
                "--first": first_,
                "--second": second_,
                "--draw": draw,
                "--sprt": sprt,
                "--opening-plies": opening_plies,
                "--shuffle": shuffle,
                **{f"--{name}": value for name, value in test.items()},
            },
        )
        scale = 0.001 if time_scale is None else time_scale
        _play_suite(suite, game, first, second, games, scale, openings, concurrency, out, seed, json)
        return
    _refuse("only a --suite has times to multiply", {"--time-scale": time_scale})
    if not sprt:
        _refuse("there is no --sprt that it would set", {f"--{name}": value for name, value in test.items()})
    for name, word in (("GAME", game), ("FIRST", first), ("SECOND", second)):
        if not word:
            raise SettingsError(f"Missing argument {name}: a match has a game and two players.")
    plan = plan_match(
        make(game),
        Entry.parse(first, [*(each or []), *(first_ or [])]),
        Entry.parse(second, [*(each or []), *(second_ or [])]),
        num_games=games,
        openings=openings,
        opening_plies=opening_plies,
        is_shuffled=shuffle,
        draw=DrawRule.parse(draw) if draw else None,
        sprt=Sprt.parse(sprt, **{name: value for name, value in test.items() if value is not None}) if sprt else None,
        max_games_at_once=concurrency,
        seed=seed,
        say=_say,
    )
    played = play_session(plan, file=out, say=_say)
    print(score_json(played.result) if json else played.result)
    if played.is_interrupted:
        _say(played.how_to_go_on)
        raise typer.Exit(130)


def _play_suite(
    suite: str,
    game: str,
    first: str,
    second: str,
    games: int,
    time_scale: float,
    openings: str,
    concurrency: int | None,
    out: Path | None,
    seed: int,
    json: bool,
) -> None:
    from zerosum.report import score_json
    from zerosum.suite import SuiteWords, play_suite

    words = SuiteWords(suite, games, time_scale, game, first, second, openings, seed, concurrency)
    for result in play_suite(words, directory=out, say=_say):
        print(
            score_json(result.played.result, match=result.match.title, paper=result.match.result)
            if json
            else f"{result}\n"
        )
        if result.played.is_interrupted:
            _say(result.played.how_to_go_on)
            raise typer.Exit(130)


def _say(sentence: str) -> None:
    """What happens meanwhile, beside the answer."""
    print(sentence, file=sys.stderr)


@app.command(
    epilog="Example: `zerosum ladder connect4 runs/connect4 --games 200 --results ladder.jsonl`, or an engine:"
    " `zerosum ladder chess 'uci:./my-engine' --player nodes=1000 --within 60`"
)
def ladder(
    game: GameArgument,
    player: Annotated[
        str,
        typer.Argument(help="Who is placed, as `match` takes it; without one the opponents are.", show_default=False),
    ] = "",
    has: Annotated[
        list[str] | None,
        typer.Option(
            "--player", metavar="NAME=VALUE", help="What the player has, as in `match --each`.", show_default=False
        ),
    ] = None,
    games: Annotated[
        int,
        typer.Option(help="Budget, games for this player in --results included; 0 shows what is known."),
    ] = 200,
    within: Annotated[
        float, typer.Option(metavar="ELO", help="Stop as soon as the rating is known to ± so many Elo (95 %).")
    ] = 0.0,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Play only this one and `random`; may be repeated.", show_default=False),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the results here (JSON lines) as they come: the same command goes on, and other players are"
            " placed by them, too.",
            show_default=False,
        ),
    ] = None,
    opening_plies: Annotated[int, typer.Option(help="Random plies that open each pair of games.")] = 4,
    seed: Annotated[int, _seed("openings, random play and sampled moves")] = 0,
    json: Json = False,
) -> None:
    """Place a player on a scale of opponents, by the games that tell most; random play is 0."""
    from zerosum.ladder.command import place
    from zerosum.ladder.placement import LadderSettings
    from zerosum.play.contestants import Entry

    if not player:
        _refuse("there is no PLAYER to have it", {"--player": has})
    is_interrupted = place(
        game,
        Entry.parse(player, has or []) if player else None,
        LadderSettings(num_games=games, within_elo=within, opening_plies=opening_plies, seed=seed),
        opponents=opponent or [],
        results=results,
        is_json=json,
        write=print,
        say=_say,
    )
    if is_interrupted:
        raise typer.Exit(130)


@app.command(epilog="Example: `zerosum evaluate runs/connect4 --games 0 --positions 1000 --simulations 600`")
def evaluate(
    run: RunArgument,
    games: Annotated[
        int, typer.Option(min=0, callback=_require_pairs, help="Games against each opponent; 0 for none.")
    ] = 100,
    positions: Annotated[
        int, typer.Option(min=0, help="Positions of each solved set, where the game has them; 0 for none.")
    ] = 200,
    simulations: Simulations = None,
    seed: Annotated[int, _seed("openings, random play and the choice of positions")] = 0,
    json: Json = False,
) -> None:
    """Measure a run's newest checkpoint against fixed opponents and in solved positions, and show a game."""
    from zerosum.report import evaluate as evaluate_run
    from zerosum.report import silent

    evaluate_run(
        run,
        num_games=games,
        num_positions=positions,
        num_simulations=simulations,
        seed=seed,
        write=silent if json else print,
        write_json=print if json else silent,
    )


@app.command(epilog="Example: `zerosum analyse game.pgn --format same --output annotated.pgn --simulations 2000`")
def analyse(
    what: Annotated[
        str,
        typer.Argument(
            help="A file of games (PGN, SGF, KIF, CSA; `-` is the input), or a position or moves of --game."
        ),
    ] = "",
    player: Annotated[
        str,
        typer.Option(help="Who judges: a run, a checkpoint or `rollouts@1000`; the newest run's network if not given."),
    ] = "",
    game: Annotated[str, typer.Option(help="The game of a position or of moves.")] = "",
    position: Position = "",
    moves: Annotated[str, typer.Option(help="A game's moves, as the game writes them, separated by blanks.")] = "",
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, max=1 << 24, help="Simulations a position.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds a position, instead of simulations.")] = None,
    lines: Annotated[int, typer.Option(min=1, max=1000, help="Best lines of a position.")] = 1,
    format: Annotated[
        str,
        typer.Option(
            help="`text`, `json`, `same` (the file's own, with comments, evaluations and better lines), `pgn`, `sgf`,"
            " `kif` or `csa`."
        ),
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, if not here.", show_default=False)
    ] = None,
    last: Annotated[bool, typer.Option("--last", metavar="", help="Only the position after the last move.")] = False,
    inaccuracy: Annotated[float, typer.Option(help="Win rate lost, in percent, from which a move is marked ?!.")] = 5,
    mistake: Annotated[float, typer.Option(help="The same for ?.")] = 10,
    blunder: Annotated[float, typer.Option(help="The same for ??.")] = 15,
    json_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines",
            metavar="",
            help="Answer queries from the input, as KataGo's analysis engine does, until it ends.",
        ),
    ] = False,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="With --json-lines: positions searched at a time.")] = 2,
) -> None:
    """Say what positions are worth, and where a game was won and lost; or do so for another program."""
    from zerosum.analysis.analyst import limits
    from zerosum.analysis.review import Thresholds
    from zerosum.analysis.review_command import ReviewCommand
    from zerosum.play.choice import Players
    from zerosum.play.engine import Task

    players = Players(player, say=lambda sentence: print(sentence, file=sys.stderr))
    if json_lines:
        _refuse(
            "--json-lines has each query say what to analyse",
            {
                "WHAT": what,
                "--position": position,
                "--moves": moves,
                "--output": output,
                "--last": last,
                "--lines": lines != 1,
                "--format": format != "text",
            },
        )
        from zerosum.analysis.server import serve

        serve(players, game=game, max_simulations=simulations, max_seconds=seconds, parallel=parallel)
        return
    _refuse("only --json-lines has queries side by side", {"--parallel": parallel != 2})
    if simulations is None and seconds is None:
        simulations = players.num_simulations
    num_simulations, seconds = limits(simulations, seconds)
    command = ReviewCommand(
        players,
        Task(simulations=num_simulations, seconds=seconds, num_lines=lines),
        format=format,
        output=output,
        thresholds=Thresholds(inaccuracy / 100, mistake / 100, blunder / 100),
        last=last,
        progress=_progress,
    )
    command.run(what, game=game, position=position, moves=moves)
    if command.num_refused:
        raise typer.Exit(2)


def _refuse(sentence: str, options: dict[str, object]) -> None:
    """Raise SettingsError, with the sentence, for those options that are given."""
    from zerosum.errors import SettingsError

    if given := [name for name, value in options.items() if value not in (None, "", []) and value is not False]:
        raise SettingsError(f"{sentence}: leave out {', '.join(given)}.")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


@app.command(epilog="Example: `zerosum info runs/connect4`")
def info(run: RunArgument, json: Json = False) -> None:
    """Say what a run is, how far it came and how strong its checkpoints are."""
    from zerosum.report import describe, silent

    describe(run, write=silent if json else print, write_json=print if json else silent)


@app.command(epilog="Example: `zerosum export runs/connect4 net.onnx`")
def export(
    run: RunArgument,
    file: Annotated[Path, typer.Argument(help="The ONNX file to write.", show_default=False)],
) -> None:
    """Write a network as an ONNX file, for other programs to run; its metadata says what it belongs to."""
    from zerosum.checkpoint import load_checkpoint
    from zerosum.onnx_graph import export as export_network

    checkpoint = load_checkpoint(run)
    export_network(checkpoint, file)
    print(f"{file}: the network of step {checkpoint.info.step:,} for {checkpoint.info.full_name}.")


@app.command(epilog="Example: `zerosum games --json`")
def games(json: Json = False) -> None:
    """List the games that come with the program, their sizes and their options."""
    from zerosum.catalogue import catalogue, print_catalogue

    if json:
        for entry in catalogue():
            print(entry.json())
    else:
        print_catalogue()


@app.command(epilog="Example: `zerosum show connect4 --moves '4 4 3' --svg board.svg`")
def show(
    game: GameArgument,
    position: Position = "",
    moves: Annotated[str, typer.Option(help="Moves from there, as the game writes them, separated by blanks.")] = "",
    svg: Annotated[Path | None, typer.Option(help="Draw the board into this file, too.", show_default=False)] = None,
) -> None:
    """Show a position: the board, its notation, who is to move or how the game ended."""
    from zerosum.games import make, state_after
    from zerosum.picture import describe_position
    from zerosum.picture import svg as draw_svg

    rules = make(game)
    state = state_after(rules, moves, position=position)
    print(describe_position(rules, state))
    if svg is not None:
        svg.write_text(draw_svg(rules, state), encoding="utf-8")


@app.command(epilog="Example: `zerosum perft connect4 6 --divide`")
def perft(
    game: GameArgument,
    depth: Annotated[int, typer.Argument(min=0, max=255, help="Plies of a line.", show_default=False)],
    position: Position = "",
    divide: Annotated[
        bool, typer.Option("--divide", metavar="", help="Say first how many begin with each move.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the lines of play of some length, the field's test of rules; the last line is the count alone."""
    from zerosum.games import make, state_after
    from zerosum.perft import perft_lines

    rules = make(game)
    for line in perft_lines(rules, state_after(rules, "", position=position), depth, divided=divide):
        print(line.json() if json else line)


@app.command(name="check-game", epilog="Example: `zerosum check-game mygame.py:MyGame`")
def check_game(
    game: GameArgument,
    games: Annotated[int, typer.Option(min=1, help="Random games to play.")] = 100,
    seed: Annotated[int, _seed("the random moves")] = 0,
) -> None:
    """Play random games and hold a game against everything that the program relies on."""
    from zerosum.game_check import check_game as check
    from zerosum.games import find_game

    found = find_game(game)
    report = check(found, num_games=games, seed=seed)
    results = ", ".join(f"{count} x {result:+g}" for result, count in sorted(report.results.items()))
    print(
        f"{game} keeps every promise: {report.num_games} random games, {report.num_positions:,} positions,"
        f" the longest {report.longest} plies, results for the first player {results}."
    )


@app.command(epilog="Example: `zerosum bench search --game connect4 --seconds 5 --json`")
def bench(
    name: Annotated[
        str,
        typer.Argument(help="`rules`, `search`, `evaluator`, `selfplay`, `train` or `analyse`.", show_default=False),
    ],
    game: Annotated[str, typer.Option(help="A game's name, or your own as `path.py:Class`.")] = "connect4",
    seconds: Annotated[float, typer.Option(min=0.1, help="About how long to measure.")] = 5.0,
    set_: Overrides = None,
    vs: Annotated[
        str | None,
        typer.Option(
            metavar="PEER",
            help="With `search`: `openspiel` or `mctx`, which does the same work in turns.",
            show_default=False,
        ),
    ] = None,
    peer_python: Annotated[
        str | None,
        typer.Option(metavar="PYTHON", help="The Python that has the peer, if not this one.", show_default=False),
    ] = None,
    perft: Annotated[
        bool,
        typer.Option(
            "--perft",
            metavar="",
            help="With `rules`: count the game's perft table again, in full; exit status 1 if a number differs.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Measure how fast this machine plays by the rules, searches, evaluates, plays games, learns and analyses."""
    from zerosum.bench import run_bench

    if perft:
        _check_perft(name, game, json)
        return

    for figure in run_bench(name, game, seconds=seconds, overrides=set_ or [], vs=vs, peer_python=peer_python):
        print(figure.json() if json else figure)


def _check_perft(bench: str, game: str, json: bool) -> None:
    from zerosum.errors import SettingsError
    from zerosum.games import make
    from zerosum.perft import check_perft

    if bench != "rules":
        raise SettingsError(f"--perft goes with the bench 'rules', not {bench!r}.")
    wrong = 0
    for check in check_perft(make(game)):
        print(check.json() if json else check)
        wrong += not check.is_right
    if wrong:
        raise typer.Exit(1)
