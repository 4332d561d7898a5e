"""The variants of the ablations are settings that change something, and their table compares seed by seed."""

from __future__ import annotations

import pytest

from ablation import COMMON, VARIANTS, Result, table
from zerosum.config import RunConfig, new_config
from zerosum.games import make

GAME = make("connect4")


def config_of(settings: list[str]) -> RunConfig:
    return new_config(GAME, "connect4", minutes=2, overrides=[*COMMON, *settings])


@pytest.mark.parametrize("variant", [name for name, settings in VARIANTS.items() if settings])
def test_every_variant_differs_from_the_defaults(variant: str) -> None:
    assert config_of(VARIANTS[variant]) != config_of([])
    for setting in VARIANTS[variant]:
        assert config_of([setting]) != config_of([]), f"{setting} is the default"


def result_of(variant: str, seed: int, rate: float) -> Result:
    mistakes = {"1": [2 * rate], "600": [rate]}
    return Result(variant, seed, mistakes, games=10, positions=20, evaluations=3_000_000, step=40)


def test_differences_are_to_the_first_variant_whichever_ended_first() -> None:
    rates = {("no symmetries", 0): 0.05, ("defaults", 0): 0.04, ("no symmetries", 1): 0.08, ("defaults", 1): 0.06}
    lines = table([result_of(*key, rate) for key, rate in rates.items()]).splitlines()
    assert lines[2] == "| defaults | 2 | 5.00 ± 1.00 |  | 10.00 ± 2.00 | 10 | 20 | 3.0 M |"
    assert lines[3] == "| no symmetries | 2 | 6.50 ± 1.50 | +1.50 ± 0.50 | 13.00 ± 3.00 | 10 | 20 | 3.0 M |"
