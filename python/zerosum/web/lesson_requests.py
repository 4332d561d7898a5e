"""Requests of the teaching page: begin a scenario, step, change the constant, go back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.base.errors import SettingsError
from zerosum.web.lesson import DEFAULT_C, Lesson
from zerosum.web.lesson_texts import lesson_texts

if TYPE_CHECKING:
    from zerosum.web.visit import Visit


def _lesson(visit: Visit) -> Lesson:
    if visit.lesson is None:
        raise SettingsError("no lesson is open: open one first.")
    return visit.lesson


async def lesson_open(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Begin a scenario."""
    c = fields.number("c", 0.0, 5.0)
    visit.lesson = Lesson(fields.text("scenario") or "right", DEFAULT_C if c is None else c)
    return visit.lesson.view()


async def lesson_step(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Make simulations, by default one."""
    lesson = _lesson(visit)
    for _ in range(fields.integer("number", 1, 400) or 1):
        lesson.step()
    return lesson.view()


async def lesson_c(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Change the constant; the tree stays."""
    c = fields.number("c", 0.0, 5.0)
    if c is not None:
        _lesson(visit).set_c(c)
    return _lesson(visit).view()


async def lesson_rewind(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Go back to a step."""
    _lesson(visit).rewind(fields.integer("number", 0, 1000) or 0)
    return _lesson(visit).view()


async def lesson_reset(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Clear the tree."""
    _lesson(visit).reset()
    return _lesson(visit).view()


async def texts(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The explanations at all reading levels."""
    return lesson_texts()


HANDLERS = {
    "lesson.open": lesson_open,
    "lesson.step": lesson_step,
    "lesson.c": lesson_c,
    "lesson.rewind": lesson_rewind,
    "lesson.reset": lesson_reset,
    "lesson.texts": texts,
}
