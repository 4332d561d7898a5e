"""Stages of a setting: what they mean, and what is said of a text that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.base.stages import Stage, parse_stages, stage_at


def parse_even(text: str) -> int:
    if not text.isdecimal() or int(text) % 2:
        raise ValueError("is not an even number")
    return int(text)


def stages_of(text: str) -> tuple[Stage[int], ...]:
    return parse_stages(text, name="room.setting", example="2@0, 4@0.5", parse=parse_even)


def test_an_empty_text_has_no_stages() -> None:
    assert stages_of("") == stages_of("  ") == ()


@given(st.lists(st.integers(1, 999), unique=True), st.floats(0, 1))
def test_the_last_stage_that_has_begun_holds(thousandths: list[int], progress: float) -> None:
    begins = [0.0, *(number / 1000 for number in sorted(thousandths))]
    stages = stages_of(", ".join(f"{2 * number}@{share}" for number, share in enumerate(begins)))
    assert [stage.begins for stage in stages] == begins
    assert stage_at(stages, progress) == 2 * (sum(share <= progress for share in begins) - 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2", "'2' has no '@'"),
        ("2@0,", "'' has no '@'"),
        ("2@0, 4@x", "begins at 'x', expected a share of the budget"),
        ("2@0, 4@1", "begins at '1', expected a share of the budget"),
        ("2@0, 4@nan", "begins at 'nan', expected a share of the budget"),
        ("2@0.1", "the first stage, '2@0.1', begins at 0.1, expected 0"),
        ("2@0, 4@0.5, 6@0.5", "the stage '6@0.5' does not begin after the one before it, which begins at 0.5"),
        ("2@0, 4@0.5, 6@0.4", "does not begin after"),
        ("2@0, 3@0.5", "'3' is not an even number. An example: '2@0, 4@0.5'"),
    ],
)
def test_what_is_no_stage_is_told(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        stages_of(text)
    assert str(caught.value).startswith("room.setting: ") and message in str(caught.value)
