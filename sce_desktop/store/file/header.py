"""The first bytes of a project file, and what lies beside it: looked at before SQLite is asked.

SQLite obeys whatever journal lies beside a database: it writes what is in there into the file, and deletes
the file that a journal names as the one above it. Ours never name one: no transaction of ours spans files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.i18n import _
from sce_desktop.temporary import COMPANIONS

_MAGIC: Final = b"SQLite format 3\0"
JOURNAL: Final = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Begins each rollback journal, and ends one below another."""
_PAGE_SIZES: Final = {1, *(1 << power for power in range(9, 16))}  # 1 stands for 65536
_HEADER: Final = 100
_MOST_RESERVED: Final = 64


def check_header(path: Path) -> None:
    """Refuse a file whose header says what SQLite, or we, never write.

    Raises:
        DamagedProject: An unknown format, or texts in another encoding than UTF-8.
    """
    with path.open("rb") as file:
        head = file.read(_HEADER)
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        return  # reported by SQLite, or it is the log's turn
    sound = (
        int.from_bytes(head[16:18], "big") in _PAGE_SIZES
        and head[18] in (1, 2)
        and head[19] in (1, 2)
        and head[20] <= _MOST_RESERVED  # bytes of each page; some systems' SQLite keeps a few
        and head[21:24] == b"\x40\x20\x20"
        and _number(head, 44) in (1, 2, 3, 4)  # of the schema; 1 to 3 are those of older SQLite
        and _number(head, 56) == 1  # UTF-8
    )
    if not sound:
        raise DamagedProject(path, _("is damaged (its header says what SCE Desktop never writes)"))


def check_companions(path: Path) -> None:
    """Refuse what lies beside a project under a name that SQLite would use, and cannot be its own.

    Raises:
        UserError: It is a link, a folder or a pipe, or a journal that names a file for SQLite to delete.
    """
    for ending in COMPANIONS:
        file = path.with_name(path.name + ending)
        try:
            found = os.lstat(file)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise UserError(
                _(
                    "{file} is in the way, and is not an ordinary file: move it, then open {name} again.",
                    file=file.name,
                    name=path.name,
                )
            )
        if ending == "-journal" and _names_another(file):
            raise UserError(
                _(
                    "{file} belongs to another program and would make it delete a file: move it, then open "
                    "{name} again.",
                    file=file.name,
                    name=path.name,
                )
            )


def _names_another(journal: Path) -> bool:
    """Return whether a journal has another one above it: its last bytes are those that begin it."""
    with journal.open("rb") as file:
        if file.seek(0, os.SEEK_END) < len(JOURNAL):
            return False
        file.seek(-len(JOURNAL), os.SEEK_END)
        return file.read() == JOURNAL


def _number(head: bytes, at: int) -> int:
    return int.from_bytes(head[at : at + 4], "big")
