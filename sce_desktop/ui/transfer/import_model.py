"""The left side of the import dialog: which model is to score the rows, proposed by their language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.languages import READS_ALL, Reads
from sce_desktop.tasks.scoring.models import DEFAULT_MODEL
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.scoring.choice import Choice

_LINES = 4  # that the reason for a proposal takes at the most, in a usual window


class ModelForm(QWidget):
    """Offers the models that can score; what the user chose stays, whatever is proposed.

    Args:
        preset: The model of the settings. If it is another than the program's own default, somebody chose it
            for new projects, and it is what is proposed.
    """

    changed = Signal()  # another model is to score

    def __init__(self, preset: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preset = preset
        self._reads: Mapping[str, Reads] = {}
        self._choice: Choice | None = None
        self.chosen = False  # by the user
        self.models = ComboBox()
        self.models.setAccessibleName(_("Model"))
        self.models.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.models.setMinimumContentsLength(10)
        self.models.activated.connect(self._on_chosen)
        self.reason = QLabel(wordWrap=True)
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setAccessibleName(_("Reason for this model"))
        set_role(self.reason, "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(self.models)
        layout.addWidget(self.reason)

    @property
    def model(self) -> str:
        """Name or folder of the model that is to score; empty before a table was read."""
        return str(self.models.currentData() or "")

    @property
    def reads(self) -> Reads:
        """What it reads."""
        return self._reads.get(self.model, READS_ALL)

    def room_to_come(self, width: int) -> int:
        """How much higher this gets, at the most, once it is known which model is proposed, and why."""
        if self.isHidden():
            return 0
        room = self.reason.fontMetrics().lineSpacing() * _LINES
        if self.reason.isHidden():
            return room + px(SPACE_S)
        return max(0, room - self.reason.heightForWidth(width))

    def show_models(self, models: Mapping[str, Reads]) -> None:
        """Offer ``models``, by name or folder, with what they read."""
        if models == self._reads:
            return
        before, self._reads = self.model, models
        with QSignalBlocker(self.models):
            self.models.clear()
            for name in models:
                self.models.addItem(Path(name).name or name, name)
            self._select(before or self._preset)
        self.changed.emit()

    def propose(self, choice: Choice | None) -> None:
        """Show what is proposed and why; None: nobody knows yet."""
        self._choice = choice
        if choice is not None and not self.chosen and self._preset == DEFAULT_MODEL:
            before = self.model
            self._select(choice.model)
            if self.model != before:
                self.changed.emit()
        self._show_reason()

    def _select(self, name: str) -> None:
        self.models.setCurrentIndex(max(0, self.models.findData(name)))

    def _show_reason(self) -> None:
        words = ""
        if self._choice is not None:
            own = self._preset != DEFAULT_MODEL and self.model == self._preset and not self.chosen
            words = _("Your default model (Settings).") if own else self._choice.reason
        self.reason.setText(words)
        self.reason.setVisible(bool(words))
        self.models.setAccessibleDescription(words)

    @Slot()
    def _on_chosen(self) -> None:
        self.chosen = True
        self._show_reason()
        self.changed.emit()
