"""`zerosum ladder GAME RUN --checkpoints N`: the ratings of a run's checkpoints, as in figure 1 of the AlphaZero paper.

The checkpoints are placed one after the other, each by games against the ladder's opponents and against the checkpoints
before it. The run keeps the results (`FILE`), and `zerosum report` draws them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zerosum.arena.ladder.command import Write, habits, placement_among, play_out, player_of
from zerosum.arena.ladder.placement import LadderSettings, Placement
from zerosum.base.errors import SettingsError, counted, shown
from zerosum.contest.elo import MOST_ELO_ERROR, Rating
from zerosum.contest.ratings import Ratings
from zerosum.games import Rules, make
from zerosum.play.contestant import RANDOM, Contestant
from zerosum.play.entries import Entry
from zerosum.play.runs import network_at, spread_checkpoints

FILE = "ladder.jsonl"
"""The file of results in a run's directory."""
_NAME = re.compile(r"step (\d{1,12})(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, order=True)
class CheckpointName:
    """The name of a checkpoint in the results of its run.

    >>> CheckpointName.parse("step 500@100"), str(CheckpointName(500, " (st=1)"))
    (CheckpointName(step=500, limit='@100'), 'step 500 (st=1)')
    """

    step: int
    limit: str
    """What limits its moves, as in the name of a player: "@100", " (st=1)"."""

    @staticmethod
    def parse(name: str) -> CheckpointName | None:
        """The checkpoint that a name means; None for the name of another player."""
        match = _NAME.fullmatch(name)
        return CheckpointName(int(match[1]), match[2]) if match else None

    def __str__(self) -> str:
        return f"step {self.step}{self.limit}"


@dataclass(frozen=True)
class Passing:
    """An opponent, and the checkpoints that passed it."""

    opponent: str
    rating: Rating
    first: str | None
    """The first checkpoint with a higher rating; None if none has one."""
    first_shown: str | None
    """The first that is stronger at 95 % (`Ratings.is_stronger`)."""

    def __str__(self) -> str:
        if self.first is None:
            return f"{self.opponent}: not passed"
        shown_at = f", shown at 95 % from {self.first_shown} on" if self.first_shown else ", not shown at 95 %"
        return f"{self.opponent}: {self.first}{shown_at}"


def passings(ratings: Ratings, checkpoints: Sequence[str], opponents: Sequence[str]) -> list[Passing]:
    """The checkpoints that passed each opponent, the strongest opponent first.

    Args:
        ratings: Of all of them.
        checkpoints: Names, by ascending step.
        opponents: Names; those whose ratings say nothing (`MOST_ELO_ERROR`) are left out.
    """
    found = [(ratings.rating(name), name) for name in opponents]
    elos = {name: ratings.rating(name).elo for name in checkpoints}
    return [
        Passing(
            name,
            rating,
            next((one for one in checkpoints if elos[one] > rating.elo), None),
            next((one for one in checkpoints if ratings.is_stronger(one, name)), None),
        )
        for rating, name in sorted(found, key=lambda pair: -pair[0].elo)
        if rating.error <= MOST_ELO_ERROR
    ]


def place_checkpoints(
    game_name: str,
    entry: Entry,
    settings: LadderSettings,
    *,
    count: int,
    opponents: Sequence[str] = (),
    is_json: bool = False,
    write: Write = print,
    say: Write = print,
) -> bool:
    """Place checkpoints of a run, evenly spread from first to last. Returns whether the keyboard interrupted it.

    Args:
        game_name: As `zerosum.games.make` takes it.
        entry: The run, with the settings of each checkpoint's player.
        settings: Budget of each checkpoint, and openings.
        count: The number of checkpoints; all if the run has fewer.
        opponents: Play only these, random play and checkpoints; all opponents if empty.
        is_json: Write JSON instead of text: one line per match, then one per opponent that could be passed.
        write: Receives the output.
        say: Receives messages meanwhile.

    Raises:
        ZerosumError: as `zerosum.arena.ladder.command.place`; the player is not a run with two checkpoints or more.
    """
    run, paths = _checkpoints_of(entry, count)
    game, players, said = make(game_name), dict[str, Contestant](), set[str]()

    def say_once(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            say(sentence)

    for path in paths:
        name, player = _player(entry, path, game, settings, say=say_once)
        players[name] = player
        placement = placement_among(game, players, settings, opponents=opponents, results=run / FILE, say=say_once)
        if not play_out(placement, results=run / FILE, is_json=is_json, write=write, say=say):
            return True
        say(f"{name}: {placement.rating}")
    for line in _table(placement, list(players), is_json=is_json):
        write(line)
    say(f"Kept in {run / FILE}; zerosum report {run} draws them.")
    return False


def _checkpoints_of(entry: Entry, count: int) -> tuple[Path, list[Path]]:
    """The run of an entry, and `count` of its checkpoints."""
    run = entry.player.run
    if run is None or not (run / "checkpoints").is_dir():
        raise SettingsError(
            f"--checkpoints {count} rates those of a run, and {shown(entry.word)} is not the directory of one."
        )
    if entry.name:
        raise SettingsError(f"name={entry.name}: with --checkpoints each has the name of its step. Leave it out.")
    found = spread_checkpoints(run, count)
    if len(found) < 2:
        raise SettingsError(
            f"--checkpoints {count} needs two checkpoints or more, and {run} has {counted(len(found), 'checkpoint')}."
        )
    return run, found


def _player(entry: Entry, path: Path, game: Rules, settings: LadderSettings, *, say: Write) -> tuple[str, Contestant]:
    """The player of a checkpoint, and its name in results."""
    number = "" if entry.player.number is None else f"@{entry.player.number}"
    own = replace(entry, word=f"{path}{number}")
    player = player_of(own, game, settings, say=say)
    limit = ", ".join([player.name.removeprefix(str(path)), *habits(entry)])
    return str(CheckpointName(network_at(path).step, limit)), player


def _table(placement: Placement, checkpoints: Sequence[str], *, is_json: bool) -> Iterator[str]:
    """All ratings, and who was passed when."""
    others = [name for name in placement.ratings.names if name != RANDOM.name and CheckpointName.parse(name) is None]
    found = passings(placement.ratings, checkpoints, others)
    if is_json:
        for name in checkpoints:
            rating = placement.ratings.rating(name)
            yield json.dumps({"checkpoint": name, "elo": rating.elo, "error": rating.error})
        for one in found:
            rated = {"opponent": one.opponent, "elo": one.rating.elo, "error": one.rating.error}
            yield json.dumps({**rated, "passed": one.first, "shown": one.first_shown}, ensure_ascii=False)
        return
    yield placement.table()
    yield "passed by the checkpoint of"
    yield from (f"  {one}" for one in found)
