"""The words for players of a match on a command line: our own players, and other people's engines.

    random, rollouts, runs/demo     our own, also alphabeta: see `parse_player` in `own_contestants.py`
    stockfish                       an engine known by name (`engines/known_engines.py`), if it plays the game
    uci:COMMAND                     any engine by its command, `'uci:./stockfish-8 --quiet'`; also usi: and gtp:

All but random take `@N`: N simulations, N nodes or (alphabeta) N plies per move. Further settings follow the word,
with fastchess' names where it has them (`Entry.parse`):

    name=WORDS          its name in results and files
    tc=10+0.1, st=5     its clock, or seconds per move (`TimeControl.parse`)
    overhead=SECONDS    the longest delay of our moves on the way to the clock
    timemargin=N        milliseconds by which its clock may be overstepped
    manager=paper       our search uses 1/20 of its remaining time, instead of `time_manager.py`'s adaptive share
    ponder=true         it also thinks in the opponent's time
    nodes=N, depth=N    limits per move
    option.NAME=VALUE   an option of an engine, or of our alpha-beta search (`DeepeningProgram.with_options`)
    profile=paper       the AlphaZero paper's options, as far as this machine allows (`engines/profiles.py`)
    sample=N            in the first N plies moves are drawn in proportion to their visits
    within=P            such a move lacks at most P % of winning chance to the best one (`near_best_action`)
    skill=S             limits our search, 0 to 20 (`zerosum.play.skill`)
    precision=P         number format of our network (`Precision`), by default fast
    resign=RULE         when to resign: a rule of `ResignRule.parse`, or `paper`
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from zerosum.base.errors import SettingsError, near, nearest, shown
from zerosum.base.settings import num_cores, require_known, true_or_false
from zerosum.contest.adjudication import ResignRule, percentage
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms
from zerosum.contest.paper import paper_matches
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules
from zerosum.network.evaluators.backends import Precision
from zerosum.play.contestant import (
    ALPHA_BETA,
    Contestant,
    ProgramContestant,
    SearchContestant,
    not_sampled,
)
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.engines.engine import GTP_PONDERS, PROTOCOLS, EngineCommand
from zerosum.play.engines.known_engines import find_engine, known_engines
from zerosum.play.engines.profiles import profile_of
from zerosum.play.own_contestants import parse_player, with_skill
from zerosum.play.runs import PlayerWord, run_names
from zerosum.play.skill import MOST_SKILL
from zerosum.play.words import GAME_AS_PLAYER, OWN_WORDS

NAMES = (
    "name",
    "tc",
    "st",
    "timemargin",
    "ponder",
    "manager",
    "overhead",
    "nodes",
    "depth",
    "sample",
    "within",
    "skill",
    "precision",
    "resign",
    "profile",
    "option.NAME",
)


@dataclass(frozen=True)
class Entry:
    """A player of a match as the command line describes it."""

    word: str
    """One of the words that this file's docstring lists."""
    terms: Terms = Terms()
    options: tuple[tuple[str, str], ...] = ()
    """(name, value) of engine options; a button has no value."""
    profile: str = ""
    sampled_plies: int = 0
    sampled_within: float | None = None
    """Most winning chance, in [0, 1], that a sampled move may lack to the best one; None for no limit."""
    skill: float | None = None
    """The skill of `zerosum.play.own_contestants.with_skill`, 0 to 20; None for no limit."""
    name: str = ""
    """The name in results and files; "" is the word and its settings."""
    precision: Precision | None = None
    """The precision of our network's evaluations; None for the default of `parse_player`."""
    resign: str = ""
    """A rule of `ResignRule.parse`, or "paper"; "" is never."""

    @functools.cached_property
    def player(self) -> PlayerWord:
        """The word as that of a player of ours, or an engine known by name."""
        return PlayerWord.parse(self.word)

    @classmethod
    def parse(cls, word: str, settings: Sequence[str]) -> Entry:
        """Parse settings such as `nodes=100`; a later setting replaces an earlier one of the same name.

        Raises:
            SettingsError: a name is unknown, or a value is invalid.
        """
        values: dict[str, str] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or (name not in NAMES[:-1] and not name.removeprefix("option.").strip() == name[7:] != ""):
                raise SettingsError(
                    f"{shown(setting)} is not a setting of a player: expected NAME=VALUE{nearest(name, NAMES)}."
                )
            values[name] = value
        if "tc" in values and "st" in values:
            raise SettingsError(f"tc={values['tc']} and st={values['st']}: give one of them.")
        control = f"st={values['st']}" if "st" in values else values.get("tc", "inf")
        terms, managed = (
            {field: read(name, values[name]) for name, (field, read) in readers.items() if name in values}
            for readers in (_TERMS, _TIME_CONFIG)
        )
        return cls(
            word,
            Terms(TimeControl.parse(control), time_config=TimeConfig(**managed), **terms),
            options=tuple((name[7:], value) for name, value in values.items() if name.startswith("option.")),
            profile=values.get("profile", ""),
            sampled_plies=_number("sample", values.get("sample", "0")),
            sampled_within=percentage("within", values["within"]) if "within" in values else None,
            skill=_skill(values["skill"]) if "skill" in values else None,
            name=values.get("name", ""),
            precision=_precision(values["precision"]) if "precision" in values else None,
            resign=values.get("resign", ""),
        )


