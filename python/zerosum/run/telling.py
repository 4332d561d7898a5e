"""What a training by self-play tells people: where it resumes, a line every few seconds, and its last words."""

from __future__ import annotations

from collections.abc import Callable

from zerosum.base.errors import command_text
from zerosum.replay import ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.run.budget import Budget
from zerosum.run.config import RunConfig
from zerosum.run.config_words import minutes_word, train_text
from zerosum.run.measures import Measures, progress_line
from zerosum.run.pace import LATEST_START, Pace
from zerosum.run.playing import Playing
from zerosum.run.run_plan import RunPlan


class Telling:
    """The lines of a training, and the rows of metrics with the same figures."""

    def __init__(
        self,
        plan: RunPlan,
        store: GameStore,
        window: ReplayWindow,
        playing: Playing,
        pace: Pace,
        budget: Budget,
        measures: Measures,
        *,
        report: Callable[[str], None],
    ) -> None:
        self._directory, self._config, self._report = plan.directory, plan.config, report
        self._store, self._window, self._playing, self._pace = store, window, playing, pace
        self._budget, self._measures = budget, measures
        self._reported_evaluations = 0
        self._has_reported_short_searches = False

    def progress(self, step: int, *, learner_cpu_s: float) -> None:
        """Write a row of metrics at a learner step, and report it."""
        evaluations = self._playing.workers.counts.evaluations
        rate = (evaluations - self._reported_evaluations) / self._budget.note_reported()
        self._reported_evaluations = evaluations
        row = self._measures.add_row(
            step,
            self._budget,
            games=self._store.num_games,
            positions=self._window.total_positions,
            evaluations=self._playing.evaluations,
            evaluations_per_second=rate,
            learning_cpu_s=learner_cpu_s,
        )
        steps = self._measures.strength.rated_steps
        text = progress_line(
            row,
            progress=self._budget.progress,
            minutes_left=self._budget.minutes_left,
            verdict=self._measures.strength.verdict(),
            rated_step=steps[-1] if steps else None,
            unit=self._budget.unit,
        )
        self._report(text)
        if not row.step:
            first = self._pace.num_first_positions
            text = f"      learning begins at {first:,} position{'s' * (first != 1)} ({row.positions:,} so far)"
            is_early = self._config.training.minutes is not None and self._budget.progress < LATEST_START
            self._report(text + (f", or with fewer at {LATEST_START:.0%} of the budget" if is_early else ""))
        self._short_searches()
        if self._playing.resignation is not None:
            self._report(f"      {self._playing.resignation}")
        if not row.games and (under_way := self._store.running):
            plies = sum(len(game.plies) for game in under_way.values()) / len(under_way)
            self._report(f"      no game has ended yet: {len(under_way)} are under way, at move {plies:.0f} on average")

    def _short_searches(self) -> None:
        """Report once if trees are full before their simulations are done, which changes the player."""
        counts = self._playing.workers.counts
        if counts.short_searches and not self._has_reported_short_searches:
            self._has_reported_short_searches = True
            self._report(
                f"      {counts.short_searches:,} of self-play's {counts.plies:,} searches ended early, because their"
                f" trees filled search.memory_mib = {self._config.search.memory_mib}: give more memory, or play fewer"
                " games at a time (selfplay.games_per_worker)."
            )

    def stopped(self, saved_step: int) -> None:
        """How a training that was stopped is resumed."""
        here = f"the checkpoint of step {saved_step:,}" if self._config.training.deterministic else "here"
        stopped = f"Stopped. To resume from {here}: {train_text(self._config, self._directory)}"
        self._report("\n".join(filter(None, [self._measures.words_on_cores(), stopped])))

    def done(self, step: int) -> None:
        """The end of a training at a learner step: how strong the player is, and how to use it."""
        training = self._config.training
        if step == 0:
            go_on = train_text(
                self._config, self._directory, minutes=10 * training.minutes if training.minutes else None
            )
            self._report(
                f"The budget is used up, and nothing was learned: learning begins at"
                f" {self._pace.num_first_positions:,} positions, and {self._window.total_positions:,} were recorded."
                f" Go on with more time: {go_on}"
            )
            return
        if self._config.game.origin == "object":
            commands = f"To play it, in Python: zerosum.load({str(self._directory)!r}, game=game)"
        else:
            evaluate, play = (command_text(word, self._directory) for word in ("evaluate", "play"))
            commands = f"To measure it: {evaluate}\nTo play it: {play}"
        playing = self._playing.network.step
        summary = self._measures.strength.summary(playing)
        network = f"The network of step {playing:,} {summary}." if summary else ""
        self._report("\n".join(filter(None, [self._measures.words_on_cores(), f"Done. {commands}", network])))


def going_on(store: GameStore, config: RunConfig, *, step: int, elapsed_s: float) -> str:
    """Where a run resumes; "" for one without games."""
    if not store.num_positions:
        return ""
    under_way = 0 if config.training.deterministic else len(store.running)
    return (
        f"Resuming: {store.num_games:,} games and {store.num_positions:,} positions recorded, {under_way} games under"
        f" way, learner step {step:,}, {elapsed_s / 60:.1f} {minutes_word(config.training)} used."
    )
