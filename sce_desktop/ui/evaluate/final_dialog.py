"""Final labels: rows that the model labels against the error to expect, and the threshold that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from sce_desktop.controllers import final_work
from sce_desktop.controllers.audit_review import AuditReview
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number, percent
from sce_desktop.core.text import exact_share_text, share_text
from sce_desktop.ui.evaluate.audit_dialog import AuditDialog
from sce_desktop.ui.evaluate.evaluate_charts import Chart
from sce_desktop.ui.kit.dialog_parts import dialog_column, indent_number, ok_and_cancel, open_dialog
from sce_desktop.ui.kit.fields import Slider, SpinBox
from sce_desktop.ui.kit.line_chart import Point
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role, tokens

if TYPE_CHECKING:
    from sce_desktop.core.selective import AtThreshold
    from sce_desktop.tasks.evaluation.final_labels import FinalLabels

_WIDTH = 580
_MAX_ERROR = 5  # per cent
_MOST_ERROR = 50


class ErrorChart(Chart):
    """Expected error by the share of rows that the model labels, with the upper limit as a band."""

    def __init__(self) -> None:
        super().__init__(_("Expected error"), _("by share of rows labelled by the model"), bars=False)
        self.chosen: Point | None = None  # at the threshold that is set

    def sizeHint(self) -> QSize:
        """Return what a dialog has room for."""
        return QSize(px(_WIDTH - 40), px(190))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a line at the threshold that is set, too."""
        super().paintEvent(event)
        if self.chosen is None:
            return
        painter = QPainter(self)
        painter.setPen(QPen(QColor(tokens().ink), 1))
        painter.drawLine(self.at(self.chosen.x, self.y_range[0]), self.at(self.chosen.x, self.y_range[1]))
        painter.setBrush(QColor(tokens().accent))
        high = min(self.chosen.y, self.y_range[1])
        painter.drawEllipse(self.at(self.chosen.x, high), px(4), px(4))


