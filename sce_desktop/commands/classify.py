"""``classify``: a table and labels in, the table with probabilities out."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace

from sce_desktop.commands import console, engines, model_options, number_types, options
from sce_desktop.core.errors import UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(commands, "classify", "predict labels for the rows of a table")
    parser.add_argument(
        "table",
        type=engines.place,
        metavar="TABLE",
        help="CSV, TSV, XLSX, Parquet or JSON Lines; with --engine ray also a folder, a glob or an address",
    )
    options.add_text(parser)
    options.add_labels(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=engines.place,
        required=True,
        metavar="OUT",
        help="file to write; its ending sets the format; an earlier result of the same command is replaced; "
        "with --engine ray a folder of parts, which a later call resumes",
    )
    options.add_force(parser)
    options.add_threshold(parser)
    options.add_final(parser, columns=True)
    parser.add_argument("--multi-label", action="store_true", help="a row may have several labels, or none")
    parser.add_argument(
        "--excel-safe", action="store_true", help="csv, tsv: protect against formulas (CSV injection)"
    )
    model_options.add_models(parser)
    options.add_joint(parser)
    parser.add_argument(
        "--draft",
        action="store_true",
        help="make a draft only: much faster and less accurate; the column sce_source says “draft”",
    )
    parser.add_argument("--batch-size", type=number_types.whole_number(1), metavar="N", help="rows per batch")
    engines.add_engine(parser)
    options.add_table(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def _check_draft(args: argparse.Namespace) -> None:
    """Refuse what a draft is too rough for, and what it cannot do.

    Raises:
        UserError: Options do not go together.
    """
    if not args.draft:
        return
    others = (
        (args.final, "--final"),
        (args.whole_table, "--joint"),
        (args.engine == "ray", "--engine ray"),
    )
    for given, name in others:
        if given:
            raise UserError(f"--draft cannot be combined with {name}: leave one of them out.")


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Classify the table and say how it went."""
    options.check_final(args)
    engines.check(args)
    _check_draft(args)
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.tasks.scoring.classify import BATCH_ROWS, ClassifySettings, classify_table
    from sce_desktop.tasks.scoring.draft import DraftSource
    from sce_desktop.tasks.scoring.final_table import FinalWanted
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL

    final = None
    if args.final:
        final = FinalWanted(args.max_error, args.audit or args.gold, audit=args.audit is not None)
    source, baselines, cache = model_options.open_models(args)
    if args.draft:
        source = DraftSource(source)
    settings = ClassifySettings(
        model=args.model or DEFAULT_MODEL,
        baselines=tuple(baselines),
        threshold=args.threshold,
        multi_label=args.multi_label,
        whole_table=args.whole_table,
        excel_safe=args.excel_safe,
        final=final,
        batch_rows=args.batch_size or BATCH_ROWS,
        draft=args.draft,
    )
    if args.engine == "ray":
        return engines.classify(args, settings, labels, source, cache, table_options, progress)
    with console.if_stopped("Nothing was written."):
        choice = model_options.choose_model(args, labels, table_options, progress)
        model = choice.model if choice else args.model
        report = classify_table(
            args.table,
            args.output,
            replace(settings, model=model),
            text_columns=args.text,
            labels=labels,
            source=source,
            options=table_options,
            force=args.force,
            cache=cache,
            progress=progress,
        )
    if args.json:
        console.print_json(
            {
                **asdict(report),
                "model": model,
                **model_options.choice_facts(choice),
                "warnings": console.warnings(progress),
            }
        )
    else:
        print(
            f"{report.scored:,} of {plural(report.rows, 'row')} classified into "
            f"{plural(len(report.labels), 'label')} in {report.seconds['total']:.1f} s "
            f"({report.skipped_blank:,} without text): {shown(report.output)}"
        )
        if report.final is not None:
            print(options.final_sentence(report.final))
    return 0
