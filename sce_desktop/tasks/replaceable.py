"""What may be replaced by an output of the same name: an older output of the same kind, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.tasks.carried import our_columns
from sce_desktop.tasks.export import HOLD_ABOUT
from sce_desktop.tasks.provenance import about_path, is_about


def is_export(columns: Sequence[str]) -> bool:
    """Whether a table with ``columns`` was exported from a project."""
    return our_columns(columns) is not None


def check_replaceable(output: Path, ours: Callable[[Sequence[str]], bool], kind: str) -> None:
    """Refuse to replace what no run could bring back. Scripts run again: an older output of ours may go.

    ``ours`` tells by its columns whether a table is one of the ``kind`` that is to be written.
    """
    if not _has_content(output):
        return
    try:
        columns = open_table(output, TableOptions()).columns
    except UserError:  # no table at all
        columns = ()
    if not ours(columns):
        raise _refusal(output, kind)


def check_export(output: Path, *, note: bool) -> None:
    """Refuse to replace what is no export of a project, or, beside it, no note of one.

    Raises:
        UserError: There is another file.
    """
    check_replaceable(output, is_export, "export of a project")
    about = about_path(output)
    if note and output.suffix.lower() not in HOLD_ABOUT and _has_content(about) and not is_about(about):
        raise _refusal(about, "note of an export")


def _has_content(path: Path) -> bool:
    """Whether there is a file that is not empty; what is no file is refused where it is written."""
    return path.is_file() and path.stat().st_size > 0


def _refusal(path: Path, kind: str) -> UserError:
    return UserError(f"{path} is there already and no {kind}: choose another name, or remove it first.")
