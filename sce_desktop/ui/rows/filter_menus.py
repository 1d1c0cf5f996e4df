"""What the filter bar's menus offer: orders, labels, states, columns, duplicates, coders."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from sce_desktop.controllers.queries import BY_SCORE, ORDERS, follow_runs, order_by, order_name
from sce_desktop.controllers.session import Session
from sce_desktop.controllers.start_review import NOTHING_OPEN, diverse
from sce_desktop.controllers.words import menu_text
from sce_desktop.core.annotations import USER
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.colours import colour_of
from sce_desktop.core.query import RowOrder, RowQuery, RowState
from sce_desktop.core.queues import DEFAULT_QUEUE
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.labels_dialog import ANOTHER_LABEL, LabelsDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.filter_words import STATES

_MOST_IN_MENU = 40


class FilterMenus(QWidget):
    """The base of the filter bar: each entry is a step of the session's query."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session

    @Slot()
    def _show_query(self) -> None:
        """Show again what is the case."""
        raise NotImplementedError

    def _set(self, query: RowQuery) -> None:
        """Make ``query`` the session's, or show again what is the case."""
        query = follow_runs(query, self._session.runs)
        if query == self._session.query:
            self._show_query()
        else:
            self._session.set_query(query)

    def _toggle_state(self, state: RowState) -> None:
        query = self._session.query
        self._set(replace(query, state=RowState.ANY if query.state is state else state))

    def _choose_disagree(self, disagree: bool | None) -> None:
        runs = self._session.runs
        if len(runs) > 1:
            pair = self._session.query.compare or (runs[0].id, runs[1].id)
            self._set(replace(self._session.query, disagree=disagree, compare=pair))

    def _add(
        self, menu: QMenu, text: str, do: Callable[[], None], *, checked: bool, enabled: bool = True
    ) -> QAction:
        action = QAction(menu_text(text), menu, checkable=True, checked=checked)
        action.setEnabled(enabled)
        action.triggered.connect(lambda _=False: do())
        menu.addAction(action)
        return action

    def order_menu(self) -> QMenu:
        """The orders to choose from; the one to begin with is marked."""
        menu, query, runs = QMenu(self), self._session.query, self._session.runs
        group = QActionGroup(menu)
        for name, order, descending in ORDERS:
            enabled = bool(runs) if order in BY_SCORE else len(runs) > 1 or order is not RowOrder.DISAGREE
            checked = name == order_name(query)
            choose = partial(self._choose_order, order, descending)
            text = name[:1].upper() + name[1:]
            if order is RowOrder.GIVEN:
                text, enabled = f"{text} (recommended)", bool(runs)
            action = self._add(menu, text, choose, checked=checked, enabled=enabled)
            group.addAction(action)
            if name == DEFAULT_QUEUE:
                menu.setDefaultAction(action)
        return menu

    def _choose_order(self, order: RowOrder, descending: bool) -> None:
        if order is RowOrder.GIVEN:
            self._ask_diverse()
            return
        seed = self._session.query.seed or random.getrandbits(32)  # drawn once: the order stays
        query = order_by(self._session.query, order, self._session.runs, descending=descending, seed=seed)
        if query is not None:
            self._set(query)

    def _ask_diverse(self) -> None:
        """Order the rows so that varied ones come first; that looks at their vectors."""
        job = self._session.review.find_diverse()
        if job is None:
            self._show_query()
            return
        job.finished.connect(self._on_diverse)
        job.ended.connect(self._show_query)

    @Slot(object)
    def _on_diverse(self, ids: IdArray) -> None:
        if not len(ids):
            self._session.tell(NOTHING_OPEN)
            return
        self._set(diverse(self._session.query, ids))

    def _add_labels(self, menu: QMenu) -> None:
        """Add the labels to filter by: as the model sees it, and as decided."""
        query, counts = self._session.query, self._session.counts
        parts = (
            ("SCE label", "predicted_ids", counts.predicted if counts else {}, bool(self._session.runs)),
            ("Your label", "label_ids", counts.labels if counts else {}, True),
        )
        for title, field, numbers, enabled in parts:
            of_field = menu.addMenu(title)
            of_field.setEnabled(enabled and bool(self._session.labels))
            chosen = getattr(query, field)
            first, rest = self._session.labels[:_MOST_IN_MENU], self._session.labels[_MOST_IN_MENU:]
            for label in (*first, *(label for label in rest if label.id in chosen)):
                number = numbers.get(label.id) if label.id is not None else None
                text = label.name if number is None else f"{label.name}  {number:,}"
                toggle = partial(self._toggle_label, field, label.id)
                action = self._add(of_field, text, toggle, checked=label.id in chosen)
                action.setIcon(label_icon(colour_of(label)))
            if rest:
                another = of_field.addAction(ANOTHER_LABEL)
                another.triggered.connect(
                    lambda _=False, field=field, title=title: self._ask_labels(field, title)
                )
            of_field.addSeparator()
            clear = of_field.addAction("Any label")
            clear.triggered.connect(lambda _=False, field=field: self._clear_labels(field))

    def _ask_labels(self, field: str, title: str) -> None:
        """Offer all labels, to be found by typing."""
        counts = self._session.counts
        numbers = {} if counts is None else counts.labels if field == "label_ids" else counts.predicted
        dialog = LabelsDialog(
            self._session,
            f"Filter by {title if title.startswith('SCE') else title.lower()}",
            numbers,
            getattr(self._session.query, field),
            partial(self._set_labels, field),
            self.window(),
        )
        open_dialog(dialog)

    def _set_labels(self, field: str, ids: tuple[int, ...]) -> None:
        run_id = self._session.runs[0].id if self._session.runs else None
        changes = {field: ids, "run_id": run_id}
        self._set(replace(self._session.query, **changes))  # type: ignore[arg-type]

    def _clear_labels(self, field: str) -> None:
        changes: dict[str, tuple[int, ...]] = {field: ()}
        self._set(replace(self._session.query, **changes))  # type: ignore[arg-type]

    def _toggle_label(self, field: str, label_id: int | None) -> None:
        ids: tuple[int, ...] = getattr(self._session.query, field)
        if label_id is None:
            return
        self._set_labels(
            field, tuple(i for i in ids if i != label_id) if label_id in ids else (*ids, label_id)
        )

    def more_menu(self) -> QMenu:
        """The filters that have no chip."""
        menu, query, counts = QMenu(self), self._session.query, self._session.counts
        self._add_labels(menu)
        menu.addSeparator()
        label_set, states = self._session.label_set, counts.states if counts else {}
        several = states.get(RowState.SEVERAL, 0) or (label_set is not None and label_set.multi_label)
        for name, state in STATES:
            if state is RowState.SEVERAL and not several:
                continue
            text = name if counts is None else f"{name}  {states.get(state, 0):,}"
            self._add(menu, text, partial(self._toggle_state, state), checked=query.state is state)
        menu.addSeparator()
        by_column = menu.addAction("A column…")
        by_column.triggered.connect(
            lambda _=False: open_dialog(ColumnFilterDialog(self._session, self.window()))
        )
        twice = None if query.duplicate else True
        again = partial(self._set, replace(query, duplicate=twice))
        self._add(menu, "Duplicates", again, checked=query.duplicate is True)
        for coder in self._session.project.coders() if self._session.project else ():
            differ = () if query.disagreeing == (USER, coder.id) else (USER, coder.id)
            show = partial(self._set, replace(query, disagreeing=differ))
            self._add(menu, f"{coder.name} disagrees with you", show, checked=not differ)
        menu.addSeparator()
        agree = partial(self._choose_disagree, None if query.disagree is False else False)
        pair = len(self._session.runs) > 1
        self._add(menu, "Models agree", agree, checked=query.disagree is False, enabled=pair)
        menu.addSeparator()
        blank = "No text" if counts is None else f"No text  {counts.blank:,}"
        for text, value in ((blank, True), ("With text", False)):
            wanted = None if query.blank is value else value
            self._add(
                menu, text, partial(self._set, replace(query, blank=wanted)), checked=query.blank is value
            )
        return menu
