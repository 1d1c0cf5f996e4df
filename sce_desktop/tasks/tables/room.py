"""What an import and scoring take on disk, in memory and in time, compared with what is free.

The coefficients are those of projects of random words, 60 to 1,500 characters a text, where a search index
takes most: 1.4 to 2.0 bytes a byte of the table, 1.8 to 2.2 a character for the index.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import Cell, TablePreview
from sce_desktop.core.text import size_text

if TYPE_CHECKING:
    from sce_desktop.data.tables import Table
    from sce_desktop.store.project import Project

PROJECT_PER_BYTE: Final = 1.4
PROJECT_PER_ROW: Final = 90
INDEX_PER_CHARACTER: Final = 2.3
SCORE_PER_LABEL: Final = 4
SCORE_PER_ROW: Final = 40
OUTPUT_PER_LABEL: Final = 12  # characters of a probability in a table
OUTPUT_PER_ROW: Final = 40
ANNOTATION_MEMORY: Final = 400  # bytes of a row's label until the import is finished
LARGE: Final = 1 << 30
"""Bytes on disk from which on an import says what it will take."""
_LABELS: Final = 10  # where it is not known yet how many there will be
_SAMPLE: Final = 1000  # rows
_CELL: Final = 3  # bytes of a cell beside its text


@dataclass(frozen=True, slots=True)
class TableSize:
    """How large a table is, from its beginning: ``row_bytes`` of UTF-8 and ``row_text`` characters a row."""

    rows: int
    row_bytes: float
    row_text: float

    @property
    def project(self) -> int:
        """Bytes of the project without what is made of its rows later."""
        return round(self.rows * (PROJECT_PER_BYTE * self.row_bytes + PROJECT_PER_ROW))

    @property
    def index(self) -> int:
        """Bytes of its search index."""
        return round(self.rows * INDEX_PER_CHARACTER * self.row_text)

    def scores(self, labels: int = _LABELS) -> int:
        """Bytes of the scores of one model."""
        return self.rows * (SCORE_PER_ROW + SCORE_PER_LABEL * labels)

    def output(self, labels: int, models: int = 1) -> int:
        """Bytes of the table with the results of models beside its columns."""
        return round(self.rows * (self.row_bytes + models * (OUTPUT_PER_ROW + OUTPUT_PER_LABEL * labels)))


def size_of(sample: Sequence[Sequence[Cell]], rows: int, text_columns: Sequence[int] = ()) -> TableSize:
    """Return the size of a table of ``rows`` rows of which ``sample`` is the beginning.

    Without ``text_columns`` the longest column counts as the text.
    """
    if not sample:
        return TableSize(rows, 0.0, 0.0)
    lengths = [0] * len(sample[0])
    whole = 0
    for row in sample:
        for place, cell in enumerate(row):
            if cell:
                lengths[place] += len(cell)
                whole += len(cell) if cell.isascii() else len(cell.encode("utf-8", "surrogatepass"))
        whole += _CELL * len(row)
    text = sum(lengths[place] for place in text_columns) if text_columns else max(lengths, default=0)
    return TableSize(rows, whole / len(sample), text / len(sample))


def size_of_preview(preview: TablePreview) -> TableSize:
    """Return the size of the table that ``preview`` is of."""
    return size_of(preview.rows, preview.estimated_rows or len(preview.rows))


def free_disk(folder: Path) -> int | None:
    """Return the bytes that are free where ``folder`` is; None where nothing says so."""
    try:
        return shutil.disk_usage(_existing(folder)).free
    except OSError:
        return None


def _existing(folder: Path) -> Path:
    return next(place for place in _upwards(Path(os.path.abspath(folder))) if place.exists())  # noqa: PTH100


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def import_obstacle(size: TableSize, folder: Path, file: str, *, labelled: bool = False) -> str:
    """Say in a sentence why the table ``file`` cannot become a project in ``folder``; empty if it can.

    ``labelled``: it has a column of labels, which are kept in memory until all rows are there.
    """
    free = free_disk(folder)
    if free is not None and size.project > free:
        return _(
            "{file} would take about {size} as a project, and {free} are free in {folder}: free some space, "
            "or import fewer rows.",
            file=file,
            size=size_text(size.project),
            free=size_text(free),
            folder=folder,
        )
    if labelled and (needed := size.rows * ANNOTATION_MEMORY) > LARGE and needed > (left := _free_memory()):
        return _(
            "The labels of {rows} rows would take about {size} of memory, and {free} are free: import the "
            "table without them, or fewer rows.",
            rows=number(size.rows),
            size=size_text(needed),
            free=size_text(left),
        )
    return ""


def import_note(size: TableSize, folder: Path) -> str:
    """Say in a sentence what the project will take where that is much; empty if it is not."""
    free = free_disk(folder)
    whole = size.project + size.index + size.scores()
    if whole < LARGE and (free is None or 2 * whole < free):
        return ""
    if free is None:
        return _("The project may take up to {size} on disk.", size=size_text(whole))
    return _(
        "The project may take up to {size} on disk ({project} before search and scores). {free} are free.",
        size=size_text(whole),
        project=size_text(size.project),
        free=size_text(free),
    )


def checked_import(
    table: Table, folder: Path, text_columns: Sequence[int], progress: Progress, *, labelled: bool = False
) -> Iterator[Sequence[tuple[Cell, ...]]]:
    """Return the rows of ``table`` in batches, the first of which is read at once to see whether all fit.

    A note says what a large import takes.

    Raises:
        UserError: It does not fit. Nothing has been written.
    """
    batches = table.bulk_batches(progress=progress)
    first: Sequence[tuple[Cell, ...]] = next(batches, [])
    size = size_of(first[:_SAMPLE], max(table.estimated_rows or 0, len(first)), text_columns)
    if obstacle := import_obstacle(size, folder, table.path.name, labelled=labelled):
        raise UserError(obstacle)
    if note := import_note(size, folder):
        progress.warn(note)
    return chain([first], batches) if first else batches


def check_scores(project: Project, labels: int, models: int) -> None:
    """Refuse scores that the disk of ``project`` has no room for.

    Raises:
        UserError: They do not fit. Nothing has been written.
    """
    rows = project.row_count()
    needed, free = models * TableSize(rows, 0.0, 0.0).scores(labels), free_disk(project.path.parent)
    if free is not None and needed > free:
        raise UserError(
            _(
                "The scores of {rows} rows would take about {size}, and {free} are free on the disk of the "
                "project: free some space, or use fewer labels.",
                rows=number(rows),
                size=size_text(needed),
                free=size_text(free),
            )
        )


def check_output(size: TableSize, output: Path, labels: int, models: int, progress: Progress) -> None:
    """Refuse a classified table that its disk has no room for; say how large a large one gets.

    Raises:
        UserError: It does not fit. Nothing has been written.
    """
    needed, free = size.output(labels, models), free_disk(output.parent)
    if free is not None and needed > free:
        raise UserError(
            _(
                "{file} would take about {size}, and {free} are free on its disk: free some space, or "
                "classify fewer rows.",
                file=output.name,
                size=size_text(needed),
                free=size_text(free),
            )
        )
    if needed > LARGE:
        progress.warn(_("{file} will take about {size}.", file=output.name, size=size_text(needed)))


def _free_memory() -> int:
    from sce_desktop.tasks.training.cost import free_memory

    return free_memory()
