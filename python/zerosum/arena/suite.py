"""The matches of the AlphaZero paper, replayed on this machine: scaled down in time and in games.

Messages name the substitutes of players, the matches left out, and the values used where the paper is silent. Start
with `play_suite`; `zerosum.contest.paper` has the matches as data.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from zerosum.arena.plan import MatchPlan, MatchSettings
from zerosum.arena.played import PlayedGame
from zerosum.arena.session import Say, SessionResult, plan_match, play_session, with_openings
from zerosum.base.errors import SettingsError, ZerosumError
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms, Thought
from zerosum.contest.paper import PaperMatch, paper_matches
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.games.short_names import short_name
from zerosum.play.bundled import is_bundled, usual_network
from zerosum.play.contestant import ROLLOUTS, ProgramContestant, SearchContestant
from zerosum.play.engines.known_engines import known_engines
from zerosum.play.entries import Entry, enter

SUFFIXES = {"chess": ".pgn", "shogi": ".csa", "go": ".sgf"}
"""Suffixes of the files of games."""
SHORTEST_S = 0.01
"""Shortest time on a clock for which a match makes sense."""
ODDS_SLACK = 1.5
"""Factor by which simulations may exceed their share of the time before the odds count as not kept."""
OVERHEAD_S = 0.02
"""Overhead of our player: the paper's times, scaled down, leave less than 0.1 s per move. The match's own margin
(`Terms.margin_s`) is larger."""


@dataclass(frozen=True)
class SuiteWords:
    """The settings of a suite from a command line."""

    suite: str
    """The name of the suite, as `paper_matches` takes it."""
    num_games: int
    """Number of games of each match; even."""
    time_scale: float
    """The factor of all times."""
    game: str = ""
    """The game whose matches are played, with options if wanted (`go(size=9)`); "" for all games."""
    player: str = ""
    """The player in AlphaZero's place; "" for `usual_network` of each game, or rollouts."""
    opponent: str = ""
    """The player in the opponents' place; "" for the strongest known engine that is installed."""
    positions: str = ""
    """A file of openings, for matches whose openings the package does not contain."""
    seed: int = 0
    max_games_at_once: int | None = None
    """Games at a time; by default one, so that the thinking player has the whole machine."""

    def __post_init__(self) -> None:
        if not 0 < self.time_scale <= 1000:
            raise SettingsError(f"--time-scale is {self.time_scale:g}, but must be more than 0 and at most 1000.")


@dataclass(frozen=True)
class SuiteResult:
    """The result of a match of the suite, beside the paper's."""

    match: PaperMatch
    game: Rules
    played: SessionResult
    nodes: float
    """Mean number of simulations of our moves, or of positions of an alpha-beta search; NaN if none is told."""
    whole_nodes: float = math.nan
    """The same in the match with the whole time, for a match with time odds; else NaN."""
    speeds: tuple[float, float] = (math.nan, math.nan)
    """Simulations or positions that the two players made in a second of their moves; NaN if not told."""

    def __str__(self) -> str:
        games = "" if self.match.num_games is None else f" of {self.match.num_games:,} games"
        paper = f"{self.match.result}{games}" if self.match.result else f"a figure{games}, no counts"
        here = self.played.result
        rows = {"paper": paper, "here": f"{here.tally()} of {len(here.games)} games"}
        for player, (side, share) in enumerate((("first", self.match.as_first), ("second", self.match.as_second))):
            told = "" if share is None else "; paper {:.1f} %, {:.1f} %, {:.1f} %".format(*share)
            rows[f"moving {side}"] = f"{here.tally(player=player)}{told}"
        if not math.isnan(self.nodes):
            rows["nodes"] = f"{self.nodes:,.0f} a move{self._odds_words}"
        if self.speed_words:
            rows["speed"] = self.speed_words
        lines = [self.match.title, *(f"{name:<14} {row}" for name, row in rows.items())]
        return "\n  ".join(lines) + f"\n{here}"

    @property
    def speed_words(self) -> str:
        """Positions a second of both players, beside the paper's; "" if neither is known."""
        if all(math.isnan(speed) for speed in self.speeds):
            return ""
        here = " and ".join("unknown" if math.isnan(speed) else f"{speed:,.0f}" for speed in self.speeds)
        known = (self.match.positions_per_second, self.match.opponent.positions_per_second)
        if None in known:
            return f"{here} positions a second"
        return f"{here} positions a second; paper {known[0]:,} and {known[1]:,}"

    @property
    def _odds_words(self) -> str:
        """Whether the time odds were kept, if that is known; else ""."""
        fair = self.whole_nodes / self.match.time_divisor
        if math.isnan(fair):
            return ""
        if self.nodes <= ODDS_SLACK * fair:
            return f", of {self.whole_nodes:,.0f} in the whole time"
        return (
            f", where 1/{self.match.time_divisor} of {self.whole_nodes:,.0f} is {fair:,.1f}: the time is too short for"
            " these odds, use a larger --time-scale"
        )


