"""Imports follow the order of `docs/architecture.md`, and a start loads only the modules that it needs."""

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import zerosum

PACKAGE = Path(zerosum.__file__).parent

# A room imports only rooms that stand before it. A room is a folder, or a module beside the folders.
ORDER = (
    "_core",
    "base",
    "games",
    "network",
    "search",
    "replay",
    "selfplay",
    "learner",
    "cluster",
    "notation",
    "contest",
    "play",
    "analysis",
    "protocols",
    "arena",
    "run",
    "report",
    "web",
    "bench",
    "cli",
    "__main__",
)

TRAINING_HALF = {"replay", "selfplay", "learner", "cluster", "run"}

# What importing a module leaves unloaded; "" is the package itself.
NETWORK_LIBRARIES = {"torch", "openvino", "onnx", "onnxruntime"}
EVERY_LIBRARY = {*NETWORK_LIBRARIES, "pyarrow", "tensorboard", "ray"}
NOT_FOR_ENGINES = {*NETWORK_LIBRARIES, *(f"zerosum.{module}" for module in TRAINING_HALF)}
LIGHT = {
    "": {*EVERY_LIBRARY, "numpy", "typing", "zerosum._core"},
    "games": NETWORK_LIBRARIES,
    "notation": EVERY_LIBRARY,
    "replay": NETWORK_LIBRARIES,
    "search": NETWORK_LIBRARIES,
    "network": NETWORK_LIBRARIES,
    "network.evaluators": NETWORK_LIBRARIES,
    "run.storage": EVERY_LIBRARY,
    "selfplay.worker_process": EVERY_LIBRARY,
    "cluster": EVERY_LIBRARY,
    "run.training": {"ray"},
    "play.player": NOT_FOR_ENGINES,
    "analysis.analyst": NOT_FOR_ENGINES,
    "protocols.uci": NOT_FOR_ENGINES,
    "protocols.gtp": NOT_FOR_ENGINES,
    "arena": NOT_FOR_ENGINES,
    "cli": {*EVERY_LIBRARY, "numpy"},
}


def room_of(path: Path) -> str:
    """The folder of the package, or the module beside the folders, that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem != "__init__"]
ROOMS = {room_of(path) for path in FILES}


@functools.cache
def imports_of(path: Path) -> tuple[str, ...]:
    """The rooms that a file imports, anywhere in it; "" is the package itself."""
    found = list[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].relative_to(PACKAGE.parent)
            base = ".".join([*folder.parts, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for root, _, rest in (name.partition(".") for name in names):
            if root == "zerosum":
                room = rest.partition(".")[0]
                found.append(room if room in ROOMS or room == "_core" else "")
    return tuple(found)


def test_every_room_has_a_place() -> None:
    unknown = ROOMS - set(ORDER)
    assert not unknown, f"{', '.join(sorted(unknown))}: give it a place in ORDER"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_left(path: Path) -> None:
    room = room_of(path)
    for imported in imports_of(path):
        assert imported, f"{path.name} imports the package itself, which imports everything: name the room"
        if imported != room:
            assert ORDER.index(imported) < ORDER.index(room), f"{room} imports {imported}, which stands after it"


def test_arrays_become_bytes_in_one_place() -> None:
    """The `save` of safetensors forgets an array's strides."""
    saving = [path.name for path in FILES if re.search(r"safetensors(\.\w+)?\.save", path.read_text(encoding="utf-8"))]
    assert saving == ["arrays.py"]


@pytest.mark.parametrize("door", sorted(PACKAGE.glob("*/__init__.py")), ids=lambda door: door.parent.name)
def test_a_door_has_ten_names_at_the_most(door: Path) -> None:
    tree = ast.parse(door.read_text(encoding="utf-8"))
    imported = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = [alias.name for alias in imported if alias.asname == alias.name]
    assert ast.get_docstring(tree), f"{door.parent.name}: a door begins with a map of the room"
    assert len(names) <= 10


ROW = re.compile(r"\| \[(\w+)(?:/|\.py)\]\(\.\./python/zerosum/.*\|(.*)\|")
ROWS = dict(ROW.findall((PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")))


@functools.cache
def graph() -> dict[str, set[str]]:
    """The other rooms that each room imports. Not when this file is imported: each process of the tests does that."""
    return {room: {m for path in FILES if room_of(path) == room for m in imports_of(path)} - {room} for room in ROOMS}


def floor_of(room: str) -> int:
    """The length of the longest chain of imports that begins at a room; 1 for a room that imports none."""
    return 1 + max((floor_of(below) for below in graph().get(room, set()) if below), default=0)


def modules_at_start(path: Path) -> Iterator[str]:
    """The modules that a file imports from when it is imported itself; those of types alone are left out."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES else node.module


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES
}


def test_the_house_does_not_grow() -> None:
    """Rooms, arrows between them and floors: the bounds are today's figures, and only fall."""
    num_arrows = sum(len(below - {""}) for below in graph().values())
    num_floors = max(map(floor_of, ROOMS))
    assert len(ROOMS) <= 20 and num_arrows <= 119 and num_floors <= 12, (len(ROOMS), num_arrows, num_floors)


def test_no_modules_import_each_other() -> None:
    graph = {name: MODULES.keys() & {*modules_at_start(path)} - {name} for name, path in MODULES.items()}
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


def reached_from(room: str) -> set[str]:
    """The rooms that a room imports, and those that they import, and so on."""
    reached: set[str] = set()
    ahead = [room]
    while ahead:
        found = graph().get(ahead.pop(), set()) - reached
        reached |= found
        ahead.extend(found)
    return reached


def test_the_page_has_every_room_in_order() -> None:
    assert list(ROWS) == [room for room in ORDER if room in ROOMS and room != "__main__"]


@pytest.mark.parametrize("room", ROWS)
def test_a_room_never_reaches_what_the_page_names(room: str) -> None:
    is_every = ROWS[room].strip() == "any other room"
    named = ROOMS - {room} if is_every else set(re.findall(r"`(\w+)`", ROWS[room]))
    assert named <= ROOMS
    assert not reached_from(room) & named


@pytest.mark.parametrize("room", ["play", "analysis", "protocols", "arena"])
def test_engine_knows_nothing_of_training(room: str) -> None:
    assert not reached_from(room) & TRAINING_HALF


@pytest.mark.parametrize("module", list(LIGHT))
def test_start_is_light(module: str) -> None:
    """A separate interpreter is used, because this one has imported everything."""
    name = f"zerosum.{module}".rstrip(".")
    program = f"import json, sys, {name}; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not LIGHT[module] & set(json.loads(answer.stdout))


def test_front_door_only_reexports() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        assert not isinstance(node, ast.ClassDef), f"{node.name} belongs into a module"
        assert not isinstance(node, ast.FunctionDef) or node.name in ("__getattr__", "__dir__"), node.name
    names: list[str] = getattr(zerosum, "__all__", [])
    assert list(names) == sorted(names)
    assert len(names) <= 25
    for name in names:
        assert getattr(zerosum, name) is not None
