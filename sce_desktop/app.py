"""Start of the window: log, hooks, theme, workers, main window; and their end in the opposite order."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, QMetaObject, Qt, QTimer, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QWidget

from sce_desktop import __version__, paths, state_files
from sce_desktop.console import ending_signals, on_console_close
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.crash_reports import CrashReports, report_of_bug, report_of_fault
from sce_desktop.controllers.crashes import Crash, CrashHooks
from sce_desktop.controllers.job_notices import JobNotices
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core.i18n import PSEUDO, _, language, right_to_left
from sce_desktop.core.log_tail import keeping_lines
from sce_desktop.core.private import narrow_folders
from sce_desktop.imports import spare_imports
from sce_desktop.log import start_log
from sce_desktop.settings import Settings
from sce_desktop.tasks.scoring.models import set_offline
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.parts import DockPart, Parts
from sce_desktop.ui.kit.spoken import speak_widgets
from sce_desktop.ui.kit.window_state import window_state
from sce_desktop.ui.window.about import TITLE
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.running import SecondStarts, bring_to_front, hand_over, server_name
from sce_desktop.ui.window.system_notices import SystemNotices

_SIGNALS_MS = 300  # Python sees a signal only when it runs; the event loop alone does not let it
_DIALOG_MS = 500
_QUEUED = Qt.ConnectionType.QueuedConnection
# A thread that reads from SQLite asks for Python's lock at every record. Where another one computes, each
# wait is 5 ms by default, and a page of rows takes half a second while the window is painted.
_SWITCH_SECONDS = 0.001


log = logging.getLogger(__name__)


def main(path: Path | None, settings: Settings) -> int:
    """Show the window, with the project or table at ``path``, until it is closed; return the exit status."""
    set_offline(bool(settings["offline"]))
    narrow_folders(paths.own_folders())
    app = make_application()
    name = server_name(paths.data_dir())
    if hand_over(name, None if path is None else path.absolute()):
        return 0
    start_log(paths.log_file())
    reports = CrashReports(paths.log_dir() / "crashes")
    hooks = CrashHooks(paths.log_dir() / "faults.txt", reports.note)
    if hooks.last_fault:
        reports.write(report_of_fault(hooks.last_fault))
    try:
        with keeping_lines(), WorkerQueues() as workers:
            theme = Theme(app, settings["theme"])  # type: ignore[arg-type]
            controllers = Controllers(workers, settings)
            window = make_window(controllers, theme)
            for worker in workers:
                worker.crashed.connect(reports.note)
            for source in (hooks, *workers):
                source.crashed.connect(partial(_show_crash, window, reports))
            notices = JobNotices(workers, controllers.preferences, _in_front, window)
            system = SystemNotices(window)
            notices.noticed.connect(system.show_notice)
            system.chosen.connect(partial(bring_to_front, window))
            window.show()
            second = SecondStarts(name, window.isVisible, window)
            second.asked.connect(partial(_come, window))
            QTimer.singleShot(0, controllers.projects, controllers.projects.warm_up)
            if path is not None:
                QTimer.singleShot(0, window, partial(window.open_path, path.absolute()))
            else:
                QTimer.singleShot(0, window, window.greet)
            _offer_report(window, controllers, reports)
            with _closing_on_signals(window), state_files.hearing(partial(_warn, controllers)):
                try:
                    return app.exec()
                finally:
                    second.close()
    except Exception as error:
        reports.write(report_of_bug(Crash.from_error(error), ended=True))
        raise
    finally:
        hooks.remove()


def _in_front() -> bool:
    """Whether a window of the program has the keyboard."""
    return QApplication.applicationState() is Qt.ApplicationState.ApplicationActive


def _show_crash(window: MainWindow, reports: CrashReports, crash: Crash) -> None:
    if window.crash_reports.show_crash(crash):
        reports.mark_read()


def _offer_report(window: MainWindow, controllers: Controllers, reports: CrashReports) -> None:
    """Offer what is known of an end that nobody asked for, once."""
    unread = reports.unread()
    if not unread:
        return
    text = reports.read(unread[0])
    reports.mark_read()
    log.error("The program ended unexpectedly the last time: see %s", reports.folder)
    words = _("SCE Desktop ended unexpectedly last time. Your projects are saved.")
    controllers.messages.offer(
        words, _("Show report…"), lambda: window.crash_reports.show_report(text, words), "warn"
    )
    controllers.messages.notificationLasts.emit()


def _come(window: MainWindow, path: Path | None) -> None:
    """Show the window that runs to who starts the program again, with the file they meant."""
    bring_to_front(window)
    if path is not None:
        _open_after_dialogs(window, path)


def _open_after_dialogs(window: MainWindow, path: Path) -> None:
    """Open a file, behind the answer where a dialog asks something; a window that is closed opens nothing."""
    if not window.isVisible():
        return
    if QApplication.activeModalWidget() is None:
        window.open_path(path)
    else:
        QTimer.singleShot(_DIALOG_MS, window, partial(_open_after_dialogs, window, path))


def _warn(controllers: Controllers, sentence: str) -> None:
    controllers.messages.notify_of_program(sentence, "warn")


def make_window(controllers: Controllers, theme: Theme) -> MainWindow:
    """Return the window with its real panels, as it was left the last time; it is not shown yet."""
    theme.follow(controllers.preferences)
    return MainWindow(
        controllers,
        real_parts(),
        theme,
        recent=RecentProjects(paths.data_dir() / "recent.json"),
        state=window_state(),
    )


def real_parts() -> Parts:
    """Return the panels and dialogs of the program."""
    from sce_desktop.ui.labels.labels_panel import LabelsPanel
    from sce_desktop.ui.rows.filter_bar import FilterBar
    from sce_desktop.ui.rows.row_panel import RowPanel
    from sce_desktop.ui.rows.rows_view import RowsView
    from sce_desktop.ui.transfer.export_dialog import ExportDialog
    from sce_desktop.ui.transfer.import_dialog import ImportDialog
    from sce_desktop.ui.window.run_bar import RunBar

    return Parts(
        labels_panel=lambda c: LabelsPanel(
            c.workspace, c.navigation, c.edits, c.scorer, c.preferences, c.messages
        ),
        filter_bar=lambda c: FilterBar(c.workspace, c.navigation, c.scorer, c.review, c.messages),
        rows_view=lambda c: RowsView(c.workspace, c.navigation, c.edits, c.scorer, c.preferences, c.messages),
        row_panel=lambda c: RowPanel(
            c.workspace, c.navigation, c.edits, c.scorer, c.review, c.preferences, c.messages
        ),
        run_bar=lambda c: RunBar(c.workspace, c.scorer, c.tuner, c.models, c.advice, c.preferences),
        import_dialog=lambda c, path, *, append, message, parent: ImportDialog(
            c.workspace,
            c.edits,
            c.projects,
            c.scorer,
            c.preferences,
            path,
            append=append,
            message=message,
            parent=parent,
        ),
        export_dialog=lambda c, *, parent: ExportDialog(c.workspace, c.navigation, c.projects, parent=parent),
        docks=(
            DockPart("Fine-tune", _("Fine-tune"), "Ctrl+1", _finetune),
            DockPart("Evaluate", _("Evaluate"), "Ctrl+2", _evaluate),
            DockPart("Findings", _("Findings"), "Ctrl+3", _findings),
            DockPart("Map", _("Map"), "Ctrl+4", _map),
            DockPart("Duplicates", _("Duplicates"), "Ctrl+5", _duplicates),
        ),
    )


def _finetune(controllers: Controllers) -> QWidget:
    from sce_desktop.ui.finetune.finetune_panel import FineTunePanel

    return FineTunePanel(
        controllers.workspace,
        controllers.navigation,
        controllers.scorer,
        controllers.tuner,
        controllers.preferences,
        controllers.messages,
    )


def _evaluate(controllers: Controllers) -> QWidget:
    from sce_desktop.ui.evaluate.evaluate_panel import EvaluatePanel

    return EvaluatePanel(
        controllers.workspace,
        controllers.navigation,
        controllers.scorer,
        controllers.audit,
        controllers.preferences,
        controllers.messages,
    )


def _findings(controllers: Controllers) -> QWidget:
    from sce_desktop.ui.findings.findings_panel import FindingsPanel

    return FindingsPanel(
        controllers.workspace,
        controllers.navigation,
        controllers.scorer,
        controllers.preferences,
        controllers.messages,
    )


def _map(controllers: Controllers) -> QWidget:
    from sce_desktop.ui.map.map_panel import MapPanel

    return MapPanel(
        controllers.workspace,
        controllers.navigation,
        controllers.edits,
        controllers.scorer,
        controllers.preferences,
        controllers.messages,
    )


def _duplicates(controllers: Controllers) -> QWidget:
    from sce_desktop.ui.duplicates.duplicates_panel import DuplicatesPanel

    return DuplicatesPanel(controllers.workspace, controllers.navigation, controllers.messages)


def make_application() -> QApplication:
    """Return the application under the names by which desktops know it."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName(paths.APP_NAME)
    app.setApplicationDisplayName(TITLE)
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(paths.APP_ID)  # Wayland takes the window's icon from there
    app.setWindowIcon(QIcon(str(paths.resources_dir() / "icons" / "app.svg")))
    _speak(app)
    speak_widgets(app)
    sys.setswitchinterval(_SWITCH_SECONDS)
    spare_imports()
    return app


def locale_name(code: str) -> str:
    """Return the locale in which Qt writes numbers as our messages do: Arabic with the digits 0 to 9."""
    return {PSEUDO: "en_GB", "ar": "ar_AE"}.get(code, code)


def _speak(app: QApplication) -> None:
    """Let Qt's own texts, numbers and the direction of the layout follow the language."""
    code = language()
    QLocale.setDefault(QLocale(locale_name(code)))
    app.setLayoutDirection(
        Qt.LayoutDirection.RightToLeft if right_to_left() else Qt.LayoutDirection.LeftToRight
    )
    translator = QTranslator(app)
    if translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)


@contextmanager
def _closing_on_signals(window: MainWindow) -> Iterator[None]:
    """Let Ctrl+C in the terminal, a polite kill and the terminal's end close the window in good order."""
    for number in (signal.SIGINT, *ending_signals()):
        signal.signal(number, lambda *_: window.close_unasked())
    timer = QTimer(window, interval=_SIGNALS_MS)
    timer.timeout.connect(lambda: None)
    timer.start()
    with on_console_close(lambda: QMetaObject.invokeMethod(window, "close_unasked", _QUEUED)):
        yield
