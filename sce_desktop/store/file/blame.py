"""Whether a failure that nobody expects is the fault of the file: of contents that we never write.

What is read is checked where it is read (`rules.records.checked`). Statements that work inside SQLite meet
contents that nothing of ours has looked at, though, and fail in ways that cannot be told from a bug. So when
something fails, the rules are asked.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa

from sce_desktop.core.i18n import _
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.file.failures import error_code
from sce_desktop.store.repair import contents
from sce_desktop.store.repair.stored import Malformed

_SECONDS: Final = 5.0
_STEPS: Final = 100_000  # of SQLite between two looks at the clock
_UNEXPECTED: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    sa.exc.DBAPIError,
    sqlite3.Error,
)
_KNOWN: Final = (Malformed, UnicodeDecodeError)
_OF_THE_DISK: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


@contextlib.contextmanager
def blaming_contents(plain: sqlite3.Connection) -> Iterator[None]:
    """Turn an unexpected failure into `Malformed` if the project that is open breaks a rule; else it stays.

    ``plain`` is in no transaction by then. The rules have a few seconds: a failure of ours must not hang.
    """
    try:
        yield
    except _KNOWN:
        raise
    except _UNEXPECTED as error:
        if error_code(error) in _OF_THE_DISK:  # an older file breaks the present rules until it is updated
            raise
        why = _first_problem(plain)
        if not why:
            raise
        raise Malformed(why.rstrip(".")) from error


def _first_problem(plain: sqlite3.Connection) -> str:
    until = time.thread_time() + _SECONDS  # of this thread: another process may have the processor
    plain.set_progress_handler(lambda: time.thread_time() > until, _STEPS)
    try:
        return next(iter(contents.check_all(plain, SilentProgress())), "")
    except Malformed as error:
        return str(error)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        over = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
        return "" if over else _("its contents cannot be checked")
    finally:
        plain.set_progress_handler(None, 0)
