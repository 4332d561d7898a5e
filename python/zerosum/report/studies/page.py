"""What the results of a study say: its conclusion, figures and tables, on a terminal and on a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zerosum.base.files import replace_durably, writing
from zerosum.report.drawings import Picture
from zerosum.report.html import document, figure, table, text

PAGE = "index.html"


@dataclass(frozen=True)
class Table:
    """A table of figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The table for a terminal."""
        rows = [self.head, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.head))]
        lines = [
            "  ".join(
                cell.ljust(width) if not at else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([f"{self.title}:", *(f"  {line}" for line in lines)])


@dataclass(frozen=True)
class Findings:
    """What the results of a study say."""

    title: str
    conclusion: str
    """A paragraph, computed from the results."""
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    notes: tuple[str, ...] = ()
    """Sentences on how it was measured."""

    def text(self) -> str:
        """The tables and the conclusion for a terminal."""
        return "\n\n".join([*(table.text() for table in self.tables), self.conclusion])


def write_study_page(directory: Path, found: Findings, *, num_done: int, num_jobs: int) -> Path:
    """Write the page of a study into its directory, and return its path. Raises RunError if it cannot be written."""
    parts = [f"<h1>{text(found.title)}</h1>"]
    done = "" if num_done == num_jobs else f" · {num_done} of {num_jobs} jobs done"
    parts.append(f"<p class=soft>zerosum study{done}</p>")
    parts.append(f'<div class="finding good"><b>conclusion</b>{text(found.conclusion)}</div>')
    for picture in found.pictures:
        parts += figure(picture)
    for one in found.tables:
        parts += [f"<h3>{text(one.title)}</h3>", table(one.head, one.rows, numbers=True)]
    parts += [f"<p class=soft>{text(note)}</p>" for note in found.notes]
    path = directory / PAGE
    with writing(directory):
        replace_durably(path, document(found.title, "\n".join(parts), kind="study"))
    return path