_SETTING = re.compile(r"[a-z]+(\.[^/=]*)?=.*", re.DOTALL)


def parse_entries(words: Sequence[str], each: Sequence[str]) -> list[Entry]:
    """Parse players that are each followed by their settings: `stockfish nodes=5 gnuchess st=1`.

    Args:
        words: Players and settings; a player's path with = in it begins with ./ or /.
        each: Settings of all players; a player's own settings override them.

    Raises:
        SettingsError: as `Entry.parse`, or a setting precedes all players.
    """
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if not _SETTING.fullmatch(word):
            found.append((word, [*each]))
        elif found:
            found[-1][1].append(word)
        else:
            raise SettingsError(f"{shown(word)} precedes all players: write a setting after its player.")
    return [Entry.parse(word, settings) for word, settings in found]


def enter(
    entry: Entry,
    game: Rules,
    *,
    batch_size: int = 32,
    num_engines: int = 1,
    seed: int = 0,
    say: Callable[[str], None] = lambda _sentence: None,
) -> Contestant:
    """The contestant of an entry. An engine is started here only to list its options for a profile.

    Args:
        entry: The word and its settings.
        game: The rules.
        batch_size: Usual number of positions per batch of a network.
        num_engines: Number of engine processes that share the machine.
        seed: Seed of rollouts.
        say: Gets sentences about the setup of an engine by a profile, and about what a network has not learned.

    Raises:
        SettingsError: the word is unknown, or a setting is not for this kind of player.
        DataError: a checkpoint is damaged, or its network does not fit the game.
        EngineFailure: an engine does not start.
    """
    number = _nodes(entry, game)
    command = _engine_command(entry, game)
    resign = _resign_rule(entry.resign, game, is_own=command is None)
    if command is None:
        return _own_contestant(entry, resign, game, batch_size=batch_size, seed=seed, say=say)
    if entry.skill is not None:
        raise SettingsError(
            f"{entry.word} is an engine, and skill={entry.skill:g} is for our own searches: leave it out."
        )
    if entry.precision is not None:
        raise SettingsError(
            f"{entry.word} is an engine, and precision={entry.precision} is for our own networks: leave it out."
        )
    if command.program is None:
        raise SettingsError(f"{entry.word}: {_not_there(command.argv[0])}")
    terms = entry.terms if number is None else replace(entry.terms, nodes=number)
    _require_limit(command, terms)
    options = entry.options
    if entry.profile:
        profile = profile_of(entry.profile, command, game, num_engines=num_engines)
        given = {name.casefold() for name, _ in options}
        options = (*(option for option in profile.options if option[0].casefold() not in given), *options)
        say(profile.sentence)
    said = [f"{name} {value}".strip() for name, value in options] + ([str(terms)] if str(terms) else [])
    name = entry.name or (f"{command.label} ({', '.join(said)})" if said else command.label)
    if terms.ponder:  # an engine that lists no such option cannot ponder
        options = (*options, ("USI_Ponder" if command.protocol == "usi" else "Ponder", "true"))
    program = replace(command, options=(*command.options, *options), name=entry.name or command.name)
    if entry.sampled_plies or entry.sampled_within is not None:
        raise not_sampled(name, entry.sampled_plies)
    return ProgramContestant(name, program, terms, resign)


