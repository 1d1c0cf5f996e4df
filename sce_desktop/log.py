"""The rotating log file. Best effort: a log that cannot be written never stops the program."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
from pathlib import Path

from sce_desktop.core.escapes import one_line, shown_lines

_FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s:%(lineno)d %(message)s"
_MAX_BYTES = 1_000_000
_LOG_FILES = 5


class LineFormatter(logging.Formatter):
    """Writes out what acts on a terminal: a log is read there. Lines of a trace stay lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines."""
        return shown_lines(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return its first line."""
        record.message = one_line(record.message)
        return super().formatMessage(record)


def start_log(path: Path) -> None:
    """Send the records of all loggers from INFO up to ``path``; a second call replaces the first.

    What libraries warn of goes there too: on the terminal it would say nothing to whoever reads it.
    """
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, logging.handlers.RotatingFileHandler):
            root.removeHandler(handler)
            handler.close()
    with contextlib.suppress(OSError):
        if path.exists() and not path.is_file():  # a pipe would keep whoever opens it waiting
            raise FileExistsError(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=_MAX_BYTES, backupCount=_LOG_FILES, encoding="utf-8", delay=True
        )
        handler.setFormatter(LineFormatter(_FORMAT))
        root.addHandler(handler)
        root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a full disk must not fill stderr with logging's own traces
    logging.getLogger("httpx").setLevel(logging.WARNING)  # one line a request otherwise
