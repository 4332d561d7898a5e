"""Plant small faults in the program and see which ones its tests notice; for developers, on Linux.

    python tools/mutate.py                             # an hour, all rooms in turn
    python tools/mutate.py replay contest --mutants 40
    python tools/mutate.py search --rust --mutants 10  # the Rust core

A *room* is a folder of the package and the tests of the same name, with a few files of others that test it, too. Each
*mutant* is a copy of the project with one fault of `mutations.py`, drawn at random by the seed. The room's tests run on
it, first those that run the changed line (a first run of the tests traces them) and, if these pass, those that start
other processes, which are not traced; all tests if the line is in no function. A mutant that no test notices is a
*survivor*: write the test that would notice it, or, if it behaves like the program, add it to
`tools/equivalent_mutants.txt` as it is printed, with the reason. Mutants in that file are not drawn.

Nothing is changed in the checkout: the mutants live in `--directory`, which also keeps the trace.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import traced_tests
from mutations import Mutation, mutations_of

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"
COPIED = ("python", "tests", "tools", "docs", "crates", "README.md", "pyproject.toml", "Cargo.toml", "Cargo.lock")
LINKED = ("target/syzygy", "target/s3s-fs")
"""What `make oracles` and `make s3-server` fetch for tests, if it is there."""
MARK = "ZEROSUM_MUTANT"
"""Environment variable of all processes that the tests of a mutant start, by which they are found and ended."""

CPU_FACTOR = 5
"""Limit of a test's CPU time beyond `--seconds`, by that without a fault."""
WALL_FACTOR = 5
"""Limit of the wall clock, by that of CPU time."""
MOST_BYTES = 8 << 30
"""Memory of a process: a mutant may allocate without end."""
CARGO_S = 300
"""CPU seconds of a process of Cargo, compilers and the core's own tests among them."""
QUICK_BUILD = [
    f"--config=profile.test.{setting}"
    for setting in ("incremental=true", "package.zerosum-core.opt-level=0", "package.zerosum-py.opt-level=0")
]
"""Builds a mutant in 2 CPU seconds; with the tests' own profile it takes 50."""


@dataclass(frozen=True)
class Room:
    """Code, and the tests that should notice its faults; paths relative to the project."""

    python: tuple[str, ...]
    tests: tuple[str, ...]
    rust: tuple[str, ...] = ()


def _room(name: str, *rust: str, also: tuple[str, ...] = ()) -> Room:
    """A room by the folders of its name; `also` are files of other rooms' tests that test its code, too."""
    tests = tuple(f"tests/{path}" for path in (name, *also))
    return Room((f"python/zerosum/{name}",), tests, tuple(f"crates/zerosum-core/src/{path}" for path in rust))


ROOMS = {
    "search": _room("search", "search", "erased/search.rs"),
    "replay": _room("replay", also=("cluster/test_blocks.py", "learner/test_unroll.py")),
    "learner": _room("learner"),
    "selfplay": _room("selfplay", "selfplay.rs"),
    "contest": _room("contest"),
    "storage": _room("run/storage"),
    "cluster": _room("cluster"),
    "network": _room("network", also=("learner/test_learner.py", "learner/parallel/test_parallel_learner.py")),
}


