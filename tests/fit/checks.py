"""Asks what is on the screen whether its text has room: labels, buttons, fields, tabs, headings, cells.

A text that is cut on purpose passes where a tip has the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDialog,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QMenuBar,
    QRadioButton,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QToolButton,
    QWidget,
)

from sce_desktop.ui.kit.elided_button import ElidedButton
from sce_desktop.ui.kit.elided_label import ElidedLabel

SLACK = 1  # pixel by which rounding may be off
MOST_CELLS = 80  # of a view that are asked
_MARKUP = re.compile(r"<(a |b>|i>|br|p>|p |span|table|ul>)")
_NO_TEXT = ("qt_toolbar_ext_button", "qt_menubar_ext_button", "ScrollLeftButton", "ScrollRightButton")


@dataclass(frozen=True)
class Misfit:
    """A text without room for it; ``lacks`` is in pixels."""

    where: str  # classes and object names, from the window to what shows the text
    kind: str
    text: str
    lacks: int


def where(widget: QWidget) -> str:
    """The classes from a widget's window to itself, without those of Qt that only hold others."""
    names: list[str] = []
    at: Any = widget
    while at is not None:
        name, known = type(at).__name__, type(at).__module__.startswith("sce_desktop")
        if at is widget or at.isWindow() or known:
            names.insert(0, f"{name}#{at.objectName()}" if at.objectName() and not known else name)
        at = None if at.isWindow() else at.parentWidget()
    return " > ".join(names)


def misfits(top: QWidget) -> Iterator[Misfit]:
    """Yield what does not fit in a window or dialog and all that is seen in it."""
    room = top.screen().availableSize()
    over = max(top.width() - room.width(), top.height() - room.height())
    if over > SLACK:
        kind = "dialog" if isinstance(top, QDialog) else "window"
        yield Misfit(where(top), f"{kind} larger than the screen", type(top).__name__, over)
    for widget in (top, *top.findChildren(QWidget)):
        if widget.isVisible() and widget.window() is top and widget.objectName() not in _NO_TEXT:
            for kind, text, lacks in _of(widget):
                if lacks > SLACK:
                    yield Misfit(where(widget), kind, text[:80], lacks)


Found = Iterator[tuple[str, str, int]]


def _of(widget: QWidget) -> Found:
    if isinstance(widget, QLabel):
        yield from _label(widget)
    elif isinstance(widget, QAbstractButton):
        yield from _button(widget)
    elif isinstance(widget, QComboBox):
        yield from _combo(widget)
    elif isinstance(widget, QTabBar):
        yield from _tabs(widget)
    elif isinstance(widget, QHeaderView):
        yield from _headings(widget)
    elif isinstance(widget, QAbstractItemView):
        yield from _cells(widget)
    elif isinstance(widget, QLineEdit):
        yield from _field(widget)
    elif isinstance(widget, QGroupBox):
        yield "title", widget.title(), widget.fontMetrics().horizontalAdvance(widget.title()) - widget.width()
    elif isinstance(widget, QMenuBar):
        for action in widget.actions():
            place = widget.actionGeometry(action)
            yield (
                "menu",
                action.text(),
                0 if widget.rect().contains(place) else place.right() - widget.width(),
            )


def outside(widget: QWidget) -> int:
    """Pixels of a widget that no scrolling brings onto the screen."""
    at: QWidget = widget
    rect = widget.rect()
    while not at.isWindow() and (parent := at.parentWidget()) is not None:
        rect = QRect(at.mapTo(parent, rect.topLeft()), rect.size())
        at = parent
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
            across, down = area.horizontalScrollBar(), area.verticalScrollBar()
            wide = across.maximum() > 0 and across.isVisible()
            high = down.maximum() > 0
            if not isinstance(area, QScrollArea) or (wide and high):
                return 0
            low, top = (0 if wide else parent.rect().left()), (0 if high else parent.rect().top())
            beyond = 0 if wide else max(low - rect.left(), rect.right() - parent.rect().right())
            below = 0 if high else max(top - rect.top(), rect.bottom() - parent.rect().bottom())
            return max(0, beyond, below)
        beyond = max(-rect.left(), rect.right() - parent.rect().right())
        below = max(-rect.top(), rect.bottom() - parent.rect().bottom())
        if max(beyond, below) > SLACK:
            return max(beyond, below)
    return 0


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def _label(label: QLabel) -> Found:
    text = label.text()
    if not text:
        return
    yield "label outside", text, outside(label)
    if isinstance(label, ElidedLabel):
        if label.whole() != text and label.whole() not in label.toolTip():
            yield "cut label without a tip", label.whole(), 999
        return
    inner = label.contentsRect()
    rich = label.textFormat() is Qt.TextFormat.RichText or (
        label.textFormat() is Qt.TextFormat.AutoText and _MARKUP.search(text) is not None
    )
    if rich:
        document = QTextDocument()
        document.setDefaultFont(label.font())
        document.setDocumentMargin(0)
        document.setHtml(text)
        if label.wordWrap():
            document.setTextWidth(inner.width())
        yield "label", text, round(document.size().width()) - inner.width()
        yield "label's height", text, round(document.size().height()) - inner.height()
        return
    shown = _plain(text) if label.buddy() is not None else text
    metrics = label.fontMetrics()
    if label.wordWrap():
        box = metrics.boundingRect(0, 0, inner.width(), 100_000, Qt.TextFlag.TextWordWrap, shown)
        yield "label's height", text, box.height() - inner.height()
        yield "label's longest word", text, box.width() - inner.width()
        return
    whole = "…" in shown and bool(label.toolTip())
    size = metrics.size(0, shown)
    yield "label", text, 0 if whole else size.width() - inner.width()
    yield "label's height", text, metrics.height() * (shown.count("\n") + 1) - label.height()


