"""What the filter bar's menus offer: orders, labels, states, columns, duplicates, annotators."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import BY_SCORE, ORDERS, follow_runs, is_selection, name_of, order_by
from sce_desktop.controllers.start_review import NOTHING_OPEN, StartReview, diverse
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import USER
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, number
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.queues import DEFAULT_QUEUE
from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.labels_dialog import ANOTHER_LABEL, LabelsDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.filter_words import STATES

_MOST_IN_MENU = 40


class FilterMenus(QWidget):
    """The base of the filter bar: each entry is a step of the query."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        review: StartReview,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._review = review
        self._messages = messages

    @Slot()
    def _show_query(self) -> None:
        """Show again what is the case."""
        raise NotImplementedError

    def _set(self, query: RowQuery) -> None:
        """Take ``query``, or show again what is the case."""
        query = follow_runs(query, self._workspace.runs)
        if query == self._navigation.query:
            self._show_query()
        else:
            self._navigation.set_query(query)

    def _toggle_state(self, state: RowState) -> None:
        query = self._navigation.query
        self._set(replace(query, state=RowState.ANY if query.state is state else state))

    def _choose_disagree(self, disagree: bool | None) -> None:
        runs = self._workspace.runs
        if len(runs) > 1:
            pair = self._navigation.query.compare or (runs[0].id, runs[1].id)
            self._set(replace(self._navigation.query, disagree=disagree, compare=pair))

    def _add(
        self, menu: QMenu, text: str, do: Callable[[], None], *, checked: bool, enabled: bool = True
    ) -> QAction:
        action = QAction(menu_text(text), menu, checkable=True, checked=checked)
        action.setEnabled(enabled)
        action.triggered.connect(lambda _checked=False: do())
        menu.addAction(action)
        return action

    def order_menu(self) -> QMenu:
        """The orders to choose from; the one to begin with is marked."""
        menu, query, runs = QMenu(self), self._navigation.query, self._workspace.runs
        group = QActionGroup(menu)
        for key, order, descending in ORDERS:
            enabled = bool(runs) if order in BY_SCORE else len(runs) > 1 or order is not RowOrder.DISAGREE
            checked = not is_selection(query) and (query.order, query.descending) == (order, descending)
            choose = partial(self._choose_order, order, descending)
            text = name_of(key)
            if order is RowOrder.GIVEN:
                text, enabled = _("Diverse (recommended)"), bool(runs)
            action = self._add(menu, text, choose, checked=checked, enabled=enabled)
            group.addAction(action)
            if key == DEFAULT_QUEUE:
                menu.setDefaultAction(action)
        return menu

    def _choose_order(self, order: RowOrder, descending: bool) -> None:
        if order is RowOrder.GIVEN:
            self._ask_diverse()
            return
        seed = self._navigation.query.seed or random.getrandbits(32)  # drawn once: the order stays
        query = order_by(
            self._navigation.query, order, self._workspace.runs, descending=descending, seed=seed
        )
        if query is not None:
            self._set(query)

    def _ask_diverse(self) -> None:
        """Order the rows so that varied ones come first; that looks at their vectors."""
        job = self._review.find_diverse()
        if job is None:
            self._show_query()
            return
        job.finished.connect(self._on_diverse)
        job.ended.connect(self._show_query)

    @Slot(object)
    def _on_diverse(self, ids: IdArray) -> None:
        if not len(ids):
            self._messages.notify(NOTHING_OPEN)
            return
        self._set(diverse(self._navigation.query, ids))

    def _add_labels(self, menu: QMenu) -> None:
        """Add the labels to filter by: as the model sees it, and as decided."""
        query, counts = self._navigation.query, self._workspace.counts
        parts = (
            (_("SCE label"), "predicted_ids", counts.predicted if counts else {}, bool(self._workspace.runs)),
            (_("Your label"), "label_ids", counts.labels if counts else {}, True),
        )
        for title, field, numbers, enabled in parts:
            of_field = menu.addMenu(title)
            of_field.setEnabled(enabled and bool(self._workspace.labels))
            chosen = getattr(query, field)
            first, rest = self._workspace.labels[:_MOST_IN_MENU], self._workspace.labels[_MOST_IN_MENU:]
            for label in (*first, *(label for label in rest if label.id in chosen)):
                rows = numbers.get(label.id) if label.id is not None else None
                text = label.name if rows is None else f"{label.name}  {number(rows)}"
                toggle = partial(self._toggle_label, field, label.id)
                action = self._add(of_field, text, toggle, checked=label.id in chosen)
                action.setIcon(label_icon(colour_of(label)))
            if rest:
                another = of_field.addAction(ANOTHER_LABEL)
                another.triggered.connect(lambda _checked=False, field=field: self._ask_labels(field))
            of_field.addSeparator()
            clear = of_field.addAction(_("Any label"))
            clear.triggered.connect(lambda _checked=False, field=field: self._clear_labels(field))

    def _ask_labels(self, field: str) -> None:
        """Offer all labels, to be found by typing."""
        counts = self._workspace.counts
        numbers = {} if counts is None else counts.labels if field == "label_ids" else counts.predicted
        dialog = LabelsDialog(
            self._workspace,
            _("Filter by your label") if field == "label_ids" else _("Filter by SCE label"),
            numbers,
            getattr(self._navigation.query, field),
            partial(self._set_labels, field),
            self.window(),
        )
        open_dialog(dialog)

    def _set_labels(self, field: str, ids: tuple[int, ...]) -> None:
        run_id = self._workspace.runs[0].id if self._workspace.runs else None
        changes = {field: ids, "run_id": run_id}
        self._set(replace(self._navigation.query, **changes))  # type: ignore[arg-type]

    def _clear_labels(self, field: str) -> None:
        changes: dict[str, tuple[int, ...]] = {field: ()}
        self._set(replace(self._navigation.query, **changes))  # type: ignore[arg-type]

    def _toggle_label(self, field: str, label_id: int | None) -> None:
        ids: tuple[int, ...] = getattr(self._navigation.query, field)
        if label_id is None:
            return
        self._set_labels(
            field, tuple(i for i in ids if i != label_id) if label_id in ids else (*ids, label_id)
        )

    def more_menu(self) -> QMenu:
        """The filters that have no chip."""
        menu, query, counts = QMenu(self), self._navigation.query, self._workspace.counts
        self._add_labels(menu)
        menu.addSeparator()
        label_set, states = self._workspace.label_set, counts.states if counts else {}
        several = states.get(RowState.SEVERAL, 0) or (label_set is not None and label_set.multi_label)
        for name, state in STATES:
            if state is RowState.SEVERAL and not several:
                continue
            text = name if counts is None else f"{name}  {number(states.get(state, 0))}"
            self._add(menu, text, partial(self._toggle_state, state), checked=query.state is state)
        menu.addSeparator()
        by_column = menu.addAction(_("Column…"))
        by_column.triggered.connect(
            lambda _checked=False: open_dialog(
                ColumnFilterDialog(self._workspace, self._navigation, self.window())
            )
        )
        twice = None if query.duplicate else True
        again = partial(self._set, replace(query, duplicate=twice))
        self._add(menu, _("Duplicates"), again, checked=query.duplicate is True)
        for annotator in self._workspace.project.coders() if self._workspace.project else ():
            differ = () if query.disagreeing == (USER, annotator.id) else (USER, annotator.id)
            show = partial(self._set, replace(query, disagreeing=differ))
            self._add(menu, _("{name} disagrees with you", name=annotator.name), show, checked=not differ)
        menu.addSeparator()
        agree = partial(self._choose_disagree, None if query.disagree is False else False)
        pair = len(self._workspace.runs) > 1
        self._add(menu, _("Models agree"), agree, checked=query.disagree is False, enabled=pair)
        menu.addSeparator()
        blank = _("No text") if counts is None else f"{_('No text')}  {number(counts.blank)}"
        for text, value in ((blank, True), (_("With text"), False)):
            wanted = None if query.blank is value else value
            self._add(
                menu, text, partial(self._set, replace(query, blank=wanted)), checked=query.blank is value
            )
        return menu
