"""The current row: its text, the predictions for it, and the buttons and keys that label it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers import rows_data, rows_text
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.keymap import DIGITS, shown_key
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.rows_data import Score
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.start_review import StartReview
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Annotation, Decision, Origin, Row, RowMarks
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.runs import Run
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.low_scroll import LowScroll
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, px, set_role
from sce_desktop.ui.rows.copies_offer import CopiesOffer
from sce_desktop.ui.rows.last_decision import LastDecision
from sce_desktop.ui.rows.row_cells import OriginalCells
from sce_desktop.ui.rows.row_decision import DecisionBar
from sce_desktop.ui.rows.row_keys import RowKeys
from sce_desktop.ui.rows.row_labels import RowLabels
from sce_desktop.ui.rows.row_limit import RowLimit
from sce_desktop.ui.rows.row_lines import label_lines
from sce_desktop.ui.rows.row_text import RowText, length_of
from sce_desktop.ui.rows.selected_rows import SelectedRows
from sce_desktop.ui.rows.standing import Standing, answer_by, answer_of

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

MOST_COUNTED = 1000  # duplicates; counting more of them would take longer than showing a row may
_LOW = 520  # of the panel: below it everything in it takes as little height as it can


class RowPanel(QWidget):
    """Follows the current row; every decision is on the disk before the next row is shown."""

    labels_type = RowLabels
    _active = True

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        review: StartReview,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._edits = edits
        self._review = review
        self._preferences = preferences
        self._row: Row | None = None
        self._scores: list[Score] = []
        self._annotation: Annotation | None = None
        self._open = False  # it was unlabelled when it came, or its label was undone since
        self._leaving = False
        self._low: bool | None = None  # nobody has looked yet
        self._copies = CopiesOffer(workspace, navigation, edits, preferences, messages)
        self._selected = SelectedRows(workspace, navigation, edits, messages, self)
        self._label_keys: dict[int, str] = {}
        self.setAccessibleName(_("Row"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = QLabel()
        self.title.setAccessibleName(_("Row number"))
        set_role(self.title, "heading")
        self.facts = ElidedLabel()
        self.facts.setAccessibleName(_("Length and duplicates"))
        self.facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        set_role(self.facts, "muted")
        self.previous = self._arrow("up", -1)
        self.next = self._arrow("down", 1)
        self.last = LastDecision()
        self.text = RowText(self)
        self._limit = RowLimit(scorer, self.text, self)
        self.labels = self.labels_type()
        self.cells = OriginalCells()
        self.others = QLabel(wordWrap=True)
        self.others.setTextFormat(Qt.TextFormat.PlainText)
        self.others.setAccessibleName(_("Labels by other annotators"))
        set_role(self.others, "muted")
        self.many = QLabel(wordWrap=True)
        self.many.setTextFormat(Qt.TextFormat.PlainText)
        self.many.setAccessibleName(_("Selected rows"))
        set_role(self.many, "title")
        self.many.hide()
        self.decision = DecisionBar()
        self.empty = QLabel(_("Select a row to see its text."), wordWrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setAccessibleName(_("No row"))
        set_role(self.empty, "muted")
        self._build()
        self._keys = RowKeys(self)
        self._connect()
        self._set_keys()
        self._show_row()

    def _arrow(self, icon: str, rows: int) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(_("Next row") if rows > 0 else _("Previous row"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(button, "quiet")
        set_icon(button, icon, "muted")
        button.clicked.connect(lambda _checked=False: self._navigation.stepAsked.emit(rows))
        return button

    def _build(self) -> None:
        self._head = head = QHBoxLayout()
        head.setSpacing(px(2))
        head.addWidget(self.title)
        head.addWidget(self.facts, 1)
        head.addWidget(self.previous)
        head.addWidget(self.next)
        inside = QWidget()
        set_role(inside, "pane")
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        scrolled = QVBoxLayout(inside)
        scrolled.setContentsMargins(0, 0, 0, px(SPACE_S))
        scrolled.setSpacing(px(SPACE_S))
        scrolled.addWidget(self.labels)
        scrolled.addWidget(self.cells)
        scrolled.addStretch(1)
        self.area = QScrollArea()
        self.area.setAccessibleName(_("Labels and cells"))
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inside)
        self.body = LowScroll()
        self._column = body = QVBoxLayout(self.body.inside)
        body.addLayout(head)
        body.addWidget(self.text.view)
        body.addLayout(self.text.below)
        body.addWidget(self.many)
        body.addWidget(self.area, 1)
        body.addWidget(self.others)
        body.addWidget(self.decision)
        body.addWidget(self.last)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.body)
        layout.addWidget(self.empty)
        self._fit()

    def _connect(self) -> None:
        self._navigation.currentRowChanged.connect(self._show_row)
        self._navigation.selectionChanged.connect(self._show_selected)
        self._workspace.labelsChanged.connect(self._on_labels)
        self._workspace.scoresChanged.connect(self._on_scores)
        self._workspace.annotationsChanged.connect(self._on_annotations)
        self._workspace.projectOpened.connect(self._on_labels)
        self._workspace.projectClosed.connect(self._show_row)
        self._workspace.projectOpened.connect(self.last.clear)
        self._preferences.settingsChanged.connect(self._on_labels)
        self._workspace.thresholdChanged.connect(self._show_labels)
        self._edits.decided.connect(self._show_last)
        self.last.undoAsked.connect(self._edits.undo)
        self.last.copiesAsked.connect(self._copies.accept)
        self.last.cleared.connect(self._copies.withdraw)
        self._copies.found.connect(self.last.offer_copies)
        self._edits.editing.connect(self.last.clear)  # its Undo would undo something else
        self.labels.left.connect(self._navigation.rowsFocusAsked)
        self.labels.chosen.connect(self.choose_label)
        self.labels.finderChanged.connect(self._fit)
        self.labels.foundChanged.connect(self._show_found)
        self._keys.typing.connect(self.labels.set_typing)
        self._keys.typing.connect(self.decision.set_typing)
        self.labels.find_button.clicked.connect(self._find_label)
        self.decision.accepted.connect(self._on_accept)
        self.decision.decided.connect(self._decide)
        self.decision.markChanged.connect(self._mark)
        self.decision.takenBack.connect(self._take_back)
        self.decision.noteOpened.connect(self._show_note)
        self.decision.noteLeft.connect(self._navigation.rowsFocusAsked)

    # --- its height ----------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the most of the height that there is."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Let the likeliest labels be seen whatever else there is: the text gives way first, and scrolls."""
        low = self.height() < px(_LOW)
        if low != self._low:
            self._low = low
            gap, end = (px(SPACE_XS), px(SPACE_XS)) if low else (px(SPACE_S), px(SPACE_M))
            self._column.setSpacing(gap)
            self._column.setContentsMargins(px(SPACE_M), gap, px(SPACE_M), end)
            for part in (self.text, self.labels, self.decision):
                part.set_low(low)
            self._show_selected()
            if low:
                self._head.insertWidget(1, self.decision.state_line, 1)
            else:
                self.decision.take_state_line()
        self.facts.setVisible(not (low and self._annotation is not None))
        self.area.setMinimumHeight(self.labels.least_height())

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show_row(self) -> None:
        project = self._workspace.project
        self.decision.save_note()  # of the row before
        row_id = self._shown_id()
        self._row, self._open = None, False
        if project is not None and row_id is not None:
            with project.snapshot():
                self._row = project.rows([row_id])[0]
                self._show_body()
                self._show_parts(project, self._row)
        self._show_body()
        self._limit.set_text(self._row.text if self._row is not None else "")

    def _shown_id(self) -> int | None:
        """The row to show."""
        return self._navigation.current_row if self._active else None

    def set_active(self, on: bool) -> None:
        """Follow the current row, or nothing: what nobody sees is not read."""
        self._active = on
        self._show_row()

    def _shown_runs(self) -> tuple[Run, ...]:
        """The runs whose predictions are shown, the model's first."""
        return () if self._navigation.blind else self._workspace.runs

    def _show_body(self) -> None:
        """Show the parts of a row, or that there is none; a text's height comes from what is laid out."""
        self.body.setVisible(self._row is not None)
        self.empty.setVisible(self._row is None)

    def _show_parts(self, project: Project, row: Row) -> None:
        self.title.setText(_("Row {number}", number=number(row.position + 1)))
        facts = [length_of(row.text)] if not row.blank else []
        if same := project.count_same_text(row.id, MOST_COUNTED + 1):
            facts.append(
                ngettext("{count} duplicate", "{count} duplicates", same)
                if same <= MOST_COUNTED
                else ngettext("over {count} duplicate", "over {count} duplicates", MOST_COUNTED)
            )
        self.facts.setText(" · ".join(facts))
        self.text.set_text(row.text)
        self.labels.start_over()
        self.cells.set_cells(project.columns, row.cells)
        self.area.verticalScrollBar().setValue(0)
        self._read_decision()
        self._read_scores()

    def _read_scores(self) -> None:
        project, row = self._workspace.project, self._row
        self._scores = []
        if project is not None and row is not None:
            for run in self._shown_runs():
                found = rows_data.scores_of(project, [row.id], run, self._workspace.labels)
                if row.id in found:
                    self._scores.append(found[row.id])
        self._show_labels()

    def _read_decision(self) -> None:
        project, row = self._workspace.project, self._row
        if project is None or row is None:
            return
        self._annotation = project.annotations([row.id]).get(row.id)
        self._open |= self._annotation is None
        marks = project.marks([row.id]).get(row.id, RowMarks(row.id))
        self.decision.show_marks(marks)
        self.decision.show_decision(self._annotation, self._workspace.labels)
        # Before one has labelled the row, a gold label or somebody else's would be copied, not checked.
        answered = self._annotation is not None and self._annotation.decision is not Decision.SKIPPED
        answers = project.answers_of_others(row.id) if answered and not self._navigation.blind else []
        self.others.setText(rows_text.answers_of_others(answers, self._workspace.labels))
        self.others.setVisible(bool(answers))

    @Slot()
    def _show_labels(self) -> None:
        labels = self._workspace.labels
        chosen = self._annotation.label_ids if self._annotation else ()
        self.labels.set_lines(*label_lines(labels, self._scores, chosen, self._label_keys))
        self.labels.setEnabled(not self._workspace.read_only)
        stands = self._standing()
        names = rows_text.decided_names(stands.decision, stands.label_ids, labels) if stands else []
        kept, read_only = self._annotation is not None, self._workspace.read_only
        self.decision.set_acceptable(" + ".join(names), kept=kept, read_only=read_only)
        self._fit()

    def _standing(self) -> Standing | None:
        """What Enter leaves the row with."""
        if self._annotation is not None:
            return answer_of(self._annotation)
        if not self._scores or self._scores[0].run.alias != "sce":
            return None
        label_set = self._workspace.label_set
        several = label_set is not None and label_set.multi_label
        threshold = self._workspace.threshold
        return answer_by(self._scores[0], self._workspace.labels, multi_label=several, threshold=threshold)

    @Slot()
    def _show_selected(self) -> None:
        """Say how many rows keys and buttons are about."""
        count = self._selected.count
        short = ngettext("{count} row selected.", "{count} rows selected.", count)
        rest = _("Keys and buttons apply to all of them.")
        self.many.setText(short if self._low else f"{short} {rest}")
        self.many.setToolTip(rest)
        self.many.setVisible(bool(count))
        self.labels.set_many(count)
        self.decision.set_many(count)

    @Slot()
    def _on_labels(self) -> None:
        self._set_keys()
        self._read_decision()
        self._read_scores()

    @Slot()
    def _on_scores(self) -> None:
        self._read_scores()

    @Slot(object)
    def _on_annotations(self, ids: object) -> None:
        if self._leaving:
            return
        if self._row is not None and (not isinstance(ids, list) or self._row.id in ids):
            self._read_decision()
            self._show_labels()

    @Slot()
    def _show_note(self) -> None:
        note = self.decision.note
        QTimer.singleShot(0, self, lambda: self.body.ensureWidgetVisible(note))  # when it has its place

    # --- deciding ------------------------------------------------------------------------------------------

    def _set_keys(self) -> None:
        keymap, chosen = self._preferences.keymap, self._preferences.keymap.keys()
        self._label_keys = keymap.label_keys(self._workspace.labels)
        digits = keymap.digits(self._workspace.labels)
        keys: dict[str, Callable[[], object]] = {
            digit: partial(self._by_digit, partial(self.labels.choose_place, place))
            for place, digit in enumerate(DIGITS)
        }
        if digits is not None:
            keys = {digit: partial(self.choose_label, label_id) for label_id, digit in digits.items()}
        self.labels.set_digits(digits)
        keys |= {key: partial(self.choose_label, label_id) for label_id, key in self._label_keys.items()}
        keys |= {chosen[name]: do for name, do in self._commands().items() if chosen[name]}
        self._keys.set_keys(keys)
        self.decision.show_keys(chosen)
        for arrow, name in ((self.previous, "previous"), (self.next, "next")):
            arrow.setToolTip(f"{arrow.accessibleName()} ({shown_key(chosen[name])})")
        self.labels.show_key(shown_key(chosen["find"]))

    def _commands(self) -> dict[str, Callable[[], object]]:
        """What the keys of the keymap do."""
        return {
            "accept": self.accept,
            "find": self._find_label,
            "none": partial(self._decide, Decision.NONE),
            "skip": partial(self._decide, Decision.SKIPPED),
            "unsure": self.decision.unsure.click,
            "flag": self.decision.flag.click,
            "note": self.decision.edit_note,
            "back": self._take_back,
            "copies": self._copies.accept,
            "similar": lambda: self._review.show_similar(self._navigation.current_row),
            "start": self._review.begin,
            "next": lambda: self._navigation.stepAsked.emit(1),
            "previous": lambda: self._navigation.stepAsked.emit(-1),
        }

    def _by_digit(self, choose: Callable[[], object]) -> None:
        """Choose by rank, and ask once whether that is what the user wants of digits."""
        choose()
        self._review.ask_digits()

    @Slot()
    def _find_label(self) -> None:
        self.area.verticalScrollBar().setValue(0)
        self.labels.start_finding()

    @Slot()
    def _show_found(self) -> None:
        """Say what Enter does with the label that is found by typing."""
        line, label_set = self.labels.found(), self._workspace.label_set
        several = label_set is not None and label_set.multi_label
        if line is None:
            self.decision.set_found(None)
        else:
            verb = "give" if not several else "remove" if line.decided else "add"
            self.decision.set_found((verb, line.name))

    @Slot()
    def _on_accept(self) -> None:
        """Do what the button says."""
        if self.labels.found() is not None:
            self.labels.choose_found()
        else:
            self.accept()

    @Slot()
    def accept(self) -> None:
        """Keep the label that the row has, from now on by hand; where it has none, accept the prediction."""
        kept, stands = self._annotation, self._standing()
        if self._selected.accept():
            return
        if kept is not None and (kept.origin is Origin.HAND or (self._row is not None and self._row.blank)):
            self._navigation.nextAsked.emit(self._open)
        elif stands is not None:
            self._decide(stands.decision, stands.label_ids)

    @Slot(object)
    def choose_label(self, label_id: int) -> None:
        """Give the row a label; where it may have several, add or remove it."""
        label_set = self._workspace.label_set
        if self._selected.choose(label_id):
            return
        if label_set is None or not label_set.multi_label:
            self._decide(Decision.LABEL, (label_id,))
            return
        before = self._annotation.label_ids if self._annotation else ()
        after = tuple(i for i in before if i != label_id) if label_id in before else (*before, label_id)
        if after:
            self._decide(Decision.LABEL, after, advance=False)
        else:
            self._take_back()

    @Slot(object)
    def _decide(self, decision: Decision, label_ids: tuple[int, ...] = (), *, advance: bool = True) -> None:
        if self._row is None or self._selected.decide(decision, label_ids):
            return
        decided = self._row.id
        self._leaving = advance  # what the panel shows of this row is replaced at once by the next one
        done = self._edits.decide([decided], decision, label_ids)
        self._leaving = False
        if done and advance:
            self._navigation.nextAsked.emit(self._open)
            if self._navigation.current_row == decided:  # at the end of the list
                self._on_annotations([decided])

    @Slot()
    def _take_back(self) -> None:
        if self._row is not None and not self._selected.take_back():
            self._edits.clear_decision([self._row.id])

    @Slot(object, object)
    def _show_last(self, row_ids: list[int], words: str) -> None:
        project = self._workspace.project
        if project is None:
            return
        if len(row_ids) != 1:
            self.last.show_words(
                ngettext("{count} row: {label}", "{count} rows: {label}", len(row_ids), label=words)
            )
            return
        shown = self._row  # by a key it is the one
        row = shown if shown and shown.id == row_ids[0] else project.rows(row_ids)[0]
        self.last.show_words(_("Row {number}: {label}", number=number(row.position + 1), label=words))

    @Slot(object, object)
    def _mark(self, mark: str, value: bool | str) -> None:
        if self._row is None:
            return
        if mark == "note" or not self._selected.mark(mark):
            self._edits.set_marks([self._row.id], **{mark: value})
