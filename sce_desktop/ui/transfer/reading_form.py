"""The left side of the import dialog: how the file is read."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.tables import Doubt, TableOptions, TablePreview
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import ComboBox, SpinBox
from sce_desktop.ui.kit.theme import px

_DELIMITERS = {
    ",": _("Comma"),
    ";": _("Semicolon"),
    "\t": _("Tab"),
    "|": _("Vertical bar"),
    ":": _("Colon"),
    " ": _("Space"),
    "": _("None (one cell per line)"),
}
_ENCODINGS = {  # and what is written in it
    "utf-8": "",
    "utf-16": "",
    "cp1252": _("Western"),
    "iso8859-15": _("Western"),
    "cp1250": _("Central"),
    "iso8859-2": _("Central"),
    "cp1251": _("Cyrillic"),
    "koi8-r": _("Cyrillic"),
    "cp1253": _("Greek"),
    "cp1254": _("Turkish"),
    "cp1255": _("Hebrew"),
    "cp1256": _("Arabic"),
    "cp1257": _("Baltic"),
    "cp1258": _("Vietnamese"),
    "mac-roman": _("Western"),
    "cp850": _("Western, DOS"),
    "shift_jis": _("Japanese"),
    "cp932": _("Japanese"),
    "euc-jp": _("Japanese"),
    "gb18030": _("Chinese"),
    "big5": _("Chinese"),
    "euc-kr": _("Korean"),
    "cp949": _("Korean"),
}
_QUOTES: dict[object, tuple[str, dict[str, Any]]] = {  # words, what they say
    True: (_("Double") + '  "', {"quoting": True, "quote": '"', "spaces": False}),
    "'": (_("Single") + "  '", {"quoting": True, "quote": "'", "spaces": False}),
    "spaces": (_("Double, ignore spaces"), {"quoting": True, "quote": '"', "spaces": True}),
    False: (_("Plain text"), {"quoting": False}),
}
_BACKSLASHES = {"": _("Plain text"), "\\": _("Escape next character")}
_USED = {
    "csv": {"encoding", "delimiter", "quoting", "escape", "header_row"},
    "xlsx": {"sheet", "header_row"},
    "jsonl": {"encoding"},
}


def delimiter_name(delimiter: str) -> str:
    """Return the name of a delimiter, such as "Semicolon"."""
    return _DELIMITERS.get(delimiter, delimiter)


def _delimiter_words(delimiter: str) -> str:
    name = delimiter_name(delimiter)
    return f"{name}  {delimiter}" if delimiter.strip() and name != delimiter else name


class ReadingForm(QWidget):
    """Encoding, delimiter, quotes, header and sheet: as found, until the user says otherwise."""

    changed = Signal()  # ``options`` are others

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.options = TableOptions()  # what the user chose; None: find out
        self.encoding, self.delimiter, self.quoting, self.escape, self.sheet = (ComboBox() for _ in range(5))
        self.encoding.setPlaceholderText(_("Choose…"))
        self.escape.setToolTip(_("Escape: a quote, delimiter or line break after a backslash is plain text"))
        self.header_row = SpinBox()
        self.header_row.setRange(0, 1000)
        self.header_row.setKeyboardTracking(False)
        self.header_row.setSpecialValueText(_("None"))
        self.header_row.setToolTip(_("Line with the column names. None: columns are numbered."))
        self._rows = {
            "encoding": (_("Encoding"), self.encoding),
            "delimiter": (_("Delimiter"), self.delimiter),
            "quoting": (_("Quotes"), self.quoting),
            "escape": (_("Backslashes"), self.escape),
            "sheet": (_("Sheet"), self.sheet),
            "header_row": (_("Header line"), self.header_row),
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
                widget.activated.connect(lambda _index, name=name: self._on_chosen(name))
            self._form.addRow(words, widget)
        for inner in self.header_row.findChildren(QLineEdit):
            inner.setAccessibleName(_("Header line"))
        indent_number(self.header_row)
        self.header_row.valueChanged.connect(lambda _value: self._on_chosen("header_row"))
        self._show_rows(set())

    def _show_rows(self, names: set[str]) -> None:
        for name, (_words, widget) in self._rows.items():
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
            [(_delimiter_words(d), d) for d in delimiters if d is not None],
            found.delimiter,
        )
        kinds: list[tuple[str, object]] = [(words, kind) for kind, (words, _options) in _QUOTES.items()]
        if found.quote not in (None, '"', "'"):
            kinds.append((_("Other") + f"  {found.quote}", found.quote))
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
        """Treat quotes as plain text: what helps where one was never closed."""
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
        place = next((i for i, (_words, value) in enumerate(items) if value == current), -1)
        combo.setCurrentIndex(place)
