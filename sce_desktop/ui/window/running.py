"""One window a user: a second start gives its file to the window that runs, and ends.

The two talk through a socket of the local machine that only the user may open: a file in the data folder, a
named pipe on Windows. It carries one line of JSON, ``{"open": PATH or null, "token": TEXT}``, and is answered
with ``taken``. Where no such socket can be made, a second start opens a second window.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLockFile, QObject, Qt, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QWidget

from sce_desktop.core.private import make_folder

log = logging.getLogger(__name__)

_WAIT_MS: Final = 10_000
_MOST_BYTES: Final = 64_000
_LONGEST_NAME: Final = 100  # bytes; the systems allow 103 to 107
_TAKEN: Final = b"taken\n"


def server_name(data_folder: Path) -> str:
    """Return the name of the socket of the window that works with ``data_folder``, empty if it has none."""
    if sys.platform == "win32":
        return f"sce-desktop-{hashlib.sha256(str(data_folder).encode()).hexdigest()[:32]}"
    name = str(data_folder / "window.socket")
    return name if len(os.fsencode(name)) <= _LONGEST_NAME else ""


def hand_over(name: str, path: Path | None) -> bool:
    """Ask the window that runs to come to the front, and to open ``path``; return whether it will.

    Waits ten seconds at most: a window that does not answer by then is as good as none.
    """
    if not name:
        return False
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_WAIT_MS):
        return False
    asked = {"open": None if path is None else str(path), "token": os.environ.get("XDG_ACTIVATION_TOKEN", "")}
    socket.write(json.dumps(asked).encode() + b"\n")
    answer = b""
    while len(answer) < len(_TAKEN) and socket.waitForReadyRead(_WAIT_MS):
        answer += bytes(socket.readAll().data())
    socket.disconnectFromServer()
    return answer == _TAKEN


class SecondStarts(QObject):
    """Listens for second starts; while ``accepts`` says no, they open windows of their own.

    ``asked`` carries the file to open, a `Path`, or None when only the window is wanted.
    """

    asked = Signal(object)

    def __init__(self, name: str, accepts: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._accepts = accepts
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        self._lock: QLockFile | None = None
        if not name:
            return
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                make_folder(Path(name).parent)
            # Qt puts a new socket in the place of one that is in use, and the first to end removes it.
            self._lock = QLockFile(f"{name}.lock")
            self._lock.setStaleLockTime(0)  # a window may be open for weeks; one that was killed has none
            if not self._lock.tryLock(0):
                log.info("A second start will open a second window: another one listens")
                return
        if not self._server.listen(name):
            QLocalServer.removeServer(name)  # of a window that was killed: nobody answered there
            if not self._server.listen(name):
                log.info("A second start will open a second window: %s", self._server.errorString())
                self._unlock()

    @property
    def listening(self) -> bool:
        """Whether second starts are heard."""
        return self._server.isListening()

    def close(self) -> None:
        """Hear no more; the socket's file goes."""
        self._server.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.unlock()

    @Slot()
    def _answer(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._take(socket)

    @Slot()
    def _read(self) -> None:
        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._take(socket)

    def _take(self, socket: QLocalSocket) -> None:
        if socket.bytesAvailable() > _MOST_BYTES or not self._accepts():
            socket.abort()
        elif socket.canReadLine():
            try:
                asked = json.loads(bytes(socket.readLine(_MOST_BYTES).data()))
                path, token = asked["open"], asked["token"]
                if not (path is None or (isinstance(path, str) and "\0" not in path)):
                    raise TypeError("open")
            except (ValueError, TypeError, KeyError, RecursionError):
                log.warning("A second start sent what is no request.")
                socket.abort()
                return
            socket.write(_TAKEN)
            socket.flush()
            socket.disconnectFromServer()
            if isinstance(token, str) and token and "\0" not in token:
                os.environ["XDG_ACTIVATION_TOKEN"] = token  # Wayland lets nobody take the front without one
            self.asked.emit(None if path is None else Path(path))


def bring_to_front(window: QWidget) -> None:
    """Show ``window`` above the others, or mark it in the task bar where the system allows no more."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()
