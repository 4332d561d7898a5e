"""The study of what was learned when: the network of each checkpoint without search, and the style of the games.

AlphaGo Zero's and AlphaZero's papers show which openings self-play found when. Here each checkpoint tells its first
moves, the value of the initial position and, in games with kinds of pieces, their values and how it treats hanging
pieces: positions of the run's games in which a capture wins material even after the best reply. The games tell the
style: lengths, decided games, sacrifices, the kings' travel and patience.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from zerosum.base.errors import DataError, SettingsError, counted
from zerosum.games import Rules, State
from zerosum.games.piece_kinds import has_piece_values
from zerosum.games.playthrough import Playthrough
from zerosum.play.player import load_player
from zerosum.play.runs import spread_checkpoints
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.report.blind_spots import network_answers
from zerosum.report.drawings import COLOURS, Picture, figure, picture
from zerosum.report.notable_games import MOST_GAMES, sacrifices
from zerosum.report.probes import probe
from zerosum.report.run_data import RunData, read_run
from zerosum.report.studies.figures import Figures
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.playing_style import FIRST_CAPTURE, QUIET, TRAVEL, style_of
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, run_and_game

CHECKPOINT, GAMES = "checkpoint", "games"
MOST_CHECKPOINTS = 10
MOST_HANGING = 200
"""Positions with a hanging piece."""
SEARCHED_FOR_HANGING = 4000
"""Positions that are looked at for them."""
LEAST_GAIN = 1.0
"""Material that a capture has to win: a pawn, where the count is in pawns."""
SHOWN_MOVES = 4
VALUE, HANGING, MOVE, PIECE = "value of the initial position", "hanging pieces taken", "first move ", "piece "
PLIES, DECIDED, SACRIFICES = "plies", "decided games", "games with a sacrifice"
STYLE = (PLIES, DECIDED, SACRIFICES, TRAVEL, FIRST_CAPTURE, QUIET)


@dataclass(frozen=True)
class LearnedWhenStudy:
    """The options of the study."""

    run: RunData = field(repr=False)
    game: Rules = field(repr=False)

    @classmethod
    def of(cls, words: StudyWords) -> LearnedWhenStudy:
        """The study of a run. Raises SettingsError or DataError if the words do not name one with checkpoints."""
        path, game = run_and_game("learned-when", words)
        run = read_run(path)
        if len(run.checkpoints) < 2:
            raise DataError(
                f"{path} has {counted(len(run.checkpoints), 'checkpoint')}, expected two or more to compare."
            )
        if run.config.network.kind == "updatable":
            raise SettingsError(
                f"{path} has an updatable network, which has no policy: the study learned-when needs a run of tree"
                " search."
            )
        return cls(run, game)

    @property
    def kind(self) -> type[Figures]:
        """The figures of a checkpoint, or of some games."""
        return Figures

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on."""
        return {
            "study": "learned-when",
            "game": self.game.spec.full_name,
            "run": str(self.run.path),
            "step": self.run.checkpoints[-1].stem,
        }

    def jobs(self) -> Sequence[Job[Figures]]:
        """The checkpoints, then the games, by shards."""
        paths = spread_checkpoints(self.run.path, MOST_CHECKPOINTS)
        jobs = [Job(f"{CHECKPOINT} {path.stem}", functools.partial(self._ask, path)) for path in paths]
        blocks = [before for before, _ in self.run.game_blocks()]
        return [*jobs, *(Job(f"{GAMES} from {before}", functools.partial(self._count, before)) for before in blocks)]

    @functools.cached_property
    def _records(self) -> list[GameRecord]:
        return list(self.run.games())

    @functools.cached_property
    def _hanging(self) -> list[State]:
        return hanging_positions(self.game, self._records) if has_piece_values(self.game) else []

    def _ask(self, path: Path, _directory: Path) -> Figures:
        (found,) = probe(replace(self.run, checkpoints=(path,)), self.game, self._records)
        figures = {VALUE: found.value}
        if self._hanging:
            figures[HANGING] = share_taken(self.game, self._hanging, self._favourites(path))
        figures |= {MOVE + move: share for move, share in found.first_moves.items()}
        figures |= {PIECE + name: value for name, value in found.pieces.items()}
        return Figures.of(CHECKPOINT, found.step, figures)

    def _favourites(self, path: Path) -> list[int]:
        return network_answers(load_player(path, game=self.game), self._hanging)[0]

    def _count(self, before: int, _directory: Path) -> Figures:
        records = next(records for first, records in self.run.game_blocks() if first == before)
        figures = {
            PLIES: float(np.mean([record.num_plies for record in records])),
            DECIDED: float(np.mean([record.outcome != 0 for record in records])),
        }
        newest = records[-MOST_GAMES:]
        figures |= style_of(self.game, newest)
        if has_piece_values(self.game):
            found = sacrifices(newest, self.game, number=len(newest))
            figures[SACRIFICES] = len(found) / len(newest)
        return Figures.of(GAMES, before + len(records) / 2, figures)

    def findings(self, results: Mapping[str, Figures]) -> Findings:
        """What the jobs so far say."""
        asked = [one for one in results.values() if one.source == CHECKPOINT]
        played = [one for one in results.values() if one.source == GAMES]
        tables, pictures = list[Table](), list[Picture]()
        if asked:
            tables.append(_of_checkpoints(asked))
            pictures += _pictures(asked)
        if played:
            tables.append(of_games(played))
        return Findings(
            f"What {self.run.name} learned when: {self.game.spec.full_name}",
            " ".join(_sentences(asked)) or "No checkpoint is measured yet.",
            tuple(tables),
            tuple(pictures),
            (
                "The network is asked without search. A piece hangs if a move wins"
                f" {LEAST_GAIN:g} or more in material after the best reply; it is taken if the network's favourite wins"
                " as much. A sacrifice is eight positions in a row behind in material with a value above 0.",
                "A king's squares are a mean over games and sides. Plies before a capture, and quiet moves, which"
                " neither take nor promote a piece, tell of patience. All three count only moves that the network's"
                " search chose.",
            ),
        )


