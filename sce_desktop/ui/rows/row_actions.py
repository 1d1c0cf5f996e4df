"""The menu of the selected rows: label, mark, copy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.bulk_work import decide_many
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.arrays import ManyRows
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.text import menu_text
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.ui.kit.icons import label_icon, set_icon
from sce_desktop.ui.kit.labels_dialog import ANOTHER_LABEL, ask_labels

MOST_IN_MENU = 30  # labels; of more one is found by typing, in the row panel or the dialog of labels


class RowActions:
    """Builds the menu for some rows; every entry is an edit that can be undone."""

    def __init__(
        self, workspace: Workspace, navigation: Navigation, edits: Edits, messages: Messages, parent: QWidget
    ) -> None:
        self._workspace = workspace
        self._navigation = navigation
        self._edits = edits
        self._messages = messages
        self._parent = parent

    def menu(self, ids: Sequence[int]) -> QMenu:
        """The menu for the rows ``ids``; it removes itself when it is closed."""
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = ngettext("Label row as", "Label {count} rows as", len(ids))
        labels = menu.addMenu(title)
        for label in self._likeliest(ids):
            self._add_label(labels, label, ids)
        if len(self._workspace.labels) > MOST_IN_MENU:
            ask = partial(ask_labels, self._workspace, title, partial(self._decide_labels, ids))
            labels.addAction(ANOTHER_LABEL).triggered.connect(
                lambda _checked=False: ask(self._parent.window())
            )
        labels.setEnabled(bool(self._workspace.labels) and not self._workspace.read_only)
        self._add(menu, _("None of these"), "none", lambda: self._decide(ids, Decision.NONE))
        self._add(menu, _("Skip"), "skip", lambda: self._decide(ids, Decision.SKIPPED))
        self._add(menu, _("Undo the label"), "undo", lambda: self._edits.clear_decision(ids))
        if isinstance(ids, ManyRows):
            return menu  # no text box, no mark and no list of names is for millions
        menu.addSeparator()
        self._add(menu, _("Flag"), "flag", lambda: self._mark(ids, True))
        self._add(menu, _("Remove flag"), "", lambda: self._mark(ids, False))
        menu.addSeparator()
        copy = self._add(menu, _("Copy text"), "copy", lambda: self._copy(ids))
        copy.setEnabled(True)
        menu.addSeparator()
        purge = PurgeScope(rows=tuple(ids))
        self._add(menu, _("Delete for good…"), "", lambda: self._navigation.purgeAsked.emit(purge))
        return menu

    def _likeliest(self, ids: Sequence[int]) -> list[Label]:
        """The labels that the menu holds: of too many those that the model finds most probable for a row."""
        labels = self._workspace.labels
        if len(labels) <= MOST_IN_MENU:
            return list(labels)
        main = next((run for run in self._workspace.runs if run.alias == MAIN_ALIAS), None)
        score = None
        if (
            self._workspace.project is not None
            and main is not None
            and len(ids) == 1
            and not self._navigation.blind
        ):
            score = rows_data.scores_of(self._workspace.project, ids, main, labels).get(ids[0])
        return [labels[place] for place in rows_data.best_first(score, labels)[:MOST_IN_MENU]]

    def _add(self, menu: QMenu, text: str, icon: str, do: object) -> QAction:
        action = QAction(text, menu)
        action.setEnabled(not self._workspace.read_only)
        if icon:
            set_icon(action, icon, "muted")
        action.triggered.connect(lambda _checked=False: do())  # type: ignore[operator]
        menu.addAction(action)
        return action

    def _add_label(self, menu: QMenu, label: Label, ids: Sequence[int]) -> None:
        action = QAction(label_icon(colour_of(label)), menu_text(label.name), menu)
        assert label.id is not None
        action.triggered.connect(
            lambda _checked=False, label_id=label.id: self._decide_labels(ids, (label_id,))
        )
        menu.addAction(action)

    def _decide_labels(self, ids: Sequence[int], label_ids: tuple[int, ...]) -> None:
        self._decide(ids, Decision.LABEL, label_ids)

    def _decide(self, ids: Sequence[int], decision: Decision, label_ids: Sequence[int] = ()) -> None:
        if len(ids) > 1:
            decide_many(self._workspace, self._navigation, self._messages, ids, decision, label_ids)
        else:
            self._edits.decide(ids, decision, label_ids)

    def _mark(self, ids: Sequence[int], flag: bool) -> None:
        self._edits.set_marks(ids, flag=flag)

    def _copy(self, ids: Sequence[int]) -> None:
        if self._workspace.project is not None:
            QGuiApplication.clipboard().setText("\n".join(self._workspace.project.texts(ids)))
