"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sce_desktop.core.errors import UserError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacing(path: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and put that in its place at the end.

    On any exception ``path`` stays as it was and nothing is left behind. Raises UserError if the disk is full
    or the place is not to be written to, or if ``path`` exists and ``overwrite`` is False.
    """
    target = path.resolve()  # a link stays a link
    temporary = target.with_name(f".{uuid.uuid4().hex}.partial")
    try:
        _check_place(path, target, overwrite=overwrite)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        os.replace(temporary, target)  # noqa: PTH105 - the name that everybody knows this step by
        _sync_folder(target.parent)
    except OSError as error:
        raise UserError(_refusal(path, error)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _check_place(path: Path, target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise UserError(f"{path} is a folder: give a file name.")
    if not target.parent.is_dir():
        raise UserError(f"There is no folder {target.parent}: create it or choose another.")
    if target.exists() and not overwrite:
        raise UserError(f"{path} exists already: choose another name.")


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
        return f"There is no room for {path}: free some space or choose another disk; nothing was written."
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"{path} may not be written: close it in other programs, or choose another folder."
    return f"{path} could not be written ({error.strerror or error}): choose another place."
