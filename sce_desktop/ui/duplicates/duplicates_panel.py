"""Exact and near duplicates, labelled in bulk.

A panel and not a dialog: the list stays while one looks at a group's rows in the table, labels one of them,
and comes back to label the others alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.bulk_work import submit_bulk
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.rows_text import label_of
from sce_desktop.controllers.words import step_text
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import NO_LABEL
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, ngettext, percent
from sce_desktop.core.text import menu_text
from sce_desktop.tasks.insight.bulk import Answer
from sce_desktop.tasks.insight.duplicates import MOST_COMPARED, CopyGroup, GroupAnswers
from sce_desktop.tasks.insight.neighbours import NEAR
from sce_desktop.ui.duplicates.duplicates_model import (
    KIND,
    LABELLED,
    LABELS,
    ROWS,
    TEXT,
    DuplicatesModel,
    answer_name,
)
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import SpinBox
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.labels_dialog import ANOTHER_LABEL, ask_labels
from sce_desktop.ui.kit.low_scroll import LowScroll
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.kit.visibility import VisibilityGate
from sce_desktop.ui.rows.row_actions import MOST_IN_MENU

_SOON_MS = 250  # after a change, before reading how rows are labelled now
_LEAST = 60  # per cent alike; below that nearly everything is
_TASKS = "sce_desktop.tasks.insight.duplicates"
_NONE: Answer = (NO_LABEL,)
_FIRST = _(
    "Finds rows with the same or similar text, to label them in bulk. Large tables take a minute or more."
)


class DuplicatesPanel(QWidget):
    """Finds groups when it is asked to, keeps them, and follows how they are labelled."""

    def __init__(
        self, workspace: Workspace, navigation: Navigation, messages: Messages, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._messages = messages
        self._search: Job | None = None
        self._looked_at: list[CopyGroup] = []
        self.setAccessibleName(_("Duplicates"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.similarity = SpinBox(minimum=_LEAST, maximum=100, value=round(NEAR * 100))
        before, _digits, after = percent(0).partition("0")
        self.similarity.setPrefix(before)
        self.similarity.setSuffix(after)
        self.similarity.setAccessibleName(_("Minimum similarity, in per cent"))
        self.similarity.setToolTip(_("Text similarity ({all} = identical)", all=percent(1)))
        indent_number(self.similarity)
        self.find_button = QPushButton(_("Find"))
        set_role(self.find_button, "primary")
        self.find_button.clicked.connect(self._find_or_stop)
        self.facts = QLabel(wordWrap=True)  # the panel may be narrow
        self.facts.setAccessibleName(_("Result"))
        set_role(self.facts, "muted")
        self.only = QCheckBox(_("Contradictory only"))
        self.model = DuplicatesModel(self)
        self.only.toggled.connect(self.model.set_only_contradictory)
        self.table = self._make_table()
        self.show_button = self._button(_("Show in table"), self._show_rows)
        self.show_button.setToolTip(_("Show only the rows of the selected groups"))
        self.rest_button = self._button(_("Apply label to the rest of the group"), self._label_rest)
        self.rest_button.setToolTip(_("Give unlabelled rows the label of the others in their group"))
        self.all_button = self._button(_("Label whole group…"), self._ask_label)
        self._build()
        self.visibility = VisibilityGate(self, _SOON_MS)
        self.visibility.due.connect(self._read_answers)
        workspace.projectOpened.connect(self._start_over)
        workspace.projectClosed.connect(self._start_over)
        workspace.rowsChanged.connect(self._on_rows)
        workspace.annotationsChanged.connect(self._on_answers)
        workspace.labelsChanged.connect(self._on_answers)
        self._start_over()

    def _button(self, text: str, do: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(do)
        return button

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName(_("Groups of duplicates"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(px(26))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        for column, width in ((ROWS, 64), (KIND, 72), (LABELLED, 76), (LABELS, 330)):
            table.setColumnWidth(column, max(px(width), header.sectionSizeHint(column)))
        table.selectionModel().selectionChanged.connect(self._on_selection)
        table.doubleClicked.connect(self._show_rows)
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shortcut = QShortcut(QKeySequence(key), table, context=Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(self._show_rows)
        return table

    def _build(self) -> None:
        top, foot = QHBoxLayout(), QWidget()
        top.setSpacing(px(SPACE_S))
        top.addWidget(QLabel(_("Minimum similarity")))
        top.addWidget(self.similarity)
        top.addWidget(self.find_button)
        top.addStretch(1)
        top.addWidget(self.only)
        buttons = FlowLayout(foot, gap=px(SPACE_S))  # a second line where words are long
        for button in (self.show_button, self.rest_button, self.all_button):
            buttons.addWidget(button)
        layout = QVBoxLayout(LowScroll.of(self).inside)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addLayout(top)
        layout.addWidget(self.facts)
        layout.addWidget(self.table, 1)
        layout.addWidget(foot)

    # --- finding -------------------------------------------------------------------------------------------

    @Slot()
    def _start_over(self) -> None:
        """Forget the project of before."""
        self.visibility.forget()
        drop(self._search)
        self._search = None
        self.model.set_groups([], [], ())
        self.facts.setText(_FIRST)
        self._show_state()

    @Slot()
    def _find_or_stop(self) -> None:
        if self._search is not None:
            self._search.cancel()
            return
        if self._workspace.project is None:
            return
        self._search = self._workspace.submit(
            in_worker(_TASKS, "find_with_answers"),
            self._workspace.project,
            self.similarity.value() / 100,
            title=_("Finding duplicates"),
        )
        self._search.progressed.connect(self._on_progress)
        self._search.finished.connect(self._on_found)
        self._search.ended.connect(self._on_ended)
        self.facts.setText(_("Searching…"))
        self._show_state()

    @Slot()
    def _on_progress(self) -> None:
        if self._search is not None:
            self.facts.setText(step_text(self._search))

    @Slot(object)
    def _on_found(self, found: tuple[list[CopyGroup], list[GroupAnswers]]) -> None:
        self._search = None
        self.model.set_groups(*found, self._workspace.labels)
        if self.model.rowCount():
            self.table.selectRow(0)

    @Slot()
    def _on_ended(self) -> None:
        """Found, stopped or failed: show what is in the list now."""
        stopped, self._search = self._search is not None, None
        if stopped and not self.model.groups:
            self.facts.setText(f"{_('Stopped.')} {_FIRST}")
        else:
            self._show_facts()
        self._show_state()

    @Slot()
    def _on_rows(self) -> None:
        if self.model.groups:
            self.facts.setText(_("Rows were added in the meantime: search again."))

    def _show_facts(self) -> None:
        groups, answers = self.model.groups, self.model.answers
        if not groups:
            none = _("No two rows are that similar. Lower the similarity to find more.")
            self.facts.setText(f"{none} {self._compared()}".rstrip())
            return
        in_groups = rows(sum(len(group.row_ids) for group in groups))
        facts = ngettext("{count} group, {rows}.", "{count} groups, {rows}.", len(groups), rows=in_groups)
        if contradictory := sum(found.contradictory for found in answers):
            facts += " " + ngettext("{count} is contradictory.", "{count} are contradictory.", contradictory)
        self.facts.setText(f"{facts} {self._compared()}".rstrip())

    def _compared(self) -> str:
        """Say which rows were compared, where they are not all."""
        project = self._workspace.project
        if project is None or project.row_count() <= MOST_COMPARED:
            return ""
        return ngettext(
            "Only the first {count} row was compared.",
            "Only the first {count} rows were compared.",
            MOST_COMPARED,
        )

    # --- how rows are labelled ------------------------------------------------------------------------------

    @Slot()
    def _on_answers(self) -> None:
        if self.model.groups:
            self.visibility.soon()

    @Slot()
    def _read_answers(self) -> None:
        groups = self.model.groups
        if self._workspace.project is None or not groups:
            return
        job = self._workspace.submit(
            in_worker(_TASKS, "group_answers"),
            self._workspace.project,
            groups,
            title=_("Reading duplicates"),
            worker="reads",
            quiet=True,
        )
        self._looked_at = groups
        job.finished.connect(self._on_looked)
        self.visibility.follow(job)

    @Slot(object)
    def _on_looked(self, answers: list[GroupAnswers]) -> None:
        if self._looked_at is self.model.groups:
            self.model.set_answers(answers, self._workspace.labels)
            self._show_facts()
            self._show_state()

    # --- labelling -----------------------------------------------------------------------------------------

    def chosen(self) -> list[CopyGroup]:
        """The selected groups."""
        return [self.model.group_at(row) for row in self._chosen_rows()]

    def _chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.table.selectionModel().selectedRows())

    @Slot()
    def _on_selection(self) -> None:
        self._show_state()

    def _show_state(self) -> None:
        some = self._chosen_rows()
        found = [(self.model.group_at(row), self.model.answers_at(row)) for row in some]
        rest = any(len(a.answers) == 1 and a.decided < len(group.row_ids) for group, a in found)
        self.find_button.setText(_("Stop") if self._search is not None else _("Find"))
        self.find_button.setEnabled(self._workspace.project is not None)
        self.similarity.setEnabled(self._search is None)
        self.only.setEnabled(bool(self.model.groups))
        self.show_button.setEnabled(bool(some))
        self.rest_button.setEnabled(rest and not self._workspace.read_only)
        self.all_button.setEnabled(
            bool(some) and bool(self._workspace.labels) and not self._workspace.read_only
        )

    @Slot()
    def _show_rows(self) -> None:
        if groups := self.chosen():
            self._navigation.show_ids(np.concatenate([group.row_ids for group in groups]).tolist())

    @Slot()
    def _label_rest(self) -> None:
        submit_bulk(
            self._workspace,
            self._navigation,
            self._messages,
            in_worker(_TASKS, "decide_rest"),
            self.chosen(),
        )

    @Slot()
    def _ask_label(self) -> None:
        self.label_menu().popup(self.all_button.mapToGlobal(QPoint(0, self.all_button.height())))

    def label_menu(self) -> QMenu:
        """The labels that all rows of the selected groups can get: those that some have come first."""
        labels, groups = self._workspace.labels, self.chosen()
        given = [answer for row in self._chosen_rows() for answer, _ in self.model.answers_at(row).answers]
        others = [(label.id,) for label in labels if label.id is not None]
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        offered = [answer for answer in dict.fromkeys([*given, *others]) if answer != _NONE]
        for answer in offered[:MOST_IN_MENU]:
            self._add_answer(menu, groups, answer)
        if len(offered) > MOST_IN_MENU:
            give = partial(self._give_all, groups)
            menu.addAction(ANOTHER_LABEL).triggered.connect(
                lambda _on=False: ask_labels(self._workspace, _("Label whole group"), give, self.window())
            )
        self._add_answer(menu, groups, _NONE)
        return menu

    def _add_answer(self, menu: QMenu, groups: list[CopyGroup], answer: Answer) -> None:
        labels = self._workspace.labels
        action = QAction(menu_text(answer_name(answer, labels)), menu)
        if answer != _NONE:
            action.setIcon(label_icon(colour_of(label_of(answer[0], labels))))
        action.triggered.connect(lambda _on=False: self._give_all(groups, answer))
        menu.addAction(action)

    def _give_all(self, groups: list[CopyGroup], answer: Answer) -> None:
        submit_bulk(
            self._workspace,
            self._navigation,
            self._messages,
            in_worker(_TASKS, "give_all"),
            groups,
            answer,
        )
