"""The row of focus mode: the row panel laid out for one text, and for a row that comes again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.keymap import shown_key
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.repeats import Repeats
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.start_review import StartReview
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Annotation, Decision, Origin, RowMarks
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.ui.focus.focus_labels import FocusLabels
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.low_scroll import LowScroll, scrolled_column
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.rows.row_panel import RowPanel

SCALE = 1.6  # of the text, beside that of the row panel
CHARACTERS = 75  # of a line: longer ones are hard to read
_PROSE = "The letters of a text, by how wide they are in it and not in the alphabet, decide."
_MOST_TEXT = 4_000  # pixels: what is higher than the window scrolls


class FocusRow(RowPanel):
    """Follows the current row while it is ``active``; a row that comes again is shown in between."""

    labels_type = FocusLabels
    _active = False  # the base class shows a row while it is made
    _folded = True
    _again: int | None = None  # the row that came again
    _chosen: tuple[int, ...] = ()  # labels given to it so far, where a row may have several

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        review: StartReview,
        preferences: Preferences,
        messages: Messages,
        repeats: Repeats,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, navigation, edits, scorer, review, preferences, messages, parent)
        self._repeats = repeats
        self.setAccessibleName(_("Row in focus mode"))

    def _build(self) -> None:
        self.text.view.set_scale(SCALE, _MOST_TEXT)
        self.again = QLabel(wordWrap=True)
        self.again.setTextFormat(Qt.TextFormat.PlainText)
        self.again.setAccessibleName(_("Repeated row"))
        self.again.setText(_("You labelled this row before. Label it again; your first label is hidden."))
        set_role(self.again, "title")
        self.again.hide()
        self.fold = QPushButton()
        self.fold.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.fold.setToolTip(_("Other models, other annotators and the original cells"))
        set_role(self.fold, "quiet")
        self.fold.clicked.connect(self.toggle_evidence)
        self.evidence = QWidget()
        beside = QVBoxLayout(self.evidence)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self.others)
        beside.addWidget(self.reasons)
        beside.addWidget(self.cells)
        self.cells.button.setChecked(True)
        self.cells.button.hide()  # they are folded with the evidence
        self.evidence.hide()
        self.area, self._inside = scrolled_column(_("Labels and evidence"), self.labels, self.evidence)
        self._inside.installEventFilter(self)
        self.body = LowScroll()
        self.centre = QWidget()
        column = QVBoxLayout(self.centre)
        column.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        column.setSpacing(px(SPACE_S))
        column.addLayout(self.head)
        column.addStretch(1)
        column.addWidget(self.text.view)
        column.addLayout(self.text.below)
        column.addStretch(1)
        column.addWidget(self.many)
        column.addWidget(self.again)
        column.addWidget(self.area)
        column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeading)
        column.addWidget(self.decision)
        column.addWidget(self.last)
        middle = QHBoxLayout(self.body.inside)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addStretch(1)
        middle.addWidget(self.centre, 1000)
        middle.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.body)
        layout.addWidget(self.empty)

    @Slot()
    def _fit(self) -> None:
        """Give the labels their height, up to half of it all, and lines of text their width."""
        metrics = QFontMetrics(self.text.view.font())
        width = CHARACTERS * metrics.horizontalAdvance(_PROSE) // len(_PROSE)
        self.centre.setMaximumWidth(width + 2 * px(SPACE_M))
        wanted = self._inside.sizeHint().height()
        share = 0.5 if self._folded else 0.6
        most = max(px(60), int(self.height() * share))
        self.area.setFixedHeight(min(wanted, most))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow labels and evidence that want more height or less."""
        if event.type() is QEvent.Type.LayoutRequest and watched is self._inside:
            self._fit()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """Return a size that no window is widened for."""
        return QSize(px(640), px(480))

    # --- coming and going ----------------------------------------------------------------------------------

    def set_active(self, on: bool) -> None:
        """Follow the current row, or nothing: what nobody sees is not read."""
        self._end_again()
        self._repeats.follow(on)
        super().set_active(on)

    @Slot()
    def toggle_evidence(self) -> None:
        """Show beside the model's prediction what else is known of the row, or hide it."""
        self._folded = not self._folded
        self.evidence.setVisible(not self._folded)
        self._name_fold()
        self._read_scores()
        self._fit()

    def _name_fold(self) -> None:
        key = shown_key(self._preferences.keymap.key("evidence"))
        words = _("Evidence")
        self.fold.setText(f"{words}  {key}".rstrip())
        self.fold.setAccessibleName(words)
        self.fold.setAccessibleDescription(_("hidden") if self._folded else _("shown"))
        set_icon(self.fold, "right" if self._folded else "down", "muted")

    def _set_keys(self) -> None:
        super()._set_keys()
        assert isinstance(self.labels, FocusLabels)
        self.labels.set_names(label.name for label in self._workspace.labels)
        self._name_fold()

    def _connect(self) -> None:
        self._navigation.currentRowChanged.connect(self._end_again)  # before the new row is shown
        super()._connect()

    def _commands(self) -> dict[str, Callable[[], object]]:
        return super()._commands() | {"evidence": self.toggle_evidence, "note": self._edit_note}

    def _edit_note(self) -> None:
        if self._again is None:  # a note is about the first answer
            self.decision.edit_note()

    # --- what is shown -------------------------------------------------------------------------------------

    def _shown_id(self) -> int | None:
        return super()._shown_id() if self._again is None else self._again

    def _shown_runs(self) -> tuple[Run, ...]:
        runs = super()._shown_runs() if self._again is None else ()
        return runs[:1] if self._folded else runs

    def _read_decision(self) -> None:
        if self._again is None or self._row is None:
            super()._read_decision()
            return
        self._annotation = (
            Annotation(self._again, Decision.LABEL, self._chosen, Origin.HAND, "") if self._chosen else None
        )
        self.decision.show_marks(RowMarks(self._again))
        self.decision.show_decision(self._annotation, self._workspace.labels)
        self.others.hide()

    @Slot()
    def _show_labels(self) -> None:
        super()._show_labels()
        if self._again is not None:  # marks belong to the first answer
            for button in (self.decision.unsure, self.decision.flag, self.decision.note_button):
                button.setEnabled(False)

    @property
    def _is_low(self) -> bool:
        return False  # what does not fit scrolls

    def _explain(self) -> None:
        if self._again is None:
            super()._explain()
        else:  # nothing may suggest the first answer
            self.reasons.set_row(None, None)

    # --- a row that comes again ----------------------------------------------------------------------------

    def _begin_again(self) -> None:
        """Show a row that was labelled before, if it is time for one."""
        if (row_id := self._repeats.take()) is not None:
            self._again, self._chosen = row_id, ()
            self.again.show()
            self._show_row()

    @Slot()
    def _end_again(self) -> None:
        """Go back from the row that came again to the current one, answered or not."""
        self._again, self._chosen = None, ()
        self.again.hide()

    def _answer_again(self, decision: Decision, label_ids: tuple[int, ...]) -> None:
        row_id = self._again
        assert row_id is not None
        if decision is Decision.SKIPPED or self._repeats.keep(row_id, label_ids):
            self._end_again()
            self._show_row()

    @Slot(object, object)
    def _decide(self, decision: Decision, label_ids: tuple[int, ...] = (), *, advance: bool = True) -> None:
        if self._again is not None:
            self._answer_again(decision, label_ids)
            return
        super()._decide(decision, label_ids, advance=advance)
        if advance:
            self._begin_again()

    @Slot()
    def accept(self) -> None:
        """Accept the prediction, or keep the label; of a row that came again the labels chosen for it."""
        if self._again is None:
            super().accept()
            self._begin_again()
        elif self._chosen:
            self._answer_again(Decision.LABEL, self._chosen)

    @Slot(object)
    def choose_label(self, label_id: int) -> None:
        """Give the row a label; where it may have several, add or remove it."""
        label_set = self._workspace.label_set
        if self._again is None or label_set is None or not label_set.multi_label:
            super().choose_label(label_id)
            return
        before = self._chosen
        self._chosen = (
            tuple(i for i in before if i != label_id) if label_id in before else (*before, label_id)
        )
        self._read_decision()
        self._show_labels()

    @Slot()
    def _take_back(self) -> None:
        if self._again is None:
            super()._take_back()
        else:
            self._chosen = ()
            self._read_decision()
            self._show_labels()
