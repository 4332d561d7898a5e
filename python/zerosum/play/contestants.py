"""Players of a match in the words of a command line: our own, and other people's engines.

    random, rollouts, runs/demo     as `zerosum.play.player.parse_player` has them; so has it alphabeta
    stockfish                       an engine that is known by name (`external/opponents.py`), if it plays the game
    uci:COMMAND                     any engine by its command, `'uci:./stockfish-8 --quiet'`; also usi: and gtp:

With `@N` behind it, all but random have N simulations, N nodes or (alphabeta) N plies a move. What else a player has
stands beside its word, in the words of fastchess where that has one (`Entry.parse`):

    name=WORDS          what it is called in results and files
    tc=10+0.1, st=5     its clock, or seconds a move (`TimeControl.parse`)
    overhead=SECONDS    what our moves are late by at worst
    timemargin=N        milliseconds by which its clock may be overstepped
    manager=paper       our search thinks 1/20 of its remaining time, instead of what `time_manager.py` deems best
    ponder=true         it thinks in the opponent's time, too
    nodes=N, depth=N    limits of a move
    option.NAME=VALUE   an option of an engine
    profile=paper       options as the AlphaZero paper had them, as far as this machine goes (`external/profiles.py`)
    sample=N            moves are drawn in proportion to their visits while a game has fewer than N plies
    skill=S             a search of ours limited as engines limit theirs (`zerosum.play.skill`), 0 to 20
    resign=RULE         when to give up: `ResignRule.parse`, or the paper's by `paper`
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zerosum.base.errors import SettingsError, near, nearest, shown
from zerosum.base.settings import num_cores
from zerosum.contest.adjudication import ResignRule
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms
from zerosum.contest.paper import paper_matches
from zerosum.external.engine import GTP_PONDERS, PROTOCOLS, EngineCommand
from zerosum.external.opponents import find_opponent, opponents_of
from zerosum.external.profiles import profile_of
from zerosum.games import Rules
from zerosum.play.player import (
    ALPHA_BETA,
    RANDOM,
    ROLLOUTS,
    AlphaBeta,
    Contestant,
    OwnContestant,
    ProgramContestant,
    SearchContestant,
    not_sampled,
    parse_player,
)
from zerosum.play.skill import MOST_SKILL, with_skill

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
    "skill",
    "resign",
    "profile",
    "option.NAME",
)


@dataclass(frozen=True)
class Entry:
    """A player as it was entered in a match."""

    word: str
    """As the head of this file lists them."""
    terms: Terms = Terms()
    options: tuple[tuple[str, str], ...] = ()
    """(name, value), of an engine; a button has no value."""
    profile: str = ""
    sampled_plies: int = 0
    skill: float | None = None
    """As `zerosum.play.skill.with_skill` takes it; None limits nothing."""
    name: str = ""
    """What to call it; "" for what it is."""
    resign: str = ""
    """A rule as `ResignRule.parse` has it, or "paper"."""

    @classmethod
    def parse(cls, word: str, settings: Sequence[str]) -> Entry:
        """From settings such as `nodes=100`; of two with the same name the later one counts.

        Raises:
            SettingsError: a name is unknown, or a value is none.
        """
        values: dict[str, str] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or (name not in NAMES[:-1] and not name.removeprefix("option.").strip() == name[7:] != ""):
                raise SettingsError(
                    f"{shown(setting)} says nothing of a player: expected NAME=VALUE; {nearest(name, NAMES)}."
                )
            values[name] = value
        if "tc" in values and "st" in values:
            raise SettingsError(f"tc={values['tc']} and st={values['st']}: give one of them.")
        control = f"st={values['st']}" if "st" in values else values.get("tc", "inf")
        terms = {field: read(name, values[name]) for name, (field, read) in _TERMS.items() if name in values}
        return cls(
            word,
            Terms(TimeControl.parse(control), **terms),
            options=tuple((name[7:], value) for name, value in values.items() if name.startswith("option.")),
            profile=values.get("profile", ""),
            sampled_plies=_number("sample", values.get("sample", "0")),
            skill=_skill(values["skill"]) if "skill" in values else None,
            name=values.get("name", ""),
            resign=values.get("resign", ""),
        )


_SETTING = re.compile(r"[a-z]+(\.[^/=]*)?=.*", re.DOTALL)


def parse_entries(words: Sequence[str], each: Sequence[str]) -> list[Entry]:
    """Players in one line, each with its own settings behind it: `stockfish nodes=5 gnuchess st=1`.

    Args:
        words: Players and settings; a player's path with = in it begins with ./ or /.
        each: Settings of all, which those behind a player go before.

    Raises:
        SettingsError: as `Entry.parse`, or a setting stands before all players.
    """
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if not _SETTING.fullmatch(word):
            found.append((word, [*each]))
        elif found:
            found[-1][1].append(word)
        else:
            raise SettingsError(f"{shown(word)} stands before all players: write a setting behind its player.")
    return [Entry.parse(word, settings) for word, settings in found]


@dataclass(frozen=True)
class Entered:
    """A contestant, and messages about its setup."""

    contestant: Contestant
    sentences: tuple[str, ...] = ()


def enter(entry: Entry, game: Rules, *, batch_size: int = 32, num_engines: int = 1, seed: int = 0) -> Entered:
    """The contestant of an entry. An engine is started here only to list its options for a profile.

    Args:
        entry: The word, and what goes with it.
        game: The rules.
        batch_size: Usual number of positions per batch of a network.
        num_engines: Number of an engine's processes that share the machine.
        seed: Keys rollouts.

    Raises:
        SettingsError: the word is unknown, or a setting is not for this kind of player.
        DataError: a checkpoint is damaged, or its network does not fit the game.
        EngineFailure: an engine does not start.
    """
    word, number = _split_nodes(entry, game)
    command = _engine_command(word, game)
    resign = _resign_rule(entry.resign, game, is_own=command is None)
    if command is None:
        return Entered(_own_contestant(entry, resign, game, batch_size=batch_size, seed=seed))
    if entry.skill is not None:
        raise SettingsError(
            f"{entry.word} is an engine, and skill={entry.skill:g} is for our own searches: leave it out."
        )
    if command.program is None:
        raise SettingsError(f"{entry.word}: {_not_there(command.argv[0])}")
    terms = entry.terms if number is None else replace(entry.terms, nodes=number)
    _require_limit(command, terms)
    sentences: tuple[str, ...] = ()
    options = entry.options
    if entry.profile:
        profile = profile_of(entry.profile, command, game, num_engines=num_engines)
        given = {name.casefold() for name, _ in options}
        options = (*(option for option in profile.options if option[0].casefold() not in given), *options)
        sentences = (profile.sentence,)
    said = [f"{name} {value}".strip() for name, value in options] + ([str(terms)] if str(terms) else [])
    name = entry.name or (f"{command.label} ({', '.join(said)})" if said else command.label)
    if terms.ponder:  # an engine that cannot says so by not listing it
        options = (*options, ("USI_Ponder" if command.protocol == "usi" else "Ponder", "true"))
    program = replace(command, options=(*command.options, *options), name=entry.name or command.name)
    if entry.sampled_plies:
        raise not_sampled(name, entry.sampled_plies)
    return Entered(ProgramContestant(name, program, terms, resign), sentences)


def sharing_evaluator(first: Contestant, second: Contestant, *, words: tuple[str, str]) -> Contestant:
    """The second, with the first's evaluator if both run one network: then they share its batches."""
    paths = [os.path.realpath(re.sub(r"@\d+$", "", word)) for word in words]
    if isinstance(first, SearchContestant) and isinstance(second, SearchContestant):
        is_same = bool(first.network) and paths[0] == paths[1] and first.network == second.network
        return replace(second, evaluator=first.evaluator) if is_same else second
    return second


