"""The check of received games: every move by the rules, and a share of the games by repeating their searches.

A search is a function of the position, the settings, the noise's key and the network's evaluations. Evaluations differ
a little between devices, number formats and sizes of batches, so a repeated search is *like* the recorded one: its
policy target and value are near. They are far away now and then, where two moves are nearly equal, so no single game
decides: the differences of a sender's games are added up (`Suspicion`).

An actor takes a new network while its searches are under way, and a record names the network with which a search
began. So only searches that began and ended with one network are compared: those before the game's first change of
network, and later ones that kept nothing of an earlier tree.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from zerosum.base.errors import GameError
from zerosum.evaluators import EvaluatorConfig, NetworkEvaluator, answer_all, make_evaluator
from zerosum.games import Rules, State, start_state
from zerosum.games.rules import drawn_start
from zerosum.replay import GameRecord
from zerosum.replay.records import PlyFlag, PlyRecord, RunningGame, packed_ply, unpacked_ply
from zerosum.search import SearchConfig, new_search
from zerosum.search.config import Root
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.alpha_beta import AlphaBetaGame, depth_at, is_of_alpha_beta
from zerosum.selfplay.effort import Effort, PlayingNetwork
from zerosum.selfplay.material import seeing_material
from zerosum.selfplay.resignation import RESIGNATION, is_played_out
from zerosum.selfplay.worker import is_full_search, num_opening_plies
from zerosum.selfplay.worker_process import checkpoint_of, network_of

ACCEPTED_DIFFERENCE = 0.05
"""The difference of a game (`Comparison.difference`) that does not change the suspicion of its sender.