class FinalDialog(ProjectDialog):
    """OK makes the threshold the project's, and shows the column of final labels."""

    def __init__(
        self,
        workspace: Workspace,
        edits: Edits,
        preferences: Preferences,
        audit: AuditReview,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, _("Final labels"), parent)
        self._edits = edits
        self._preferences = preferences
        self._audit = audit
        self.facts: FinalLabels | None = None
        self._problem = ""
        self._build()
        self.spin.setValue(round(workspace.threshold * 100))
        self._show_facts()
        if workspace.project is not None:
            job = self._watch(
                workspace.submit(
                    final_work.final_labels,
                    workspace.project,
                    title=_("Counting rows"),
                    worker="reads",
                    quiet=True,
                    notify_failure=False,
                )
            )
            job.finished.connect(self._on_facts)
            job.failed.connect(self._on_failed)

    def _build(self) -> None:
        intro = QLabel(
            _("Your label where there is one, else the model's from the threshold up, else to review."),
            wordWrap=True,
        )
        self.chart = ErrorChart()
        self.slider = Slider()
        self.slider.setRange(0, 100)
        self.slider.setAccessibleName(_("Confidence threshold, in per cent"))
        self.spin = _percent(_("Confidence threshold, as a number"), 0, 100, 0)
        self.spin.setSpecialValueText(_("Off"))
        self.max_error = _percent(_("Maximum error"), 1, _MOST_ERROR, _MAX_ERROR)
        self.max_error.setToolTip(_("Error among the rows that the model labels"))
        self.choose = QPushButton(_("Choose threshold"))
        self.choose.setToolTip(_("Lowest threshold that keeps the maximum error"))
        self.summary = QLabel(_("Counting…"), wordWrap=True)
        self.summary.setAccessibleName(_("Result"))
        set_role(self.summary, "title")
        self.notes = QLabel(wordWrap=True)
        self.notes.setAccessibleName(_("Hint"))
        set_role(self.notes, "muted")
        self.draw = QPushButton(_("Draw an audit sample…"))
        self.draw.setVisible(False)
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(SPACE_M))
        grid.setVerticalSpacing(px(SPACE_M))
        for row, (name, field) in enumerate(
            ((_("Maximum error"), self.max_error), (_("Confidence threshold"), self.spin))
        ):
            label = QLabel(name)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.choose, 0, 2, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self.slider, 1, 2)
        grid.setColumnStretch(2, 1)
        more = QHBoxLayout()
        more.addWidget(self.draw)
        more.addStretch(1)
        layout = dialog_column(self)
        layout.addWidget(intro)
        layout.addWidget(self.chart, 1)
        layout.addLayout(grid)
        layout.addWidget(self.summary)
        layout.addWidget(self.notes)
        layout.addLayout(more)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(_WIDTH), layout.totalHeightForWidth(px(_WIDTH)))
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self.slider.setValue)
        self.spin.valueChanged.connect(self._on_threshold)
        self.max_error.valueChanged.connect(self._on_threshold)
        self.choose.clicked.connect(self._choose)
        self.draw.clicked.connect(self._ask_sample)

    @Slot(object)
    def _on_facts(self, facts: FinalLabels) -> None:
        self.facts = facts
        self._show_curve()
        self._show_facts()

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.summary.setText(str(error))

    @Slot()
    def _on_threshold(self) -> None:
        self._problem = ""
        self._show_facts()

    @Slot()
    def _choose(self) -> None:
        """Set the lowest threshold that keeps the maximum error, or say why there is none."""
        if self.facts is None or self.facts.audited is None:
            return
        try:
            point = self.facts.audited.choose(self.max_error.value() / 100)
        except UserError as error:
            self._problem = str(error)
            self._show_facts()
            return
        self.spin.setValue(round(point.threshold * 100))
        self._on_threshold()

    @Slot()
    def _ask_sample(self) -> None:
        """Offer to draw the audit sample in place of this dialog."""
        workspace, audit, parent = self._workspace, self._audit, self.parentWidget()
        self.reject()
        if not workspace.refuses_edit():
            open_dialog(AuditDialog(workspace, audit, parent))

    # --- what is shown -------------------------------------------------------------------------------------

    def _show_curve(self) -> None:
        audited = self.facts.audited if self.facts is not None else None
        self.chart.setVisible(audited is not None)
        if self.facts is None or audited is None:
            return
        total = max(1, len(audited.predictions.open))
        points = [
            Point(point.rows / total, point.error, (point.low, point.high), _tip(point.rows / total, point))
            for point in audited.curve.points
            if point.error is not None and point.rows
        ]
        highest = min(1.0, max([0.1, *(1.5 * point.y for point in points)]))
        said = _("Expected error {error} if the model labels every row.", error=self._error_of_all())
        self.chart.show_lines([("", points)], said, 0.0, round(highest + 0.05, 1))

    def _error_of_all(self) -> str:
        assert self.facts is not None
        assert self.facts.audited is not None
        return exact_share_text(self.facts.audited.curve.at(0).error or 0.0)

    def _show_facts(self) -> None:
        """Show what the threshold gives, and be as high as that takes; never lower."""
        facts = self.facts
        known = facts is not None and facts.audited is not None
        self.choose.setEnabled(known)
        self.max_error.setEnabled(known)
        self.draw.setVisible(facts is not None and not known and not facts.least and bool(len(facts.open)))
        if facts is not None:
            threshold = self.spin.value() / 100
            self.summary.setText(facts.summary(threshold, self.max_error.value() / 100))
            self.slider.setAccessibleDescription(self.summary.text())
            if facts.audited is not None:
                point = facts.audited.curve.at(threshold)
                share = point.rows / max(1, len(facts.audited.predictions.open))
                self.chart.chosen = Point(share, point.error or 0.0, (point.low, point.high))
                self.chart.update()
            expected = self._expected(threshold)
            self.notes.setText(" ".join(filter(None, (self._problem or facts.why, expected, *facts.notes))))
        self.notes.setVisible(bool(self.notes.text()))
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(max(self.minimumHeight(), layout.totalHeightForWidth(self.width())))

    def _expected(self, threshold: float) -> str:
        if self.facts is None or self.facts.audited is None or self._problem:
            return ""
        point = self.facts.audited.curve.at(threshold)
        if point.error is None:
            return _("No audited row is this confident.")
        return _(
            "Expected error {error}: {wrong} of {audited} audited rows at or above the threshold are wrong.",
            error=share_text(point.error) if point.audited < 100 else exact_share_text(point.error),
            wrong=number(point.wrong),
            audited=number(point.audited),
        )

    def accept(self) -> None:
        """Keep the threshold, and show final labels in the table."""
        self._edits.set_threshold(self.spin.value() / 100)
        if not self._preferences.settings["final_column"]:
            self._preferences.change_setting("final_column", True)
        super().accept()


def _tip(share: float, point: AtThreshold) -> str:
    """Return the figures of a point of the curve."""
    return _(
        "{share} of the open rows labelled by the model: expected error {error}, at most {most}",
        share=exact_share_text(share),
        error=exact_share_text(point.error or 0.0),
        most=exact_share_text(point.high),
    )


def _percent(name: str, least: int, most: int, value: int) -> SpinBox:
    suffix = percent(0).removeprefix(number(0))
    spin = SpinBox(minimum=least, maximum=most, suffix=suffix, value=value)
    spin.setAccessibleName(name)
    indent_number(spin)
    return spin
