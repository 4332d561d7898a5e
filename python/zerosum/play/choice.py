"""The choice of a player: by a word, or the default player of a game.

All commands follow one rule. A word is a run or a checkpoint (a path, or the name of a run), a game, whose newest run
plays, or `rollouts`. `usual_network` says which network plays without a word; without one rollouts do.
A sentence tells people of the choice: the checkpoint, or that there is none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.rules import NO_PLY_CAP, without_ply_cap
from zerosum.games.short_names import short_name
from zerosum.network import CheckpointInfo
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.play.bundled import UsualNetwork, is_bundled, read_card, usual_network
from zerosum.play.contestant import DEFAULT_ROLLOUTS, rollouts
from zerosum.play.origin import Origin
from zerosum.play.own_contestants import existing_run, search_contestant
from zerosum.play.player import Player, load_player
from zerosum.play.runs import PlayerWord, network_at, runs_directory

BUNDLED_NAME = "zerosum's network"
"""The name of a player with a bundled network."""


Say = Callable[[str], None]
"""Gets the sentence about a choice."""


def choose_player(
    game: Rules,
    path: Path | None = None,
    *,
    runs: Path | None = None,
    backend: str = "auto",
    say: Say = lambda _sentence: None,
) -> Player:
    """The player of a run or checkpoint; if none is named, of the newest run in `runs` whose network fits the game.

    Without a run the bundled network plays (`bundled_network`); without a network, pure Monte Carlo tree search
    with uniform priors and random games. `by_people_rules` gives the rules.

    Raises:
        DataError: `path` has no complete checkpoint, or its network does not fit the game.
        SettingsError: a setting is out of range, or the backend cannot be used.
    """
    taken = usual_network(game, runs=runs) if path is None else UsualNetwork(path)
    if taken is None:
        say(_no_run_sentence(game, runs))
        return usual_rollouts(game)
    player = by_people_rules(_named(load_player(taken.path, game=game, backend=backend), taken.path), game)
    say(_sentence(player, taken, is_named=path is not None))
    return player


def _named(player: Player, path: Path) -> Player:
    """The player; with a bundled network it is called `BUNDLED_NAME` instead of by its path."""
    if is_bundled(path):
        player.name = BUNDLED_NAME
    return player


def _sentence(player: Player, taken: UsualNetwork, *, is_named: bool) -> str:
    path = taken.path
    if is_bundled(path):
        card = read_card(path)
        rating = f", {card.strength}" if card.strength else ""
        which = f"Playing with the network {path.name} that comes with zerosum ({card.budget} of training{rating})."
    else:
        which = f"Playing with {'' if is_named else 'the newest run, '}{path.absolute()}, step {player.step}."
    return f"{which} {taken.other}".rstrip()


def _no_run_sentence(game: Rules, runs: Path | None) -> str:
    where = (runs or runs_directory()).absolute()
    return f"No run in {where} has learned {short_name(game)}: playing with uniform priors and rollouts."


def open_player(
    who: str,
    *,
    game: str = "",
    num_simulations: int | None = None,
    runs: Path | None = None,
    say: Say = lambda _sentence: None,
) -> Player:
    """An opponent for people, with the game's own rules.

    Args:
        who: A run or checkpoint (`PlayerWord`), a game, or `rollouts`, each with or without `@N` after it; "" is the
            newest run of `game`.
        game: The game, if `who` does not determine it.
        num_simulations: Simulations per move; they override an `@N`.
        runs: The directory of the runs.
        say: Gets the sentence about the choice, unless `who` is a path or rollouts.

    Raises:
        SettingsError: the player is unknown, or no game or two games are named.
        DataError, GameError: as `load_player`.
    """
    named = PlayerWord.parse(who, runs=runs)
    word, num_simulations = named.word, named.number if num_simulations is None else num_simulations
    if named.is_own:
        return _without_network(replace(named, number=num_simulations), game)
    if word and named.game is None:
        path = existing_run(named)
        player = _named(load_player(path, num_simulations=num_simulations, game=game or None), path)
        if str(path) != word:
            say(_sentence(player, UsualNetwork(path), is_named=True))
        return player
    if word and game:
        raise SettingsError(f"{word!r} is a game, and --game names {game!r}: give one of them.")
    if not word and not game:
        raise SettingsError("no player is named: name a game, a run, a checkpoint or rollouts.")
    rules = named.rules if word else make(game)
    taken = usual_network(rules, runs=runs)
    if taken is None:
        say(_no_run_sentence(rules, runs))
        return rollouts(rules, num_simulations or DEFAULT_ROLLOUTS, seed=0).player(rules)
    player = _named(load_player(taken.path, num_simulations=num_simulations, game=rules), taken.path)
    say(_sentence(player, taken, is_named=False))
    return player


def _without_network(named: PlayerWord, game: str) -> Player:
    """The player of any game, by the words of `parse_player`."""
    rules = make(game or "connect4")  # players without a search are refused in any game
    player = search_contestant(named, rules).player(rules)
    if not game:
        raise SettingsError(f"{named.word!r} plays any game: name the one to play, such as --game connect4.")
    return player


def usual_rollouts(game: Rules) -> Player:
    """The player without a network."""
    return by_people_rules(rollouts(game, DEFAULT_ROLLOUTS, seed=0).player(game), game)


def by_people_rules(player: Player, game: Rules) -> Player:
    """The player of a game without a ply cap, unless a cap was requested.

    Random games may hardly ever end (two kings in shogi): rollouts get four times the game's own cap, which no game of
    people reaches.

    Raises:
        DataError: its network does not fit the game.
    """
    is_random = isinstance(player.evaluator, RolloutEvaluator)
    most_plies = min(4 * game.spec.max_plies, NO_PLY_CAP) if is_random else NO_PLY_CAP
    return player.with_rules(without_ply_cap(game, most_plies=most_plies))


def describe_network(game: Rules, path: Path | None = None, *, runs: Path | None = None) -> CheckpointInfo | None:
    """The description of the network that `choose_player` would take, read without its weights; None without one.

    Raises:
        DataError: as `network_at`.
    """
    taken = usual_network(game, runs=runs) if path is None else UsualNetwork(path)
    return None if taken is None else network_at(taken.path)


def game_at(path: Path) -> Rules:
    """The game that the network of a run or checkpoint has learned.

    Raises:
        DataError: as `network_at`.
        GameError: as `zerosum.play.origin.Origin.learned_game`, or the game cannot be loaded.
    """
    return make(Origin.of(path).learned_game(network_at(path)))


def game_named(word: str, *, runs: Path | None = None) -> str:
    """The game that a word means where a game is expected: the word itself, or the game that a run has learned.

    Raises:
        DataError, GameError: as `network_at` and `zerosum.play.origin.Origin.learned_game`.
    """
    named = PlayerWord(word, runs=runs)
    if GameName.parse(word).can_exist or (run := named.run) is None:
        return word
    return str(Origin.of(run).learned_game(network_at(run)))


class Players:
    """The player of each game, chosen at its first use.

    A network is loaded once for all rules that it fits, and prepared for the batches of a search by time.

    `by_people_rules` gives the rules, so a player's game is another object than the given one.

    Args:
        named: The player of all games: a run, a checkpoint, a game (its newest run) or `rollouts`, each with or without
            `@N` after it; "" names none.
        say: Called with the sentence of each choice.
        runs: The directory of the runs.
    """

    def __init__(
        self,
        named: str = "",
        *,
        say: Say = lambda _sentence: None,
        runs: Path | None = None,
    ) -> None:
        self._say, self._runs = say, runs
        self._named = PlayerWord.parse(named, runs=runs)
        self._path = None if self._named.is_own else self._named.run
        """The path of the named network, or None."""
        self._chosen: dict[str, Player] = {}
        self._lock = threading.Lock()

    @property
    def num_simulations(self) -> int | None:
        """The number after the @ of the name, or None."""
        return self._named.number

    @property
    def path(self) -> Path | None:
        """The named run or checkpoint, or None."""
        return self._path

    def of(self, game: Rules) -> Player:
        """The game's player. Several threads may call this.

        Raises:
            SettingsError, DataError: as `choose_player` and `parse_player`.
        """
        name = game.spec.full_name
        with self._lock:
            if name not in self._chosen:
                known = next((one for one in self._chosen.values() if one.knows(game)), None)
                self._chosen[name] = self._choose(game) if known is None else by_people_rules(known, game)
            return self._chosen[name]

    def own_game(self) -> Rules | None:
        """The named game, or the game that the named network has learned; None if no name determines one.

        Raises:
            SettingsError: the words name no player that can analyse.
            DataError, GameError: as `game_at`.
        """
        if self._named.game is not None:
            return self._named.rules
        if self._path is not None:
            return game_at(self._path)
        if self._named.word:
            self._in_words(make("go"))  # known words are players of any game
        return None

    @property
    def chosen(self) -> list[Player]:
        """The players in use."""
        return list(self._chosen.values())

    def _choose(self, game: Rules) -> Player:
        if self._named.word and self._path is None and self._named.game is None:
            return self._in_words(game)
        path = None if self._named.game is not None else self._path
        player = choose_player(game, path, runs=self._runs, say=self._say)
        player.make_ready()  # before the caller's search is timed
        if self.num_simulations is None:
            return player
        return player.judged_by(player.evaluator, replace(player.config, num_simulations=self.num_simulations))

    def _in_words(self, game: Rules) -> Player:
        """Rollouts with any number of simulations; raises SettingsError for unknown words."""
        return by_people_rules(search_contestant(self._named, game).player(game), game)
