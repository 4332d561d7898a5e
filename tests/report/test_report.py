"""The page about runs: what it counts, what it says of a collapse, and that any run gives a page."""

from __future__ import annotations

import html
import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from commands_for_tests import Command
from runs_for_tests import train_a_little
from zerosum.base.errors import DataError, SettingsError
from zerosum.contest.elo import MOST_ELO_ERROR, TOO_FEW_GAMES
from zerosum.games import make
from zerosum.games.piece_kinds import piece_kinds
from zerosum.network.checkpoint import list_checkpoints
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target
from zerosum.report import drawings, probes
from zerosum.report.curves import curves
from zerosum.report.drawings import Picture, mean_band, picture
from zerosum.report.findings import findings
from zerosum.report.game_statistics import GameBlock, block_of, reliability
from zerosum.report.notable_games import swings
from zerosum.report.opening_choice import human_shares, opening_shares
from zerosum.report.page import write_page
from zerosum.report.probes import Probe
from zerosum.report.run_data import differing_settings, families, read_run
from zerosum.run.metrics import MetricsRow
from zerosum.run.training import train

SETTINGS = (
    "training.deterministic=true",
    "training.min_positions=50",
    "training.steps_per_phase=4",
    "training.num_checkpoints=4",
    "network.num_blocks=1",
    "network.num_filters=8",
    "search.num_simulations=8",
    "selfplay.games_per_worker=4",
    "selfplay.opening_share=0.2",
    "learner.batch_size=16",
    "learner.samples_per_position=4",
    "strength.rollout_simulations=2",
    "strength.budget_share=0.3",
    "strength.solved_positions=0",
    "replay.games_per_shard=20",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds of one run, and a run with another setting."""
    folder = tmp_path_factory.mktemp("runs")
    found = []
    for name, more in (("a", ()), ("b", ()), ("other", ("learner.learning_rate=0.001",))):
        found.append(folder / name)
        settings = [*SETTINGS, "training.steps=16", *more]
        train("connect4", found[-1], seed=len(found), overrides=settings, report=lambda _: None)
    line = {"set": "end-easy", "positions": 100, "num_simulations": 600, "evaluations": 9}
    lines = [json.dumps({**line, "value": 0.5 / step, "error": 0.01, "step": step}) for step in (8, 16)]
    (found[0] / "mistakes.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return found


class Outside(HTMLParser):
    """The external links of a page, and its unclosed elements."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[str] = []
        self.tags = Counter[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name in ("src", "href") and not (value or "").startswith(("data:", "#")):
                self.wanted.append(value or "")
            if tag == "img" and name == "alt":
                assert value


def page_of(paths: list[Path], out: Path, *, has_probes: bool = False) -> str:
    said: list[str] = []
    write_page(paths, out, has_probes=has_probes, say=said.append)
    assert not said
    text = out.read_text(encoding="utf-8")
    parser = Outside()
    parser.feed(text)
    assert not parser.wanted and not parser.tags["script"] and "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    return text


def words_of(paths: list[Path], out: Path) -> str:
    """A page whose figures are made, but not drawn, which takes a quarter of a second each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawings, "picture", lambda _figure, title, caption: Picture(title, caption, "data:,"))
        return page_of(paths, out)


def kept_figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures of the pages that are made from now on."""
    figures: list[Figure] = []

    def kept(figure: Figure, title: str, caption: str) -> Picture:
        figures.append(figure)
        return picture(figure, title, caption)

    monkeypatch.setattr(drawings, "picture", kept)
    return figures


@pytest.fixture(scope="module")
def whole_page(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Figure]]:
    """The page of a run with all parts, and its figures: the searches of the probes take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        figures = kept_figures(patch)
        return page_of([runs[0]], tmp_path_factory.mktemp("pages") / "report.html", has_probes=True), figures


def test_a_run_has_a_page_with_all_parts(whole_page: tuple[str, list[Figure]]) -> None:
    text, _ = whole_page
    for words in (
        "Is it learning?",
        "Strength",
        "Losses",
        "Solved positions",
        "Games of a",
        "Openings of a",
        "games are counted here.",
        "Network and search of a",
        "sharp changes of the value",
        "The network of a without search",
        "Effect of more simulations",
        "10,000",
        "learner.learning_rate",
    ):
        assert words in html.unescape(text), words
    assert text.count('<img class=chart src="data:image/svg+xml;base64,') >= 6


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one row of metrics, one rating, one measurement of solved positions and one block of games."""
    run = tmp_path_factory.mktemp("single") / "single"
    settings = ["training.steps=4", "training.steps_per_phase=4", "training.num_checkpoints=1"]
    train("connect4", run, seed=1, overrides=[*SETTINGS, *settings], report=lambda _: None)
    line = {"set": "end-easy", "positions": 100, "num_simulations": 600, "evaluations": 9, "value": 0.0, "error": 0.0}
    (run / "mistakes.jsonl").write_text(json.dumps({**line, "step": 4}) + "\n")
    return run


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures of the pages that a test makes."""
    return kept_figures(monkeypatch)


@pytest.mark.parametrize("name", ["connect4", "single"])
def test_the_words_of_a_picture_have_room(
    runs: list[Path],
    single: Path,
    whole_page: tuple[str, list[Figure]],
    tmp_path: Path,
    drawn: list[Figure],
    name: str,
) -> None:
    figures = whole_page[1]
    if name == "single":
        page_of([single], tmp_path / "report.html", has_probes=True)
        figures = drawn
    assert len(figures) >= 7
    for figure in [*figures, curves(runs[0]).figure()]:
        FigureCanvasAgg(figure).draw()
        places = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
        places += [axes.xaxis.label.get_window_extent() for axes in figure.axes]
        inside = figure.bbox.padded(1)
        assert all(inside.contains(*corner) for place in places for corner in (place.min, place.max))
        assert not any(one.overlaps(other) for one, other in itertools.combinations(places, 2))


def test_curves_of_a_run_that_has_just_begun(single: Path, tmp_path: Path) -> None:
    run = tmp_path / "begun"
    shutil.copytree(single, run)
    metrics = run / "metrics.csv"
    metrics.write_text(metrics.read_text().splitlines()[0] + "\n")
    (run / "strength.jsonl").unlink(missing_ok=True)
    assert all(axes.get_xlim()[0] < axes.get_xlim()[1] for axes in curves(run).figure().axes)


def test_a_single_value_is_within_an_axis_from_zero(single: Path, tmp_path: Path, drawn: list[Figure]) -> None:
    page_of([single], tmp_path / "report.html")
    assert len(read_run(single).rows) == 1
    num_single = 0
    for axes in (axes for figure in [*drawn, curves(single).figure()] for axes in figure.axes):
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        for x, y in (line.get_xydata()[0] for line in axes.get_lines() if len(line.get_xydata()) == 1):
            num_single += 1
            assert left <= 0 < x < right and low <= y < high
    assert num_single >= 15


@pytest.mark.parametrize(("points", "is_told"), [(5, True), (8, False)])
def test_ratings_of_too_few_games_are_not_told(
    single: Path, tmp_path: Path, zero: Command, points: int, is_told: bool
) -> None:
    """Eight wins in eight games leave an interval that says nothing, five do not."""
    run = tmp_path / "run"
    shutil.copytree(single, run)
    anchor = {"player": "rollouts@2", "opponent": "random", "points": 66, "num_games": 96}
    own = {"player": "step 4", "opponent": "rollouts@2", "points": points, "num_games": 8}
    lines = [json.dumps({**match, "evaluations": 9, "seconds": 0.1}) for match in (anchor, own)]
    (run / "strength.jsonl").write_text("".join(f"{line}\n" for line in lines))
    rating = read_run(run).strength.ratings["step 4"]
    assert (rating.error <= MOST_ELO_ERROR) == is_told
    text = html.unescape(words_of([run], tmp_path / "report.html"))
    told = zero("compare", run, single, "--games", "0").out.splitlines()
    words = str(rating)
    assert (words == TOO_FEW_GAMES) != is_told
    assert f"Elo of step 4: {words} (" in text and f">{words} (step 4)<" in text
    assert (f"{rating.error:.0f}" in text) == is_told
    [line] = [line for line in told if line.startswith(f"  {run}: ")]
    assert f"Elo of step 4: {words};" in line


def test_a_run_that_learned_from_records_is_rated_from_checkpoint_0(single: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(single, run)
    matches = [("step 0", "random", 50), ("step 4", "step 0", 64)]
    lines = [
        json.dumps(
            {"player": player, "opponent": opponent, "points": points, "num_games": 100, "evaluations": 9, "seconds": 1}
        )
        for player, opponent, points in matches
    ]
    (run / "strength.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert "Elo from checkpoint 0" not in words_of([run], tmp_path / "played.html")
    config = (run / "config.toml").read_text()
    assert 'source = "selfplay"' in config
    (run / "config.toml").write_text(config.replace('source = "selfplay"', 'source = "records"'))
    text = html.unescape(words_of([run], tmp_path / "learned.html"))
    assert "Elo from checkpoint 0 = 1,000" in text
    rated = read_run(run).strength.ratings_from_first(1000)[4]
    assert 1090 < rated.elo < 1110 and f">{rated.elo:,.0f}<" in text and f">{rated.error:,.0f}<" in text


def test_a_network_without_its_training_is_no_run_that_has_just_begun(single: Path, tmp_path: Path) -> None:
    """As the bundled ones: a page without empty sections."""
    run, newest = tmp_path / "network", list_checkpoints(single / "checkpoints")[-1]
    (run / "checkpoints").mkdir(parents=True)
    for source in (newest, newest.with_suffix(".safetensors")):
        shutil.copy(source, run / "checkpoints")
    shutil.copy(single / "config.toml", run)
    text = html.unescape(page_of([run], tmp_path / "report.html"))
    assert "a network of step 4 without the games and measurements of its training" in text
    assert "just begun" not in text and "<h2>Curves" not in text


def test_a_single_checkpoint_is_drawn_as_bars(single: Path, drawn: list[Figure]) -> None:
    one = Probe(4, {"a": 0.2, "b": 0.7, "c": 0.1}, 0.25, {"pawn": 0.1})
    found = drawings.probe_picture(read_run(single), [one])
    assert found is not None and "the initial position is +0.25" in found.caption
    moves, pieces = drawn[-1].axes
    assert [bar.get_width() for bar in moves.patches] == [0.7, 0.2, 0.1]  # type: ignore[attr-defined]
    assert [label.get_text() for label in moves.get_yticklabels()] == ["b", "a", "c"]
    assert [label.get_text() for label in pieces.get_yticklabels()] == ["pawn"]


def test_equal_runs_give_equal_pages(runs: list[Path], tmp_path: Path) -> None:
    one = page_of([runs[0]], tmp_path / "one.html")
    assert one == page_of([runs[0]], tmp_path / "two.html")


def test_seeds_share_a_colour_and_a_band(runs: list[Path], tmp_path: Path) -> None:
    read = [read_run(path) for path in runs]
    assert [[run.name for run in family] for family in families(read)] == [["a", "b"], ["other"]]
    names = [name for name, _ in differing_settings(read)]
    assert names == ["training.seed", "learner.learning_rate"]
    text = words_of(runs, tmp_path / "report.html")
    assert "differ only in their seeds" in text and "learner.learning_rate" in text


def test_games_share_no_axis_and_no_table(
    runs: list[Path], tmp_path: Path, drawn: list[Figure], recwarn: pytest.WarningsRecorder
) -> None:
    """Their runs are no seeds of one another, either."""
    train_a_little("tictactoe", tmp_path / "noughts", is_rated=True)
    text = html.unescape(page_of([runs[0], tmp_path / "noughts", runs[1]], tmp_path / "report.html"))
    titles = re.findall(r"<h2>((?:Work|Curves).*?)</h2>", text)
    assert titles == [f"{what} of {game}" for game in ("connect4", "tictactoe") for what in ("Work so far", "Curves")]
    strengths = [figure for figure in drawn if len(figure.axes) == 3 and figure.axes[0].get_ylabel() == "Elo"]
    assert len(strengths) == 2
    picture = curves(runs[0], tmp_path / "noughts", runs[1]).figure()
    titles = [axes.get_title() for axes in picture.axes if "Elo" in axes.get_title()]
    assert titles == [f"{game}: Elo, 95 % intervals" for game in ("connect4", "tictactoe")]
    assert len(picture.axes) == 5, "only one game has solved positions"
    legends = [axes.get_legend() for axes in picture.axes if "Elo" in axes.get_title()]
    names = [[text.get_text() for text in legend.get_texts()] for legend in legends if legend is not None]
    assert names == [["a and 1 more seeds"], ["noughts"]]
    assert not [str(warning.message) for warning in recwarn if "matplotlib" in warning.filename]


def test_a_curve_stands_where_its_step_was(runs: list[Path]) -> None:
    run = read_run(runs[0])
    row = run.rows[len(run.rows) // 2]
    steps = np.array([0.0, row.step])
    assert run.at(steps, "games").tolist() == pytest.approx([0, row.games])
    assert run.at(steps, "minutes").tolist() == pytest.approx([0, row.minutes])
    assert run.at(steps, "step").tolist() == [0, row.step]


# ---- games


def record(actions: list[int], outcome: float, values: list[float], *, opening: int = 0) -> GameRecord:
    plies = np.zeros(len(actions), PLY)
    plies["action"], plies["player"] = actions, np.arange(len(actions)) % 2
    plies["search_value"], plies["net_value"] = values, [value / 2 for value in values]
    plies["flags"] = [PlyFlag.OPENING if ply < opening else PlyFlag.FULL_SEARCH for ply in range(len(actions))]
    count = len(actions) - opening
    spec = make("connect4").spec
    return GameRecord(
        game_id=1,
        game=spec.name,
        game_version=spec.version,
        options=spec.options,
        start="",
        settings_hash="",
        seed=0,
        plies=plies,
        targets=policy_target([0, 1] * count, [0.5, 0.5] * count, [1, 1] * count),
        target_offsets=np.concatenate([[0] * opening, np.arange(0, 2 * count + 1, 2)]).astype(np.int64),
        outcome=outcome,
        ending="four in a row" if outcome else "board full",
    )


def test_games_are_counted() -> None:
    games = [
        record([3, 0, 3, 0, 3, 0, 3], 1.0, [0.1, -0.1, 0.5, -0.6, 0.9, -0.9, 1.0]),
        record([3, 0, 3, 0, 3, 0, 3], 1.0, [0.1] * 7),
        record([0, 1, 0, 1, 2, 1, 4, 1], -1.0, [0.0] * 8, opening=2),
        record([2, 3, 2, 3], 0.0, [0.0] * 4),
    ]
    block = block_of(10, games, max_plies=8)
    assert (block.draws, block.first_wins, block.caps, block.distinct) == (0.25, 0.5, 0.25, 0.75)
    assert block.first_moves == {3: 2, 2: 1}, "the third begins at random"
    assert block.openings == {(3, 0, 3, 0, 3, 0): 2, (2, 3, 2, 3): 1}
    assert block.opening_bits == pytest.approx(np.log2(3) - 2 / 3)
    assert (block.begun, block.taught) == (0.25, 0.0)
    assert block.policy_entropy == pytest.approx(np.log(2))
    assert len(block.results) == 7 + 7 + 6 + 4
    assert block.results[:7].tolist() == [1, -1, 1, -1, 1, -1, 1]
    assert block.value_gap == pytest.approx(np.abs(block.search_values).mean() / 2)
    (sharpest, *_) = swings(games, make("connect4"))
    assert (sharpest.record.game_id, sharpest.ply, sharpest.before) == (1, 1, pytest.approx(0.1))
    assert sharpest.after == pytest.approx(0.5)


def taught(actions: list[int]) -> GameRecord:
    """A game of an alpha-beta search."""
    game = record(actions, 1.0, [0.5] * len(actions))
    game.plies["flags"] = PlyFlag.RECORDED | PlyFlag.EVALUATED
    return game


def test_a_teachers_games_are_not_the_players_own() -> None:
    games = [record([3, 0, 3, 0, 3, 0, 3], 1.0, [0.1] * 7), taught([6, 5, 6, 5, 6, 5, 6])]
    block = block_of(0, games, max_plies=42)
    assert (block.taught, block.first_moves) == (0.5, {3: 1})
    assert block.opening_bits == 0
    own = block_of(0, games, max_plies=42, is_updatable=True)
    assert (own.taught, own.first_moves) == (0.0, {3: 1, 6: 1})


def test_openings_are_shares_of_all_games_with_the_others_as_one() -> None:
    lines = [[move, other, move, other, move, other, 6] for move in range(4) for other in (4, 5, 6)]
    games = [record(line, 1.0, [0.1] * 7) for line in lines for _ in range(2 if line[:2] == [0, 4] else 1)]
    found = opening_shares([block_of(0, games, max_plies=42)], make("connect4"), plies=6)
    assert found is not None and found.games == (len(games) / 2,)
    assert next(iter(found.shares)) == "1 5 1 5 1 5" and found.shares["1 5 1 5 1 5"] == [2 / 13]
    assert list(found.shares)[-1] == "others" and len(found.shares) == 8
    assert sum(share[0] for share in found.shares.values()) == pytest.approx(1)
    firsts = opening_shares([block_of(0, games, max_plies=42)], make("connect4"), plies=1)
    assert firsts is not None and firsts.shares == {"1": [4 / 13], "2": [3 / 13], "3": [3 / 13], "4": [3 / 13]}


def chess_game(moves: str) -> GameRecord:
    """A game of chess by its moves in UCI's notation."""
    chess, state, actions = make("chess"), make("chess").initial_state(), []
    for text in moves.split():
        actions.append(next(a for a in chess.legal_actions(state) if chess.action_text(state, a) == text))
        state = chess.play(state, actions[-1])
    return record(actions, 0.0, [0.0] * len(actions))


def test_human_openings_are_found_by_any_order_of_moves() -> None:
    games = [
        chess_game(moves) for moves in ("d2d4 d7d5 c2c4 e7e6", "c2c4 d7d5 d2d4 e7e6", "c2c4 e7e5", "a2a3 a7a6", "e2e4")
    ]
    found = human_shares([block_of(0, games, max_plies=512)], make("chess"))
    assert found is not None and len(found.shares) == 12
    reached = {name: share for name, [share] in found.shares.items() if share}
    assert reached == {"D06 Queen's Gambit": 0.4, "A10 English Opening": 0.4}
    assert human_shares([block_of(0, [games[-1]], max_plies=512)], make("chess")) is None
    assert human_shares([healthy()], make("connect4")) is None


def test_the_band_of_seeds_is_students_interval() -> None:
    import scipy.stats  # a second, which all processes of the tests would spend

    each = np.random.default_rng(1).normal(100, 20, (4, 9))
    low, mean, high = mean_band(each)
    error = scipy.stats.sem(each, axis=0)
    expected = scipy.stats.t.interval(0.95, 3, loc=each.mean(axis=0), scale=error)
    assert np.allclose((low, high), expected, rtol=1e-3) and np.allclose(mean, each.mean(axis=0))


def test_a_value_that_can_be_trusted_lies_on_the_diagonal() -> None:
    generator = np.random.default_rng(1)
    values = generator.uniform(-1, 1, 200_000).astype(np.float32)
    results = np.where(generator.random(200_000) < (1 + values) / 2, 1, -1).astype(np.float32)
    curve = reliability(values, results)
    assert curve.counts.sum() == 200_000 and len(curve.predicted) == 10
    assert curve.observed == pytest.approx(curve.predicted, abs=0.03)


# ---- what a page says


def healthy(num_games: int = 200) -> GameBlock:
    generator = np.random.default_rng(0)
    games = [
        record(
            generator.integers(0, 7, 20).tolist(),
            float(generator.choice([-1, 1])),
            generator.uniform(-1, 1, 20).tolist(),
        )
        for _ in range(num_games)
    ]
    return block_of(0, games, max_plies=42)


def kinds(runs: list[Path], block: GameBlock, **row: object) -> str:
    run = read_run(runs[0])
    rows = (*run.rows, replace(run.rows[-1], step=900, **row)) if row else run.rows  # type: ignore[arg-type]
    return " ".join(found.text for found in findings(replace(run, rows=rows), [block]) if found.kind == "collapse")


def test_a_collapse_is_said_and_a_slow_run_is_none(runs: list[Path]) -> None:
    block = healthy()
    assert kinds(runs, block) == "" and kinds(runs, block, games=1) == ""
    assert "loss is not finite" in kinds(runs, block, policy_loss=float("nan"))
    assert "nearly equal" in kinds(runs, replace(block, distinct=0.01))
    assert "reached the longest length" in kinds(runs, replace(block, draws=1.0, caps=1.0))
    assert "value is stuck" in kinds(runs, replace(block, value_spread=0.001), games=1)
    few = replace(healthy(20), distinct=0.05, draws=1.0, caps=1.0)
    assert kinds(runs, few) == "", "of few games nobody can tell"
    run = read_run(runs[0])
    told = findings(run, [replace(block, distinct=0.01)])
    assert told[0].kind == "collapse" and any("is kept" in found.text for found in told)


def test_a_run_that_has_just_begun_is_slow_not_wrong(runs: list[Path]) -> None:
    run = read_run(runs[0])
    begun = replace(run, rows=(MetricsRow(0.1, 0, 3, 50, 100, 10.0),))
    assert any("slow, not a fault" in found.text for found in findings(begun, []))


def test_any_run_gives_a_page(runs: list[Path], tmp_path: Path, zero: Command) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs[0], run)
    (run / "metrics.csv").write_text((run / "metrics.csv").read_text() + "1.5,damaged\n")
    for shard in (run / "games").glob("*.parquet"):
        shard.write_bytes(b"damaged")
        break
    page_of([run], tmp_path / "damaged.html")
    for path in (run / "checkpoints").glob("*.safetensors"):
        path.write_bytes(b"damaged")
    told = zero("report", run, "--out", tmp_path / "out.html")
    assert (
        told.status == 0
        and "Left out: the checkpoints of " in told.err
        and "<h1>" in (tmp_path / "out.html").read_text()
    )
    shutil.rmtree(run / "checkpoints")
    shutil.rmtree(run / "games")
    for name in ("metrics.csv", "strength.jsonl", "mistakes.jsonl"):
        (run / name).unlink(missing_ok=True)
    assert "has no measurements yet" in page_of([run], tmp_path / "empty.html", has_probes=True)
    with pytest.raises(DataError, match="is not a run"):
        write_page([tmp_path], tmp_path / "none.html", say=print)
    told = zero("report", tmp_path / "nowhere")
    assert told.status == 2 and "does not exist: name a run directory" in told.err


