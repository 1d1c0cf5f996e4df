"""What may be written down about a failure: an allow-list, for the log, stderr and crash reports.

Exceptions and messages quote what they are about: a cell, a label, a note. None of that may reach a file that
people send to others. So nothing is searched for texts to take out; only this is let through:

- the words of our own sentences and of our own log lines, which are literals of this program;
- numbers, file names and paths (`pathlib.Path`), and strings that the code vouches for (`Safe`);
- of an exception its type, the places in the code that it came through with their source lines, the name and
  the file of an error of the system, and the code of an error of SQLite, never what it says;
- of other libraries the name of the logger or the kind of the warning, never the message;
- Qt's messages, without what they put in quotation marks.

What people copy into a report names no files either (``files=False``): there paths are "…", too.

Everything else is written as "…". A test sows a marker into every path (tests/e2e/test_private_day.py).
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import traceback
from numbers import Number
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import Message, Safe

HIDDEN: Final = "…"
_OURS: Final = "sce_desktop"
_FILES: Final = frozenset(("path", "file", "folder", "copy"))
"""Placeholders of our sentences that name nothing but files."""
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'|“[^”]*”|‘[^’]*’", re.DOTALL)
_PATH: Final = re.compile(r"\S*[/\\]\S*")
_WARNING: Final = re.compile(r"(?P<path>.*?):(?P<line>\d+): (?P<kind>\w+): ", re.DOTALL)
_MOST_FRAMES: Final = 30  # at each end of a traceback
_PACKAGE_PARENT: Final = Path(__file__).parents[2]


def shown(value: object, *, files: bool = True) -> str:
    """Return ``value`` as far as it may be written down; without ``files`` no path and no file name of it."""
    if isinstance(value, Message):
        allowed = {
            name: str(one) if files and name in _FILES and isinstance(one, str) else shown(one, files=files)
            for name, one in value.values.items()
        }
        with contextlib.suppress(
            LookupError, ValueError, TypeError
        ):  # a placeholder with a format of its own
            return value.template.format(**allowed) if allowed else str.__str__(value)
        return HIDDEN
    if isinstance(value, Safe | Number) or value is None:
        return str(value)
    if isinstance(value, Path):
        return str(value) if files else HIDDEN
    if isinstance(value, BaseException):
        return describe(value, files=files)
    return HIDDEN


def describe(error: BaseException, *, files: bool = True) -> str:
    """Return what may be written down of ``error`` and of what led to it, in one line."""
    return " < ".join(_one(link, files=files) for link in _chain(error))


def trace(error: BaseException, *, files: bool = True) -> str:
    """Return the types and the places in the code of ``error`` and of what led to it, the last one last.

    Without ``files``, errors of the system do not name theirs: for what people copy into a report.
    """
    parts = []
    for link in _chain(error):
        frames = [_place(frame) for frame in traceback.extract_tb(link.__traceback__)]
        if len(frames) > 2 * _MOST_FRAMES:
            frames[_MOST_FRAMES:-_MOST_FRAMES] = [f"  ({len(frames) - 2 * _MOST_FRAMES} more)\n"]
        parts.append(f"{''.join(frames)}{_one(link) if files else type(link).__qualname__}\n")
    return "\nthen\n".join(reversed(parts))


def log_line(record: logging.LogRecord, *, files: bool = True) -> str:
    """Return what may be written down of a log record; its traceback is apart."""
    logger = record.name.partition(".")[0]
    if logger == _OURS:
        return _filled(str(record.msg), record.args, files=files)
    if record.name == "py.warnings":
        found = _WARNING.match(record.getMessage())
        return f"{found['kind']} at {short_path(Path(found['path']))}:{found['line']}" if found else HIDDEN
    if logger == "qt":
        message = _QUOTED.sub(HIDDEN, record.getMessage())
        return message if files else _PATH.sub(HIDDEN, message)
    return HIDDEN


def _filled(template: str, args: Any, *, files: bool) -> str:
    if not args:
        return template
    with contextlib.suppress(TypeError, ValueError, LookupError):
        if isinstance(args, dict):
            return template % {name: _formatted(value, files=files) for name, value in args.items()}
        return template % tuple(_formatted(value, files=files) for value in args)
    return template


def _formatted(value: object, *, files: bool) -> object:
    return value if isinstance(value, Number) else shown(value, files=files)


def _chain(error: BaseException) -> list[BaseException]:
    """``error``, then what led to it."""
    found: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and all(link is not one for one in found):
        found.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return found


def _one(error: BaseException, *, files: bool = True) -> str:
    kind = type(error).__qualname__
    if isinstance(error, UserError):
        said = error.args[0] if error.args else None
        return f"{kind}: {shown(said, files=files)}" if isinstance(said, Message | Safe) else kind
    if isinstance(error, OSError) and error.errno is not None:
        name = errno.errorcode.get(error.errno, str(error.errno))
        named = files and isinstance(error.filename, str | bytes | Path)
        file = f" {os.fsdecode(error.filename)}" if named else ""
        return f"{kind}: {name}{file}"
    cause = getattr(error, "orig", error)  # SQLAlchemy's, which wraps SQLite's
    code = getattr(cause, "sqlite_errorname", None)
    return f"{kind}: {code}" if isinstance(code, str) else kind


def _place(frame: traceback.FrameSummary) -> str:
    return f"  {short_path(Path(frame.filename))}:{frame.lineno} in {frame.name}\n      {frame.line or ''}\n"


def short_path(path: Path) -> str:
    """Return the path only from the package or site-packages on; elsewhere the file's name."""
    with contextlib.suppress(ValueError):
        path = path.relative_to(_PACKAGE_PARENT)
    parts = path.parts
    if "site-packages" in parts:
        parts = parts[parts.index("site-packages") + 1 :]
    elif path.is_absolute():
        parts = parts[-1:]
    return "/".join(parts)
