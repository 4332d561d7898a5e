"""Commands that compare players: `match`, `tournament`, `ladder`, `levels`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from zerosum.cli.application import app
from zerosum.cli.words import (
    GAME_HELP,
    WHO_HELP,
    GameArgument,
    Json,
    RatedSettings,
    refuse,
    require_game_name,
    require_pairs_option,
    say,
    seed_option,
)

if TYPE_CHECKING:  # for a quick start of the command line
    from zerosum.arena import MatchSettings
    from zerosum.arena.plan import Format
    from zerosum.arena.session import SessionResult
    from zerosum.arena.suite import SuiteWords
    from zerosum.contest.sprt import Sprt
    from zerosum.play.entries import Entry

PlayerSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--each",
        metavar="NAME=VALUE",
        help="A setting of all players; may be repeated: a clock `tc=10+0.1` (or `40/60`, byoyomi `10+5x3`), `st=1`"
        " second, `timemargin=50` milliseconds over it, `ponder=true`, `nodes=1000` or `depth=5` per move,"
        " `'option.Hash=64'` of an engine, `profile=paper`, `sample=30` plies by visits,"
        " `'resign=score=600 movecount=3'`, `resign=winrate=5`, `resign=lead=20` points,"
        " `resign=paper`.",
        show_default=False,
    ),
]
FirstSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--first", metavar="NAME=VALUE", help="A setting of the first player; it overrides --each.", show_default=False
    ),
]
SecondSettings = Annotated[
    list[str] | None,
    typer.Option("--second", metavar="NAME=VALUE", help="A setting of the second player.", show_default=False),
]


Openings = Annotated[
    str,
    typer.Option(
        "--openings",
        metavar="FILE",
        help="File of openings: PGN, EPD, SFEN, SGF, moves (.txt), a Polyglot book (.bin); or `chess-human`,"
        " `shogi-human`, which are built in.",
        show_default=False,
    ),
]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Random plies that open each pair of games, 2 by default; with --openings, most plies of an opening.",
        show_default=False,
    ),
]
Shuffle = Annotated[bool, typer.Option("--shuffle", metavar="", help="Take the openings of a file in random order.")]
Draw = Annotated[
    str, typer.Option("--draw", help="Agree a draw: `'movenumber=40 movecount=8 score=10'`.", show_default=False)
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Games at once; by default 64 between our own players without clocks, else one per core.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File of the games (.pgn, .sgf or .csa; .jsonl for any game), or directory of a suite. The same command"
        " continues a stopped match.",
        show_default=False,
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File to which all lines to and from engines are added, with time, game and engine.",
        show_default=False,
    ),
]
Seed = Annotated[int, seed_option("openings, random play and sampled moves")]


@app.command(
    epilog="Example: `zerosum match connect4 runs/connect4@100 random --games 20`; against an engine"
    " `zerosum match chess runs/chess stockfish@1000 --second 'option.Skill Level=0' --out games.pgn`"
)
def match(
    game: Annotated[
        str,
        typer.Argument(
            callback=require_game_name,
            help=f"{GAME_HELP} A run means its game. With --suite, the only game to play.",
            show_default=False,
        ),
    ] = "",
    first: Annotated[
        str,
        typer.Argument(
            help=f"{WHO_HELP} Or `rollouts`, `alphabeta`, `random`, an engine by its name (`stockfish`) or by its"
            " command as `uci:COMMAND`, `usi:…` or `gtp:…`; a suffix `@N` sets simulations, nodes or plies per move.",
            show_default=False,
        ),
    ] = "",
    second: Annotated[str, typer.Argument(help="The same for the opponent.", show_default=False)] = "",
    games: Annotated[
        int, typer.Option(min=2, callback=require_pairs_option, help="Games; each opening is played from both sides.")
    ] = 100,
    each: PlayerSettings = None,
    first_: FirstSettings = None,
    second_: SecondSettings = None,
    openings: Openings = "",
    opening_plies: OpeningPlies = None,
    shuffle: Shuffle = False,
    draw: Draw = "",
    concurrency: Concurrency = None,
    sprt: Annotated[
        str,
        typer.Option(
            metavar="ELO0,ELO1", help="Stop as soon as one of these differences is accepted.", show_default=False
        ),
    ] = "",
    model: Annotated[
        str | None,
        typer.Option(help="Elo model of the test: `normalized` (default), `logistic` or `bayesian`."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Rate at which the test may accept ELO1 in error, 0.05 by default.")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="The same for ELO0.")] = None,
    out: Out = None,
    log: Log = None,
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Play the matches of the AlphaZero paper, `paper` or `paper-2017`, each with --games.",
            show_default=False,
        ),
    ] = "",
    time_scale: Annotated[
        float | None,
        typer.Option(help="Factor for the times of a --suite, 0.001 by default (3 hours become 10.8 s)."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play a match of two players and compare their strength."""
    from zerosum.arena import MatchSettings
    from zerosum.arena.suite import SuiteWords
    from zerosum.base.errors import SettingsError, printable
    from zerosum.play.entries import Entry
    from zerosum.run.report import score_json

    test: dict[str, object] = {"--model": model, "--alpha": alpha, "--beta": beta}
    if suite:
        own: dict[str, object] = {
            "--each": each,
            "--first": first_,
            "--second": second_,
            "--draw": draw,
            "--sprt": sprt,
        }
        own |= {"--opening-plies": opening_plies, "--shuffle": shuffle, **test}
        refuse("a --suite says how it is played", own)
        scale = 0.001 if time_scale is None else time_scale
        _play_suite(SuiteWords(suite, games, scale, game, first, second, openings, seed, concurrency), out, log, json)
        return
    refuse("only a --suite has times to multiply", {"--time-scale": time_scale})
    if not sprt:
        refuse("there is no --sprt that it would set", test)
    for name, word in (("GAME", game), ("FIRST", first), ("SECOND", second)):
        if not word:
            raise SettingsError(f"Missing argument {name}: a match needs a game and two players.")
    played = _play(
        game,
        [Entry.parse(first, [*(each or []), *(first_ or [])]), Entry.parse(second, [*(each or []), *(second_ or [])])],
        MatchSettings(games, seed, max_games_at_once=concurrency, sprt=_sprt(sprt, test)),
        openings=(openings, opening_plies, shuffle),
        draw=draw,
        out=out,
        log=log,
    )
    if _has_games(played):
        print(score_json(played.result) if json else printable(str(played.result)))
    _leave(played)


