"""The map: rows with like texts lie close together; what one sees there one selects there."""

from __future__ import annotations

import html
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QToolTip, QVBoxLayout, QWidget

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.review_work import NO_VECTORS
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.announcer import Announcer
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.kit.visibility import VisibilityGate
from sce_desktop.ui.map import map_looks
from sce_desktop.ui.map.map_controls import EmptyMap, MapBar, MapSide
from sce_desktop.ui.map.map_data import SOON_MS, MapData
from sce_desktop.ui.map.map_raster import Looks
from sce_desktop.ui.map.map_view import MapView
from sce_desktop.ui.rows.row_actions import RowActions
from sce_desktop.ui.rows.rows_table import MOST_SELECTED

_TIP = 300  # characters of a row's text
_NO_IDS = np.zeros(0, np.int64)


class MapPanel(QWidget):
    """Follows the navigation; a click on a point makes its row the current one."""

    _built = False  # Qt tells of the palette before there is anything to draw

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._preferences = preferences
        self.data = MapData(workspace, navigation, scorer, messages, VisibilityGate(self, SOON_MS), self)
        self.selected: IdArray = _NO_IDS  # row ids, in file order
        self._announced = 0  # how many were selected when that was announced last
        self.setAccessibleName(_("Map"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.view = MapView()
        self._announcer = Announcer(self.view)
        self.bar = MapBar()
        self.side = MapSide()
        self.empty = EmptyMap()
        self.row_actions = RowActions(workspace, navigation, edits, messages, self)
        self._build()
        self._connect()
        self._built = True
        self._on_settings()
        self._show_state()

    def _build(self) -> None:
        below = QHBoxLayout()
        below.setSpacing(px(SPACE_M))
        below.addWidget(self.view, 1)
        below.addWidget(self.side)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.bar)
        layout.addLayout(below, 1)
        self.pages = QStackedWidget()
        self.pages.setAccessibleName(_("Map or message"))
        self.pages.addWidget(page)
        self.pages.addWidget(self.empty)
        outside = QVBoxLayout(self)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.addWidget(self.pages)

    def _connect(self) -> None:
        data, view, bar, side = self.data, self.view, self.bar, self.side
        data.pointsChanged.connect(self._on_points)
        data.factsChanged.connect(self._paint)
        data.stateChanged.connect(self._show_state)
        data.progressed.connect(self.empty.show_text)
        data.progressed.connect(side.show_text)
        self._navigation.currentRowChanged.connect(self._mark_current)
        self._preferences.settingsChanged.connect(self._on_settings)
        self._workspace.projectClosed.connect(self.clear_selection)
        view.chosen.connect(self._choose)
        view.hovered.connect(self._show_tip)
        view.drawn.connect(self._select)
        view.toggled.connect(self._toggle)
        view.cleared.connect(self.clear_selection)
        bar.toolChosen.connect(self._set_tool)
        bar.zoomAsked.connect(view.zoom)
        bar.fitAsked.connect(view.fit)
        bar.showAsked.connect(self.show_selected)
        bar.decideAsked.connect(self._decide)
        bar.clearAsked.connect(self.clear_selection)
        bar.colourChosen.connect(self._on_colour)
        bar.methodChosen.connect(data.set_method)
        side.filterChosen.connect(data.set_only_shown)
        side.againAsked.connect(data.lay_out_again)
        side.legend.chosen.connect(self._paint)
        self.empty.scoreAsked.connect(self._scorer.start)
        self.empty.againAsked.connect(data.lay_out_again)

    # --- what is drawn -------------------------------------------------------------------------------------

    def changeEvent(self, event: QEvent) -> None:
        """Take the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._built:
            self._paint()

    @Slot()
    def _on_settings(self) -> None:
        self.bar.set_blind(self._navigation.blind)

    @Slot()
    def _on_colour(self) -> None:
        self.side.legend.clear_choice()
        self.side.show_text(self._in_words())
        self._paint()

    @Slot()
    def _on_points(self) -> None:
        self.selected = np.intersect1d(self.selected, self.data.row_ids)
        self._draw(new_points=True)

    @Slot()
    def _paint(self) -> None:
        self._draw(new_points=False)

    def _draw(self, *, new_points: bool) -> None:
        """Draw the points as they are now, and the legend with them."""
        found = self.data.map
        if self.data.facts is None or found is None:
            return
        facts, labels = self.data.point_facts(), self._workspace.labels
        predicted = self.bar.by_prediction
        codes = facts.predicted if predicted else facts.answers
        self.side.legend.show_entries(map_looks.entries(codes, labels, self.data.run, predicted=predicted))
        if new_points:
            self.view.set_points(found.places[self.data.points], self._looks())
        else:
            self.view.set_looks(self._looks())
        self._mark_current()
        count = len(self.selected)
        may_decide = count <= MOST_SELECTED and not self._workspace.read_only
        self.bar.show_count(count, may_decide=may_decide)
        if count != self._announced:
            self._announced = count
            self._announcer.say(self.bar.count.text() or _("Nothing selected."), topic="selection")

    def _looks(self) -> Looks:
        looks = map_looks.looks(
            self.data.point_facts(),
            self._workspace.labels,
            self.data.run,
            predicted=self.bar.by_prediction,
            chosen=self.side.legend.codes(),
        )
        if len(self.selected):
            looks.faded[~np.isin(self.data.row_ids, self.selected)] = True
        return looks

    # --- rows ----------------------------------------------------------------------------------------------

    @Slot()
    def _mark_current(self) -> None:
        self.view.set_current(self.data.point_of(self._navigation.current_row))

    @Slot(object)
    def _choose(self, point: int) -> None:
        self._navigation.set_current_row(int(self.data.row_ids[point]))

    @Slot(object, object)
    def _show_tip(self, point: int, at: QPoint) -> None:
        project = self._workspace.project
        if point < 0 or project is None or self.data.facts is None:
            QToolTip.hideText()
            return
        row = project.rows([int(self.data.row_ids[point])])[0]
        facts, place = self.data.facts, self.data.points[point]
        lines = [_("Row {number}", number=number(row.position + 1)), " ".join(row.text[:_TIP].split())]
        name = partial(map_looks.name_of, labels=self._workspace.labels)
        run = self.data.run
        yours = name(int(facts.answers[place]), run=run, predicted=False)
        lines.append(_("You: {label}", label=isolated(yours)))
        if run is not None and not self._navigation.blind:
            predicted = name(int(facts.predicted[place]), run=run, predicted=True)
            lines.append(_("Model: {label}", label=isolated(predicted)))
        self._announcer.say(". ".join(lines), topic="point")
        text = "".join(f"<p dir='auto' style='margin:0'>{html.escape(line)}</p>" for line in lines)
        QToolTip.showText(at, f"<div style='max-width:400px'>{text}</div>", self.view)

    @Slot(object)
    def _set_tool(self, tool: str) -> None:
        self.view.tool = tool  # type: ignore[assignment]
        shape = Qt.CursorShape.OpenHandCursor if tool == "move" else Qt.CursorShape.CrossCursor
        self.view.setCursor(shape)

    @Slot(object, object)
    def _select(self, mask: NDArray[np.bool_], adds: bool) -> None:
        found = self.data.row_ids[mask]
        self.selected = np.union1d(self.selected, found) if adds else found
        self._paint()

    @Slot(object)
    def _toggle(self, point: int) -> None:
        """Select a point too, or no longer."""
        self.selected = np.setxor1d(self.selected, self.data.row_ids[point : point + 1])
        self._paint()

    @Slot()
    def clear_selection(self) -> None:
        """Select nothing, and let all labels look alike."""
        self.selected = _NO_IDS
        self.side.legend.clear_choice()
        self._paint()

    @Slot()
    def show_selected(self) -> None:
        """Show the selected rows in the table, where they can be labelled in bulk."""
        if len(self.selected):
            self._navigation.show_ids(self.selected.tolist())
            self._navigation.rowsFocusAsked.emit()

    @Slot(object)
    def _decide(self, at: QPoint) -> None:
        if 0 < len(self.selected) <= MOST_SELECTED:
            self.row_actions.menu(self.selected.tolist()).popup(at)

    # --- the messages --------------------------------------------------------------------------------------

    @Slot()
    def _show_state(self) -> None:
        data = self.data
        self.pages.setCurrentIndex(0 if data.facts is not None else 1)
        self.bar.show_method(data.method)
        old = data.map is not None and data.map.missing > 0
        self.side.show_text(self._in_words())
        self.side.again.setVisible(old and data.method == "umap" and not data.working)
        self.view.setAccessibleDescription(self._in_words())
        if data.working or data.map is not None:
            self.empty.show_text(_("Loading text vectors…"))
        elif data.failure:
            missing = "" if data.may_retry else self._scorer.why_not()
            self.empty.show_text(" ".join(filter(None, (data.failure, missing))))
        elif self._scorer.known_vectors is None and not self._scorer.ready:
            self.empty.show_text(_("The map appears when the model is loaded."))
        else:
            self.empty.show_text(self._scorer.why_no_vectors() or NO_VECTORS)
        failed, again = bool(data.failure), data.may_retry
        scores = failed and not again and self._scorer.job is None and not self._scorer.why_not()
        self.empty.score.setVisible(scores)
        self.empty.again.setVisible(failed and again)

    def _in_words(self) -> str:
        data = self.data
        if data.map is None:
            return ""
        sentences = [ngettext("{count} row on the map.", "{count} rows on the map.", len(data.points))]
        if data.map.sampled_from:
            sentences.append(
                ngettext(
                    "They are a random sample of {count} row.",
                    "They are a random sample of {count} rows.",
                    data.map.sampled_from,
                )
            )
        if (painted := len(self.view.painted)) < len(data.points):
            sentences.append(
                ngettext(
                    "{count} row, chosen at random, is drawn; a lasso selects all.",
                    "{count} rows, chosen at random, are drawn; a lasso selects all.",
                    painted,
                )
            )
        if missing := data.map.missing:
            sentences.append(
                ngettext(
                    "{count} row has no text vector yet: press Score.",
                    "{count} rows have no text vector yet: press Score.",
                    missing,
                )
            )
        if self.bar.by_prediction:
            sentences.append(_("Large marks: labelled by you."))
        return " ".join(sentences)