def play_suite(
    words: SuiteWords, *, directory: Path | None = None, log: Path | None = None, say: Say
) -> Iterator[SuiteResult]:
    """Play the matches of a suite in order, yielding each result.

    Args:
        words: The suite and its settings.
        directory: The directory of the games, a file for each match; the same words continue matches found there.
        log: The file of all lines to and from engines.
        say: Receives messages about matches, players and reasons to leave matches out.

    Raises:
        SettingsError: the suite is unknown or has no match of this game, or a setting is invalid.
        DataError, RunError: a file cannot be used.
    """
    asked = make(words.game) if words.game else None
    matches = paper_matches(words.suite)
    games = list(dict.fromkeys(match.game for match in matches))
    if asked is not None and asked.spec.name not in games:
        raise SettingsError(f"suite {words.suite!r} has matches of {', '.join(games)}, not of {asked.spec.name}.")
    if asked is None and (words.player or words.opponent):
        raise SettingsError("a player of a suite plays one game: name the game first, such as chess.")
    whole_nodes: dict[str, float] = {}
    for number, match in enumerate(matches, start=1):
        if asked is not None and asked.spec.name != match.game:
            continue
        say(f"Match {number} of {len(matches)}: {match}")
        try:
            plan = _plan(words, match, asked or make(match.game), say)
        except _LeftOutError as error:
            say(f"Left out: {error}")
            continue
        file = None if directory is None else _file(directory, number, match)
        played = play_session(plan, file=file, log=log, say=say)
        nodes = mean_nodes(plan.game, played.result.games)
        if match.time_divisor == 1:
            whole_nodes.setdefault(match.game, nodes)
        whole = whole_nodes.get(match.game, math.nan) if match.time_divisor > 1 else math.nan
        yield SuiteResult(match, plan.game, played, nodes, whole, speeds(plan.game, played.result.games))
        if played.is_interrupted:
            return


def mean_nodes(game: Rules, games: Iterable[PlayedGame]) -> float:
    """The mean number of simulations that the contestant named first reports for its moves; NaN without any."""
    counts = [thought.nodes for thought in _thoughts(game, games)[0] if thought.nodes]
    return sum(counts) / len(counts) if counts else math.nan


def speeds(game: Rules, games: Iterable[PlayedGame]) -> tuple[float, float]:
    """Simulations or positions a second of the contestants named first and second; NaN if they report none.

    The time is that of their moves with a number of nodes, as their clocks ran.
    """
    first, second = (
        [(one.nodes, one.seconds) for one in thoughts if one.nodes and one.seconds]
        for thoughts in _thoughts(game, games)
    )
    return _per_second(first), _per_second(second)


def _per_second(moves: Sequence[tuple[int, float]]) -> float:
    return sum(nodes for nodes, _ in moves) / sum(seconds for _, seconds in moves) if moves else math.nan


def _thoughts(game: Rules, games: Iterable[PlayedGame]) -> tuple[list[Thought], list[Thought]]:
    """The thoughts of the contestants named first and second."""
    found: tuple[list[Thought], list[Thought]] = [], []
    for played in games:
        players = Playthrough.of(game, played.start, played.actions).players
        for player, thought in zip(players[played.opening_plies :], played.thoughts, strict=False):
            if thought is not None:
                found[player != played.first_is_player].append(thought)
    return found


class _LeftOutError(ZerosumError):
    """A match that cannot be played here."""


def _plan(words: SuiteWords, match: PaperMatch, game: Rules, say: Say) -> MatchPlan:
    if (openings := _openings(words, match)) is None:
        raise _LeftOutError(
            f"the package does not contain the openings {match.openings}: give a file of them with --openings."
        )
    control = _time_control(words, match, say)
    resign = "paper" if match.resign is not None else ""
    opponent = Entry(
        _opponent_word(words, match, game, say),
        Terms(control),
        profile=words.suite if match.opponent.threads is not None else "",
        resign=resign if match.opponent.resign is not None else "",
    )
    player = _player(words, match, game, _divided(control, match.time_divisor), resign, say)
    settings = MatchSettings(words.num_games, words.seed, max_games_at_once=words.max_games_at_once or 1)
    settings = with_openings(settings, game, openings=openings, plies=None if openings else 0, is_shuffled=False)
    settings = replace(settings, openings_name=openings or "the initial position")
    plan = plan_match(game, (player, opponent), settings, say=say)
    _require_time(plan, control)
    return plan


