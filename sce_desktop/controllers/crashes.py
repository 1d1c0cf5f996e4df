"""Exceptions that nobody expected: caught wherever they come from, logged and shown without user data.

    hooks = CrashHooks(faults_file, note)  # sys, threading, unraisable, Qt messages, faulthandler
    hooks.crashed.connect(show)         # (Crash), in the GUI thread
    hooks.last_fault                    # what killed the program last time, or ""
    hooks.remove()

What an exception says may be a text of the user: neither the log nor what is shown has it (`core.scrubbing`),
and what is shown and copied, a `Crash`, has no file names either. The places in the code are enough.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler

from sce_desktop.core import private, scrubbing
from sce_desktop.core.i18n import Safe, _

log = logging.getLogger(__name__)
_qt_log = logging.getLogger("qt")


@dataclass(frozen=True, slots=True)
class Crash:
    """An unexpected exception: its type and the places in the code, as text. Holds no frames and no data."""

    kind: str
    trace: str

    def __str__(self) -> str:
        return _("SCE Desktop hit a bug ({kind}). The log has the details.", kind=Safe(self.kind))

    @classmethod
    def from_error(cls, error: BaseException) -> Crash:
        """Describe ``error`` and what led to it."""
        return cls(type(error).__qualname__, scrubbing.trace(error, files=False))


class CrashHooks(QObject):
    """Sends everything that would otherwise be lost on stderr to the log and to ``crashed``.

    Made once, by `app`. ``faults_file`` is where Python writes the stacks when the process itself dies; what
    stands there from the last time is in ``last_fault``. ``note`` is called with each crash at once, in the
    thread where it happened: the event loop, through which ``crashed`` comes, may not get that far.
    """

    crashed = Signal(object)  # Crash
    _caught = Signal(object)

    def __init__(
        self,
        faults_file: Path,
        note: Callable[[Crash], object] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._note = note
        self.last_fault = ""
        self._faults: Any = None
        self._caught.connect(self.crashed, Qt.ConnectionType.QueuedConnection)  # hooks run in any thread
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        sys.unraisablehook = self._on_unraisable
        self._qt_before = qInstallMessageHandler(_log_qt_message)
        with contextlib.suppress(OSError):
            private.make_folder(faults_file.parent)
            if faults_file.exists() and not faults_file.is_file():  # a pipe would keep us waiting
                raise FileExistsError(faults_file)
            private.own_file(faults_file)
            if faults_file.exists():
                self.last_fault = faults_file.read_text(encoding="utf-8", errors="replace").strip()
            self._faults = faults_file.open("w", encoding="utf-8")
            faulthandler.enable(self._faults)

    def remove(self) -> None:
        """Restore what was there before."""
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
        qInstallMessageHandler(self._qt_before)
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        log.critical("Unexpected exception", exc_info=(kind, error, trace))
        crash = Crash.from_error(error.with_traceback(trace))
        if self._note is not None:
            self._note(crash)
        self._caught.emit(crash)

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and not issubclass(arguments.exc_type, SystemExit):
            self._on_exception(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        error = unraisable.exc_value
        if error is not None:  # in a destructor: nothing that the user did failed, so the log is enough
            log.error("Exception in a destructor", exc_info=(type(error), error, unraisable.exc_traceback))


_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    _qt_log.log(_LEVELS[kind], "%s: %s", context.category or "default", message)
    if kind is QtMsgType.QtFatalMsg:
        for handler in logging.getLogger().handlers:
            handler.flush()
