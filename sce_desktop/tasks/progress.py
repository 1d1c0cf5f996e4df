"""Progress of a part, reported to whoever watches the whole."""

from __future__ import annotations

from sce_desktop.core.progress import Progress


class PartProgress:
    """Passes on cancel and warnings; counts ``weight`` units of the whole for each of its own."""

    def __init__(
        self, whole: Progress, *, start: float, total: int | None, stage: str, weight: float = 1.0
    ) -> None:
        self._whole = whole
        self._start = start
        self._weight = weight
        self._total = total
        self._stage = stage

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Say that ``done`` units of this part are finished."""
        self._whole.report(int(self._start + self._weight * done), self._total, stage=self._stage)

    def warn(self, message: str) -> None:
        """Pass the warning on."""
        self._whole.warn(message)

    def check(self) -> None:
        """Raise `Cancelled` if the user wants to stop the whole."""
        self._whole.check()


class Unreported:
    """Passes on cancel and warnings alone: somebody else reports the same work."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Pass the warning on."""
        self._whole.warn(message)

    def check(self) -> None:
        """Raise `Cancelled` if the user wants to stop."""
        self._whole.check()
