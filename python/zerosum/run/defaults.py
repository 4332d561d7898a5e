"""Default settings of a new run: they follow from the game's size, the budget and the machine.

Measurements are in docs/log.md: Connect Four, 7x7 and 9x9 Go, chess.
"""

from __future__ import annotations

from typing import Any

from zerosum.games import Rules, measure_game
from zerosum.games.rules import has_owners, names_planes
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.evaluators.device import num_devices, uses_gpu
from zerosum.network.part_of_planes import BOARD_PLANE
from zerosum.network.weights import num_operations
from zerosum.run.gpu_defaults import gpu_settings, learner_settings
from zerosum.search.config import natural_noise_alpha
from zerosum.selfplay import SelfplayConfig

CACHED_POSITIONS = 1 << 16
"""Evaluations in the cache of each self-play worker."""
LONGEST_OPENED_GAME = 80
"""Longest mean length of random games, in plies, at which self-play opens games with random moves by default."""
LONG_GAMES_OPENING_PLIES = 10
"""Largest number of random opening moves in longer games, where games begin with them."""
OWNERS_OPENING_SHARE = 0.3
"""Share of games that begin with random moves in games whose squares have owners (7x7 Go, docs/log.md)."""
PAPER_TEMPERATURE_PLIES = 30
"""Plies after which the paper's pseudocode stops drawing moves at random, in all of its games."""
OWNERS_TEMPERATURE_PLIES_PER_LINE = 1.75
"""Plies with drawn moves for each line of the board in games whose squares have owners: 12 on 7x7 (docs/log.md)."""
MOST_SIMULATIONS = 200
"""Maximum number of simulations of a full search."""
FILTERS = {32: 0, 48: 0, 64: 0, 96: 480}
"""Numbers of filters on a CPU, each with the least CPU-minutes for it (not measured)."""
LEAST_POSITIONS = 80_000
"""Positions that a budget should pay for before a network gets more filters. In 9x9 Go, 4x48 was stronger than 6x64 by
199 Elo when 6x64 had learned from 23,000 positions, and by 83 Elo at some 37,000 (docs/log.md)."""
OWNERS_SEARCH = {"c_init": 1.1, "unvisited_reduction": 0.3}
"""Narrower than in other games, about as in KataGo; minishogi loses by narrower searches (docs/log.md)."""
ANY_SIZE = {"value_pooling": True, "pooling_interval": 2, "score_head": True}
"""A network of Go on boards of all sizes: none of its weights depends on the size (not measured)."""
OPERATIONS_PER_CPU_SECOND = 150e9
"""Operations of a network in a CPU-second of a training, its learner included, if a simulation costs an evaluation:
144e9 in 9x9 Go with 4x48, 197e9 with 6x64."""


