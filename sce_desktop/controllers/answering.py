"""When the window answers the user: from what a key does until nothing is left to lay out and to paint."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from sce_desktop.core.giving_way import begin_answer, end_answer


class Answering(QObject):
    """Has workers give way (`core.giving_way`) from `begin` until the event loop has nothing else to do."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Painting and layouts are posted events: a timer of nothing comes after them.
        self._end = QTimer(self, singleShot=True, interval=0)
        self._end.timeout.connect(end_answer)

    def begin(self) -> None:
        """Say that an answer begins; it ends by itself."""
        begin_answer()
        self._end.start()
