"""Every panel and list that has nothing to show says so, with the next step, in one or two sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QListWidget, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.store.project import Project
from sce_desktop.ui.finetune.finetune_panel import FineTunePanel
from sce_desktop.ui.kit.empty_text import EmptyText
from sce_desktop.ui.kit.palette import CommandPalette
from sce_desktop.ui.labels.label_filter import FILTER_FROM
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.rows.filter_words import why_empty
from sce_desktop.ui.rows.row_panel import RowPanel
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from sce_desktop.ui.window.jobs_panel import JobsPanel
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.panels import give_scores, open_in, score_no_edits, settle

MakeProject = Callable[..., Path]
STEPS = (
    *(
        "press",
        "type",
        "label",
        "choose",
        "clear",
        "open",
        "add",
        "draw",
        "select",
        "lower",
        "turn",
        "import",
    ),
    *("score", "find", "export", "show", "try", "drop"),
)
"""Verbs of a next step."""


def sentences(widget: QWidget) -> str:
    """All that can be read in a panel as a sentence: labels that end as one."""
    labels = (label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))
    return " ".join(text for text in labels if text.endswith((".", "…")))


def names_a_step(text: str) -> bool:
    words = [word.strip(".,:;()…“”").lower() for word in text.split()]
    return bool(text) and any(word in STEPS for word in words)


def blank_lists(widget: QWidget) -> list[str]:
    """Lists that are empty, can be seen, and say nothing about it."""
    views = [view for view in widget.findChildren(QAbstractItemView) if view.isVisibleTo(widget)]
    return [
        f"{type(view).__name__} {view.accessibleName()}"
        for view in views
        if view.model() is not None
        and not isinstance(view, QHeaderView)
        and not view.model().rowCount()
        and not any(one.isVisibleTo(view) for one in view.viewport().findChildren(EmptyText))
    ]


@pytest.fixture
def window(real_window: MainWindow, controllers: Controllers) -> MainWindow:
    score_no_edits(controllers)
    real_window.show()
    return real_window


def test_panels_without_a_project_and_the_start_page(window: MainWindow) -> None:
    assert "Drop a table" in " ".join(label.text() for label in window.start_page.findChildren(QLabel))
    window.docks["Jobs and log"].bring()
    panel = window.docks["Jobs and log"].build()
    assert isinstance(panel, JobsPanel)
    assert not blank_lists(panel)
    assert names_a_step(sentences(panel.table))
    (hint,) = panel.log.viewport().findChildren(EmptyText)
    assert hint.isVisibleTo(panel)
    panel.log.appendPlainText("a line")
    assert not hint.isVisibleTo(panel)
    window.show_palette()
    palette = window.findChild(CommandPalette)
    palette.field.setText("qqqq")
    assert palette.nothing.text() == "No command matches. Type fewer letters."
    palette.close()


def test_panels_of_a_project_without_labels(
    qtbot: QtBot, window: MainWindow, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project())
    labels, rows, row = window.workspace.labels, window.workspace.rows, window.workspace.row
    assert isinstance(labels, LabelsPanel)
    assert isinstance(rows, RowsView)
    assert isinstance(row, RowPanel)
    assert names_a_step(labels.empty.text())
    assert labels.empty.isVisible()
    assert names_a_step(rows.hint.text())
    for name, page in window.docks.items():
        page.bring()
        panel = page.build()
        settle(qtbot, controllers)
        assert names_a_step(sentences(panel)) or name in ("Map", "Jobs and log"), (name, sentences(panel))
        assert sentences(panel) or name == "Jobs and log", name
        lists = [one for one in blank_lists(panel) if "duplicates" not in one.lower()]
        assert not lists, (name, lists)


def test_panels_of_a_project_without_scores_and_answers(
    qtbot: QtBot, window: MainWindow, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=("Late", "Damaged")))
    rows = window.workspace.rows
    assert isinstance(rows, RowsView)
    assert rows.hint.text() == "Not scored yet. Press Score to see the probability of every label."
    for name in ("Evaluate", "Findings", "Duplicates", "Fine-tune"):
        window.docks[name].bring()
        panel = window.docks[name].build()
        settle(qtbot, controllers)
        assert names_a_step(sentences(panel)), (name, sentences(panel))
        if isinstance(panel, FineTunePanel):
            for place in range(panel.result.tabs.count()):
                if panel.result.tabs.isTabVisible(place):
                    panel.result.tabs.setCurrentIndex(place)
                    assert not blank_lists(panel.result), panel.result.tabs.tabText(place)
    dialog = ThresholdDialog(controllers.workspace, controllers.edits, controllers.scorer, window)
    qtbot.addWidget(dialog)
    assert names_a_step(dialog.coverage.text())
    dialog.reject()


def test_no_rows_by_search_and_filters(
    qtbot: QtBot, window: MainWindow, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=("Late", "Damaged"))
    with Project.open(path) as project:
        give_scores(project, (0, 1, 0, 1))
    open_in(qtbot, controllers, path)
    rows, row = window.workspace.rows, window.workspace.row
    assert isinstance(rows, RowsView)
    assert isinstance(row, RowPanel)
    for query in (
        RowQuery(search="no such words"),
        RowQuery(search="no such words", state=RowState.UNLABELLED),
        RowQuery(pattern="^nothing$"),
        RowQuery(state=RowState.SKIPPED),  # skipped, flagged and unsure rows: the same words
        RowQuery(state=RowState.FLAGGED),
        RowQuery(state=RowState.UNSURE),
    ):
        controllers.navigation.set_query(query)
        settle(qtbot, controllers)
        assert rows.pages.currentIndex() == 1
        assert names_a_step(rows.empty.text()), query
        assert rows.clear_button.isVisible()
        assert row.empty.isVisible()
        assert names_a_step(row.empty.text())
    for query in (RowQuery(state=RowState.UNLABELLED), RowQuery(former_ids=(1,))):
        assert names_a_step(why_empty(query))


def test_no_row_at_all(qtbot: QtBot, window: MainWindow, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "Empty.sce"
    Project.create(path).close()
    open_in(qtbot, controllers, path)
    rows = window.workspace.rows
    assert isinstance(rows, RowsView)
    assert rows.empty.text() == "This project has no rows. Choose File > Add rows… to add a table."


def test_a_label_that_is_not_found(
    qtbot: QtBot, window: MainWindow, controllers: Controllers, make_project: MakeProject
) -> None:
    names = tuple(f"Label {number}" for number in range(FILTER_FROM + 1))
    open_in(qtbot, controllers, make_project(labels=names))
    panel = window.workspace.labels
    assert isinstance(panel, LabelsPanel)
    (hint,) = panel.list.viewport().findChildren(EmptyText)
    assert not hint.isVisibleTo(panel)
    panel.filter.setText("qqqq")
    assert hint.isVisibleTo(panel)
    assert hint.text() == "No label contains “qqqq”. Press Esc to show all."
    assert panel.list.accessibleDescription() == hint.text()
    assert panel.list.height() > 0
    panel.filter.clear()
    assert not hint.isVisibleTo(panel)
    assert panel.list.accessibleDescription() == ""


def test_nothing_left_to_review(
    qtbot: QtBot, window: MainWindow, controllers: Controllers, make_project: MakeProject
) -> None:
    path = make_project(labels=("Late", "Damaged"))
    with Project.open(path) as project:
        give_scores(project, (0, 1, 0, 1))
    open_in(qtbot, controllers, path)
    ids = [label.id or 0 for label in controllers.workspace.labels]
    controllers.edits.decide([1, 2, 4, 5], Decision.LABEL, ids[:1])
    settle(qtbot, controllers)
    heard: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: heard.append(sentence))
    controllers.review.begin()
    qtbot.waitUntil(lambda: bool(heard))
    assert names_a_step(heard[0])


def test_an_empty_text_goes_and_comes_with_the_rows(qtbot: QtBot) -> None:
    view = QListWidget()
    qtbot.addWidget(view)
    view.resize(300, 200)
    hint = EmptyText(view, "Nothing here. Add something.")
    view.show()
    assert hint.isVisible()
    assert hint.size() == view.viewport().size()
    assert view.accessibleDescription() == "Nothing here. Add something."
    view.addItem("a")
    assert hint.isHidden()
    assert view.accessibleDescription() == ""
    view.resize(400, 300)
    view.clear()
    assert hint.isVisible()
    assert hint.size() == view.viewport().size()
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    shown = EmptyText(field, "Nothing here. Type something.")
    field.setPlainText("x")
    assert shown.isHidden()
