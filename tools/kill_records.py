"""Kill imports and generations of games many times, with SIGKILL at random moments, and check the records they leave.

    python tools/kill_records.py --kills 1000 --seed 0

An import reads a PGN file of short chess games; a generation lets `alphabeta@1` play Connect Four. Both run in a
separate process, which seals much more often than usual and marks what it does (`kill_training.Marks`). Each kill is
aimed at a phase. After it a copy of the records is opened, as the next start opens the records themselves, and
`find_faults` lists the faults: games lost, doubled, changed or against the rules, or an index that differs from the
games. The same command continues until it ends by itself; its games must then be those of a run without kills, and a
new directory begins.

Prints a line per kill and a summary; exit status 1 if there was a fault, and the run is kept.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kill_training import HARMLESS, Marks, Write, against_the_rules, bits, link_shard
from zerosum.games import Rules, make
from zerosum.games.random_play import random_lines
from zerosum.notation import Move, Record, write_games
from zerosum.replay import GameRecord
from zerosum.replay.game_store import GameStore
from zerosum.run.record_index import RecordIndex, digest_of
from zerosum.run.run_directory import RECORDS, RECORDS_INDEX

WORKS = {"import": "chess", "generate": "connect4"}
"""The commands, and the games of their records."""
NUM_GAMES = 400
"""Games of a whole import or generation."""
GAMES_PER_SHARD = 16
PHASES = ("opening", "adding", "sealing", "indexing")
LONGEST_AIM_S = {"opening": 0.05}
"""Longest time in seconds from the begin of a phase to the kill, drawn uniformly; 0.005 for the other phases."""
LONGEST_START_S = 120.0


# ---- in the process that is killed


def work_marked(path: Path, words: Sequence[str]) -> None:
    """Run `zerosum` with these words; the file at `path` gets the marks."""
    import zerosum.cli
    from zerosum.run import game_import, generation

    marks = Marks(path, PHASES)

    def mark(owner: Any, name: str, phase: str, *, num_games: Any = lambda *_: 0) -> None:
        function = getattr(owner, name)

        def marked(*arguments: Any, **named: Any) -> Any:
            with marks.phase(phase):
                result = function(*arguments, **named)
            marks.add(Marks.GAMES, num_games(*arguments))
            return result

        setattr(owner, name, marked)

    setattr(game_import, "GAMES_PER_SHARD", GAMES_PER_SHARD)  # noqa: B010
    for module in (game_import, generation):
        mark(module, "open_records", "opening")
    mark(GameStore, "add_game", "adding", num_games=lambda _store, _record: 1)
    mark(GameStore, "add_games", "adding", num_games=lambda _store, records: len(records))
    mark(GameStore, "_write", "sealing")
    mark(RecordIndex, "add", "indexing")
    sys.argv = ["zerosum", *words]
    zerosum.cli.main()


# ---- what is on the disk


def look(run: Path) -> tuple[list[GameRecord], list[str]]:
    """The games of a run's records, and the messages and faults of their opening; repairs are made in a copy."""
    messages: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        copy, index = Path(directory, RECORDS), Path(directory, RECORDS_INDEX)
        if (run / RECORDS).exists():
            shutil.copytree(run / RECORDS, copy, copy_function=link_shard)
        for path in run.glob(f"{RECORDS_INDEX}*"):  # with SQLite's own journal
            shutil.copyfile(path, index.with_name(path.name))
        store = GameStore(copy, report=messages.append)
        store.forget_running()
        store.seal()
        records = list(store.recent(1 << 60))
        found = RecordIndex(index, copy)
        for record in records:
            origin = found.origin(digest_of(record.start, record.plies["action"], record.outcome))
            if origin != record.settings_hash:
                messages.append(f"game {record.game_id} is of {record.settings_hash}, and in the index of {origin}")
        found.close()
        store.close()
    return records, [message for message in messages if not message.endswith(tuple(HARMLESS.values()))]


def find_faults(game: Rules, before: Sequence[GameRecord], after: Sequence[GameRecord], num_new: int) -> Iterator[str]:
    """The faults of the records after a kill, in words.

    Args:
        game: Their game.
        before: The records after the kill before.
        after: The records now.
        num_new: Games that the killed process had added.
    """
    if [bits(record) for record in after[: len(before)]] != [bits(record) for record in before]:
        yield "games from before are lost or have changed"
    if len(after) < len(before) + num_new:
        yield f"of {num_new} games that were added {len(after) - len(before)} are there"
    if (differing := len(contents(after))) != len(after):
        yield f"{len(after) - differing} games are there twice"
    for record in after[len(before) :]:
        if fault := against_the_rules(game, record, to_the_end=False):
            yield f"game {record.game_id} {fault}"


