"""The confidence threshold: a slider, and the coverage and precision that it gives while it moves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import exact_share_text, interval_text, share_text
from sce_desktop.core.thresholds import AtThreshold, at_threshold
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.fields import Slider
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role
from sce_desktop.ui.rows.percent_field import percent_field

_WIDTH = 460
_EXACT_FROM = 100  # labelled rows from which a decimal means something


class ThresholdDialog(ProjectDialog):
    """OK makes it the project's; rows below it are low-confidence in the table, "unsure" in an export."""

    def __init__(
        self, workspace: Workspace, edits: Edits, scorer: Scorer, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, _("Confidence threshold"), parent)
        self._scorer = scorer
        self._edits = edits
        self._facts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.slider = Slider()
        self.slider.setRange(0, 100)
        self.slider.setAccessibleName(_("Confidence threshold, in per cent"))
        self.spin = percent_field(_("Confidence threshold, as a number"), minimum=0, value=0)
        self.spin.setSpecialValueText(_("Off"))
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self.slider.setValue)
        self.spin.valueChanged.connect(self._show_facts)
        self.coverage = QLabel(_("Counting…"))
        self.coverage.setAccessibleName(_("Coverage"))
        self.precision = QLabel(wordWrap=True)
        self.precision.setAccessibleName(_("Precision"))
        set_role(self.precision, "muted")
        line = QHBoxLayout()
        line.setSpacing(px(SPACE_M))
        line.addWidget(self.slider, 1)
        line.addWidget(self.spin)
        layout = dialog_column(self)
        note = _("Predictions below this confidence are marked low-confidence (the model abstains).")
        layout.addWidget(QLabel(note, wordWrap=True))
        layout.addLayout(line)
        layout.addWidget(self.coverage)
        layout.addWidget(self.precision)
        layout.addWidget(ok_and_cancel(self))
        self.resize(px(_WIDTH), layout.totalHeightForWidth(px(_WIDTH)))
        self.spin.setValue(round(workspace.threshold * 100))
        self._show_facts()
        if workspace.project is not None and workspace.runs:
            job = self._watch(
                workspace.submit(
                    in_worker("sce_desktop.tasks.insight.review", "threshold_facts", takes_progress=False),
                    workspace.project,
                    workspace.runs[0],
                    title=_("Counting rows"),
                    worker="reads",
                    quiet=True,
                )
            )
            job.finished.connect(self._on_facts)

    @Slot(object)
    def _on_facts(self, facts: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self._facts = facts
        self._show_facts()

    @Slot()
    def _show_facts(self) -> None:
        """Show what it gives, and be as high as that takes; never lower, for the slider must not jump."""
        self._set_texts()
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(max(self.minimumHeight(), layout.totalHeightForWidth(self.width())))

    def _set_texts(self) -> None:
        if self._facts is None:
            self.coverage.setText(
                _("Nothing is scored yet. Press Score (F5) first.")
                if not self._workspace.runs
                else _("Counting…")
            )
            return
        every, known, right = self._facts
        here = at_threshold(self.spin.value() / 100, known, right, every)
        kept = int((every >= here.threshold).sum())
        self.coverage.setText(
            _(
                "Coverage: {share} ({kept} of {total} scored rows)",
                share=share_text(here.coverage),
                kept=number(kept),
                total=number(len(every)),
            )
        )
        self.precision.setText(f"{self._precision(here)} {self._excluded()}".rstrip())

    def _precision(self, here: AtThreshold) -> str:
        if here.precision is None:
            return _("No labelled row reaches this threshold: precision is unknown.")
        exact = here.rows >= _EXACT_FROM
        return _(
            "Precision at this threshold: {precision} ({interval}, {rows}). Not a random sample.",
            precision=exact_share_text(here.precision) if exact else share_text(here.precision),
            interval=interval_text(here.interval, 1 if exact else 0),
            rows=ngettext("{count} labelled row", "{count} labelled rows", here.rows),
        )

    def _excluded(self) -> str:
        version = self._scorer.version
        if version is None:
            return ""
        return _("Excluded: rows used to fine-tune {version}.", version=version.name)

    def accept(self) -> None:
        """Keep it."""
        self._edits.set_threshold(self.spin.value() / 100)
        super().accept()
