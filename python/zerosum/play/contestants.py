"""Who plays in a match, in the words of a command line: our own players, and other people's engines.

    random, rollouts, runs/demo     as `zerosum.play.player.parse_player` has them
    stockfish                       an engine that is known by name (`opponents.py`), if it plays the game
    uci:COMMAND                     any engine by its command, `'uci:./stockfish-8 --quiet'`; also usi: and gtp:

With `@N` behind it, all but random have N simulations a move, or N nodes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zerosum.adjudication import ResignRule
from zerosum.errors import SettingsError, near, shown
from zerosum.games import Rules
from zerosum.play.external import PROTOCOLS, EngineCommand, ExternalEngine
from zerosum.play.opponents import find_opponent, opponents_of
from zerosum.play.player import RANDOM, ROLLOUTS, Contestant, parse_player
from zerosum.play.program import Terms


@dataclass(frozen=True)
class Entry:
    """A contestant as it was entered."""

    word: str
    """As the head of this file lists them."""
    terms: Terms = Terms()  # noqa: RUF009 (it is frozen)
    options: tuple[str, ...] = ()
    """`NAME=VALUE`, of an engine; a button has no value."""
    sampled_plies: int = 0
    resign: ResignRule | None = None


def parse_contestant(
    entry: Entry, game: Rules, *, batch_size: int = 32, num_threads: int = 1, seed: int = 0
) -> Contestant:
    """Who plays; no engine is started yet.

    Args:
        entry: The words, and what goes with them.
        game: To be played.
        batch_size: How many positions a network is usually asked about at a time,
        num_threads: from how many threads at once.
        seed: Keys rollouts.

    Raises:
        SettingsError: nobody goes by this word, or what goes with it is not for this kind of player.
        DataError: a checkpoint is damaged, or its network does not fit the game.
    """
    word, number = _split_nodes(entry, game)
    if (command := _engine_command(word, game)) is None:
        return _own_contestant(entry, game, batch_size=batch_size, num_threads=num_threads, seed=seed)
    command = replace(command, options=(*command.options, *map(parse_option, entry.options)))
    terms = entry.terms if number is None else replace(entry.terms, nodes=number)
    _require_limit(command, terms)
    said = [f"{name} {value}".strip() for name, value in map(parse_option, entry.options)]
    said += [str(terms)] if str(terms) else []
    name = f"{command.label} ({', '.join(said)})" if said else command.label
    return Contestant(name, program=command, terms=terms, sampled_plies=entry.sampled_plies, resign=entry.resign)


def parse_option(text: str) -> tuple[str, str]:
    """(name, value) of `Skill Level=0`.

    Raises:
        SettingsError: it has no name.
    """
    name, _, value = text.partition("=")
    if not name.strip():
        raise SettingsError(f"an engine's option {shown(text)} has no name: write NAME=VALUE, such as 'Threads=1'.")
    return name.strip(), value.strip()


def share_evaluator(first: Contestant, second: Contestant, words: Sequence[str]) -> Contestant:
    """The second, with the first's evaluator if both run one network: then they share its batches."""
    paths = [re.sub(r"@\d+$", "", word) for word in words]
    is_same = os.path.realpath(paths[0]) == os.path.realpath(paths[1]) and first.network == second.network
    return replace(second, evaluator=first.evaluator) if is_same and first.network else second


def option_names(command: EngineCommand, game: Rules) -> list[str]:
    """The options that an engine says it has; it is started for that.

    Raises:
        EngineFailure: it cannot be started.
    """
    with ExternalEngine(command, game) as engine:
        return engine.option_names


def _split_nodes(entry: Entry, game: Rules) -> tuple[str, int | None]:
    """Who, and the nodes behind the @ of an engine that is known by name."""
    found = re.fullmatch(r"(.+)@(\d+)", entry.word)
    if found is None or found[1] not in {opponent.name for opponent in opponents_of(game)}:
        return entry.word, None
    if entry.terms.nodes is not None:
        raise SettingsError(f"{entry.word!r} and nodes of {entry.terms.nodes}: give one of them.")
    return found[1], int(found[2])


def _engine_command(word: str, game: Rules) -> EngineCommand | None:
    """An engine's command; None if the word is for one of our own players."""
    protocol, colon, text = word.partition(":")
    if colon and protocol in PROTOCOLS:
        return EngineCommand.parse(text, protocol=protocol)
    own = (RANDOM.name, ROLLOUTS)
    names = {opponent.name for opponent in opponents_of(game)}
    if word in names:
        return find_opponent(word, game)
    if re.sub(r"@\d+$", "", word) in own or os.path.exists(re.sub(r"@\d+$", "", word)):
        return None
    guess = " or ".join(map(repr, near(word, [*own, *names])))
    raise SettingsError(
        f"unknown player {word!r}: {f'did you mean {guess}? Known' if guess else 'known'} are"
        f" {', '.join(sorted([*own, *names]))}, the path of a run or checkpoint, and engines by their commands as"
        " uci:COMMAND, usi:COMMAND, gtp:COMMAND. All but random take @N behind them: N simulations or nodes a move."
    )


def _require_limit(command: EngineCommand, terms: Terms) -> None:
    if command.protocol == "gtp":
        if terms.nodes is not None or terms.depth is not None:
            raise SettingsError(
                f"{command.label} has {terms}, and GTP has no words for nodes or depth: say in the engine's command how"
                " strong it is, or give it a time."
            )
    elif not terms.has_clock and terms.nodes is None and terms.depth is None:
        raise SettingsError(
            f"{command.label} would think for ever: give it a time (--tc), nodes (--nodes) or a depth (--depth)."
        )


def _own_contestant(entry: Entry, game: Rules, *, batch_size: int, num_threads: int, seed: int) -> Contestant:
    if entry.options:
        raise SettingsError(f"{entry.word} has the option {shown(entry.options[0])}, and options are for engines.")
    word, terms = entry.word, entry.terms
    has_number = re.search(r"@\d+$", word) is not None
    if has_number and terms.nodes is not None:
        raise SettingsError(f"{word!r} and nodes of {terms.nodes}: give one of them.")
    own = parse_player(word, game, batch_size=batch_size, num_threads=num_threads, seed=seed)
    name = own.name
    if terms.nodes is not None or (terms.has_clock and has_number):
        # Under a clock the number is a limit beside it.
        terms = replace(terms, nodes=terms.nodes or own.search.num_simulations)
        name = f"{word.partition('@')[0]}@{terms.nodes}"
    if terms.has_clock:
        name = f"{word} ({terms.time})"
    return replace(own, name=name, terms=terms, sampled_plies=entry.sampled_plies, resign=entry.resign)
