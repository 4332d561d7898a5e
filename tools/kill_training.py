"""Kill a training many times, with SIGKILL at random moments, and check the files that it leaves.

    python tools/kill_training.py --kills 50 --seed 0
    python tools/kill_training.py --kills 20 --seed 0 --deterministic
    python tools/kill_training.py --kills 20 --seed 0 --deterministic --preset muzero

It trains a tiny network with `zerosum train` in a separate process, which seals and saves much more often than usual.
Each kill is aimed at a phase: the tool waits until that phase is under way, and then a random moment more. Moments by
the clock alone would hardly ever meet the short phases. The process marks its phases, finished games and saved
checkpoints in a file (`Marks`). So the summary can say what was under way at the kill, and a finished game that is not
on the disk is noticed.

After each kill a copy of the run's games is opened, as the next start opens the games themselves, and `find_faults`
lists the faults: games lost, doubled, changed or against the rules; lost moves of running games; a damaged or missing
checkpoint; a counter that went back. The next start reports damage, too. A deterministic run is also trained to
its end and compared with a run without kills.

Prints a line per kill and a summary; exit status 1 if there was a fault, and the run is kept.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.base.errors import DataError
from zerosum.games import Rules, make, start_state
from zerosum.network import Checkpoint, load_checkpoint, save_checkpoint
from zerosum.network.checkpoint import list_checkpoints, load_learner_state
from zerosum.replay import GameRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import parse_journal
from zerosum.run.metrics import CORE_COLUMNS, MetricsRow, read_metrics

GAME = "tictactoe"
SETTINGS = (
    "network.num_blocks=1",
    "network.num_filters=8",
    "strength.budget_share=0.5",  # of the evaluations of a short run, which are few
    "search.num_simulations=8",
    "learner.batch_size=16",
    "learner.samples_per_position=4",
    "selfplay.games_per_worker=4",
    "replay.games_per_shard=16",
    "training.min_positions=50",
    "training.steps_per_phase=2",
    "strength.rollout_simulations=2",
)
SETTINGS_OF_PRESET = {
    "": ("search.cache_positions=20",),
    # Each phase compiles the network for self-play and for searching old positions anew.
    "muzero": ("network.dynamics_blocks=1", "learner.reanalysed_share=0.2", "training.steps_per_phase=4"),
}
STEPS_A_CHECKPOINT = 20
STEPS_A_KILL = 60
"""Steps in the budget of a deterministic run for each kill."""
CHECKPOINTS_A_KILL = 3
"""Checkpoints of a deterministic run for each kill."""
REPORT_SECONDS = 0.2
"""Between rows of metrics, which are ten seconds apart otherwise."""
LONGEST_START_S = 120.0
LONGEST_WAIT_S = 10.0
"""For a phase."""
LONGEST_AIM_S = {"opening": 0.3}
"""That a phase has been under way when the kill comes, drawn uniformly; 0.01 where nothing is said."""

PHASES = ("opening", "self-play", "sealing", "checkpointing", "learner step", "rating")
AIMS = np.array([1, 1, 2, 2, 2, 1])
"""How often a kill is aimed at each phase, in proportion."""

Write = Callable[[str], None]


# ---- in the process that is killed


class Marks:
    """The progress of a training, in a file that outlives it.

    Whole numbers: for each phase how many threads are in it; the new games that it has finished (`GAMES`); the step of
    the checkpoint that it has saved last (`SAVED`).
    """

    GAMES, SAVED = -2, -1

    def __init__(self, path: Path, phases: Sequence[str] = PHASES) -> None:
        """Share the file, which is made if need be."""
        self._phases = phases
        if not path.exists():
            path.write_bytes(bytes(8 * (len(phases) + 2)))
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 0)).cast("q")
        self._lock = threading.Lock()

    def __getitem__(self, index: int) -> int:
        return self._numbers[index]

    def add(self, index: int, count: int) -> None:
        """Count. Safe from several threads."""
        with self._lock:
            self._numbers[index] += count

    @property
    def under_way(self) -> list[str]:
        """The phases that some thread is in."""
        return [phase for index, phase in enumerate(self._phases) if self[index]]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Mark it as under way."""
        index = self._phases.index(name)
        self.add(index, 1)
        try:
            yield
        finally:
            self.add(index, -1)

    def wait_for(self, phase: str, process: subprocess.Popen[Any], *, longest_s: float) -> None:
        """Return when the phase is under way or the process has ended, or after this time."""
        until = time.monotonic() + longest_s
        while phase not in self.under_way and process.poll() is None and time.monotonic() < until:
            time.sleep(0.0002)


