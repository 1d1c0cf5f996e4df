"""``project info``: what a project holds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import (
    console,
    project_file,
)
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is in the project."""
    with project_file.open_project(args.project, read_only=True) as project:
        facts = facts_of(project)
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
    console.print_result(args, facts, "\n".join(lines))
    return 0


def facts_of(project: Project) -> dict[str, Any]:
    """Return what ``--json`` says of a project."""
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
