"""``project``: create, fill, score, inspect, export, copy and repair a project file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import (
    console,
    model_options,
    options,
    project_file,
    project_finetune,
    project_purge,
    project_work,
)
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.escapes import shown
from sce_desktop.core.exchange import Exchange
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import VectorCache
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.scoring.models import NamedModel
    from sce_desktop.tasks.scoring.sample_first import SampleReport

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

    action = _add(actions, "score", "score the rows that have no score yet", score)
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

    _add(actions, "info", "show what the project contains", info)

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
        _print(args, _facts(project), f"{shown(args.project)}: {plural(project.row_count(), 'row')}.")
    return 0


def add(args: argparse.Namespace, progress: Progress) -> int:
    """Append the table's rows."""
    table_options = options.table_options(args)

    from sce_desktop.tasks.tables.tables import append_table

    with _open(args.project) as project:
        with console.if_stopped("No row was added."):
            report = append_table(project, args.table, options=table_options, progress=progress)
        _index(project, progress, "The rows were added")
        facts = {**_facts(project), "added": report.rows}
        _print(
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


def score(args: argparse.Namespace, progress: Progress) -> int:
    """Score what has no score yet, after taking new labels if there are some.

    Without ``--model`` the project's model version in use does it, else the model that the project keeps,
    else the one that its languages ask for, which it keeps from then on.
    """
    labels = options.given_labels(args, progress)

    from sce_desktop.tasks.scoring.choice import choose_for_project
    from sce_desktop.tasks.scoring.foreign import report_foreign_rows
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, load_models
    from sce_desktop.tasks.scoring.scoring import score_project
    from sce_desktop.tasks.training.version_models import project_models

    with _open(args.project) as project:
        source, baselines, cache = model_options.open_models(args)
        choice = None
        kept = project.model()
        if not args.model and not kept.name and project.active_version() is None:
            choice = choose_for_project(project, labels)
            model_options.report_choice(choice, progress)
        name = args.model or kept.name or (choice.model if choice else DEFAULT_MODEL)
        if args.model:
            loaded = load_models(source, [name], baselines, progress)
        else:
            loaded = project_models(project, source, name, baselines, progress)
        if args.model or choice:
            project.use_model(name, chosen=bool(args.model))
        report_foreign_rows(loaded.models[0], project, progress, labels)
        loaded.models[0] = _in_table(args, project, loaded.models[0], labels, cache, progress)
        samples: list[SampleReport] = []

        def hear(found: SampleReport) -> None:
            samples.append(found)
            console.say(found.sentence(background=False), progress)

        with console.if_stopped("Rows already scored keep their scores. Run score again to continue."):
            runs = score_project(
                project,
                loaded.models,
                labels=labels,
                cache=cache,
                on_sample=hear,
                progress=progress,
            )
        scored = {run.alias: run.scored for run in runs}
        text = ", ".join(f"{plural(number, 'row')} by {shown(alias)}" for alias, number in scored.items())
        warned = console.warnings(progress)
        found = model_options.choice_facts(choice)
        facts = {
            **_facts(project),
            **found,
            **({"sample": _sample_facts(samples[0])} if samples else {}),
            **({"warnings": warned} if warned else {}),  # else what info says
        }
        _print(args, facts, f"{shown(args.project)}: scored {text}.")
    return 0


def _sample_facts(sample: SampleReport) -> dict[str, Any]:
    return {
        "rows": sample.rows,
        "shares": dict(sample.shares),
        "disagree": {sample.beside: sample.disagree} if sample.beside else {},
        "seconds_left": sample.seconds_left,
    }


def _in_table(
    args: argparse.Namespace,
    project: Project,
    named: NamedModel,
    labels: Sequence[Label] | None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model as it scores ``project``: knowing its rows if that is asked for now, or was before."""
    from sce_desktop.tasks.scoring.joint import fit_transductive_to_project, joint_wanted
    from sce_desktop.tasks.scoring.models import labels_for

    label_set = project.label_set()
    labels = labels_for(named.model, labels or (label_set.labels if label_set else ()))  # or nothing is kept
    if args.whole_table or (args.whole_table is None and joint_wanted(project, named.model.kind, labels)):
        named = fit_transductive_to_project(named, project, labels, cache=cache, progress=progress)
    if args.whole_table is not None:
        project.use_whole_table(args.whole_table)
    return named


def info(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is in the project."""
    with _open(args.project, read_only=True) as project:
        facts = _facts(project)
    lines = [
        f"{shown(facts['name'])}: {plural(facts['rows'], 'row')} ({facts['blank']:,} without text, "
        f"{facts['duplicates']:,} repeated), text from {console.quoted(facts['text_columns'])}",
        f"labels: {console.quoted(facts['labels']) or 'none yet'}",
        f"joint prediction: {'on' if facts['whole_table'] else 'off'}",
        "annotated: " + ", ".join(f"{number:,} {state}" for state, number in facts["decided"].items()),
    ]
    lines += [
        f"annotations of {shown(name)}: {plural(rows, 'row')}" for name, rows in facts["coders"].items()
    ]
    lines += [
        f"{shown(version['name'])} of {shown(version['base'])}: {plural(version['train_rows'], 'row')}"
        + (", in use" if version["active"] else "")
        for version in facts["versions"]
    ]
    lines += [
        f"scored by {shown(run['alias'])} ({shown(run['model'])}): {plural(run['scored'], 'row')}, "
        + plural(len(run["labels"]), "label")
        + ("" if run["active"] else ", not shown")
        for run in facts["runs"]
    ]
    _print(args, facts, "\n".join(lines))
    return 0


def export(args: argparse.Namespace, progress: Progress) -> int:
    """Write rows to a table."""
    options.check_final(args)
    if args.format is not None:
        return _export_exchange(args, progress)
    from sce_desktop.tasks.evaluation.final_labels import final_labels, report
    from sce_desktop.tasks.tables.export import export_table
    from sce_desktop.tasks.tables.replaceable import check_export, check_note

    stopped = console.if_stopped("Nothing was written.")
    with _open(args.project, read_only=True) as project, stopped, project.snapshot():
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
    _print(args, facts, text)
    return 0


def _export_exchange(args: argparse.Namespace, progress: Progress) -> int:
    from sce_desktop.tasks.tables.exchange import check_exchange, export_exchange

    if args.final or args.threshold is not None or args.excel_safe or args.note:
        raise UserError("--format writes a file of its own: leave --final, --threshold and --note out.")
    replace = check_exchange(args.output, args.format, force=args.force)
    stopped = console.if_stopped("Nothing was written.")
    with _open(args.project, read_only=True) as project, stopped, project.snapshot():
        rows = export_exchange(
            project, args.output, args.format, only=args.only, overwrite=replace, progress=progress
        )
    facts = {"rows": rows, "output": args.output, "format": args.format}
    what = "Labels" if args.format == Exchange.CODEBOOK else plural(rows, "row")
    _print(args, facts, f"{what} written to {shown(args.output)}.")
    return 0


def backup(args: argparse.Namespace, progress: Progress) -> int:
    """Copy the project."""
    from sce_desktop.tasks.tables.replaceable import check_output

    stopped = console.if_stopped("No copy was made.")
    with _open(args.project, read_only=True) as project, stopped:
        replace = check_output(args.copy, force=args.force)
        project.backup(args.copy, progress=progress, overwrite=replace)
    _print(args, {"copy": args.copy}, f"Copied to {shown(args.copy)}.")
    return 0


def verify(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is wrong with the project; the exit code tells too."""
    try:
        with _open(args.project, read_only=True) as project:
            problems = project.verify(progress=progress)
    except DamagedProject as error:
        problems = [str(error)]
    _print(
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
    _print(args, {"copy": args.copy, **asdict(report)}, "\n".join([*report.problems, text]))
    return 0


def _open(path: Path, *, read_only: bool = False) -> Project:
    return project_file.open_project(path, read_only=read_only)


def _facts(project: Project) -> dict[str, Any]:
    with project.snapshot():
        return _read_facts(project)


def _session_facts(project: Project) -> dict[str, Any]:
    """Return what the user labelled by hand, how fast, and how many repeated rows got the same label."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.insight.sessions import figures, self_agreement

    found = figures(project, SilentProgress())
    own = self_agreement(project, SilentProgress())
    return {
        "labelled_today": found.today,
        "labelled_in_session": found.session,
        "median_seconds": found.median_seconds,
        "rows_an_hour": found.rows_an_hour,
        "repeats": own.rows,
        "repeats_agree": own.agreement.same if own.rows else None,
        "kappa": own.agreement.kappa,
    }


def _read_facts(project: Project) -> dict[str, Any]:
    from sce_desktop.core.query import RowState
    from sce_desktop.tasks.scoring.joint import joint_wanted

    counts = project.state_counts()
    decided = (RowState.LABELLED, RowState.NONE, RowState.SKIPPED)
    label_set = project.label_set()
    active = {run.id for run in map(project.active_run, {run.alias for run in project.runs()}) if run}
    return {
        "path": project.path,
        "name": project.name,
        "rows": project.row_count(),
        "blank": project.blank_count(),
        "duplicates": project.duplicate_count(),
        "columns": list(project.columns),
        "text_columns": [project.columns[place] for place in project.text_columns],
        "labels": [label.name for label in label_set.labels] if label_set else [],
        "model": project.model().name or None,
        "multi_label": label_set is not None and label_set.multi_label,
        "whole_table": joint_wanted(project),
        "coders": {coder.name: coder.rows for coder in project.coders()},
        "session": _session_facts(project),
        "decided": {state.value: counts[state] for state in decided},
        "runs": [
            {
                "alias": run.alias,
                "model": run.title,
                "whole_table": run.whole_table,
                "scored": run.scored,
                "finished": run.finished_at is not None,
                "active": run.id in active,
                "labels": list(run.label_names),
            }
            for run in project.runs()
        ],
        "versions": [
            {
                "number": version.number,
                "name": version.name,
                "base": version.base,
                "train_rows": version.train_rows,
                "created_at": version.created_at,
                "active": version.active,
            }
            for version in project.versions()
        ],
    }


def _print(args: argparse.Namespace, facts: dict[str, Any], text: str) -> None:
    if args.json:
        console.print_json(facts)
    else:
        print(text)