def _sprt(hypotheses: str, test: dict[str, Any]) -> Sprt | None:
    from zerosum.contest.sprt import Sprt

    given = {name.removeprefix("--"): value for name, value in test.items() if value is not None}
    return Sprt.parse(hypotheses, **given) if hypotheses else None


def _play(
    game: str,
    entries: list[Entry],
    settings: MatchSettings,
    *,
    openings: tuple[str, int | None, bool],
    draw: str,
    out: Path | None,
    log: Path | None,
) -> SessionResult:
    """Play the match. Openings are (file, plies, whether they are shuffled)."""
    from zerosum.arena.session import plan_match, play_session, with_openings
    from zerosum.contest.adjudication import DrawRule
    from zerosum.games import make

    rules, (word, plies, is_shuffled) = make(game), openings
    settings = replace(settings, draw=DrawRule.parse(draw) if draw else None)
    settings = with_openings(settings, rules, openings=word, plies=plies, is_shuffled=is_shuffled)
    return play_session(plan_match(rules, entries, settings, say=say), file=out, log=log, say=say)


def _has_games(played: SessionResult) -> bool:
    """Whether a game has ended, so that there is a score."""
    return any(result.games for result in played.results)


def _leave(played: SessionResult) -> None:
    if played.is_interrupted:
        say(played.how_to_go_on)
        raise typer.Exit(130)


def _play_suite(words: SuiteWords, out: Path | None, log: Path | None, json: bool) -> None:
    from zerosum.arena.suite import SuiteResult, play_suite
    from zerosum.arena.suite_page import suite_page
    from zerosum.base.errors import printable
    from zerosum.base.files import replace_durably, writing
    from zerosum.run.report import score_json

    played = list[SuiteResult]()
    for result in play_suite(words, directory=out, log=log, say=say):
        if not _has_games(result.played):
            _leave(result.played)
        played.append(result)
        if out is not None:
            with writing(out):
                replace_durably(out / "index.html", suite_page(played, title=f"The paper's matches ({words.suite})"))
        print(
            score_json(result.played.result, match=result.match.title, paper=result.match.result)
            if json
            else printable(f"{result}\n")
        )
        _leave(result.played)
    if out is not None and played:
        say(f"{out / 'index.html'} shows the results beside the paper's.")


