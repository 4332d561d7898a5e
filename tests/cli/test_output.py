"""Standard output of the program's own process: the same bytes in every locale, and a sentence for a full disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RECORDS = {
    "e.pgn": '[Event "Zoë 柯"]\n[White "Zoë"]\n[Result "*"]\n\n1. e4 {é 好} e5 *\n',
    "e.sgf": "(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]PB[Zoë]PW[柯洁];B[ee]C[好 ☺];W[cc])",
    "e.kifu": "手合割\uff1a平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n",
}
LOCALES = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
]


def zerosum(*words: str, environment: dict[str, str], **streams: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "zerosum", *words]
    found = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(command, env=os.environ | environment, input=b"", timeout=300, check=False, **found)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_utf8_in_every_locale(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(RECORDS[name], encoding="utf-8")
    words = ("analyse", str(path), "-n", "5", "--player", "rollouts", "--format", "same")
    usual, *others = [zerosum(*words, environment=each).stdout for each in ({"PYTHONUTF8": "1"}, *LOCALES)]
    assert others == [usual] * len(LOCALES) and not usual.isascii() and b"\\" not in usual


def test_json_is_utf8_in_every_locale(tmp_path: Path) -> None:
    path = tmp_path / "e.pgn"
    path.write_text(RECORDS["e.pgn"], encoding="utf-8")
    for environment in LOCALES:
        done = zerosum(
            "analyse", str(path), "-n", "5", "--player", "rollouts", "--format", "json", environment=environment
        )
        assert ["White", "Zoë"] in json.loads(done.stdout.decode())["headers"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words", [("games",), ("analyse", "--game", "connect4", "4 4 3", "-n", "5", "--player", "rollouts")]
)
def test_a_full_disk_behind_the_output_is_a_sentence(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = zerosum(*words, environment={}, stdout=full.fileno())
    (sentence,) = [line for line in done.stderr.decode().splitlines() if "cannot be written" in line]
    assert sentence.startswith("zerosum: the output cannot be written: No space left on device.")
    assert done.returncode == 2 and b"Traceback" not in done.stderr