def default_settings(
    game: Rules, *, minutes: float, num_cores: int, num_gpus: int | None = None, num_filters: int | None = None
) -> dict[str, dict[str, Any]]:
    """The default settings for a game's size, a budget and a machine, by section.

    - Blocks: enough to see the whole board. Filters: as many as the budget can train (`_num_filters`).
    - Simulations: about fourteen visits for each legal move of a typical position, from 32 to 200, for which self-play
      has time while the learner is busy.
    - Exploration: as measured in Connect Four, except in Go, where narrower searches are stronger.
    - Temperature: the first half of a typical game, but not longer than in the paper. In Go 1.75 plies for
      each line of the board, which made it stronger.
    - Openings: four games in five begin with random moves, at most 1.4 times the mean length of a random game. Long
      games begin in the initial position, except in Go, where three in ten begin with a few random moves: hundreds
      would lead to positions that no player reaches.
    - Planes: in Go they show chains with few liberties, unless the game is named with planes of its own.
    - Ownership: a game whose squares have owners, Go, is learned with an ownership head.
    - Boards of all sizes: a game with planes for them (`mixedgo`, `go(planes=sized)`) is learned by a network without
      weights of single squares, which also learns the score.
    - On a GPU the network is larger, as are batches; a very large budget has more simulations, too (`gpu_defaults.py`).
      Long games have no cache of evaluations (`default_cache`).

    Args:
        game: The game.
        minutes: The budget.
        num_cores: Cores that work for it; 1 for a budget in CPU-minutes.
        num_gpus: GPUs that work for it; those of this machine if not given.
        num_filters: Filters of the network if that is asked for; the learner's settings on a GPU follow them.
    """
    if num_gpus is None:
        num_gpus = num_devices() if uses_gpu() else 0
    # All that is asked of the rules.
    spec, size, noise_alpha = game.spec, measure_game(game), natural_noise_alpha(game)
    owners, has_own_planes = has_owners(game), names_planes(game)
    adds_liberties = not has_own_planes and any(option.name == "liberties" for option in spec.known_options)
    shape, (height, width) = NetworkShape.of(spec), spec.board_shape
    is_small = height * width <= 16
    num_simulations = int(min(max(14 * size.legal_actions, 32), MOST_SIMULATIONS))
    fast_simulations = max(num_simulations // 5, 8)
    opens = size.plies <= LONGEST_OPENED_GAME
    drawn_plies = OWNERS_TEMPERATURE_PLIES_PER_LINE * height if owners else size.plies / 2
    network = {
        "num_blocks": 2 if is_small else 2 + max(height, width) // 3,
        "policy_head": "planes" if spec.has_action_planes and not is_small else "dense",
        "ownership_head": owners,
        **(ANY_SIZE if spec.planes[0].name == BOARD_PLANE else {}),
    }
    per_position = num_simulations + fast_simulations * (1 / SelfplayConfig().full_search_share - 1)
    chosen_filters, on_gpu = min(FILTERS), dict[str, dict[str, Any]]()
    if num_gpus and not is_small:
        on_gpu = gpu_settings(
            shape,
            network,
            simulations=num_simulations,
            simulations_per_position=per_position,
            seconds=60 * minutes,
            num_cores=num_cores,
            num_gpus=num_gpus,
        )
        if num_filters is not None:
            on_gpu["learner"] = learner_settings(num_filters)
    elif not is_small:
        chosen_filters = _num_filters(shape, network, simulations=per_position, cpu_minutes=minutes * num_cores)
    settings: dict[str, dict[str, Any]] = {
        "training": {"minutes": minutes, "planes": "liberties=3" if adds_liberties else ""},
        "search": {
            "num_simulations": num_simulations,
            "root_noise_alpha": noise_alpha,
            "cache_positions": default_cache(size.plies, on_gpu=num_gpus > 0),
            **(OWNERS_SEARCH if owners else {}),
        },
        "selfplay": {
            "temperature_plies": min(max(2, round(drawn_plies)), PAPER_TEMPERATURE_PLIES),
            "opening_share": 0.8 if opens else OWNERS_OPENING_SHARE if owners else 0.0,
            "opening_plies": max(1, round(1.4 * size.plies)) if opens else LONG_GAMES_OPENING_PLIES,
            "fast_simulations": fast_simulations,
        },
        "network": {**network, "num_filters": chosen_filters},
        "strength": {"opening_plies": 1 if is_small else 2},
    }
    for section, values in on_gpu.items():
        settings[section] = {**settings.get(section, {}), **values}
    return settings


def default_cache(plies: float, *, on_gpu: bool) -> int:
    """Positions in the cache of a self-play worker; none for a game of so many plies, a long one, on a GPU.

    There a worker has so many games that a cache forgets within some plies, while an evaluation costs the CPU hardly
    more than to keep it.
    """
    return 0 if on_gpu and plies > LONGEST_OPENED_GAME else CACHED_POSITIONS


def _num_filters(shape: NetworkShape, network: dict[str, Any], *, simulations: float, cpu_minutes: float) -> int:
    """The largest number of filters with which the budget still records `LEAST_POSITIONS` positions."""
    most_operations = 60 * cpu_minutes * OPERATIONS_PER_CPU_SECOND / (LEAST_POSITIONS * simulations)
    fitting = [
        filters
        for filters, least_minutes in FILTERS.items()
        if cpu_minutes >= least_minutes
        and num_operations(NetworkConfig(**network, num_filters=filters), shape) <= most_operations
    ]
    return max(fitting, default=min(FILTERS))
