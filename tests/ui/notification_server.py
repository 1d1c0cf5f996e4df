"""A notification service as a desktop has it: prints what it is sent and clicks on it all the time."""

from __future__ import annotations

import json

from PySide6.QtCore import ClassInfo, QCoreApplication, QObject, QTimer, Signal, Slot
from PySide6.QtDBus import QDBusConnection

SERVICE = "org.freedesktop.Notifications"


@ClassInfo({"D-Bus Interface": SERVICE})
class Service(QObject):
    ActionInvoked = Signal("uint", str)

    def __init__(self) -> None:
        super().__init__()
        self.number = 6
        clicks = QTimer(self, interval=100)
        clicks.timeout.connect(lambda: self.ActionInvoked.emit(self.number, "default"))
        clicks.start()

    @Slot(str, "uint", str, str, str, "QStringList", "QVariantMap", int, result="uint")
    def Notify(
        self,
        program: str,
        replaces: int,
        icon: str,
        title: str,
        body: str,
        actions: list[str],
        hints: dict[str, object],
        milliseconds: int,
    ) -> int:
        self.number = replaces or self.number + 1
        sent = [program, replaces, icon, title, body, list(actions), sorted(hints), milliseconds]
        print(json.dumps(sent), flush=True)
        return self.number


def main() -> None:
    app = QCoreApplication([])
    service = Service()
    bus = QDBusConnection.sessionBus()
    place = "/org/freedesktop/Notifications"
    registered = bus.registerObject(place, service, QDBusConnection.RegisterOption.ExportAllContents)
    print(json.dumps(bool(registered and bus.registerService(SERVICE))), flush=True)
    app.exec()


if __name__ == "__main__":
    main()
