"""The left side of the import dialog: what the columns of the table are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.quoting import quoted_names
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role

if TYPE_CHECKING:
    from sce_desktop.controllers.table_work import Look
    from sce_desktop.tasks.tables.scan import TableScan

_SHOWN_COLUMNS, _LEAST_COLUMNS = 6, 3
_USES = (  # words, what becomes of the labels, whether they are gold
    (
        _("As your annotations"),
        _("Used as the rows' labels, marked as imported. Only rows without a label are left to review."),
        False,
    ),
    (
        _("As gold labels (for evaluation)"),
        _(
            "Rows stay unlabelled. The gold label appears after you label a row. Used in Evaluate "
            "and Agreement."
        ),
        True,
    ),
)


class ColumnsForm(QWidget):
    """Which columns are the text, which is an existing label, and whether ours become annotations again."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns: tuple[str, ...] = ()
        self._ours_at: int | None = None
        self._guess: int | None = None  # which column seems to hold labels
        self._gold_like: frozenset[int] = frozenset()  # which ones seem to hold gold labels
        self._fixed = False
        text_words = QLabel(_("Text to classify"))
        self.text_list = QListWidget()
        self.text_list.setAccessibleName(_("Text columns"))
        self.text_list.setAccessibleDescription(_("Checked columns are joined into one text"))
        self.text_list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text_list.itemChanged.connect(self._on_item)
        self.joined = QLabel(wordWrap=True)
        set_role(self.joined, "muted")
        self.label_words = QLabel(_("Existing label"))
        self.label_column = ComboBox()
        self.label_column.setAccessibleName(_("Existing label column"))
        self.label_column.setToolTip(_("Its values become the labels"))
        self.label_column.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.label_column.setMinimumContentsLength(10)
        self.label_column.activated.connect(self._on_label)
        self.use = ComboBox()
        self.use.setAccessibleName(_("Use of the existing labels"))
        for words, tip, gold in _USES:
            self.use.addItem(words, gold)
            self.use.setItemData(self.use.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.use.currentIndexChanged.connect(self._show_use)
        self.use_words = QLabel(wordWrap=True)
        set_role(self.use_words, "muted")
        self.several = QCheckBox(_("Split label lists"))
        self.several.setAccessibleName(self.several.text())
        self.several.setToolTip(_("Each name becomes a label. An empty list means none of these."))
        self.several.toggled.connect(self.changed)
        self.merge = QCheckBox(_("Merge labels that look the same"))
        self.merge.setAccessibleName(self.merge.text())
        self.alike = QLabel(wordWrap=True)
        self.alike.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.alike, "muted")
        self.take_back = QCheckBox(_("Restore annotations"))
        self.take_back.setAccessibleName(_("Restore annotations from an SCE Desktop export"))
        self.take_back.toggled.connect(self._on_take_back)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        above: tuple[QWidget, ...] = (text_words, self.text_list, self.joined)
        label = (self.label_words, self.label_column, self.use, self.use_words)
        for widget in (*above, self.take_back, *label):
            layout.addWidget(widget)
        # What is offered once the rows are counted has another place: the user is choosing here by then.
        self.counted = QWidget()
        self.counted.setAccessibleName(_("Existing label"))
        last = QVBoxLayout(self.counted)
        last.setContentsMargins(0, 0, 0, 0)
        last.setSpacing(px(SPACE_S))
        for widget in (self.several, self.merge, self.alike):
            last.addWidget(widget)
        self.clear()

    @property
    def text_columns(self) -> tuple[int, ...]:
        """0-based places of the checked columns."""
        items = (self.text_list.item(row) for row in range(self.text_list.count()))
        return tuple(
            item.data(Qt.ItemDataRole.UserRole)
            for item in items
            if item.checkState() is Qt.CheckState.Checked
        )

    @property
    def label(self) -> int | None:
        """0-based place of the label column; None if there is none."""
        chosen = self.label_column.currentData()
        return chosen if isinstance(chosen, int) else None

    @property
    def as_gold(self) -> bool:
        """Whether the labels of the column are gold, and not the user's annotations."""
        taken_back = self.data_width is not None  # annotations are there already
        return self.label is not None and (taken_back or bool(self.use.currentData()))

    @property
    def lists(self) -> bool:
        """Whether lists of labels, where the column holds such, are taken apart."""
        return self.several.isChecked()

    @property
    def data_width(self) -> int | None:
        """Where our own columns begin, if they are taken out of the data."""
        return self._ours_at if self.take_back.isChecked() and not self._fixed else None

    def clear(self) -> None:
        """Show no columns."""
        self._columns = ()
        self._begin_lists()
        self.text_list.clear()
        self.show_scan(None)

    def show_look(self, look: Look, fixed: tuple[int, ...] | None) -> None:
        """Show the columns of a table; ``fixed``: the text columns of the project that it is added to."""
        preview = look.preview
        same = preview.columns == self._columns and (fixed is not None) == self._fixed
        self._fixed = fixed is not None
        self._ours_at = look.ours_at
        if not same:
            self._begin_lists()
            chosen = self.label_column.currentText() if self._columns else ""
            self._columns, self._guess = preview.columns, preview.label_column
            self._gold_like = look.gold_like
            with QSignalBlocker(self.take_back):
                self.take_back.setChecked(look.ours_at is not None)
            self._fill_labels(chosen)
            guess = () if preview.text_column is None else (preview.text_column,)
            self._fill(fixed if fixed is not None else guess)
        self.take_back.setVisible(not self._fixed and look.ours_at is not None)
        self.take_back.setToolTip(
            _("Restores labels, notes and annotators of this file")
            if preview.annotated
            else _("Restores labels, flags and notes of this SCE Desktop export")
        )
        self._show_label()

    def _fill_labels(self, chosen: str = "") -> None:
        """Offer the columns that are data; none is taken for gold unasked where our own ones come back."""
        guess = self._guess if self.data_width is None else None
        with QSignalBlocker(self.label_column):
            self.label_column.clear()
            self.label_column.addItem(_("None"), None)
            for place, name in enumerate(self._columns[: self.data_width]):
                self.label_column.addItem(_shown(name, place), place)
            again = self.label_column.findText(chosen) if chosen else -1
            self.label_column.setCurrentIndex(max(again, 0) if guess is None else guess + 1)
        self._propose_use()

    def _propose_use(self) -> None:
        """Offer a column that looks like gold labels as such: as annotations it would leave nothing to do."""
        with QSignalBlocker(self.use):
            self.use.setCurrentIndex(self.use.findData(self.label in self._gold_like))

    def _fill(self, checked: tuple[int, ...]) -> None:
        with QSignalBlocker(self.text_list):
            self.text_list.clear()
            for place, name in enumerate(self._columns[: self.data_width]):
                item = QListWidgetItem(_shown(name, place))
                item.setData(Qt.ItemDataRole.UserRole, place)
                item.setToolTip(name)
                flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
                item.setFlags(flags if self._fixed else flags | Qt.ItemFlag.ItemIsEnabled)
                on = place in checked
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                self.text_list.addItem(item)
        self.text_list.setFixedHeight(self._list_height(_SHOWN_COLUMNS))
        self._show_joined()

    def _list_height(self, most: int) -> int:
        row = self.text_list.sizeHintForRow(0) if self.text_list.count() else px(26)
        return row * min(max(self.text_list.count(), 2), most) + px(6)

    def give_way(self, over: int) -> None:
        """Make the list of columns lower by ``over`` pixels, or higher, as far as it goes."""
        least, most = self._list_height(_LEAST_COLUMNS), self._list_height(_SHOWN_COLUMNS)
        self.text_list.setFixedHeight(max(least, min(most, self.text_list.height() - over)))

    def _begin_lists(self) -> None:
        """Forget what is known of the label column: lists, if there are some, are taken apart."""
        self.several.hide()
        with QSignalBlocker(self.several):
            self.several.setChecked(True)

    def show_scan(self, scan: TableScan | None) -> None:
        """Offer to take lists of labels apart and to merge labels that look the same; None: it is counted."""
        if scan is not None:  # the tick stays while the table is counted again because of it
            self.several.setVisible(scan.lists and self.label is not None)
        alike = scan.alike if scan is not None and self.label is not None and not self._fixed else ()
        self.merge.setVisible(bool(alike))
        self.alike.setVisible(bool(alike))
        if alike:
            groups = "; ".join(quoted_names(group, len(group)) for group in alike[:3])
            rest = len(alike) - 3
            message = (
                ngettext(
                    "{groups} and {count} more group. Each group becomes its first, most frequent label.",
                    "{groups} and {count} more groups. Each group becomes its first, most frequent label.",
                    rest,
                    groups=groups,
                )
                if rest > 0
                else _("{groups}. Each group becomes its first, most frequent label.", groups=groups)
            )
            self.alike.setText(message)
            self.alike.setToolTip("\n".join(quoted_names(group, len(group)) for group in alike[:40]))
        else:
            self.merge.setChecked(False)
        self.counted.setVisible(bool(alike) or not self.several.isHidden())

    def _show_label(self) -> None:
        shown = bool(self._columns)
        self.several.setVisible(shown and not self.several.isHidden())
        self.label_words.setText(_("Existing label") if self.data_width is None else _("Gold labels"))
        self.label_words.setVisible(shown)
        self.label_column.setVisible(shown)
        self._show_use()

    @Slot()
    def _show_use(self) -> None:
        """Say what becomes of the existing labels."""
        self.use.setVisible(self.label is not None and self.data_width is None)
        self.use_words.setVisible(self.label is not None)
        self.use_words.setText(_USES[self.as_gold][1])
        self.use.setToolTip(self.use_words.text())

    @Slot()
    def _on_label(self) -> None:
        self._begin_lists()
        self._propose_use()
        self._show_use()
        self.changed.emit()

    def _show_joined(self) -> None:
        count = len(self.text_columns)
        self.joined.setVisible(count > 1 or (self._fixed and count > 0))
        self.joined.setText(
            _("As in the project.")
            if self._fixed
            else ngettext("{count} column is used.", "{count} columns are joined, one line each.", count)
        )

    @Slot(QListWidgetItem)
    def _on_item(self, _item: QListWidgetItem) -> None:
        self._show_joined()
        self.changed.emit()

    @Slot(bool)
    def _on_take_back(self, _on: bool) -> None:
        self._fill(self.text_columns)
        self._begin_lists()
        self._fill_labels()
        self._show_label()
        self.changed.emit()


def _shown(name: str, place: int) -> str:
    """A header as a list shows it; the place where it has none."""
    return name.replace("\n", " ") or _("Column {number}", number=place + 1)
