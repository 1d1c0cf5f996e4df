"""What is asked before a model is downloaded, added with code of its own, or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QLabel, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.text import size_text
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.theme import px, set_role

if TYPE_CHECKING:
    from sce_desktop.core.models import Known

_CODE = _("Allow this model to run its own program code")
_CODE_MEANS = _(
    "Such code can do whatever you can on this computer. Allow it only if you trust its author. "
    "Without it, the "
    "model may not load."
)


class _Question(QDialog):
    """Lines to read, perhaps a box for code, and two buttons."""

    def __init__(self, title: str, yes: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._column = dialog_column(self)
        self._code: QCheckBox | None = None
        self.add_text(title, "title")
        self.buttons = ok_and_cancel(self)
        self.yes = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.yes.setText(yes)
        self.yes.setAccessibleName(yes)

    def add_text(self, text: str, role: str = "") -> None:
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
        self.add_text(_CODE_MEANS, "muted")

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
    """Licence, size and needs of a model before it is downloaded."""

    def __init__(self, known: Known, parent: QWidget | None = None) -> None:
        super().__init__(_("Download {model}?", model=known.name), _("Download"), parent)
        self.add_text(
            _("Licence: {licence}", licence=known.licence)
            if known.licence
            else _("Licence: not stated, read its page first")
        )
        if not known.free:
            self.add_text(_("Not for commercial use."), "warn")
        if known.gated:
            self.add_text(
                _("Accept the terms on its page first, and log in with `hf auth login` on this computer."),
                "warn",
            )
        self.add_text(_("Size: about {size}", size=size_text(known.size)))
        self.add_text(_("Source: {source}", source=known.source))
        self.add_text(_("Saved to your models. A stopped download can be resumed."), "muted")
        if known.code:
            self.ask_code()
        self.finish()


class CodeQuestion(_Question):
    """Whether a folder's program code may run."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(_("Add {model}?", model=name), _("Add"), parent)
        self.add_text(_("This model contains program code of its own."))
        self.ask_code()
        self.finish()


class RemoveQuestion(_Question):
    """Whether a model is really to be deleted."""

    def __init__(self, name: str, size: int, parent: QWidget | None = None) -> None:
        super().__init__(_("Remove {model}?", model=name), _("Remove"), parent)
        self.add_text(_("This deletes {size}. Its scores stay in your projects.", size=size_text(size)))
        self.finish()
