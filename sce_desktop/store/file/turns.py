"""Whose turn it is to write: one after the other, in the order in which they asked."""

from __future__ import annotations

import threading
from types import TracebackType


class Turns:
    """A lock that threads get in the order in which they asked for it.

    `threading.Lock` promises no order: a loop that writes batch after batch could keep a decision waiting.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[object] = []
        self._owner: int | None = None

    @property
    def awaited(self) -> bool:
        """Whether somebody waits behind the one who has the turn."""
        return len(self._waiting) > 1

    def __enter__(self) -> None:
        if self._owner == threading.get_ident():
            raise RuntimeError("this thread is writing to the project already")
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is ticket)
            except BaseException:  # an interrupt must not leave a ticket that nobody calls for
                self._waiting.remove(ticket)
                self._changed.notify_all()
                raise
            self._owner = threading.get_ident()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._owner = None
            del self._waiting[0]
            self._changed.notify_all()
