"""How good the models are on the labelled rows, and always what such figures apply to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.audit_review import AuditReview
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.queries import without_filters
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.ui.evaluate import evaluate_words as words
from sce_desktop.ui.evaluate.audit_dialog import AuditDialog
from sce_desktop.ui.evaluate.confusion_view import ConfusionView
from sce_desktop.ui.evaluate.doubts_list import DoubtsList
from sce_desktop.ui.evaluate.evaluate_bar import EvaluateBar
from sce_desktop.ui.evaluate.evaluate_charts import Charts
from sce_desktop.ui.evaluate.measuring import Measuring
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.figures_table import ROW_HEIGHT, FiguresTable
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.rows.rows_delegate import colours_of_names

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.quality import Part

CONFUSIONS = "confusion"  # the name of rows that a confusion shows, as it is kept with decisions


class EvaluatePanel(QWidget):
    """Follows the workspace while it is seen."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        audit: AuditReview,
        preferences: Preferences,
        messages: Messages,
    ) -> None:
        super().__init__()
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._audit = audit
        self._messages = messages
        self._source: int | None = None  # chosen by the user
        self.setAccessibleName(_("Evaluate"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.bar = EvaluateBar()
        self.message = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.message.setAccessibleName(_("Why there are no results"))
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setContentsMargins(px(SPACE_L), 0, px(SPACE_L), px(SPACE_L))
        set_role(self.message, "muted")
        self.models = FiguresTable(_("Models"), sortable=False)
        self.summary = QLabel(wordWrap=True)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.summary.setAccessibleName(_("Coverage and comparison"))
        self.summary.setContentsMargins(px(SPACE_M) // 2, px(SPACE_S), px(SPACE_M), px(SPACE_S))
        set_role(self.summary, "pane")
        self.summary.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.labels = FiguresTable(_("Results by label"))
        self.details = QCheckBox(_("Precision and recall"))
        self.details.setToolTip(_("Show precision and recall beside F1"))
        self.details.toggled.connect(self._show_labels)
        self.confusions = ConfusionView()
        self.doubts = DoubtsList(workspace, navigation, scorer)
        self.charts = Charts()
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(_("Results"))
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        for title, page in (
            (_("Labels"), self.labels),
            (_("Confusion matrix"), self.confusions),
            (_("Charts"), self.charts),
            (_("Label errors"), self.doubts),
        ):
            self.tabs.addTab(page, title)
        corner = QWidget()
        line = QHBoxLayout(corner)
        line.setContentsMargins(0, 0, px(SPACE_M), 0)
        line.addWidget(self.details)
        self.tabs.setCornerWidget(corner)
        self._corner = corner
        self.bar.arranged.connect(self._place_details)
        self._build()
        self.tabs.currentChanged.connect(self._on_tab)
        self.pages.currentChanged.connect(self._on_tab)
        self._on_tab()
        self.measuring = Measuring(workspace, navigation, scorer, preferences, self.bar, self)
        self.measuring.changed.connect(self._show)
        self.measuring.late.connect(self._show_result)
        self._connect()
        self._show()
        self.measuring.refresh_soon()

    @Slot(bool)
    def _place_details(self, narrow: bool) -> None:
        """Have the check box beside the tabs where there is room for both."""
        if narrow:
            self.bar.add_beside(self.details)
        else:
            layout = self._corner.layout()
            assert layout is not None
            layout.addWidget(self.details)
        self.tabs.setCornerWidget(self._corner)  # for its new size; it hides the one of before
        self._corner.show()

    def _build(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(px(SPACE_M) // 2, 0, 0, 0)  # the cells have the other half
        column.setSpacing(0)
        column.addWidget(self.models)
        scroll = QScrollArea()
        scroll.setAccessibleName(_("Coverage and comparison"))
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.summary)
        for widget in (self.summary, scroll.viewport()):
            widget.setAutoFillBackground(False)
        column.addWidget(scroll, 1)
        figures = QSplitter()
        figures.setChildrenCollapsible(False)
        figures.addWidget(left)
        figures.addWidget(self.tabs)
        figures.setStretchFactor(1, 1)
        figures.setSizes([px(410), px(860)])
        self.pages = QStackedWidget()
        self.pages.setAccessibleName(_("Results or message"))
        self.pages.setMinimumSize(px(320), px(120))  # charts would like more, and the window would grow
        self.pages.addWidget(self.message)
        self.pages.addWidget(figures)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.pages, 1)

    def _connect(self) -> None:
        bar = self.bar
        self._workspace.thresholdChanged.connect(self._on_threshold)
        self._audit.stateChanged.connect(self._show_audit)
        self._navigation.queryChanged.connect(self._show_audit)
        bar.drawAsked.connect(self.ask_sample)
        bar.continueAsked.connect(self._audit.go_on)
        bar.stopAsked.connect(self._leave_sample)
        bar.copyAsked.connect(self.copy)
        bar.sourceChosen.connect(self._choose_source)
        self.models.selectionModel().currentRowChanged.connect(self._show_confusions)
        self.labels.chosen.connect(self._choose_label)
        self.confusions.chosen.connect(self._choose_confusion)

    # --- what is shown -------------------------------------------------------------------------------------

    @property
    def part(self) -> Part | None:
        """The labelled rows that the figures are from; None: there are none."""
        found = self.measuring.found
        parts = {} if found is None else {part.source: part for part in found.quality.parts}
        if self._source in parts:
            return parts[self._source]  # type: ignore[index]
        measured = [part for part in parts.values() if part.models]
        return next(iter(measured or parts.values()), None)

    @Slot()
    def _show(self) -> None:
        blind = self._navigation.blind  # even the counts of rows that a model gets wrong would tell of it
        found, part = (None, None) if blind else (self.measuring.found, self.part)
        self.bar.show_parts(found, part)
        self._show_audit()
        if found is None or part is None or not part.models:
            self.bar.show_result("", "", "")
            self.message.setText(self._why_empty(part))
            self.pages.setCurrentIndex(0)
            return
        self.pages.setCurrentIndex(1)
        self._show_result()
        row = max(0, self.models.currentIndex().row())
        self.models.show_rows(*words.model_rows(part))
        self.models.selectRow(min(row, len(part.models) - 1))
        self.models.setFixedHeight(px(34) + px(ROW_HEIGHT) * min(4, len(part.models)))
        self._show_labels()
        self._show_confusions()
        self._show_charts()

    @Slot()
    def _show_labels(self) -> None:
        found, part = self.measuring.found, self.part
        if found is None or part is None or not part.models or self._navigation.blind:
            return
        # No method of the panel: a widget that only the garbage collector can destroy crashes Qt.
        colours = colours_of_names(found.quality.labels, self._workspace.labels)
        icon = partial(_icon_of, colours)
        details = self.details.isChecked()
        self.labels.show_rows(*words.label_rows(found.quality.labels, part, details=details), icon)

    @Slot()
    def _on_tab(self) -> None:
        shown = self.pages.currentIndex() == 1
        self.details.setVisible(shown and self.tabs.currentWidget() is self.labels)

    @Slot()
    def _show_result(self) -> None:
        """Show the result with its basis, and that another is on its way where that takes a while."""
        found, part = self.measuring.found, self.part
        if found is None or part is None or not part.models or self._navigation.blind:
            return
        rows, late = words.basis(part), self.measuring.is_late
        self.bar.show_result(
            words.result(part),
            f"{words.LATE} {rows}" if late else rows,
            words.caveats(found.quality, part, multi_label=found.multi_label),
        )

    def _why_empty(self, part: Part | None) -> str:
        if self._workspace.project is None:
            return ""
        if not self._workspace.labels:
            return words.NO_LABELS
        if self._navigation.blind:
            return words.BLIND_AUDIT if self._audit.shown else words.BLIND
        if self._scorer.job is not None and self.measuring.found is None:
            return words.SCORING
        if not self._workspace.runs:
            return words.NOT_SCORED
        if self.measuring.found is None:
            return words.EVALUATING
        if part is None:
            return words.NOT_LABELLED
        return words.nothing_measured(self.measuring.found.quality, part)

    @Slot()
    def _on_threshold(self) -> None:
        if not self._navigation.blind:
            self._show_charts()

    @Slot()
    def _show_audit(self) -> None:
        audit = self._audit
        ready = self._workspace.project is not None and bool(self._workspace.labels)
        self.bar.show_audit(audit.state, ready=ready, shown=audit.shown)

    @Slot()
    def _show_confusions(self) -> None:
        part, row = self.part, self.models.currentIndex().row()
        if self.measuring.found is None or part is None or not 0 <= row < len(part.models):
            return
        self.confusions.show_part(self.measuring.found.quality.labels, part, row)
        if len(part.models) > 1:
            model = words.model_name(part.models[row].alias)
            self.tabs.setTabText(1, _("Confusion matrix: {model}", model=model))
        else:
            self.tabs.setTabText(1, _("Confusion matrix"))

    @Slot()
    def _show_charts(self) -> None:
        part = self.part
        if part is None or not part.models:
            return
        covered = words.coverage(part, self._workspace.threshold)
        assert self.measuring.found is not None
        lines = (covered, words.comparisons(part), words.missing(self.measuring.found.quality))
        self.summary.setText("\n".join(line for line in lines if line))
        self.summary.setToolTip(words.unfitting(part))
        named = [(words.model_name(model.alias), model) for model in part.models]
        described = "\n".join(line for line in (covered, words.unfitting(part)) if line)
        self.charts.show_quality(named, words.calibration(part), described)

    # --- choosing ------------------------------------------------------------------------------------------

    @Slot(object)
    def _choose_source(self, source: int) -> None:
        self._source = source
        self._show()

    @Slot(object)
    def _choose_label(self, number: int) -> None:
        part = self.part
        if part is not None and part.models:
            self._show_rows(part.row_ids[part.models[0].gold == number].tolist())

    @Slot(object)
    def _choose_confusion(self, pair: tuple[int, int]) -> None:
        part = self.part
        if part is not None and part.models:
            self._show_rows(part.cell(self.models.currentIndex().row(), *pair).tolist())

    def _show_rows(self, ids: list[int]) -> None:
        if ids:
            self._navigation.show_ids(ids, name=CONFUSIONS)

    @Slot()
    def _leave_sample(self) -> None:
        """Show all rows again; the sample can be continued later."""
        self._navigation.set_query(without_filters(self._navigation.query))

    @Slot()
    def ask_sample(self) -> None:
        """Offer to draw the audit sample, or more rows for it."""
        if not self._workspace.refuses_edit():
            open_dialog(AuditDialog(self._workspace, self._audit, self.window()))

    @Slot()
    def copy(self) -> None:
        """Put the figures of the models and of the open tab on the clipboard, for a spreadsheet."""
        found, part = self.measuring.found, self.part
        if found is None or part is None or not part.models or self._navigation.blind:
            return
        page = self.tabs.currentWidget()
        shown = self.labels.figures.tsv()
        if page in (self.confusions, self.doubts):
            shown = page.tsv()
        quality = found.quality
        notes = (
            self.bar.basis.text(),
            words.caveats(quality, part, multi_label=found.multi_label),
            words.missing(quality),
        )
        line = " ".join(" ".join(notes).split())
        QGuiApplication.clipboard().setText(f"{line}\n{self.models.figures.tsv()}\n{shown}")
        self._messages.notify(_("The figures were copied."))


def _icon_of(colours: Sequence[str], number: int) -> QIcon:
    return label_icon(colours[number])