def main(words: Sequence[str] | None = None) -> None:
    """Try mutants as the command line says; exit status 1 if too few are noticed."""
    about = "Plant faults, one at a time, and see whether the tests notice."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="ROOM", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--mutants", type=int, default=1000, help="maximum number of mutants of each room")
    parser.add_argument("--minutes", type=float, default=60.0, help="no mutant begins later than this")
    parser.add_argument("--seed", type=int, default=0, help="draws the mutants")
    parser.add_argument("--rust", action="store_true", help="mutants of the Rust core in place of the Python package")
    parser.add_argument("--only", default="", metavar="PATH", help="only files whose path contains this")
    parser.add_argument("--least", type=float, default=95.0, help="percentage of mutants that must be noticed")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds that any test may take")
    parser.add_argument("--directory", type=Path, default=Path("/tmp/zerosum-mutants"), help="where the mutants live")
    asked = parser.parse_args(words)
    chosen = {name: room for name, room in ROOMS.items() if name in (asked.rooms or ROOMS)}
    if asked.rust:
        chosen = {name: room for name, room in chosen.items() if room.rust}
    deadline = time.monotonic() + 60 * asked.minutes
    copy_project(ROOT, asked.directory)
    trials = []
    for name, room in chosen.items():
        drawn = sample(asked.directory, room.rust if asked.rust else room.python, seed=asked.seed, only=asked.only)
        trials.append(Trials(name, room, drawn[: asked.mutants], asked.directory, asked.seconds))
    # Threads that wait for each other on busy cores use more CPU time than the work itself.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Tests end processes by Ctrl-C, which a shell's background jobs ignore.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        run(trials, deadline, rust=asked.rust)
    finally:
        print(report(trials))
    noticed, tried = sum(trial.noticed for trial in trials), sum(trial.tried for trial in trials)
    if 100 * noticed < asked.least * tried:
        sys.exit(1)


@dataclass
class Trials:
    """The mutants of a room, and what became of those that were tried."""

    name: str
    room: Room
    waiting: list[Mutation]
    directory: Path
    least_s: float
    """CPU seconds that a test may take, however fast it is without a fault."""
    noticed: int = 0
    survivors: list[Mutation] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Mutants whose tests have run."""
        return self.noticed + len(self.survivors)


def copy_project(root: Path, directory: Path) -> None:
    """Bring the copy up to date, with modification times, and without what the mutants of an earlier run left."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        target = directory / name
        if target.is_dir():
            shutil.rmtree(target)
        if (root / name).is_dir():
            shutil.copytree(root / name, target, ignore=shutil.ignore_patterns("__pycache__", "runs"))
        elif (root / name).exists():
            shutil.copy2(root / name, target)
    for path in LINKED:
        if (root / path).exists() and not (directory / path).exists():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).symlink_to((root / path).resolve())


def sample(root: Path, paths: Sequence[str], *, seed: int, only: str = "") -> list[Mutation]:
    """The mutations of files and folders in random order, without the equivalent ones."""
    known = equivalent(EQUIVALENT.read_text(encoding="utf-8"))
    names = [file.relative_to(root).as_posix() for file in _files(root, paths)]
    found = [
        mutation
        for name in names
        if only in name
        for mutation in mutations_of(name, (root / name).read_bytes())
        if str(mutation) not in known
    ]
    random.Random(seed).shuffle(found)
    return found


def _files(root: Path, paths: Sequence[str]) -> list[Path]:
    """The source files of a room, ascending."""
    found = [
        file for path in paths for file in ([root / path] if (root / path).is_file() else (root / path).rglob("*"))
    ]
    return sorted(file for file in found if file.suffix in (".py", ".rs") and file.stem != "tests")


def equivalent(text: str) -> set[str]:
    """The mutations of a file like `tools/equivalent_mutants.txt`, as they are printed."""
    blocks = ("\n".join(line for line in block.splitlines() if line[:1] != "#") for block in text.split("\n\n"))
    return {block.strip() for block in blocks} - {""}


def begin_rust(directory: Path) -> None:
    """Build the core without a fault. Exits if that fails."""
    for file in (directory / "crates").rglob("*.rs"):
        file.touch()  # Cargo looks at times: what it built last may have been a mutant
    if not build_core(directory):
        sys.exit(f"The Rust core cannot be built: see {directory / 'tests.log'}.")