def sharing_evaluator(first: Contestant, second: Contestant, *, words: tuple[PlayerWord, PlayerWord]) -> Contestant:
    """The second contestant, with the first's evaluator if both use the same network, so that they share batches."""
    paths = [os.path.realpath(named.word) for named in words]
    if isinstance(first, SearchContestant) and isinstance(second, SearchContestant):
        is_same = bool(first.network) and paths[0] == paths[1] and first.network == second.network
        return replace(second, evaluator=first.evaluator) if is_same else second
    return second


def _number(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise SettingsError(f"{name} is {shown(text)}, expected an integer.")
    return int(text)


def _milliseconds(name: str, text: str) -> float:
    return _number(name, text) / 1000


def _skill(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"skill is {shown(text)}, expected a number from 0 to {MOST_SKILL}.") from None


def _precision(text: str) -> Precision:
    require_known("precision", text, get_args(Precision))
    return cast(Precision, text)


def _seconds(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{name} is {shown(text)}, expected a number of seconds.") from None


_TERMS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "nodes": ("nodes", _number),
    "depth": ("depth", _number),
    "timemargin": ("margin_s", _milliseconds),
    "ponder": ("ponder", true_or_false),
}
"""Settings of `Terms`: the field, and the parser of the value."""
_TIME_CONFIG: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "manager": ("manager", lambda _name, text: text),
    "overhead": ("overhead_s", _seconds),
}
"""Those of its `TimeConfig`."""


def _nodes(entry: Entry, game: Rules) -> int | None:
    """The number behind the @ of an engine known by name."""
    if entry.player.number is None or entry.player.word not in {engine.name for engine in known_engines(game)}:
        return None
    _require_one_number(entry)
    return entry.player.number


def _require_one_number(entry: Entry) -> None:
    if entry.terms.nodes is not None:
        raise SettingsError(f"{entry.word!r} and nodes={entry.terms.nodes}: give one of them.")


def _engine_command(entry: Entry, game: Rules) -> EngineCommand | None:
    """The command of an engine; None if the word names one of our own players."""
    word, own = entry.word, entry.player
    protocol, colon, text = word.partition(":")
    if colon and protocol in PROTOCOLS:
        return EngineCommand.parse(text, protocol=protocol)
    names = {engine.name for engine in known_engines(game)}
    if own.word in names:
        return find_engine(own.word, game)
    if own.is_own or own.game is not None or own.run is not None:
        return None
    own.require_not_path()
    guess = " or ".join(map(repr, near(word, [*OWN_WORDS, *names, *run_names()])))
    raise SettingsError(
        f"unknown player {shown(word)}{f': did you mean {guess}? Available' if guess else '; available'}:"
        f" {', '.join(sorted([*OWN_WORDS, *names]))}, the path of a run or checkpoint, engines by their commands as"
        f" uci:COMMAND, usi:COMMAND, gtp:COMMAND, and a game, {GAME_AS_PLAYER}. All but random take @N behind them: N"
        " simulations, nodes or plies."
    )


def _not_there(program: str) -> str:
    """The reason why a program cannot be started, and the remedy."""
    if not os.path.dirname(program):
        return f"program {shown(program)} is not on the path: install it, or name its file as in ./{program}."
    if not os.path.exists(program):
        return f"file {shown(program)} does not exist: check the path."
    return f"{shown(program)} is not executable: name the engine's file, or `chmod +x` it."


def _require_limit(command: EngineCommand, terms: Terms) -> None:
    if command.protocol == "gtp":
        if terms.nodes is not None or terms.depth is not None:
            raise SettingsError(
                f"{command.label} has {terms}, and GTP cannot limit nodes or depth: limit the engine in its command, or"
                " give it a time."
            )
        if terms.ponder:
            raise SettingsError(f"{command.label} is set to ponder, which GTP cannot ask for: {GTP_PONDERS}.")
    elif not terms.has_clock and terms.nodes is None and terms.depth is None:
        raise SettingsError(f"{command.label} has no limit: give it a time (tc=10+0.1, st=1), nodes=1000 or depth=5.")


def _resign_rule(text: str, game: Rules, *, is_own: bool) -> ResignRule | None:
    if not text:
        return None
    if text != "paper":
        return ResignRule.parse(text)
    # Only one publication states rules of resignation. Go engines resign by themselves.
    matches = [match for match in paper_matches("paper") if match.game == game.spec.name]
    if not matches:
        raise SettingsError(f"resign=paper: the paper has no match of {game.spec.name}; use a rule such as winrate=5.")
    return matches[0].resign if is_own else matches[0].opponent.resign


