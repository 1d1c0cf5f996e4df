"""Decisions that are probably wrong, to be looked at again. They are looked for when the user asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sce_desktop.controllers import evaluate_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.label_edits import quoted, rows
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.colours import colour_of
from sce_desktop.ui.kit.figures_table import FiguresTable, Heading, Kind
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.doubts import Doubts

NAME = "probably wrong"
_TEXT = 200  # characters
_INVITATION = (
    "Each row with a label, yours or imported, is judged by a model that learned from the other labels and "
    "has not seen this one."
)


class DoubtsList(QWidget):
    """A button, what it found, and a list from which one goes to the rows."""

    def __init__(self, workspace: Workspace, navigation: Navigation, scorer: Scorer) -> None:
        super().__init__()
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._job: Job | None = None
        self.found: Doubts | None = None
        self._embedder = ""  # whose vectors they were looked for by
        self._aged = False
        self.setAccessibleName("Probably wrong")
        self.said = QLabel(wordWrap=True)
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setAccessibleName("What was found")
        set_role(self.said, "muted")
        self.look_button = QPushButton("Look for them")
        self.look_button.clicked.connect(self.look)
        self.all_button = QPushButton("Show all in the table")
        self.all_button.clicked.connect(self._show_all)
        self.table = FiguresTable("Rows that are probably labelled wrongly")
        self.table.chosen.connect(self._go_to)
        line = QHBoxLayout()
        line.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        line.setSpacing(px(SPACE_S))
        line.addWidget(self.said, 1)
        line.addWidget(self.all_button)
        line.addWidget(self.look_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(line)
        layout.addWidget(self.table, 1)
        workspace.projectClosed.connect(self.clear)
        workspace.projectOpened.connect(self.clear)
        workspace.labelsChanged.connect(self.clear)
        workspace.annotationsChanged.connect(self._age)
        scorer.modelsChanged.connect(self._on_models)
        self.clear()

    @Slot()
    def look(self) -> None:
        """Look for them, in the lane of files: it may take longer than the table can wait."""
        if self._workspace.project is None or self._job is not None:
            return
        known = self._scorer.known_vectors
        self._embedder = known.embedder if known is not None else ""
        if reason := self._scorer.why_no_vectors():
            self._on_failed(reason)
            return
        job = self._workspace.submit(
            evaluate_work.doubts,
            self._workspace.project,
            known,
            title="Looking for labels that are probably wrong",
            tell_failure=False,
        )
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        job.ended.connect(self._on_ended)
        self._job = job
        self.look_button.setEnabled(False)
        self.said.setText("Looking…")

    @Slot()
    def clear(self) -> None:
        """Forget what was found."""
        if self._job is not None:
            drop(self._job)
            self._on_ended()
        self.found = None
        self._show()

    def tsv(self) -> str:
        """What is shown, for the clipboard."""
        return self.table.figures.tsv()

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.said.setText(str(error))

    @Slot(object)
    def _on_found(self, found: Doubts) -> None:
        self.found = found
        self._aged = False
        self._show()

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        self.look_button.setEnabled(True)
        if self.said.text() == "Looking…":  # it was stopped
            self._show()

    @Slot()
    def _on_models(self) -> None:
        """By the vectors of another model other rows are probably wrong."""
        known = self._scorer.known_vectors
        if known is not None and known.embedder != self._embedder:
            self._embedder = known.embedder
            self.clear()

    @Slot()
    def _age(self) -> None:
        if self.found is not None and not self._aged:
            self._aged = True
            self._show()

    def _show(self) -> None:
        found = self.found
        self.all_button.setVisible(found is not None and bool(found.rows))
        self.look_button.setText("Look for them" if found is None else "Look again")
        if found is None:
            self.said.setText(_INVITATION)
            self.table.show_rows((), ())
            return
        self.said.setText(_in_words(found) + (" Decisions have changed since." if self._aged else ""))
        self.table.show_rows(
            (
                Heading("Given", Kind.NAME, 170),
                Heading("Proposed", Kind.NAME, 170),
                Heading("Fits", width=70, tip="How probable the label is that was given"),
                Heading("Row", Kind.COUNT, 60),
                Heading("Text", Kind.NAME, 0),
            ),
            [
                (one.given.name, one.proposed.name, one.confidence, one.position + 1, one.text[:_TEXT])
                for one in found.rows
            ],
            lambda number: label_icon(colour_of(found.rows[number].given)),
        )

    @Slot(object)
    def _go_to(self, number: int) -> None:
        if self.found is not None:
            self._navigation.rowAsked.emit(self.found.rows[number].row_id)

    @Slot()
    def _show_all(self) -> None:
        if self.found is not None:
            self._navigation.show_ids((one.row_id for one in self.found.rows), name=NAME)


def _in_words(found: Doubts) -> str:
    if not found.decided:
        return f"No row has a label of a person, or an imported one, to be judged yet.{_sampled(found)}"
    words = f"{rows(len(found.rows))} of {found.judged:,} judged do not fit their label."
    if not found.judged:
        words = "Too few rows are decided: at least two labels need five rows each."
    elif not found.rows:
        words = f"Every one of the {found.judged:,} judged rows fits its label."
    if found.too_few:
        words += f" With fewer than five rows a label is not judged: {quoted(found.too_few)}."
    return words + _sampled(found)


def _sampled(found: Doubts) -> str:
    if not found.sampled:
        return ""
    return f" {rows(found.sampled)} of the audit sample are left alone until it is decided to its end."
