"""What the models say of one row, a label at a time: bars, and a button that decides for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.keymap import DIGITS
from sce_desktop.controllers.rows_text import NOT_SCORED
from sce_desktop.core.folding import bare
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.text import isolated, share_text
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.painting import SQUARE, draw_bar, draw_name, draw_square
from sce_desktop.ui.kit.theme import RADIUS, Tokens, px, set_role, tokens
from sce_desktop.ui.rows.row_legend import Legend, grey, visual_box

SHOWN = 12  # labels with their bars; more are found by typing
FIND_FROM = 10  # labels from which there is a field to type into
_LOW = 22  # of a label, where there is no room for more
SURELY_SEEN = 5  # of the likeliest labels: seen without scrolling, however low the panel


@dataclass(frozen=True, slots=True)
class Bar:
    """The probability that one model gives a label; ``share`` 0 to 1."""

    title: str
    share: float
    main: bool  # the model's own, in the colour of the label


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A label with the probabilities that models give it."""

    label_id: int
    name: str
    colour: str
    key: str  # of its own, beside the digit of its place
    bars: tuple[Bar, ...]
    decided: bool

    @property
    def in_words(self) -> str:
        """The probabilities, in words."""
        return ", ".join(f"{bar.title} {share_text(bar.share)}" for bar in self.bars)


class LazyLines(Sequence[LabelLine]):
    """Lines that are made when they are looked at: of hundreds of labels a dozen are shown."""

    def __init__(self, make: Callable[[int], LabelLine], places: Sequence[int]) -> None:
        self._make = make
        self._places = places

    def __len__(self) -> int:
        """How many labels there are."""
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> LabelLine: ...
    @overload
    def __getitem__(self, at: slice) -> list[LabelLine]: ...
    def __getitem__(self, at: int | slice) -> LabelLine | list[LabelLine]:
        """Make a line, or several."""
        if isinstance(at, slice):
            return [self._make(place) for place in self._places[at]]
        return self._make(self._places[at])


class LabelButton(QAbstractButton):
    """One label: name, per cent, key, and a bar for each model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line: LabelLine | None = None
        self._key = ""
        self._low = self._typing = False
        self._many = 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    @property
    def line(self) -> LabelLine | None:
        """What it shows."""
        return self._line

    def show_line(self, line: LabelLine, digit: str = "") -> None:
        """Show another label, which ``digit`` chooses."""
        keys = " ".join(filter(None, (digit, line.key)))
        if (line, keys) == (self._line, self._key):
            return
        bars = len(self._line.bars) if self._line else -1
        self._line, self._key = line, keys
        self.setAccessibleName(line.name)
        self._describe(line)
        if bars != len(line.bars):
            self.updateGeometry()
        self.update()

    def set_many(self, count: int) -> None:
        """Show that it applies to ``count`` rows; 0: to the one that is shown."""
        if count != self._many:
            self._many = count
            if self._line is not None:
                self._describe(self._line)

    def _describe(self, line: LabelLine) -> None:
        parts = [line.in_words or NOT_SCORED]
        if self._key:
            first, _space, second = self._key.partition(" ")
            parts.append(
                _("key {first} or {second}", first=first, second=second)
                if second
                else _("key {key}", key=first)
            )
        if line.decided:
            parts.append(_("chosen"))
        tips = [line.name, *(f"{bar.title}: {share_text(bar.share)}" for bar in line.bars)]
        applies = ""
        if self._many:
            applies = ngettext(
                "Applies to {count} selected row", "Applies to all {count} selected rows", self._many
            )
            tips.append(applies)
        description = ", ".join(parts)
        self.setAccessibleDescription(f"{description}. {applies}" if applies else description)
        self.setToolTip("\n".join(tips))

    def set_low(self, low: bool) -> None:
        """Show no more than the first model's bar, and that below the name."""
        if low != self._low:
            self._low = low
            self.updateGeometry()
            self.update()

    def set_typing(self, typing: bool) -> None:
        """Show no key cap while one is ``typing`` into a field; its place stays free."""
        self._typing = typing
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a name and its bars."""
        if self._low:
            return QSize(px(180), px(_LOW))
        bars = len(self._line.bars) if self._line else 0
        return QSize(px(180), px(26) + bars * px(8) + (px(4) if bars else 0))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, per cent, key and bars."""
        line, colours = self._line, tokens()
        if line is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        self._draw_frame(painter, box, line, colours)
        left, right = px(8), self.width() - px(8)
        middle = px(11 if self._low else 14)
        right = self._draw_key(painter, right, middle, self._key, colours)
        if line.bars:
            painter.setPen(QColor(colours.muted))
            text = share_text(line.bars[0].share)
            width = painter.fontMetrics().horizontalAdvance(text)
            share = QRectF(right - width, 0, width + 1, 2 * middle)
            painter.drawText(visual_box(self, share), Qt.AlignmentFlag.AlignVCenter, text)
            right -= width + px(6)
        draw_square(painter, visual_box(self, QRectF(left, 0, px(SQUARE), 1)).left(), middle, line.colour)
        painter.setPen(QColor(colours.ink))
        area = self.rect().adjusted(left + px(16), 0, right - self.width(), 2 * middle - self.height())
        area = QStyle.visualRect(self.layoutDirection(), self.rect(), area)
        draw_name(painter, area, line.name, mark="✓ " if line.decided else "")
        y, thick = (self.height() - px(3), px(2)) if self._low else (px(26), px(5))
        for place, bar in enumerate(line.bars[:1] if self._low else line.bars):
            strip = QRectF(left, y, self.width() - 2 * left, thick if bar.main else px(4))
            colour = line.colour if bar.main else grey(colours, place - 1).name(QColor.NameFormat.HexArgb)
            draw_bar(painter, strip, bar.share, colour, colours.hover)
            y += px(8)
        painter.end()

    def _draw_frame(self, painter: QPainter, box: QRectF, line: LabelLine, colours: Tokens) -> None:
        border = colours.accent if self.hasFocus() or line.decided else None
        fill = colours.selection if line.decided or self.isDown() else None
        if fill is None and self.underMouse() and self.isEnabled():
            fill = colours.hover
        painter.setPen(QPen(QColor(border)) if border else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fill) if fill else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, px(RADIUS), px(RADIUS))

    def _draw_key(self, painter: QPainter, right: int, middle: int, key: str, colours: Tokens) -> int:
        """Draw the key cap and return where there is room left of it."""
        if not key:
            return right
        width = max(px(18), painter.fontMetrics().horizontalAdvance(key) + px(8))
        high = px(16 if self._low else 18)
        left = right - width - px(6)
        if self._typing:
            return left
        cap = visual_box(self, QRectF(right - width + 0.5, middle - high / 2 + 0.5, width - 1, high - 1))
        painter.setPen(QPen(QColor(colours.line)))
        painter.setBrush(QColor(colours.window))
        painter.drawRoundedRect(cap, 3, 3)
        painter.setPen(QColor(colours.muted))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
        return left