In Connect Four 0.01 is the mean of honest games in int8, and 0.1 to 0.4 that of another network's (docs/cluster.md).
"""
MOST_SUSPICION = 1.0
"""The suspicion at which a sender is refused."""
MOST_EVALUATORS = 3
"""Networks that are kept compiled."""


class _FaultError(Exception):
    """Moves are against the rules; the message says how."""


def fault_by_rules(game: Rules, record: GameRecord, *, can_resign: bool = False) -> str:
    """What a game has against the rules, in words; "" if nothing.

    Checks the start, every move and its mover, the actions of every policy target, the result and the kind of ending;
    with `can_resign` the side to move may have resigned.
    """
    try:
        state = _state_after(game, record.start, (record.ply(index) for index in range(record.num_plies)))
    except _FaultError as fault:
        return str(fault)
    if can_resign and record.ending == RESIGNATION and game.outcome(state) is None:
        is_lost_by_mover = record.outcome == (-1.0 if game.player(state) == 0 else 1.0)
        return "" if is_lost_by_mover else "was resigned by a side that was not to move"
    if (record.outcome, record.ending) != (_float32(game.outcome(state)), game.ending(state)):
        return "has another end than its moves"
    return ""


def fault_in_flight(game: Rules, running: RunningGame) -> str:
    """What a game without an end has against the rules, in words; "" if nothing."""
    try:
        _state_after(game, running.header.start, running.plies)
    except _FaultError as fault:
        return str(fault)
    return ""


def _state_after(game: Rules, start: str, plies: Iterable[PlyRecord]) -> State:
    """The state after all moves of a game, each of them checked. Raises _FaultError."""
    try:
        state = start_state(game, start)
    except GameError as error:
        raise _FaultError(f"has a start that is none: {error}") from error
    for index, ply in enumerate(plies):
        if game.outcome(state) is not None:
            raise _FaultError(f"goes on at ply {index}, after its end")
        legal = set(game.legal_actions(state))
        if ply.action not in legal:
            raise _FaultError(f"has an illegal move at ply {index}")
        if ply.player != game.player(state):
            raise _FaultError(f"names the wrong side at ply {index}")
        actions = ply.target["action"].tolist()
        if len(set(actions)) != len(actions) or not legal.issuperset(actions):
            raise _FaultError(f"has a policy target with an illegal move at ply {index}")
        state = game.play(state, ply.action)
    return state


def _float32(value: float | None) -> float | None:
    return None if value is None else float(np.float32(value))


@dataclass(frozen=True)
class Comparison:
    """The compared searches of a game."""

    differences: list[float]
    """Half the L1 distance of the recorded and the repeated policy target, in [0, 1], by search with a target."""
    value_differences: list[float]
    """Distance of the recorded and the repeated value, in [0, 2], by search."""

    @property
    def difference(self) -> float | None:
        """The mean difference of the policy targets or of the values, whichever is larger; None without a search."""
        means = [sum(found) / len(found) for found in (self.differences, self.value_differences) if found]
        return max(means, default=None)


class Suspicion:
    """How much the games of a sender differ from their repeated searches, more than searches do by rounding.

    It is a cumulative sum (Page, Biometrika 41, 1954), which begins at 0: each compared game adds its difference less
    `ACCEPTED_DIFFERENCE`, and it is never below 0.
    """

    def __init__(self) -> None:
        self.value = 0.0
        self._raised_by: list[float] = []

    def fault(self, compared: Comparison) -> str:
        """Add a game. Returns why its sender is to be refused, in words; "" if it is not."""
        if (difference := compared.difference) is None:
            return ""
        self.value = max(0.0, self.value + difference - ACCEPTED_DIFFERENCE)
        self._raised_by = [*self._raised_by, difference] if self.value else []
        if self.value <= MOST_SUSPICION:
            return ""
        games, mean = self._raised_by, sum(self._raised_by) / len(self._raised_by)
        return (
            f"differs from its repeated searches, as the {len(games)} compared games up to it do (mean difference"
            f" {mean:.2f}, the largest {max(games):.2f})"
        )


class SearchCheck:
    """Repeats searches of received games with the networks that they name."""

    def __init__(
        self,
        game: Rules,
        search: SearchConfig,
        selfplay: SelfplayConfig,
        evaluator: EvaluatorConfig,
        *,
        seed: int,
        num_staggered: Callable[[], int] = lambda: 0,
    ) -> None:
        """A check for games of these settings and this seed of the run. Networks are kept in temporary files.

        `num_staggered` returns `SelfplayTask.num_staggered`. Evaluators have the precision "auto" in place of int8,
        which has to be measured for each network.
        """
        self._game, self._config, self._seed, self._num_staggered = game, selfplay, seed, num_staggered
        self._search_config = search
        self._efforts = selfplay.efforts(search)
        self._search = new_search(game, self._efforts.with_room(game, search, 1))
        is_measured = evaluator.precision in ("fast", "int8")
        self._evaluator_config = replace(evaluator, precision="auto") if is_measured else evaluator
        self._evaluators: dict[int, NetworkEvaluator] = {}  # by step, the one that was used last at the end
        self._cached_step = -1  # the search's cache has evaluations of this network
        self._files = tempfile.TemporaryDirectory(prefix="zs-networks-")
        # Networks by step, in the order of arrival; None for a step that several networks have had.
        self._networks: dict[int, PlayingNetwork | None] = {}

    @property
    def can_resign(self) -> bool:
        """Whether games may end by resignation."""
        return self._config.resign_false_positives is not None

    def add_network(self, step: int, packed: bytes, *, oldest: int) -> None:
        """Keep a network that was sent out, packed by `pack_weights`, and forget those before the step `oldest`.

        A learner that was lost and went back to its checkpoint makes other networks of the same steps. Nothing says
        which of them a game names, so no search of such a step is compared.
        """
        if step not in self._networks:
            self._file(step).write_bytes(packed)
            self._networks[step] = network_of(packed)
        elif self.knows(step) and self._file(step).read_bytes() != packed:
            self._forget(step)
            self._networks[step] = None
        # The newest network before `oldest` was in use at that step.
        while len(self._networks) > 1 and (steps := sorted(self._networks))[1] <= oldest:
            self._forget(steps[0])
            del self._networks[steps[0]]

    def _forget(self, step: int) -> None:
        self._file(step).unlink(missing_ok=True)
        self._evaluators.pop(step, None)
        self._cached_step = -1

    def knows(self, step: int) -> bool:
        """Whether the network of a step is here, and is the only one of that step."""
        return self._networks.get(step) is not None

    def close(self) -> None:
        """Remove the networks."""
        self._files.cleanup()

    def compare(self, record: GameRecord) -> Comparison:
        """Repeat the searches of a game that its record lets us repeat. An alpha-beta search's game has none."""
        found = Comparison([], [])
        if is_of_alpha_beta(record):
            return found
        for ply, root in self._repeated(record):
            found.value_differences.append(abs(ply.search_value - root.value))
            if ply.target.size:
                found.differences.append(_distance(ply, root))
        return found

    def fault(self, record: GameRecord) -> str:
        """What a game has against the settings of self-play, in words; "" if nothing. Its searches are not repeated."""
        if fault := self._fault_of_opening(record):
            return fault
        if is_of_alpha_beta(record):
            return self._fault_of_alpha_beta(record)
        return self._fault_of_full_searches(record)

    def _fault_of_opening(self, record: GameRecord) -> str:
        """The start and the random moves are decided by the seed and the number of the game."""
        if record.ending == RESIGNATION and is_played_out(self._config, seed=self._seed, game_id=record.game_id):
            return "was resigned, and its number says that it is played out"
        if record.start != drawn_start(self._game, seed=self._seed, number=record.game_id):
            return "begins at another position than its number says"
        num_opening, is_opening = _num_opening_plies(record), record.plies["flags"] & int(PlyFlag.OPENING)
        if not is_opening[:num_opening].all() or record.plies["action"][:num_opening].tolist() != self._opening(record):
            return "has other random moves than its number says"
        return ""

    def _fault_of_full_searches(self, record: GameRecord) -> str:
        """The plies that are searched in full are decided by the seed and the number of the game."""
        num_opening = _num_opening_plies(record)
        for index in range(num_opening, record.num_plies):
            ply = record.ply(index)
            if (effort := self._effort(record, index)) is None:
                continue
            is_full = is_full_search(
                effort.full_search_share,
                seed=self._seed,
                game_id=record.game_id,
                ply=index,
                num_opening_plies=num_opening,
            )
            if is_full != (PlyFlag.FULL_SEARCH in ply.flags) or is_full != bool(ply.target.size):
                return f"was searched in full at other plies than its number says, at ply {index}"
        return ""

    def _fault_of_alpha_beta(self, record: GameRecord) -> str:
        """A game of the alpha-beta search follows from the seed, its number and the network that it names."""
        num_opening = _num_opening_plies(record)
        step = int(record.plies["checkpoint_step"][num_opening])
        if (network := self._networks.get(step)) is None:
            return ""
        depth, state = depth_at(self._config.alphabeta, network.progress), start_state(self._game, record.start)
        if not depth:
            return f"was played by an alpha-beta search, and the network of step {step} plays itself"
        for action in record.plies["action"][:num_opening].tolist():
            state = self._game.play(state, action)
        again = AlphaBetaGame(self._game, state, depth, self._seed, record.game_id, step)
        for index in range(num_opening, record.num_plies):
            if packed_ply(record.game_id, index, record.ply(index)) != again.play():
                return f"has another ply {index} than its alpha-beta search"
        return ""

    def _opening(self, record: GameRecord) -> list[int]:
        """The random moves with which a game of this number begins."""
        num_plies = num_opening_plies(
            self._game,
            self._config,
            seed=self._seed,
            game_id=record.game_id,
            num_staggered=self._num_staggered(),
        )
        if not num_plies:
            return []
        state = start_state(self._game, record.start)
        _, plies = self._game.draw_opening(state, num_plies, self._seed, record.game_id)
        return [unpacked_ply(ply).action for ply in plies]

    def _effort(self, record: GameRecord, ply: int) -> Effort | None:
        """The effort of a ply's search; None if the ply's network, which decides it, is not here any more."""
        if len(self._efforts.stages) == 1:
            return self._efforts.at(0.0)
        network = self._networks.get(int(record.plies["checkpoint_step"][ply]))
        return self._efforts.at(network.progress) if network else None

    def _repeated(self, record: GameRecord) -> Iterator[tuple[PlyRecord, Root]]:
        """Each ply whose search is repeated, and the repeated search."""
        state, num_opening = start_state(self._game, record.start), _num_opening_plies(record)
        steps, config = record.plies["checkpoint_step"].tolist(), self._config
        for index in range(num_opening):
            state = self._game.play(state, record.ply(index).action)
        self._search.reset(0, state)
        is_same_tree = True
        for index in range(num_opening, record.num_plies - 1):
            ply, step = record.ply(index), steps[index]
            # While the last search of a game is under way, nothing says when the network changes.
            is_one_network = steps[index + 1] == step and self.knows(step)
            if is_same_tree and is_one_network:
                yield ply, self._searched(record, ply, index, step)
            keep = self._search_config.reuse_tree
            is_same_tree = not keep or (is_same_tree and is_one_network)
            if not is_same_tree:
                return
            self._search.advance(0, ply.action, keep=keep)

    def _searched(self, record: GameRecord, ply: PlyRecord, index: int, step: int) -> Root:
        is_full = PlyFlag.FULL_SEARCH in ply.flags
        noise = (self._seed, record.game_id, index) if is_full and self._search_config.has_root_noise else None
        effort, network = self._effort(record, index), self._networks[step]
        assert effort is not None and network is not None, "the ply's network is here"
        evaluator = seeing_material(self._evaluator(step), self._config.material, lambda: network.progress)
        self._search.begin(0, effort.num_simulations if is_full else effort.fast_simulations, noise=noise)
        answer_all(self._search, evaluator, max_leaves=1)
        return self._search.root(0)

    def _evaluator(self, step: int) -> NetworkEvaluator:
        """The evaluator of the network of a step, for the search that is under way."""
        if step != self._cached_step:
            self._search.clear_cache()
            self._cached_step = step
        found = self._evaluators.pop(step, None)
        if found is None:
            checkpoint = checkpoint_of(self._file(step).read_bytes(), self._game)
            if len(self._evaluators) < MOST_EVALUATORS:
                found = make_evaluator(checkpoint, self._evaluator_config, batch_size=1, game=self._game)
            else:
                found = self._evaluators.pop(next(iter(self._evaluators)))
                found.update(checkpoint)
        self._evaluators[step] = found
        return found

    def _file(self, step: int) -> Path:
        return Path(self._files.name, f"step-{step}")


