"""The container of the Dockerfile builds, trains, is stopped and goes on, where a container runtime is present."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNTIME = shutil.which("docker") or shutil.which("podman")
HOURS_S = 3600
"""Seconds for the image, most of them for the download of PyTorch."""


def works() -> bool:
    """Whether a runtime is present and its daemon answers."""
    return RUNTIME is not None and not subprocess.run([RUNTIME, "info"], capture_output=True, check=False).returncode


def contain(*words: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
    assert RUNTIME is not None
    return subprocess.run([RUNTIME, *words], capture_output=True, text=True, timeout=timeout_s, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    name = "zerosum-test"
    built = contain("build", "--tag", name, str(ROOT), timeout_s=HOURS_S)
    assert built.returncode == 0, built.stderr[-3000:]
    yield name
    contain("rmi", "--force", name)


@pytest.mark.timeout(HOURS_S)
@pytest.mark.skipif(not works(), reason="no container runtime (docker, podman) answers here")
def test_the_image_trains_and_stops_cleanly(image: str, tmp_path: Path) -> None:
    assert "train" in contain("run", "--rm", image).stdout
    runs = tmp_path / "runs"
    runs.mkdir(mode=0o777)
    runs.chmod(0o777)
    volume = ("--init", "--volume", f"{runs}:/data/runs")
    begun = contain(
        "run", "--detach", "--name", "zerosum-test", *volume, image, "train", "tictactoe", "--minutes", "60"
    )
    assert begun.returncode == 0, begun.stderr
    try:
        assert contain("stop", "--time", "120", "zerosum-test").returncode == 0
        status = contain("wait", "zerosum-test").stdout.strip()
        assert status == "143", contain("logs", "zerosum-test").stdout
    finally:
        contain("rm", "--force", "zerosum-test")
    done = contain("run", "--rm", *volume, image, "train", "runs/tictactoe", "--minutes", "0.2")
    assert done.returncode == 0, done.stderr
    assert (runs / "tictactoe" / "metrics.prom").is_file()


def test_the_dockerfile_names_what_exists() -> None:
    """Its sources, and the page that has its commands."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert "docs/operations.md" in text and "docker build --tag zerosum ." in page
    for argument in ("PIP_OPTIONS", "EXTRAS"):
        assert f"ARG {argument}=" in text and f"--build-arg {argument}=" in page
    assert 'ARG EXTRAS="[train]"' in text, "the first command that it shows is a training"
    assert 'ENTRYPOINT ["zerosum"]' in text
