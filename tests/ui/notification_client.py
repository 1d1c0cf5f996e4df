"""Sends two notices as the program does, waits until each is clicked, and prints their numbers."""

from __future__ import annotations

import json
import sys

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from sce_desktop.app import make_application
from sce_desktop.controllers.job_notices import Notice
from sce_desktop.ui.window.system_notices import SystemNotices

PATIENCE_MS = 60_000


def main() -> None:
    app = make_application()
    window = QWidget()
    notices = SystemNotices(window)
    heard: list[object] = []
    alerts: list[QWidget] = []
    QApplication.alert = lambda widget, _ms=0: alerts.append(widget)  # type: ignore[method-assign,assignment]

    def chosen() -> None:
        if not heard or heard[-1] == "chosen":  # the notice that was clicked is not replaced yet
            return
        heard.append("chosen")
        if heard.count("chosen") == 1:
            notices.show_notice(Notice("Scoring: failed", "Open SCE Desktop to see why.", failed=True))
        else:
            app.quit()

    def sent(number: int) -> None:
        heard.append(number)
        if not number:
            app.quit()

    notices.sent.connect(sent)
    notices.chosen.connect(chosen)
    first = Notice("Importing <b>a</b>.csv: finished", "It took 12 s.")
    QTimer.singleShot(0, lambda: notices.show_notice(first))
    QTimer.singleShot(PATIENCE_MS, app.quit)
    app.exec()
    print(json.dumps([heard, len(alerts)]))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
