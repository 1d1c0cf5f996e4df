"""``evaluate`` and ``benchmark``: how often models are right, on a table and on the benchmark sets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import options
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress

if TYPE_CHECKING:
    from sce_desktop.core.metrics import Measures

PARTS = ("benchmark", "validation", "train-test", "all")


def add_command(commands: options.Commands) -> None:
    """Add both commands."""
    parser = options.add_parser(
        commands, "evaluate", "measure models on a table whose right labels are known"
    )
    parser.add_argument("table", type=Path, metavar="TABLE", help="csv, tsv, xlsx, parquet or jsonl")
    options.add_text(parser)
    parser.add_argument(
        "--gold", required=True, metavar="COLUMN", help="header of the column of right labels"
    )
    options.add_labels(parser)
    _add_max_rows(parser)
    options.add_models(parser, several=True)
    options.add_table(parser)
    options.add_json(parser)
    parser.set_defaults(run=run_evaluate)

    parser = options.add_parser(commands, "benchmark", "measure models on a folder of labelled sets")
    parser.add_argument(
        "data", type=Path, metavar="DATA_DIR", help="folder with train/, validation/, benchmark/"
    )
    parser.add_argument("--part", choices=PARTS, default="benchmark", help="which sets (default: benchmark)")
    parser.add_argument("--sets", metavar="NAMES", help="only these sets, separated by commas")
    parser.add_argument(
        "--paper-labels", action="store_true", help="the paper's label names and dropped classes"
    )
    parser.add_argument(
        "--balance-labels", action="store_true", help="take away each table's lean towards some labels"
    )
    _add_max_rows(parser)
    options.add_models(parser, several=True)
    options.add_json(parser)
    parser.set_defaults(run=run_benchmark)


def _add_max_rows(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-rows",
        type=options.whole_number(1),
        metavar="N",
        help="a random sample of N rows, the same every time",
    )


def run_evaluate(args: argparse.Namespace, progress: Progress) -> int:
    """Measure on the table and print a line for each model."""
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.tasks.evaluation import evaluate_table

    source, baselines, cache = options.open_models(args)
    report = evaluate_table(
        args.table,
        text_columns=args.text,
        gold_column=args.gold,
        labels=labels,
        source=source,
        models=_models(args),
        baselines=baselines,
        options=table_options,
        max_rows=args.max_rows,
        cache=cache,
        progress=progress,
    )
    if args.json:
        options.print_json(
            {
                "rows": report.rows,
                "skipped": report.skipped,
                "labels": report.labels,
                "models": {name: _as_json(found, report.labels) for name, found in report.models.items()},
                "seconds": report.seconds,
            }
        )
        return 0
    print(f"{report.rows:,} rows, {len(report.labels)} labels")
    width = max(map(len, report.models))
    print(f"{'':{width}}  accuracy (95 % interval)  macro-F1    ECE")
    for name, found in report.models.items():
        low, high = found.accuracy_interval
        print(
            f"{name:{width}}  {found.accuracy:8.1%} ({low:.1%} to {high:.1%})".ljust(width + 28)
            + f"{found.macro_f1:8.1%}  {found.ece:5.3f}"
        )
    return 0


def _models(args: argparse.Namespace) -> list[str]:
    from sce_desktop.tasks.models import DEFAULT_MODEL

    names: list[str] = args.model or [DEFAULT_MODEL]
    if len(set(names)) < len(names):
        raise UserError("A model is given twice: give every --model once.")
    return names


def _as_json(found: Measures, labels: list[str]) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "accuracy_interval": list(found.accuracy_interval),
        "macro_f1": found.macro_f1,
        "ece": found.ece,
        "labels": {
            label: {"rows": one.rows, "precision": one.precision, "recall": one.recall, "f1": one.f1}
            for label, one in zip(labels, found.labels, strict=True)
        },
        "confusion": found.confusion.tolist(),
    }


def run_benchmark(args: argparse.Namespace, progress: Progress) -> int:
    """Measure on the sets and print the table."""
    from sce_desktop.tasks.benchmark import benchmark

    source, baselines, cache = options.open_models(args)
    report = benchmark(
        args.data,
        source=source,
        models=_models(args),
        baselines=baselines,
        part=args.part,
        sets=None if args.sets is None else [name.strip() for name in args.sets.split(",")],
        paper_labels=args.paper_labels,
        max_rows=args.max_rows,
        balance=args.balance_labels,
        cache=cache,
        progress=progress,
    )
    if args.json:
        options.print_json(report.as_json())
        return 0
    print("\n".join(report.as_markdown()))
    return 0
