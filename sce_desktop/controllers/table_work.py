"""What the workers run for the import and export dialogs and the labels panel; like `controllers.work`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import N_
from sce_desktop.core.languages import Reads
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.tables import TableOptions, TablePreview

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


DOWNLOAD_IN_WINDOW = N_("download it in the Models dialog")


@dataclass(frozen=True, slots=True)
class Look:
    """The head of a table, and where columns of an earlier export of ours begin in it (None: nowhere)."""

    preview: TablePreview
    ours_at: int | None
    gold_like: frozenset[int] = frozenset()  # columns that seem to hold gold labels
    models: Mapping[str, Reads] = field(default_factory=dict)  # what each model that can score reads


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """What can be exported: rows by choice, and columns by where they come from (`columns_to_export`)."""

    rows: Mapping[str, int]
    none: int  # of the labelled ones, decided as none of these
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    delimiter: str
    drafts: int = 0  # rows that have a draft alone
    shown_drafts: int = 0  # rows that are shown, drafts counted in, where there are some


def look(path: Path, options: TableOptions, models: Sequence[str] = (), *, progress: Progress) -> Look:
    """Read the head of the table at ``path``; ``models`` can score it, beside those that are installed."""
    from sce_desktop.tasks.scoring.foreign import reads_by_name
    from sce_desktop.tasks.scoring.models import scoring_models
    from sce_desktop.tasks.tables.round_trip import our_columns
    from sce_desktop.tasks.tables.tables import gold_columns, preview_table

    preview = preview_table(path, options, progress=progress)
    names = dict.fromkeys((*scoring_models(), *models))
    reads = {name: reads_by_name(name) for name in names}
    return Look(preview, our_columns(preview.columns), gold_columns(preview), reads)


def import_room(
    preview: TablePreview, rows: int | None, folder: Path, *, labelled: bool = False
) -> tuple[str, str]:
    """Return (why a table does not fit into ``folder``, what it will take there where that is much).

    ``rows``: how many there are, once they are counted. ``labelled``: a column of labels is imported, too.
    """
    from sce_desktop.tasks.tables.room import import_note, import_obstacle, size_of_preview

    size = size_of_preview(preview)
    if rows is not None:
        size = replace(size, rows=rows)
    obstacle = import_obstacle(size, folder, Path(preview.path).name, labelled=labelled)
    return obstacle, "" if obstacle else import_note(size, folder)


def export_facts(project: Project, query: RowQuery, *, progress: Progress) -> ExportFacts:
    """Find out what can be exported of ``project``; ``query`` says which rows are shown."""
    from sce_desktop.tasks.tables.export import STATES, columns_to_export, rows_to_export

    with project.snapshot():
        states = project.state_counts()
        progress.check()
        return ExportFacts(
            rows={
                **{only: sum(states[state] for state in wanted) for only, wanted in STATES.items()},
                "shown": len(rows_to_export(project, "shown", query)),
            },
            none=states[RowState.NONE],
            columns=tuple(columns_to_export(project)),
            **_draft_facts(project, query),
            delimiter=next((str(d) for r in project.imports() if (d := r.source.get("delimiter"))), ","),
        )


def _draft_facts(project: Project, query: RowQuery) -> dict[str, int]:
    from sce_desktop.tasks.scoring.models import MAIN_ALIAS

    run = project.active_run(MAIN_ALIAS)
    drafts = project.draft_count(run.id) if run is not None else 0
    return {"drafts": drafts, "shown_drafts": len(project.row_ids(query, draft=True)) if drafts else 0}


def read_labels(path: Path, *, progress: Progress) -> list[tuple[Label, int]]:
    """Read a file of labels; the numbers, of rows, are not known and 0."""
    from sce_desktop.tasks.tables.tables import read_labels

    return [(label, 0) for label in read_labels(path)]
