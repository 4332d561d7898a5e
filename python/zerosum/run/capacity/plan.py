"""The plan: how long a budget takes, or how far it goes, at measured rates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import SettingsError, command_text
from zerosum.games import Rules, make, measure_game
from zerosum.games.names import GameName
from zerosum.run.capacity.paper import paper_lines, paper_runs
from zerosum.run.capacity.rates import Rates, measured_rates, read_rates
from zerosum.run.config import RunConfig, configured_game, new_config
from zerosum.run.config_words import budget_words
from zerosum.run.forecast import Forecast, duration, forecast_of
from zerosum.run.presets import preset_names


@dataclass(frozen=True)
class Plan:
    """A run at measured rates."""

    config: RunConfig
    rates: Rates
    forecast: Forecast
    """Forecast of the budget, or of as many steps as a budget in minutes has time for."""
    plies: float
    """Plies of a game, as of random games."""

    @classmethod
    def of(cls, config: RunConfig, game: Rules, rates: Rates) -> Plan:
        """The plan of a run with these settings."""

        def forecast(steps: int) -> Forecast:
            return forecast_of(
                config,
                steps=steps,
                evaluations_per_second=rates.evaluations_per_second,
                samples_per_second=rates.samples_per_second,
                cores=rates.cores,
            )

        steps = config.training.steps
        if steps is None:
            seconds = config.learning_seconds
            assert seconds is not None, "a budget is in steps or in minutes"
            on_all_cores = seconds / rates.cores if config.training.clock == "cpu" else seconds
            steps = round(1000 * on_all_cores / forecast(1000).seconds)
        return cls(config, rates, forecast(steps), measure_game(game).plies)

    @property
    def positions(self) -> float:
        """Recorded positions."""
        return self.forecast.samples / self.config.learner.samples_per_position

    @property
    def games(self) -> float:
        """Games as long as random ones."""
        return self.positions / (self.plies * self.config.selfplay.full_search_share)

    @property
    def limit(self) -> str:
        """What takes longer: "self-play" or "learner"."""
        forecast = self.forecast
        learning = forecast.samples / forecast.samples_per_second
        return "learner" if learning >= forecast.seconds else "self-play"

    def values(self, price: float | None) -> dict[str, Any]:
        """All numbers of the plan by name. `price` is that of the machine for an hour, in any currency."""
        forecast = self.forecast
        return {
            "game": str(self.config.game),
            "preset": self.config.preset,
            "network": self.config.network.size,
            "evaluations_per_second": self.rates.evaluations_per_second,
            "samples_per_second": self.rates.samples_per_second,
            "source": self.rates.source,
            "steps": forecast.steps,
            "positions": self.positions,
            "games": self.games,
            "evaluations": forecast.evaluations,
            "hours": forecast.seconds / 3600,
            "limit": self.limit,
            **({} if price is None else {"cost": price * forecast.seconds / 3600}),
            "paper": list(paper_runs()),
        }

    def page(self, price: float | None) -> str:
        """The plan for people."""
        forecast, config = self.forecast, self.config
        preset = f"preset {config.preset}" if config.preset else "default settings"
        cost = "" if price is None else f", cost {price * forecast.seconds / 3600:,.0f}"
        note = "  All games count as the network's. Those of the alpha-beta search take less time."
        return "\n".join(
            [
                f"{config.game}, {preset}: {budget_words(config.training)}, network {config.network.size}",
                f"  duration      at most {duration(forecast.seconds)}{cost}",
                f"  limit         {self.limit}",
                f"  learning      {forecast.steps:,} steps of {config.learner.batch_size:,},"
                f" {self.positions:,.0f} positions",
                f"  games         {self.games:,.0f} as long as random ones, at most {forecast.evaluations:,.0f}"
                " evaluations",
                f"  rates         {self.rates.evaluations_per_second:,.0f} evaluations and"
                f" {self.rates.samples_per_second:,.0f} samples a second ({self.rates.source})",
                *([note] if config.selfplay.alphabeta_depth else []),
                "",
                *paper_lines(),
            ]
        )


def plan_training(
    game: str,
    preset: str = "",
    *,
    figures: Path | None = None,
    price: float | None = None,
    minutes: float | None = None,
    overrides: Sequence[str] = (),
    as_json: bool = False,
) -> str:
    """The plan of a training, as `zerosum plan` prints it.

    Args:
        game: The game, as `make` takes it.
        preset: A preset's name, or "" for the game's defaults.
        figures: A file with the output of `zerosum bench`; this machine is measured if not given.
        price: Price of the machine for an hour.
        minutes: The budget, instead of the preset's.
        overrides: Settings, as `--set` has them.
        as_json: Whether the text is one line of JSON.

    Raises:
        SettingsError: a name is unknown, or a value is out of range.
        DataError: the file has no figures of the game with the plan's network.
    """
    name = GameName.parse(game)
    if game in preset_names() and not name.is_core:
        raise SettingsError(f"{game!r} is a preset, not a game: {command_text('plan', 'GAME', '--preset', game)}.")
    rules = make(name)
    config = new_config(rules, name, preset=preset, minutes=minutes, overrides=overrides)
    rules = configured_game(rules, config)
    rates = measured_rates(config, rules) if figures is None else read_rates(figures, config, game)
    plan = Plan.of(config, rules, rates)
    return json.dumps(plan.values(price)) if as_json else plan.page(price)
