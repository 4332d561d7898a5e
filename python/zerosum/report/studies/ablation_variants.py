"""The variants of the study of ablations: what each changes, and which games can have it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from zerosum.base.errors import SettingsError, nearest
from zerosum.games import Rules, make
from zerosum.report.studies.trainings import EQUAL, Settings
from zerosum.run.config import RunConfig, new_config

HISTORY = "history"
GATE_GAMES = 40
"""Games of a checkpoint for self-play's place; AlphaGo Zero's 400 would take more time than a short training has."""


@dataclass(frozen=True)
class Variant:
    """A change of the game's default settings."""

    words: str
    settings: Settings = field(default_factory=dict)
    """Values of settings by `section.name`; a plane option is added to the planes that the game has by default."""
    needs_symmetries: bool = False
    planes: str = ""
    """An option of planes, `NAME=VALUE`, which the game needs to have."""


VARIANTS: dict[str, Variant] = {
    "flat-policy": Variant("a flat policy in place of planes of squares", {"network.policy_head": "dense"}),
    "history-1": Variant("the position alone, without the seven before it", planes=f"{HISTORY}=1"),
    "unmasked-loss": Variant("illegal moves stay in the policy's loss", {"learner.mask_illegal": False}),
    "gate": Variant(
        f"a network plays only after more than 55 % of {GATE_GAMES} games against the best one",
        {"training.gate_games": GATE_GAMES},
    ),
    "no-symmetries": Variant(
        "no symmetries, as AlphaZero", {"replay.use_symmetries": False}, needs_symmetries=True
    ),
    "leaf-symmetries": Variant(
        "symmetries of samples and of leaves, as AlphaGo Zero",
        {"training.leaf_symmetries": True},
        needs_symmetries=True,
    ),
    "rollouts": Variant(
        "leaves have the results of random games in place of the network's values",
        {"training.leaf_values": "rollouts"},
    ),
    "half-rollouts": Variant(
        "leaves have the mean of the network's value and a random game's result, as AlphaGo",
        {"training.leaf_values": "mean"},
    ),
    "importance": Variant(
        "samples weighted by truncated importance, as V-trace",
        {"learner.importance_limit": 1.0},
    ),
}  # fmt: skip
"""The variants by name."""


def baseline_config(game: str, minutes: float) -> RunConfig:
    """The settings of the trainings that variants are compared with: the game's defaults. Raises as `new_config`."""
    return new_config(make(game), game, minutes=minutes, settings=EQUAL)


def settings_of(name: str, game: str, baseline: RunConfig) -> dict[str, Any]:
    """All settings of a variant's training that are not the game's defaults; `EQUAL` are among them.

    Args:
        name: The variant.
        game: The game's name, without the planes that a run adds to it.
        baseline: What `baseline_config` gives for the game.

    Raises:
        SettingsError: the variant is unknown, or the game cannot have it.
    """
    variant, rules = VARIANTS.get(name), make(game)
    if variant is None:
        raise SettingsError(f"unknown variant {name!r}{nearest(name, VARIANTS)}.")
    settings = EQUAL | dict(variant.settings)
    if variant.needs_symmetries and not rules.spec.symmetries:
        raise _refusal(name, rules, "has no symmetries")
    if variant.planes:
        option = variant.planes.partition("=")[0]
        if all(known.name != option for known in rules.spec.known_options):
            raise _refusal(name, rules, f"has no option {option!r} of planes")
        settings["training.planes"] = ", ".join(filter(None, [baseline.training.planes, variant.planes]))
    config = new_config(rules, game, minutes=baseline.training.minutes, settings=settings)
    # Planes are part of the game's name: whatever a run adds is compared there.
    if replace(config, training=replace(config.training, planes=baseline.training.planes)) == baseline:
        values = ", ".join([*(f"{key} = {value}" for key, value in variant.settings.items()), variant.planes])
        raise _refusal(name, rules, f"is learned so by default ({values.strip(', ')})")
    return settings


def variants_for(game: str, baseline: RunConfig) -> tuple[str, ...]:
    """The variants that a game can have; the arguments are those of `settings_of`."""
    found = []
    for name in VARIANTS:
        try:
            settings_of(name, game, baseline)
        except SettingsError:
            continue
        found.append(name)
    return tuple(found)


def _refusal(name: str, rules: Rules, reason: str) -> SettingsError:
    return SettingsError(f"the variant {name} is not for {rules.spec.full_name}, which {reason}: leave it out.")