def train_marked(path: Path, words: Sequence[str]) -> None:
    """`zerosum` with these words, marking in the file at `path` what it does."""
    import zerosum.cli
    from zerosum.learner import Learner
    from zerosum.run import budget, selfplay_training
    from zerosum.run.strength import Strength
    from zerosum.selfplay.worker import SelfplayWorker

    marks = Marks(path)

    def mark(owner: Any, name: str, phase: str) -> None:
        function = getattr(owner, name)

        def marked(*arguments: Any, **named: Any) -> Any:
            with marks.phase(phase):
                return function(*arguments, **named)

        setattr(owner, name, marked)

    finish_game, seal = GameStore.finish_game, GameStore._seal

    def save_and_tell(directory: Path, checkpoint: Checkpoint, **named: Any) -> Path:
        path = save_checkpoint(directory, checkpoint, **named)
        marks.add(Marks.SAVED, checkpoint.info.step - marks[Marks.SAVED])
        return path

    def finish_and_tell(store: GameStore, game_id: int, **named: Any) -> GameRecord:
        is_new = game_id in store._running  # and not one that a deterministic run plays again
        record = finish_game(store, game_id, **named)
        marks.add(Marks.GAMES, is_new)
        return record

    def seal_and_tell(store: GameStore, *, at_least: int) -> None:
        with marks.phase("sealing") if len(store._finished) >= at_least else nullcontext():
            seal(store, at_least=at_least)

    changes: dict[str, Any] = {"finish_game": finish_and_tell, "_seal": seal_and_tell}
    for name, function in changes.items():
        setattr(GameStore, name, function)
    setattr(budget, "REPORT_SECONDS", REPORT_SECONDS)  # noqa: B010
    setattr(selfplay_training, "save_checkpoint", save_and_tell)  # noqa: B010
    mark(selfplay_training, "save_checkpoint", "checkpointing")
    mark(selfplay_training.SelfplayTraining, "__init__", "opening")
    mark(SelfplayWorker, "play_batch", "self-play")
    mark(Learner, "step", "learner step")
    mark(Strength, "_play", "rating")
    sys.argv = ["zerosum", *words]
    zerosum.cli.main()


# ---- what is on the disk


@dataclass(frozen=True)
class Found:
    """The state of a run after a kill, as the next start would find it."""

    records: list[GameRecord] = field(default_factory=list)
    """The finished games, in their order."""
    running: dict[int, list[int]] = field(default_factory=dict)
    """The moves of each game under way."""
    steps: list[int] = field(default_factory=list)
    """Of the checkpoints."""
    rows: list[MetricsRow] = field(default_factory=list)
    matches: list[str] = field(default_factory=list)
    """The whole lines of the rating games."""
    messages: list[str] = field(default_factory=list)
    """What the opening of the games said."""

    @property
    def finished(self) -> dict[int, GameRecord]:
        """By id."""
        return {record.game_id: record for record in self.records}


def look(run: Path) -> Found:
    """Read a run without a running training. Repairs are made in a copy."""
    messages: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "games")
        if (run / "games").exists():
            shutil.copytree(run / "games", copy, copy_function=link_shard)
        store = GameStore(copy, report=messages.append)
        records = list(store.recent(1 << 60))
        running = {game_id: [ply.action for ply in game.plies] for game_id, game in store.running.items()}
        store.close()
    strength = run / "strength.jsonl"
    return Found(
        records=records,
        running=running,
        steps=[_step(path) for path in list_checkpoints(run / "checkpoints")],
        rows=read_metrics(run / "metrics.csv"),
        matches=strength.read_text().split("\n")[:-1] if strength.exists() else [],
        messages=messages,
    )


def link_shard(source: str, target: str) -> None:
    """Link a shard instead of copying it: shards never change."""
    if source.endswith(".parquet"):
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.stem.removeprefix("step-"))


