"""``labels``: suggest labels for a table whose categories nobody knows yet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import console, model_options, number_types, options
from sce_desktop.core.discovery import MOST_CLUSTERS, MOST_ROWS, SAMPLE_ROWS, Wanted, labels_of
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.discovery import Cluster, Discovery

_SHOWN = 100  # characters of a typical row


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "labels", "suggest labels from clusters of the rows of a table")
    parser.add_argument("table", type=Path, metavar="TABLE", help="CSV, TSV, XLSX, Parquet or JSON Lines")
    options.add_text(parser)
    parser.add_argument(
        "--suggest",
        type=number_types.whole_number(2),
        metavar="N",
        help=f"number of labels, at most {MOST_CLUSTERS} (default: the number with the best silhouette)",
    )
    parser.add_argument(
        "--rows",
        type=number_types.whole_number(1),
        default=SAMPLE_ROWS,
        metavar="N",
        help=f"rows to read, drawn at random (default: {SAMPLE_ROWS}, at most {MOST_ROWS})",
    )
    parser.add_argument(
        "--seed", type=number_types.whole_number(0), default=0, metavar="S", help="random seed"
    )
    options.add_labels(parser)
    parser.add_argument("--multi-label", action="store_true", help="a row may have several of these labels")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="labels file to write: CSV or JSON with descriptions, or TXT; feed it to --labels-file",
    )
    options.add_force(parser)
    model_options.add_models(parser)
    options.add_table(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Suggest labels; with labels given, only for the rows that none of them fits.

    An LLM given as ``--baseline`` chooses among the names too.
    """
    covering = options.given_labels(args, progress)
    table_options = options.table_options(args)
    number_types.check_at_most(args.suggest, MOST_CLUSTERS, "--suggest")
    number_types.check_at_most(args.rows, MOST_ROWS, "--rows")

    from sce_desktop.core.annotations import Label
    from sce_desktop.tasks.insight.discover import discover_table
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, load_models
    from sce_desktop.tasks.tables.replaceable import check_output
    from sce_desktop.tasks.tables.tables import write_labels

    replace = args.output is not None and check_output(args.output, force=args.force)
    source, baselines, cache = model_options.open_models(args)
    llms = [baseline for baseline in baselines if baseline.kind == "llm"]
    with console.if_stopped("Nothing was written."):
        choice = model_options.choose_model(args, covering, table_options, progress)
        model = args.model or (choice.model if choice else DEFAULT_MODEL)
        main, *others = load_models(source, [model], llms[:1], progress).models
        wanted = Wanted(args.suggest, args.rows, args.seed, covering or (), args.multi_label)
        found = discover_table(
            args.table,
            args.text,
            main,
            wanted,
            options=table_options,
            llm=others[0] if others else None,
            cache=cache,
            progress=progress,
        )
    if args.output is not None:
        labels = labels_of(found.clusters, every=True)
        if args.output.suffix.lower() == ".txt":  # has room for names alone
            labels = [Label(label.name) for label in labels]
        write_labels(args.output, tuple(labels), overwrite=replace)
    if args.json:
        console.print_json(
            {
                "rows": found.total,
                "sampled": found.sampled,
                "covered": found.covered,
                "model": model,
                **model_options.choice_facts(choice),
                "labels": [_facts(one, found) for one in found.clusters],
                "output": args.output,
                "warnings": console.warnings(progress),
            }
        )
    else:
        print("\n".join([*_lines(found), *([f"Written to {shown(args.output)}."] if args.output else [])]))
    return 0


def _facts(one: Cluster, found: Discovery) -> dict[str, Any]:
    return {
        "name": one.name,
        "alternatives": list(one.names[1:]),
        **({"llm": one.llm_name} if one.llm_name else {}),
        "rows": one.rows,
        "share": one.rows / found.sampled,
        "examples": [{"row": row.row_id, "text": row.text} for row in one.typical],
    }


def _lines(found: Discovery) -> list[str]:
    lines = [f"{found.sampled:,} of {plural(found.total, 'row')} read, {len(found.clusters)} clusters."]
    if found.covered is not None:
        lines.append(
            f"A label fits {found.covered:,} of them (probability {found.fits_from:.0%} or more); "
            f"no label fits {plural(found.clustered, 'row')}."
        )
    for one in found.clusters:
        llm = f" (LLM: {one.llm_name})" if one.llm_name else ""
        others = f"; or {', '.join(one.names[1:5])}" if one.names[1:] else ""
        lines.append(f"{one.name}{llm}: {plural(one.rows, 'row')}{others}")
        lines += [f"    {' '.join(row.text.split())[:_SHOWN]}" for row in one.typical[:3]]
    return lines
