"""The rotating log file: holds no text of the user.

Best effort: a log that cannot be written never stops the program.
"""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import sys
import threading
from io import TextIOWrapper
from pathlib import Path

from sce_desktop.core import private, scrubbing
from sce_desktop.core.escapes import one_line, shown_lines

_FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s:%(lineno)d %(message)s"
_MAX_BYTES = 1_000_000
_LOG_FILES = 5
_LEFT_OUT = "This is a bug of SCE Desktop. What the exception says is left out: it may quote your texts."


class LineFormatter(logging.Formatter):
    """Writes out what acts on a terminal: a log is read there. Lines of a trace stay lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines."""
        return shown_lines(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return its first line."""
        record.message = one_line(record.message)
        return super().formatMessage(record)


class ScrubbedFormatter(LineFormatter):
    """Writes no text of the user: see `core.scrubbing` for what is let through."""

    def __init__(self, style: str, times: str | None = None, *, traces: bool = True) -> None:
        super().__init__(style, times)
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of ``record``, with the places in the code of its exception below."""
        line = super().format(
            logging.makeLogRecord(
                {
                    **record.__dict__,
                    "msg": scrubbing.log_line(record),
                    "args": None,
                    "exc_info": None,
                    "exc_text": None,  # of another formatter
                    "stack_info": None,
                }
            )
        )
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not self._traces:
            return line
        return f"{line}\n{shown_lines(scrubbing.trace(error))}".rstrip()


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """A rotating log that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        private.own_file(Path(self.baseFilename))
        return super()._open()


def scrub_crashes() -> None:
    """Let unexpected exceptions end on stderr as in the log, without what they say; leave no core dumps.

    For a process of our own: it changes hooks and limits of the whole process.
    """
    private.no_core_dumps()

    def report(error: BaseException | None) -> None:
        if error is not None and sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"{shown_lines(scrubbing.trace(error))}{_LEFT_OUT}\n")

    sys.excepthook = lambda _kind, error, _trace: report(error)
    threading.excepthook = lambda arguments: report(arguments.exc_value)
    sys.unraisablehook = lambda unraisable: report(unraisable.exc_value)


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
        private.make_folder(path.parent)
        handler = _PrivateFile(
            path, maxBytes=_MAX_BYTES, backupCount=_LOG_FILES, encoding="utf-8", delay=True
        )
        handler.setFormatter(ScrubbedFormatter(_FORMAT))
        root.addHandler(handler)
        root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a full disk must not fill stderr with logging's own traces
    logging.getLogger("httpx").setLevel(logging.WARNING)  # one line a request otherwise
