"""Label errors: rows that are probably labelled wrongly. They are searched for when the user asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sce_desktop.controllers import evaluate_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.label_edits import quoted
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.figures_table import FiguresTable, Heading, Kind
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.evaluation.doubts import Doubts

NAME = "probably wrong"  # as it is kept with labels
_TEXT = 200  # characters
_INVITATION = _("Checks each labelled row with a model trained on the other labels.")
_SEARCHING = _("Searching…")


class DoubtsList(QWidget):
    """A button, what it found, and a list from which one goes to the rows."""

    def __init__(self, workspace: Workspace, navigation: Navigation, scorer: Scorer) -> None:
        super().__init__()
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._job: Job | None = None
        self.found: Doubts | None = None
        self._embedder = ""  # whose vectors they were found by
        self._aged = False
        self.setAccessibleName(_("Label errors"))
        self.result_label = QLabel(wordWrap=True)
        self.result_label.setTextFormat(Qt.TextFormat.PlainText)
        self.result_label.setAccessibleName(_("Result"))
        set_role(self.result_label, "muted")
        self.look_button = QPushButton(_("Find label errors"))
        self.look_button.clicked.connect(self.look)
        self.all_button = QPushButton(_("Show all in table"))
        self.all_button.clicked.connect(self._show_all)
        self.table = FiguresTable(_("Label errors"))
        self.table.chosen.connect(self._go_to)
        line = QHBoxLayout()
        line.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        line.setSpacing(px(SPACE_S))
        line.addWidget(self.result_label, 1)
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
        """Find label errors, in the worker of files: it may take longer than the table can wait."""
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
            title=_("Finding label errors"),
            notify_failure=False,
        )
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        job.ended.connect(self._on_ended)
        self._job = job
        self.look_button.setEnabled(False)
        self.result_label.setText(_SEARCHING)

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
        self.result_label.setText(str(error))

    @Slot(object)
    def _on_found(self, found: Doubts) -> None:
        self.found = found
        self._aged = False
        self._show()

    @Slot()
    def _on_ended(self) -> None:
        self._job = None
        self.look_button.setEnabled(True)
        if self.result_label.text() == _SEARCHING:  # it was stopped
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
        self.look_button.setText(_("Find label errors") if found is None else _("Search again"))
        if found is None:
            self.result_label.setText(_INVITATION)
            self.table.show_rows((), ())
            return
        changed = [_("Labels have changed since.")] if self._aged else []
        self.result_label.setText(" ".join([*_sentences(found), *changed]))
        self.table.show_rows(
            (
                Heading(_("Your label"), Kind.NAME, 170),
                Heading(_("Suggested"), Kind.NAME, 170),
                Heading(_("Label quality"), width=100, tip=_("Probability of your label"), digits=0),
                Heading(_("Row"), Kind.COUNT, 60),
                Heading(_("Text"), Kind.NAME, 0),
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


def _sentences(found: Doubts) -> list[str]:
    sentences = []
    if not found.decided:
        sentences.append(_("No row has a label to check yet. Label some rows first."))
    elif not found.judged:
        sentences.append(_("Too few labelled rows: at least two labels need five rows each."))
    elif not found.rows:
        sentences.append(
            ngettext(
                "No label errors found in {count} row.",
                "No label errors found in {count} rows.",
                found.judged,
            )
        )
    else:
        sentences.append(
            ngettext(
                "{count} of {checked} checked rows does not fit its label.",
                "{count} of {checked} checked rows do not fit their label.",
                len(found.rows),
                checked=number(found.judged),
            )
        )
    if found.too_few:
        sentences.append(
            _("Not checked, as they have fewer than five rows: {labels}.", labels=quoted(found.too_few))
        )
    if found.sampled:
        sentences.append(
            ngettext(
                "{count} row of the audit sample is excluded until the sample is finished.",
                "{count} rows of the audit sample are excluded until the sample is finished.",
                found.sampled,
            )
        )
    return sentences
