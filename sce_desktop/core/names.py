"""Names that the files of projects can have, and names that are each to occur once."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _

MOST_NAME: Final = 200
"""Bytes of a new project's name: what is made of it for files beside it fits into `LONGEST_NAME` then."""
LONGEST_NAME: Final = 255


def check_name(path: Path, *, most: int = MOST_NAME) -> None:
    """Refuse a name that is no text, or that is too long with what is added to it for files beside it.

    Raises:
        UserError: It is.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise UserError(
            _("The file name {name} is not valid UTF-8: choose another name.", name=shown)
        ) from None
    if len(os.fsencode(path.name)) > most:
        raise UserError(
            _("The name {name}… is too long for a project: choose a shorter one.", name=path.name[:40])
        )


def numbered(names: Iterable[str], reserved: Collection[str] = ()) -> list[str]:
    """Return ``names`` with a number behind those that occurred before: "a", "a_2", "a_3".

    None becomes one of ``reserved``. Linear in the number of names, whatever they are.
    """
    taken: set[str] = set()
    counts: dict[str, int] = {}
    found = []
    for given in names:
        name, count = given, counts.get(given, 1)
        while name in taken or (count > 1 and name in reserved):
            count += 1
            name = f"{given}_{count}"
        counts[given] = count
        taken.add(name)
        found.append(name)
    return found
