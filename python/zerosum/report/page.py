"""One self-contained HTML page about runs, without scripts or external links."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from zerosum.base.errors import DataError, ZerosumError, printable
from zerosum.base.files import replace_durably
from zerosum.contest.turning_points import LASTING_PLIES
from zerosum.games import Rules, make
from zerosum.games.short_names import short_name
from zerosum.play.search_tree import SearchStage
from zerosum.replay.records import GameRecord
from zerosum.report import drawings
from zerosum.report.among_others import among_others, among_others_picture
from zerosum.report.findings import Finding, findings
from zerosum.report.game_statistics import GameBlock, block_of
from zerosum.report.html import document, figure, table, text
from zerosum.report.learned_rules import knowledge, knowledge_picture, knowledge_rows
from zerosum.report.notable_games import sacrifice_card, sacrifices, swing_card, swings
from zerosum.report.probes import MOST_SIMULATIONS, probe, thinking
from zerosum.report.run_data import RunData, all_settings, differing_settings, families, read_run
from zerosum.report.search_tree import tree_image
from zerosum.report.work import work_table
from zerosum.run.given_game import recorded_game
from zerosum.run.held_out import HeldOut
from zerosum.run.solved import published_mistakes

MOST_RUNS = 12
"""Most runs of a page."""
MOST_OPENING_ROWS = 5
FIRST_ELO = 1000.0
"""Rating of checkpoint 0 in runs that learned from records, as in the report that the preset `stanford` follows."""

Made = TypeVar("Made")

WORDS = {"collapse": "something is wrong", "warning": "watch this", "good": "it works", "note": "good to know"}


def write_page(
    paths: Sequence[Path],
    out: Path,
    *,
    title: str = "",
    has_probes: bool = True,
    most_simulations: int = MOST_SIMULATIONS,
    say: Callable[[str], None],
) -> list[Finding]:
    """Read runs and write a page about them. Returns the findings about the first run.

    Args:
        paths: Run directories.
        out: The HTML file.
        title: Title of the page; the runs' names if not given.
        has_probes: Whether checkpoints are probed, which takes some seconds each.
        most_simulations: The largest number of simulations of the search whose tree is drawn.
        say: Gets a sentence for each part that is left out.

    Raises:
        DataError: a directory is not a run, or the page cannot be written.
        SettingsError: matplotlib is not installed.
    """
    drawings.figure(1)  # raises without matplotlib, before runs are read
    runs = [read_run(path) for path in paths[:MOST_RUNS]]
    page = Page(runs, has_probes=has_probes, most_simulations=most_simulations, say=say)
    content = page.html(title or ", ".join(run.name for run in runs))
    try:
        replace_durably(out, content)
    except OSError as error:
        raise DataError(f"{out} cannot be written: {error.strerror or error}.") from error
    return page.found[0]


def _rules_of(run: RunData) -> Rules:
    return make(recorded_game(run.path))


class Page:
    """The parts of a page. Parts whose files are damaged are left out."""

    def __init__(
        self, runs: Sequence[RunData], *, has_probes: bool, most_simulations: int, say: Callable[[str], None]
    ) -> None:
        self._runs, self._has_probes, self._say = runs, has_probes, say
        self._most_simulations = most_simulations
        self._games = [self._try(functools.partial(_rules_of, run), f"the rules of {run.name}") for run in runs]
        self._records: list[list[GameRecord]] = []
        self._blocks: list[list[GameBlock]] = []
        for run, game in zip(runs, self._games, strict=True):
            newest: list[GameRecord] = []
            blocks = []
            max_plies = game.spec.max_plies if game else 1 << 30
            is_updatable = run.config.network.kind == "updatable"
            for before, records in run.game_blocks():
                newest = records
                blocks.append(block_of(before, records, max_plies, is_updatable=is_updatable))
            self._records.append(newest)
            self._blocks.append(blocks)
        self.found = [findings(run, blocks) for run, blocks in zip(runs, self._blocks, strict=True)]

    def _try(self, make_it: Callable[[], Made], what: str) -> Made | None:
        """A part of the page; None, and a message, if its files are damaged."""
        try:
            return make_it()
        except ZerosumError as error:
            self._say(printable(f"Left out: {what}. {error}"))
            return None

    def html(self, title: str) -> str:
        """The whole page as HTML, with this title."""
        return document(title, "\n".join(self._body(title)), kind="report")

    def _body(self, title: str) -> Iterator[str]:
        runs = self._runs
        yield f"<h1>{text(title)}</h1>"
        yield f"<p class=soft>{text(', '.join(self._by_game()))} · zerosum report</p>"
        for run, found in zip(runs, self.found, strict=True):
            if len(runs) > 1:
                yield f"<h3>{text(run.name)}</h3>"
            for finding in found:
                yield f'<div class="finding {finding.kind}"><b>{WORDS[finding.kind]}</b>{text(finding.text)}</div>'
            for complaint in run.complaints:
                yield f'<div class="finding warning"><b>{WORDS["warning"]}</b>{text(complaint)}</div>'
        by_game = self._by_game()
        for name, numbers in by_game.items():
            yield from self._of_game(f" of {name}" if len(by_game) > 1 else "", numbers)
        yield from self._tables()
        for number, run in enumerate(runs):
            yield from self._about_games(number, run)
            if self._has_probes:
                yield from self._about_network(number, run)
        yield "<h2>Settings</h2>"
        rows = [[name, *values] for name, values in all_settings(runs)]
        shown = table(["setting", *(run.name for run in runs)], rows)
        yield f"<details><summary>All {len(rows)} settings, as in config.toml</summary>{shown}</details>"

    def _by_game(self) -> dict[str, list[int]]:
        """The numbers of the runs of each game: runs of different games share no table and no axis."""
        found: dict[str, list[int]] = {}
        for number, run in enumerate(self._runs):
            found.setdefault(str(run.config.game), []).append(number)
        return found

    def _of_game(self, of: str, numbers: Sequence[int]) -> Iterator[str]:
        """The work and the curves of the runs of a game; `of` is its name for titles."""
        runs = [self._runs[number] for number in numbers]
        yield f"<h2>Work so far{text(of)}</h2>"
        yield table(*work_table(runs), numbers=True)
        if len(runs) > 1:
            yield from _differences(runs)
        curves = list(self._curves(runs, next((game for n in numbers if (game := self._games[n]) is not None), None)))
        if not curves:
            return
        yield f"<h2>Curves{text(of)}</h2>"
        if any(len(family) > 1 for family in families(runs)):
            words = (
                "Runs that differ only in their seeds have one colour: each run thin, their mean, and the 95 % interval"
                " of the mean (Student's)."
            )
            yield f"<p class=soft>{words}</p>"
        yield from curves

    def _curves(self, runs: Sequence[RunData], game: Rules | None) -> Iterator[str]:
        """The curves of the runs of a game; `game` is None if its rules could not be loaded."""
        yield from figure(drawings.strength_picture(runs))
        for run in runs:
            yield from _from_first(run)
        yield from self._among_others(runs, game)
        for drawn in (
            drawings.loss_picture(runs),
            drawings.held_out_picture(runs),
            drawings.mistakes_picture(runs),
        ):
            yield from figure(drawn)

    def _among_others(self, runs: Sequence[RunData], game: Rules | None) -> Iterator[str]:
        """The checkpoints of runs of a game among other players; `game` is None if its rules could not be loaded."""
        if game is None:
            return
        found = self._try(functools.partial(among_others, runs, game), f"the ladder of {short_name(game)}")
        if found is None:
            return
        yield from figure(among_others_picture(found))
        for number, run in enumerate(found.runs):
            by = "" if len(self._runs) == 1 else f" by {run.name}"
            yield f"<h3>When opponents were passed{text(by)}</h3>"
            head = ["opponent", "Elo", "passed at step", f"after {run.unit}", "after games", "shown at 95 % at step"]
            yield table(head, list(found.rows(number)), numbers=True)

    def _tables(self) -> Iterator[str]:
        for run in self._runs:
            lines = [line for split in ("dev", "test") if (line := run.held_out.newest(split)) is not None]
            if lines:
                yield f"<h3>Held-out games, {text(run.name)}</h3>"
                yield table(
                    ["", *(f"{line.split}, step {line.step:,}" for line in lines), f"no knowledge, {lines[-1].split}"],
                    [[name, *(of(line)[0] for line in lines), of(lines[-1])[1]] for name, of in _HELD_OUT_ROWS],
                    numbers=True,
                )
            if rates := run.mistakes.of_step(run.mistakes.rates[-1].step) if run.mistakes.rates else []:
                yield f"<h3>Solved positions, {text(run.name)}, step {run.mistakes.rates[-1].step:,}</h3>"
                rows = [
                    [rate.set, f"{rate.positions:,}", str(rate), _best_of_others(str(run.config.game), rate.set)]
                    for rate in rates
                ]
                yield table(["set", "positions", "mistakes", "best of AlphaZero.jl"], rows, numbers=True)

    def _about_games(self, number: int, run: RunData) -> Iterator[str]:
        blocks, game = self._blocks[number], self._games[number]
        if not blocks:
            return
        yield f"<h2>Self-play of {text(run.name)}</h2>"
        yield f"<p>{text(_who_played(blocks))}</p>"
        for drawn in (
            drawings.games_picture(run, blocks),
            drawings.openings_picture(run, blocks, game) if game is not None else None,
            drawings.human_openings_picture(run, blocks, game) if game is not None else None,
            drawings.learning_picture(run, blocks),
        ):
            yield from figure(drawn)
        if game is not None:
            yield from self._try(functools.partial(self._notable, number, game), f"the games of {run.name}") or []

    def _notable(self, number: int, game: Rules) -> list[str]:
        """The newest games that are drawn, with their titles."""
        records = self._records[number]
        is_updatable = self._runs[number].config.network.kind == "updatable"
        parts = (
            (
                "Games with sharp changes of the value",
                "The newest games with the sharpest change of the value between two moves.",
                [swing_card(game, swing) for swing in swings(records, game, is_updatable=is_updatable)],
            ),
            (
                "Sacrifices",
                f"The newest games in which a player is furthest behind in material for {LASTING_PLIES} moves in a row"
                " while the search values its position above 0.",
                [sacrifice_card(game, *found) for found in sacrifices(records, game, is_updatable=is_updatable)],
            ),
        )
        return [
            f"<h3>{title}</h3><p class=soft>{words}</p><div class=games>{''.join(cards)}</div>"
            for title, words, cards in parts
            if cards
        ]

    def _about_network(self, number: int, run: RunData) -> Iterator[str]:
        game = self._games[number]
        if game is None or not run.checkpoints:
            return
        records = self._records[number] or _imported_games(run)
        probes = self._try(lambda: probe(run, game, records), f"the checkpoints of {run.name}")
        yield f"<h2>What {text(run.name)} learned</h2>"
        yield from figure(drawings.probe_picture(run, probes or []))
        known = self._try(lambda: knowledge(run, game, records), f"the learned rules of {run.name}")
        if known:
            yield "<h3>The learned rules</h3>"
            yield from figure(knowledge_picture(run, known))
            yield f"<p>Step {known[-1].step:,}. {text(known[-1].search.words())}</p>"
            yield table(*knowledge_rows(known[-1]), numbers=True)
        told = self._try(
            lambda: thinking(run, game, most_simulations=self._most_simulations), f"the search of {run.name}"
        )
        if told:
            yield "<h3>Effect of more simulations</h3>"
            yield "<p class=soft>The most visited moves of the newest checkpoint in the initial position.</p>"
            rows = []
            for simulations, analysis in ((one.num_simulations, one.analysis) for one in told):
                order = sorted(range(len(analysis.moves)), key=lambda at: -analysis.visits[at])[:MOST_OPENING_ROWS]
                total = max(sum(analysis.visits), 1)
                moves = ", ".join(f"{analysis.moves[at]} {analysis.visits[at] / total:.0%}" for at in order)
                rows.append([f"{simulations:,}", moves, f"{analysis.value:+.2f}", " ".join(analysis.best_line[:8])])
            yield table(["simulations", "moves by visits", "value", "best line"], rows)
            yield from _trees(told)


def _from_first(run: RunData) -> Iterator[str]:
    """The ratings of a run that learned from records on the scale of the report that the preset `stanford` follows."""
    rated = run.strength.ratings_from_first(FIRST_ELO) if run.config.training.source == "records" else {}
    if not rated:
        return
    yield f"<h3>Elo from checkpoint 0 = {FIRST_ELO:,.0f}, {text(run.name)}</h3>"
    rows = [
        [f"{step:,}", f"{rating.elo:,.0f}", f"{rating.error:,.0f}" if step else ""] for step, rating in rated.items()
    ]
    yield table(["step", "Elo", "95 % ±"], rows, numbers=True)


def _differences(runs: Sequence[RunData]) -> Iterator[str]:
    found = differing_settings(runs)
    if not found:
        yield "<p>All settings of these runs are equal.</p>"
        return
    yield "<h3>Settings that differ</h3>"
    yield table(["setting", *(run.name for run in runs)], [[name, *values] for name, values in found])


def _trees(told: Sequence[SearchStage]) -> Iterator[str]:
    """The most visited positions of a search, as in figure 4 of the paper."""
    drawn = [one for one in told if one.tree]
    if not drawn:
        return
    yield "<h3>The search tree</h3>"
    yield (
        "<p class=soft>The ten most visited positions below the initial one. In the circle: the first player's winning"
        " chance in percent. A thicker border: more visits.</p>"
    )
    yield "<div class=trees>"
    for one in drawn:
        words = f"The search tree after {one.num_simulations:,} simulations"
        yield f'<figure class=wide><img class=tree src="{tree_image(one.tree)}" alt="{words}">'
        yield f"<figcaption>{words}</figcaption></figure>"
    yield "</div>"


def _who_played(blocks: Sequence[GameBlock]) -> str:
    """What share of the counted games the player did not choose alone."""
    total = sum(block.num_games for block in blocks)
    begun = sum(block.begun * block.num_games for block in blocks) / total
    taught = sum(block.taught * block.num_games for block in blocks) / total
    words = [f"{total:,} games are counted here."]
    if begun:
        words.append(f"{begun:.0%} began with random moves or in an earlier position.")
    if taught:
        words.append(f"{taught:.0%} were played by an alpha-beta search, before the network played.")
    return " ".join(words)


def _best_of_others(game: str, name: str) -> str:
    """The mistakes of the best published player in this set; "" if none are published."""
    published = published_mistakes(game)
    return f"{published.sets[name][-1]:.1f} %" if published is not None and name in published.sets else ""


def _imported_games(run: RunData) -> list[GameRecord]:
    """Some imported or generated games, for a run that has played none."""
    from zerosum.replay.shards import read_manifest, read_shard
    from zerosum.run.run_directory import RECORDS

    for seal in read_manifest(run.path / RECORDS).shards:
        if seal.shard and (run.path / RECORDS / seal.shard).exists():
            return read_shard(run.path / RECORDS / seal.shard)[:200]
    return []


_HELD_OUT_ROWS: tuple[tuple[str, Callable[[HeldOut], tuple[str, str]]], ...] = (
    ("likeliest move is the record's", lambda line: (f"{line.top1:.1%}", f"{line.uniform_top1:.1%}")),
    ("record's move is among the five likeliest", lambda line: (f"{line.top5:.1%}", f"{line.uniform_top5:.1%}")),
    ("cross-entropy, nats", lambda line: (f"{line.cross_entropy:.3f}", f"{line.uniform_cross_entropy:.3f}")),
    ("squared error of the value", lambda line: (f"{line.value_error:.3f}", f"{line.constant_value_error:.3f}")),
    ("positions", lambda line: (f"{line.positions:,}", "")),
    ("games", lambda line: (f"{line.games:,}", "")),
)
