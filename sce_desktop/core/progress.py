"""What a long job tells, and where it asks whether to go on. The terminal and the window adapt this."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """The only thing that a task knows of its watcher."""

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Say that ``done`` of ``total`` units of ``stage`` are finished (total None: unknown)."""

    def warn(self, message: str) -> None:
        """Say in one sentence that something was done otherwise than the user may think."""

    def check(self) -> None:
        """Raise `Cancelled` if the user wants to stop. Called once a batch."""


class SilentProgress:
    """Watches nothing, never cancels; keeps the warnings for whoever wants them."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Keep the message."""
        self.warnings.append(message)

    def check(self) -> None:
        """Never cancel."""