def run(trials: Sequence[Trials], deadline: float, *, rust: bool) -> None:
    """Try the mutants of all rooms in turn until there are none, or the time is over."""
    try_one = try_rust if rust else try_python
    if rust:
        begin_rust(trials[0].directory)
    traces = {trial.name: trace(trial.room, trial.directory, may_fail=rust) for trial in trials}
    while waiting := [trial for trial in trials if trial.waiting]:
        for trial in waiting:
            if time.monotonic() > deadline:
                return
            mutation = trial.waiting.pop(0)
            with planted(mutation, trial.directory) as whole:
                said = try_one(trial, mutation, whole, traces[trial.name])
            if said is None:
                continue  # not a program
            trial.noticed += bool(said)
            trial.survivors += [] if said else [mutation]
            print(f"{trial.name} {trial.tried}: {said or 'SURVIVED'}\n{mutation}\n", flush=True)


class planted:  # noqa: N801 (a context manager)
    """The copy of the project with a fault, inside the block."""

    def __init__(self, mutation: Mutation, directory: Path) -> None:
        self._path, self._mutation = directory / mutation.path, mutation

    def __enter__(self) -> bytes:
        """Returns the content of the file without the fault."""
        self._content = self._path.read_bytes()
        self._path.write_bytes(self._mutation.applied(self._content))
        return self._content

    def __exit__(self, *error: object) -> None:
        self._path.write_bytes(self._content)


Trace = dict[str, traced_tests.Traced]
"""Traces of the room's tests, by their ids."""


