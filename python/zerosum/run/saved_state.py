"""What a checkpoint keeps of a run beside the network and the optimiser's state: counts that a resumed run needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SavedState:
    """The counts of a run at a checkpoint; those of a new run are the defaults."""

    optimizer: str = ""
    """The optimiser whose state is beside this; "" if there is none."""
    elapsed_s: float = 0.0
    """Seconds of the budget."""
    games: int = 0
    evaluations: int = 0
    simulations: int = 0
    learner_cpu_s: float = 0.0
    """CPU-seconds of learning."""
    rating_matches: int = 0
    samples: float = 0.0
    """Samples learned from."""
    samples_per_position: float | None = None
    """The setting by which the positions so far owe samples; None if the games came from records."""
    missing_weight: float = 0.0
    """What the weights of the positions so far are below 1, together."""

    is_new: bool = True
    """Whether nothing has been learned yet: the file of a network of step 0 has no state."""

    @staticmethod
    def of(info: Mapping[str, Any]) -> SavedState:
        """The state in a checkpoint's file."""
        known = {field.name: info[field.name] for field in fields(SavedState) if field.name in info}
        return SavedState(**known | {"is_new": not info})

    def to_json(self) -> dict[str, Any]:
        """The inverse of `of`."""
        values = asdict(self)
        del values["is_new"]
        return values
