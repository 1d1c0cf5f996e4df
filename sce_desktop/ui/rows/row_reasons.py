"""Why this label: words marked in the text of the row, named below it, and similar rows that one labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from sce_desktop.controllers.keymap import shown_key
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.reasons import Explainer
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Row
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _, listed
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import px, set_role
from sce_desktop.ui.rows.similar_rows import SimilarRows
from sce_desktop.ui.rows.text_marks import Mark, TextMarks

if TYPE_CHECKING:
    from sce_desktop.tasks.insight.labelled_rows import Neighbour
    from sce_desktop.tasks.insight.reasons import Reasons, WordReason

SETTING = "reasons"
POINTED_MS = 150  # how long the mouse rests on a label before that is explained


class RowReasons(QWidget):
    """Follows the row and the label that it is told; asks for nothing while it is folded."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        preferences: Preferences,
        marks: TextMarks,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self._marks = marks
        self._row: Row | None = None
        self._label_id: int | None = None  # chosen, or else predicted
        self._pointed: int | None = None  # under the mouse
        self._asked: tuple[int, int | None] | None = None
        self._opened = False  # by the user, for this row: what comes is brought into sight
        self.explainer = Explainer(workspace, scorer, self)
        self.button = QPushButton(_("Why this label"))
        self.button.setCheckable(True)
        self.button.setChecked(bool(preferences.settings[SETTING]))
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.button, "quiet")
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAccessibleName(_("Words for the label and against it"))
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.note = QLabel(wordWrap=True)
        self.note.setTextFormat(Qt.TextFormat.RichText)
        self.note.setAccessibleName(_("Note on the words"))
        link = '<a href="#">' + _("More") + "</a>"
        self.note.setText(_("Approximation: the score without each word. {link}", link=link))
        links = Qt.TextInteractionFlag.LinksAccessibleByMouse
        self.note.setTextInteractionFlags(links | Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
        set_role(self.note, "muted")
        self.similar = SimilarRows()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(2))
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (self.words, self.note, self.similar):
            layout.addWidget(part)
        self._rest = QTimer(self, singleShot=True, interval=POINTED_MS)
        self._rest.timeout.connect(self._follow)
        self.button.toggled.connect(self._on_toggled)
        self.note.linkActivated.connect(lambda _link: navigation.guideAsked.emit(self))
        self.explainer.wordsFound.connect(self._show_words)
        self.explainer.neighboursFound.connect(self._show_similar)
        self.explainer.failed.connect(self._show_problem)
        self.similar.chosen.connect(navigation.rowAsked)
        workspace.annotationsChanged.connect(self._on_annotations)
        workspace.labelsChanged.connect(self._on_labels)
        self._show_fold()
        self._clear()

    def show_key(self, key: str) -> None:
        """Name the key in the tip."""
        tip = _("Words that speak for this label, and similar rows")
        self.button.setToolTip(f"{tip} ({shown_key(key)})" if key else tip)

    def set_row(self, row: Row | None, label_id: int | None) -> None:
        """Explain ``label_id`` of ``row``; None: there is nothing to explain."""
        if row is None or self._row is None or row.id != self._row.id:
            self._pointed = None
            self._opened = False
            self._rest.stop()
        self._row, self._label_id = row, label_id
        self._follow()

    @Slot(object)
    def point_at(self, label_id: int | None) -> None:
        """Explain the label under the mouse, if that stays there; None: the one of before."""
        self._pointed = label_id
        if self.button.isChecked():
            self._rest.start()

    @Slot()
    def _follow(self) -> None:
        """Ask about what is shown now, unless that is what was asked last."""
        row = self._row
        label_id = self._label_id if self._pointed is None else self._pointed
        if not self.button.isChecked() or row is None or row.blank or self._navigation.blind:
            self._asked = None
            self.explainer.forget()
            self._clear()
            if self.button.isChecked() and self._navigation.blind:
                self._show_problem(_("Hidden in blind mode."))
            return
        question = (row.id, label_id)
        if question == self._asked:
            return
        if self._asked is None or self._asked[0] != row.id:
            self._clear()
        self._asked = question
        self.explainer.ask(row, label_id)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        if bool(self._preferences.settings[SETTING]) != on:
            self._preferences.change_setting(SETTING, on)
        self._opened = on
        self._show_fold()
        self.explainer.ask_neighbours_again()
        self._follow()

    @Slot(object)
    def _on_annotations(self, _ids: object) -> None:
        """Look for labelled rows again when the next row comes: there are others now."""
        self.explainer.ask_neighbours_again()

    @Slot()
    def _on_labels(self) -> None:
        """Ask again: a label may have another name, colour or meaning."""
        self._asked = None
        self._follow()

    def _show_fold(self) -> None:
        on = self.button.isChecked()
        set_icon(self.button, "down" if on else "right", "muted")
        self.button.setAccessibleDescription(_("shown") if on else _("hidden"))

    def _clear(self) -> None:
        self._marks.set_layer("reasons", ())
        self.words.hide()
        self.note.hide()
        self.similar.set_rows((), {})

    # --- what was found ------------------------------------------------------------------------------------

    @Slot(object)
    def _show_words(self, found: Reasons) -> None:
        label = next((one for one in self._workspace.labels if one.id == found.label_id), None)
        if label is None:
            return
        name = isolated(label.name)
        given, against = _names(found.speak_for), _names(found.against)
        if given and against:
            text = _("For “{label}”: {words}. Against: {others}.", label=name, words=given, others=against)
        elif given:
            text = _("For “{label}”: {words}.", label=name, words=given)
        elif against:
            text = _("Against “{label}”: {words}.", label=name, words=against)
        else:
            text = _("No single word changes the score of “{label}” much.", label=name)
        self.words.setText(text)
        self.words.show()
        self.note.show()
        self._marks.set_layer("reasons", _marks_of(found, colour_of(label)))
        QTimer.singleShot(0, self, self._come_into_sight)

    @Slot(object)
    def _show_similar(self, found: list[Neighbour]) -> None:
        self.similar.set_rows(found, {label.id: label for label in self._workspace.labels if label.id})
        QTimer.singleShot(0, self, self._come_into_sight)

    @Slot()
    def _come_into_sight(self) -> None:
        """Scroll to what was asked for: with many labels it would come below the edge."""
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if self._opened and area is not None:
            area.ensureWidgetVisible(self, 0, 0)

    @Slot(str)
    def _show_problem(self, sentence: str) -> None:
        self._marks.set_layer("reasons", ())
        self.note.hide()
        self.words.setText(sentence)
        self.words.setVisible(bool(sentence))


def _names(reasons: Sequence[WordReason]) -> str:
    return listed([isolated(reason.word) for reason in reasons]) if reasons else ""


def _marks_of(found: Reasons, colour: str) -> list[Mark]:
    """Return the marks of all words, in the order of the text."""
    marks = [
        Mark(start, end, "strong" if reason.strong else "for", colour)
        for reason in found.speak_for
        for start, end in reason.spans
    ]
    marks += [Mark(start, end, "against") for reason in found.against for start, end in reason.spans]
    return sorted(marks, key=lambda mark: mark.start)
