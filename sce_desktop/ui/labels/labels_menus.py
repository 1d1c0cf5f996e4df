"""The menus of the labels panel: where labels can come from, and what can be done with one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from sce_desktop.controllers.labels_groups import Span
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import px, set_role
from sce_desktop.ui.labels.labels_list import LabelsList
from sce_desktop.ui.labels.labels_model import GroupRole, LabelsModel
from sce_desktop.ui.labels.templates import template_name, templates


def _action(menu: QMenu, text: str, do: Callable[[], object]) -> QAction:
    action = menu.addAction(text)
    action.triggered.connect(lambda _on=False: do())
    return action


class SourcesButton(QToolButton):
    """Opens the menu of where labels come from and go to."""

    columnAsked = Signal()
    fileAsked = Signal()
    templateAsked = Signal(object)  # Path
    suggestAsked = Signal()
    saveAsked = Signal()
    setsAsked = Signal()
    severalAsked = Signal(object)  # whether a row may have several labels

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Label menu"))
        self.setToolTip(_("Add labels from a column, a file or a template"))
        set_role(self, "quiet")
        set_icon(self, "more", "muted")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFixedSize(px(24), px(24))
        self.setStyleSheet("QToolButton { padding: 0; } QToolButton::menu-indicator { image: none; }")
        menu = QMenu(self)
        menu.setAccessibleName(_("Label menu"))
        self._adding = [
            _action(menu, _("From a column…"), self.columnAsked.emit),
            _action(menu, _("From a file…"), self.fileAsked.emit),
        ]
        ready = menu.addMenu(_("From a template"))
        for path in templates():
            _action(ready, template_name(path), functools.partial(self.templateAsked.emit, path))
        self._adding += [
            ready.menuAction(),
            _action(menu, _("Suggest labels from the rows…"), self.suggestAsked.emit),
        ]
        menu.addSeparator()
        self._save = _action(menu, _("Save labels…"), self.saveAsked.emit)
        _action(menu, _("Label sets and versions…"), self.setsAsked.emit)
        menu.addSeparator()
        self.several = menu.addAction(_("Allow several labels per row"))
        self.several.setCheckable(True)
        self.several.triggered.connect(lambda on: self.severalAsked.emit(on))
        self.setMenu(menu)

    def set_state(self, *, editable: bool, labels: bool, several: bool) -> None:
        """Enable what can be done."""
        self.several.setChecked(several)
        self.several.setEnabled(editable)
        for action in self._adding:
            action.setEnabled(editable)
        self._save.setEnabled(labels)


class _LabelCommands(Protocol):
    """What the menu asks the panel to do with the selected labels."""

    list: LabelsList
    model: LabelsModel

    def show_details(self) -> object: ...
    def step(self, by: int) -> object: ...
    def merge_selected(self) -> object: ...
    def split_selected(self) -> object: ...
    def show_rows(self) -> object: ...
    def ask_remove(self) -> object: ...
    def ask_purge(self) -> object: ...


class LabelMenu(QMenu):
    """What can be done with the selected labels."""

    def __init__(self, panel: _LabelCommands, *, editable: bool, several: bool) -> None:
        super().__init__(panel.list)
        self.setAccessibleName(_("Label"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries = (
            (_("Rename\tF2"), lambda: panel.list.edit(panel.list.currentIndex()), editable and not several),
            (_("Description, synonyms, colour…\tEnter"), panel.show_details, editable and not several),
            (_("Move up\tAlt+Up"), lambda: panel.step(-1), editable and not several),
            (_("Move down\tAlt+Down"), lambda: panel.step(1), editable and not several),
            (_("Merge selected labels…"), panel.merge_selected, editable and several),
            (_("Split…"), panel.split_selected, editable and not several),
            (_("Show rows you labelled so"), panel.show_rows, True),
            (_("Remove\tDel"), panel.ask_remove, editable),
            (_("Delete for good…"), panel.ask_purge, editable and not several),
        )
        for text, do, possible in entries:
            _action(self, text, do).setEnabled(possible)
        if not panel.model.headings:
            return
        self.addSeparator()
        group: Span | None = panel.list.currentIndex().data(GroupRole)
        folded = panel.model.is_folded(group)
        if self.isRightToLeft():
            one = _("Unfold the group\tLeft") if folded else _("Fold the group\tRight")
        else:
            one = _("Unfold the group\tRight") if folded else _("Fold the group\tLeft")
        _action(self, one, lambda: panel.list.fold(group, folded=not folded)).setEnabled(group is not None)
        _action(self, _("Fold all groups"), lambda: panel.model.fold(panel.model.parents))
        _action(self, _("Unfold all groups"), lambda: panel.model.fold(panel.model.parents, folded=False))