class RowLabels(QWidget):
    """The labels of a row, best first; typing finds the others."""

    chosen = Signal(object)  # label id
    left = Signal()  # the user has finished typing
    foundChanged = Signal()  # another label is found, or one types no more
    finderChanged = Signal()  # it has come or gone, and with it height

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[LabelLine] = ()
        self._titles: tuple[str, ...] = ()
        self._all = self._low = self._typing = False
        self._many = 0
        self.buttons: list[LabelButton] = []
        self._digits: Mapping[int, str] | None = None  # that labels keep, by id; None: by place
        self.legend = Legend()
        self.finder = QLineEdit(placeholderText=_("Find a label…"), clearButtonEnabled=True)
        self.finder.setAccessibleName(_("Find a label"))
        for clear in self.finder.findChildren(QAbstractButton):
            clear.setAccessibleName(_("Clear search"))
        self.finder.textChanged.connect(self._show)
        self.finder.returnPressed.connect(self.choose_found)
        self.finder.installEventFilter(self)
        self.nothing = QLabel(wordWrap=True)
        self.nothing.setTextFormat(Qt.TextFormat.PlainText)
        self.nothing.setAccessibleName(_("Search result"))
        set_role(self.nothing, "muted")
        self.find_button = QPushButton()  # what leads to the finder where there is no room for it
        self.find_button.setAccessibleName(_("Find a label"))
        set_icon(self.find_button, "search", "muted")
        self.all_button = QPushButton()
        for button in (self.find_button, self.all_button):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            set_role(button, "quiet")
        self.all_button.clicked.connect(self._show_all)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(px(2))
        self._layout.addWidget(self.legend)
        self._layout.addWidget(self.finder)
        self._layout.addWidget(self.nothing)
        for button in (self.find_button, self.all_button):
            self._layout.addWidget(button)
        self.set_lines((), ())

    def set_lines(self, lines: Sequence[LabelLine], titles: Sequence[str]) -> None:
        """Show these labels in this order; ``titles`` name their bars."""
        self._lines = lines
        self._titles = tuple(titles)
        self._show_legend()
        self._show()

    def set_low(self, low: bool) -> None:
        """Take as little height as can be: lower buttons, no legend, and a finder only while it is used."""
        if low == self._low:
            return
        self._low = low
        self._layout.setSpacing(0 if low else px(2))
        for button in self.buttons:
            button.set_low(low)
        self._show_legend()
        self._show()

    def set_many(self, count: int) -> None:
        """Show on the labels that they apply to ``count`` rows; 0: to the one that is shown."""
        self._many = count
        for button in self.buttons:
            button.set_many(count)

    @Slot(bool)
    def set_typing(self, typing: bool) -> None:
        """Show no key caps while one is ``typing`` into a field, where the keys are letters."""
        self._typing = typing
        for button in self.buttons:
            button.set_typing(typing)

    def least_height(self) -> int:
        """Return the height down to the last of the likeliest labels."""
        above: list[QWidget] = [widget for widget in (self.legend, self.finder) if not widget.isHidden()]
        parts = [*above, *(button for button in self.buttons[:SURELY_SEEN] if not button.isHidden())]
        return sum(part.sizeHint().height() + self._layout.spacing() for part in parts)

    def _show_legend(self) -> None:
        self.legend.set_titles(() if self._low else self._titles)

    def _show_finder(self) -> None:
        many, used = len(self._lines) >= FIND_FROM, self.finder.hasFocus() or bool(self.finder.text())
        wanted = (many and not self._low) or used
        if wanted == self.finder.isHidden():
            self.finder.setVisible(wanted)
            self.finderChanged.emit()
        self.find_button.setVisible(many and self._low)

    def show_key(self, key: str) -> None:
        """Name the key that goes to the finder."""
        words = f"{_('Find a label…')}  {key}".rstrip()
        self.finder.setPlaceholderText(words)
        self.find_button.setText(words)

    def start_finding(self) -> None:
        """Go where one types to find a label."""
        if self.finder.isHidden():
            self.finder.show()
            self.finderChanged.emit()
        self.finder.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.finder.selectAll()

    def set_digits(self, digits: Mapping[int, str] | None) -> None:
        """Name the digits that labels keep, by id; None: the digit of a label is that of its place."""
        if digits != self._digits:
            self._digits = digits
            self._show()

    def choose_place(self, place: int) -> None:
        """Choose the label whose button is at ``place`` (0-based), if there is one."""
        if self.isEnabled() and place < len(lines := self.shown()):
            self.chosen.emit(lines[place].label_id)

    def start_over(self) -> None:
        """Forget what was searched for another row."""
        self.finder.clear()

    def found(self) -> LabelLine | None:
        """What Enter takes while one types to find a label."""
        typed = self.finder.hasFocus() and self.finder.text().strip()
        return next(iter(self.shown()), None) if typed else None

    def shown(self) -> list[LabelLine]:
        """The labels on the screen from top to bottom."""
        words = bare(self.finder.text()).split() if self.finder.isVisibleTo(self) else []
        if not words:
            return list(self._lines if self._all else self._lines[:SHOWN])
        return [line for line in self._lines if all(word in bare(line.name) for word in words)]

    @Slot()
    def _show(self) -> None:
        self._show_finder()
        lines = self.shown()
        while len(self.buttons) < len(lines):
            button = LabelButton()
            button.set_low(self._low)
            button.set_typing(self._typing)
            button.set_many(self._many)
            button.clicked.connect(lambda _checked=False, button=button: self._choose(button))
            self._layout.insertWidget(self._layout.count() - 2, button)
            self.buttons.append(button)
        for place, (button, line) in enumerate(zip(self.buttons, lines, strict=False)):
            by_place = DIGITS[place] if place < len(DIGITS) else ""
            digit = by_place if self._digits is None else self._digits.get(line.label_id, "")
            button.show_line(line, digit)
            button.show()
        for button in self.buttons[len(lines) :]:
            button.hide()
        searched = self.finder.text().strip()
        self.nothing.setText(_("No label contains “{text}”.", text=isolated(searched)))
        self.nothing.setVisible(bool(searched and self._lines and not lines))
        rest = len(self._lines) - len(lines)
        self.all_button.setText(
            _("Show fewer labels")
            if self._all
            else ngettext("Show {count} more label", "Show {count} more labels", rest)
        )
        few = len(self._lines) <= SHOWN or bool(searched)
        self.all_button.setVisible(not few and (rest > 0 or self._all))
        self.foundChanged.emit()

    def _choose(self, button: LabelButton) -> None:
        if button.line is not None:
            self.chosen.emit(button.line.label_id)

    @Slot()
    def _show_all(self) -> None:
        self._all = not self._all
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape leaves the finder, which goes away where there is no room for it."""
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if watched is self.finder and escape and event.type() is QEvent.Type.KeyPress:
            self.finder.clear()
            self.left.emit()
            return True
        if watched is self.finder and isinstance(event, QFocusEvent):
            away = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
            if event.lostFocus() and event.reason() not in away:
                self._show_finder()
            self.foundChanged.emit()
        return super().eventFilter(watched, event)

    @Slot()
    def choose_found(self) -> None:
        """Choose the label that was found, and leave."""
        line = self.found()
        if line is not None:
            self.finder.clear()
            self.chosen.emit(line.label_id)
            self.left.emit()
