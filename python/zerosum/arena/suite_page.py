"""The matches of a suite as bars beside the paper's, as figures 2 and 3 of the AlphaZero paper: one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from zerosum.arena.played import PlayedGame
from zerosum.arena.sample_games import OPENING_PLIES, Notable, notable_games, sample_games
from zerosum.arena.suite import SuiteResult
from zerosum.base.errors import counted
from zerosum.contest.sprt import Tally
from zerosum.games import Rules
from zerosum.games.game_card import game_card
from zerosum.games.playthrough import Playthrough

STYLE = """
:root { color-scheme: light dark; --ink: #22262b; --soft: #5d6570; --back: #fdfdfc; --rule: #d9dde2;
  --won: #2e7d4f; --drawn: #a9b0b8; --lost: #b3412e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --soft: #a3abb5; --back: #16191d; --rule: #3a4048;
  --drawn: #6d757e; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 60rem; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .3rem; }
.soft { color: var(--soft); font-size: .9rem; }
.row { display: grid; grid-template-columns: 11rem 1fr 13rem; gap: .8rem; align-items: center; margin: .2rem 0;
  font-size: .92rem; }
.bar { display: flex; height: 1.1rem; border-radius: 3px; overflow: hidden; background: var(--rule); }
.paper .bar { height: .5rem; opacity: .75; } .paper { color: var(--soft); }
.won { background: var(--won); } .drawn { background: var(--drawn); } .lost { background: var(--lost); }
h3 { font-size: .95rem; margin: 1rem 0 .3rem; } details { margin: .5rem 0; } summary { cursor: pointer; }
.games { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1.2rem; }
figure { margin: 0; } figure img { width: 100%; } figcaption { color: var(--soft); font-size: .9rem; }
.moves { font: .78rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
.key span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; border-radius: 2px; }
table { border-collapse: collapse; font-size: .9rem; } td, th { text-align: left; padding: .15rem .9rem .15rem 0;
  border-bottom: 1px solid var(--rule); } td + td { font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) { .row { grid-template-columns: 1fr; gap: .1rem; } }
"""
KINDS = ("won", "drawn", "lost")


def suite_page(results: Sequence[SuiteResult], *, title: str) -> str:
    """The page of these matches, from the view of the player in AlphaZero's place."""
    body = "\n".join(part for result in results for part in _match(result))
    key = "".join(f"<span class={kind}></span>{kind}" for kind in KINDS)
    return (
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}: zerosum</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"<p class=\"soft key\">Results of the player in AlphaZero's place; thin bars are the paper's.{key}</p>\n"
        f"{body}\n</body>\n</html>\n"
    )


def _match(result: SuiteResult) -> Iterator[str]:
    match, here = result.match, result.played.result
    yield f"<h2>{escape(match.title)}</h2>"
    yield f"<p class=soft>{escape(here.first)} against {escape(here.second)}, {counted(len(here.games), 'game')}</p>"
    if result.speed_words:
        yield f"<p class=soft>{escape(result.speed_words)}</p>"
    paper = None if match.tally is None else _shares(match.tally)
    yield from _bars("all games", here.tally(), paper)
    for player, (side, shares) in enumerate((("first", match.as_first), ("second", match.as_second))):
        yield from _bars(f"moving {side}", here.tally(player=player), shares)
    if match.openings:
        yield from _by_opening(here.games)
    yield from _samples(result)
    cards = [_card(notable) for notable in notable_games(result.game, here.games)]
    if cards:
        yield f"<h3>Games worth a look</h3><div class=games>{''.join(cards)}</div>"


def _bars(name: str, tally: Tally, paper: tuple[float, ...] | None) -> Iterator[str]:
    """Our bar, and the paper's below it if its shares are known."""
    if tally.wins + tally.draws + tally.losses:
        yield _row(name, _shares(tally), str(tally))
    if paper is not None:
        yield _row("in the paper", paper, " / ".join(f"{share:.1f} %" for share in paper), kind="row paper")


def _row(name: str, shares: Sequence[float], words: str, *, kind: str = "row") -> str:
    named = list(zip(KINDS, shares, strict=True))
    parts = "".join(f'<span class={of} style="width:{share:.2f}%"></span>' for of, share in named)
    label = f"{name}: {', '.join(f'{share:.1f} % {of}' for of, share in named)}"
    return (
        f'<div class="{kind}"><span>{escape(name)}</span><span class=bar role=img aria-label="{escape(label)}">{parts}'
        f"</span><span>{escape(words)}</span></div>"
    )


def _shares(tally: Tally) -> tuple[float, ...]:
    """Wins, draws and losses in percent."""
    counts = (tally.wins, tally.draws, tally.losses)
    return tuple(100 * count / sum(counts) for count in counts)


def _by_opening(games: Sequence[PlayedGame]) -> Iterator[str]:
    by_name: dict[str, list[PlayedGame]] = {}
    for game in games:
        by_name.setdefault(game.opening or "no name", []).append(game)
    rows = "".join(
        f"<tr><td>{escape(name)}</td>" + "".join(f"<td>{_tally(played, player)}</td>" for player in (0, 1)) + "</tr>"
        for name, played in by_name.items()
    )
    yield f"<table><tr><th>opening</th><th>moving first</th><th>moving second</th></tr>{rows}</table>"


def _samples(result: SuiteResult) -> Iterator[str]:
    """The games of the paper's rules with their moves, folded up."""
    games = result.played.result.games
    shown = sample_games(games)
    rows = "".join(
        f"<tr><td>{game.index + 1}</td><td>{('first', 'second')[game.first_is_player]}</td><td>{_result(game)}</td>"
        f"<td>{len(game.actions)}</td><td class=moves>{_moves(result.game, game)}</td></tr>"
        for game in shown
    )
    head = "<tr><th>game</th><th>moving</th><th>result</th><th>plies</th><th>moves</th></tr>"
    rule = f"one for each opening of {OPENING_PLIES // 2} moves, and all losses"
    words = f"{len(shown)} of {counted(len(games), 'game')}: {rule}"
    yield f"<details><summary>{words}</summary><table>{head}{rows}</table></details>"


def _moves(rules: Rules, game: PlayedGame) -> str:
    start = f"{game.start}: " if game.start else ""
    return escape(start + " ".join(Playthrough.of(rules, game.start, game.actions).texts))


def _result(game: PlayedGame) -> str:
    word = "won" if game.result > 0 else "lost" if game.result < 0 else "drawn"
    return escape(f"{word}, {game.ending}" if game.ending else word)


def _card(notable: Notable) -> str:
    game = notable.game
    side = ("first", "second")[game.first_is_player]
    return game_card(
        notable.so_far, notable.ply, f"Game {game.index + 1}, moving {side}: {notable.sentence}; {_result(game)}."
    )


def _tally(games: Sequence[PlayedGame], player: int) -> Tally:
    return Tally.of(game.result for game in games if game.first_is_player == player)
