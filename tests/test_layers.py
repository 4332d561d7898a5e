"""The house stands as `docs/architecture.md` draws it: who may import whom, and what a start leaves unloaded."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import zerosum

PACKAGE = Path(zerosum.__file__).parent

# A module imports only what stands before it. A folder counts as one module: its files share the folder's place.
ORDER = (
    "_core",
    "errors",
    "settings",
    "python_game",
    "openspiel",
    "games",
    "random_play",
    "game_check",
    "notation",
    "polyglot",
    "openings",
    "adjudication",
    "picture",
    "perft",
    "catalogue",
    "files",
    "journal",
    "shards",
    "game_store",
    "replay",
    "search",
    "search_reference",
    "network",
    "residual_tower",
    "checkpoint",
    "network_graph",
    "openvino_graph",
    "onnx_graph",
    "device",
    "evaluator",
    "answering",
    "batch_limit",
    "openvino_evaluator",
    "torch_evaluator",
    "onnx_evaluator",
    "backends",
    "selfplay",
    "calibration",
    "worker_process",
    "selfplay_processes",
    "learner",
    "elo",
    "sprt",
    "paper",
    "centipawns",
    "go_words",
    "clock",
    "time_manager",
    "external",
    "play",
    "analysis",
    "protocols",
    "arena",
    "suite",
    "ladder",
    "solved",
    "config",
    "workers",
    "forecast",
    "metrics",
    "strength",
    "mistakes",
    "run_directory",
    "run",
    "report",
    "bench",
    "web",
    "cli",
    "__main__",
)

TRAINING_HALF = {
    "journal",
    "shards",
    "game_store",
    "replay",
    "selfplay",
    "worker_process",
    "selfplay_processes",
    "learner",
}

# What importing a module leaves unloaded; "" is the package itself.
NETWORK_LIBRARIES = {"torch", "openvino", "onnx", "onnxruntime"}
EVERY_LIBRARY = {*NETWORK_LIBRARIES, "pyarrow", "tensorboard"}
NOT_FOR_ENGINES = {*NETWORK_LIBRARIES, *(f"zerosum.{module}" for module in TRAINING_HALF)}
LIGHT = {
    "": EVERY_LIBRARY,
    "games": NETWORK_LIBRARIES,
    "notation": EVERY_LIBRARY,
    "replay": NETWORK_LIBRARIES,
    "search": NETWORK_LIBRARIES,
    "network": NETWORK_LIBRARIES,
    "checkpoint": NETWORK_LIBRARIES,
    "backends": NETWORK_LIBRARIES,
    "worker_process": EVERY_LIBRARY,
    "play": NOT_FOR_ENGINES,
    "analysis": NOT_FOR_ENGINES,
    "protocols": NOT_FOR_ENGINES,
    "arena": NOT_FOR_ENGINES,
    "cli": EVERY_LIBRARY,
}


def module_of(path: Path) -> str:
    """The module, or folder of modules, that a file of the package belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem != "__init__"]
MODULES = {module_of(path) for path in FILES}


def imports_of(path: Path) -> Iterator[str]:
    """The zerosum modules that a file imports, anywhere in it; "" is the package itself."""
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
                module = rest.partition(".")[0]
                yield module if module in MODULES or module == "_core" else ""


def test_every_module_has_a_place() -> None:
    unknown = MODULES - set(ORDER)
    assert not unknown, f"{', '.join(sorted(unknown))}: give it a place in ORDER"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_left(path: Path) -> None:
    module = module_of(path)
    for imported in imports_of(path):
        assert imported, f"{path.name} imports the package itself, which imports everything: name the module"
        if imported != module:
            assert ORDER.index(imported) < ORDER.index(module), f"{module} imports {imported}, which stands after it"


@pytest.mark.parametrize("module", ["play", "analysis", "protocols", "arena"])
def test_engine_knows_nothing_of_training(module: str) -> None:
    graph = {name: {m for path in FILES if module_of(path) == name for m in imports_of(path)} for name in MODULES}
    reached, ahead = {module}, [module]
    while ahead:
        found = graph.get(ahead.pop(), set()) - reached
        reached |= found
        ahead.extend(found)
    assert not reached & TRAINING_HALF


@pytest.mark.parametrize("module", [module for module in LIGHT if module in {"", *MODULES}])
def test_start_is_light(module: str) -> None:
    """In an interpreter of its own, since this one has long imported everything."""
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