class Verifier:
    """The check of every game that a cluster sends: by the rules, and a share of them by their searches."""

    def __init__(self, game: Rules, searches: SearchCheck, *, share: float, generator: np.random.Generator) -> None:
        """`share` of the games, drawn by a generator that senders do not know, have their searches repeated."""
        self._game, self.searches, self._share, self._generator = game, searches, share, generator
        self.num_compared = 0
        """Games whose searches were repeated."""
        self._suspicions: defaultdict[str, Suspicion] = defaultdict(Suspicion)  # by the sender's name

    def fault_in_flight(self, running: RunningGame) -> str:
        """What a game without an end has against it, in words; "" if nothing. The rules alone are checked."""
        return fault_in_flight(self._game, running)

    def first_fault(
        self, games: Sequence[GameRecord], *, sender: str, inherited: Container[int]
    ) -> tuple[GameRecord, str] | None:
        """A game for which its sender is to be refused, and why, in words; None if there is none.

        An inherited game, which the store had in flight, began with other networks, and maybe other settings: it is
        checked by the rules alone. `inherited` has the numbers of these games.
        """
        for record in games:
            if fault := fault_by_rules(self._game, record, can_resign=self.searches.can_resign):
                return record, fault
        drawn = [
            record for record in games if record.game_id not in inherited and self._generator.random() < self._share
        ]
        # In the order of their networks: to compile one takes longer than to compare a game.
        for record in sorted(drawn, key=lambda record: int(record.plies["checkpoint_step"].max(initial=0))):
            self.num_compared += 1
            fault = self.searches.fault(record) or self._suspicions[sender].fault(self.searches.compare(record))
            if fault:
                return record, fault
        return None


def _num_opening_plies(record: GameRecord) -> int:
    """Random moves at the beginning of a game."""
    return int(np.count_nonzero(record.plies["flags"] & int(PlyFlag.OPENING)))


def _distance(ply: PlyRecord, root: Root) -> float:
    """Half the L1 distance of the recorded and the repeated policy target."""
    repeated = dict(zip(root.actions.tolist(), root.policy_target().tolist(), strict=True))
    recorded = dict(zip(ply.target["action"].tolist(), ply.target["probability"].tolist(), strict=True))
    actions = repeated.keys() | recorded.keys()
    return float(sum(abs(repeated.get(action, 0.0) - recorded.get(action, 0.0)) for action in actions)) / 2