def test_a_run_may_be_named_and_a_missing_folder_is_told(
    runs: list[Path], tmp_path: Path, zero: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZEROSUM_RUNS", str(runs[0].parent))
    names = [run.name for run in runs[:2]]
    assert zero("report", names[0], "--quick", "--out", tmp_path / "page.html").status == 0
    assert "<h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    told = zero("compare", *names, "--games", "0")
    assert told.status == 0 and f"{runs[1]}: step" in told.out
    for words in (("report", names[0]), ("plot", names[0]), ("compare", *names, "--games", "0")):
        told = zero(*words, "--out", tmp_path / "none" / "x.svg")
        assert told.status == 2 and f"the folder {tmp_path / 'none'} does not exist: make it" in told.err, words


def test_names_of_files_are_text_in_a_page(runs: list[Path], tmp_path: Path) -> None:
    run = tmp_path / "<b>bold"
    shutil.copytree(runs[0], run)
    text = words_of([run], tmp_path / "page.html")
    assert "&lt;b&gt;bold" in text and "<b>bold" not in text


def test_without_matplotlib_it_says_what_to_install(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    real = builtins.__import__

    def absent(name: str, *rest: object, **named: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(SettingsError, match=r"zerosum\[plot\]"):
        write_page([runs[0]], tmp_path / "page.html", say=print)
    with pytest.raises(SettingsError, match=r"zerosum\[plot\]"):
        curves(runs[0]).save(tmp_path / "curves.svg")


# ---- probes


def test_the_worth_of_pieces_is_found_again() -> None:
    generator = np.random.default_rng(2)
    counts = generator.integers(-2, 3, (1500, 3)).astype(float)
    counts[:, 2] = 0
    values = np.tanh(counts @ [0.1, 0.5, 0.0] + 0.05).astype(np.float32)
    worth = probes._worth(values, counts, ["pawns", "rooks", "queens"])
    assert worth == {"pawns": pytest.approx(0.1, abs=0.02), "rooks": pytest.approx(0.5, abs=0.06)}
    assert [name for name, _, _ in piece_kinds(make("chess"))] == ["pawns", "knights", "bishops", "rooks", "queens"]


# ---- compare


def test_runs_are_compared(runs: list[Path], tmp_path: Path, zero: Command) -> None:
    told = zero("compare", runs[0], runs[2], "--games", "4", "-n", "4", "--out", tmp_path / "compare.html")
    assert told.status == 0, told.err
    assert "training.seed" in told.out and "learner.learning_rate" in told.out
    assert "won" in told.out and (tmp_path / "compare.html").exists()
    told = zero("compare", runs[0], runs[1], "--games", "0")
    assert "differ only in their seeds" in told.out
    assert zero("compare", runs[0]).status == 2


def test_a_training_is_repeated_with_other_seeds(tmp_path: Path, zero: Command) -> None:
    words = ["--set=training.min_positions=10", "--set=network.num_filters=8", "--set=strength.budget_share=0"]
    told = zero("train", "tictactoe", "--run", tmp_path / "x", "--steps", "2", "--repeat", "2", "--seed", "5", *words)
    assert told.status == 0, told.err
    assert [read_run(tmp_path / f"x-{number}").config.training.seed for number in (1, 2)] == [5, 6]
    assert "report" in told.out


def test_a_report_shows_the_tree_after_powers_of_ten(zero: Command, runs: list[Path], tmp_path: Path) -> None:
    assert zero("report", runs[0], "--out", tmp_path / "page.html", "--simulations", "5000").status == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [f"after {number} simulations" in text for number in ("100", "1,000", "10,000")] == [True, True, False]
