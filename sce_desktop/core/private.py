"""Files and folders that only their owner can read, whatever the umask is.

Two rules (SECURITY.md): what is the program's own (settings, recent projects, log, cache) is always private,
also where an older version or another program made it otherwise. What is the user's (projects, exports,
reports, models) is made private, and keeps the mode that it has where it is there already.

On Windows access follows the folder, and nothing here changes it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FILE: Final = 0o600
FOLDER: Final = 0o700
_OTHERS: Final = 0o077


def make_folder(folder: Path) -> None:
    """Make ``folder`` and those above it that are missing, each private. OSError where that is impossible."""
    missing = [folder]
    while not missing[-1].exists() and missing[-1].parent != missing[-1]:
        missing.append(missing[-1].parent)
    for one in reversed(missing):
        one.mkdir(mode=FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """Open as `open` does, and make what is missing private: ``open(path, "w", opener=opener)``."""
    return os.open(path, flags, FILE)


def make_file(path: Path) -> None:
    """Make an empty private file. FileExistsError if there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 to ``path``, which is made private if it is missing."""
    with open(path, "w", encoding="utf-8", opener=opener) as file:
        file.write(text)


def own_file(path: Path) -> None:
    """Have a private file of the program's own at ``path``, with its folder; what is in it stays."""
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        make_file(path)
    narrow(path)


def narrow(path: Path) -> None:
    """Take the rights of group and others from ``path``; where it is not ours it stays as it is."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)


def narrow_folders(folders: Iterable[Path]) -> None:
    """Make folders of the program's own private that an older version made for everybody to read."""
    for folder in folders:
        if folder.is_dir() and not folder.is_symlink():  # a link was put there on purpose
            narrow(folder)


def narrow_all_in(folder: Path) -> None:
    """Make ``folder`` private with all that is in it."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            narrow(path)


def no_core_dumps() -> None:
    """Keep the system from writing our memory, with the texts in it, to a file if the process dies."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def mode_like(path: Path) -> int:
    """Return the mode for a file beside ``path``: who may use that one may use this; private without it."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o666
    except OSError:
        return FILE
