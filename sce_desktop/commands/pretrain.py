"""``pretrain``: how the default model was made."""

from __future__ import annotations

import argparse
from pathlib import Path

from sce_desktop.commands import options
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "pretrain", "train a model on a folder of labelled sets")
    parser.add_argument("config", type=Path, metavar="CONFIG", help="TOML file with the training settings")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="MODEL_DIR", help="folder of the new model"
    )
    parser.add_argument("--restart", action="store_true", help="start again instead of resuming")
    parser.add_argument(
        "--device",
        default="auto",
        help="device: auto (default), cpu, cuda, cuda:N or cuda:all, which shares every batch among the GPUs",
    )
    options.add_force(parser, "a model folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Train until the end of the configuration, or until stopped; a later call resumes."""
    from sce_desktop.research import pretrain

    pretrain.run(
        args.config,
        args.output,
        device=args.device,
        progress=progress,
        resume=not args.restart,
        force=args.force,
    )
    print(f"The model is in {shown(args.output)}.")
    return 0
