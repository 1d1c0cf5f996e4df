"""The projects that were open lately, with the state they were in. A small file beside the settings."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from sce_desktop import state_files
from sce_desktop.core.i18n import N_

_MOST = 12
_MOST_NUMBER = 1e12  # of rows, or seconds since the epoch

_UNREADABLE = N_(
    "The list of recent projects could not be read and begins empty; the file is kept as {file}."
)
_PARTLY = N_("Some recent projects could not be read and are not listed; the file is kept as {file}.")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecentProject:
    """A project as it was when it was last open."""

    path: str
    opened_at: float  # seconds since the epoch
    rows: int = 0
    labelled: int = 0
    scored: int = 0

    @property
    def name(self) -> str:
        """What to call it."""
        return Path(self.path).stem

    @property
    def exists(self) -> bool:
        """Whether the file is still there."""
        with contextlib.suppress(OSError, ValueError):  # no path at all
            return Path(self.path).is_file()
        return False


def _entry(stored: object) -> RecentProject | None:
    """The project that was stored; None if it makes no sense, or a newer version has stored it otherwise."""
    if not isinstance(stored, dict) or _is_newer(stored):
        return None
    path, opened_at = stored.get("path"), stored.get("opened_at")
    counts = [stored.get(name, 0) for name in ("rows", "labelled", "scored")]
    if not isinstance(path, str) or type(opened_at) not in (int, float):
        return None
    if not all(type(count) is int and 0 <= count < _MOST_NUMBER for count in counts):
        return None
    return RecentProject(**stored) if abs(opened_at) < _MOST_NUMBER else None  # type: ignore[arg-type]


def _is_newer(stored: object) -> bool:
    """Whether a newer version has stored an entry, which may mean what we cannot know."""
    return isinstance(stored, dict) and not stored.keys() <= {field.name for field in fields(RecentProject)}


class RecentProjects:
    """The list, newest first. Losing it is harmless: failing to read it is logged, to write it silent."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> list[RecentProject]:
        """Every project of the list, those whose file is gone too."""
        try:
            entries = state_files.read_json(self._file, list)
        except state_files.MalformedError as error:
            state_files.set_aside(self._file, _UNREADABLE, error)
            return []
        found = [_entry(entry) for entry in entries or ()]
        kept = [entry for entry in found if entry is not None]
        if None in found:
            _log.warning("%s: what cannot be understood in it is ignored", self._file)
        if any(entry is None and not _is_newer(one) for entry, one in zip(found, entries or (), strict=True)):
            state_files.set_aside(self._file, _PARTLY, "entries that make no sense")
            self._write(kept)
        return kept

    def remember(self, path: Path, *, rows: int, labelled: int, scored: int) -> None:
        """Put a project in front with its state."""
        entry = RecentProject(str(path.absolute()), time.time(), rows, labelled, scored)
        self._write([entry, *(other for other in self.all() if other.path != entry.path)][:_MOST])

    def remember_copy(self, path: Path, copy: Path) -> None:
        """Put the copy of a project in front, with the state that the project was in."""
        of = next((entry for entry in self.all() if entry.path == str(path.absolute())), None)
        if of is None:
            self.remember(copy, rows=0, labelled=0, scored=0)
        else:
            self.remember(copy, rows=of.rows, labelled=of.labelled, scored=of.scored)

    def forget(self, path: str) -> None:
        """Take a project off the list; its file stays."""
        self._write([other for other in self.all() if other.path != path])

    def _write(self, entries: list[RecentProject]) -> None:
        text = json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=1)
        with contextlib.suppress(OSError):
            state_files.write_text(self._file, text)
