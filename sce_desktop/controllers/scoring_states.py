"""Which projects are being scored on this computer, or paused: a small file beside the settings."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Literal

from sce_desktop import state_files
from sce_desktop.core.i18n import N_

State = Literal["running", "paused"]

_MOST = 30  # projects
_UNREADABLE = N_(
    "Which projects are being scored could not be read: choose Score to continue; the file is kept as {file}."
)


class ScoringStates:
    """States by project. Losing them loses no score, so failed writes are silent."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, project: Path) -> State | None:
        """Return the state of ``project``, None if its scoring is through or was stopped."""
        found = self._read().get(str(project.absolute()))
        return found if found in ("running", "paused") else None  # type: ignore[return-value]

    def keep(self, project: Path, state: State | None) -> None:
        """Remember the state of ``project``."""
        states = self._read()
        before = states.pop(str(project.absolute()), None)
        if state is not None:
            states[str(project.absolute())] = state
        if state != before:
            kept = dict(list(states.items())[-_MOST:])
            with contextlib.suppress(OSError):
                state_files.write_text(self._file, json.dumps(kept, ensure_ascii=False, indent=1))

    def _read(self) -> dict[str, str]:
        try:
            found = state_files.read_json(self._file, dict) or {}
        except state_files.MalformedError as error:
            state_files.set_aside(self._file, _UNREADABLE, error)
            return {}
        return {path: state for path, state in found.items() if isinstance(state, str)}
