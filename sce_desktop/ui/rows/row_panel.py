"""The current row: its text, the predictions for it, and the buttons and keys that label it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
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
from sce_desktop.core.hits import hits
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import about_row
from sce_desktop.core.search_terms import needles
from sce_desktop.ui.kit.low_scroll import LowScroll, scrolled_column
from sce_desktop.ui.kit.plain_label import plain_label
from sce_desktop.ui.kit.theme import px, set_role
from sce_desktop.ui.rows.after_decision import AfterDecision
from sce_desktop.ui.rows.row_cells import OriginalCells, RowDetails
from sce_desktop.ui.rows.row_decision import DecisionBar
from sce_desktop.ui.rows.row_fit import RowHeight
from sce_desktop.ui.rows.row_head import MOST_COUNTED, RowHead
from sce_desktop.ui.rows.row_keys import RowKeys
from sce_desktop.ui.rows.row_labels import RowLabels
from sce_desktop.ui.rows.row_limit import RowLimit
from sce_desktop.ui.rows.row_lines import label_lines, label_listing, scores_of_row
from sce_desktop.ui.rows.row_reasons import RowReasons
from sce_desktop.ui.rows.row_text import RowText
from sce_desktop.ui.rows.selected_rows import SelectedRows
from sce_desktop.ui.rows.standing import Standing, standing
from sce_desktop.ui.rows.text_marks import Mark

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

_LOW = 600  # of the panel: below it everything in it takes as little height as it can


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
        self._after = AfterDecision(workspace, navigation, edits, preferences, messages, self)
        self._selected = SelectedRows(workspace, navigation, edits, messages, self)
        self._label_keys: dict[int, str] = {}
        self.setAccessibleName(_("Row"))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.head = RowHead(navigation)
        self.title, self.facts = self.head.title, self.head.facts
        self.previous, self.next = self.head.previous, self.head.next
        self.last = self._after.line
        self.text = RowText(self)
        self._limit = RowLimit(scorer, self.text, self)
        self.labels = self.labels_type()
        self.reasons = RowReasons(workspace, navigation, scorer, preferences, self.text.marks)
        self.details = RowDetails()
        self.cells = OriginalCells()
        self.others = plain_label(_("Labels by other annotators"), "muted")
        self.many = plain_label(_("Selected rows"), "title")
        self.many.hide()
        self.decision = DecisionBar()
        self.empty = plain_label(_("No row"), "muted", _("Select a row to see its text."))
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._build()
        self._keys = RowKeys(self)
        self._connect()
        self._set_keys()
        self._show_row()

    def _build(self) -> None:
        self.area, inside = scrolled_column(
            _("Labels and cells"), self.labels, self.reasons, self.details, self.cells
        )
        self.body = LowScroll()
        self._column = body = QVBoxLayout(self.body.inside)
        body.addLayout(self.head)
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
        self._height = RowHeight(self, body, inside)
        self._fit()

    def _connect(self) -> None:
        self._navigation.currentRowChanged.connect(self._show_row)
        self._navigation.queryChanged.connect(self._mark_hits)
        self._navigation.selectionChanged.connect(self._show_selected)
        self._navigation.ownColumnsChanged.connect(self._show_details)
        self._workspace.labelsChanged.connect(self._on_labels)
        self._workspace.scoresChanged.connect(self._on_scores)
        self._workspace.draftChanged.connect(self._read_scores)
        self._workspace.annotationsChanged.connect(self._on_annotations)
        self._workspace.projectOpened.connect(self._on_labels)
        self._workspace.projectClosed.connect(self._show_row)
        self._preferences.settingsChanged.connect(self._on_labels)
        self._workspace.thresholdChanged.connect(self._show_labels)
        self.labels.left.connect(self._navigation.rowsFocusAsked)
        self.labels.chosen.connect(self.choose_label)
        self.labels.pointedAt.connect(self.reasons.point_at)
        self.labels.finderChanged.connect(self._fit)
        self.labels.orderAsked.connect(partial(self._preferences.change_setting, "row_labels"))
        self.labels.foldAsked.connect(self._navigation.fold)
        self._navigation.foldsChanged.connect(self._show_labels)
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
        """Let text and labels be seen whatever else there is."""
        if self._height.set_low(self.height() < px(_LOW)):
            self._show_selected()
        self.facts.setVisible(not (self._height.low and self._annotation is not None))
        self._height.share()

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show_row(self) -> None:
        project = self._workspace.project
        self.decision.save_note()  # of the row before
        row_id = self._shown_id()
        self._row, self._open = None, False
        self._after.set_row(None)
        if project is not None and row_id is not None:
            with project.snapshot():
                self._row = project.rows([row_id])[0]
                self._show_body()
                self._show_parts(project, self._row)
        self._show_body()
        self._explain()
        self._limit.set_text(self._row.text if self._row is not None else "")

    def _shown_id(self) -> int | None:
        """The row to show."""
        return self._navigation.current_row if self._active else None

    def set_active(self, on: bool) -> None:
        """Follow the current row, or nothing: what nobody sees is not read."""
        self._active = on
        self._show_row()

    @property
    def _is_low(self) -> bool:
        """Whether there is little height."""
        return bool(self._height.low)

    def _shown_runs(self) -> tuple[Run, ...]:
        """The runs whose predictions are shown, the model's first."""
        return () if self._navigation.blind else self._workspace.runs

    def _show_body(self) -> None:
        """Show the parts of a row, or that there is none; a text's height comes from what is laid out."""
        self.body.setVisible(self._row is not None)
        self.empty.setVisible(self._row is None)

    def _show_parts(self, project: Project, row: Row) -> None:
        same = project.count_same_text(row.id, MOST_COUNTED + 1)
        self.head.show_row(row, same)
        self._after.set_row(row, same_text=bool(same))
        self.text.set_text(row.text)
        self._mark_hits()
        self.labels.start_over()
        self.cells.set_cells(project.columns, row.cells)
        self._show_details()
        self.area.verticalScrollBar().setValue(0)
        self._read_decision()
        self._read_scores()

    @Slot()
    def _mark_hits(self) -> None:
        """Mark what is searched for in the text."""
        project, row, searched = self._workspace.project, self._row, self._navigation.query.search
        if project is not None and row is not None:
            found = hits(row.text, needles(searched, project.columns)) if searched else []
            self.text.marks.set_layer("search", [Mark(start, end, "hit") for start, end in found])

    @Slot()
    def _show_details(self) -> None:
        """Show the columns that stand in the table."""
        project, row = self._workspace.project, self._row
        if project is not None and row is not None:
            places = [column.place for column in self._navigation.own_columns]
            self.details.show_row(project.columns if places else (), row.cells, places)

    @Slot()
    def _read_scores(self) -> None:
        project, row = self._workspace.project, self._row
        self._scores = []
        if project is not None and row is not None:
            self._scores = scores_of_row(project, row.id, self._shown_runs(), self._workspace.labels)
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
        known = (labels, self._scores, chosen, self._label_keys)
        by_list = self._preferences.settings["row_labels"] == "list"
        listing = label_listing(*known, self._navigation.folded) if by_list else None
        self.labels.set_lines(*label_lines(*known), listing)
        self.labels.setEnabled(not self._workspace.read_only)
        stands = self._standing()
        names = rows_text.decided_names(stands.decision, stands.label_ids, labels) if stands else []
        kept, read_only = self._annotation is not None, self._workspace.read_only
        self.decision.set_acceptable(" + ".join(names), kept=kept, read_only=read_only)
        self._explain()
        self._fit()

    def _explain(self) -> None:
        """Explain the label that the row has, or else the one that the model finds most probable."""
        chosen = self._annotation.label_ids if self._annotation is not None else ()
        labels = self._workspace.labels
        first = (
            labels[rows_data.best_first(self._scores[0], labels)[0]].id if self._scores and labels else None
        )
        self.reasons.set_row(self._row, chosen[0] if chosen else first)

    def _standing(self) -> Standing | None:
        """What Enter leaves the row with."""
        several, threshold = self._several, self._workspace.threshold
        return standing(self._annotation, self._scores, self._workspace.labels, several, threshold)

    @property
    def _several(self) -> bool:
        """Whether a row may have several labels."""
        label_set = self._workspace.label_set
        return label_set is not None and label_set.multi_label

    @Slot()
    def _show_selected(self) -> None:
        """Say how many rows keys and buttons are about."""
        count = self._selected.count
        short = ngettext("{count} row selected.", "{count} rows selected.", count)
        rest = _("Keys and buttons apply to all of them.")
        self.many.setText(short if self._is_low else f"{short} {rest}")
        self.many.setToolTip(rest)
        self.many.setVisible(bool(count))
        self.labels.set_many(count)
        self.decision.set_many(count)

    @Slot()
    def _on_labels(self) -> None:
        self._set_keys()
        self._read_decision()
        self._read_scores()

    @Slot(object)
    def _on_scores(self, change: object) -> None:
        if self._row is not None and about_row(change, self._row.id):
            self._read_scores()

    @Slot(object)
    def _on_annotations(self, ids: object) -> None:
        if self._after.deciding:
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
        self.labels.set_digits(digits := keymap.digits(self._workspace.labels))
        keys: dict[str, Callable[[], object]] = {
            digit: partial(self._by_digit, partial(self.labels.choose_place, place))
            for place, digit in enumerate(DIGITS)
        }
        if digits is not None:
            keys = {digit: partial(self.choose_label, label_id) for label_id, digit in digits.items()}
        keys |= {key: partial(self.choose_label, label_id) for label_id, key in self._label_keys.items()}
        keys |= {chosen[name]: do for name, do in self._commands().items() if chosen[name]}
        self._keys.set_keys(keys)
        self.decision.show_keys(chosen)
        self.head.show_keys(chosen)
        self.labels.show_key(shown_key(chosen["find"]))
        self.reasons.show_key(chosen["why"])

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
            "copies": self._after.copies.accept,
            "why": self.reasons.button.click,
            "similar": lambda: self._review.show_similar(self._navigation.current_row),
            "start": self._review.begin,
            "next": partial(self._navigation.stepAsked.emit, 1),
            "previous": partial(self._navigation.stepAsked.emit, -1),
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
        line = self.labels.found()
        verb = "give" if not self._several else "remove" if line and line.decided else "add"
        self.decision.set_found((verb, line.name) if line else None)

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
        if self._selected.choose(label_id):
            return
        if not self._several:
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
        project, decided = self._workspace.project, self._row.id
        self._after.deciding = advance  # what the panel shows of this row is replaced at once by the next one
        done = self._edits.decide([decided], decision, label_ids, rows=[self._row])
        self._after.deciding = False
        if not done:
            self.last.clear()
        elif advance and project is not None:
            self.decision.save_note()  # before a state of the project is looked at that has it not
            with project.snapshot():
                self._navigation.nextAsked.emit(self._open)
            if self._navigation.current_row == decided:  # at the end of the list
                self._on_annotations([decided])

    @Slot()
    def _take_back(self) -> None:
        if self._row is not None and not self._selected.take_back():
            self._edits.clear_decision([self._row.id])

    @Slot(object, object)
    def _mark(self, mark: str, value: bool | str) -> None:
        if self._row is None:
            return
        if mark == "note" or not self._selected.mark(mark):
            self._edits.set_marks([self._row.id], **{mark: value})
