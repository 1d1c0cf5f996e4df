"""``project use``, ``evaluate``, ``label``, ``findings`` and ``queue``: a project's work without a window."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import console, number_types, options, project_file
from sce_desktop.core.errors import UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.queues import DEFAULT_QUEUE, Queue
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.controllers.findings_work import Answer
    from sce_desktop.core.estimates import Share
    from sce_desktop.project import Project
    from sce_desktop.tasks.evaluation.quality import ModelQuality, Part
    from sce_desktop.tasks.insight.findings import Group


def add_use(parser: argparse.ArgumentParser) -> None:
    """Add what `use` takes."""
    parser.add_argument("version", metavar="VERSION", help="number or name of a version, or base")


def use(args: argparse.Namespace, progress: Progress) -> int:
    """Let scores come from a version, or from the base model."""
    with _open(args.project) as project:
        version = project.use(args.version)
        base = version.base if version is not None else project.model().name
    name = version.name if version is not None else "the base model"
    facts = {
        "number": version.number if version is not None else None,
        "name": version.name if version is not None else None,
        "base": base or None,
    }
    _print(args, facts, f"{shown(args.project)} uses {shown(name)}. Score the rows: project score.")
    return 0


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add what `evaluate` takes."""
    _add_roll_up(parser)


def evaluate(args: argparse.Namespace, progress: Progress) -> int:
    """Measure the models that have scored."""
    with _open(args.project, read_only=True) as project:
        quality = project.evaluate(roll_up=args.roll_up)
    facts = {
        "labels": list(quality.labels),
        "parts": [
            {
                "source": part.source.name.lower(),
                "labelled": part.decided,
                "rows": part.rows,
                "excluded_learned": part.learned,
                "none": part.none,
                "validity": part.validity,
                "notes": list(part.notes),
                "models": {model.alias: _measures(model) for model in part.models},
            }
            for part in quality.parts
        ],
        "waiting": quality.waiting,
        "left_out": [asdict(one) for one in quality.left_out],
        "version": quality.learned_by or None,
        "joint": quality.whole_table,
    }
    lines = [line for part in quality.parts for line in _part_lines(part)]
    if quality.waiting:
        lines.append(f"{plural(quality.waiting, 'row')} of the audit sample still unlabelled.")
    _print(args, facts, "\n".join(lines) or "No row is labelled yet.")
    return 0


def _measures(model: ModelQuality) -> dict[str, Any]:
    found = model.measures
    return {
        "accuracy": found.accuracy,
        "accuracy_interval": list(found.accuracy_interval),
        "macro_f1": found.macro_f1,
        "ece": found.ece,
    }


def _part_lines(part: Part) -> list[str]:
    lines = [f"{part.source.name.capitalize().replace('_', ' ')}: {plural(part.rows, 'row')} measured."]
    for model in part.models:
        found = model.measures
        low, high = found.accuracy_interval
        lines.append(
            f"  {shown(model.alias):14} accuracy {found.accuracy:6.1%} ({low:.1%} to {high:.1%}), "
            f"macro-F1 {found.macro_f1:.3f}, calibration error {found.ece:.3f}"
        )
    return [*lines, *(f"  {sentence}" for sentence in (part.validity, *part.notes) if sentence)]


def add_label(parser: argparse.ArgumentParser) -> None:
    """Add what `label` takes."""
    parser.add_argument("table", type=Path, metavar="TABLE", help="table with a label for each row")
    parser.add_argument(
        "--key",
        default="row",
        metavar="COLUMN",
        help="column that says which row is meant, here and in the project (default: row, the number)",
    )
    parser.add_argument("--own-key", metavar="COLUMN", help="the project's column of keys, if another one")
    parser.add_argument(
        "--column", default="label", metavar="COLUMN", help="column of labels (default: label)"
    )
    parser.add_argument("--new-labels", action="store_true", help="add labels that the project does not have")
    parser.add_argument("--annotator", metavar="NAME", help="keep them as the labels of another annotator")
    options.add_table(parser)


def label(args: argparse.Namespace, progress: Progress) -> int:
    """Label the rows that a table names."""
    table_options = options.table_options(args)
    with _open(args.project) as project, console.if_stopped("No row was labelled."):
        if args.annotator is not None:
            from sce_desktop.tasks.evaluation.annotators import import_annotator

            found = import_annotator(
                project,
                args.table,
                args.key,
                args.column,
                args.annotator,
                progress,
                own_key=args.own_key,
                options=table_options,
            )
            rows = found.coder.rows
            facts: dict[str, Any] = {"annotator": found.coder.name, "rows": rows}
            facts |= {"unknown": found.unknown, "repeated": found.repeated}
            text = f"{plural(rows, 'row')} labelled by {shown(found.coder.name)}."
        else:
            made = project.label_from(
                args.table,
                key=args.key,
                column=args.column,
                own_key=args.own_key,
                new_labels=args.new_labels,
                options=table_options,
                progress=progress,
            )
            facts = {**asdict(made), "new_labels": list(made.new_labels)}
            text = f"{plural(made.rows, 'row')} labelled, {made.relabelled:,} of them relabelled."
            if made.new_labels:
                text = f"{text} New labels: {console.quoted(made.new_labels)}."
    facts["warnings"] = console.warnings(progress)
    _print(args, facts, text)
    return 0


