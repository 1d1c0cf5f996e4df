"""``paper-data``: the paper's labelled sets from their original downloads."""

from __future__ import annotations

import argparse
from pathlib import Path

from sce_desktop.commands import console, options
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress

DOWNLOADS = (  # what `research.paper_sources` reads, without importing it at every start of the program
    ("bbc_news", ("TRAIN", "TEST"), "files of SetFit/bbc-news: JSON lines with text and label_text"),
    ("huffpost", "FILE", "Kaggle's News_Category_Dataset: JSON lines"),
    ("mind_news", ("TRAIN", "TEST"), "Microsoft's news.tsv, of both parts"),
    ("nyt_sections", "FOLDER", "the Annotated Corpus unpacked: NITF XML files"),
    ("yahoo_answers", "FILE", "yahoo_answers_csv: class, question title, question content, best answer"),
    ("ag_news", "FILE", "ag_news_csv: class, title, description"),
    ("okite_arise_news", "FILE", "okite97/news-data: csv with Title, Excerpt and Category"),
    ("mnds", "FILE", "Zenodo's MN-DS-news-classification.csv"),
)


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(
        commands, "paper-data", "build the paper's labelled sets from the original downloads"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DATA_DIR", help="folder to write the sets to"
    )
    for name, metavar, text in DOWNLOADS:
        option = f"--{name.replace('_', '-')}"
        count = 1 if isinstance(metavar, str) else len(metavar)
        parser.add_argument(option, dest=name, type=Path, nargs=count, metavar=metavar, help=text)
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="random seed of the samples (default: 0)"
    )
    options.add_force(parser, "files")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Write the sets whose downloads were given."""
    from sce_desktop.research.paper_data import prepare_paper_data

    downloads = {name: paths for name, _, _ in DOWNLOADS if (paths := getattr(args, name))}
    if not downloads:
        raise UserError("Give at least one download, such as --huffpost FILE; see paper-data --help.")
    counts = prepare_paper_data(downloads, args.output, seed=args.seed, force=args.force, progress=progress)
    if args.json:
        console.print_json({"sets": counts, "output": args.output})
        return 0
    for name, splits in counts.items():
        print(f"{name}: " + ", ".join(f"{split} {rows:,}" for split, rows in splits.items() if rows))
    return 0
