"""The foot of the row panel: the label of the row, the one next step, other answers, marks and the note."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sce_desktop.controllers import rows_text
from sce_desktop.controllers.keymap import shown_key
from sce_desktop.core.annotations import Annotation, Decision, Label, Origin, RowMarks
from sce_desktop.core.i18n import _, number
from sce_desktop.core.text import menu_text
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.painting import elided_name
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, font, px, set_role

_ORIGINS = {
    Origin.HAND: _("✓ {labels}, by hand"),
    Origin.BULK: _("✓ {labels}, in bulk"),
    Origin.IMPORTED: _("✓ {labels}, imported"),
}


class DecisionBar(QWidget):
    """Asks by signals; shows what it is given."""

    accepted = Signal()
    decided = Signal(object)  # Decision.NONE or Decision.SKIPPED
    takenBack = Signal()
    noteOpened = Signal()
    noteLeft = Signal()  # by a key: the next one is for the rows again
    markChanged = Signal(object, object)  # "unsure", "flag" or "note", and its value

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._note = ""
        self.setAccessibleName(_("Label of the row"))
        self.state = ElidedLabel()
        self.state.setAccessibleName(_("Your label"))
        self.back = self._button(_("Undo"), _("Undo this label"), "undo")
        set_role(self.back, "quiet")
        self.back.clicked.connect(self.takenBack)
        self._acceptable, self._kept = "", False
        self._found: tuple[str, str] | None = None
        self._typing = False
        self._many = 0
        self._keys: Mapping[str, str] = {}
        self.accept = self._button(_("Accept"), "")
        set_role(self.accept, "primary")
        self.accept.setSizePolicy(
            QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed
        )  # the name is cut to it
        self.accept.clicked.connect(self.accepted)
        self.none = self._button(_("None of these"), _("Mark that no label fits, and continue"))
        self.none.clicked.connect(lambda _checked=False: self.decided.emit(Decision.NONE))
        self.skip = self._button(_("Skip"), _("Leave it unlabelled and continue"))
        self.skip.clicked.connect(lambda _checked=False: self.decided.emit(Decision.SKIPPED))
        self.unsure = self._mark_button(_("Unsure"), "unsure", _("Mark as unsure"))
        self.flag = self._mark_button(_("Flag"), "flag", _("Mark for later"))
        self.note_button = self._button(_("Note"), _("Write a note on this row"))
        self.note_button.clicked.connect(self.edit_note)
        self.note = QPlainTextEdit(placeholderText=_("Note on this row. Esc returns to the table."))
        self.note.setAccessibleName(_("Note"))
        self.note.setTabChangesFocus(True)
        self.note.setFixedHeight(px(58))
        self.note.installEventFilter(self)
        self.state_line = QWidget()
        decided = QHBoxLayout(self.state_line)
        decided.setContentsMargins(0, 0, 0, 0)
        decided.addWidget(self.state, 1)
        decided.addWidget(self.back)
        others = QWidget()
        flow = FlowLayout(others, gap=px(SPACE_XS))
        for button in (self.none, self.skip, self.unsure, self.flag, self.note_button):
            flow.addWidget(button)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.state_line)
        layout.addWidget(self.accept)
        layout.addWidget(others)
        layout.addWidget(self.note)
        self.note.hide()
        self.accept.hide()  # until there is something to accept

    def _button(self, text: str, tip: str, icon: str = "") -> QPushButton:
        button = QPushButton(text)
        button.setAccessibleName(text)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if icon:
            set_icon(button, icon, "muted")
        return button

    def _mark_button(self, text: str, mark: str, tip: str) -> QPushButton:
        button = self._button(text, tip)
        button.setCheckable(True)
        button.clicked.connect(lambda on: self.markChanged.emit(mark, on))
        return button

    # --- what is shown -------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the name on the button as there is room for."""
        super().resizeEvent(event)
        self._name_accept()

    def set_low(self, low: bool) -> None:
        """Take less height; the label of the row then stands in ``state_line`` wherever that is put."""
        self._column.setSpacing(px(SPACE_XS if low else SPACE_S))
        self.back.setText("" if low else _("Undo"))
        before = px(SPACE_S) if low else 0
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        self.state_line.setContentsMargins(0 if mirrored else before, 0, before if mirrored else 0, 0)

    def take_state_line(self) -> None:
        """Show the label of the row here again."""
        self._column.insertWidget(0, self.state_line)

    def show_decision(self, annotation: Annotation | None, labels: tuple[Label, ...]) -> None:
        """Show the label of the row, and how it came."""
        self.state_line.setVisible(annotation is not None)
        if annotation is not None:
            words = ", ".join(rows_text.decided_names(annotation.decision, annotation.label_ids, labels))
            self.state.setText(_ORIGINS[annotation.origin].format(labels=words))

    def show_marks(self, marks: RowMarks) -> None:
        """Show marks and note of a row; a note that is being written is left alone."""
        self.unsure.setChecked(marks.unsure)
        self.flag.setChecked(marks.flag)
        if self._note == marks.note and self.note.hasFocus():
            return
        self._note = marks.note
        self.note.setPlainText(marks.note)
        self.note.setVisible(bool(marks.note))

    def show_keys(self, keys: Mapping[str, str]) -> None:
        """Name the keys, by command, on the buttons and in their tips."""
        self._keys = keys
        self._name_buttons()

    @Slot(bool)
    def set_typing(self, typing: bool) -> None:
        """Name no keys while one is ``typing`` into a field, where they are letters."""
        self._typing = typing
        self._name_buttons()

    def set_many(self, count: int) -> None:
        """Say on the buttons that they are about ``count`` rows; 0: about the one that is shown."""
        if count != self._many:
            self._many = count
            self._name_buttons()
            self._show_accept()

    def _show_accept(self) -> None:
        self.accept.setVisible(bool(self._acceptable or self._many or self._found))

    def _name_buttons(self) -> None:
        for name, button in (
            ("none", self.none),
            ("skip", self.skip),
            ("unsure", self.unsure),
            ("flag", self.flag),
            ("note", self.note_button),
        ):
            key, words = shown_key(self._keys.get(name, "")), button.accessibleName()
            if self._many and button is not self.note_button:
                words = f"{words} ({number(self._many)})"
            button.setMinimumWidth(0)
            button.setText(f"{words}  {key}".rstrip())
            button.setAccessibleDescription(_("Key {key}", key=key) if key else "")
            if self._typing:
                button.setMinimumWidth(button.sizeHint().width())  # nothing moves
                button.setText(words)
        self._name_accept()

    def _name_accept(self) -> None:
        if self._found is not None:
            (verb, name), key = self._found, shown_key("Return")
            tip = _("Use the label found")
        else:
            verb, name = "keep" if self._kept else "accept", self._acceptable
            key = "" if self._typing else shown_key(self._keys.get("accept", ""))
            tip = _("Keep the label and continue") if self._kept else _("Accept the prediction and continue")
        if self._many and self._found is None:
            words = _("Accept predictions ({rows})", rows=number(self._many))
            self.accept.setText(f"{words} {key}".rstrip())
            self.accept.setAccessibleName(words)
            self.accept.setToolTip(_("Accept predictions of unlabelled rows in the selection, not drafts"))
            return
        metrics = QFontMetrics(font("strong"))
        around = metrics.horizontalAdvance(f"{_action(verb, '')} {key}") + 2 * px(SPACE_M) + px(SPACE_S)
        shown = elided_name(metrics, name, max(px(60), self.accept.width() - around))
        self.accept.setText(f"{_action(verb, menu_text(shown))} {key}".rstrip())
        self.accept.setAccessibleName(_action(verb, name))
        self.accept.setToolTip(tip)

    def set_found(self, found: tuple[str, str] | None) -> None:
        """Show what Enter does while one types to find a label: a verb of `_action` and the label's name."""
        if found != self._found:
            self._found = found
            self._name_accept()
            self._show_accept()

    def set_acceptable(self, name: str, *, kept: bool, read_only: bool) -> None:
        """Name what "Accept" takes, or keeps where ``kept``; empty: nothing can be accepted."""
        if (name, kept, read_only) == (self._acceptable, self._kept, self.note.isReadOnly()):
            return
        self._acceptable, self._kept = name, kept
        self._name_accept()
        self._show_accept()
        self.note_button.setEnabled(not read_only)
        for button in (self.accept, self.none, self.skip, self.unsure, self.flag, self.back):
            button.setEnabled(not read_only)
        self.note.setReadOnly(read_only)

    # --- the note ------------------------------------------------------------------------------------------

    @Slot()
    def edit_note(self) -> None:
        """Open the note to continue writing at its end."""
        self.note.show()
        self.note.moveCursor(QTextCursor.MoveOperation.End)
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.noteOpened.emit()

    def save_note(self) -> None:
        """Keep what was written, if it is new."""
        text = self.note.toPlainText()
        if text != self._note:
            self._note = text
            self.markChanged.emit("note", text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the note when it is left; Escape and Ctrl+Return leave it."""
        if watched is self.note:
            if event.type() is QEvent.Type.FocusOut:
                self.save_note()
                self.note.setVisible(bool(self._note))
            elif isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
                control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
                returns = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
                if event.key() == Qt.Key.Key_Escape or (control and returns):
                    self.note.clearFocus()
                    self.noteLeft.emit()
                    return True
        return super().eventFilter(watched, event)


def _action(verb: str, label: str) -> str:
    """Return what the button does: "accept" or "keep" an answer; "give", "add" or "remove" a label found."""
    match verb:
        case "give":
            return _("Label as {label}", label=label)
        case "add":
            return _("Add {label}", label=label)
        case "remove":
            return _("Remove {label}", label=label)
        case "keep":
            return _("Keep {label}", label=label)
    return _("Accept {label}", label=label)
