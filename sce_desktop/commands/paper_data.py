"""``paper-data``: the paper's labelled sets from their original downloads."""

from __future__ import annotations

import argparse
from pathlib import Path

from sce_desktop.commands import options
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    from sce_desktop.data.paper_sources import SOURCES

    parser = options.add_parser(
        commands, "paper-data", "make the paper's folder of labelled sets from the original downloads"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DATA_DIR", help="where the sets go"
    )
    for name, source in SOURCES.items():
        metavar = ("TRAIN", "TEST") if source.files == 2 else "FILE"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            type=Path,
            nargs=source.files,
            metavar=metavar,
            help=(source.read.__doc__ or "").splitlines()[0].replace("``", ""),
        )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random samples (default: 0)")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Write the sets whose downloads were given."""
    from sce_desktop.data.paper_sources import SOURCES
    from sce_desktop.tasks.paper_data import prepare_paper_data

    downloads = {name: getattr(args, name) for name in SOURCES if getattr(args, name)}
    if not downloads:
        raise UserError("Give at least one download, such as --huffpost FILE; see paper-data --help.")
    counts = prepare_paper_data(downloads, args.output, seed=args.seed, progress=progress)
    if args.json:
        options.print_json({"sets": counts, "output": args.output})
        return 0
    for name, splits in counts.items():
        print(f"{name}: " + ", ".join(f"{split} {rows:,}" for split, rows in splits.items() if rows))
    return 0
