"""Which models, and which versions of them, gave a project's predictions: what has to go with a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sce_desktop import __version__
from sce_desktop.core.runs import Run
from sce_desktop.core.text import plural
from sce_desktop.core.versions import ModelVersion
from sce_desktop.data.atomic import replacing
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.models import MAIN_ALIAS

ABOUT_ENDING = ".about.txt"
_BEGINNING = "Written by SCE Desktop"


@one_state
def shown_runs(project: Project) -> list[Run]:
    """Return the runs whose scores are shown and exported, in the order of their columns."""
    aliases = dict.fromkeys([MAIN_ALIAS, *(run.alias for run in project.runs())])
    return [run for run in map(project.active_run, aliases) if run is not None]


def about_run(run: Run, versions: Sequence[ModelVersion]) -> str:
    """Say in a line which model a run is of, and which version: what leads to the same numbers again."""
    version = next((one for one in versions if one.title == run.model), None)
    made = ""
    if version is not None:
        made = (
            f", “{version.name}”, fine-tuned from {version.base} on {plural(version.train_rows, 'row')} "
            f"on {version.created_at[:10]}"
        )
    rows = plural(run.scored, "row")
    return (
        f"{run.alias}: {run.title}{made}; {rows} scored with {plural(len(run.labels), 'label')} from "
        f"{run.created_at[:10]} on; fingerprint {run.fingerprint}"
    )


@one_state
def about(project: Project) -> list[str]:
    """Return the provenance of an exported table, a line each."""
    versions = project.versions()
    runs = shown_runs(project)
    beginning = [f"{_BEGINNING} {__version__}"]  # and no name: the same rows make the same file again
    if not runs:
        return [*beginning, "No model has scored the rows."]
    return [
        *beginning,
        "Models, by the beginning of their columns:",
        *(about_run(run, versions) for run in runs),
    ]


def about_path(table: Path) -> Path:
    """Return the file that names what ``table`` is made of: beside it, under its name and `ABOUT_ENDING`."""
    return table.with_name(table.name + ABOUT_ENDING)


def is_about(path: Path) -> bool:
    """Whether the file at ``path`` was written by `write_about`."""
    with path.open("rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING.encode()


def write_about(table: Path, lines: Sequence[str]) -> Path:
    """Write ``lines`` to `about_path`.

    Raises:
        UserError: The place cannot be written.
    """
    path = about_path(table)
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
