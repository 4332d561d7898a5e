"""Values that change during a run: stages, each from a share of the budget on.

A setting that changes is written as `VALUE@SHARE, VALUE@SHARE`, such as `4x32@0, 5x64@0.3`: the first value from the
beginning, the second one once 30 % of the budget are used. The setting's own room reads the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from zerosum.base.errors import SettingsError

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class Stage(Generic[ValueT]):
    """A value and the share of the budget, in [0, 1), from which it holds."""

    begins: float
    value: ValueT


def parse_stages(text: str, *, name: str, example: str, parse: Callable[[str], ValueT]) -> tuple[Stage[ValueT], ...]:
    """The stages of a setting in the order of their beginnings; none for an empty text.

    >>> parse_stages("64@0, 100@0.5", name="sims", example="64@0, 100@0.5", parse=int)
    (Stage(begins=0.0, value=64), Stage(begins=0.5, value=100))

    Args:
        text: The setting's value.
        name: Its name, for messages.
        example: A correct value, for messages.
        parse: The value of one stage from its text; it raises ValueError, with the reason, if there is none.

    Raises:
        SettingsError: the text cannot be read, the first stage does not begin at 0, or a stage does not begin after
            the one before it.
    """
    stages: list[Stage[ValueT]] = []
    for part in text.split(",") if text.strip() else []:
        stage = _parse_stage(part.strip(), name=name, example=example, parse=parse)
        if not stages and stage.begins != 0:
            raise SettingsError(f"{name}: the first stage, {part.strip()!r}, begins at {stage.begins:g}, expected 0.")
        if stages and stage.begins <= stages[-1].begins:
            raise SettingsError(
                f"{name}: the stage {part.strip()!r} does not begin after the one before it, which begins at"
                f" {stages[-1].begins:g}."
            )
        stages.append(stage)
    return tuple(stages)


def _parse_stage(text: str, *, name: str, example: str, parse: Callable[[str], ValueT]) -> Stage[ValueT]:
    value, at, share = text.rpartition("@")
    if not at:
        raise SettingsError(f"{name}: {text!r} has no '@': write VALUE@SHARE, as in {example!r}.")
    try:
        begins = float(share)
    except ValueError:
        begins = -1.0
    if not 0 <= begins < 1:
        raise SettingsError(f"{name}: {text!r} begins at {share!r}, expected a share of the budget from 0 to below 1.")
    try:
        return Stage(begins, parse(value.strip()))
    except ValueError as error:
        raise SettingsError(f"{name}: {value.strip()!r} {error}. An example: {example!r}.") from error


def stage_at(stages: Sequence[Stage[ValueT]], progress: float) -> ValueT:
    """The value at this used share of the budget, in [0, 1]; there is at least one stage.

    >>> stage_at((Stage(0.0, "4x32"), Stage(0.3, "5x64")), 0.3)
    '5x64'
    """
    return [stage.value for stage in stages if stage.begins <= progress][-1]
