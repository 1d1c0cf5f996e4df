"""Drawing the audit sample: the margin of error wanted, and how many rows that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QFormLayout, QLabel, QSpinBox, QWidget

from sce_desktop.controllers.audit_review import AuditReview
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.estimates import wilson_interval
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.dialog_parts import dialog_column, indent_number, ok_and_cancel
from sce_desktop.ui.kit.fields import SpinBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.audits import AuditPlan

_POINTS = 5
_MOST_POINTS = 25


class AuditDialog(ProjectDialog):
    """OK draws the sample and shows its rows."""

    def __init__(self, workspace: Workspace, audit: AuditReview, parent: QWidget | None = None) -> None:
        super().__init__(workspace, _("Draw an audit sample"), parent)
        self._audit = audit
        self.plan: AuditPlan | None = None
        self._drawing = False
        intro = QLabel(
            _("Label a random sample to estimate accuracy on all rows."),
            wordWrap=True,
        )
        self.points = _spin(_("Margin of error"), 1, _MOST_POINTS, _(" points"))
        self.points.setPrefix("±")
        self.points.setValue(_POINTS)
        self.size_box = _spin(_("Rows to label"), 1, 1, "")
        self.size_box.setGroupSeparatorShown(True)
        form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_M))
        form.addRow(_("Margin of error"), self.points)
        form.addRow(_("Rows to label"), self.size_box)
        self.facts = QLabel(wordWrap=True)
        self.facts.setAccessibleName(_("About the sample"))
        set_role(self.facts, "muted")
        self.blind = QCheckBox(_("Blind mode: hide predictions for these rows"))
        self.blind.setChecked(True)
        layout = dialog_column(self)
        layout.addWidget(intro)
        layout.addLayout(form)
        layout.addWidget(self.blind)
        layout.addWidget(self.facts)
        layout.addStretch(1)
        self.buttons = ok_and_cancel(self)
        self._ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        layout.addWidget(self.buttons)
        self.resize(px(480), px(330))
        self.points.valueChanged.connect(self._suggest)
        self.size_box.valueChanged.connect(self._show_facts)
        self._show_facts()
        if workspace.project is not None:
            job = self._watch(
                workspace.submit(
                    in_worker("sce_desktop.tasks.evaluation.audits", "plan", takes_progress=False),
                    workspace.project,
                    title=_("Preparing an audit sample"),
                    worker="reads",
                    quiet=True,
                    notify_failure=False,
                )
            )
            job.finished.connect(self._on_plan)
            job.failed.connect(self._on_no_plan)
            job.cancelled.connect(self.reject)

    @Slot(object)
    def _on_plan(self, plan: AuditPlan) -> None:
        self.plan = plan
        self.size_box.setRange(min(len(plan.kept) + 1, len(plan.frame)), len(plan.frame))
        self._suggest()
        self._show_facts()

    @Slot(object)
    def _on_no_plan(self, error: object) -> None:
        self.facts.setText(str(error))

    @Slot()
    def _suggest(self) -> None:
        if self.plan is not None and len(self.plan.frame):
            from sce_desktop.tasks.evaluation.quality import suggested_audit

            width = 2 * self.points.value() / 100
            self.size_box.setValue(suggested_audit(len(self.plan.frame), width=width))

    @Slot()
    def _show_facts(self) -> None:
        plan = self.plan
        more = 0 if plan is None else self.size_box.value() - len(plan.kept)
        self._ok.setEnabled(plan is not None and 0 < more <= len(plan.frame) - len(plan.kept))
        self._ok.setText(
            ngettext("Draw {count} row", "Draw {count} rows", more) if self._ok.isEnabled() else _("Draw")
        )
        for field in (self.points, self.size_box, self.blind):
            field.setEnabled(plan is not None and len(plan.frame) > len(plan.kept))
        if plan is None:
            self.facts.setText(_("Loading…"))
            return
        if not len(plan.frame):
            self.facts.setText(_("Every row is already labelled: there is nothing to estimate."))
            return
        if len(plan.kept) == len(plan.frame):
            self.facts.setText(_("The sample already has every row: label those that remain."))
            return
        low, high = wilson_interval(0.5, self.size_box.value(), rows=len(plan.frame))
        facts = [
            ngettext(
                "{size} of {count} row: margin of error at most ±{points} points.",
                "{size} of {count} rows: margin of error at most ±{points} points.",
                len(plan.frame),
                size=number(self.size_box.value()),
                points=number(50 * (high - low), 1),
            )
        ]
        if plan.known:
            facts.append(
                ngettext(
                    "The {count} row already labelled is not resampled.",
                    "The {count} rows already labelled are not resampled.",
                    plan.known,
                )
            )
        if len(plan.kept):
            facts.append(
                ngettext(
                    "The current sample is kept: {count} row, {labelled} labelled.",
                    "The current sample is kept: {count} rows, {labelled} labelled.",
                    len(plan.kept),
                    labelled=number(plan.decided),
                )
            )
        self.facts.setText(" ".join(facts))

    def accept(self) -> None:
        """Draw the sample, and close when its rows are there."""
        if not self._ok.isEnabled():
            return
        job = self._audit.draw(self.size_box.value(), blind=self.blind.isChecked())
        if job is None:
            self.reject()
            return
        self.setEnabled(False)
        self._drawing = True
        job.finished.connect(self._on_drawn)
        job.ended.connect(self._on_ended)

    @Slot()
    def _on_drawn(self) -> None:
        self._drawing = False
        super().accept()

    @Slot()
    def _on_ended(self) -> None:
        if self._drawing:  # it failed, or was stopped among the jobs
            self._drawing = False
            self.reject()


def _spin(name: str, least: int, most: int, suffix: str) -> QSpinBox:
    spin = SpinBox(minimum=least, maximum=most, suffix=suffix)
    spin.setAccessibleName(name)
    indent_number(spin)
    return spin
