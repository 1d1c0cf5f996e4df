"""``distil``: how the draft of a model is made."""

from __future__ import annotations

import argparse
from pathlib import Path

from sce_desktop.commands import number_types, options
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import size_text


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(
        commands, "distil", "make the static vectors by which a model makes a draft of a large table"
    )
    parser.add_argument(
        "model", type=Path, metavar="MODEL_DIR", help="model folder; the file is written there"
    )
    parser.add_argument(
        "config", type=Path, metavar="CONFIG", help="TOML file of the model's training: its texts are used"
    )
    parser.add_argument(
        "--texts",
        type=number_types.whole_number(100),
        default=60_000,
        metavar="N",
        help="texts that the model reads (default: 60000)",
    )
    parser.add_argument(
        "--width",
        type=number_types.whole_number(8),
        default=192,
        metavar="N",
        help="bytes per token (default: 192)",
    )
    parser.add_argument("--device", default="auto", help="device: auto (default), cpu, cuda or cuda:N")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Make the file and say where it is; what the model has read is kept in the cache of text vectors."""
    from sce_desktop.research.draft.making import distil
    from sce_desktop.settings import Settings
    from sce_desktop.tasks.scoring.models import open_vector_cache

    cache = open_vector_cache(int(Settings.load()["cache_megabytes"]))
    file = distil(
        args.model,
        args.config,
        most_texts=args.texts,
        width=args.width,
        device=args.device,
        cache=cache,
        log=print,
        progress=progress,
    )
    print(f"The draft is in {shown(file)} ({size_text(file.stat().st_size)}).")
    return 0
