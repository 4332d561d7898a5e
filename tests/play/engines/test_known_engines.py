"""The engines that everybody can have, by whole games against random moves where they are installed."""

import random
from dataclasses import replace

import pytest

from zerosum.base.errors import SettingsError
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import MoveLimits
from zerosum.games import Rules, make, start_state
from zerosum.play.engines import known_engines as known_engines_file
from zerosum.play.engines.engine import EngineCommand, ExternalEngine
from zerosum.play.engines.known_engines import KNOWN_ENGINES, KnownEngine, find_engine, known_engines

GAME_OF = {"go": "go(size=9)"}
PAIRS = [(engine, GAME_OF.get(name, name)) for engine in KNOWN_ENGINES for name in engine.games]
WEAK = {"gtp": ("--level", "0")}
"""Arguments that make an engine quick where limits cannot."""


def play_random(engine: ExternalEngine, *, engine_is: int, limits: MoveLimits, start: str, seed: int) -> str:
    """The ending of a whole game of the engine against random moves."""
    game, generator, actions = engine.game, random.Random(seed), list[int]()
    state = start_state(game, start)
    engine.new_game()
    while (ending := game.ending(state)) is None:
        action: int | None = generator.choice(game.legal_actions(state))
        if game.player(state) == engine_is:
            move = engine.think(start, actions, limits)
            action = move.action
            if action is None:
                ending = move.ending
                break
            assert (move.thought.depth is None) == (engine.command.protocol == "gtp")
        assert action is not None
        actions.append(action)
        state = game.play(state, action)
    engine.end_game(game.outcome(state) or -1.0)
    return ending


def start_of(game: Rules) -> str:
    """Another start than the game's own, where it has several."""
    return (game.position_text(game.start(game.num_starts // 3)) or "") if game.num_starts > 1 else ""


@pytest.mark.parametrize(("known", "name"), PAIRS, ids=[f"{o.name}-{name}" for o, name in PAIRS])
def test_whole_games(known: KnownEngine, name: str) -> None:
    if not known.is_installed:
        pytest.skip(known.how_to_install)
    game = make(name)
    command = find_engine(known.name, game)
    command = replace(command, argv=(*command.argv, *WEAK.get(command.protocol, ())))
    limits = MoveLimits() if command.protocol == "gtp" else MoveLimits(depth=2)
    with ExternalEngine(command, game) as engine:
        assert engine.reported_name
        for engine_is in (0, 1):
            assert play_random(engine, engine_is=engine_is, limits=limits, start=start_of(game), seed=engine_is)


@pytest.mark.parametrize(
    ("name", "game", "clock"),
    [
        ("stockfish", "chess", TimeLeft(30, increment_s=0.01)),
        ("fairy-stockfish", "shogi", TimeLeft(1, period_s=0.05, period_moves=1, num_periods=1)),
        ("fairy-stockfish", "minishogi", TimeLeft.per_move(0.05)),
        ("gnugo", "go(size=9)", TimeLeft(60, period_s=1, period_moves=1, num_periods=1)),
    ],
)
def test_limits_by_time(name: str, game: str, clock: TimeLeft) -> None:
    rules = make(game)
    known = {engine.name: engine for engine in known_engines(rules)}
    if not known[name].is_installed:
        pytest.skip(known[name].how_to_install)
    with ExternalEngine(known[name].command, rules) as engine:
        engine.new_game()
        assert engine.think("", [], MoveLimits((clock, clock), margin_s=100.0)).action is not None


def test_an_unknown_or_missing_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"No known engine 'stokfish' plays chess: did you mean 'stockfish'"):
        find_engine("stokfish", make("chess"))
    with pytest.raises(SettingsError, match="No known engine 'gnugo' plays chess"):
        find_engine("gnugo", make("chess"))
    missing = KnownEngine("its-package", ("chess",), EngineCommand(("no-such-engine",), "uci"))
    monkeypatch.setattr(known_engines_file, "KNOWN_ENGINES", (missing,))
    message = "no-such-engine is not installed. On Debian and Ubuntu, `sudo apt-get install its-package` installs"
    with pytest.raises(SettingsError, match=message):
        find_engine("no-such-engine", make("chess"))


def test_a_name_means_one_engine_a_game() -> None:
    for name in {name for engine in KNOWN_ENGINES for name in engine.games}:
        names = [engine.name for engine in KNOWN_ENGINES if name in engine.games]
        assert len(set(names)) == len(names)
        make(name)
