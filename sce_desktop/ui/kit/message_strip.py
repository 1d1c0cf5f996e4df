"""One sentence over the foot of its parent: what went wrong or was done. Never modal, never two at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import icon, set_icon
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, px, set_role

MOST_WIDTH = 660
_ABOVE_FOOT = 44  # leaves the line below the table free, which says what to do next
_Answers = tuple[tuple[str, Callable[[], object]], ...]  # what each button says and does
INFO_MS = 8000  # good news goes by itself; a warning stays until it is closed, and is not read before that


class _Kept(NamedTuple):
    """What is shown again when what took its place goes."""

    tone: str
    answers: _Answers
    lasts: bool


class MessageStrip(QFrame):
    """Shows the newest sentence. The older ones are in the log.

    A warning that had no time to be read, and an offer or a question that nobody has answered, come back
    when what took their place goes. None outlives the project that was open when it came, or the start page:
    see `end_project`.

    It lies over its parent instead of taking part in a layout: nothing that one looks at or aims at moves
    when it comes or goes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._warn = False
        self._since = 0.0  # time.monotonic() when the sentence came
        self._lasts = False  # it is about no project
        self._kept: dict[str, _Kept] = {}  # what was pushed away and comes back, the newest last
        self._answers: _Answers = ()
        self._at_top = False
        self._icon = QLabel()
        self.setAccessibleName(_("Message"))
        self._icon.setAccessibleName(_("Kind of message"))
        self.text = QLabel(wordWrap=True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)  # a file name may look like a tag
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setAccessibleName(_("Message text"))
        self.close_button = close = QToolButton()
        close.setToolTip(_("Close this message"))
        close.setAccessibleName(_("Close this message"))
        set_role(close, "quiet")
        set_icon(close, "close", "muted")
        close.clicked.connect(self._end)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_S), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self._icon)
        layout.addWidget(self.text, 1)
        self.button = QPushButton()
        self.button.setAccessibleName(_("First answer"))
        self.button.clicked.connect(self._on_button)
        self.button.hide()
        self._do: Callable[[], object] | None = None
        layout.addWidget(self.button)
        self.other_button = QPushButton()  # the second answer to a question
        self.other_button.setAccessibleName(_("Second answer"))
        self.other_button.clicked.connect(self._on_other_button)
        self.other_button.hide()
        self._other_do: Callable[[], object] | None = None
        layout.addWidget(self.other_button)
        layout.addWidget(close)
        self._timer = QTimer(self, singleShot=True, interval=INFO_MS)
        self._timer.timeout.connect(self._end)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "strip")
        self.hide()
        if parent is not None:
            parent.installEventFilter(self)

    @Slot(object, object)
    def show_message(self, sentence: str, tone: str = "info") -> None:
        """Show ``sentence``; ``tone`` is "info" or "warn"."""
        self._show(sentence, tone)

    @Slot(object, object, object, object)
    def show_offer(self, sentence: str, button: str, do: Callable[[], object], tone: str = "info") -> None:
        """Show ``sentence`` and a button that does something about it; both stay until they are closed."""
        self._show(sentence, tone, (button, do))

    @Slot(object, object)
    def show_question(self, question: str, answers: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Show ``question`` and a button for each of its two answers; they stay until they are closed."""
        self._show(question, "info", *answers)

    def _set_buttons(self, *answers: tuple[str, Callable[[], object]]) -> None:
        does: list[Callable[[], object] | None] = [None, None]
        for place, button in enumerate((self.button, self.other_button)):
            button.setVisible(place < len(answers))
            if place < len(answers):
                words, does[place] = answers[place]
                button.setText(words)
                button.setAccessibleName(words)
        self._do, self._other_do = does
        self._answers = answers

    @Slot()
    def end_news(self) -> None:
        """Remove plain messages, because something newer happens; warnings and offers stay."""
        if self._timer.isActive():
            self._end()

    @Slot()
    def make_last(self) -> None:
        """Let what is shown outlive the project: it is about the program."""
        self._lasts = True

    @Slot()
    def end_project(self) -> None:
        """Forget all messages from while another project, or none, was open; what lasts stays."""
        self._kept = {sentence: kept for sentence, kept in self._kept.items() if kept.lasts}
        if not self.isHidden() and not self._lasts:
            self._end()

    @Slot()
    def end_offer(self) -> None:
        """Take away all offers, which have lost their ground."""
        self._end_offers(lambda _words: True)

    def end_offer_to(self, words: str) -> None:
        """Take away the offer whose button says ``words``, which has lost its ground."""
        self._end_offers(lambda offered: offered == words)

    def _end_offers(self, chosen: Callable[[str], bool]) -> None:
        def ends(answers: _Answers, lasts: bool) -> bool:
            return len(answers) == 1 and not lasts and chosen(answers[0][0])  # a question keeps its ground

        self._kept = {
            sentence: kept
            for sentence, kept in self._kept.items()
            if kept.tone == "warn" or not ends(kept.answers, kept.lasts)
        }
        if not self.isHidden() and ends(self._answers, self._lasts):
            self._end()

    @Slot()
    def _on_button(self) -> None:
        self._answer(self._do)

    @Slot()
    def _on_other_button(self) -> None:
        self._answer(self._other_do)

    def _answer(self, do: Callable[[], object] | None) -> None:
        self._end()
        if do is not None:
            do()

    @Slot()
    def _end(self) -> None:
        """Take the sentence away and bring back what it pushed away."""
        self._timer.stop()
        self._do = self._other_do = None
        self.hide()
        if self._kept:
            sentence, kept = self._kept.popitem()
            self._show(sentence, kept.tone, *kept.answers)
            self._lasts = kept.lasts

    def _show(self, sentence: str, tone: str, *answers: tuple[str, Callable[[], object]]) -> None:
        warn = tone == "warn"
        self._keep(sentence, answers)
        self._set_buttons(*answers)
        self._since = time.monotonic()
        self._lasts = False
        self.text.setText(sentence)
        self._warn = warn
        self._draw_icon()
        self._icon.setToolTip(_("Warning") if warn else _("Information"))
        self.setAccessibleDescription(sentence)
        self.setProperty("tone", tone)
        self.style().unpolish(self)
        self.style().polish(self)
        if warn or answers:
            self._timer.stop()
        else:
            self._timer.start()
        self._place()
        self.show()
        self.raise_()

    def _keep(self, newer: str, answers: _Answers) -> None:
        """Keep what is shown if it is to come back, unless it is said again or offered anew."""
        old, tone = self.text.text(), "warn" if self._warn else "info"
        unread = self._warn and time.monotonic() - self._since < INFO_MS / 1000
        anew = bool(answers and self._answers) and answers[0][0] == self._answers[0][0]
        wanted = unread or (self._answers and not anew)
        if wanted and not self.isHidden() and old != newer and old not in self._kept:
            self._kept[old] = _Kept(tone, self._answers, self._lasts)
        self._kept.pop(newer, None)
        if answers:  # what offered the same before is about what is no longer so
            self._kept = {
                sentence: kept
                for sentence, kept in self._kept.items()
                if kept.tone == "warn" or kept.answers[0][0] != answers[0][0]
            }

    @Slot(bool)
    def set_at_top(self, on: bool) -> None:
        """Lie at the head of the parent, whose foot is needed, or again at its foot."""
        self._at_top = on
        self._place()

    def _place(self) -> None:
        """Be as wide as the sentence, up to a limit, in the middle of the parent's foot or head."""
        parent = self.parentWidget()
        if parent is None:
            return
        self.ensurePolished()
        layout = self.layout()
        words = self.text.fontMetrics().horizontalAdvance(self.text.text()) + 2
        beside = self.sizeHint().width() - self.text.sizeHint().width()
        width = min(words + beside, px(MOST_WIDTH), parent.width() - 2 * px(SPACE_L))
        height = max(layout.totalHeightForWidth(width), self.minimumSizeHint().height()) if layout else 0
        left = (parent.width() - width) // 2
        top = px(SPACE_S) if self._at_top else parent.height() - height - px(_ABOVE_FOOT)
        self.setGeometry(left, top, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in place when the parent becomes larger or smaller."""
        if event.type() is QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def _draw_icon(self) -> None:
        name, role = ("warning", "warn") if self._warn else ("info", "accent")
        self._icon.setPixmap(icon(name, role).pixmap(px(16), px(16)))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._draw_icon()