def contents(records: Sequence[GameRecord]) -> set[bytes]:
    """The digests of the games."""
    return {digest_of(record.start, record.plies["action"], record.outcome) for record in records}


# ---- lives and deaths


@dataclass
class Summary:
    """The results of many kills."""

    num_kills: int = 0
    num_whole: int = 0
    """Imports and generations that came to their end."""
    num_games: int = 0
    """Games in the records of these."""
    under_way: Counter[str] = field(default_factory=Counter)
    """How often each phase was under way at a kill."""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        under_way = ", ".join(f"{name} {count}" for name, count in self.under_way.items())
        return (
            f"{self.num_kills} kills; under way: {under_way}; {self.num_whole} imports and generations with"
            f" {self.num_games} games came to their end; {len(self.faults)} faults"
        )


class Killer:
    """Imports or generates into a directory, and kills it."""

    def __init__(self, work: str, folder: Path, generator: np.random.Generator) -> None:
        self.work, self.folder, self.generator, self.game = work, folder, generator, make(WORKS[work])
        self.run = folder / work
        self.records: list[GameRecord] = []
        """Games after the last kill."""
        words = {"import": [str(_chess_games(folder / "games.pgn"))], "generate": GENERATION}[work]
        self.words = [work, *words, "--run"]
        self.whole = self._undisturbed()

    def _undisturbed(self) -> set[bytes]:
        run = self.folder / f"{self.work}-undisturbed"
        subprocess.run([sys.executable, "-m", "zerosum", *self.words, str(run)], check=True, capture_output=True)
        return contents(look(run)[0])

    def live(self, summary: Summary) -> list[str]:
        """Work until a kill or the end, and return the faults of the records."""
        marks_path, log_path = self.folder / "marks", self.folder / "log.txt"
        marks_path.unlink(missing_ok=True)
        marks, draw = Marks(marks_path, PHASES), self.generator.random
        aim = str(self.generator.choice(PHASES))
        with log_path.open("w") as log:
            command = [sys.executable, __file__, "--marked", str(marks_path), *self.words, str(self.run)]
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            try:
                marks.wait_for("opening", process, longest_s=LONGEST_START_S)
                if aim != "opening":
                    marks.wait_for("adding", process, longest_s=LONGEST_START_S)
                    time.sleep(0.4 * draw())
                marks.wait_for(aim, process, longest_s=LONGEST_START_S)
                time.sleep(LONGEST_AIM_S.get(aim, 0.005) * draw())
            finally:
                process.kill()
                status = process.wait()
        after, faults = look(self.run)
        faults += find_faults(self.game, self.records, after, marks[Marks.GAMES])
        said = log_path.read_text()
        if status not in (0, -signal.SIGKILL) or "Traceback" in said or "damaged" in said:
            faults.append(f"the {self.work} failed:\n{said}")
        if status == -signal.SIGKILL:
            summary.num_kills += 1
            summary.under_way.update(marks.under_way or ["nothing"])
            self.records = after
            return faults
        if contents(after) != self.whole:
            faults.append(f"{self.run} differs from the same {self.work} without kills")
        summary.num_whole += 1
        summary.num_games += len(after)
        if not faults:
            shutil.rmtree(self.run)
        self.records = []
        return faults


GENERATION = ["connect4", "--first", "alphabeta@1", "--games", str(NUM_GAMES)]


def _chess_games(path: Path) -> Path:
    game = make("chess")
    lines = random_lines(game, num=NUM_GAMES, seed=0)
    write_games((_record(game, line[:20]) for line in lines), path)
    return path


def _record(game: Rules, line: Sequence[int]) -> Record:
    state, moves = game.initial_state(), []
    for action in line:
        moves.append(Move(game.action_text(state, action)))
        state = game.play(state, action)
    return Record(game.spec.full_name, tuple(moves), result=1.0)


def kill_many(folder: Path, *, kills: int, seed: int, write: Write = print) -> Summary:
    """Import and generate by turns, and kill them so many times in total."""
    generator, summary = np.random.default_rng(seed), Summary()
    killers = [Killer(work, folder, generator) for work in WORKS]
    while summary.num_kills < kills and not summary.faults:
        for killer in killers:
            summary.faults += (faults := killer.live(summary))
            for fault in faults:
                write(f"  FAULT: {fault}")
            write(f"kill {summary.num_kills}, {killer.work}: {len(killer.records)} games")
    return summary


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["--marked"]:
        work_marked(Path(sys.argv[2]), sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description="Kill imports and generations, and check the records they leave.")
    parser.add_argument("--kills", type=int, default=50, help="number of kills (50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kill-records-"))
    summary = kill_many(folder, kills=arguments.kills, seed=arguments.seed)
    print(summary)
    if summary.faults:
        sys.exit(f"The run is kept in {folder}.")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