def find_faults(
    run: Path,
    game: Rules,
    before: Found,
    after: Found,
    marks: Marks | Mapping[int, int],
    *,
    deterministic: bool = False,
    has_gaps: bool = False,
) -> list[str]:
    """The faults of a run after a kill, in words; `before` is its state after the kill before.

    A deterministic run begins its running games anew. A run on a cluster has gaps in the numbers of its games: those
    that died with their actors.
    """
    return [
        *_faults_of_games(
            game, before, after, num_new=marks[Marks.GAMES], begins_anew=deterministic, has_gaps=has_gaps
        ),
        *_faults_of_checkpoints(run, before, after, last_saved=marks[Marks.SAVED]),
        *_faults_of_tables(before, after),
        *(message for message in after.messages if not message.endswith(tuple(HARMLESS.values()))),
    ]


HARMLESS = {
    "an entry of the journal": "is played again.",
    "a line of the manifest": "that change is taken back.",
    "a seal": "and is removed.",
}
"""What recovery may find cut off, and the end of what it says of it."""


def _faults_of_games(
    game: Rules, before: Found, after: Found, *, num_new: int, begins_anew: bool, has_gaps: bool
) -> Iterator[str]:
    old, new = before.finished, after.finished
    if len(new) != len(after.records):
        yield f"{len(after.records) - len(new)} finished games are there twice"
    if lost := old.keys() - new.keys():
        yield f"finished games are lost: {sorted(lost)}"
    if changed := [i for i in old.keys() & new.keys() if bits(old[i]) != bits(new[i])]:
        yield f"finished games have changed: {sorted(changed)}"
    if len(new) - len(old) < num_new:
        yield f"of {num_new} games that were finished {len(new) - len(old)} are there"
    if both := new.keys() & after.running.keys():
        yield f"games are finished and under way: {sorted(both)}"
    ids = new.keys() | after.running.keys()
    if not has_gaps and (missing := set(range(max(ids, default=-1) + 1)) - ids):
        yield f"games that began are lost: {sorted(missing)}"
    for game_id, moves in before.running.items():
        now = new[game_id].plies["action"].tolist() if game_id in new else after.running.get(game_id, [])
        is_anew = begins_anew and game_id not in new
        if now[: len(moves)] != (moves[: len(now)] if is_anew else moves):
            yield f"game {game_id} had the moves {moves}, and has {now}"
    for game_id in new.keys() - old.keys():
        if fault := against_the_rules(game, new[game_id]):
            yield f"game {game_id} {fault}"


def bits(record: GameRecord) -> list[object]:
    """All of a record, to be compared."""
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in vars(record).values()]


def against_the_rules(game: Rules, record: GameRecord, *, to_the_end: bool = True) -> str:
    """What is wrong with a game, or ""; games of people end by resignation, too, so not all go `to_the_end`."""
    state = start_state(game, record.start)
    for index, action in enumerate(record.plies["action"].tolist()):
        if action not in game.legal_actions(state) or record.plies["player"][index] != game.player(state):
            return f"has an illegal move at ply {index}"
        state = game.play(state, action)
    is_end = not to_the_end or (record.outcome, record.ending) == (game.outcome(state), game.ending(state))
    return "" if is_end else "has another end than its moves"


def _faults_of_checkpoints(run: Path, before: Found, after: Found, *, last_saved: int) -> Iterator[str]:
    if lost := set(before.steps) - set(after.steps):
        yield f"checkpoints are lost: {sorted(lost)}"
    if last_saved > max(after.steps, default=0):
        yield f"the checkpoint of step {last_saved} was saved and is lost"
    for path in list_checkpoints(run / "checkpoints"):
        if _step(path) not in before.steps:
            try:
                load_checkpoint(path)
                load_learner_state(path)
            except DataError as error:
                yield str(error)


def _faults_of_tables(before: Found, after: Found) -> Iterator[str]:
    if after.matches[: len(before.matches)] != before.matches:
        yield "rating games have changed"
    if after.rows[: len(before.rows)] != before.rows:
        yield "rows of metrics have changed"
    for last, row in pairwise(after.rows):
        for name in ("minutes", "games", "positions", "evaluations"):
            if getattr(row, name) < getattr(last, name):
                yield f"{name} went back from {getattr(last, name)} to {getattr(row, name)}"
    # The learner begins at the last checkpoint again, and never before.
    for row in after.rows[len(before.rows) :]:
        if row.step < max(before.steps, default=0):
            yield f"the learner was at step {row.step}, before its last checkpoint"