def hanging_positions(game: Rules, records: Sequence[GameRecord]) -> list[State]:
    """Positions of games, evenly spread, in which a move wins material even after the best reply."""
    pairs = [(record, ply) for record in records for ply in range(record.num_plies) if _is_chosen(record, ply)]
    places = np.linspace(0, len(pairs) - 1, min(len(pairs), SEARCHED_FOR_HANGING)).round().astype(int).tolist()
    found = list[State]()
    for place in places:
        record, ply = pairs[place]
        state = Playthrough.of(game, record.start, record.plies["action"][:ply].tolist()).states[-1]
        sign = 1 if game.player(state) == 0 else -1
        best = game.alpha_beta(state, depth=2, seed=0)
        if not best.result and best.evaluation - sign * game.material(state) >= LEAST_GAIN:
            found.append(state)
            if len(found) == MOST_HANGING:
                break
    return found


def _is_chosen(record: GameRecord, ply: int) -> bool:
    return not record.plies["flags"][ply] & int(PlyFlag.OPENING)


def share_taken(game: Rules, states: Sequence[State], favourites: Sequence[int]) -> float:
    """The share of positions with a hanging piece in which the favourite wins as much material as the best move."""
    taken = 0
    for state, favourite in zip(states, favourites, strict=True):
        best = game.alpha_beta(state, depth=2, seed=0).evaluation
        after = game.play(state, favourite)
        if (outcome := game.outcome(after)) is not None:
            taken += outcome * (1 if game.player(state) == 0 else -1) > 0
            continue
        reply = game.alpha_beta(after, depth=1, seed=0)
        sign = 1 if game.player(after) == game.player(state) else -1
        taken += reply.result * sign > 0 or (not reply.result and sign * reply.evaluation >= best - LEAST_GAIN / 2)
    return taken / len(states)


