"""Our own players of a match, from the words of a command line: `parse_player`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from zerosum._core import core_game_names
from zerosum.base.errors import SettingsError, near, nearest
from zerosum.games import Rules
from zerosum.network import load_checkpoint
from zerosum.network.any_size import untrained_words
from zerosum.network.evaluators.backends import Precision
from zerosum.network.evaluators.evaluator import Evaluator
from zerosum.network.evaluators.ownership import OwnershipNetwork, has_ownership
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.network.fit import rules_for
from zerosum.play.bundled import usual_network
from zerosum.play.contestant import (
    ALPHA_BETA,
    DEFAULT_DEPTH,
    DEFAULT_ROLLOUTS,
    RANDOM,
    ROLLOUTS,
    Contestant,
    ProgramContestant,
    SearchContestant,
    alpha_beta,
    rollouts,
)
from zerosum.play.deepening_mover import DeepeningProgram
from zerosum.play.origin import Origin
from zerosum.play.player import Player, network_evaluator, network_name
from zerosum.play.runs import PlayerWord, run_names
from zerosum.play.skill import MOST_SKILL, positions_of, search_of_skill, temperature_of
from zerosum.play.words import GAME_AS_PLAYER, OWN_WORDS
from zerosum.search import SearchConfig


def search_contestant(named: str | PlayerWord, game: Rules) -> SearchContestant:
    """A player that searches, in the words of `parse_player`.

    Raises:
        SettingsError, DataError: as `parse_player`, or the player does not search by simulations.
    """
    named = PlayerWord.parse(named) if isinstance(named, str) else named
    if not named.is_own:
        existing_run(named)  # raises with the words of players that search
    player = parse_player(named, game)
    if not isinstance(player, SearchContestant):
        raise _no_search(player.name)
    return player


def parse_player(
    named: str | PlayerWord,
    game: Rules,
    *,
    precision: Precision = "fast",
    batch_size: int = 32,
    num_threads: int = 1,
    seed: int = 0,
    say: Callable[[str], None] = lambda _sentence: None,
) -> Contestant:
    """The player that the words of a command line name.

        random        uniformly random moves
        alphabeta     alpha-beta search that counts material; `@N` is its depth in plies
        rollouts      pure Monte Carlo tree search with random games
        runs/demo     the newest checkpoint of a run, or of a directory of checkpoints, or one checkpoint's JSON
        demo          the same of a run in the directory of runs
        connect4      the newest run of a game

    With `@N` all players after alphabeta search N simulations per move: "runs/demo@100". `precision` is that of a
    network's evaluations. `batch_size` is the usual
    number of positions per batch of the network (half of a match's games wait for each side), `num_threads` the number
    of threads that evaluate at once, and `seed` the seed of rollouts. `say` gets a sentence about what of the game the
    network has not learned.

    Raises:
        SettingsError: the player is unknown, or a number is out of range.
        DataError: a checkpoint is damaged, or its network does not fit the game.
    """
    named = PlayerWord.parse(named) if isinstance(named, str) else named
    word, num_simulations = named.word, named.number
    if word == RANDOM.name:
        if num_simulations is not None:
            raise SettingsError(f"{str(named)!r}: random play does not search, so it takes no number of simulations.")
        return RANDOM
    if word == ALPHA_BETA:
        return alpha_beta(DEFAULT_DEPTH if num_simulations is None else num_simulations)
    if word == ROLLOUTS:
        return rollouts(game, DEFAULT_ROLLOUTS if num_simulations is None else num_simulations, seed=seed)
    path = existing_run(named, words=OWN_WORDS)
    checkpoint = load_checkpoint(path, game=game)
    if words := untrained_words(checkpoint.info, game):
        say(f"{named} {words}.")
    search, own = Origin.of(path).own_search(checkpoint.info, num_simulations), rules_for(checkpoint.info, game)
    evaluator = network_evaluator(checkpoint, own, precision=precision, batch_size=batch_size, num_threads=num_threads)
    return network_contestant(
        str(named) if isinstance(evaluator, UpdatableEvaluator) else f"{word}@{search.num_simulations}",
        evaluator,
        search,
        network=network_name(checkpoint.info),
        planes_of=own,
        ownership=OwnershipNetwork(checkpoint) if has_ownership(checkpoint) else None,
    )


def network_contestant(
    name: str,
    evaluator: Evaluator,
    search: SearchConfig,
    *,
    network: str = "",
    planes_of: Rules | None = None,
    ownership: OwnershipNetwork | None = None,
) -> SearchContestant | ProgramContestant:
    """The contestant of an evaluator: an updatable network plays by alpha-beta search, others by tree search.

    `search.num_simulations` are simulations or positions. The other arguments are those of `SearchContestant`.
    """
    if not isinstance(evaluator, UpdatableEvaluator):
        return SearchContestant(name, evaluator, search, network=network, planes_of=planes_of, ownership=ownership)
    program = DeepeningProgram(
        network,
        evaluator,
        planes_of,
        nodes=search.num_simulations,
        syzygy_path=search.syzygy_path,
        table_files=search.table_files,
    )
    return ProgramContestant(name, program)


def with_skill(contestant: Contestant, skill: float) -> SearchContestant | ProgramContestant:
    """A search limited to a skill, as our engines limit it (`zerosum.play.skill`).

    Raises:
        SettingsError: the skill is out of range, or the contestant is not a search of ours.
    """
    if not 0 <= skill <= MOST_SKILL:
        raise SettingsError(f"skill is {skill:g}, expected a number from 0 to {MOST_SKILL}.")
    if not isinstance(contestant, SearchContestant | ProgramContestant):
        raise SettingsError(f"{contestant.name} is not a search of ours, which skill limits: leave skill out.")
    if skill == MOST_SKILL:
        return contestant
    name, temperature = f"{PlayerWord.parse(contestant.name).word}, skill {skill:g}", temperature_of(skill)
    if isinstance(contestant, ProgramContestant):
        assert isinstance(contestant.program, DeepeningProgram)
        program = replace(contestant.program, nodes=positions_of(skill), temperature=temperature)
        return replace(contestant, name=name, program=program)
    search = search_of_skill(contestant.search, contestant.evaluator, skill)
    return replace(contestant, name=name, search=search, temperature=temperature)


def contestant_of(player: Player, name: str) -> SearchContestant | ProgramContestant:
    """A player as a contestant of a match, with its number of simulations or nodes."""
    return network_contestant(name, player.evaluator, player.config, network=name, planes_of=player.game)


def _no_search(name: str) -> SettingsError:
    what = "a search that values its moves" if name.startswith(ALPHA_BETA) else "a search"
    return SettingsError(f"{name!r} plays without {what}: use 'rollouts@10' instead, which is weak, too.")


def existing_run(named: PlayerWord, *, words: Sequence[str] = (ROLLOUTS,)) -> Path:
    """The run or checkpoint that is named as a player, or else the bundled network of a game.

    Args:
        named: The player.
        words: Words for players without a network that the caller takes, too.

    Raises:
        SettingsError: none is found.
    """
    word = named.word
    if named.game is not None:
        usual = usual_network(named.rules, runs=named.runs)
        if usual is not None:
            return usual.path
        raise SettingsError(f"No run in {named.runs_directory.absolute()} has learned {word}: name another player.")
    if named.run is None:
        named.require_not_path()
        games = near(word, core_game_names())  # a game's newest run is a player, too
        plies = f", {ALPHA_BETA} N plies" if ALPHA_BETA in words else ""
        elsewhere = [*(name for name in OWN_WORDS if name not in words), "engines by UCI, USI and GTP"]
        raise SettingsError(
            f"unknown player {word!r}{nearest(word, (*words, *run_names(named.runs), *games))}, the path of a run or"
            f" checkpoint, and a game, {GAME_AS_PLAYER}. With @N they search N simulations per move{plies}. In matches"
            f" {' and '.join(filter(None, [', '.join(elsewhere[:-1]), elsewhere[-1]]))} are players, too."
        )
    return named.run
