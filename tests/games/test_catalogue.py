"""The page about the games is made from the games, and the committed page is up to date."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from zerosum import _core
from zerosum.games import make
from zerosum.games.catalogue import catalogue, page, plane_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "games.md"


def test_the_page_is_what_the_games_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m zerosum.games.catalogue > docs/games.md"


def test_every_plane_is_there_in_order() -> None:
    """Read back from the page's own words, with frames of earlier positions written out."""
    for entry in catalogue():
        if not entry.same_as:
            planes = make(entry.name).spec.planes
            assert written_out(plane_table(planes)) == [
                (plane.name.replace(",", ""), "one number" if plane.is_constant else "bits") for plane in planes
            ]


def written_out(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The meaning and kind of each plane of a table."""
    planes: list[tuple[str, str]] = []
    for line in list(lines)[2:]:
        index, meaning, kind = (cell.strip() for cell in line.strip("|").split(" | "))
        if kind != "as there":
            assert index == str(len(planes))
            planes.append((meaning.replace(",", ""), kind))
            continue
        where, when = meaning.removeprefix("as plane").lstrip("s ").split(", ")
        assert (span(index)[0], len(span(index))) == (len(planes), len(span(where)))
        planes += [(f"{name} {when}", holds) for name, holds in [planes[i] for i in span(where)]]
    return planes


def span(text: str) -> range:
    """The numbers of a range written as "3" or "3 to 5"."""
    ends = [int(end) for end in text.split(" to ")]
    return range(ends[0], ends[-1] + 1)


def test_frames_of_earlier_positions_are_said_once() -> None:
    def plane(name: str, *, is_constant: bool = False) -> Any:
        return SimpleNamespace(name=name, is_constant=is_constant)

    ages = ("", ", 1 ply ago", ", 2 plies ago", ", 3 plies ago")
    frames = [[plane(f"own{age}"), plane(f"opponent's{age}"), plane(f"seen{age}", is_constant=True)] for age in ages]
    planes = [plane("first"), *(plane for frame in frames for plane in frame), plane("colour", is_constant=True)]
    table = list(plane_table(planes))
    assert table[2:] == [
        "| 0 | first | bits |",
        "| 1 | own | bits |",
        "| 2 | opponent's | bits |",
        "| 3 | seen | one number |",
        "| 4 to 6 | as planes 1 to 3, 1 ply ago | as there |",
        "| 7 to 9 | as planes 1 to 3, 2 plies ago | as there |",
        "| 10 to 12 | as planes 1 to 3, 3 plies ago | as there |",
        "| 13 | colour | one number |",
    ]
    single = [plane(f"own{age}") for age in ages]
    assert list(plane_table(single))[-1] == "| 3 | as plane 0, 3 plies ago | as there |"
    # A frame that is not as the one before is written out.
    planes[5] = plane("other, 1 ply ago")
    table = list(plane_table(planes))
    assert (
        "| 5 | other, 1 ply ago | bits |" in table
        and "| 10 to 12 | as planes 7 to 9, 3 plies ago | as there |" in table
    )


def test_short_forms_name_what_they_are_short_for() -> None:
    for entry in catalogue():
        assert entry.name in _core.core_game_names()
        if entry.same_as:
            assert make(entry.same_as).spec.encoder_id == make(entry.name).spec.encoder_id
