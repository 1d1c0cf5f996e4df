"""``project``: create, fill, score, inspect, export, copy and repair a project file."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import (
    console,
    model_options,
    options,
    project_file,
    project_finetune,
    project_info,
    project_purge,
    project_score,
    project_work,
)
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.exchange import Exchange
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

EXIT_PROBLEMS = 2


def add_command(commands: options.Commands) -> None:
    """Add ``project`` and what can be done with one."""
    parser = options.add_parser(commands, "project", "create, score and export a project file")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = _add(actions, "create", "create a project from a table", create)
    action.add_argument("table", type=Path, metavar="TABLE", help="CSV, TSV, XLSX, Parquet or JSON Lines")
    options.add_text(action)
    action.add_argument("--gold", metavar="COLUMN", help="header of a column of labels")
    action.add_argument(
        "--gold-as",
        choices=("annotations", "gold"),
        default="annotations",
        help="import them as your annotations (default), or as gold labels for evaluation",
    )
    options.add_lists(action)
    options.add_merge(action)
    options.add_labels(action)
    action.add_argument("--multi-label", action="store_true", help="a row may have several labels, or none")
    options.add_force(action)
    options.add_table(action)

    action = _add(actions, "add", "add the rows of a table with the same columns", add)
    action.add_argument("table", type=Path, metavar="TABLE", help="CSV, TSV, XLSX, Parquet or JSON Lines")
    options.add_table(action)

    action = _add(actions, "score", "score the rows that have no score yet", project_score.run)
    options.add_labels(action)
    model_options.add_models(action)
    options.add_joint(action, kept=True)

    action = _add(actions, "finetune", "fine-tune the model on the project's labels", project_finetune.run)
    project_finetune.add_options(action)

    work = project_work
    work.add_use(_add(actions, "use", "score with a version, or with the base model, from now on", work.use))
    work.add_evaluate(_add(actions, "evaluate", "measure the models on the project's labels", work.evaluate))
    work.add_label(_add(actions, "label", "label the rows that a table names", work.label))
    work.add_findings(_add(actions, "findings", "estimate the share of every label", work.findings))
    work.add_queue(_add(actions, "queue", "list the rows to label next", work.queue))

    _add(actions, "info", "show what the project contains", project_info.run)

    action = _add(actions, "export", "write the rows to a table", export)
    action.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT",
        help="file to write; its ending sets the format; an earlier export of the project is replaced",
    )
    options.add_force(action)
    action.add_argument(
        "--only",
        choices=("all", "labelled", "unlabelled", "flagged"),
        default="all",
        help="rows to export (default: all); labelled includes rows marked as none of these",
    )
    action.add_argument(
        "--format",
        choices=[str(kind) for kind in Exchange],
        help="write a file of another annotation tool, instead of a table",
    )
    options.add_threshold(action, default="the project's own")
    options.add_final(action)
    action.add_argument(
        "--excel-safe", action="store_true", help="csv, tsv: protect against formulas (CSV injection)"
    )

    action.add_argument(
        "--note",
        action="store_true",
        help="write a provenance file, OUT.about.txt (XLSX and Parquet hold it themselves)",
    )

    action = _add(actions, "backup", "copy the project, even while it is in use", backup)
    action.add_argument("copy", type=Path, metavar="COPY", help="file to write")
    options.add_force(action)
    action = _add(actions, "purge", "delete rows, notes, labels or annotators for good", project_purge.run)
    project_purge.add_options(action)
    _add(actions, "verify", "check the project for damage", verify)
    action = _add(actions, "repair", "rescue readable data into a new project", repair)
    action.add_argument("copy", type=Path, metavar="COPY", help="file to write")
    options.add_force(action)


def _add(actions: options.Commands, name: str, help: str, run: Any) -> argparse.ArgumentParser:
    parser = options.add_parser(actions, name, help)
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project file")
    options.add_json(parser)
    parser.set_defaults(run=run)
    return parser


def create(args: argparse.Namespace, progress: Progress) -> int:
    """Import the table, then build the search index."""
    labels = options.given_labels(args, progress)
    table_options = options.table_options(args)

    from sce_desktop.tasks.insight.labels import report_unmerged
    from sce_desktop.tasks.tables.replaceable import check_output
    from sce_desktop.tasks.tables.tables import import_table

    replace = check_output(args.project, force=args.force)
    with console.if_stopped("No project was created."):
        project = import_table(
            args.project,
            args.table,
            text_columns=args.text,
            gold_column=args.gold,
            as_gold=args.gold_as == "gold",
            labels=labels or (),
            multi_label=args.multi_label,
            lists=args.lists,
            merge=args.merge_labels,
            options=table_options,
            overwrite=replace,
            progress=progress,
        )
    with project:
        label_set = project.label_set()
        report_unmerged((label.name for label in label_set.labels) if label_set else (), progress)
        _index(project, progress, "The project was created")
        console.print_result(
            args,
            project_info.facts_of(project),
            f"{shown(args.project)}: {plural(project.row_count(), 'row')}.",
        )
    return 0


def add(args: argparse.Namespace, progress: Progress) -> int:
    """Append the table's rows."""
    table_options = options.table_options(args)

    from sce_desktop.tasks.tables.tables import append_table

    with project_file.open_project(args.project) as project:
        with console.if_stopped("No row was added."):
            report = append_table(project, args.table, options=table_options, progress=progress)
        _index(project, progress, "The rows were added")
        facts = {**project_info.facts_of(project), "added": report.rows}
        console.print_result(
            args,
            facts,
            f"{plural(report.rows, 'row')} added; {shown(args.project)} has {project.row_count():,} now.",
        )
    return 0