def add_findings(parser: argparse.ArgumentParser) -> None:
    """Add what `findings` takes."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--by", metavar="COLUMN", help="tell rows apart by the values of a column")
    group.add_argument(
        "--over-time", metavar="COLUMN", help="tell rows apart by periods of a column of dates"
    )
    parser.add_argument("--counts", action="store_true", help="numbers of rows instead of shares")
    _add_roll_up(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="report to write, with examples: .xlsx or .html"
    )
    options.add_force(parser)


def findings(args: argparse.Namespace, progress: Progress) -> int:
    """Print the share of every label, and write a report if one is asked for."""
    from sce_desktop.tasks.tables.replaceable import check_output

    if args.output is not None and args.output.suffix.lower() not in (".xlsx", ".html"):
        raise UserError(f"{args.output.name} must end in .xlsx or .html.")
    with _open(args.project, read_only=True) as project:
        replace = args.output is not None and check_output(args.output, force=args.force)
        found = project.findings(
            args.by or args.over_time,
            over_time=args.over_time is not None,
            counts=args.counts,
            roll_up=args.roll_up,
            progress=progress,
        )
        if args.output is not None:
            project.write_findings(found, args.output, overwrite=replace)
    facts = {
        "rows": found.findings.rows,
        "labelled": found.findings.decided,
        "sampled": found.findings.sampled,
        "whole": _shares(found.findings.whole, counts=args.counts),
        "column": found.findings.column or None,
        "groups": [
            {"name": group.name, "rows": group.rows, "shares": _shares(group, counts=args.counts)}
            for group in found.findings.groups
        ],
        "notes": [*found.sentences, *found.notes],
        "output": args.output,
    }
    _print(args, facts, "\n".join(_findings_lines(found, counts=args.counts)))
    return 0


def _shares(group: Group, *, counts: bool) -> dict[str, Any]:
    return {
        one.name: {
            "value": figure.value,
            "interval": list(figure.interval) if figure.interval else None,
            "labelled": one.decided,
            "predicted": one.predicted,
        }
        for place, one in enumerate(group.shares)
        if (figure := group.figure(place, counts=counts)) is not None
    }


def _findings_lines(found: Answer, *, counts: bool) -> list[str]:
    lines = []
    for group in (found.findings.whole, *found.findings.groups):
        lines.append(f"{shown(group.name)}: {plural(group.rows, 'row')}")
        for place, one in enumerate(group.shares):
            lines.append(
                f"  {shown(one.name):30} {_figure(group.figure(place, counts=counts), counts=counts)}"
            )
    return [*lines, *found.sentences, *found.notes]


def _figure(figure: Share, *, counts: bool) -> str:
    def text(value: float) -> str:
        return f"{value:,.0f}" if counts else f"{value:.1%}"

    if figure.interval is None:
        return text(figure.value)
    return f"{text(figure.value)} ({text(figure.interval[0])} to {text(figure.interval[1])})"


def add_queue(parser: argparse.ArgumentParser) -> None:
    """Add what `queue` takes."""
    parser.add_argument(
        "--order",
        choices=[str(one).replace(" ", "-") for one in Queue],
        default=str(DEFAULT_QUEUE),
        help=f"order of the rows (default: {DEFAULT_QUEUE})",
    )
    parser.add_argument(
        "-n", "--rows", type=number_types.whole_number(1), default=20, metavar="N", help="rows (default: 20)"
    )
    options.add_seed(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="table to write, with an empty column for labels: project label reads them",
    )
    options.add_force(parser)


def queue(args: argparse.Namespace, progress: Progress) -> int:
    """Print the rows to label next, or write them to a table."""
    from sce_desktop.tasks.tables.replaceable import check_output

    with _open(args.project, read_only=True) as project:
        replace = args.output is not None and check_output(args.output, force=args.force)
        order = args.order.replace("-", " ")
        ids = project.queue(order, args.rows, seed=args.seed, progress=progress)
        if args.output is not None:
            project.write_queue(args.output, ids, overwrite=replace, progress=progress)
        rows = project.rows(ids)
    facts = {
        "order": order,
        "rows": [{"row": row.id, "text": row.text} for row in rows],
        "output": args.output,
    }
    if args.output is not None:
        text = f"{plural(len(rows), 'row')} written to {shown(args.output)}."
    else:
        lines = [f"{row.id:>8}  {shown(' '.join(row.text.split())[:100])}" for row in rows]
        text = "\n".join(lines) or "No row is left to label."
    _print(args, facts, text)
    return 0


def _add_roll_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--roll-up", action="store_true", help="count labels “Parent > Child” as their parents"
    )


def _open(path: Path, *, read_only: bool = False) -> Project:
    from sce_desktop.project import Project

    return project_file.usable(Project.open(path, read_only=read_only, older=read_only), read_only=read_only)


def _print(args: argparse.Namespace, facts: dict[str, Any], text: str) -> None:
    if args.json:
        console.print_json(facts)
    else:
        print(text)
