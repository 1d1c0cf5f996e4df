"""Which projects are being scored on this computer, or paused: a small file beside the settings."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sce_desktop import state_files
from sce_desktop.core.i18n import N_

State = Literal["running", "paused"]

_MOST = 30  # projects
_UNREADABLE = N_(
    "Which projects are being scored could not be read: choose Score to continue; the file is kept as {file}."
)


class Kept(NamedTuple):
    """What is known of one project; ``whole``: the user asked for all rows, also of an LLM."""

    state: State
    whole: bool


class ScoringStates:
    """States by the project's path and ``made``, as another one may lie there later: when it was created.

    Losing them loses no score, so failed writes are silent.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, project: Path, made: str) -> Kept | None:
        """Return what is known of ``project``, None if its scoring is through or was stopped."""
        found = self._read().get(str(project.absolute()))
        if not isinstance(found, dict):
            found = {"state": found}  # by an older version
        if found.get("made", made) != made:
            return None
        state, whole = found.get("state"), found.get("whole")
        if state not in ("running", "paused"):
            return None
        return Kept(state, whole if isinstance(whole, bool) else state == "paused")

    def keep(self, project: Path, kept: Kept | None, made: str) -> None:
        """Remember the state of ``project``."""
        states = self._read()
        before = states.pop(str(project.absolute()), None)
        new = {**kept._asdict(), "made": made} if kept is not None else None
        if new is not None:
            states[str(project.absolute())] = new
        if new != before:
            # `Path.exists` raises where a folder may not be looked into
            there = [one for one in states.items() if os.path.exists(one[0])]  # noqa: PTH110
            newest = dict(there[-_MOST:])
            with contextlib.suppress(OSError):
                state_files.write_text(self._file, json.dumps(newest, ensure_ascii=False, indent=1))

    def _read(self) -> dict[str, Any]:
        try:
            found = state_files.read_json(self._file, dict) or {}
        except state_files.MalformedError as error:
            state_files.set_aside(self._file, _UNREADABLE, error)
            return {}
        return {path: kept for path, kept in found.items() if isinstance(kept, str | dict)}
