"""From which confidence a prediction counts: a slider, and what it gives and costs while it moves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from sce_desktop.controllers import review_work
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.text import exact_share_text, interval_text, share_text
from sce_desktop.core.thresholds import at_threshold
from sce_desktop.ui.kit.dialog_parts import dialog_column, indent_number, ok_and_cancel
from sce_desktop.ui.kit.fields import Slider, SpinBox
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

_WIDTH = 460


class ThresholdDialog(ProjectDialog):
    """OK makes it the project's; rows below it are "unsure" in table and export."""

    def __init__(
        self, workspace: Workspace, edits: Edits, scorer: Scorer, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, "Unsure below", parent)
        self._scorer = scorer
        self._edits = edits
        self._facts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.slider = Slider()
        self.slider.setRange(0, 100)
        self.slider.setAccessibleName("Unsure below, in per cent")
        self.spin = SpinBox(minimum=0, maximum=100, suffix=" %")
        self.spin.setAccessibleName("Unsure below, as a number")
        self.spin.setSpecialValueText("Never")
        indent_number(self.spin)
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self.slider.setValue)
        self.spin.valueChanged.connect(self._show_facts)
        self.coverage = QLabel("Counting…")
        self.coverage.setAccessibleName("Coverage")
        self.precision = QLabel(wordWrap=True)
        self.precision.setAccessibleName("Precision")
        set_role(self.precision, "muted")
        line = QHBoxLayout()
        line.setSpacing(px(SPACE_M))
        line.addWidget(self.slider, 1)
        line.addWidget(self.spin)
        layout = dialog_column(self)
        layout.addWidget(QLabel("Rows whose best probability is lower count as unsure."))
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
                    review_work.threshold_facts,
                    workspace.project,
                    workspace.runs,
                    title="Counting",
                    lane="reads",
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
        """Say what it gives, and be as high as that takes; never lower, for the slider must not jump."""
        self._say_facts()
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(max(self.minimumHeight(), layout.totalHeightForWidth(self.width())))

    def _say_facts(self) -> None:
        if self._facts is None:
            self.coverage.setText("Nothing is scored yet." if not self._workspace.runs else "Counting…")
            return
        every, known, right = self._facts
        here = at_threshold(self.spin.value() / 100, known, right, every)
        kept = int((every >= here.threshold).sum())
        self.coverage.setText(
            f"{share_text(here.coverage)} of the scored rows count: {kept:,} of {len(every):,}."
        )
        if here.precision is None:
            self.precision.setText(
                f"No row at or above it was decided by hand: its precision is not known.{self._left_out()}"
            )
            return
        self.precision.setText(
            f"{exact_share_text(here.precision)} of the {here.rows:,} decided by hand there are right "
            f"({interval_text(here.interval)}).{self._left_out()} Rows that you picked yourself are no "
            "random sample: the rest may differ."
        )

    def _left_out(self) -> str:
        version = self._scorer.version
        return f" Rows that {version.name} learned from are left out." if version is not None else ""

    def accept(self) -> None:
        """Keep it."""
        self._edits.set_threshold(self.spin.value() / 100)
        super().accept()
