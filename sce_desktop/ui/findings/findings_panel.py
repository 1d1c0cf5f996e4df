"""What the texts say: shares of the labels, by a column, over time, with the rows behind every figure.

All of it is computed in the worker ``reads`` while the panel is on the screen, again a moment after something
has changed. Whatever else that worker is asked meanwhile goes first: the table must not wait for a figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers import findings_work
from sce_desktop.controllers.findings_work import Answer, CellRows
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import parent_of
from sce_desktop.core.scored import other_runs
from sce_desktop.ui.findings.findings_bar import FindingsBar
from sce_desktop.ui.findings.findings_examples import Examples
from sce_desktop.ui.findings.findings_exports import FindingsExports
from sce_desktop.ui.findings.findings_models import PartsModel, SharesModel
from sce_desktop.ui.findings.findings_tables import SharesTable
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.kit.visibility import VisibilityGate
from sce_desktop.ui.rows.rows_delegate import colours_of_names

if TYPE_CHECKING:
    from sce_desktop.ui.findings.findings_chart import TimeChart

PAUSE_MS = 600  # between a change and the figures that follow it
SCORING_MS = 10_000  # while scores come in, all the time
_PAUSE_FACTOR = 3  # the worker is left alone for so many times as long as the figures took
_MOST_YIELDS = 3  # in succession: then the figures come first for once
_NO_LABELS = _("No labels yet: add one in the Labels panel.")
_NOTHING = _("No rows are labelled or scored yet: score the rows, or label some of them.")
_NO_COLUMN = _("The table has no column to compare by. Choose Shares, or import it with more columns.")
_NO_DATES = _("No dates found in this column: choose another one.")
_WORKING = _("Calculating…")


class FindingsPanel(QWidget):
    """The panel "Findings" below."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self.answer: Answer | None = None
        self._cell_job: Job | None = None
        self._cell_title = ""
        self._dirty = True  # the project may say something else than ``answer``
        self._submitting = False
        self._yields = 0
        self.setAccessibleName(_("Findings"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "pane")

        self.bar = FindingsBar()
        self.bar.changed.connect(self._on_asked)
        self.exports = FindingsExports(workspace, messages, self)
        self.bar.copyAsked.connect(self.copy)
        self.bar.workbookAsked.connect(self.exports.ask_workbook)
        self.bar.pageAsked.connect(self.exports.ask_page)
        self.basis = QLabel(wordWrap=True)
        self.basis.setTextFormat(Qt.TextFormat.PlainText)
        self.basis.setAccessibleName(_("Basis of the figures"))
        set_role(self.basis, "muted")
        self.sample = QPushButton(_("Draw an audit sample…"))
        self.sample.setAccessibleName(_("Draw an audit sample in Evaluate"))
        self.sample.setToolTip(_("Label a random sample to get valid confidence intervals"))
        self.sample.clicked.connect(lambda: navigation.panelAsked.emit("Evaluate"))
        line = QHBoxLayout()
        line.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), 0)
        line.setSpacing(px(SPACE_M))
        line.addWidget(self.basis, 1)
        line.addWidget(self.sample, 0, Qt.AlignmentFlag.AlignTop)

        self.shares_model, self.parts_model = SharesModel(self), PartsModel(self)
        self.shares = SharesTable(self.shares_model, _("Share of each label"))
        self.parts = SharesTable(self.parts_model, _("Share of each label by part"))
        self.chart: TimeChart | None = None  # made when it is first looked at
        for table in (self.shares, self.parts):
            table.cellChosen.connect(self.show_cell)
        self.empty = QLabel(wordWrap=True)
        self.empty.setTextFormat(Qt.TextFormat.PlainText)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setAccessibleName(_("Message"))
        set_role(self.empty, "muted")
        self.score = QPushButton(_("Score"))
        self.score.setAccessibleName(_("Score the rows"))
        self.score.clicked.connect(scorer.start)
        blank = QWidget()
        middle = QVBoxLayout(blank)
        middle.addStretch()
        middle.addWidget(self.empty)
        middle.addWidget(self.score, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch()
        self._blank = blank
        self.pages = QStackedWidget()
        for page in (blank, self.shares, self.parts):
            self.pages.addWidget(page)
        self.examples = Examples()
        self.examples.rowsAsked.connect(self._show_rows)
        self.examples.rowAsked.connect(navigation.rowAsked)
        for table in (self.shares, self.parts):
            table.rowsAsked.connect(self.examples.ask_rows)
            table.copyAsked.connect(self.copy)
        split = QSplitter()
        split.addWidget(self.pages)
        split.addWidget(self.examples)
        split.setStretchFactor(0, 1)
        split.setSizes([px(900), px(330)])
        split.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.bar)
        layout.addLayout(line)
        layout.addWidget(split, 1)

        self.visibility = VisibilityGate(self, PAUSE_MS, rest=_PAUSE_FACTOR)
        self.visibility.due.connect(self._look)
        for changed in (workspace.annotationsChanged, workspace.historyChanged, workspace.rowsChanged):
            changed.connect(self._on_changed)
        workspace.scoresChanged.connect(self._on_scores)
        scorer.modelsChanged.connect(self._on_models)
        workspace.labelsChanged.connect(self._on_labels)
        preferences.settingsChanged.connect(self._on_settings)
        workspace.projectOpened.connect(self._begin)
        workspace.projectClosed.connect(self._end)
        workspace.workers.reads.jobSubmitted.connect(self._on_other_job)
        self._begin()

    # --- when to look --------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """As high as a panel below likes to be."""
        return QSize(px(640), px(320))

    @Slot()
    def _begin(self) -> None:
        self._end()
        self.bar.forget()
        self._show_choices()

    @Slot()
    def _end(self) -> None:
        drop(self._cell_job)
        self._cell_job = None
        self.visibility.forget()
        self._dirty = True
        self._show(None)
        self._show_sentence(_WORKING)
        self.visibility.within(0)

    def _show_choices(self) -> None:
        parents = any(parent_of(label.name) for label in self._workspace.labels)
        self.bar.set_runs(self._workspace.runs, blind=self._navigation.blind, parents=parents)

    @Slot()
    def _on_changed(self) -> None:
        self._dirty = True
        if self._scorer.job is not None and self.answer is not None:
            self.visibility.within(SCORING_MS)
        else:
            self.visibility.soon()

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        if other_runs(change):
            self._show_choices()
        self._on_changed()

    @Slot()
    def _on_models(self) -> None:
        """At the end of a scoring show the figures of all rows, without the long pause."""
        if self._dirty and self._scorer.job is None and self._workspace.project is not None:
            self.visibility.soon()

    @Slot()
    def _on_labels(self) -> None:
        self._show_choices()
        self._dirty = True
        self.visibility.within(PAUSE_MS)

    @Slot(object)
    def _on_settings(self, keys: set[str]) -> None:
        if "blind" in keys:
            if self._navigation.blind:  # what is shown, and what is on its way, was made with a model's help
                self._end()
            self._show_choices()
            self._on_asked()

    @Slot()
    def _on_asked(self) -> None:
        self.shares.forget()
        self.parts.forget()
        self.examples.show_rows("", None)
        self._drop_job()
        self.visibility.within(0)

    @Slot(object)
    def _on_other_job(self, job: Job) -> None:
        """Let others go first: what is dropped here is done again in a moment."""
        if self._submitting or self.visibility.job is None or self._yields >= _MOST_YIELDS:
            return
        self._yields += 1
        self._drop_job()
        self.visibility.within(PAUSE_MS)

    def _drop_job(self) -> None:
        if self.visibility.job is not None:
            self.visibility.drop()
            self._dirty = True

    def _submit(self, fn: object, *args: object, title: str, **keywords: object) -> Job:
        self._submitting = True
        try:
            return self._workspace.submit(
                fn,  # type: ignore[arg-type]
                *args,
                title=title,
                worker="reads",
                quiet=True,
                notify_failure=False,
                **keywords,  # type: ignore[arg-type]
            )
        finally:
            self._submitting = False

    # --- looking -------------------------------------------------------------------------------------------

    @Slot()
    def _look(self) -> None:
        if self._workspace.project is None:
            return
        if not self._workspace.labels:
            self._dirty = False
            self._show(None)
            self._show_sentence(_NO_LABELS)
            return
        read = self.answer.read if self.answer else None
        recompute, self._dirty = self._dirty, False
        job = self._submit(
            findings_work.look,
            self._workspace.project,
            self.bar.wanted,
            read,
            recompute=recompute,
            title=_("Calculating findings"),
        )
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        self.visibility.follow(job)

    @Slot(object)
    def _on_found(self, answer: Answer) -> None:
        self._yields = 0
        self._show(answer)

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self._show(None)
        self._show_sentence(str(error))

    def _show_sentence(self, sentence: str, *, score: bool = False) -> None:
        """Show a sentence in the place of the figures."""
        self.empty.setText(sentence)
        self.score.setVisible(score)
        self.pages.setCurrentWidget(self._blank)
        self.examples.hide()
        self.bar.set_exports(False)

    def _show(self, answer: Answer | None) -> None:
        """Show the figures, those of before where they are about the same."""
        self.answer = self.exports.answer = answer
        colours = [] if answer is None else colours_of_names(answer.evidence.names, self._workspace.labels)
        view = answer.wanted.view if answer else "shares"
        in_chart = view == "time" and not self.bar.table.isChecked()
        self.shares_model.show_answer(answer if view == "shares" else None, colours)
        self.shares.show_intervals(
            answer is None or answer.findings.whole.shares[0].share.interval is not None
        )
        self.parts_model.show_answer(None if view == "shares" or in_chart else answer, colours)
        self.basis.setVisible(answer is not None and not answer.nothing)
        self.sample.setVisible(answer is not None and not answer.nothing and answer.calls_for_sample)
        if answer is None:
            self.examples.show_rows("", None)
            return
        assert self._workspace.project is not None
        self.bar.show_answer(answer, self._workspace.project.columns)
        self.basis.setText(" ".join((*answer.sentences, *answer.notes)))
        if answer.nothing:
            self._show_sentence(_NOTHING, score=not self._workspace.read_only)
            return
        if view != "shares" and not answer.findings.groups:
            self._show_sentence(_NO_DATES if answer.read.columns.places else _NO_COLUMN)
            return
        self.bar.set_exports(True)
        self.examples.show()
        if in_chart:
            self.pages.setCurrentWidget(self._time_chart())
            self._time_chart().show_answer(answer, colours)
        else:
            self.pages.setCurrentWidget(self.shares if view == "shares" else self.parts)

    def _time_chart(self) -> TimeChart:
        if self.chart is None:
            from sce_desktop.ui.findings.findings_chart import TimeChart

            self.chart = TimeChart()
            self.chart.cellChosen.connect(self.show_cell)
            self.pages.addWidget(self.chart)
        return self.chart

    # --- the rows behind a figure --------------------------------------------------------------------------

    @Slot(object, object)
    def show_cell(self, place: int, part: int) -> None:
        """Show rows with the answer at ``place`` in ``part`` (-1: in the whole table)."""
        answer, project = self.answer, self._workspace.project
        if answer is None or project is None:
            return
        found = answer.findings
        name = found.answers[place]
        self._cell_title = name if part < 0 else f"{name} · {found.groups[part].name}"
        drop(self._cell_job)
        self._cell_job = self._submit(
            findings_work.cell_rows, project, answer, place, part, title=_("Loading examples"), first=True
        )
        self._cell_job.finished.connect(self._on_cell)

    @Slot(object)
    def _on_cell(self, found: CellRows) -> None:
        self._cell_job = None
        self.examples.show_rows(self._cell_title, found)

    @Slot(object)
    def _show_rows(self, found: CellRows) -> None:
        self._navigation.show_ids(found.ids)

    @Slot()
    def copy(self) -> None:
        """Copy the figures in the order in which they are shown."""
        shares = self.pages.currentWidget() is self.shares
        self.exports.copy((self.shares_model if shares else self.parts_model).order.tolist())
