"""Exams: what a player of a game must at least be able to do, in parts of positions that are made by rules alone.

`task.py` has the interface of a part and its tasks, `exams.py` which game has which parts, `sitting.py` lets a player
answer, and `result.py` has tables and files. Start with `exam_of` and `sit_exam`.
"""

from zerosum.run.exam.exams import exam_of as exam_of
from zerosum.run.exam.exams import has_exam as has_exam
from zerosum.run.exam.exams import named_parts as named_parts
from zerosum.run.exam.result import PartResult as PartResult
from zerosum.run.exam.sitting import sit_exam as sit_exam
