"""A window of another program: pressing in it and moving the mouse drags the files of the arguments out."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

TITLE = "Files to drag"


class Source(QLabel):
    pressed_at = QPoint()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed_at = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moved = (event.position().toPoint() - self.pressed_at).manhattanLength()
        if moved >= QApplication.startDragDistance():
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(str(Path(name).absolute())) for name in sys.argv[1:]])
            drag = QDrag(self)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    source = Source("Drag me")
    source.setWindowTitle(TITLE)
    source.setGeometry(1000, 20, 200, 100)
    source.show()
    sys.exit(app.exec())
