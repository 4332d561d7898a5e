"""Endurance test of our engines with real clocks and clients: losses on time, illegal moves, hanging engines.

    python tools/play_clients.py --games 500 --record soak.jsonl
    python tools/play_clients.py --games 20 --only 'chess 2' --record soak.jsonl --run chess=runs/chess

An engine plays against itself, two processes a game and two games at once (`--at-once`), so that four engines share
the machine. Each kind of game (`SCENARIOS`) has a time control and a client: our own for external engines, one
that ponders like ShogiHome, one that speaks GTP like a Go board, or python-chess with pondering, if it
is installed. A clock runs from the moment when the client asks (or says that the expected move was not played)
until it has read the answer.

Games begin with four random plies and end by the rules, or after `MOST_PLIES`. Each finished game is a line of the
record. An existing record is continued, so `--games` counts the games of all calls together.
Prints faults as they happen, and a table; exit status 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import itertools
import json
import math
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.mover import EngineFailure, MoveLimits
from zerosum.games import Rules, State, make, parse_action
from zerosum.play.engines.engine import EngineCommand, ExternalEngine
from zerosum.play.engines.process import EngineLine, EngineProcess

MOST_PLIES = 120
OPENING_PLIES = 4
SECONDS_A_MOVE = ("st=1", "2+1x1", "5+5/5", "5+1")
"""Controls with which a game takes minutes,"""
QUICK_GAMES = 4
"""and for one of those so many of the others are played."""
GAMES_A_SESSION = 5
"""That two processes play, one after the other."""
PATIENCE_S = 20.0
"""After its time, an engine that has said nothing hangs."""
ENDED_BY_ENGINE = ("resign", "win", "(none)")


@dataclass(frozen=True)
class Scenario:
    """A kind of game."""

    game: str
    protocol: str
    control: str
    client: str
    """A name in `CLIENTS`."""

    @property
    def name(self) -> str:
        """The name in tables and in the record."""
        return f"{self.game} {self.control} {self.client}"

    @property
    def weight(self) -> int:
        """The relative number of games."""
        return 1 if self.control in SECONDS_A_MOVE else QUICK_GAMES


SCENARIOS = tuple(
    Scenario(game, protocol, control, client)
    for game, protocol, controls, clients in (
        ("chess", "uci", ("1+0.05", "2", "40/5"), ("ours", "pondering", "python-chess")),
        ("shogi", "usi", ("st=1", "1+0.1", "2+1x1"), ("ours", "pondering")),
        ("minishogi", "usi", ("st=1", "1+0.1"), ("pondering",)),
        # GTP's `time_settings 0 1 1`, `5 5 5`, and Fischer's.
        ("go9", "gtp", ("st=1", "5+5/5", "5+1"), ("board",)),
    )
    for control in controls
    for client in clients
)


@dataclass(frozen=True)
class PlayedGame:
    """A line of the record."""

    scenario: str
    number: int
    plies: int
    ending: str
    """By the rules, "resign" or "win" by an engine, or "enough plies"."""
    fault: str
    """What should not have happened; "" if nothing did."""
    slack_s: float
    """The least time that was left on a clock behind a move."""
    ponderhits: int


@dataclass
class Turn:
    """A request for a move."""

    moves: list[str]
    state: State
    player: int
    lefts: list[TimeLeft]


class Client(Protocol):
    """One engine, driven in some way."""

    ponderhits: int

    def new_game(self) -> None:
        """Say that another game begins."""

    def think(self, turn: Turn) -> tuple[str, float]:
        """Ask for a move, which may be one of `ENDED_BY_ENGINE`. Returns it with its seconds."""

    def close(self) -> None:
        """End the engine."""


class OurClient:
    """`zerosum.play.engines.engine`, which never ponders."""

    ponderhits = 0

    def __init__(self, scenario: Scenario, game: Rules, argv: Sequence[str]) -> None:
        command = EngineCommand(tuple(argv), scenario.protocol)
        self._game = game
        self._engine = ExternalEngine(command, game)

    def new_game(self) -> None:
        """As `Client.new_game`."""
        self._engine.new_game()

    def think(self, turn: Turn) -> tuple[str, float]:
        """As `Client.think`."""
        state, actions = self._game.initial_state(), []
        for text in turn.moves:
            actions.append(parse_action(self._game, state, text))
            state = self._game.play(state, actions[-1])
        first, second = turn.lefts
        move = self._engine.think("", actions, MoveLimits((first, second), margin_s=PATIENCE_S))
        seconds = move.thought.seconds
        assert seconds is not None
        if move.action is None:
            return {"resignation": "resign", "declaration": "win"}[move.ending], seconds
        return self._game.action_text(turn.state, move.action), seconds

    def close(self) -> None:
        """As `Client.close`."""
        self._engine.close()


class PonderingClient:
    """A UCI or USI client like ShogiHome: it ponders on every move that `bestmove` names.

    Every other time the clocks come with `ponderhit` (in USI) rather than with `go ponder`.
    """

    def __init__(self, scenario: Scenario, _: Rules, argv: Sequence[str]) -> None:
        self._protocol, self.ponderhits = scenario.protocol, 0
        self._process = EngineProcess(argv, name=scenario.name)
        self._expected: list[str] | None = None
        self._is_early = False
        self._process.send(self._protocol)
        self._read_until(f"{self._protocol}ok")
        self._process.send(f"setoption name {'USI_Ponder' if self._protocol == 'usi' else 'Ponder'} value true")

    def new_game(self) -> None:
        """As `Client.new_game`."""
        self._end_pondering()
        if self._protocol == "usi":
            self._process.send("gameover draw")
        self._process.send("isready")
        self._read_until("readyok", 60.0)
        self._process.send(f"{self._protocol}newgame")

    def think(self, turn: Turn) -> tuple[str, float]:
        """As `Client.think`."""
        clocks, moves = self._clocks(turn), " ".join(turn.moves)
        began = time.monotonic()
        if self._expected == turn.moves:
            self.ponderhits += 1
            self._expected = None
            self._process.send(f"ponderhit {clocks}" if self._is_early else "ponderhit")
        else:
            self._end_pondering()
            self._process.send(f"position startpos moves {moves}")
            self._process.send(f"go {clocks}")
        answer = self._read_until("bestmove")
        _, move, *ponder = answer.text.split()
        if ponder and move not in ENDED_BY_ENGINE:
            self._expected = [*turn.moves, move, ponder[1]]
            self._is_early = self._protocol == "usi" and len(turn.moves) % 4 < 2
            self._process.send(f"position startpos moves {' '.join(self._expected)}")
            self._process.send("go ponder" if self._is_early else f"go ponder {clocks}")
        return move, answer.at - began

    def _clocks(self, turn: Turn) -> str:
        names = "bw" if self._protocol == "usi" else "wb"
        left, words = turn.lefts[turn.player], list[str]()
        for name, each in zip(names, turn.lefts, strict=True):
            words += [f"{name}time", str(int(1000 * max(each.main_s, 0.0)))]
        if left.increment_s:
            words += [word for name in names for word in (f"{name}inc", str(int(1000 * left.increment_s)))]
        if left.num_periods:
            words += ["byoyomi" if self._protocol == "usi" else "movetime", str(int(1000 * left.period_s))]
        if left.moves_to_go is not None:
            words += ["movestogo", str(left.moves_to_go)]
        return " ".join(words)

    def _end_pondering(self) -> None:
        if self._expected is not None:
            self._expected = None
            self._process.send("stop")
            self._read_until("bestmove")

    def _read_until(self, word: str, timeout_s: float = PATIENCE_S) -> EngineLine:
        """The line that begins with a word; an unexpected answer is a fault."""
        deadline = time.monotonic() + timeout_s
        while line := self._process.read(deadline):
            first = line.text.partition(" ")[0]
            if first == word:
                return line
            if first == "bestmove":
                raise self._process.failure("made a move without being asked")
        raise self._process.failure(f"did not answer {word!r} within {timeout_s:g} s")

    def close(self) -> None:
        """As `Client.close`."""
        self._process.close("quit", 5.0)


class BoardClient:
    """A GTP client like a Go board: time settings once per game, clocks before each move."""

    ponderhits = 0

    def __init__(self, scenario: Scenario, game: Rules, argv: Sequence[str]) -> None:
        self._control, self._size = TimeControl.parse(scenario.control), game.spec.board_shape[0]
        self._process = EngineProcess(argv, name=scenario.name)
        self._num_known = 0

    def new_game(self) -> None:
        """As `Client.new_game`."""
        for command in (f"boardsize {self._size}", "clear_board", gtp_command(self._control)):
            self._ask(command, 60.0)
        self._num_known = 0

    def think(self, turn: Turn) -> tuple[str, float]:
        """As `Client.think`."""
        colors, num_moves = "bw", len(turn.moves)
        for number in range(self._num_known, num_moves):
            self._ask(f"play {colors[number % 2]} {turn.moves[number]}")
        self._ask(f"time_left {colors[turn.player]} {gtp_words(turn.lefts[turn.player], decimals=0)}")
        began = time.monotonic()
        answer = self._ask(f"genmove {colors[turn.player]}")
        self._num_known = num_moves + 1
        return answer.text.removeprefix("=").strip(), answer.at - began

    def _ask(self, command: str, timeout_s: float = PATIENCE_S) -> EngineLine:
        self._process.send(command)
        deadline = time.monotonic() + timeout_s
        while line := self._process.read(deadline):
            if line.text.startswith("?"):
                raise self._process.failure(f"refused {command!r}: {line.text}")
            if line.text.startswith("="):
                return line
        raise self._process.failure(f"did not answer {command!r} within {timeout_s:g} s")

    def close(self) -> None:
        """As `Client.close`."""
        self._process.close("quit", 5.0)


class PythonChessClient:
    """python-chess, pondering."""

    ponderhits = 0

    def __init__(self, _: Scenario, __: Rules, argv: Sequence[str]) -> None:
        self._chess: Any = importlib.import_module("chess")
        importlib.import_module("chess.engine")
        self._engine = self._chess.engine.SimpleEngine.popen_uci(list(argv), timeout=PATIENCE_S)
        self._game = object()

    def new_game(self) -> None:
        """As `Client.new_game`."""
        self._game = object()
        self._engine.ping()

    def think(self, turn: Turn) -> tuple[str, float]:
        """As `Client.think`."""
        board = self._chess.Board()
        for move in turn.moves:
            board.push_uci(move)
        white, black = (left.main_s for left in turn.lefts)
        left = turn.lefts[turn.player]
        limit = self._chess.engine.Limit(
            white_clock=white,
            black_clock=black,
            white_inc=left.increment_s,
            black_inc=left.increment_s,
            remaining_moves=left.moves_to_go,
        )
        began = time.monotonic()
        try:
            result = self._engine.play(board, limit, game=self._game, ponder=True)
        except self._chess.engine.EngineError as error:
            raise EngineFailure(str(error), ending="forfeit") from error
        return "(none)" if result.move is None else str(result.move), time.monotonic() - began

    def close(self) -> None:
        """As `Client.close`."""
        with contextlib.suppress(self._chess.engine.EngineTerminatedError):
            self._engine.quit()


CLIENTS: Mapping[str, Any] = {
    "ours": OurClient,
    "pondering": PonderingClient,
    "python-chess": PythonChessClient,
    "board": BoardClient,
}


def play_game(scenario: Scenario, number: int, game: Rules, clients: Sequence[Client]) -> PlayedGame:
    """A game between two engines, of which the first begins in even games."""
    control, draw = TimeControl.parse(scenario.control), random.Random(number)
    turn = Turn([], game.initial_state(), 0, [control.start(), control.start()])
    slack_s, hits = float("inf"), sum(client.ponderhits for client in clients)

    def ended(ending: str, fault: str = "") -> PlayedGame:
        hits_now = sum(client.ponderhits for client in clients) - hits
        return PlayedGame(scenario.name, number, len(turn.moves), ending, fault, round(slack_s, 3), hits_now)

    def move(action: int) -> None:
        turn.moves.append(game.action_text(turn.state, action))
        turn.state = game.play(turn.state, action)
        turn.player = game.player(turn.state)

    try:
        for client in clients:
            client.new_game()
        while (ending := game.ending(turn.state)) is None and len(turn.moves) < MOST_PLIES:
            if len(turn.moves) < OPENING_PLIES:
                move(draw.choice(game.legal_actions(turn.state)))
                continue
            text, elapsed_s = clients[(turn.player + number) % 2].think(turn)
            left = turn.lefts[turn.player]
            slack_s = min(slack_s, control.flag_falls_after_s(left) - elapsed_s)
            after = control.after_move(left, elapsed_s)
            if after is None:
                return ended("time", f"flag fell by {-slack_s:.3f} s at ply {len(turn.moves) + 1}")
            turn.lefts[turn.player] = after
            if text in ENDED_BY_ENGINE:
                return ended(text)
            action = game.parse_action(turn.state, text)
            if action is None:
                return ended("illegal move", f"{text} after {' '.join(turn.moves)}")
            move(action)
    except EngineFailure as error:
        return ended(error.ending, str(error))
    return ended(ending or "enough plies")


def play_session(scenario: Scenario, numbers: Sequence[int], argv: Sequence[str]) -> Iterator[PlayedGame]:
    """Games between two processes; after a fault, others play on."""
    game, clients = make(scenario.game), list[Client]()
    try:
        for number in numbers:
            if not clients:
                clients = [CLIENTS[scenario.client](scenario, game, argv) for _ in range(2)]
            played = play_game(scenario, number, game, clients)
            if played.fault:
                close_all(clients)
            yield played
    finally:
        close_all(clients)


def close_all(clients: list[Client]) -> None:
    """End all engines; some may have ended already."""
    while clients:
        with contextlib.suppress(EngineFailure):
            clients.pop().close()


def read_record(path: Path) -> list[PlayedGame]:
    """The played games; a line cut off by a kill does not count."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [PlayedGame(**json.loads(line)) for line in lines if line.endswith("\n")]