def _own_contestant(
    entry: Entry,
    resign: ResignRule | None,
    game: Rules,
    *,
    batch_size: int,
    seed: int,
    say: Callable[[str], None],
) -> Contestant:
    word, at, terms = entry.player.word, entry.player.number is not None, entry.terms
    if at:
        _require_one_number(entry)
    own = parse_player(
        entry.player,
        game,
        precision=entry.precision or "fast",
        batch_size=batch_size,
        num_threads=_num_threads(terms),
        seed=seed,
        say=say,
    )
    is_deepening = isinstance(own, ProgramContestant) or (word == ALPHA_BETA and not at)
    for what in [
        *(f"option.{name}" for name, _ in entry.options if not is_deepening),
        *(["profile"] if entry.profile else []),
    ]:
        raise SettingsError(f"{entry.word} is one of our own players, and {what} is for engines: leave it out.")
    if (
        word == ALPHA_BETA
        and not at
        and (entry.options or terms.has_clock or terms.nodes is not None or terms.depth is not None)
    ):
        own = ProgramContestant(ALPHA_BETA, DeepeningProgram())
    if isinstance(own, ProgramContestant):
        return _alpha_beta_contestant(entry, own, resign, game)
    if entry.precision is not None and not (isinstance(own, SearchContestant) and own.network):
        raise SettingsError(
            f"{entry.word} has no network, and precision={entry.precision} is a network's: leave it out."
        )
    if terms.has_clock:  # a number of simulations is then a further limit
        terms = replace(terms, nodes=own.search.num_simulations) if at and isinstance(own, SearchContestant) else terms
        name = f"{word if isinstance(own, SearchContestant) else own.name} ({terms})"
    else:
        name = f"{word}@{terms.nodes}" if terms.nodes is not None and isinstance(own, SearchContestant) else own.name
    own = replace(own, name=name, terms=terms)
    if isinstance(own, SearchContestant):
        if entry.precision is not None:  # another player than the same without it
            own = replace(own, name=f"{name} {entry.precision}", network=f"{own.network}, {entry.precision}")
        plies, within = entry.sampled_plies, entry.sampled_within
        own = replace(own, sampled_plies=plies, sampled_within=within, resign=resign)
    elif entry.sampled_plies or entry.sampled_within is not None:
        raise not_sampled(name, entry.sampled_plies)
    elif resign is not None:
        raise SettingsError(f"{name} cannot resign: it does not evaluate positions.")
    own = _limited(own, entry)
    return replace(own, name=entry.name or own.name)


def _limited(own: Contestant, entry: Entry) -> Contestant:
    """A player with the skill of its entry, if it has one."""
    if entry.skill is None:
        return own
    terms = entry.terms
    has_limit = terms.nodes is not None or terms.depth is not None or terms.has_clock
    if has_limit or entry.player.number is not None:
        raise SettingsError(f"{entry.word} has skill={entry.skill:g}, which limits its search: leave out other limits.")
    return with_skill(own, entry.skill)


def _alpha_beta_contestant(entry: Entry, own: ProgramContestant, resign: ResignRule | None, game: Rules) -> Contestant:
    """A deepening alpha-beta search with the terms of an entry."""
    for what, is_given in {
        "precision": entry.precision is not None,
        "sample": entry.sampled_plies > 0,
        "within": entry.sampled_within is not None,
        "ponder": entry.terms.ponder,
    }.items():
        if is_given:
            raise SettingsError(f"{entry.word} is an alpha-beta search, which has no {what}: leave it out.")
    word, number = entry.player.word, entry.player.number
    terms = entry.terms if number is None else replace(entry.terms, nodes=number)
    said = [f"{name} {value}" for name, value in entry.options] + ([str(terms)] if str(terms) else [])
    if number is not None and len(said) == 1:
        name = f"{word}@{number}"
    else:
        name = f"{word} ({', '.join(said)})" if said else word
    assert isinstance(own.program, DeepeningProgram)
    program = own.program.with_options(dict(entry.options))
    program.tables(game)  # an error of theirs is the command's, not the first game's
    limited = _limited(replace(own, name=name, terms=terms, resign=resign, program=program), entry)
    return replace(limited, name=entry.name or limited.name)


def _num_threads(terms: Terms) -> int:
    """Threads of a search: with a clock, boards think one at a time, each with all cores."""
    return num_cores() if terms.has_clock else 1
