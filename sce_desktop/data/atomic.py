"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.private import make_file
from sce_desktop.temporary import temporary_beside

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacing(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and put that in its place at the end.

    The temporary path is an empty file that only its owner can read; so is a new ``path``, and one that is
    replaced keeps its mode. On any exception ``path`` stays as it was and nothing is left behind.

    Raises UserError if the disk is full or the place is not to be written to, or if ``path`` exists, then or
    at the end, and ``overwrite`` is False.
    """
    target = path.resolve()  # a link stays a link
    try:
        _check_place(path, target, overwrite=overwrite)
        with temporary_beside(target) as temporary:
            make_file(temporary)
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            _check_place(path, target, overwrite=overwrite)
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            os.replace(temporary, target)  # noqa: PTH105 - the name that everybody knows this step by
        _sync_folder(target.parent)
    except OSError as error:
        raise UserError(_refusal(path, error)) from error


def check_folder(path: Path) -> None:
    """Refuse a file whose folder does not exist, before the work that it is to hold.

    Raises:
        UserError: There is no such folder.
    """
    parent = path.resolve().parent
    if not parent.is_dir():
        raise UserError(_("The folder {parent} does not exist: create it or choose another.", parent=parent))


def _check_place(path: Path, target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise UserError(_("{path} is a folder: give a file name.", path=path))
    check_folder(target)
    if target.exists():
        if not target.is_file():
            raise UserError(_("{path} is not a file that can be replaced: choose another name.", path=path))
        if not overwrite:
            raise UserError(_("{path} already exists: choose another name.", path=path))


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power loss, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refusal(path: Path, error: OSError) -> str:
    if error.errno in _FULL:
        return _(
            "There is no room for {path}: free some space or choose another disk. Nothing was written.",
            path=path,
        )
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return _(
            "{path} cannot be written (permission denied): close it elsewhere or choose another folder.",
            path=path,
        )
    if error.errno == errno.ENAMETOOLONG:
        return _("The name {name}… is too long: choose a shorter one.", name=path.name[:40])
    return _(
        "{path} cannot be written ({reason}): choose another place.",
        path=path,
        reason=error.strerror or error,
    )