# ---- lives and deaths


@dataclass(frozen=True)
class Life:
    """One process's part in a run."""

    was_killed: bool
    """Otherwise it ended by itself."""
    is_as_expected: bool
    """It was killed, or came to the end of its budget."""
    marks: Marks
    said: str


def live(words: Sequence[str], folder: Path, *, aim: str, after_s: float, draw: Callable[[], float]) -> Life:
    """Train until a kill that is aimed at a phase, or the end of the run; `draw` gives numbers in [0, 1).

    It plays for up to `after_s` seconds before the phase is waited for. `folder` is for the process's marks and words.
    """
    marks_path, log_path = folder / "marks", folder / "log.txt"
    marks_path.unlink(missing_ok=True)
    marks = Marks(marks_path)
    with log_path.open("w") as log:
        command = [sys.executable, __file__, "--marked", str(marks_path), *words]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            if aim != "opening":
                marks.wait_for("self-play", process, longest_s=LONGEST_START_S)
                time.sleep(after_s * draw())
            marks.wait_for(aim, process, longest_s=LONGEST_START_S if aim == "opening" else LONGEST_WAIT_S)
            time.sleep(LONGEST_AIM_S.get(aim, 0.01) * draw())
        finally:
            process.kill()
            status = process.wait()
    return Life(status == -signal.SIGKILL, status in (0, -signal.SIGKILL), marks, log_path.read_text())


@dataclass
class Summary:
    """The results of many kills."""

    num_kills: int = 0
    under_way: Counter[str] = field(default_factory=Counter)
    """How often each phase was under way; several may be at a time."""
    torn: Counter[str] = field(default_factory=Counter)
    """How often the next start found each kind of write cut off."""
    num_games: int = 0
    last_step: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = [", ".join(f"{name} {count}" for name, count in kind.items()) for kind in (self.under_way, self.torn)]
        return (
            f"{self.num_kills} kills; under way: {counts[0]}; found cut off: {counts[1] or 'nothing'};"
            f" {self.num_games} games and {self.last_step} learner steps lived through it; {len(self.faults)} faults"
        )


def kill_many(
    run: Path,
    *,
    kills: int,
    seed: int,
    deterministic: bool = False,
    preset: str = "",
    after_s: float = 1.5,
    steps_a_kill: int = STEPS_A_KILL,
    write: Write = print,
) -> Summary:
    """Train in the directory `run`, which is not there yet, and kill it so many times, after up to `after_s` seconds.

    A deterministic run may end before. It is trained to its end and compared with a run without kills.
    """
    generator, game, folder = np.random.default_rng(seed), make(GAME), run.parent
    words_for = partial(
        training_words,
        seed=seed,
        kills=kills,
        deterministic=deterministic,
        preset=preset,
        steps_a_kill=steps_a_kill,
    )
    words = words_for(run)
    summary, before = Summary(), Found()
    while summary.num_kills < kills:
        aim = str(generator.choice(PHASES, p=AIMS / AIMS.sum()))
        life = live(words, folder, aim=aim, after_s=after_s, draw=generator.random)
        after = look(run)
        faults = find_faults(run, game, before, after, life.marks, deterministic=deterministic)
        faults += faults_of_life(life, before)
        summary.faults += faults
        summary.num_games, summary.last_step = len(after.records), max(after.steps, default=0)
        for fault in faults:
            write(f"  FAULT: {fault}")
        if not life.was_killed:
            write("it came to its end")
            break
        summary.num_kills += 1
        summary.under_way.update(life.marks.under_way)
        summary.torn.update(kind for kind, end in HARMLESS.items() if any(m.endswith(end) for m in after.messages))
        write(
            f"kill {summary.num_kills} in {', '.join(life.marks.under_way) or 'nothing'}: {len(after.records)} games,"
            f" {len(after.running)} under way, {len(after.steps)} checkpoints, learner step {summary.last_step}"
        )
        before = after
    if deterministic:
        summary.faults += _faults_of_repeating(run, folder / "undisturbed", words_for)
    return summary