@app.command(
    epilog="Example: `zerosum tournament connect4 runs/connect4 rollouts@100 rollouts@400 --games 40`; with engines"
    " `zerosum tournament chess runs/chess stockfish 'option.Skill Level=0' gnuchess --each st=1 --format gauntlet`"
)
def tournament(
    game: GameArgument,
    players: Annotated[
        list[str],
        typer.Argument(
            help="Three or more, each as in `match`. NAME=VALUE after a player is its setting:"
            " `stockfish nodes=1000 'option.Skill Level=0' gnuchess st=1`.",
            show_default=False,
        ),
    ],
    format: Annotated[
        str,
        typer.Option("--format", help="`round-robin`: all pairs; `gauntlet`: the first player against all others."),
    ] = "round-robin",
    games: Annotated[
        int,
        typer.Option(
            min=2,
            callback=require_pairs_option,
            help="Games of each pair; each opening is played from both sides.",
        ),
    ] = 20,
    each: PlayerSettings = None,
    openings: Openings = "",
    opening_plies: OpeningPlies = None,
    shuffle: Shuffle = False,
    draw: Draw = "",
    concurrency: Concurrency = None,
    out: Out = None,
    log: Log = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play a tournament and print a table of points and ratings."""
    from json import dumps

    from zerosum.arena import MatchSettings
    from zerosum.base.errors import SettingsError, printable
    from zerosum.play.entries import parse_entries

    settings = MatchSettings(games, seed, max_games_at_once=concurrency, format=cast("Format", format))
    entries = parse_entries(players, each or [])
    if len(entries) < 3:
        raise SettingsError(f"a tournament needs three or more players, got {len(entries)}: `match` plays two.")
    played = _play(game, entries, settings, openings=(openings, opening_plies, shuffle), draw=draw, out=out, log=log)
    if _has_games(played):
        print(dumps(played.standings.numbers()) if json else printable(str(played.standings)))
    _leave(played)


@app.command(
    epilog="Example: `zerosum ladder connect4 runs/connect4 --games 200 --results ladder.jsonl`, or an engine:"
    " `zerosum ladder chess 'uci:./my-engine' --player nodes=1000 --within 60`"
)
def ladder(
    game: GameArgument,
    player: Annotated[
        str,
        typer.Argument(
            help="The player to rate, as in `match`; without one the opponents are rated.", show_default=False
        ),
    ] = "",
    has: RatedSettings = None,
    games: Annotated[
        int,
        typer.Option(help="Budget, including games for this player in --results; 0 shows the known ratings."),
    ] = 200,
    within: Annotated[
        float, typer.Option(metavar="ELO", help="Stop once the 95 % interval is at most ± this many Elo.")
    ] = 0.0,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Play only this opponent and `random`; may be repeated.", show_default=False),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of results (JSON lines): the same command continues, and other players' ratings use them, too.",
            show_default=False,
        ),
    ] = None,
    checkpoints: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Rate N checkpoints of the run PLAYER, evenly spread, by --games each, against the opponents and one"
            " another. The run keeps the results, and `report` draws them.",
            show_default=False,
        ),
    ] = None,
    opening_plies: Annotated[int, typer.Option(help="Random plies that open each pair of games.")] = 4,
    seed: Annotated[int, seed_option("openings, random play and sampled moves")] = 0,
    json: Json = False,
) -> None:
    """Rate a player on a scale of opponents by the most informative games; random play is 0."""
    from zerosum.arena.ladder.checkpoints import place_checkpoints
    from zerosum.arena.ladder.command import place
    from zerosum.arena.ladder.placement import LadderSettings
    from zerosum.play.entries import Entry

    if not player:
        refuse("there is no PLAYER to have it", {"--player": has, "--checkpoints": checkpoints})
    entry = Entry.parse(player, has or []) if player else None
    settings = LadderSettings(num_games=games, within_elo=within, opening_plies=opening_plies, seed=seed)
    if entry is not None and checkpoints is not None:
        refuse("the results of checkpoints are kept in their run", {"--results": results})
        is_interrupted = place_checkpoints(
            game, entry, settings, count=checkpoints, opponents=opponent or [], is_json=json, write=print, say=say
        )
    else:
        is_interrupted = place(
            game, entry, settings, opponents=opponent or [], results=results, is_json=json, write=print, say=say
        )
    if is_interrupted:
        raise typer.Exit(130)


@app.command(
    epilog="Example: `zerosum levels chess runs/chess --games 60`; then `zerosum uci runs/chess` lists `UCI_Elo`"
)
def levels(
    game: GameArgument,
    player: Annotated[str, typer.Argument(help=f"{WHO_HELP} Or `rollouts`.", show_default=False)],
    games: Annotated[int, typer.Option(help="Games at each skill, including those in --results.")] = 60,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="As in `ladder`.", show_default=False),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of results, as in `ladder`.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the levels; for a run, its directory by default."),
    ] = None,
    seed: Annotated[int, seed_option("openings, random play and drawn moves")] = 0,
) -> None:
    """Measure the Elo of an engine's skill levels on the ladder, for its option `UCI_Elo`."""
    from zerosum.arena.ladder.placement import LadderSettings
    from zerosum.arena.ladder.skills import level_table, measure_levels
    from zerosum.play.runs import PlayerWord
    from zerosum.play.skill import LEVELS_FILE

    found = measure_levels(
        game,
        player,
        LadderSettings(num_games=games, seed=seed),
        opponents=opponent or [],
        results=results,
        say=say,
    )
    print(level_table(found))
    run = PlayerWord(player).run
    path = out or (run / LEVELS_FILE if run is not None and run.is_dir() else None)
    if path is not None:
        found.write(path)
        say(f"Kept in {path}.")