def _button(button: QAbstractButton) -> Found:
    text = _plain(button.text())
    if not text:
        return
    yield "button outside", text, outside(button)
    if isinstance(button, ElidedButton):
        cut = "…" in text and not text.endswith("…")
        yield "cut button without a tip", text, 999 if cut and not button.toolTip() else 0
        return
    icon_only = isinstance(button, QToolButton) and (
        button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly and not button.icon().isNull()
    )
    if icon_only:
        return
    metrics = button.fontMetrics()
    if isinstance(button, QCheckBox | QRadioButton):
        yield "box", text, button.sizeHint().width() - button.width()
        yield "box's height", text, metrics.height() - button.height()
        return
    width = metrics.size(0, text).width()
    if not button.icon().isNull():
        width += button.iconSize().width() + 4
    if button.property("menu"):
        width += metrics.averageCharWidth()
    yield "button", text, width + 2 - button.contentsRect().width()
    yield "button's height", text, metrics.height() - button.height()


def _combo(combo: QComboBox) -> Found:
    text = combo.currentText()
    if not text or combo.isEditable():
        return
    yield "choice outside", text, outside(combo)
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    part = QStyle.SubControl.SC_ComboBoxEditField
    room = combo.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, combo).width()
    if text not in combo.toolTip():
        icon = 0 if combo.itemIcon(combo.currentIndex()).isNull() else combo.iconSize().width() + 4
        yield "choice", text, combo.fontMetrics().horizontalAdvance(text) + icon - room


def _tabs(bar: QTabBar) -> Found:
    for place in range(bar.count()):
        text, rect = _plain(bar.tabText(place)), bar.tabRect(place)
        icon = 0 if bar.tabIcon(place).isNull() else bar.iconSize().width() + 4
        whole = text in bar.tabToolTip(place)
        needed = bar.fontMetrics().horizontalAdvance(text) + icon + 4
        yield "tab", text, 0 if whole else needed - rect.width()
        if not bar.usesScrollButtons():
            yield "tab outside", text, max(-rect.left(), rect.right() - bar.rect().right())
    yield "tabs", _plain(bar.tabText(0)), outside(bar)


def _headings(header: QHeaderView) -> Found:
    if header.orientation() is not Qt.Orientation.Horizontal or header.model() is None:
        return
    metrics = header.fontMetrics()
    for place in range(header.count()):
        if header.isSectionHidden(place):
            continue
        model, sideways = header.model(), Qt.Orientation.Horizontal
        text = model.headerData(place, sideways, Qt.ItemDataRole.DisplayRole)
        tip = model.headerData(place, sideways, Qt.ItemDataRole.ToolTipRole)
        if not isinstance(text, str) or (tip and text in str(tip)):
            continue
        width = max(metrics.horizontalAdvance(line) for line in text.split("\n"))
        yield "heading", text, width + 4 - header.sectionSize(place)


def _seen(view: QAbstractItemView) -> Iterator[QModelIndex]:
    model, area, given = view.model(), view.viewport().rect(), 0
    if model is None:
        return
    alone = isinstance(view, QListView)  # a model of a list hides how many columns it has
    columns = (view.modelColumn(),) if alone else range(model.columnCount(view.rootIndex()))
    for row in range(min(model.rowCount(view.rootIndex()), MOST_CELLS)):
        for column in columns:
            index = model.index(row, column, view.rootIndex())
            if view.visualRect(index).intersects(area) and given < MOST_CELLS:
                given += 1
                yield index


def _cells(view: QAbstractItemView) -> Found:
    metrics = view.fontMetrics()
    for index in _seen(view):
        text = index.data(Qt.ItemDataRole.DisplayRole)
        if not isinstance(text, str) or not text:
            continue
        rect = view.visualRect(index)
        tip = str(index.data(Qt.ItemDataRole.ToolTipRole) or "")
        icon = 0 if index.data(Qt.ItemDataRole.DecorationRole) is None else view.iconSize().width() + 4
        lines = text.split("\n")
        if text[:60] not in tip:
            width = max(metrics.horizontalAdvance(line) for line in lines)
            kind = "cell with other words in its tip" if tip else "cell"
            yield kind, text, width + max(0, icon) - rect.width()
        yield "cell's height", text, metrics.height() - rect.height()


def _field(field: QLineEdit) -> Found:
    if isinstance(field.parent(), QComboBox):
        return
    if isinstance(field.parent(), QAbstractSpinBox):
        text = field.text()
        yield "number", text, field.fontMetrics().horizontalAdvance(text) - field.width()
        return
    text = field.placeholderText()
    if text and not field.text() and text not in field.toolTip():
        yield (
            "hint in a field",
            text,
            field.fontMetrics().horizontalAdvance(text) - field.contentsRect().width(),
        )
    yield "field's height", field.text() or text, field.fontMetrics().height() - field.height()
    yield "field outside", field.text() or text, outside(field)
