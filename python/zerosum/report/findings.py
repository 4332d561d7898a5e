"""The verdict on a run: whether it learns, the evidence, and the cause and remedy of a collapse.

A slow run is not a collapse: each such finding needs enough games.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zerosum.contest.elo import TOO_FEW_GAMES
from zerosum.network.checkpoint import read_info
from zerosum.report.game_statistics import GameBlock
from zerosum.report.run_data import RunData
from zerosum.run.core_use import mean_use
from zerosum.run.strength import player_name

ENOUGH_GAMES = 100
"""Smallest number of newest games that can show a collapse."""
EQUAL_SHARE = 0.02
"""Largest share of distinct games that counts as a collapse."""
SHORT_GAME = 12
"""Longest mean length, in plies, of games that perfect play may make equal."""
CAPPED_SHARE = 0.98
STUCK_SPREAD = 0.01
"""Standard deviation of the network's values below which they count as constant."""
LEARNED_STEPS = 200
"""Learner steps after which values should differ."""
LATER_LOSS = 1.5
"""Ratio to its minimum at which a loss counts as risen again."""


@dataclass(frozen=True)
class Finding:
    """A statement about a run."""

    kind: str
    """ "collapse", "warning", "good" or "note"."""
    text: str


def findings(run: RunData, blocks: Sequence[GameBlock]) -> list[Finding]:
    """All findings about a run, the most serious first."""
    found = [*_collapses(run, blocks), *_strength(run), *_held_out(run), *_mistakes(run), *_cores(run), *_start(run)]
    if any(finding.kind == "collapse" for finding in found):
        found.insert(1, Finding("note", _last_good(run)))
    order = ("collapse", "warning", "good", "note")
    return sorted(found, key=lambda finding: order.index(finding.kind))


def _collapses(run: RunData, blocks: Sequence[GameBlock]) -> Iterator[Finding]:
    losses = [row for row in run.rows if row.policy_loss is not None]
    if losses and not all(math.isfinite(value or 0.0) for value in (losses[-1].policy_loss, losses[-1].value_loss)):
        yield Finding(
            "collapse",
            f"The loss is not finite at step {losses[-1].step:,}. Go on from the last checkpoint with a tenth of"
            f" learner.learning_rate, which is {run.config.learner.learning_rate:g}.",
        )
    elif losses and losses[-1].policy_loss is not None:
        least = min((row.policy_loss or math.inf) - (row.policy_entropy or 0.0) for row in losses)
        now = losses[-1].policy_loss - (losses[-1].policy_entropy or 0.0)
        if len(losses) > 20 and now > 0.1 + LATER_LOSS * least and now > 0.5:
            yield Finding(
                "warning",
                f"The policy loss is {now:.2f} nats above its lower bound and was {least:.2f} above it: a lower"
                " learner.learning_rate may help.",
            )
    if not blocks or blocks[-1].num_games < ENOUGH_GAMES:
        return
    newest = blocks[-1]
    if newest.distinct <= EQUAL_SHARE and newest.plies.mean() > SHORT_GAME:
        yield Finding(
            "collapse",
            f"The games are nearly equal: only {newest.distinct:.1%} of the newest {newest.num_games:,} differ. Give"
            " self-play more randomness: a longer selfplay.temperature_plies, a selfplay.opening_share above 0, and"
            " noise"
            " at the root (search.root_noise_fraction).",
        )
    if newest.caps >= CAPPED_SHARE and newest.draws >= CAPPED_SHARE:
        yield Finding(
            "collapse",
            f"{newest.caps:.0%} of the newest {newest.num_games:,} games were drawn because they reached the"
            " longest length, so they do not teach which side wins. Increase the game's option max_plies, or begin"
            " games nearer"
            " to their ends with selfplay.opening_share and selfplay.opening_plies.",
        )
    steps = run.rows[-1].step if run.rows else 0
    if steps >= LEARNED_STEPS and newest.value_spread < STUCK_SPREAD and newest.results.std() > 0.1:
        yield Finding(
            "collapse",
            f"The value is stuck: it is nearly the same in all positions (standard deviation"
            f" {newest.value_spread:.3f}),"
            f" although their results differ. Try a lower learner.learning_rate, or a larger"
            f" learner.value_weight than {run.config.learner.value_weight:g}.",
        )


