"""What is asked before a model is fetched, added with code of its own, or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QLabel, QWidget

from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.core.models import Known

_CODE = "Allow this model to run its own program code"
_CODE_MEANS = (
    "Such code can do on this machine whatever you can. Allow it only if you know who wrote it; without it, "
    "the model may not load."
)


def megabytes(size: int) -> str:
    """A size as people say it: "91 MB", "2.5 GB"."""
    return f"{size / 1e9:,.1f} GB" if size >= 999_500_000 else f"{size / 1e6:,.0f} MB"


class _Question(QDialog):
    """Lines to read, perhaps a box for code, and two buttons."""

    def __init__(self, title: str, yes: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._column = dialog_column(self)
        self._code: QCheckBox | None = None
        self.say(title, "title")
        self.buttons = ok_and_cancel(self)
        self.yes = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.yes.setText(yes)
        self.yes.setAccessibleName(yes)

    def say(self, text: str, role: str = "") -> None:
        """Add a line."""
        label = QLabel(text, wordWrap=True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            set_role(label, role)
        self._column.addWidget(label)

    def ask_code(self) -> None:
        """Add the box that allows program code; it is not ticked."""
        self._code = QCheckBox(_CODE)
        self._code.setAccessibleName(_CODE)
        self._column.addWidget(self._code)
        self.say(_CODE_MEANS, "muted")

    def finish(self) -> None:
        """Put the buttons below, and make room for lines that wrap, which Qt would cut."""
        self._column.addStretch()
        self._column.addWidget(self.buttons)
        width = px(440)
        self.setMinimumSize(width, self._column.totalHeightForWidth(width))

    @property
    def code_allowed(self) -> bool:
        """Whether the user allowed program code."""
        return self._code is not None and self._code.isChecked()


class FetchQuestion(_Question):
    """Licence, size and needs of a model before anything of it is fetched."""

    def __init__(self, known: Known, parent: QWidget | None = None) -> None:
        super().__init__(f"Get {known.name}?", "Get", parent)
        self.say(f"Licence: {known.licence or 'not stated, read its page first'}")
        if not known.free:
            self.say("It is not for commercial use.", "warn")
        if known.gated:
            self.say(
                "Its page asks for your consent, and for a login with `hf auth login` on this machine.",
                "warn",
            )
        self.say(f"Size: about {megabytes(known.size)}\nFrom: {known.source}")
        self.say("It is stored among your models. Stop keeps what has come, for the next time.", "muted")
        if known.code:
            self.ask_code()
        self.finish()


class CodeQuestion(_Question):
    """Whether a folder's program code may run."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(f"Add {name}?", "Add", parent)
        self.say("This model brings program code of its own.")
        self.ask_code()
        self.finish()


class RemoveQuestion(_Question):
    """Whether a model is really to be deleted."""

    def __init__(self, name: str, size: int, parent: QWidget | None = None) -> None:
        super().__init__(f"Remove {name}?", "Remove", parent)
        self.say(f"Its {megabytes(size)} are deleted. Scores that it made stay in the projects.")
        self.finish()
