"""Opening the project file that a command names."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sce_desktop.core.errors import UserError

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

P = TypeVar("P", bound="Project")


def open_project(path: Path, *, read_only: bool = False) -> Project:
    """Open a project file.

    Raises:
        UserError: It is missing, damaged, or cannot be written though it is to be.
    """
    from sce_desktop.store.project import Project

    return usable(Project.open(path, read_only=read_only, older=read_only), read_only=read_only)


def usable(project: P, *, read_only: bool) -> P:
    """Return a project that was opened, if it can be written or need not.

    Raises:
        UserError: It cannot be written though it is to be; it is closed.
    """
    if project.finished_purge:
        with contextlib.suppress(OSError):
            print(project.finished_purge, file=sys.stderr, flush=True)
    if project.read_only and not read_only:
        project.close()
        raise UserError(project.read_only_reason)
    return project
