"""The newest lines of the log in memory, without texts and file names: for reports that people pass on.

The log on the disk names files, as whoever reads it looks for them. What leaves the machine must not.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sce_desktop.core import scrubbing
from sce_desktop.core.escapes import one_line, shown_lines

_MOST_LINES: Final = 200
_TIMES: Final = "%H:%M:%S"


class LogTail(logging.Handler):
    """Keeps the newest records as lines; may be written from any thread."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._times = logging.Formatter(datefmt=_TIMES)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record; an exception as the places in the code that it came through."""
        time = self._times.formatTime(record, _TIMES)
        line = one_line(scrubbing.log_line(record, files=False))
        text = f"{time} {record.levelname} {record.name}:{record.lineno} {line}"
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text += f"\n{shown_lines(scrubbing.trace(error, files=False))}".rstrip()
        self._lines.append(text)

    def lines(self) -> list[str]:
        """Return what is kept, the oldest first."""
        return list(self._lines)


_TAIL: Final = LogTail()


@contextmanager
def keeping_lines() -> Iterator[LogTail]:
    """Keep the newest lines of all loggers in here, from none on."""
    _TAIL._lines.clear()
    root = logging.getLogger()
    root.addHandler(_TAIL)
    try:
        yield _TAIL
    finally:
        root.removeHandler(_TAIL)


def newest_lines() -> list[str]:
    """Return the lines that were kept, the oldest first; none where nobody asked to keep any."""
    return _TAIL.lines()
