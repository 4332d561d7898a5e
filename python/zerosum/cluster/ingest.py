"""The ingest: the only way of a cluster's games into a run's store and window.

A sender is registered, gets numbers of games (a lease), and delivers sealed blocks. A game is *finished* when the store
has taken it, and its block is acknowledged only then. A lost acknowledgement makes a sender deliver a block again;
because each number of a lease counts once, no game counts twice. This file does not know Ray.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from zerosum.cluster.blocks import Block, DamagedBlockError, opened
from zerosum.cluster.verification import fault_by_rules, fault_in_flight
from zerosum.games import Rules
from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import RunningGame

MOST_DAMAGED = 3
"""Damaged blocks in a row after which a sender is refused."""

LEASES_KEPT = 256
"""Leases of a sender that are kept, to tell a duplicate from a foreign game."""

Reason = Literal["damaged", "foreign", "stale", "duplicate", "differs", "refused sender"]
"""Why games do not count.

- damaged: the block is not whole; its games are unknown, so the count is of blocks
- foreign: another training, game, version, options, settings or seed, a number that is not the sender's, or a network
  that the learner has not had
- stale: the network of the last search is too old
- duplicate: the game has counted before
- differs: the game is against the rules; the sender is refused
- refused sender: the sender is refused, for an earlier game or another one of the block
"""


@dataclass
class Sender:
    """A player of games, as the ingest knows it."""

    name: str
    leases: deque[range] = field(default_factory=lambda: deque(maxlen=LEASES_KEPT))
    """The newest numbers of games that it was given."""
    open_ids: set[int] = field(default_factory=set)
    """Those of them whose games have not arrived."""
    inherited: dict[int, RunningGame] = field(default_factory=dict)
    """Games in flight of the store that it continues."""
    acknowledged: int = 0
    """Number of its last block that was taken."""
    num_games: int = 0
    """Its games that count."""
    refused_games: Counter[Reason] = field(default_factory=Counter)
    num_damaged: int = 0
    """Damaged blocks in a row."""
    refusal: str = ""
    """Why it is refused, in words; "" if it is not."""

    def was_leased(self, game_id: int) -> bool:
        """Whether a number was its own, as far as is known."""
        return any(game_id in lease for lease in self.leases)


@dataclass(frozen=True)
class Receipt:
    """What became of a block."""

    acknowledged: int
    """Number of the sender's last block that was taken."""
    num_games: int = 0
    """Games of this block that count."""
    refused: Counter[Reason] = field(default_factory=Counter)
    why: str = ""
    """The first refusal, in words."""


