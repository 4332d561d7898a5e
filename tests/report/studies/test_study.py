"""The framework of studies: jobs that are done once, directories that are refused, and the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commands_for_tests import Command
from zerosum.base.errors import DataError, RunError, SettingsError
from zerosum.base.holding import held
from zerosum.report.studies.catalogue import STUDIES, study_of
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.results import read_as
from zerosum.report.studies.study import Job, run_study
from zerosum.report.studies.words import StudyWords


@dataclass(frozen=True)
class Square:
    of: int
    value: float


@dataclass(frozen=True)
class Squares:
    """A study of three squares, which counts its work."""

    most: int = 3
    done: list[int] = field(default_factory=list, compare=False)
    stopped_at: int | None = None
    by_key: bool = False

    @property
    def kind(self) -> type[Square]:
        return Square

    def about(self) -> Mapping[str, object]:
        return {"study": "squares", "most": self.most}

    def jobs(self) -> Sequence[Job[Square]]:
        def work(number: int) -> Square | None:
            if number == self.stopped_at:
                if self.by_key:
                    raise KeyboardInterrupt
                return None
            self.done.append(number)
            return Square(number, float(number**2))

        return [Job(f"square of {n}", lambda _directory, n=n: work(n)) for n in range(self.most)]  # type: ignore[misc]

    def findings(self, results: Mapping[str, Square]) -> Findings:
        rows = tuple((name, str(one.value)) for name, one in results.items())
        return Findings("Squares", f"They are {len(results)}.", (Table("All", ("of", "square"), rows),), ())


def quiet(_line: str) -> None:
    pass


def test_jobs_are_done_once_and_a_page_shows_them(tmp_path: Path) -> None:
    written: list[str] = []
    assert run_study(Squares(), tmp_path / "new", write=written.append, say=quiet)
    assert "square of 2     4.0" in written[0] and written[0].endswith("They are 3.")
    page = (tmp_path / "new" / "index.html").read_text()
    assert "They are 3." in page and "<td>square of 2</td>" in page and "jobs done" not in page
    again = Squares()
    assert run_study(again, tmp_path / "new", write=written.append, say=quiet)
    assert not again.done and written[1] == written[0]


@pytest.mark.parametrize("by_key", [False, True])
def test_a_stopped_study_continues(tmp_path: Path, by_key: bool) -> None:
    said: list[str] = []
    assert not run_study(Squares(stopped_at=1, by_key=by_key), tmp_path, write=quiet, say=said.append)
    assert said[-1] == "Stopped after 1 of 3 jobs. The same command continues."
    assert "1 of 3 jobs done" in (tmp_path / "index.html").read_text()
    rest = Squares()
    assert run_study(rest, tmp_path, write=quiet, say=quiet)
    assert rest.done == [1, 2]


def test_nothing_is_shown_before_the_first_result(tmp_path: Path) -> None:
    written: list[str] = []
    assert not run_study(Squares(stopped_at=0), tmp_path, write=written.append, say=quiet)
    assert not written and not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"job": "square of 1", "result": {"of": 1}}',
        '{"job": "square of 1", "result": {"of": 1.5, "value": 1}}',
        '{"job": "square of 1", "result": {"of": true, "value": 1}}',
        '{"job": 1, "result": {"of": 1, "value": 1}}',
    ],
)
def test_a_damaged_line_is_one_job_again(tmp_path: Path, line: str) -> None:
    run_study(Squares(), tmp_path, write=quiet, say=quiet)
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, lines[2]]) + "\n")
    said: list[str] = []
    again = Squares()
    assert run_study(again, tmp_path, write=quiet, say=said.append)
    assert again.done == [1]
    assert "results.jsonl is damaged in line 2: it is removed" in said[0]


def test_a_torn_line_is_one_job_again(tmp_path: Path) -> None:
    """A kill while a result is written."""
    run_study(Squares(), tmp_path, write=quiet, say=quiet)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text()[:-9])
    again = Squares()
    assert run_study(again, tmp_path, write=quiet, say=quiet)
    assert again.done == [2]


def test_directories_that_are_refused(tmp_path: Path) -> None:
    run_study(Squares(), tmp_path / "squares", write=quiet, say=quiet)
    with pytest.raises(DataError, match=r"has another study: its most is 3, not 4\. Name another directory"):
        run_study(Squares(most=4), tmp_path / "squares", write=quiet, say=quiet)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").touch()
    with pytest.raises(DataError, match=r"other has a\.txt and no study\.json, so it is not a study's"):
        run_study(Squares(), tmp_path / "other", write=quiet, say=quiet)
    (tmp_path / "squares" / "study.json").write_text("[")
    with pytest.raises(DataError, match=r"study\.json is damaged"):
        run_study(Squares(), tmp_path / "squares", write=quiet, say=quiet)
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="file cannot be written"):
        run_study(Squares(), tmp_path / "file", write=quiet, say=quiet)
    with held(tmp_path / "held", option="--out"), pytest.raises(RunError, match="is held by process"):
        run_study(Squares(), tmp_path / "held", write=quiet, say=quiet)


def test_values_of_json_are_checked() -> None:
    assert read_as(tuple[float, ...], [1, 2.5]) == (1.0, 2.5)
    for kind, value in ((int, 1.0), (int, True), (str, 1), (tuple[int, ...], 3), (tuple[int, ...], ["a"])):
        with pytest.raises(TypeError):
            read_as(kind, value)  # type: ignore[arg-type]


def test_names_and_options() -> None:
    with pytest.raises(SettingsError, match=r"unknown study 'nimm': did you mean 'nim'\?"):
        study_of("nimm", StudyWords())
    with pytest.raises(SettingsError, match=r"the study nim has no --opponent, only --games, .*: leave it out"):
        study_of("nim", StudyWords(opponent="random"))
    with pytest.raises(SettingsError, match=r"the study nim takes no game and no run: leave out 'chess'"):
        study_of("nim", StudyWords(names=("chess",)))
    for name in set(STUDIES) - {"nim", "ablations", "stability", "one-network"}:  # these have a game of their own
        with pytest.raises(SettingsError, match=f"the study {name} needs a"):
            study_of(name, StudyWords())


def test_the_command(zero: Command, tmp_path: Path) -> None:
    answer = zero("study", "nowhere")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("zerosum: unknown study 'nowhere'")
    assert all(name in zero("study", "--help").words for name in STUDIES)
    out = tmp_path / "parts"
    line = ("study", "parts", "connect4", "bundled/connect4", "--games", "2", "-n", "2", "--out", str(out))
    answer = zero(*line)
    assert answer.status == 0, answer.err
    assert "Network and search against network alone" in answer.words and "Ratings by all matches" in answer.out
    assert len((out / "results.jsonl").read_text().splitlines()) == 6
    assert json.loads((out / "study.json").read_text())["simulations"] == 2
    assert zero(*line).out == answer.out
    answer = zero("study", "parts", "othello", "bundled/connect4", "--out", str(out))
    assert answer.status == 2 and "connect4" in answer.err and answer.err.count("\n") == 1
