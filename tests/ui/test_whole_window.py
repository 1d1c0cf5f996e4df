"""The window with its real panels on the real engine, from a table to an export; and closing it at work."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop import cli
from sce_desktop.app import make_window
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.controllers.rows_data import RowData
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import RowQuery
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.rows_model import ROW_ROLE, Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.transfer.export_dialog import ExportDialog
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.run_bar import RunBar

pytestmark = pytest.mark.model

Widget = TypeVar("Widget", bound=QWidget)

LOADED_MS = 60_000  # importing torch and loading the model beside other work
LABELS = ("Late delivery", "Damaged parcel", "Courier praise")
ROWS = (
    ("1", "It came two days after the date I was promised."),
    ("2", 'The box was crushed, and "fragile" stood on every side.'),
    ("3", "The driver waved,\nwaited, and carried it upstairs. Lovely!"),
    ("4", ""),
    ("5", "وصلت الشحنة متأخرة ثلاثة أيام"),
    ("6", "包裹到的时候已经碎了 😡"),
    ("7", "-3 stars; still waiting, nobody knows where it is"),
    ("8", "word " * 400),
)


@pytest.fixture
def whole(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[tuple[MainWindow, Controllers]]:
    """The window as the program makes it, model loading behind it; closed at the end as by its button."""
    with WorkerQueues() as workers:
        controllers = Controllers(workers, Settings(tmp_path / "settings.json"))
        window = make_window(controllers, theme)
        window.show()
        window.activateWindow()
        controllers.projects.warm_up()
        yield window, controllers
        if window.isVisible():
            window.close()
            qtbot.waitUntil(lambda: not window.isVisible(), timeout=LOADED_MS)
        window.deleteLater()


def write_table(path: Path, rows: tuple[tuple[str, str], ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "message"), *rows])
    return path


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def the(window: MainWindow, kind: type[Widget]) -> Widget:
    """The one widget of this kind in the window."""
    (found,) = window.findChildren(kind)
    return found


def click(qtbot: QtBot, button: QWidget) -> None:
    qtbot.waitUntil(button.isEnabled, timeout=LOADED_MS)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def import_by_dialog(qtbot: QtBot, window: MainWindow, controllers: Controllers, table: Path) -> ImportDialog:
    window.open_path(table)
    dialog = the(window, ImportDialog)
    qtbot.waitUntil(dialog.import_button.isEnabled, timeout=LOADED_MS)
    with qtbot.waitSignal(controllers.workspace.projectOpened, timeout=LOADED_MS):
        QTest.keyClick(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: controllers.workspace.counts is not None)
    return dialog


def type_labels(qtbot: QtBot, window: MainWindow, names: tuple[str, ...]) -> None:
    field = the(window, LabelsPanel).field
    field.setFocus()
    for name in names:
        QTest.keyClicks(field, name)
        QTest.keyClick(field, Qt.Key.Key_Return)


def rows_shown(window: MainWindow) -> list[RowData | None]:
    model = the(window, RowsView).model
    return [model.index(place, Column.SCE).data(ROW_ROLE) for place in range(model.rowCount())]


def test_table_to_export_gives_what_classify_gives(
    qtbot: QtBot, whole: tuple[MainWindow, Controllers], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, controllers = whole
    table = write_table(tmp_path / "messages.csv", ROWS)
    import_by_dialog(qtbot, window, controllers, table)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.columns == ("id", "message")
    assert controllers.workspace.project.text_columns == (1,)
    type_labels(qtbot, window, LABELS)
    assert [label.name for label in controllers.workspace.labels] == list(LABELS)
    assert not any(row is not None and any(row.scores) for row in rows_shown(window))

    click(qtbot, the(window, RunBar).score_button)
    with_text = [place for place, (_, text) in enumerate(ROWS) if text]

    def scored() -> bool:
        rows = rows_shown(window)
        return controllers.scorer.job is None and all(
            row is not None and all(row.scores) and len(row.scores) == 2
            for row in (rows[place] for place in with_text)
        )

    qtbot.waitUntil(scored, timeout=LOADED_MS)
    shown = rows_shown(window)
    assert shown[3] is not None
    assert not any(shown[3].scores)  # no text, nothing to say
    assert [run.alias for run in controllers.workspace.runs] == ["sce", "similarity"]

    controllers.navigation.set_query(RowQuery(search="fragile"))
    qtbot.waitUntil(lambda: window.status.counts.whole().startswith(f"1 of {len(ROWS)} rows"))
    controllers.navigation.set_query(RowQuery())
    qtbot.waitUntil(lambda: window.status.counts.whole().startswith(f"{len(ROWS)} rows"))
    controllers.navigation.rowAsked.emit(1)
    qtbot.waitUntil(lambda: controllers.navigation.current_row == 1)

    rows_table = the(window, RowsView).table
    window.activateWindow()
    rows_table.setFocus()
    qtbot.waitUntil(rows_table.hasFocus)
    assert controllers.navigation.current_row is not None
    decided = controllers.navigation.current_row
    QTest.keyClick(rows_table, Qt.Key.Key_2)
    annotation = controllers.workspace.project.annotations([decided])[decided]
    assert (annotation.decision, annotation.label_ids) == (
        Decision.LABEL,
        (controllers.workspace.labels[1].id,),
    )
    assert controllers.navigation.current_row != decided  # on to the next one

    out = tmp_path / "from the window.csv"
    window.file_commands.ask_export()
    dialog = the(window, ExportDialog)
    dialog.target.path.setText(str(out))
    qtbot.waitUntil(dialog.export_button.isEnabled)
    QTest.keyClick(dialog.target.path, Qt.Key.Key_Return)
    qtbot.waitUntil(out.exists, timeout=LOADED_MS)
    exported = read_table(out)
    assert [(row["id"], row["message"]) for row in exported] == list(ROWS)
    assert [row["label"] for row in exported] == [LABELS[1], *[""] * 7]

    monkeypatch.setenv("SCE_DESKTOP_HOME", str(tmp_path / "another home"))  # no vectors of the window's
    told = tmp_path / "from the command line.csv"
    labels = [word for name in LABELS for word in ("--label", name)]
    command = [
        "classify",
        str(table),
        "--text",
        "message",
        *labels,
        "--baseline",
        "similarity",
        "-o",
        str(told),
    ]
    assert cli.main(command) == 0
    columns = [f"{alias}_p:{name}" for alias in ("sce", "similarity") for name in LABELS]
    for ours, theirs, cells in zip(exported, read_table(told), shown, strict=True):
        for column in columns:
            assert bool(ours[column]) == bool(theirs[column]) == bool(ours["message"])
            if ours[column]:
                assert float(ours[column]) == pytest.approx(float(theirs[column]), abs=1e-6)
        if ours["message"]:
            assert cells is not None
            seen = [share for score in cells.scores if score is not None for share in score.probabilities]
            assert seen == pytest.approx([float(ours[column]) for column in columns], abs=1e-6)


def test_closing_while_scoring_leaves_no_thread_and_a_whole_project(
    qtbot: QtBot, whole: tuple[MainWindow, Controllers], tmp_path: Path
) -> None:
    window, controllers = whole
    texts = tuple((str(n), f"Message {n}: {'the parcel is late again ' * (n % 9 + 1)}") for n in range(600))
    import_by_dialog(qtbot, window, controllers, write_table(tmp_path / "many.csv", texts))
    project = controllers.workspace.project
    assert project is not None
    assert controllers.edits.set_labels([Label(name) for name in LABELS])
    controllers.scorer.score()
    qtbot.waitUntil(lambda: any(run.scored for run in controllers.workspace.runs), timeout=LOADED_MS)
    assert controllers.scorer.job is not None

    with qtbot.waitSignal(controllers.projects.settled, timeout=LOADED_MS):
        window.close()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert all(
        worker.close(2) for worker in controllers.workspace.workers
    )  # the guards of every test look for threads, too
    assert not Path(f"{project.path}-wal").exists()
    with Project.open(project.path) as again:
        assert again.verify() == []
        run = again.active_run("sce")
        assert run is not None
        assert 0 < run.scored < len(texts)
        assert len(again.unscored_ids(run.id)) == len(texts) - run.scored
