"""All studies by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zerosum.base.errors import SettingsError, nearest
from zerosum.report.studies.ablations import AblationsStudy
from zerosum.report.studies.diversity import DiversityStudy
from zerosum.report.studies.learned_when import LearnedWhenStudy
from zerosum.report.studies.nim import VARIANTS, NimStudy
from zerosum.report.studies.one_network import OneNetworkStudy
from zerosum.report.studies.parts import PartsStudy
from zerosum.report.studies.piece_values import PieceValuesStudy
from zerosum.report.studies.stability import StabilityStudy
from zerosum.report.studies.study import Study
from zerosum.report.studies.thinking_time import ThinkingTimeStudy
from zerosum.report.studies.words import StudyWords, require_no_names


@dataclass(frozen=True)
class Listed:
    """A study of the catalogue."""

    make: Callable[[StudyWords], Study[Any]]
    options: frozenset[str]
    """The options that it takes."""


def _nim(words: StudyWords) -> NimStudy:
    require_no_names("nim", words)
    own = NimStudy()
    return NimStudy(
        num_heaps=own.num_heaps if words.heaps is None else words.heaps,
        variants=words.variants or tuple(VARIANTS),
        seeds=own.seeds if words.seeds is None else words.seeds,
        games=own.games if words.games is None else words.games,
        simulations=own.simulations if words.simulations is None else words.simulations,
    )


STUDIES: dict[str, Listed] = {
    "nim": Listed(_nim, frozenset({"--games", "--simulations", "--seeds", "--heaps", "--variant"})),
    "parts": Listed(PartsStudy.of, frozenset({"--games", "--simulations"})),
    "thinking-time": Listed(ThinkingTimeStudy.of, frozenset({"--games", "--simulations", "--opponent"})),
    "diversity": Listed(DiversityStudy.of, frozenset({"--games", "--simulations", "--opponent"})),
    "learned-when": Listed(LearnedWhenStudy.of, frozenset()),
    "piece-values": Listed(PieceValuesStudy.of, frozenset({"--seeds", "--variant"})),
    "ablations": Listed(
        AblationsStudy.of, frozenset({"--variant", "--seeds", "--minutes", "--games", "--simulations"})
    ),
    "stability": Listed(
        StabilityStudy.of, frozenset({"--variant", "--seeds", "--minutes", "--games", "--simulations"})
    ),
    "one-network": Listed(OneNetworkStudy.of, frozenset({"--seeds", "--minutes", "--games", "--simulations"})),
}


def study_of(name: str, words: StudyWords) -> Study[Any]:
    """The study of this name with these options.

    Raises:
        SettingsError: the name is unknown, the study does not have an option, or a value is out of range.
        DataError: a run cannot be used.
    """
    listed = STUDIES.get(name)
    if listed is None:
        raise SettingsError(f"unknown study {name!r}{nearest(name, STUDIES)}.")
    for option in words.given:
        if option not in listed.options:
            others = f", only {', '.join(sorted(listed.options))}" if listed.options else ""
            raise SettingsError(f"the study {name} has no {option}{others}: leave it out.")
    return listed.make(words)
