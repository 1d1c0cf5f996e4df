"""The left side of the import dialog: how the file is read."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QWidget

from sce_desktop.core.tables import Doubt, TableOptions, TablePreview
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import ComboBox, SpinBox
from sce_desktop.ui.kit.theme import px

_DELIMITERS = {
    ",": "Comma  ,",
    ";": "Semicolon  ;",
    "\t": "Tab",
    "|": "Bar  |",
    ":": "Colon  :",
    " ": "Space",
    "": "None: a line is a cell",
}
_ENCODINGS = {  # and what is written in it
    "utf-8": "",
    "utf-16": "",
    "cp1252": "Western",
    "iso8859-15": "Western",
    "cp1250": "Central",
    "iso8859-2": "Central",
    "cp1251": "Cyrillic",
    "koi8-r": "Cyrillic",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp1257": "Baltic",
    "cp1258": "Vietnamese",
    "mac-roman": "Western",
    "cp850": "Western, DOS",
    "shift_jis": "Japanese",
    "cp932": "Japanese",
    "euc-jp": "Japanese",
    "gb18030": "Chinese",
    "big5": "Chinese",
    "euc-kr": "Korean",
    "cp949": "Korean",
}
_QUOTES: dict[object, tuple[str, dict[str, Any]]] = {  # words, what they say
    True: ('Double  "', {"quoting": True, "quote": '"', "spaces": False}),
    "'": ("Single  '", {"quoting": True, "quote": "'", "spaces": False}),
    "spaces": ("Double, spaces around", {"quoting": True, "quote": '"', "spaces": True}),
    False: ("Plain text", {"quoting": False}),
}
_BACKSLASHES = {"": "Plain text", "\\": "Escape the next sign"}
_USED = {
    "csv": {"encoding", "delimiter", "quoting", "escape", "header_row"},
    "xlsx": {"sheet", "header_row"},
    "jsonl": {"encoding"},
}


def delimiter_name(delimiter: str) -> str:
    """What people call a delimiter."""
    return _DELIMITERS.get(delimiter, delimiter)


class ReadingForm(QWidget):
    """Encoding, delimiter, quotes, header and sheet: as found, until the user says otherwise."""

    changed = Signal()  # ``options`` are others

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.options = TableOptions()  # what the user chose; None: find out
        self.encoding, self.delimiter, self.quoting, self.escape, self.sheet = (ComboBox() for _ in range(5))
        self.encoding.setPlaceholderText("Choose…")
        self.escape.setToolTip(
            "Escape: a backslash makes the quote, delimiter or line break after it plain text"
        )
        self.header_row = SpinBox()
        self.header_row.setRange(0, 1000)
        self.header_row.setKeyboardTracking(False)
        self.header_row.setSpecialValueText("None")
        self.header_row.setToolTip("The line that names the columns; None: the columns are numbered")
        self._rows = {
            "encoding": ("Encoding", self.encoding),
            "delimiter": ("Delimiter", self.delimiter),
            "quoting": ("Quotes", self.quoting),
            "escape": ("Backslashes", self.escape),
            "sheet": ("Sheet", self.sheet),
            "header_row": ("Header in line", self.header_row),
        }
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setVerticalSpacing(px(6))
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name, (words, widget) in self._rows.items():
            widget.setAccessibleName(words)
            if isinstance(widget, QComboBox):
                widget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
                widget.setMinimumContentsLength(10)
                widget.activated.connect(lambda _, name=name: self._on_chosen(name))
            self._form.addRow(words, widget)
        for inner in self.header_row.findChildren(QLineEdit):
            inner.setAccessibleName("Header in line")
        indent_number(self.header_row)
        self.header_row.valueChanged.connect(lambda _: self._on_chosen("header_row"))
        self._show_rows(set())

    def _show_rows(self, names: set[str]) -> None:
        for name, (_, widget) in self._rows.items():
            self._form.setRowVisible(widget, name in names)

    def show_preview(self, preview: TablePreview) -> None:
        """Show how a table was read."""
        found = preview.options
        used = set(_USED.get(preview.kind, ()))
        if len(preview.sheets) < 2:
            used.discard("sheet")
        if self.options.escape is None and not found.escape and not _has_backslashes(preview):
            used.discard("escape")  # nothing to choose
        self._show_rows(used)
        self._fill_encodings(preview.encodings, found.encoding)
        delimiters = dict.fromkeys((*_DELIMITERS, found.delimiter))
        _fill(
            self.delimiter,
            [(delimiter_name(d), d) for d in delimiters if d is not None],
            found.delimiter,
        )
        kinds: list[tuple[str, object]] = [(words, kind) for kind, (words, _) in _QUOTES.items()]
        if found.quote not in (None, '"', "'"):
            kinds.append((f"Others  {found.quote}", found.quote))
        _fill(self.quoting, kinds, _kind_of_quotes(found))
        _fill(self.escape, [(words, sign) for sign, words in _BACKSLASHES.items()], found.escape or "")
        _fill(self.sheet, [(name, name) for name in preview.sheets], found.sheet)
        with QSignalBlocker(self.header_row):
            self.header_row.setValue(found.header_row or 0)

    def offer_escape(self) -> None:
        """Show the choice of what backslashes do, which the head of the table gave no reason for."""
        self._form.setRowVisible(self.escape, True)

    def show_unread(self) -> None:
        """Offer what may make a file readable that could not be read at all: another encoding."""
        self._show_rows({"encoding"})
        self._fill_encodings((), self.options.encoding)

    def _fill_encodings(self, likely: Iterable[str], current: str | None) -> None:
        """Offer each encoding once, however it is spelled."""
        offered: dict[str, str] = {}
        for name in (*likely, *_ENCODINGS):
            offered.setdefault(_codec(name), name)
        if current is not None:
            offered[_codec(current)] = current
        _fill(self.encoding, [(_encoding_words(name), name) for name in offered.values()], current)

    def _on_chosen(self, name: str) -> None:
        widget = self._rows[name][1]
        value: Any = widget.currentData() if isinstance(widget, QComboBox) else self.header_row.value()
        if name == "sheet":  # another sheet has another header
            self.options = TableOptions(sheet=value)
        elif name == "quoting":
            self._choose(**_QUOTES[value][1] if value in _QUOTES else {"quoting": True, "quote": value})
            return
        else:
            self.options = replace(self.options, **{name: value})
        self.changed.emit()

    def _choose(self, **values: Any) -> None:
        self.options = replace(self.options, **values)
        self.changed.emit()

    @Slot()
    def quotes_as_text(self) -> None:
        """Take quotes as plain text: what helps where one was never closed."""
        self._choose(quoting=False)

    @Slot(object)
    def settle(self, doubt: Doubt) -> None:
        """Read the table the other way."""
        self._choose(**{doubt.option: doubt.value})


def _has_backslashes(preview: TablePreview) -> bool:
    doubted = any(doubt.option == "escape" for doubt in preview.doubts)
    return doubted or any("\\" in (cell or "") for row in preview.rows for cell in row)


def _kind_of_quotes(options: TableOptions) -> object:
    if options.quoting is False:
        return False
    if options.quote not in (None, '"'):
        return options.quote
    return "spaces" if options.spaces else True


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return encoding


def _encoding_words(encoding: str) -> str:
    names = {_codec(name): words for name, words in _ENCODINGS.items()}
    return "  ".join(filter(None, (encoding.upper(), names.get(_codec(encoding), ""))))


def _fill(combo: QComboBox, items: list[tuple[str, object]], current: object) -> None:
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in items:
            combo.addItem(words, value)
        place = next((i for i, (_, value) in enumerate(items) if value == current), -1)
        combo.setCurrentIndex(place)
