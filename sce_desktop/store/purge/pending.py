"""The note beside a project that something is being deleted for good: whoever is killed goes on by it.

It is there from before the first record goes until the file has been rewritten, and holds numbers alone.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.purging import PurgeScope
from sce_desktop.store.file.placing import sync_folder
from sce_desktop.temporary import temporary_beside

_LOG = logging.getLogger(__name__)
_FORMAT: Final = 1
_MOST_BYTES: Final = 64_000_000
_MOST_ROWS: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Pending:
    """A purge that has begun.

    ``created_at`` names the project, and ``imports`` the last import that there was: rows that came later are
    others, even where they bear the number of one that went.
    """

    created_at: str
    imports: int
    scope: PurgeScope
    copies: bool  # whether copies of the project are to lose the same
    deleted: bool = False  # all of it: what is left to do is to rewrite the file


def note_of(project: Path) -> Path:
    """Return where the note of a project lies; its name is as long as that of the lock."""
    return project.with_name(f".{project.name}.wipe")


def exists(project: Path) -> bool:
    """Whether there is a note, be it readable or not."""
    try:
        return note_of(project).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def write(project: Path, pending: Pending) -> None:
    """Write the note, so that it survives a power cut. OSError where that fails."""
    stored = {
        "format": _FORMAT,
        **asdict(pending),
        "scope": {**asdict(pending.scope), "rows": list(_ranges(pending.scope.rows))},
    }
    note = note_of(project)
    with temporary_beside(note) as aside:
        with aside.open("w", encoding="utf-8") as file:
            json.dump(stored, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(note)
    sync_folder(note.parent)


def read(project: Path) -> Pending | None:
    """Return what is being deleted from a project; None where nothing is, or the note makes no sense."""
    note = note_of(project)
    try:
        if note.stat().st_size > _MOST_BYTES:
            raise ValueError("too large")
        return _parsed(json.loads(note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        _LOG.warning("%s is ignored: %s", note.name, type(error).__name__)
        return None


def remove(project: Path) -> None:
    """Remove the note: nothing is left to do. OSError where that fails."""
    note_of(project).unlink(missing_ok=True)


def _ranges(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    for _, run in itertools.groupby(enumerate(sorted(set(rows))), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        yield numbers[0], numbers[-1]


def _parsed(stored: Any) -> Pending:
    scope = stored["scope"]
    ranges = [(first, last) for first, last in scope["rows"] if _is_number(first) and _is_number(last)]
    labels, annotators = tuple(scope["labels"]), tuple(scope["annotators"])
    total = sum(max(0, last - first + 1) for first, last in ranges)
    if (
        stored["format"] != _FORMAT
        or len(ranges) != len(scope["rows"])
        or total > _MOST_ROWS
        or not all(map(_is_number, (*labels, *annotators, stored["imports"])))
        or not isinstance(stored["created_at"], str)
    ):
        raise ValueError("not a note of ours")
    return Pending(
        created_at=stored["created_at"],
        imports=stored["imports"],
        scope=PurgeScope(
            rows=tuple(itertools.chain.from_iterable(range(a, b + 1) for a, b in ranges)),
            notes=scope["notes"] is True,
            labels=labels,
            annotators=annotators,
        ),
        copies=stored["copies"] is True,
        deleted=stored["deleted"] is True,
    )


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0
