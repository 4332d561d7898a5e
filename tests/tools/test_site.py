"""The site is built from the pages of the repository, and every link in it has a target."""

import re
import tomllib
from pathlib import Path

import pytest

import site_pages


def test_links_lead_to_places_in_the_site() -> None:
    listings: dict[Path, Path] = {}
    places = {Path("docs/search.md"): Path("search.md"), Path("README.md"): Path("index.md")}
    text = "[a](../README.md#games) [b](../tools/soak.py) [c](https://example.org) [d](#here) ![e](web/play.png)"
    moved = site_pages.rewritten(text, Path("docs/search.md"), Path("search.md"), places, listings)
    assert moved == (
        "[a](index.md#games) [b](source/tools/soak.py.md) [c](https://example.org) [d](#here) ![e](web/play.png)"
    )
    assert listings == {Path("tools/soak.py"): Path("source/tools/soak.py.md")}


def test_links_of_a_page_at_the_root_lead_into_docs() -> None:
    places = {Path("docs/search.md"): Path("search.md")}
    moved = site_pages.rewritten("[a](docs/search.md)", Path("README.md"), Path("index.md"), places, {})
    assert moved == "[a](search.md)"


def test_the_reference_has_every_exported_name_and_command() -> None:
    python = "\n".join(site_pages.python_reference())
    assert "## zerosum.train\n" in python and "### Player.analyse\n" in python and "| `root` |" in python
    commands = "\n".join(site_pages.command_reference())
    assert "## zerosum train\n" in commands and "## zerosum bench\n" in commands


def test_every_page_is_in_the_navigation() -> None:
    project = tomllib.loads((site_pages.ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r"'([\w/-]+\.md)'", str(project["nav"])))
    assert named == {target for _, target in site_pages.places_of_texts()} | {
        "reference/python.md",
        "reference/commands.md",
    }


def test_the_site_builds_without_a_broken_link() -> None:
    pytest.importorskip("zensical")
    assert site_pages.build(site_pages.ROOT / "build" / "site-pages") == 0
    assert (site_pages.ROOT / "build" / "site" / "reference" / "commands.html").exists()
