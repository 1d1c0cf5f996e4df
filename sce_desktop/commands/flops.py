"""``flops``: the paper's compute costs, by formula."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from sce_desktop.commands import console, options
from sce_desktop.core.progress import Progress


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "flops", "compute costs by the paper's formulas")
    parser.add_argument(
        "model", nargs="?", metavar="NAME_OR_DIR", help="this model's costs instead of the paper's"
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Print coefficients (m: tokens of a sample) and what an epoch costs."""
    if args.model is not None:
        return _of_model(args)
    from sce_desktop.research.flops import SAMPLES, paper_costs

    costs = paper_costs()
    if args.json:
        console.print_json(costs)
        return 0
    print(
        f"FLOPs per sample of m tokens, and over the paper's {SAMPLES:,} samples "
        "(one multiply-add is one FLOP)"
    )
    for name, cost in costs.items():
        over = "epoch" if "epoch" in cost else "once"
        print(f"{name:9} {_formula(cost):42} {over}: {cost[over]:.4g}")
    return 0


def _of_model(args: argparse.Namespace) -> int:
    from sce_desktop.research.costs import model_costs

    costs = model_costs(args.model)
    if args.json:
        console.print_json(costs)
        return 0
    print(f"FLOPs of {args.model} for a sample of m tokens (one multiply-add is one FLOP)")
    for part, cost in costs.items():
        print(f"{part:9} {_formula(cost)}")
    return 0


def _formula(cost: Mapping[str, float]) -> str:
    constant = f" + {cost['const']:,}" if "const" in cost else ""
    return f"{cost['m']:,} m + {cost['m2']:,} m^2{constant}"