def _player(words: SuiteWords, match: PaperMatch, game: Rules, control: TimeControl, resign: str, say: Say) -> Entry:
    """The player in AlphaZero's place. Only a tree search has the paper's rule of time, and visits to draw moves by."""
    word = _player_word(words, game, say)
    if _is_tree_search(word, game):
        terms = Terms(control, time_config=TimeConfig(manager="paper", overhead_s=OVERHEAD_S))
        plies, within = match.sampled_plies, match.sampled_within
        return Entry(word, terms, sampled_plies=plies, sampled_within=within, resign=resign)
    drawn = f", and it does not draw its moves of the first {match.sampled_plies} plies" if match.sampled_plies else ""
    say(f"{word} is not a tree search: it divides its time by its own rule{drawn}.")
    return Entry(word, Terms(control), resign=resign)


@functools.lru_cache(maxsize=1)  # the same for all matches of a game
def _is_tree_search(word: str, game: Rules) -> bool:
    return isinstance(enter(Entry(word), game), SearchContestant)


def _openings(words: SuiteWords, match: PaperMatch) -> str | None:
    """The openings of a match; None if they are missing."""
    return (words.positions or None) if match.openings == "TCEC" else match.openings


def _time_control(words: SuiteWords, match: PaperMatch, say: Say) -> TimeControl:
    if match.main_s is None and match.move_s is None:
        timed = next(other for other in paper_matches(words.suite) if (other.main_s or other.move_s) is not None)
        say("The paper states no time for this match: the time of the others is used.")
        match = replace(match, main_s=timed.main_s, increment_s=timed.increment_s, move_s=timed.move_s)
    if match.move_s is not None:
        return _divided(
            TimeControl(main_s=0.0, period_s=match.move_s, period_moves=1, num_periods=1), 1 / words.time_scale
        )
    assert match.main_s is not None
    return _divided(TimeControl(main_s=match.main_s, increment_s=match.increment_s or 0.0), 1 / words.time_scale)


def _divided(control: TimeControl, divisor: float) -> TimeControl:
    return replace(
        control,
        main_s=round(control.main_s / divisor, 3),
        increment_s=round(control.increment_s / divisor, 3),
        period_s=round(control.period_s / divisor, 3),
    )


def _player_word(words: SuiteWords, game: Rules, say: Say) -> str:
    if words.player:
        return words.player
    network = usual_network(game)
    if network is None:
        say(f"Nobody here has learned {short_name(game)}: rollouts play.")
        return ROLLOUTS
    what = "the bundled network for" if is_bundled(network.path) else "the newest run of"
    say(f"{network.path}, {what} {short_name(game)}, plays. {network.other}".rstrip())
    return str(network.path)


def _opponent_word(words: SuiteWords, match: PaperMatch, game: Rules, say: Say) -> str:
    word, known = words.opponent, known_engines(game)
    if not word:
        installed = [opponent.name for opponent in known if opponent.is_installed]
        if not installed:
            how = " ".join(opponent.how_to_install for opponent in known[:1])
            raise _LeftOutError(f"no known engine for {game.spec.name} is installed. {how}")
        word = installed[0]
    book = " It has no opening book here, unless an option gives it one." if match.opponent.has_book else ""
    say(f"{word} plays in place of {match.opponent.name}.{book}")
    return word


def _require_time(plan: MatchPlan, control: TimeControl) -> None:
    """Check that the scaled times can be played."""
    player, opponent = plan.players
    shortest = min(control.main_s or control.period_s for control in (player.terms.time, opponent.terms.time))
    if shortest < SHORTEST_S:
        raise _LeftOutError(f"its clocks would show {shortest:g} s: use a larger --time-scale.")
    is_gtp = isinstance(opponent, ProgramContestant) and getattr(opponent.program, "protocol", "") == "gtp"
    if is_gtp and (control.main_s or control.period_s) < 1:
        raise _LeftOutError(
            "GTP counts in whole seconds, and the time would be less than one: use a larger --time-scale."
        )


def _file(directory: Path, number: int, match: PaperMatch) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory / f"{number:02}-{match.game}{SUFFIXES[match.game]}"
