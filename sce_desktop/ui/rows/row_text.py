"""The text of the current row, large and in its own direction; a very long one comes in parts."""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTextEdit,
)

from sce_desktop.controllers.rows_data import is_right_to_left
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.theme import font, px, set_role, tokens
from sce_desktop.ui.rows.text_marks import TextMarks

FIRST_PART, NEXT_PART = 4_000, 20_000  # characters; laying out more at once would be felt
_MOST_HEIGHT = 230  # where nobody shares out the height
_LEAST_LINES, _LOW_LINES = 3, 2
# What every tokenizer cuts apart. One of many languages reads several signs, kana or ideographs as a token.
_PIECES = re.compile(r"\S+")
# Scripts without spaces between words: kana, ideographs; Thai, Lao, Khmer, Burmese.
_SPACELESS = re.compile(r"[぀-ヿ㐀-鿿豈-﫿\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def least_tokens(text: str, *, most: int = 1000) -> int:
    """Return how many tokens ``text`` has at least, counting no further than ``most``."""
    count = 0
    for _piece in _PIECES.finditer(text):
        count += 1
        if count >= most:
            break
    return count


def length_of(text: str) -> str:
    """How long a text is, in what its script counts by."""
    if len(_SPACELESS.findall(text[:2000])) > len(text[:2000]) / 3:
        return ngettext("{count} character", "{count} characters", len(text))
    return ngettext("{count} word", "{count} words", len(text.split()))


class _Text(QTextEdit):
    """As high as its text, up to a limit."""

    widened = Signal()  # it has another width

    def __init__(self) -> None:
        super().__init__()
        self._wanted = self._full = 0  # height, and that without a limit
        self._given: int | None = None  # the limit, in pixels
        self._fitted = 0  # the width that they are for
        self.least_lines = _LEAST_LINES
        self._scale, self._most = 1.0, _MOST_HEIGHT
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Text of the row"))
        self.setFont(font("text"))
        set_role(self, "plain")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, and that it has the focus over its edge: a frame would take room from it."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self.viewport())
            painter.setPen(QColor(tokens().accent))
            painter.drawRect(self.viewport().rect().adjusted(0, 0, -1, -1))
            painter.end()

    def set_scale(self, scale: float, most: int) -> None:
        """Show the text ``scale`` times as large, and ``most`` pixels of the sketch high at most."""
        self._scale, self._most = scale, most
        self._set_font()
        self.fit()

    def _set_font(self) -> None:
        usual = font("text")
        self.setFont(usual)
        if self._scale != 1:  # by a style sheet: the window's own takes a font back when it is applied again
            self.setStyleSheet(f"font-size: {round(usual.pixelSize() * self._scale)}px")

    def fit(self) -> None:
        """Take the height of the text at the present width."""
        inside = self.contentsRect()  # without the scroll bar, which goes once there is this height
        self._fitted = inside.width()
        self.document().setTextWidth(inside.width())
        line = self._line()
        around = self.height() - inside.height() + px(2)
        self._full = max(ceil(self.document().size().height()), line) + around
        if self.viewport().width() != inside.width():
            self.document().setTextWidth(self.viewport().width())
        self._limit()

    def _limit(self) -> None:
        self._wanted = min(self._full, px(self._most) if self._given is None else self._given)
        self.setMaximumHeight(self._wanted)
        least = self.least_lines * self._line() if self._given is None else self._given
        self.setMinimumHeight(min(self._wanted, least))  # in a low window the rest scrolls
        self.updateGeometry()
        self._set_bar()

    @property
    def full(self) -> int:
        """The height that shows all of the text, in pixels."""
        return self._full

    @property
    def line_height(self) -> int:
        """The height of a line, in pixels."""
        return self._line()

    def give(self, height: int) -> None:
        """Take ``height`` pixels at most, and no less if there is so much text."""
        if height != self._given:
            self._given = height
            self._limit()

    def _line(self) -> int:
        """The height of a line as it is laid out, which is not that of the font to the pixel."""
        layout = self.document().firstBlock().layout()
        laid_out = layout.lineAt(0).height() if layout.lineCount() else 0
        return max(ceil(laid_out), self.fontMetrics().lineSpacing())

    def _set_bar(self) -> None:
        """Have a scroll bar only where not all of the text fits, and no line cut through at the foot then.

        A bar makes the text narrower, hence higher: left to itself it would stay because it had come.
        """
        short = self.height() < self._full
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if short else policy.ScrollBarAlwaysOff)
        rest = self.contentsRect().height() % self._line() if short else 0
        if rest != self.viewportMargins().bottom():
            self.setViewportMargins(0, 0, 0, rest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.contentsRect().width() != self._fitted:
            self.fit()
            self.widened.emit()
        else:
            self._set_bar()

    def sizeHint(self) -> QSize:
        return QSize(px(240), self._wanted)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the system's text."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ApplicationFontChange:
            self._set_font()
            self.fit()


class RowText(QObject):
    """Text (``view``), and ``below`` it a button for more and a note on how much of it the model reads.

    Two things to lay out, not one: what holds words that wrap always gets the height that it would like, and
    it is the text that has to give way.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._text = ""
        self._shown = 0
        self._low = self._short = False
        self._noted = ("", "")
        self.view = _Text()
        self.marks = TextMarks(self.view)
        self.more = QPushButton(_("Show more"))
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(self.more, "quiet")
        self.more.clicked.connect(self.show_more)
        self.note = QLabel(wordWrap=True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setAccessibleName(_("Note on the text"))
        set_role(self.note, "muted")
        self.below = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.below.setSpacing(px(2))
        self.below.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.below.addWidget(self.note, 1)
        self.view.widened.connect(lambda: self.set_note(*self._noted))
        self.set_text("")

    def set_text(self, text: str) -> None:
        """Show ``text`` from its beginning."""
        self._text = text
        self._shown = min(len(text), FIRST_PART)
        option = QTextOption()
        right = is_right_to_left(text[:FIRST_PART])
        option.setTextDirection(Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        option.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.view.document().setDefaultTextOption(option)
        self.view.setPlainText(text[: self._shown])
        self.marks.set_text(text, self._shown)
        self.view.setPlaceholderText(_("This row has no text.") if is_blank(text) else "")
        self.set_note("")
        self._show_rest()
        self.view.fit()

    def set_low(self, low: bool) -> None:
        """Say whether room is short: what stands below the text is on one line then, in fewer words.

        It is so beside a button for more, too, which only a very long text has.
        """
        self._low = low
        self._show_rest()
        self.view.fit()

    @Slot()
    def show_more(self) -> None:
        """Append the next part."""
        part = self._text[self._shown : self._shown + NEXT_PART]
        self._shown += len(part)
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(part)
        self.marks.set_text(self._text, self._shown)
        self._show_rest()
        self.view.fit()

    def set_note(self, sentence: str, short: str = "") -> None:
        """Say something about the text below it, ``short`` where there is little room; empty: nothing."""
        self._noted = (sentence, short)
        fits = self.note.fontMetrics().horizontalAdvance(sentence) <= self.view.width()
        brief = bool(short) and (self._short or not fits)  # on one line: height belongs to the text
        self.note.setText(short if brief else sentence)
        self.note.setToolTip(sentence if brief else "")
        self.note.setAccessibleDescription(sentence)
        self.note.setVisible(bool(sentence))

    def _show_rest(self) -> None:
        rest = len(self._text) - self._shown
        self._short = self._low or rest > 0
        side, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self.below.setDirection(side if self._short else down)
        self.view.least_lines = _LEAST_LINES if not self._low else _LOW_LINES if rest <= 0 else 1
        self.set_note(*self._noted)
        self.more.setToolTip(ngettext("{count} more character", "{count} more characters", rest))
        self.more.setVisible(rest > 0)