def sessions(
    scenarios: Sequence[Scenario], played: Sequence[PlayedGame], num_games: int
) -> list[tuple[Scenario, list[int]]]:
    """The games left to play, distributed by weight, a few of each kind at a time."""
    ends = list(itertools.accumulate(scenario.weight for scenario in scenarios))
    # Shares of whole games that add up to all of them.
    before = [0, *(num_games * end // ends[-1] for end in ends)]
    shares = {scenario: before[index + 1] - before[index] for index, scenario in enumerate(scenarios)}
    done = {(game.scenario, game.number) for game in played}
    found = list[tuple[int, Scenario, list[int]]]()
    for scenario, share in shares.items():
        missing = [number for number in range(share) if (scenario.name, number) not in done]
        for start in range(0, len(missing), GAMES_A_SESSION):
            found.append((start, scenario, missing[start : start + GAMES_A_SESSION]))
    return [(scenario, numbers) for _, scenario, numbers in sorted(found, key=lambda session: session[0])]


def table(games: Sequence[PlayedGame]) -> str:
    """The results by scenario."""
    lines = [f"{'':<32} games  plies  faults  ponder hits  least slack  endings"]
    for name in sorted({game.scenario for game in games}):
        of_name = [game for game in games if game.scenario == name]
        endings = Counter(game.ending for game in of_name)
        lines.append(
            f"{name:<32} {len(of_name):5}  {sum(game.plies for game in of_name):5}"
            f"  {sum(bool(game.fault) for game in of_name):6}  {sum(game.ponderhits for game in of_name):11}"
            f"  {min(game.slack_s for game in of_name):9.3f} s"
            f"  {', '.join(f'{count} {ending}' for ending, count in endings.most_common())}"
        )
    lines.append(f"{len(games)} games, {sum(bool(game.fault) for game in games)} with a fault")
    return "\n".join(lines)


def gtp_command(control: TimeControl) -> str:
    """What a client sends before a game: `time_settings` if it expresses the control, or else `kata-time_settings`."""
    main, period = f"{control.main_s:.9g}", f"{control.period_s:.9g}"
    assert not control.session_moves, "GTP has no sessions of moves"
    if control.main_s == math.inf:
        return "time_settings 0 1 0"
    if control.increment_s:
        return f"kata-time_settings fischer {main} {control.increment_s:.9g}"
    if control.num_periods > 1:
        return f"kata-time_settings byoyomi {main} {period} {control.num_periods}"
    return f"time_settings {main} {period} {control.period_moves}"


def gtp_words(left: TimeLeft, *, decimals: int = 3) -> str:
    """The last two words of `time_left`, rounded down: "28 0" in main time, "12 3" in overtime.

    The second is the number of moves to be made in the period, or of the periods left if there are several (kgsGtp).
    """
    seconds = math.floor(max(left.shown_s, 0.0) * 10**decimals) / 10**decimals
    moves = left.num_periods if left.num_periods > 1 else left.period_moves
    return f"{seconds:.9g} {moves if left.is_overtime else 0}"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=500, help="total number of games, those of the record included")
    parser.add_argument("--record", type=Path, required=True, help="file with a line per game, which is continued")
    parser.add_argument("--at-once", type=int, default=2, help="games at once, with two engines each")
    parser.add_argument("--only", default="", help="only scenarios whose names contain this")
    parser.add_argument("--run", action="append", default=[], metavar="GAME=RUN", help="the network of a game")
    arguments = parser.parse_args()
    runs = dict(word.split("=", 1) for word in arguments.run)
    chosen = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    if importlib.util.find_spec("chess") is None:
        chosen = [scenario for scenario in chosen if scenario.client != "python-chess"]
        print("python-chess is not installed: it plays no games.")
    played = read_record(arguments.record)
    # A line that was cut off by a kill goes.
    arguments.record.write_text("".join(f"{json.dumps(asdict(game))}\n" for game in played), encoding="utf-8")
    lock = threading.Lock()

    def run(scenario: Scenario, numbers: list[int]) -> None:
        argv = [sys.executable, "-m", "zerosum", scenario.protocol, "--game", scenario.game]
        argv += [runs[scenario.game]] if scenario.game in runs else []
        for game in play_session(scenario, numbers, argv):
            with lock, arguments.record.open("a", encoding="utf-8") as record:
                record.write(f"{json.dumps(asdict(game))}\n")
                played.append(game)
                fault = f"  FAULT: {game.fault}" if game.fault else ""
                print(
                    f"{len(played):4} {game.scenario} {game.number}: {game.plies} plies, {game.ending}{fault}",
                    flush=True,
                )

    with ThreadPoolExecutor(arguments.at_once) as pool:
        tasks = [pool.submit(run, *session) for session in sessions(chosen, played, arguments.games)]
        for task in tasks:
            task.result()
    print(table(played))
    return int(any(game.fault for game in played))


if __name__ == "__main__":
    sys.exit(main())
