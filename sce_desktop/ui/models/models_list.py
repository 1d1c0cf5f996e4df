"""The list of the models manager: installed models, then those that can be downloaded, with their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import (
    QHeaderView,
    QTreeWidgetItem,
    QWidget,
)

from sce_desktop.controllers.model_store import ModelStore
from sce_desktop.controllers.words import share_done
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind
from sce_desktop.core.text import size_text
from sce_desktop.tasks.scoring.models import default_of
from sce_desktop.ui.kit.dialog_parts import flat_list
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.theme import font

if TYPE_CHECKING:
    from sce_desktop.core.models import Entry, Known


PARTS = {"sce": _("SCE"), "similarity": _("Similarity"), "llm": _("LLM")}
_NAME = Qt.ItemDataRole.UserRole


class ModelsList(QObject):
    """Fills a ``tree`` from the `ModelStore`; its lines can be chosen, its headings cannot.

    ``kind``: begin at a model that plays this part, the default one of it if it is in the list.
    """

    def __init__(self, store: ModelStore, kind: ModelKind | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self._kind = kind  # until there is one in the list, or the user has chosen another
        self.tree = flat_list(_("Models"), (_("Model"), _("Type"), _("Size"), _("Licence"), ""))
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setSectionResizeMode(4, QHeaderView.ResizeMode.Stretch)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.tree.itemPressed.connect(self._on_pressed)

    def chosen(self) -> str:
        """Return the name of the chosen model; empty where none is."""
        item = self.tree.currentItem()
        return str(item.data(0, _NAME) or "") if item is not None else ""

    def show_models(self) -> None:
        """Draw the list again; the selection stays."""
        chosen = self.chosen()
        self.tree.blockSignals(True)
        self.tree.clear()
        for title, models in (
            (_("Installed"), self._store.installed),
            (_("Available"), self._store.available),
        ):
            if models:
                self._heading(title)
            for model in models:
                self._line(model)
        self.tree.blockSignals(False)
        items = [self.tree.topLevelItem(i) for i in range(self.tree.topLevelItemCount())]
        named = [item for item in items if item is not None and item.data(0, _NAME)]
        same = next((item for item in named if item.data(0, _NAME) == chosen), None)
        asked = self._item_of_kind(named)
        if named:
            self.tree.setCurrentItem(asked or same or named[0])

    def show_state(self) -> None:
        """Draw the state of the chosen model again."""
        item, name = self.tree.currentItem(), self.chosen()
        if item is not None:
            known = next((one for one in self._store.known if one.name == name), None)
            model = self._store.entry(name) or known
            item.setText(4, self._state(model) if model is not None else "")

    def _item_of_kind(self, items: list[QTreeWidgetItem]) -> QTreeWidgetItem | None:
        """The line at which the dialog begins, once it is there; the list comes in parts."""
        if self._kind is None:
            return None
        kinds: dict[str, ModelKind] = {one.name: one.kind for one in self._store.available}
        kinds |= {one.name: one.kind for one in self._store.installed}
        found = [item for item in items if kinds.get(item.data(0, _NAME)) == self._kind]
        if not found:
            return None
        default = default_of(self._kind)
        self._kind = None
        return next((item for item in found if item.data(0, _NAME) == default), found[0])

    @Slot()
    def _on_pressed(self) -> None:
        self._kind = None

    def _heading(self, title: str) -> None:
        item = QTreeWidgetItem([title])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(0, font("heading"))
        self.tree.addTopLevelItem(item)
        item.setFirstColumnSpanned(True)

    def _line(self, model: Entry | Known) -> None:
        free = getattr(model, "free", None)
        if free is None:  # an installed one: its terms are known if it goes by name
            known = next((one for one in self._store.known if one.name == model.name), None)
            free = known is None or known.free
        licence = model.licence or _("not stated")
        if not free:
            licence = _("{licence}, not for commercial use", licence=licence)
        item = QTreeWidgetItem(
            [
                model.name,
                "" if getattr(model, "problem", "") else PARTS[model.kind],
                size_text(model.size),
                licence,
                self._state(model),
            ]
        )
        item.setData(0, _NAME, model.name)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        if not free:
            item.setIcon(3, icon("warning", "warn"))
        if getattr(model, "problem", ""):
            item.setIcon(4, icon("error", "warn"))
        for column in (0, 3, 4):
            item.setToolTip(column, item.text(column))
        self.tree.addTopLevelItem(item)

    def _state(self, model: Entry | Known) -> str:
        """The state of a model now, in few words."""
        store = self._store
        if (job := store.jobs.get(model.name)) is not None:
            return share_done(job) or _("In progress…")
        if (entry := store.entry(model.name)) is None:
            begun = store.begun.get(model.name, 0)
            return _("{size} downloaded", size=size_text(begun)) if begun else ""
        if entry.problem:
            return _("Damaged")
        if model.name in store.notes and not store.notes[model.name][1]:
            return _("Problem")
        if store.in_use(model.name):
            return _("In use")
        return _("Comes with the program") if entry.bundled else ""
