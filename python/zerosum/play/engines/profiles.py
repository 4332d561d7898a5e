"""Engines set up as the opponents of the AlphaZero paper were, as far as this machine goes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import SettingsError, nearest
from zerosum.base.settings import num_cores
from zerosum.contest.paper import PaperOpponent, paper_matches
from zerosum.games import Rules
from zerosum.play.engines.engine import EngineCommand, ExternalEngine

MEMORY_SHARE = 0.25
"""Largest share of the usable memory for the hash tables of all games."""
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Linux's file of a container's memory limit: a number of bytes, or a word."""
HASH_NAMES = ("Hash", "USI_Hash")


@dataclass(frozen=True)
class Profile:
    """An engine's options."""

    options: tuple[tuple[str, str], ...]
    sentence: str
    """The options, and those of the paper."""


def profile_of(suite: str, command: EngineCommand, game: Rules, *, num_engines: int = 1) -> Profile:
    """The options of the paper's opponent at a game, scaled down to this machine's cores and memory.

    Args:
        suite: As `zerosum.contest.paper.paper_matches` takes it.
        command: The engine, which is started to list its options.
        game: The rules.
        num_engines: Number of its processes that share the machine.

    Raises:
        SettingsError: the suite is unknown, or has no opponent at this game that is set up by options.
        EngineFailure: the engine does not start.
    """
    opponents: dict[str, PaperOpponent] = {}
    for match in paper_matches(suite):
        if match.opponent.threads is not None:
            opponents.setdefault(match.game, match.opponent)  # that of the main match
    if game.spec.name not in opponents:
        raise SettingsError(f"profile {suite!r} sets up no engine for {game.spec.name}{nearest('', opponents)}.")
    opponent = opponents[game.spec.name]
    with ExternalEngine(command, game) as engine:
        known = {name.casefold(): option for name, option in engine.options.items()}
    wanted = _wanted(opponent, known, num_engines)
    options = tuple(
        (option.name, value if isinstance(value, str) else str(option.within(value)))
        for name, value in wanted
        if (option := known.get(name.casefold())) is not None
    )
    missing = [name for name, _ in wanted if name.casefold() not in known]
    sentence = (
        f"{command.label} plays with {', '.join(f'{name} {value}' for name, value in options) or 'no option'}; the"
        f" paper's {opponent.name} had {opponent.threads} threads and {opponent.hash_mb:,} MB"
        f"{' and Syzygy tablebases' if opponent.has_tablebases else ''}."
    )
    if missing:
        sentence += f" It has no option {', '.join(missing)}."
    return Profile(options, sentence)


def _wanted(
    opponent: PaperOpponent, known: Collection[str], num_engines: int
) -> list[tuple[str, str] | tuple[str, int]]:
    """The paper's options, limited by this machine, with the engine's own name for its memory."""
    assert opponent.threads is not None and opponent.hash_mb is not None
    hash_name = next((name for name in HASH_NAMES if name.casefold() in known), HASH_NAMES[0])
    most_mb = int(MEMORY_SHARE * _memory_mb() / num_engines)
    return [
        ("Threads", max(1, min(opponent.threads, num_cores() // num_engines))),
        (hash_name, max(1, min(opponent.hash_mb, most_mb))),
        *opponent.options,
    ]


def _memory_mb() -> int:
    """Usable memory; 1024 where the system does not report it."""
    known = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20)
    with contextlib.suppress(OSError, ValueError):
        known.append(int(MEMORY_LIMIT.read_text()) >> 20)
    return min(known, default=1024)