class Ingest:
    """Checks blocks and hands their games to the store and then to the window. For one thread at a time."""

    def __init__(
        self,
        store: GameStore,
        game: Rules,
        *,
        training: str,
        settings_hash: str,
        seed: int,
        max_staleness: int,
        learner_step: Callable[[], int],
        highest_step: Callable[[], int],
        take: Callable[[GameRecord], None],
        verify: bool = False,
        can_resign: bool = False,
    ) -> None:
        """An ingest without senders.

        Args:
            store: Takes the games.
            game: The run's game.
            training: Key of this training process, which every block names.
            settings_hash: The run's settings of self-play.
            seed: The run's seed.
            max_staleness: See `ClusterConfig.max_staleness`.
            learner_step: Returns the step of the network that was sent out last.
            highest_step: Returns the highest step of a network that was sent out: a learner that was lost goes on from
                an earlier step than that of games under way.
            take: Gets each game that counts, after the store.
            verify: Whether every game is replayed through the rules; otherwise the senders are trusted.
            can_resign: Whether games may end by resignation.
        """
        self._game, self._verify, self._can_resign = game, verify, can_resign
        spec = game.spec
        self._expected = (spec.name, spec.version, spec.options, settings_hash, seed)
        self._store, self._training, self._take = store, training, take
        self._max_staleness, self._learner_step, self._highest_step = max_staleness, learner_step, highest_step
        self._next_id = store.next_game_id
        self._unclaimed = dict(store.running)
        self.senders: dict[str, Sender] = {}
        self.num_games = 0
        """Games that counted."""
        self.refused: Counter[Reason] = Counter()
        """Games that did not count, by reason."""
        self.num_verified = 0
        """Games, finished or in flight, that were replayed through the rules."""

    def register(self, name: str, *, num_games: int = 0) -> list[RunningGame]:
        """Add a sender. It continues up to `num_games` of the store's games in flight that nobody continues."""
        sender = self.senders[name] = Sender(name)
        for game_id in list(self._unclaimed)[:num_games]:
            sender.inherited[game_id] = self._unclaimed.pop(game_id)
            sender.open_ids.add(game_id)
        return list(sender.inherited.values())

    def lease(self, name: str, num_games: int) -> range:
        """Numbers of new games for a sender."""
        given = range(self._next_id, self._next_id + num_games)
        self._next_id = given.stop
        sender = self.senders[name]
        sender.leases.append(given)
        sender.open_ids.update(given)
        return given

    def dismiss(self, name: str) -> None:
        """Forget a sender that has ended. Others can continue the games in flight that it had from the store."""
        sender = self.senders.pop(name)
        self._unclaimed |= {number: sender.inherited[number] for number in sender.inherited.keys() & sender.open_ids}

    def refuse(self, name: str, why: str) -> None:
        """Take no games of this sender from now on."""
        self.senders[name].refusal = why

    def offer(self, name: str, data: bytes) -> Receipt:
        """Check a block and take its games, each of which counts when this returns.

        Raises:
            RunError: the store cannot be written. Nothing of the block is acknowledged then.
        """
        sender = self.senders.get(name)
        try:
            block = opened(data)
        except DamagedBlockError as error:
            return self._damaged(sender, f"a block of {name} is damaged: {error}")
        refusal = f"{name} is not a sender of this training" if sender is None else sender.refusal
        if sender is None or refusal:
            return self._refused(sender, Counter({"refused sender": len(block.games)}), refusal)
        sender.num_damaged = 0
        if (block.training, block.sender) != (self._training, name):
            return self._refused(sender, Counter({"foreign": len(block.games)}), f"a block of {name} names another run")
        return self._taken(sender, block)

    def _taken(self, sender: Sender, block: Block) -> Receipt:
        refused, why = Counter[Reason](), ""
        good: list[int] = []
        for index, record in enumerate(block.games):
            fault = self._fault(sender, record)
            if fault is None:
                good.append(index)
                sender.open_ids.discard(record.game_id)  # a second copy in this block is a duplicate
            else:
                refused[fault[0]] += 1
                why = why or f"game {record.game_id} of {sender.name} {fault[1]}"
        games = [block.games[index] for index in good]
        left = [game for game in block.running if self._is_left(sender, game)]
        in_flight = self._difference_in_flight(sender, left)
        sender.refusal = in_flight or self._difference(sender, games)
        if sender.refusal:
            refused.update({"differs": 1, "refused sender": len(games) - (not in_flight)})
            return self._refused(sender, +refused, sender.refusal)
        if games:
            self._store.take_games(games, [block.entries[index] for index in good])
        for record in games:
            self._take(record)
        for game in left:  # the next process that plays continues them
            self._store.start_game(game.header, game.plies.packed)
            sender.open_ids.discard(game.header.game_id)
        sender.acknowledged = max(sender.acknowledged, block.number)
        sender.num_games += len(games)
        self.num_games += len(games)
        self._count(sender, refused)
        return Receipt(sender.acknowledged, len(games), refused, why)

    def _is_left(self, sender: Sender, game: RunningGame) -> bool:
        """Whether a game in flight of a block is one of its sender's, which it leaves to others."""
        return game.header.game_id in sender.open_ids and self._is_ours(sender, game.header)

    def _difference(self, sender: Sender, games: Sequence[GameRecord]) -> str:
        """What the first game against the rules has against them, in words; "" if none is checked or none is."""
        for record in games if self._verify else ():
            self.num_verified += 1
            if fault := fault_by_rules(self._game, record, can_resign=self._can_resign):
                return f"game {record.game_id} of {sender.name} {fault}"
        return ""

    def _difference_in_flight(self, sender: Sender, left: Iterable[RunningGame]) -> str:
        """`_difference` of games in flight."""
        for game in left if self._verify else ():
            self.num_verified += 1
            if fault := fault_in_flight(self._game, game):
                return f"game {game.header.game_id} of {sender.name} {fault}"
        return ""

    def _fault(self, sender: Sender, record: GameRecord) -> tuple[Reason, str] | None:
        """Why a game does not count; None if it does."""
        if record.game_id not in sender.open_ids:
            if sender.was_leased(record.game_id) or record.game_id in sender.inherited:
                return "duplicate", "has counted before"
            return "foreign", "has a number that is not the sender's"
        if not self._is_ours(sender, record):
            return "foreign", "was played by other rules or settings"
        step, newest, highest = _newest_step(record), self._learner_step(), self._highest_step()
        inherited = sender.inherited.get(record.game_id)
        known = [] if inherited is None else [ply.action for ply in inherited.plies]
        if record.plies["action"][: len(known)].tolist() != known:
            return "foreign", "does not begin with the moves that the store has"
        if step > highest and inherited is None:
            return "foreign", f"names the network of step {step}, and the newest is of step {highest}"
        if newest - step > self._max_staleness:
            return "stale", f"was played with the network of step {step}, and the newest is of step {newest}"
        return None

    def _is_ours(self, sender: Sender, header: GameHeader) -> bool:
        """Whether a game is of this run, or is one of the store's games in flight."""
        inherited = sender.inherited.get(header.game_id)
        if inherited is not None:
            return all(getattr(header, name) == value for name, value in vars(inherited.header).items())
        return (header.game, header.game_version, header.options, header.settings_hash, header.seed) == self._expected

    def _damaged(self, sender: Sender | None, why: str) -> Receipt:
        if sender is not None:
            sender.num_damaged += 1
            if sender.num_damaged >= MOST_DAMAGED:
                sender.refusal = sender.refusal or f"{MOST_DAMAGED} blocks in a row were damaged"
        return self._refused(sender, Counter({"damaged": 1}), why)

    def _refused(self, sender: Sender | None, refused: Counter[Reason], why: str) -> Receipt:
        self._count(sender, refused)
        return Receipt(sender.acknowledged if sender else 0, 0, refused, why)

    def _count(self, sender: Sender | None, refused: Counter[Reason]) -> None:
        self.refused.update(refused)
        if sender is not None:
            sender.refused_games.update(refused)


def _newest_step(record: GameRecord) -> int:
    """Learner step of the newest network that searched in a game."""
    return int(record.plies["checkpoint_step"].max(initial=0))
