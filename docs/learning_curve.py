"""Draw a run's learning curve, and print it: `python docs/learning_curve.py runs/demo docs/learning-curve.png`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

from zerosum.games.rules import make
from zerosum.network.checkpoint import list_checkpoints, load_checkpoint
from zerosum.run.config import load_config
from zerosum.run.metrics import read_metrics
from zerosum.run.mistakes import Mistakes, mean_rate
from zerosum.run.strength import Strength, player_name


def main() -> None:
    """Read the run, draw, write."""
    mpl.use("Agg")
    from matplotlib import pyplot

    run = Path(sys.argv[1])
    config = load_config(run / "config.toml")
    game = make(config.game)
    ratings, mistakes = Strength(run, game, config).ratings, Mistakes(run, game, config)
    infos = [load_checkpoint(path).info for path in list_checkpoints(run / "checkpoints")]
    rated = [
        (info.training.get("minutes", 0.0), ratings[player_name(info.step)])
        for info in infos
        if player_name(info.step) in ratings
    ]
    rows = read_metrics(run / "metrics.csv")
    unit = "CPU-minutes" if config.training.clock == "cpu" else "minutes"
    num_parts = 3 if mistakes.rates else 2
    figure, (left, *middle, right) = pyplot.subplots(1, num_parts, figsize=(5 * num_parts, 3.6), layout="constrained")
    minutes, elos = [at for at, _ in rated], [rating.elo for _, rating in rated]
    left.errorbar(minutes, elos, yerr=[rating.error for _, rating in rated], marker="o", capsize=3)
    lines = {"random play": 0.0} | {
        f"pure MCTS, {name.partition('@')[2]} rollouts": rating.elo
        for name, rating in ratings.items()
        if name.startswith("rollouts")
    }
    for text, elo in lines.items():
        left.axhline(elo, color="grey", linewidth=1, linestyle=":")
        place = {
            "xy": (0.99, elo),
            "xycoords": left.get_yaxis_transform(),
            "ha": "right",
            "va": "center",
            "fontsize": 8,
        }
        left.annotate(text, **place, color="grey", bbox={"color": "white", "pad": 1})
    left.set(xlabel=unit, ylabel="Elo (95 % error bars)", title=f"{config.game}: strength of the checkpoints")
    for axes in middle:
        counted = [
            (info.training.get("minutes", 0.0), *mean_rate(rates))
            for info in infos
            if (rates := mistakes.of_step(info.step))
        ]
        at, means, errors = zip(*counted, strict=True)
        axes.errorbar(at, [100 * mean for mean in means], yerr=[100 * error for error in errors], marker="o", capsize=3)
        simulations = mistakes.rates[-1].num_simulations
        axes.set(xlabel=unit, ylabel="% (95 % error bars)", title=f"mistakes at {simulations} simulations")
        axes.set_ylim(bottom=0)
    at = [row.minutes for row in rows if row.policy_loss is not None]
    right.plot(at, [row.policy_loss for row in rows if row.policy_loss is not None], label="policy loss")
    right.plot(
        at, [row.policy_entropy for row in rows if row.policy_loss is not None], label="its floor: the search's entropy"
    )
    right.plot(at, [row.value_error for row in rows if row.policy_loss is not None], label="value error")
    right.set(xlabel=unit, title="what the network still gets wrong")
    right.set_ylim(bottom=0)
    right.legend()
    target = Path(sys.argv[2])
    figure.savefig(target, dpi=100)
    print(f"| {unit} | games | positions | learner step | Elo | mistakes |\n|---|---|---|---|---|---|")
    for info in infos:
        at, rating = info.training.get("minutes", 0.0), ratings.get(player_name(info.step))
        row = next((row for row in rows if row.step >= info.step), rows[-1])
        games, positions = (row.games, row.positions) if info.step else (0, 0)
        elo = f"{rating.elo:+.0f} ± {rating.error:.0f}" if rating else ""
        mean, error = mean_rate(rates) if (rates := mistakes.of_step(info.step)) else (None, None)
        text = "" if mean is None else f"{mean:.1%} ± {error:.1%}"
        print(f"| {at:.1f} | {games:,} | {positions:,} | {info.step:,} | {elo} | {text} |")
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
