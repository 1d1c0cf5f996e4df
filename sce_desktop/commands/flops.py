"""``flops``: the paper's compute costs, by formula."""

from __future__ import annotations

import argparse

from sce_desktop.commands import options
from sce_desktop.core.progress import Progress


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "flops", "the paper's compute costs, by its formulas")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Print coefficients (m: tokens of a sample) and what an epoch costs."""
    from sce_desktop.core.flops import SAMPLES, paper_costs

    costs = paper_costs()
    if args.json:
        options.print_json(costs)
        return 0
    print(
        f"FLOPs a sample of m tokens, and over the paper's {SAMPLES:,} samples (one multiply-add is one FLOP)"
    )
    for name, cost in costs.items():
        formula = f"{cost['m']:,} m + {cost['m2']:,} m^2" + (
            f" + {cost['const']:,}" if "const" in cost else ""
        )
        over = "epoch" if "epoch" in cost else "once"
        print(f"{name:9} {formula:42} {over}: {cost[over]:.4g}")
    return 0
