"""Opens the whole window in one language, on one screen, at one scale; writes what does not fit.

Usage: python -m tests.fit.walk FOLDER LANGUAGE WIDTHxHEIGHT SCALE TEXT

FOLDER is for the project and the settings; WIDTH and HEIGHT are the pixels of the screen, SCALE and TEXT are
in percent: the first scales all that is drawn, as the system's setting for a display does, the second the
text alone. What is found comes on stdout as JSON. A process of its own: constants of the window's modules are
translated when these are imported, and Qt reads the screen and its scale once.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from sce_desktop.core.i18n import set_language

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 30.0


def screen(folder: Path, width: int, height: int) -> str:
    """Write a description of a screen for Qt's offscreen platform, and return what chooses it."""
    file = folder / "screen.json"
    one = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "logicalDpi": 96, "dpr": 1}
    file.write_text(json.dumps({"screens": [one]}), encoding="utf-8")
    return f"offscreen:configfile={file}"


def main(folder: Path, language: str, pixels: tuple[int, int], scale: int, percent: int) -> None:
    """Walk through the window and print what does not fit, and how many texts were asked."""
    os.environ |= {"SCE_DESKTOP_HOME": str(folder), "HF_HUB_OFFLINE": "1"}
    os.environ["QT_QPA_PLATFORM"] = screen(folder, *pixels)
    if scale != 100:
        os.environ["QT_SCALE_FACTOR"] = str(scale / 100)
    set_language(language, ROOT / "resources" / "locale")
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QWidget

    from sce_desktop.app import make_application, make_window
    from sce_desktop.controllers.controllers import Controllers
    from sce_desktop.controllers.crashes import Crash
    from sce_desktop.controllers.jobs import WorkerQueues
    from sce_desktop.core.query import RowQuery
    from sce_desktop.settings import Settings
    from sce_desktop.tasks.scoring import choice
    from sce_desktop.ui.kit.appearance import Theme
    from tests.fit.checks import Misfit, misfits
    from tests.ui.pseudo_window import NOT_TRIGGERED, TABLE, write_project

    choice.is_here = lambda _name: False  # what is proposed hangs on no model that a checkout may have
    path = write_project(folder)
    app = make_application()
    text = app.font()
    text.setPointSizeF(text.pointSizeF() * percent / 100)
    app.setFont(text)
    found: dict[Misfit, str] = {}
    asked: set[tuple[str, str]] = set()
    with WorkerQueues() as workers:
        controllers = Controllers(workers, Settings.load())
        window = make_window(controllers, Theme(app, "light"))

        def wait(ready: Callable[[], bool]) -> None:
            end = time.monotonic() + _PATIENCE_S
            while not ready() and time.monotonic() < end:
                app.processEvents()
                time.sleep(0.005)
            for _ in range(8):  # what was found last is shown, and laid out
                time.sleep(0.01)
                app.processEvents()

        def idle() -> bool:
            return not any(worker.busy for worker in workers)

        def check(top: QWidget, place: str) -> None:
            for misfit in misfits(top):
                found.setdefault(misfit, place)
            asked.update((type(one).__name__, place) for one in top.findChildren(QWidget) if one.isVisible())

        def check_dialogs(place: str) -> None:
            wait(idle)
            for top in QApplication.topLevelWidgets():
                if isinstance(top, QDialog) and top.isVisible():
                    if not isinstance(top, QFileDialog):  # Qt's own
                        check(top, place)
                    top.close()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

        window.resize(window.screen().availableSize())
        window.show()
        wait(idle)
        check(window, "start page")
        window.open_path(path)
        wait(lambda: controllers.workspace.counts is not None and idle())
        controllers.navigation.set_current_row(1)
        wait(idle)
        check(window, "main window")
        for search in ("late", "no such words"):
            controllers.navigation.set_query(RowQuery(search=search))
            wait(idle)
            check(window, f"search {search}")
        controllers.navigation.set_query(RowQuery())
        controllers.navigation.set_current_row(5)  # from right to left
        wait(idle)
        check(window, "row from right to left")
        for dock in window.docks.values():
            dock.bring()
            wait(idle)
            check(window, f"panel {dock.part.name}")
        window.close_panels()
        window.focus.enter()
        wait(idle)
        check(window, "focus mode")
        window.focus.leave()
        for action in window.menus.all_actions():
            if not action.isEnabled() or action.isSeparator() or action.isCheckable():
                continue
            if action.objectName() not in NOT_TRIGGERED:
                name = action.objectName() or action.text()
                action.trigger()
                check_dialogs(name)
        window.show_palette()
        controllers.messages.notify("Short.", "warn")
        wait(idle)
        check(window, "palette")
        window.file_commands.show_import(folder / TABLE)
        check_dialogs("import")
        window.crash_reports.show_crash(Crash("Trace", "…"))
        check_dialogs("crash")
        wait(idle)
        actual = (window.width(), window.height())
        window.close()
        wait(lambda: window._settled and idle())
    json.dump(
        {
            "size": actual,
            "asked": len(asked),
            "misfits": [asdict(one) | {"place": place} for one, place in found.items()],
            "cpu_s": round(time.process_time(), 1),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    where, code, screen_size, display, text_size = sys.argv[1:]
    wide, high = map(int, screen_size.split("x"))
    main(Path(where), code, (wide, high), int(display), int(text_size))
