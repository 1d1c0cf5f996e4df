"""Files dropped on the window: a cue while they are over it, and why some cannot be opened."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.files import dropped_file, is_project, left_out, why_not_dropped
from sce_desktop.ui.kit.theme import SPACE_XL, font, px, set_role


class DropCue(QFrame):
    """Lies over its parent while a file is held there, and says what letting go does."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Drop a file here"))
        # Without this it would be what the file is held over, and the drag would leave what is below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAccessibleName(_("Hint"))
        large = font("strong")
        large.setPixelSize(px(15))
        self.words.setFont(large)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(px(SPACE_XL), px(SPACE_XL), px(SPACE_XL), px(SPACE_XL))
        layout.addWidget(self.words)
        set_role(self, "drop")
        self.setProperty("over", "true")
        self.hide()

    def show_words(self, words: str) -> None:
        """Say what letting go does."""
        parent = self.parentWidget()
        assert parent is not None
        self.words.setText(words)
        self.setGeometry(parent.rect())
        self.show()
        self.raise_()


class Drops(QObject):
    """Takes the drags of a window.

    Args:
        window: What files are dropped on.
        over: What the cue lies over.
        open_path: Called with a file that can be opened, after the program that it comes from was let go, and
            with a sentence about what is not opened beside it, or none.
        tell: Called with a sentence about why nothing is opened, and "warn".
    """

    def __init__(
        self,
        window: QWidget,
        over: QWidget,
        open_path: Callable[[Path, str], object],
        notify: Callable[[str, str], object],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._open_path = open_path
        self._notify = notify
        self.cue = DropCue(over)

    def handle(self, event: QEvent) -> bool:
        """Deal with a drag; False where it is none of files."""
        if isinstance(event, QDragLeaveEvent):
            self.cue.hide()
            return False  # a text field that a text was held over has to know, too
        if not isinstance(event, QDropEvent):  # that of entering and moving is one, too
            return False
        path, problem = dropped_file(event.mimeData()), why_not_dropped(event.mimeData())
        if path is None and not problem:
            return False
        event.acceptProposedAction()
        if event.type() is QEvent.Type.Drop:
            self._drop(path, problem, left_out(event.mimeData()))
        elif event.type() is QEvent.Type.DragEnter:
            self.cue.show_words(problem or _promise(path))
        return True

    def _drop(self, path: Path | None, problem: str, others: int) -> None:
        self.cue.hide()
        if path is None:
            self._notify(problem, "warn")
            return
        self._window.raise_()
        self._window.activateWindow()
        QTimer.singleShot(0, self, partial(self._open, path, others))

    @Slot()
    def _open(self, path: Path, others: int) -> None:
        ignored = ngettext(
            "Only “{name}” is opened: {count} other file was ignored.",
            "Only “{name}” is opened: {count} other files were ignored.",
            others,
            name=path.name,
        )
        self._open_path(path, ignored if others else "")


def _promise(path: Path | None) -> str:
    if path is None:
        return ""
    if is_project(path):
        return _("Drop to open the project “{name}”", name=path.stem)
    return _("Drop to import “{name}”", name=path.name)
