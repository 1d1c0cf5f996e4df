"""``project purge``: delete rows, notes, labels or annotators for good."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from sce_desktop.commands import console, project_file
from sce_desktop.core.progress import Progress
from sce_desktop.core.purging import PurgeScope

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

EXIT_ASKED = 2
"""Nothing was deleted: ``--yes`` was not given."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be chosen."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--rows", type=_ranges, metavar="N", help="rows by their numbers, such as 3,5-9")
    what.add_argument("--where-label", metavar="NAME", help="the rows that you labelled so")
    what.add_argument("--notes", action="store_true", help="all notes")
    what.add_argument(
        "--label", metavar="NAME", help="a label, its annotations and its name, former ones too"
    )
    what.add_argument("--annotator", metavar="NAME", help="another annotator and all of their labels")
    what.add_argument(
        "--history", action="store_true", help="the undo history alone: what was removed undoably until now"
    )
    parser.add_argument(
        "--keep-copies", action="store_true", help="leave the copies of the project as they are"
    )
    parser.add_argument("--yes", action="store_true", help="delete; without it, only what would go is shown")


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Show what goes and, with ``--yes``, delete it."""
    from sce_desktop import paths
    from sce_desktop.controllers.view_state import ViewState
    from sce_desktop.store.project import Project
    from sce_desktop.tasks import purging

    with project_file.open_project(args.project) as project:
        scope = _scope(args, project)
        effect = project.purge_effect(scope)
    lines = [*purging.describe(effect), purging.describe_copies(effect)]
    if not args.yes:
        lines += purging.describe_rest(effect)
        lines.append("Nothing was deleted yet. It cannot be undone: add --yes to delete.")
        _print(args, {"deleted": False, **asdict(effect)}, lines)
        return EXIT_ASKED
    with console.if_stopped("Nothing was deleted."):
        report = Project.purge_file(args.project, scope, with_copies=not args.keep_copies, progress=progress)
    ViewState(paths.settings_file().with_name("places.json")).forget(args.project.resolve())
    with project_file.open_project(args.project) as project:
        project.build_search_index(progress)
    lines += purging.describe_report(report, with_copies=not args.keep_copies)
    facts = {"deleted": True, **asdict(effect), "cleaned": report.cleaned, "remains": report.remains}
    _print(args, facts, lines)
    return 0


def _print(args: argparse.Namespace, facts: dict[str, object], lines: list[str]) -> None:
    if args.json:
        console.print_json(facts)
    else:
        print("\n".join(filter(None, lines)))


def _scope(args: argparse.Namespace, project: Project) -> PurgeScope:
    from sce_desktop.tasks import purging

    if args.rows is not None:
        return PurgeScope(rows=purging.rows_named(project, args.rows))
    if args.where_label is not None:
        return PurgeScope(rows=purging.rows_labelled(project, args.where_label))
    if args.label is not None:
        return PurgeScope(labels=purging.label_ids(project, args.label))
    if args.annotator is not None:
        return PurgeScope(annotators=purging.annotator_ids(project, args.annotator))
    return PurgeScope(notes=args.notes)


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Read numbers and ranges with commas between them; argparse tells what is wrong."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,12})(?:-(\d{1,12}))?", part.strip(), re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise argparse.ArgumentTypeError(f"must be row numbers such as 3,5-9, not {text}")
        found.append((first, last))
    return tuple(found)
