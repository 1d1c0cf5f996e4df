"""Which rows are shown, and in which order: chips over the table, each a step of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from sce_desktop.controllers import rows_data
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import follow_runs, has_filters, order_name, without_filters
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.start_review import StartReview
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.scored import other_runs
from sce_desktop.core.text import menu_text, share_text
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, chip_width, px, set_role
from sce_desktop.ui.rows.column_chips import ColumnChips
from sce_desktop.ui.rows.confidence_menu import ConfidenceMenu
from sce_desktop.ui.rows.filter_menus import FilterMenus
from sce_desktop.ui.rows.filter_words import filters_in_words

_COUNT_MS = 1500  # counting disagreement looks at every score: not at each of them, where that takes long
_COUNT_PART = 0.2  # of the time, at most, it is counted
_NARROW = 440
_MOST_ORDER = 160  # of the name of a column


class FilterBar(FilterMenus):
    """Follows the query and the counts."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        review: StartReview,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, navigation, review, messages, parent)
        self._scorer = scorer
        self._threshold = 0.6
        self._disagree: int | None = None
        self._narrow = False
        self._count_job: Job | None = None
        self.setAccessibleName(_("Filters"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.all = self._chip(_("All"), self._show_all)
        self.disagree = self._chip(_("Models disagree"), self._toggle_disagree)
        self.unlabelled = self._chip(_("Unlabelled"), partial(self._toggle_state, RowState.UNLABELLED))
        self.flagged = self._chip(_("Flagged"), partial(self._toggle_state, RowState.FLAGGED))
        self.confidence = self._chip(_("Confidence"), self._toggle_confidence)
        self.more = self._chip(_("More"), self._open_more)
        self.order = QToolButton()
        self.order.setAccessibleName(_("Order of rows"))
        self.order.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_role(self.order, "quiet")
        set_icon(self.order, "sort", "muted")
        self.order.clicked.connect(self._open_order)
        chips = QWidget()
        chips.setAccessibleName(_("Filters"))
        chips.setSizePolicy(policy)
        self._flow = flow = FlowLayout(chips, gap=px(4))
        self._chips = (
            self.all,
            self.disagree,
            self.unlabelled,
            self.flagged,
            self.confidence,
            self.more,
        )
        for chip in self._chips:
            flow.addWidget(chip)
        self.columns = ColumnChips(flow, chips)
        self.columns.cleared.connect(self._clear_columns)
        self._line = layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_S), px(SPACE_S))
        layout.addWidget(chips, 1)
        layout.addWidget(self.order, 0, Qt.AlignmentFlag.AlignTop)
        self.confidence_menu = ConfidenceMenu(self)
        self.confidence_menu.changed.connect(self._set_threshold)
        self._counting: tuple[tuple[int, int], ...] = ()  # like `_compared`, of the count that runs
        self._compared: tuple[tuple[int, int], ...] = ()  # runs, and how far they were when that was counted
        self._count_seconds = 0.0  # that the last count took
        self._count_soon = QTimer(self, singleShot=True, interval=_COUNT_MS)
        self._count_soon.timeout.connect(self._count_disagreement)
        navigation.queryChanged.connect(self._show_query)
        workspace.projectOpened.connect(self._on_project)
        workspace.projectClosed.connect(self._on_project)
        workspace.countsChanged.connect(self._on_counts)
        workspace.labelsChanged.connect(self._on_labels)
        workspace.scoresChanged.connect(self._on_scores)
        scorer.modelsChanged.connect(self._on_models)
        self._show_query()

    def _chip(
        self,
        text: str,
        do: Callable[[], None],
    ) -> QPushButton:
        chip = QPushButton(text)
        chip.setCheckable(True)
        set_role(chip, "chip")
        chip.clicked.connect(lambda _checked=False: do())
        return chip

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, leave the chips that are in the menu too to the menu."""
        super().resizeEvent(event)
        narrow = self.width() < px(_NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            self.unlabelled.setVisible(not narrow)
            self.flagged.setVisible(not narrow)
            self._show_query()
        self._fit()

    def _fit(self) -> None:
        """Keep the chips on one line as long as it goes: say less where the room ends."""
        icon, words = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for short, bare in ((False, self._narrow), (True, self._narrow), (True, True)):
            below = share_text(self._threshold)
            name = _("Confidence < {share}", share=below)
            _label(self.confidence, _("Below {share}", share=below) if short else name, None)
            self.confidence.setAccessibleName(name)
            _label(self.disagree, _("Disagree") if short else _("Models disagree"), self._disagree)
            self.disagree.setAccessibleName(_("Models disagree"))
            self.order.setToolButtonStyle(icon if bare else words)
            if self._needed() <= self.width():
                break
        for chip in self.columns.chips:
            chip.show()  # not before there is room: showing lays all of the window out
        self._flow.invalidate()  # else chips may keep the width of the longer words
        self._line.activate()  # the order may leave them more room now: else they would take two lines first
        self._flow.activate()

    def _needed(self) -> int:
        """The width at which all is on one line."""
        shown = [chip for chip in self._chips if not chip.isHidden()] + self.columns.chips
        chips = sum(max(chip.sizeHint().width(), chip.minimumWidth()) for chip in shown)
        around = self._line.contentsMargins()
        gaps = px(4) * (len(shown) - 1) + self._line.spacing() + around.left() + around.right()
        return chips + gaps + self.order.sizeHint().width()

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show_query(self) -> None:
        query = self._navigation.query
        self._show_counts()
        if query.confidence is not None:
            self._threshold = query.confidence[1]
        self.all.setChecked(not has_filters(query))
        self.disagree.setChecked(query.disagree is True)
        self.unlabelled.setChecked(query.state is RowState.UNLABELLED)
        self.flagged.setChecked(query.state is RowState.FLAGGED)
        self.confidence.setChecked(query.confidence is not None)
        self._show_more_chip(query)
        columns = self._workspace.project.columns if self._workspace.project is not None else ()
        self.columns.show_filters(query.cells, columns)
        order = order_name(query, columns)
        scored = bool(self._workspace.runs)
        pair = len(self._workspace.runs) > 1
        self.disagree.setEnabled(pair)
        self.disagree.setToolTip(
            _("Rows where SCE and the baseline predict different labels")
            if pair
            else _("Needs scores from a model and a baseline")
        )
        self.confidence.setEnabled(scored)
        self.confidence.setToolTip(_("Rows with low confidence") if scored else _("Needs scores"))
        shown = self.fontMetrics().elidedText(order, Qt.TextElideMode.ElideRight, px(_MOST_ORDER))
        self.order.setText(f"{menu_text(shown)} ▾")
        self.order.setFixedHeight(self.all.sizeHint().height())  # in line with the chips
        self.order.setAccessibleDescription(order)
        self.order.setToolTip(_("Order of rows: {order}", order=order))
        self._fit()
        self.updateGeometry()

    def _show_counts(self) -> bool:
        """Show how many rows there are; return whether a chip is wider or narrower now."""
        counts = self._workspace.counts
        states = counts.states if counts else {}
        others = [
            _label(self.all, _("All"), counts.rows if counts else None),
            _label(self.unlabelled, _("Unlabelled"), states.get(RowState.UNLABELLED)),
            _label(self.flagged, _("Flagged"), states.get(RowState.FLAGGED)),
        ]
        return any(others)

    def _show_more_chip(self, query: RowQuery) -> None:
        own = () if self._narrow else (RowState.UNLABELLED, RowState.FLAGGED)  # have chips
        chosen = filters_in_words(replace(query, cells=()), self._workspace.labels, (), beside=own)
        text = _("More")
        if chosen:
            text = (
                chosen[0] if len(chosen) == 1 else ngettext("{count} filter", "{count} filters", len(chosen))
            )
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, px(150))
        self.more.setText(menu_text(shown) + " ▾")
        self.more.setMinimumWidth(chip_width(self.more.text()))
        self.more.setAccessibleName(_("More filters"))
        self.more.setAccessibleDescription(", ".join(chosen) or _("none"))
        self.more.setToolTip("\n".join(chosen) or _("Filter by label, mark, column or text"))
        self.more.setChecked(bool(chosen))

    # --- following -----------------------------------------------------------------------------------------

    @Slot()
    def _on_project(self) -> None:
        self._disagree = None
        self._compared = ()
        self._threshold = 0.6
        self._show_query()
        self._count_disagreement()

    @Slot()
    def _on_counts(self) -> None:
        if self._show_counts():
            self._fit()
            self.updateGeometry()
        self._follow_scores()

    def _follow_scores(self) -> None:
        """Count again if models have scored more; decisions change nothing in what they say."""
        if self._scores() != self._compared and not self._count_soon.isActive() and self._count_job is None:
            self._count_soon.start(min(_COUNT_MS, int(1000 * self._count_seconds / _COUNT_PART)))

    def _scores(self) -> tuple[tuple[int, int], ...]:
        """What the runs shown have scored by now."""
        return tuple((run.id, run.scored) for run in self._workspace.runs[:2])

    @Slot()
    def _on_labels(self) -> None:
        known = {label.id for label in self._workspace.labels}
        query = self._navigation.query
        now = replace(
            query,
            predicted_ids=tuple(i for i in query.predicted_ids if i in known),
            label_ids=tuple(i for i in query.label_ids if i in known),
            former_ids=tuple(i for i in query.former_ids if i not in known),  # a split undone
        )
        # Else no word of the bar is about labels, and laying it out takes a while.
        if now.predicted_ids or now.label_ids or follow_runs(now, self._workspace.runs) != query:
            self._set(now)

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        """Where other runs are shown now, ask about those."""
        if other_runs(change):
            self._set(self._navigation.query)

    @Slot()
    def _on_models(self) -> None:
        """Count at once when scoring has ended."""
        if self._scorer.job is None:
            self._count_disagreement()

    @Slot()
    def _count_disagreement(self) -> None:
        if self._count_job is not None:
            return  # it counts already; more counts come while scores do
        if self._workspace.project is None or len(self._workspace.runs) < 2:
            if self._disagree is not None:
                self._disagree = None
                self._show_query()
            return
        self._counting = self._scores()
        pair = (self._workspace.runs[0].id, self._workspace.runs[1].id)
        job = self._workspace.submit(
            rows_data.count_rows,
            self._workspace.project,
            RowQuery(compare=pair, disagree=True),
            title=_("Counting rows"),
            worker=self._workspace.counts_in(),
            quiet=True,
        )
        job.finished.connect(self._on_disagreement)
        job.ended.connect(self._on_count_ended)
        self._count_soon.stop()
        self._count_job = job

    @Slot(object)
    def _on_disagreement(self, count: int) -> None:
        if self._workspace.project is None:
            return
        same, self._disagree, self._compared = count == self._disagree, count, self._counting
        if not same:
            self._show_query()

    @Slot()
    def _on_count_ended(self) -> None:
        self._compared = self._counting  # also where it failed: it is not tried again and again
        if self._count_job is not None:
            self._count_seconds = self._count_job.seconds
        self._count_job = None
        if self._workspace.project is not None and len(self._workspace.runs) > 1:
            self._follow_scores()  # more came while it was counted

    # --- choosing ------------------------------------------------------------------------------------------

    @Slot(object)
    def _clear_columns(self, places: tuple[int, ...]) -> None:
        query = self._navigation.query
        self._set(replace(query, cells=tuple(cell for cell in query.cells if cell.column not in places)))

    def _show_all(self) -> None:
        self._set(without_filters(self._navigation.query))

    def _toggle_disagree(self) -> None:
        self._choose_disagree(None if self._navigation.query.disagree is True else True)

    def _toggle_confidence(self) -> None:
        if self._navigation.query.confidence is not None:
            self._set(replace(self._navigation.query, confidence=None))
            return
        self._set_threshold(self._threshold)
        if self._navigation.query.confidence is not None:
            self.confidence_menu.open_at(self._below(self.confidence), self._threshold)

    @Slot(object)
    def _set_threshold(self, threshold: float) -> None:
        self._threshold = threshold
        if self._workspace.runs:
            run_id = self._workspace.runs[0].id
            self._set(replace(self._navigation.query, run_id=run_id, confidence=(0.0, threshold)))

    def _below(self, widget: QWidget) -> QPoint:
        return widget.mapToGlobal(QPoint(0, widget.height() + px(2)))

    def _popup(self, menu: QMenu, widget: QWidget) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._below(widget))
        self._show_query()  # a click on a chip toggles it before anything is chosen

    def _open_order(self) -> None:
        self._popup(self.order_menu(), self.order)

    def _open_more(self) -> None:
        self._popup(self.more_menu(), self.more)


def _label(chip: QPushButton, name: str, count: int | None) -> bool:
    """Name a chip; return whether that changes its width."""
    text = name
    if count is not None:  # of millions the exact number is in the status bar, or a click away
        text += f" {number(count)}" if count < 1_000_000 else f" {number(count / 1e6, 1)}M"
    if chip.text() != text:
        chip.setText(text)
        width = chip_width(text)
        other = width != chip.minimumWidth()
        if other:
            chip.setMinimumWidth(width)
        chip.setAccessibleName(name)
        chip.setAccessibleDescription("" if count is None else ngettext("{count} row", "{count} rows", count))
        return other
    return False