def _top_moves(asked: Sequence[Figures]) -> list[str]:
    last = {name: value for name, value in asked[-1].by_name.items() if name.startswith(MOVE)}
    return sorted(last, key=lambda name: -last[name])[:SHOWN_MOVES]


def _of_checkpoints(asked: Sequence[Figures]) -> Table:
    others = [name for name in asked[-1].names if not name.startswith(MOVE)]
    names = [*others, *_top_moves(asked)]
    rows = tuple((f"{one.at:,.0f}", *_numbers(one, names)) for one in asked)
    return Table("The network without search, by checkpoint", ("step", *names), rows)


def of_games(played: Sequence[Figures]) -> Table:
    """The style of the games, block by block. The place of a figure that a block lacks is empty."""
    names = [name for name in STYLE if any(name in one.names for one in played)]
    rows = tuple((f"{one.at:,.0f}", *_numbers(one, names)) for one in played)
    return Table("Style of the games, in the order of play", ("around game", *names), rows)


def _numbers(one: Figures, names: Sequence[str]) -> list[str]:
    return [_number(one.by_name[name]) if name in one.by_name else "" for name in names]


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def _pictures(asked: Sequence[Figures]) -> list[Picture]:
    steps = [one.at for one in asked]
    groups = [("first moves", _top_moves(asked)), ("value, and hanging pieces taken", [VALUE, HANGING])]
    groups.append(("values of pieces", [name for name in asked[-1].names if name.startswith(PIECE)]))
    groups = [(title, names) for title, names in groups if any(name in asked[-1].names for name in names)]
    drawn, axes = figure(len(groups))
    for one, (title, names) in zip(axes, groups, strict=True):
        for number, name in enumerate(names):
            told = [
                (step, figures.by_name[name])
                for step, figures in zip(steps, asked, strict=True)
                if name in figures.names
            ]
            if told:
                label = name.removeprefix(MOVE).removeprefix(PIECE)
                colour = COLOURS[number % len(COLOURS)]
                one.plot(*zip(*told, strict=True), marker="o", markersize=3, color=colour, label=label)
        one.set(xlabel="learner steps", title=title)
        one.legend(fontsize=7)
    return [picture(drawn, "By checkpoint", "What the network without search says, over the run.")]


def _sentences(asked: Sequence[Figures]) -> list[str]:
    if not asked:
        return []
    last = asked[-1].by_name
    (top, *_) = _top_moves(asked)
    since = _steps_with(asked, top)[-1]
    sentences = [
        f"The favourite first move of the last checkpoint is {top.removeprefix(MOVE)} ({last[top]:.0%}), the favourite"
        f" of all checkpoints from step {since:,.0f} on."
    ]
    if HANGING in last:
        half = next(one.at for one in asked if one.by_name.get(HANGING, 0.0) >= last[HANGING] / 2)
        sentences.append(
            f"It takes {last[HANGING]:.0%} of the hanging pieces, the first checkpoint {asked[0].by_name[HANGING]:.0%};"
            f" half of the last figure is reached at step {half:,.0f}."
        )
    pieces = sorted((name for name in last if name.startswith(PIECE)), key=lambda name: -last[name])
    if pieces:
        order = " > ".join(name.removeprefix(PIECE) for name in pieces)
        sentences.append(f"Its values of pieces have the order {order}.")
    return sentences


def _steps_with(asked: Sequence[Figures], top: str) -> list[float]:
    """The steps from which on each later checkpoint has this favourite, the newest first; the last one always has."""
    steps = list[float]()
    for one in reversed(asked):
        moves = {name: value for name, value in one.by_name.items() if name.startswith(MOVE)}
        if max(moves, key=lambda name: moves[name]) != top:
            break
        steps.append(one.at)
    return steps
