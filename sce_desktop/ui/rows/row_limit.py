"""Whether the model reads all of the current row's text."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.core.i18n import ngettext
from sce_desktop.ui.rows.row_text import RowText, least_tokens

SURE_TOKENS = 256  # read by the bundled model; others say how many


class RowLimit(QObject):
    """Says below a text that is too long for the model how much of it is read."""

    def __init__(self, scorer: Scorer, shown: RowText, parent: QObject) -> None:
        super().__init__(parent)
        self._scorer = scorer
        self._shown = shown
        self._text = ""
        self._limit = SURE_TOKENS
        self._counting: Job | None = None
        scorer.modelsChanged.connect(self._count)

    def set_text(self, text: str) -> None:
        """Follow the text of another row; empty without one."""
        drop(self._counting)
        self._counting = None
        self._text = text
        self._count()

    @Slot()
    def _count(self) -> None:
        """Say that a text is too long: at once where it surely is, exactly when its tokens are counted."""
        text = self._text
        if len(text) <= self._limit or self._counting is not None:
            return  # a token has a character at least
        if least_tokens(text) > self._limit:
            self._show()
        if not self._scorer.ready:
            return
        self._counting = self._scorer.count_tokens(text)
        self._counting.finished.connect(self._on_counted)

    @Slot(object)
    def _on_counted(self, counted: tuple[int, int]) -> None:
        tokens, self._limit = counted
        if tokens > self._limit:
            self._show()
        else:
            self._shown.set_note("")

    def _show(self) -> None:
        self._shown.set_note(
            ngettext(
                "The model reads only the first token of this text.",
                "The model reads only the first {count} tokens of this text.",
                self._limit,
            ),
            ngettext("Read: {count} token", "Read: {count} tokens", self._limit),
        )
