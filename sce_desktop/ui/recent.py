"""The projects that were open lately, with the state they were in. A small file beside the settings."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_MOST = 12


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
        return Path(self.path).is_file()


class RecentProjects:
    """The list, newest first. Losing it is harmless, so failing to read or write it is silent."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> list[RecentProject]:
        """Every project of the list, those whose file is gone too."""
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8"))
            return [RecentProject(**entry) for entry in entries]
        except (OSError, ValueError, TypeError):
            return []

    def remember(self, path: Path, *, rows: int, labelled: int, scored: int) -> None:
        """Put a project in front with its state."""
        entry = RecentProject(str(path.absolute()), time.time(), rows, labelled, scored)
        self._write([entry, *(other for other in self.all() if other.path != entry.path)][:_MOST])

    def forget(self, path: str) -> None:
        """Take a project off the list; its file stays."""
        self._write([other for other in self.all() if other.path != path])

    def _write(self, entries: list[RecentProject]) -> None:
        text = json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=1)
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            aside = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            aside.write_text(text, encoding="utf-8")
            aside.replace(self._file)
