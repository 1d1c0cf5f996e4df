"""Notifications of the system: by D-Bus on Linux, by a tray icon elsewhere, else a mark in the task bar.

On Linux the notification is sent as the desktop's specification says (org.freedesktop.Notifications), from
another thread: a service that does not answer must not stop the window. A newer one takes the place of the
last one, so that they never pile up.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import (
    Q_ARG,
    Q_RETURN_ARG,
    SLOT,
    QMetaObject,
    QObject,
    Qt,
    QThreadPool,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from sce_desktop.controllers.job_notices import Notice
from sce_desktop.core.i18n import _

if TYPE_CHECKING:
    from PySide6.QtDBus import QDBusConnection

_SERVICE: Final = "org.freedesktop.Notifications"
_PLACE: Final = "/org/freedesktop/Notifications"
_TIMEOUT_MS: Final = 2000
_SHOWN_MS: Final = 10_000  # by the tray; a desktop decides for itself


class SystemNotices(QObject):
    """Shows notices for ``window``."""

    chosen = Signal()  # somebody clicked a notification
    sent = Signal(object)  # the desktop took it: its number; 0: it did not
    _answered = Signal(object, object)  # number, Notice: from the thread that asked

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent or window)
        self._window = window
        self._number = 0  # of the notification that is shown, as the desktop counts
        self._listens = False
        self._tray: QSystemTrayIcon | None = None
        self._answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)
        self._put_away = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._put_away.timeout.connect(self._end_tray)

    @Slot(object)
    def show_notice(self, notice: Notice) -> None:
        """Show ``notice`` as well as this system can."""
        bus = _session_bus()
        if bus is None:
            self._show_otherwise(notice)
            return
        if not self._listens:
            slot = SLOT("_on_action(uint,QString)")
            self._listens = bool(bus.connect(_SERVICE, _PLACE, _SERVICE, "ActionInvoked", self, slot))  # type: ignore[call-overload]
        before, answered = self._number, self._answered

        def ask() -> None:
            number = _notify(bus, notice, before)
            with contextlib.suppress(RuntimeError):  # the window has gone meanwhile
                answered.emit(number, notice)

        QThreadPool.globalInstance().start(ask)

    @Slot(object, object)
    def _on_answered(self, number: int, notice: Notice) -> None:
        self._number = number
        if not number:
            self._show_otherwise(notice)
        self.sent.emit(number)

    @Slot("uint", str)
    def _on_action(self, number: int, _key: str) -> None:
        if number == self._number:
            self.chosen.emit()

    # --- where there is no such service --------------------------------------------------------------------

    def _show_otherwise(self, notice: Notice) -> None:
        if not QSystemTrayIcon.isSystemTrayAvailable() or not QSystemTrayIcon.supportsMessages():
            QApplication.alert(self._window)
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(QGuiApplication.windowIcon(), self)
            self._tray.setToolTip(QGuiApplication.applicationDisplayName())
            self._tray.messageClicked.connect(self.chosen)
            self._tray.activated.connect(self.chosen)
        icons = QSystemTrayIcon.MessageIcon
        self._tray.show()  # its messages need it, and it goes with them
        kind = icons.Warning if notice.failed else icons.Information
        self._tray.showMessage(notice.title, notice.body, kind, _SHOWN_MS)
        self._put_away.start()

    @Slot()
    def _end_tray(self) -> None:
        if self._tray is not None:
            self._tray.hide()


def _session_bus() -> QDBusConnection | None:
    """Return the bus on which desktops of Linux listen, None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from PySide6.QtDBus import QDBusConnection
    except ImportError:  # left out of a package
        return None
    bus = QDBusConnection.sessionBus()
    return bus if bus.isConnected() else None


def _notify(bus: QDBusConnection, notice: Notice, before: int) -> int:
    """Ask the desktop to show ``notice`` in place of number ``before``; return its number, 0 if it does not.

    The body may be read as markup there, so it has no names in it; the title is plain.
    """
    from PySide6.QtDBus import QDBusInterface

    service = QDBusInterface(_SERVICE, _PLACE, _SERVICE, bus)
    if not service.isValid():
        return 0
    service.setTimeout(_TIMEOUT_MS)
    arguments: list[Any] = [
        Q_ARG("QString", QGuiApplication.applicationDisplayName()),
        Q_ARG("uint", before),
        Q_ARG("QString", QGuiApplication.desktopFileName()),
        Q_ARG("QString", notice.title),
        Q_ARG("QString", notice.body),
        Q_ARG("QStringList", ["default", _("Show SCE Desktop")]),
        Q_ARG("QVariantMap", {"desktop-entry": QGuiApplication.desktopFileName()}),
        Q_ARG("int", -1),
    ]
    direct = Qt.ConnectionType.DirectConnection
    number = QMetaObject.invokeMethod(service, "Notify", direct, Q_RETURN_ARG("uint"), *arguments)
    return number if isinstance(number, int) else 0