def _number(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise SettingsError(f"{name} is {shown(text)}, expected a whole number.")
    return int(text)


def _milliseconds(name: str, text: str) -> float:
    return _number(name, text) / 1000


def _is_true(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise SettingsError(f"{name} is {shown(text)}, expected true or false.")
    return text == "true"


def _skill(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"skill is {shown(text)}, expected a number from 0 to {MOST_SKILL}.") from None


def _seconds(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{name} is {shown(text)}, expected a number of seconds.") from None


_TERMS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "nodes": ("nodes", _number),
    "depth": ("depth", _number),
    "manager": ("manager", lambda _name, text: text),
    "overhead": ("overhead_s", _seconds),
    "timemargin": ("margin_s", _milliseconds),
    "ponder": ("ponder", _is_true),
}
"""The field of `Terms` that a setting is for, and how it is read."""


def _split_nodes(entry: Entry, game: Rules) -> tuple[str, int | None]:
    """The word, and the nodes behind the @ of an engine that is known by name."""
    found = re.fullmatch(r"(.+)@(\d+)", entry.word)
    if found is None or found[1] not in {opponent.name for opponent in opponents_of(game)}:
        return entry.word, None
    _require_one_number(entry)
    return found[1], int(found[2])


def _require_one_number(entry: Entry) -> None:
    if entry.terms.nodes is not None:
        raise SettingsError(f"{entry.word!r} and nodes={entry.terms.nodes}: give one of them.")


def _engine_command(word: str, game: Rules) -> EngineCommand | None:
    """An engine's command; None if the word is for one of our own players."""
    protocol, colon, text = word.partition(":")
    if colon and protocol in PROTOCOLS:
        return EngineCommand.parse(text, protocol=protocol)
    names = {opponent.name for opponent in opponents_of(game)}
    if word in names:
        return find_opponent(word, game)
    own, known = re.sub(r"@\d+$", "", word), (RANDOM.name, ALPHA_BETA, ROLLOUTS)
    if own in known or (own and os.path.exists(own)):
        return None
    guess = " or ".join(map(repr, near(word, [*known, *names])))
    raise SettingsError(
        f"unknown player {shown(word)}: {f'did you mean {guess}? Known' if guess else 'known'} are"
        f" {', '.join(sorted([*known, *names]))}, the path of a run or checkpoint, and engines by their commands as"
        " uci:COMMAND, usi:COMMAND, gtp:COMMAND. All but random take @N behind them: N simulations, nodes or plies."
    )


def _not_there(program: str) -> str:
    """Why a program cannot be started, and what to do."""
    if not os.path.dirname(program):
        return f"there is no program {shown(program)} on the path: install it, or name its file as in ./{program}."
    if not os.path.exists(program):
        return f"there is no file {shown(program)}: check the path."
    return f"{shown(program)} is not a program that may be run: name the engine's file, or `chmod +x` it."


def _require_limit(command: EngineCommand, terms: Terms) -> None:
    if command.protocol == "gtp":
        if terms.nodes is not None or terms.depth is not None:
            raise SettingsError(
                f"{command.label} has {terms}, and GTP has no words for nodes or depth: say in the engine's command how"
                " strong it is, or give it a time."
            )
        if terms.ponder:
            raise SettingsError(f"{command.label} is to ponder, and GTP has no words for it: {GTP_PONDERS}.")
    elif not terms.has_clock and terms.nodes is None and terms.depth is None:
        raise SettingsError(
            f"{command.label} would think for ever: give it a time (tc=10+0.1, st=1), nodes=1000 or depth=5."
        )


def _resign_rule(text: str, game: Rules, *, is_own: bool) -> ResignRule | None:
    if not text:
        return None
    if text != "paper":
        return ResignRule.parse(text)
    # Only one publication has rules of resignation. An engine of Go resigns by itself.
    matches = [match for match in paper_matches("paper") if match.game == game.spec.name]
    if not matches:
        raise SettingsError(f"resign=paper: the paper has no match of {game.spec.name}; say a rule such as winrate=5.")
    return matches[0].resign if is_own else matches[0].opponent.resign


def _own_contestant(
    entry: Entry, resign: ResignRule | None, game: Rules, *, batch_size: int, seed: int
) -> OwnContestant:
    for what in [*(f"option.{name}" for name, _ in entry.options), *(["profile"] if entry.profile else [])]:
        raise SettingsError(f"{entry.word} is one of our own players, and {what} is for engines: leave it out.")
    word, at, _ = entry.word.partition("@") if re.search(r"@\d+$", entry.word) else (entry.word, "", "")
    terms = entry.terms
    if at:
        _require_one_number(entry)
    own = parse_player(entry.word, game, batch_size=batch_size, num_threads=_num_threads(terms), seed=seed)
    if terms.has_clock:  # beside which a number is one more limit
        terms = replace(terms, nodes=own.search.num_simulations) if at and isinstance(own, SearchContestant) else terms
        name = f"{word if isinstance(own, SearchContestant) else own.name} ({terms})"
    else:
        name = f"{word}@{terms.nodes}" if terms.nodes is not None and isinstance(own, SearchContestant) else own.name
    own = replace(own, name=name, terms=terms)
    if isinstance(own, SearchContestant):
        own = replace(own, sampled_plies=entry.sampled_plies, resign=resign)
    elif entry.sampled_plies:
        raise not_sampled(name, entry.sampled_plies)
    elif resign is not None:
        never = "alpha-beta" if isinstance(own, AlphaBeta) else "random play"
        raise SettingsError(f"{name} is to resign, but {never} never knows how it stands.")
    if entry.skill is not None:
        if at or terms.nodes is not None or terms.has_clock:
            raise SettingsError(
                f"{entry.word} has skill={entry.skill:g}, which limits its search: leave out other limits."
            )
        own = with_skill(own, entry.skill)
    return replace(own, name=entry.name or own.name)


def _num_threads(terms: Terms) -> int:
    """By a clock boards think one by one, each in as many threads as there are cores."""
    return num_cores() if terms.has_clock else 1
