"""Reports of bugs and of ends that nobody asked for: what happened, where, what to do; kept as files.

    reports = CrashReports(paths.log_dir() / "crashes")
    reports.note(crash)     # at once: the program may not live to the next line
    reports.unread()                        # newest first: what was not shown, of earlier starts too
    reports.mark_read()

A report holds no texts and no file names of the user (`core.scrubbing`). It is what the dialog shows, what is
copied, and what lies in the file.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sce_desktop import state_files
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.diagnostics import versions
from sce_desktop.core.crash_text import Fault, place_in, read_fault
from sce_desktop.core.i18n import N_, Safe, _
from sce_desktop.core.log_tail import newest_lines

log = logging.getLogger(__name__)

_MOST_REPORTS: Final = 10
_LOG_LINES: Final = 30
_UNREAD: Final = ".unread.txt"
_READ: Final = ".txt"
_MEANINGS: Final = {
    "Segmentation fault": N_("A library reached for memory that is not its own."),
    "Bus error": N_("A file in use became shorter, or its drive was removed."),
    "Illegal instruction": N_("A library needs a newer processor."),
    "Aborted": N_("A library gave up."),
    "Floating-point exception": N_("A library divided by zero."),
}
"""What the commonest ends mean."""


@dataclass(frozen=True, slots=True)
class CrashReport:
    """What went wrong, in words that a reader of the report understands.

    Attributes:
        what: One sentence.
        where: A place in the code, empty if nobody knows.
        advice: What to do, one or two sentences.
        details: Stacks, versions and the newest lines of the log.
        ended: Whether the program has ended with it.
    """

    what: str
    where: str
    advice: str
    details: str
    ended: bool = False

    def text(self) -> str:
        """Return the whole report."""
        head = [
            "SCE Desktop crash report",
            f"When: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            f"What: {self.what}",
            f"Where: {self.where or 'unknown'}",
            f"What to do: {self.advice}",
        ]
        return "\n".join((*head, "", self.details, ""))


def report_of_bug(crash: Crash, *, ended: bool = False) -> CrashReport:
    """Describe an exception that nobody expected; ``ended``: it kept the window from starting."""
    if ended:
        what = _("SCE Desktop could not start ({kind}).", kind=Safe(crash.kind))
        advice = _("Start it again. If it fails again, send this report.")
    else:
        what = _("An unexpected error ({kind}) stopped one action.", kind=Safe(crash.kind))
        advice = _("Continue: your project is saved. If it happens again, send this report.")
    return CrashReport(what, place_in(crash.trace), advice, _details(crash.trace, newest_lines()), ended)


def report_of_fault(text: str) -> CrashReport:
    """Describe why the program died the last time, from what Python wrote then."""
    fault = read_fault(text) or Fault("unknown", "", "Python's own account of it cannot be read.")
    meaning = _(_MEANINGS[fault.kind]) if fault.kind in _MEANINGS else ""
    what = _("SCE Desktop ended unexpectedly ({kind}).", kind=Safe(fault.kind))
    return CrashReport(
        " ".join(filter(None, (what, meaning))),
        fault.place,
        _("Your projects are saved: open yours and continue. If it happens again, send this report."),
        _details(fault.stacks, ()),  # the log in memory is of this start, and says nothing of that one
        ended=True,
    )


def _details(stacks: str, lines: Sequence[str]) -> str:
    parts = [stacks.rstrip(), versions()]
    if lines:
        parts.append("\n".join(("Log:", *lines[-_LOG_LINES:])))
    return "\n\n".join(parts)


class CrashReports:
    """The newest reports as files that only the user can read. Best effort: nothing here raises OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, report: CrashReport) -> Path | None:
        """Write a report as not read yet, whole or not at all; older ones than the newest ten go."""
        time = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        path = self.folder / f"crash-{time}{_UNREAD}"
        try:
            state_files.write_text(path, report.text())
            for old in self._all()[_MOST_REPORTS:]:
                old.unlink()
        except OSError as error:
            log.warning("A crash report could not be written: %s", error)
            return None
        return path

    def note(self, crash: Crash) -> None:
        """Write down a bug, in whatever thread it happened."""
        self.write(report_of_bug(crash))

    def unread(self) -> list[Path]:
        """Return the reports that nobody has seen, the newest first."""
        return [path for path in self._all() if path.name.endswith(_UNREAD)]

    def read(self, path: Path) -> str:
        """Return the text of a report, empty if it cannot be read."""
        try:
            return state_files.read_text(path) or ""
        except state_files.MalformedError:
            return ""

    def mark_read(self) -> None:
        """Note that the reports were shown."""
        for path in self.unread():
            try:
                path.rename(path.with_name(path.name.removesuffix(_UNREAD) + _READ))
            except OSError as error:
                log.warning("A crash report could not be renamed: %s", error)

    def _all(self) -> list[Path]:
        try:
            found = [path for path in self.folder.glob("crash-*.txt") if path.is_file()]
        except OSError:
            return []
        return sorted(found, key=lambda path: path.name, reverse=True)