def _last_good(run: RunData) -> str:
    steps = run.strength.rated_steps
    if steps:
        best = max(steps, key=lambda step: run.strength.ratings[player_name(step)].elo)
        elo = str(run.strength.ratings[player_name(best)])
        return f"The strongest checkpoint, of step {best:,} (Elo: {elo}), is kept."
    if run.checkpoints:
        return f"The last saved checkpoint is kept: {run.checkpoints[-1].name}."
    return "No checkpoint has been saved."


def _strength(run: RunData) -> Iterator[Finding]:
    verdict, steps = run.strength.verdict(), run.strength.rated_steps
    if not steps:
        return
    rating = run.strength.ratings[player_name(steps[-1])]
    games = sum(match.num_games for match in run.strength.matches)
    kind = (
        "good"
        if verdict.startswith(("yes", "level"))
        else "warning"
        if verdict.startswith(("it did", "not now"))
        else "note"
    )
    summary, elo = run.strength.summary(steps[-1]), str(rating)
    scale = "" if elo == TOO_FEW_GAMES else "random play is 0, 95 % interval, "
    yield Finding(
        kind,
        f"Is it learning? {verdict[:1].upper()}{verdict[1:]}. Elo of step {steps[-1]:,}: {elo}"
        f" ({scale}{games:,} rating games)" + (f"; the network {summary}." if summary else "."),
    )


def _held_out(run: RunData) -> Iterator[Finding]:
    line = run.held_out.newest("test") or run.held_out.newest("dev")
    if line is None:
        return
    is_better = line.cross_entropy < line.uniform_cross_entropy and line.top1 > line.uniform_top1
    yield Finding(
        "good" if is_better else "note",
        f"In held-out games the network's likeliest move is the record's in {line.top1:.1%} of"
        f" {line.positions:,} positions ({line.uniform_top1:.1%} by chance), and its value's squared error is"
        f" {line.value_error:.3f} (of a constant: {line.constant_value_error:.3f}).",
    )
    if line.value_error > line.constant_value_error:
        yield Finding(
            "warning",
            "Its value predicts results worse than a constant: the network has overfitted to too few games. More games"
            " help, or fewer steps, a smaller network, or a larger learner.weight_decay.",
        )


def _mistakes(run: RunData) -> Iterator[Finding]:
    curve = run.mistake_rates
    if len(curve.steps):
        yield Finding(
            "good" if len(curve.steps) > 1 and curve.values[-1] < curve.values[0] else "note",
            f"In solved positions the network gives away a win or a draw in {curve.values[-1]:.1%} (step"
            f" {curve.steps[-1]:,.0f})"
            + (f"; at step {curve.steps[0]:,.0f} it was {curve.values[0]:.1%}." if len(curve.steps) > 1 else "."),
        )


def _cores(run: RunData) -> Iterator[Finding]:
    use = mean_use(row.core_use for row in run.rows)
    if use is not None:
        has_selfplay = run.config.training.source == "selfplay"
        yield Finding("warning" if use.causes() else "note", use.summary(has_selfplay=has_selfplay))


def _start(run: RunData) -> Iterator[Finding]:
    if not run.rows and run.checkpoints and (step := read_info(run.checkpoints[-1]).step):
        yield Finding(
            "note",
            f"This is a network of step {step:,} without the games and measurements of its training: the page has what"
            " the network itself tells.",
        )
    elif not run.rows:
        yield Finding("note", "The run has just begun and has no measurements yet.")
    elif run.rows[-1].step == 0:
        yield Finding(
            "note",
            f"Learning has not begun: {run.rows[-1].positions:,} positions are recorded so far. This is slow,"
            " not a fault.",
        )
    elif not run.strength.rated_steps and not run.held_out.lines:
        yield Finding(
            "note", "No checkpoint is rated yet, so it is unknown whether it learns. This is slow, not a fault."
        )