def trace(room: Room, directory: Path, *, may_fail: bool) -> Trace:
    """What a room's tests run without a fault; kept until a file changes.

    Exits if none is there, or if one fails; those that `may_fail` (a few measure the speed of the core) are left out.
    """
    digest = hashlib.sha256(repr(room).encode())
    files = [file for path in ("python", "tests") for file in (directory / path).rglob("*") if file.is_file()]
    files.append(directory / "tools" / "traced_tests.py")
    for file in sorted(files):
        digest.update(f"{file.relative_to(directory)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    kept = directory / f"trace-{digest.hexdigest()[:16]}.json"
    if not kept.exists():
        said = run_instrumented(room, directory, kept)
        if said and not may_fail:
            kept.unlink(missing_ok=True)
            sys.exit(f"The tests fail without a fault ({said}): see {directory / 'tests.log'}.")
    found: Trace = json.loads(kept.read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"No test passes without a fault: see {directory / 'tests.log'}.")
    return found


def run_instrumented(room: Room, directory: Path, kept: Path) -> str:
    """Write the trace of a room. Returns why its tests failed, or ""."""
    whole = {file: file.read_bytes() for file in _files(directory, room.python)}
    try:
        for file, content in whole.items():
            text = traced_tests.instrumented(file.relative_to(directory).as_posix(), content)
            file.write_text(text, encoding="utf-8")
        return run_tests(directory, room.tests, traced_tests.Tracer(kept), "-q", limit_s=3600)
    finally:
        for file, content in whole.items():
            file.write_bytes(content)


def try_python(trial: Trials, mutation: Mutation, whole: bytes, tests: Trace) -> str | None:
    """The test that noticed, or ""; None if the mutant does not compile."""
    try:
        compile(mutation.applied(whole), mutation.path, "exec")
    except SyntaxError:
        return None
    block = (mutation.path, traced_tests.block_of(whole, mutation.line))
    near = {test for test, traced in tests.items() if block in {(path, line) for path, line in traced["blocks"]}}
    others = {test for test, traced in tests.items() if traced["has_children"] or block[1] == 0} - near
    for chosen in (near, others):
        if chosen and (said := run_chosen(trial, chosen, tests)):
            return said
    return ""


def run_chosen(trial: Trials, chosen: set[str], tests: Trace) -> str:
    """Run some tests of a room, the fast ones first. Returns which one failed, or ""."""
    limits = {test: trial.least_s + CPU_FACTOR * tests[test]["cpu_s"] for test in chosen}
    files = sorted({test.partition("::")[0] for test in chosen})
    plugin = traced_tests.Chosen(limits, wall_factor=WALL_FACTOR)
    return run_tests(trial.directory, files, plugin, "-qx", limit_s=sum(limits.values()))


def try_rust(trial: Trials, _mutation: Mutation, _whole: bytes, tests: Trace) -> str | None:
    """As `try_python`: the core's own tests of these files, then the room's Python tests on the changed core."""
    if not build_core(trial.directory):
        return None
    names = [path.removesuffix(".rs").replace("/", "::") for path in trial.room.rust]
    if not cargo(trial.directory, "test", "-p", "zerosum-core", "--lib", "--", *names):
        return "cargo test"
    return run_chosen(trial, set(tests), tests)


def build_core(directory: Path) -> bool:
    """Build the Rust core of a copy of the project for its Python package. Returns whether it is a program."""
    is_built = cargo(directory, "build", "--profile", "test", "-p", "zerosum-py")
    if is_built:
        library = directory / "python" / "zerosum" / "_core.abi3.so"
        library.unlink(missing_ok=True)
        shutil.copy(directory / "target" / "debug" / "lib_core.so", library)
    return is_built


def cargo(directory: Path, command: str, *words: str) -> bool:
    """Run Cargo in a copy of the project. Returns whether it succeeded."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(directory / "target"), "PYO3_PYTHON": sys.executable}
    with (directory / "tests.log").open("w") as log:
        process = subprocess.Popen(
            ["cargo", *QUICK_BUILD, command, "--locked", *words],
            cwd=directory,
            env=environment,
            stdout=log,
            stderr=log,
            process_group=0,
            preexec_fn=lambda: limit_resources(CARGO_S),
        )
        try:
            return process.wait(timeout=WALL_FACTOR * CARGO_S) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False


def limit_resources(cpu_s: int) -> None:
    """Limit the CPU time of this process and of each that it starts, and their memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def run_tests(directory: Path, paths: Sequence[str], plugin: object, options: str, *, limit_s: float) -> str:
    """Run tests in a child, which has the libraries already. Returns why they failed, or "" if they passed."""
    import_libraries()
    log = directory / "tests.log"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = _in_child(directory, [options, *paths], plugin, log, math.ceil(limit_s))
        except BaseException:  # the child never goes on as its parent
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    deadline = time.monotonic() + WALL_FACTOR * limit_s
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            end_others(child)
            return "time limit"
        time.sleep(0.05)
    end_others(child)
    return traced_tests.outcome(log)


def _in_child(directory: Path, words: Sequence[str], plugin: object, log: Path, limit_s: int) -> int:
    import pytest

    os.setsid()
    os.chdir(directory)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    limit_resources(limit_s)
    path = os.pathsep.join(str(directory / name) for name in ("python", "tools"))  # tools, for instrumented code
    os.environ |= {"PYTHONPATH": path, MARK: str(os.getpid()), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(directory / "python")]
    return int(pytest.main([*words, "-p", "no:cacheprovider", f"--rootdir={directory}"], plugins=[plugin]))


def import_libraries() -> None:
    """Import what all tests need, once; never the package itself."""
    for name in ("numpy", "pyarrow.parquet", "pytest", "torch"):
        importlib.import_module(name)
    assert "zerosum" not in sys.modules


def end_others(child: int) -> None:
    """End what the tests of a child have left running."""
    for process in _processes():
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if f"{MARK}={child}".encode() in environment:
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue


def _processes() -> Iterator[Path]:
    return (path for path in Path("/proc").iterdir() if path.name.isdigit())


def report(trials: Sequence[Trials]) -> str:
    """A table of the rooms, and the survivors as `tools/equivalent_mutants.txt` has them."""
    lines = ["| room | mutants | noticed | share |", "|---|---|---|---|"]
    for trial in trials:
        share = f"{100 * trial.noticed / trial.tried:.0f} %" if trial.tried else "–"
        lines.append(f"| {trial.name} | {trial.tried} | {trial.noticed} | {share} |")
    survivors = [str(mutation) for trial in trials for mutation in trial.survivors]
    return "\n".join([*lines, *(f"\n{survivor}" for survivor in survivors)])


if __name__ == "__main__":
    main()