def _index(project: Project, progress: Progress, done: str) -> None:
    """Build the search index; what is ``done`` stays done where that fails, and is not to be done again."""
    with console.if_stopped(f"{done}; its search index is built when next needed."):
        try:
            project.build_search_index(progress)
        except UserError as error:
            progress.warn(f"{done}. {error}")


def export(args: argparse.Namespace, progress: Progress) -> int:
    """Write rows to a table."""
    options.check_final(args)
    if args.format is not None:
        return _export_exchange(args, progress)
    from sce_desktop.tasks.evaluation.final_labels import final_labels, report
    from sce_desktop.tasks.tables.export import export_table
    from sce_desktop.tasks.tables.replaceable import check_export, check_note

    stopped = console.if_stopped("Nothing was written.")
    with project_file.open_project(args.project, read_only=True) as project, stopped, project.snapshot():
        replace = check_export(project, args.output, force=args.force)
        if args.note:
            check_note(args.output, force=args.force)
        threshold, final = args.threshold, None
        if args.final:
            kept = project.threshold() if threshold is None else threshold
            final = report(final_labels(project), kept, args.max_error)
            threshold = threshold if args.max_error is None else final.threshold
            for note in final.notes:
                progress.warn(note)
        rows = export_table(
            project,
            args.output,
            only=args.only,
            threshold=threshold,
            final=args.final,
            excel_safe=args.excel_safe,
            note=args.note,
            overwrite=replace,
            progress=progress,
        )
    facts: dict[str, Any] = {"rows": rows, "output": args.output}
    text = f"{plural(rows, 'row')} written to {shown(args.output)}."
    if final is not None:
        facts["final"] = asdict(final)
        text = f"{text}\n{options.final_sentence(final)}"
    console.print_result(args, facts, text)
    return 0


def _export_exchange(args: argparse.Namespace, progress: Progress) -> int:
    from sce_desktop.tasks.tables.exchange import check_exchange, export_exchange

    if args.final or args.threshold is not None or args.excel_safe or args.note:
        raise UserError("--format writes a file of its own: leave --final, --threshold and --note out.")
    replace = check_exchange(args.output, args.format, force=args.force)
    stopped = console.if_stopped("Nothing was written.")
    with project_file.open_project(args.project, read_only=True) as project, stopped, project.snapshot():
        rows = export_exchange(
            project, args.output, args.format, only=args.only, overwrite=replace, progress=progress
        )
    facts = {"rows": rows, "output": args.output, "format": args.format}
    what = "Labels" if args.format == Exchange.CODEBOOK else plural(rows, "row")
    console.print_result(args, facts, f"{what} written to {shown(args.output)}.")
    return 0


def backup(args: argparse.Namespace, progress: Progress) -> int:
    """Copy the project."""
    from sce_desktop.tasks.tables.replaceable import check_output

    stopped = console.if_stopped("No copy was made.")
    with project_file.open_project(args.project, read_only=True) as project, stopped:
        replace = check_output(args.copy, force=args.force)
        project.backup(args.copy, progress=progress, overwrite=replace)
    console.print_result(args, {"copy": args.copy}, f"Copied to {shown(args.copy)}.")
    return 0


def verify(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is wrong with the project; the exit code tells too."""
    try:
        with project_file.open_project(args.project, read_only=True) as project:
            problems = project.verify(progress=progress)
    except DamagedProject as error:
        problems = [str(error)]
    console.print_result(
        args,
        {"ok": not problems, "problems": problems},
        "\n".join(problems) or f"{shown(args.project)} has no problems.",
    )
    return EXIT_PROBLEMS if problems else 0


def repair(args: argparse.Namespace, progress: Progress) -> int:
    """Rescue what can be read."""
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.replaceable import check_output

    replace = check_output(args.copy, force=args.force)
    report = Project.repair_file(args.project, args.copy, progress, overwrite=replace)
    text = (
        f"{plural(report.rows, 'row')}, {plural(report.annotations, 'annotation')} and "
        f"{plural(report.scores, 'score')} rescued into {shown(args.copy)}."
    )
    console.print_result(args, {"copy": args.copy, **asdict(report)}, "\n".join([*report.problems, text]))
    return 0