def training_words(
    run: Path, *, seed: int, kills: int, deterministic: bool, preset: str, steps_a_kill: int
) -> list[str]:
    """The command."""
    steps = steps_a_kill * kills if deterministic else 100_000
    num_checkpoints = CHECKPOINTS_A_KILL * kills if deterministic else steps // STEPS_A_CHECKPOINT
    settings = [*SETTINGS, *SETTINGS_OF_PRESET[preset], f"training.num_checkpoints={num_checkpoints}"]
    if not deterministic:
        settings.append("selfplay.num_workers=2")
    words = ["train", GAME, "--run", str(run), "--steps", str(steps), "--seed", str(seed)]
    words += ["--deterministic"] if deterministic else []
    words += ["--preset", preset] if preset else []
    return words + [word for text in settings for word in ("--set", text)]


def faults_of_life(life: Life, before: Found) -> Iterator[str]:
    """Damage that a process reported, or an unexpected exit status."""
    if not life.is_as_expected or "Traceback" in life.said:
        yield f"the training failed:\n{life.said}"
    if "damaged" in life.said:
        yield f"the training found damage:\n{life.said}"
    if (found := re.search(r"learner step ([\d,]+), [\d.]+ minutes used", life.said)) and before.steps:
        step = int(found[1].replace(",", ""))
        if step != before.steps[-1]:
            yield f"the learner went on from step {step}, and the last checkpoint is of step {before.steps[-1]}"


def _faults_of_repeating(run: Path, other: Path, words_for: Callable[[Path], list[str]]) -> Iterator[str]:
    for directory in (run, other):
        command = [sys.executable, "-m", "zerosum", *words_for(directory)]
        status = subprocess.run(command, capture_output=True, text=True, check=False)
        if status.returncode:
            yield f"the training of {directory} failed:\n{status.stdout}{status.stderr}"
            return
    one, two = result(run), result(other)
    for name in sorted(one.keys() | two.keys()):
        if one.get(name) != two.get(name):
            yield f"{name} is not what it is in {other}, which nobody killed"


def result(run: Path) -> dict[str, Any]:
    """The content of a deterministic run, by file, without times."""
    files: dict[str, Any] = {}
    for pattern in ("checkpoints/*.safetensors", "games/*.parquet", "games/manifest.jsonl"):
        files |= {path.name: path.read_bytes() for path in run.glob(pattern)}
    for path in list_checkpoints(run / "checkpoints"):
        body = json.loads(path.read_text())
        times = [
            (body, "created_at"),
            (body, "sha256"),
            (body["learner"], "elapsed_s"),
            (body["learner"], "learner_cpu_s"),
        ]
        for part, name in times:
            part.pop(name, None)
        body["training"].pop("minutes", None)
        files[path.name] = body
    for path in run.glob("games/journal-*.bin"):
        journal = parse_journal(path.read_bytes())
        files[path.name] = [sorted(journal.running), *(bits(record) for record in journal.finished)]
    matches = [json.loads(line) for line in (run / "strength.jsonl").read_text().splitlines()]
    files["strength.jsonl"] = [{**match, "seconds": 0} for match in matches]
    for pattern in ("mistakes.jsonl", "gate.jsonl", "checkpoints/best"):
        files |= {path.name: path.read_bytes() for path in run.glob(pattern)}
    rows = read_metrics(run / "metrics.csv")
    of_the_machine: dict[str, Any] = dict.fromkeys(CORE_COLUMNS)
    files["metrics.csv"] = [replace(row, minutes=0, evaluations_per_second=0, **of_the_machine) for row in rows]
    return files


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["--marked"]:
        train_marked(Path(sys.argv[2]), sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description="Kill a training at random moments and check what is left of it.")
    parser.add_argument("--kills", type=int, default=50, help="number of kills (50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    parser.add_argument(
        "--deterministic", action="store_true", help="kill a deterministic run, and compare its result bit for bit"
    )
    parser.add_argument("--preset", choices=list(SETTINGS_OF_PRESET), default="", help="the run's preset, if any")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kill-training-"))
    summary = kill_many(folder / "run", **vars(arguments))
    print(summary)
    if summary.faults:
        sys.exit(f"The run is kept in {folder}.")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
