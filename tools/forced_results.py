"""Measures how the players find forced results: won endings, mates of chess and shogi, at a number of simulations.

    python tools/forced_results.py endings --pieces Q R --num 100
    python tools/forced_results.py chess-mates --num 200
    python tools/forced_results.py shogi-mates --num 100

`endings` plays random positions of a king and a piece against a king, won by the attacker, against the best defence of
a table that this file computes by retrograde analysis, without the program's own rules. `chess-mates` and `shogi-mates`
search positions of games between weak players in which another search has found a mate of exactly so many plies: a
full search of all lines in chess, cshogi's in shogi. With
`--proof-nodes 0` the search for forced results is off.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from zerosum.contest.mover import EngineLimits
from zerosum.games import Rules, State
from zerosum.play.contestant import SearchContestant
from zerosum.play.player import Player, load_player
from zerosum.play.search_mover import SearchMover

Placement = tuple[int, int, int]
"""Squares of the attacker's king, its piece, and the defender's king; -1 for a piece that was taken."""

KING_STEPS = [(rank, file) for rank in (-1, 0, 1) for file in (-1, 0, 1) if rank or file]
LINES = {"R": [(0, 1), (1, 0), (0, -1), (-1, 0)], "Q": KING_STEPS}


class EndingTable:
    """Moves to mate of a king and a queen or rook against a king, computed backwards from the mates."""

    def __init__(self, piece: str) -> None:
        """The table for `piece`, "Q" or "R"."""
        self._lines = LINES[piece]
        self._king = [self._steps(square) for square in range(64)]
        self.plies: dict[tuple[Placement, bool], int] = {}
        """Plies to mate by placement and whether the attacker is to move; only won positions."""
        self._solve()

    @staticmethod
    def _steps(square: int) -> list[int]:
        rank, file = divmod(square, 8)
        return [
            8 * (rank + up) + file + right for up, right in KING_STEPS if 0 <= rank + up < 8 and 0 <= file + right < 8
        ]

    def attacked(self, king: int, piece: int, *, through: int) -> set[int]:
        """Squares that the attacker's piece attacks; the defender's king at `through` does not stop it."""
        found: set[int] = set()
        for up, right in self._lines:
            rank, file = divmod(piece, 8)
            while 0 <= (rank := rank + up) < 8 and 0 <= (file := file + right) < 8:
                square = 8 * rank + file
                found.add(square)
                if square == king:
                    break
                if square == through:
                    continue
        return found

    def replies(self, placement: Placement) -> list[Placement]:
        """Positions after the defender's moves."""
        king, piece, other = placement
        attacked = self.attacked(king, piece, through=other)
        found = []
        for square in self._king[other]:
            if square in self._king[king]:
                continue
            if square == piece:
                found.append((king, -1, square))
            elif square not in attacked:
                found.append((king, piece, square))
        return found

    def moves(self, placement: Placement) -> list[Placement]:
        """Positions after the attacker's moves."""
        king, piece, other = placement
        found = [
            (square, piece, other)
            for square in self._king[king]
            if square != piece and square != other and square not in self._king[other]
        ]
        for up, right in self._lines:
            rank, file = divmod(piece, 8)
            while 0 <= (rank := rank + up) < 8 and 0 <= (file := file + right) < 8:
                square = 8 * rank + file
                if square in (king, other):
                    break
                found.append((king, square, other))
        return found

    def in_check(self, placement: Placement) -> bool:
        """Whether the attacker's piece attacks the defender's king."""
        king, piece, other = placement
        return piece >= 0 and other in self.attacked(king, piece, through=-1)

    def legal(self, *, attacker_moves: bool) -> Iterator[Placement]:
        """All placements that may occur with this side to move."""
        for placement in itertools.permutations(range(64), 3):
            king, _, other = placement
            if other not in self._king[king] and not (attacker_moves and self.in_check(placement)):
                yield placement

    def _solve(self) -> None:
        """From each lost position the won ones before it; lost are those whose replies are all won for the attacker."""
        replies = {placement: self.replies(placement) for placement in self.legal(attacker_moves=False)}
        before: dict[Placement, list[Placement]] = {}
        for placement, after in replies.items():
            for reply in after:
                before.setdefault(reply, []).append(placement)
        num_open = {placement: len(after) for placement, after in replies.items()}
        lost = [p for p, after in replies.items() if not after and self.in_check(p)]
        for placement in lost:
            self.plies[placement, False] = 0
        for plies in itertools.count(1, 2):
            won = []
            for placement in lost:
                # The attacker's moves are reversible: the positions before are those after its moves from here.
                for earlier in self.moves(placement):
                    if (earlier, True) not in self.plies and not self.in_check(earlier):
                        self.plies[earlier, True] = plies
                        won.append(earlier)
            lost = []
            for placement in won:
                for earlier in before.get(placement, ()):
                    num_open[earlier] -= 1
                    if num_open[earlier] == 0:
                        self.plies[earlier, False] = plies + 1
                        lost.append(earlier)
            if not lost:
                return


