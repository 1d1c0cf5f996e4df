"""What the lanes run for the session: thin calls of tasks, imported there and not in the GUI thread.

Importing torch, pandas or SQLAlchemy takes from half a second to many; in the lanes nobody waits for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.progress import Progress
from sce_desktop.core.types import IdArray, Run, TableOptions, TablePreview, VectorCache
from sce_desktop.tasks.models import NamedModel

if TYPE_CHECKING:
    from sce_desktop.ml.session import ModelSession
    from sce_desktop.store.project import ImportReport, Project
    from sce_desktop.store.query import RowQuery
    from sce_desktop.ui.session import ExportChoices, ImportChoices


class ModelShelf:
    """The models that are loaded. Belongs to the model lane: its methods run nowhere else."""

    def __init__(self, *, threads: int, cache_megabytes: int) -> None:
        self._threads = threads
        self._cache_megabytes = cache_megabytes
        self._session: ModelSession | None = None
        self._device = ""
        self._cache: VectorCache | None = None

    def load(
        self, model: str, baselines: tuple[str, ...], device: str, *, progress: Progress
    ) -> list[NamedModel]:
        """Load ``model`` and ``baselines``, unless they are here already; main model first."""
        from sce_desktop.tasks.models import load_models, open_session, parse_baselines

        if self._session is None or device != self._device:
            progress.report(0, None, stage="starting torch")
            self._session = None  # the old device's memory first
            self._session = open_session(device, self._threads)
            self._device = device
        return load_models(self._session, [model], parse_baselines(baselines), progress).models

    @property
    def cache(self) -> VectorCache:
        """The user's text vectors."""
        from sce_desktop.tasks.models import open_vector_cache

        if self._cache is None:
            self._cache = open_vector_cache(self._cache_megabytes)
        return self._cache


def score(
    project: Project,
    shelf: ModelShelf,
    model: str,
    baselines: tuple[str, ...],
    device: str,
    first_ids: IdArray,
    *,
    progress: Progress,
) -> list[Run]:
    """Score the rows of ``project``, ``first_ids`` first."""
    from sce_desktop.tasks.scoring import score_project

    models = shelf.load(model, baselines, device, progress=progress)
    return score_project(project, models, first_ids=first_ids, cache=shelf.cache, progress=progress)


def open_project(path: Path, *, progress: Progress) -> Project:
    """Open the project file at ``path``."""
    from sce_desktop.store.project import Project

    return Project.open(path)


def preview_table(path: Path, options: TableOptions, *, progress: Progress) -> TablePreview:
    """Read the head of the table at ``path``."""
    from sce_desktop.tasks.tables import preview_table

    return preview_table(path, options, progress=progress)


def import_table(choices: ImportChoices, target: Path, *, progress: Progress) -> Project:
    """Make the project ``target`` of a table; nothing is left of it on failure or cancel."""
    from sce_desktop.tasks.tables import import_table

    return import_table(
        target,
        choices.path,
        text_columns=choices.text_columns,
        gold_column=choices.label_column,
        options=choices.options,
        progress=progress,
    )


def append_table(project: Project, choices: ImportChoices, *, progress: Progress) -> ImportReport:
    """Add the rows of a table to ``project``."""
    from sce_desktop.tasks.tables import append_table

    return append_table(project, choices.path, options=choices.options, progress=progress)


def export_table(
    project: Project, choices: ExportChoices, query: RowQuery | None, *, progress: Progress
) -> int:
    """Write rows of ``project`` to a file and return how many."""
    from sce_desktop.tasks.tables import export_table

    return export_table(
        project, choices.path, only=choices.only, excel_safe=choices.excel_safe, progress=progress
    )


def free_path(folder: Path, stem: str) -> Path:
    """A project path in ``folder`` that is not taken yet: "name.sce", else "name 2.sce" and so on."""
    path, number = folder / f"{stem}.sce", 1
    while path.exists():
        number += 1
        path = folder / f"{stem} {number}.sce"
    return path
