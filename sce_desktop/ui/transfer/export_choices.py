"""What goes into an export: which rows and which columns."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QLabel, QRadioButton, QVBoxLayout, QWidget

from sce_desktop.controllers.table_work import ExportFacts
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

ROWS = (
    ("all", _("All rows"), _("In import order")),
    ("labelled", _("Labelled rows"), _("Includes rows that you marked as none of these")),
    ("unlabelled", _("Unlabelled rows"), _("Excludes skipped rows")),
    ("flagged", _("Flagged rows"), ""),
    ("shown", _("Filtered rows"), _("In the order of the table")),
)
GROUPS = {
    "original": _("Original columns"),
    "decided": _("Your labels, flags and notes"),
    "sce": _("SCE predictions"),
    "final": _("Final labels"),
}
NO_MODEL = ("original", "decided", "final")
"""Groups that no model has made."""
PROBABILITIES = "probabilities"


def titled_column(widget: QWidget, title: str) -> QVBoxLayout:
    """Give ``widget`` a heading and a column below it."""
    widget.setAccessibleName(title)
    heading = QLabel(title)
    set_role(heading, "heading")
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(px(SPACE_S))
    layout.addWidget(heading)
    return layout


class RowsForm(QWidget):
    """Which rows: all, or those of one kind."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        layout = titled_column(self, _("Rows"))
        group = QButtonGroup(self)
        self.buttons: dict[str, QRadioButton] = {}
        for key, words, hint in ROWS:
            button = QRadioButton(words)
            button.setAccessibleName(words)
            button.setToolTip(hint)
            group.addButton(button)
            layout.addWidget(button)
            self.buttons[key] = button
        self.buttons["all"].setChecked(True)
        for button in self.buttons.values():
            button.toggled.connect(self.changed)
        layout.addStretch()

    @property
    def only(self) -> str:
        """Which rows."""
        return next(key for key, button in self.buttons.items() if button.isChecked())

    def show_facts(self, facts: ExportFacts) -> None:
        """Show how many rows there are of each kind; one without rows cannot be chosen."""
        for key, words, _hint in ROWS:
            button = self.buttons[key]
            count = number(facts.rows[key])
            button.setText(f"{words}  ·  {count}")
            button.setAccessibleName(f"{words}, {count}")
            button.setEnabled(facts.rows[key] > 0 or key == "all")


class GroupsForm(QWidget):
    """Which columns, by where they come from; they are offered when they are known."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._layout = titled_column(self, _("Columns"))
        self._facts: ExportFacts | None = None
        self.boxes: dict[str, QCheckBox] = {}

    def show_facts(self, facts: ExportFacts) -> None:
        """Offer what there is."""
        self._facts = facts
        for alias, names in facts.columns:
            title = GROUPS.get(alias) or _("Baseline: {name}", name=alias)
            self._add(alias, title, ngettext("{count} column", "{count} columns", len(names)))
            if alias not in NO_MODEL and PROBABILITIES not in self.boxes:
                self._add(PROBABILITIES, _("Label probabilities"), _("One column per label"))
        self._layout.addStretch()

    def _add(self, key: str, words: str, hint: str) -> None:
        box = QCheckBox(words)
        box.setAccessibleName(words)
        box.setToolTip(hint)
        box.setProperty("hint", hint)
        box.setChecked(True)
        box.toggled.connect(self.changed)
        self._layout.addWidget(box)
        self.boxes[key] = box

    def set_open(self, on: bool) -> None:
        """Let columns be chosen, or not: the format has columns of its own."""
        for box in self.boxes.values():
            box.setEnabled(on)
            box.setToolTip(box.property("hint") if on else _("The format has columns of its own."))

    @property
    def chosen(self) -> tuple[str, ...] | None:
        """Names of the chosen columns, None for all."""
        if self._facts is None or all(box.isChecked() for box in self.boxes.values()):
            return None
        single = PROBABILITIES in self.boxes and not self.boxes[PROBABILITIES].isChecked()
        return tuple(
            name
            for alias, names in self._facts.columns
            if self.boxes[alias].isChecked()
            for name in names
            if not (single and alias not in NO_MODEL and name.startswith(f"{alias}_p:"))
        )