def fen_of(placement: Placement, piece: str) -> str:
    """The position with White to move."""
    rows = []
    for rank in reversed(range(8)):
        row, empty = "", 0
        for square in range(8 * rank, 8 * rank + 8):
            letter = {placement[0]: "K", placement[1]: piece, placement[2]: "k"}.get(square)
            if letter is None:
                empty += 1
                continue
            row, empty = row + (str(empty) if empty else "") + letter, 0
        rows.append(row + (str(empty) if empty else ""))
    return f"{'/'.join(rows)} w - - 0 1"


def square_text(square: int) -> str:
    """A square as UCI writes it."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


@dataclass(frozen=True)
class Ending:
    """One played ending."""

    result: float
    plies: int
    best: int
    """Plies with perfect play."""


def play_ending(
    mover: SearchMover, game: Rules, table: EndingTable, placement: Placement, piece: str, nodes: int
) -> Ending:
    """The player as White against the longest defence."""
    fen, actions = fen_of(placement, piece), []
    best = table.plies[placement, True]
    state = game.parse_position(fen)
    mover.new_game(0)
    while (result := game.outcome(state)) is None:
        if game.player(state) == 0:
            action = mover.think(fen, actions, EngineLimits(nodes=nodes)).action
            assert action is not None
            text = game.action_text(state, action)
            origin, target = ("abcdefgh".index(text[at]) + 8 * (int(text[at + 1]) - 1) for at in (0, 2))
            placement = (
                target if origin == placement[0] else placement[0],
                target if origin == placement[1] else placement[1],
                placement[2],
            )
        else:
            replies = table.replies(placement)
            # A piece that is given away is taken; else the longest way to mate.
            after = max(replies, key=lambda reply: (reply[1] < 0, table.plies.get((reply, True), 999)))
            text = square_text(placement[2]) + square_text(after[2])
            placement = after
            found = game.parse_action(state, text)
            assert found is not None
            action = found
        actions.append(action)
        state = game.play(state, action)
    return Ending(result, len(actions), best)


def endings(player: Player, *, pieces: list[str], num: int, nodes: int, seed: int) -> None:
    """Plays `num` random endings with each piece."""
    contestant = SearchContestant("player", player.evaluator, player.config)
    for piece in pieces:
        table, generator = EndingTable(piece), random.Random(seed)
        starts = sorted(placement for (placement, is_won) in table.plies if is_won)
        mover = SearchMover(player.game, contestant)
        started = time.process_time()
        played = []
        for placement in generator.sample(starts, num):
            played.append(play_ending(mover, player.game, table, placement, piece, nodes))
            print(f"K{piece}K {len(played)}: {played[-1]}", flush=True)
        won = [ending for ending in played if ending.result == 1]
        moves = sum((ending.plies + 1) // 2 for ending in won) / max(len(won), 1)
        best = sum((ending.best + 1) // 2 for ending in won) / max(len(won), 1)
        seconds = (time.process_time() - started) / num
        print(
            f"K{piece}K: {len(won)} of {num} won, {moves:.1f} moves on average ({best:.1f} with perfect play),"
            f" {seconds:.1f} CPU-seconds a game"
        )
        mover.close()


def chess_mates(game: Rules, plies: int, *, seed: int) -> Iterator[tuple[State, str]]:
    """Positions of games between weak players whose player to move mates in exactly so many plies, one of each game.

    The length is that of a full search of all lines, `Game.alpha_beta`.
    """
    generator = random.Random(seed)
    for number in itertools.count():
        state = game.initial_state()
        while game.outcome(state) is None:
            if state.plies >= 10:
                found = game.alpha_beta(state, depth=plies, seed=seed, game=number)
                if found.result == 1 and found.delay == -plies:
                    yield state, game.position_text(state) or ""
                    break
            if generator.random() < 0.4:
                action = generator.choice(game.legal_actions(state))
            else:
                depth = 2 if game.player(state) == number % 2 else 1
                action = game.alpha_beta(state, depth=depth, seed=seed, game=number).action
            state = game.play(state, action)


def shogi_mates(game: Rules, plies: int, *, seed: int) -> Iterator[tuple[State, str]]:
    """Positions of games between weak players that are mates by checks in exactly so many plies, one of each game.

    The length is that of cshogi's search, a program of its own.
    """
    import cshogi

    generator = random.Random(seed)
    for number in itertools.count():
        state, board = game.initial_state(), cshogi.Board()
        while game.outcome(state) is None:
            if (
                state.plies >= 20
                and _mates_in(board, plies)
                and not any(_mates_in(board, fewer) for fewer in range(1, plies, 2))
            ):
                yield state, game.position_text(state) or ""
                break
            if generator.random() < 0.4:
                action = generator.choice(game.legal_actions(state))
            else:
                depth = 2 if game.player(state) == number % 2 else 1
                action = game.alpha_beta(state, depth=depth, seed=seed, game=number).action
            board.push_usi(game.action_text(state, action))
            state = game.play(state, action)


def _mates_in(board: Any, plies: int) -> bool:
    if plies == 1:
        return not board.is_check() and bool(board.mate_move_in_1ply())
    return bool(board.mate_move(plies))


def mates(player: Player, plies: int, *, num: int, nodes: int, seed: int) -> None:
    """Searches `num` mates of so many plies."""
    game, num_found, seconds, num_simulations = player.game, 0, 0.0, 0
    positions = chess_mates if game.spec.name == "chess" else shogi_mates
    for state, text in itertools.islice(positions(game, plies, seed=seed), num):
        started = time.process_time()
        found = player.analyse(state, num_simulations=nodes)
        seconds += time.process_time() - started
        is_found = found.proven == 1 and found.plies_to_end == plies
        num_found += is_found
        num_simulations += found.num_visits
        if not is_found:
            print(f"missed: {text}", flush=True)
    print(
        f"{game.spec.name}, mate in {plies} plies: {num_found} of {num} found at up to {nodes} simulations"
        f" ({num_simulations / num:.0f} made on average; {seconds / num:.2f} CPU-seconds a position)"
    )


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["endings", "chess-mates", "shogi-mates"])
    parser.add_argument("--num", type=int, default=100, help="number of positions of each kind")
    parser.add_argument("--simulations", type=int, default=1000, help="simulations of a move")
    parser.add_argument("--proof-nodes", type=int, help="search.proof_nodes; the player's own if not given")
    parser.add_argument("--pieces", nargs="+", default=["Q", "R"], choices=sorted(LINES))
    parser.add_argument("--plies", nargs="+", type=int, help="lengths of the mates; 3 in chess, 3 and 5 in shogi")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    game = "shogi" if args.what == "shogi-mates" else "chess"
    player = load_player(game)
    config = player.config
    if args.proof_nodes is not None:
        config = replace(config, proof_nodes=args.proof_nodes)
    player = player.judged_by(player.evaluator, config)
    if args.what == "endings":
        endings(player, pieces=args.pieces, num=args.num, nodes=args.simulations, seed=args.seed)
    else:
        for plies in args.plies or ([3] if game == "chess" else [3, 5]):
            mates(player, plies, num=args.num, nodes=args.simulations, seed=args.seed)


if __name__ == "__main__":
    main()
