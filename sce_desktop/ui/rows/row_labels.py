"""The labels of a row: best first or as their list has them; found by typing, and pressed to choose one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.keymap import DIGITS
from sce_desktop.core.folding import bare
from sce_desktop.core.i18n import N_, _, ngettext
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import px, set_role
from sce_desktop.ui.rows.group_button import GroupButton
from sce_desktop.ui.rows.label_button import Density, LabelButton, height_of
from sce_desktop.ui.rows.label_line import GroupLine, LabelLine, Listing
from sce_desktop.ui.rows.row_legend import Legend

SHOWN = 12  # labels with their bars; more are found by typing
FIND_FROM = 10  # labels from which there is a field to type into
SURELY_SEEN = 7  # of the first labels: seen without scrolling in any window that is large enough
LEAST_SEEN = 5  # of them, however low it is
_ABOVE = 3  # things in the layout above the labels
ORDERS = {"rank": N_("By probability"), "list": N_("In list order")}


class RowLabels(QWidget):
    """Asks by signals; shows what it is given."""

    chosen = Signal(object)  # label id
    pointedAt = Signal(object)  # label id under the mouse, or None
    left = Signal()  # the user has finished typing
    foundChanged = Signal()  # another label is found, or one types no more
    finderChanged = Signal()  # it has come or gone, and with it height
    orderAsked = Signal(object)  # one of `ORDERS`
    foldAsked = Signal(object, object)  # the parent of a group, and whether it is to be folded

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[LabelLine] = ()  # by rank
        self._listing: Listing | None = None  # in list order; None: by rank
        self._density = Density.FULL
        self._titles: tuple[str, ...] = ()
        self._bars = 0  # of a label
        self._all = self._typing = False
        self._many = 0
        self.buttons: list[LabelButton] = []
        self.headings: list[GroupButton] = []
        self._ranks: dict[int, int] = {}  # of the first labels, by id, where they stand in list order
        self._order: list[QWidget] = []  # of what is shown, in the layout
        self._digits: Mapping[int, str] | None = None  # that labels keep, by id; None: by place
        self.legend = Legend()
        self.order_button = self._make_order_button()
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
        top = QHBoxLayout()
        top.addWidget(self.legend, 1)
        top.addWidget(self.order_button, 0, Qt.AlignmentFlag.AlignTrailing)
        self._layout.addLayout(top)
        self._layout.addWidget(self.finder)
        self._layout.addWidget(self.nothing)
        for button in (self.find_button, self.all_button):
            self._layout.addWidget(button)
        self.set_lines((), ())

    def _make_order_button(self) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(_("Order of the labels"))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFixedHeight(px(20))
        set_role(button, "quiet")
        set_icon(button, "sort", "muted")
        button.setStyleSheet("QToolButton { padding: 0 4px; min-height: 0; }")  # as high as the legend
        button.clicked.connect(
            lambda: self.order_menu().popup(button.mapToGlobal(QPoint(0, button.height())))
        )
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the words of the order away where the legend needs the room."""
        super().resizeEvent(event)
        self._fit_order()

    def _fit_order(self) -> None:
        words = self.order_button.fontMetrics().horizontalAdvance(self.order_button.text()) + px(32)
        fits = self.legend.wanted_width() + words <= self.width()
        style = Qt.ToolButtonStyle
        self.order_button.setToolButtonStyle(
            style.ToolButtonTextBesideIcon if fits else style.ToolButtonIconOnly
        )
        self.order_button.setToolTip(_("Order of the labels") if fits else self.order_button.text())

    def order_menu(self) -> QMenu:
        """Return the menu of the orders."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        group = QActionGroup(menu)
        for order, words in ORDERS.items():
            action = QAction(_(words), menu, checkable=True, checked=order == self.order)
            action.triggered.connect(lambda _checked=False, order=order: self.orderAsked.emit(order))
            group.addAction(action)
            menu.addAction(action)
        return menu

    @property
    def order(self) -> str:
        """The order of the labels, one of `ORDERS`."""
        return "rank" if self._listing is None else "list"

    def set_lines(
        self, lines: Sequence[LabelLine], titles: Sequence[str], listing: Listing | None = None
    ) -> None:
        """Show these labels, the likeliest first, or as the ``listing``; ``titles`` name their bars."""
        self._lines = lines
        self._listing = listing
        self._titles = tuple(titles)
        self.order_button.setText(_(ORDERS[self.order]))
        self._show_legend()
        self._fit_order()
        self._show()

    def set_density(self, density: Density) -> None:
        """Take more or less height; at the least there is no legend, and a finder only while it is used."""
        if density is self._density:
            return
        self._density = density
        self._layout.setSpacing(0 if density is Density.LOW else px(2))
        for button in self.buttons:
            button.set_density(density)
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

    def least_height(self, density: Density | None = None, most: int = SURELY_SEEN) -> int:
        """Return the height down to the last of the labels that are surely seen, as it is at a density."""
        density = self._density if density is None else density
        low = density is Density.LOW
        gap = 0 if low else px(2)
        bars = self._bars
        count = min(most, len(self._lines))
        parts = [height_of(density, bars)] * count
        if not low and (self._titles or self._orders):
            parts.append(px(20))
        if self._finds(low=low) or (low and self._density is density and not self.finder.isHidden()):
            parts.append(self.finder.sizeHint().height())
        return sum(part + gap for part in parts)

    @property
    def _orders(self) -> bool:
        return len(self._lines) > 1

    def _show_legend(self) -> None:
        low = self._density is Density.LOW
        self.legend.set_titles(() if low else self._titles)
        self.order_button.setVisible(self._orders and not low)

    def _finds(self, *, low: bool) -> bool:
        used = self.finder.hasFocus() or bool(self.finder.text())
        return (len(self._lines) >= FIND_FROM and not low) or used

    def _show_finder(self) -> None:
        low = self._density is Density.LOW
        wanted = self._finds(low=low)
        if wanted == self.finder.isHidden():
            self.finder.setVisible(wanted)
            self.finderChanged.emit()
        self.find_button.setVisible(len(self._lines) >= FIND_FROM and low)

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
        ranked = self.shown() if self._listing is None or self._words() else self._lines
        if self.isEnabled() and place < len(ranked):
            self.chosen.emit(ranked[place].label_id)

    def start_over(self) -> None:
        """Forget what was searched for another row."""
        self.finder.clear()

    def found(self) -> LabelLine | None:
        """What Enter takes while one types to find a label."""
        typed = self.finder.hasFocus() and self.finder.text().strip()
        return next(iter(self.shown()), None) if typed else None

    def shown(self) -> list[LabelLine]:
        """The labels on the screen from top to bottom."""
        return [entry for entry in self._entries() if isinstance(entry, LabelLine)]

    def _words(self) -> list[str]:
        """What is searched for."""
        return bare(self.finder.text()).split() if self.finder.isVisibleTo(self) else []

    def _entries(self) -> Sequence[GroupLine | LabelLine]:
        words = self._words()
        if words:
            return [line for line in self._lines if all(word in bare(line.name) for word in words)]
        if self._listing is not None:
            return self._listing.lines(None if self._all else SHOWN)
        return list(self._lines if self._all else self._lines[:SHOWN])

    def _digit(self, line: LabelLine, place: int) -> str:
        """The digit that chooses a label at a place: the label's own, that of its rank, or of the place."""
        if self._digits is not None:
            return self._digits.get(line.label_id, "")
        if self._listing is not None and not self._words():
            place = self._ranks.get(line.label_id, len(DIGITS))
        return DIGITS[place] if place < len(DIGITS) else ""

    @Slot()
    def _show(self) -> None:
        self._show_finder()
        entries = self._entries()
        self._ranks = (
            {line.label_id: rank for rank, line in enumerate(self._lines[: len(DIGITS)])}
            if self._listing is not None
            else {}
        )
        order: list[QWidget] = []
        lines = [entry for entry in entries if isinstance(entry, LabelLine)]
        buttons, headings = iter(self._pool(len(lines))), iter(self._heading_pool(len(entries) - len(lines)))
        for entry in entries:
            if isinstance(entry, GroupLine):
                heading = next(headings)
                heading.show_line(entry)
                order.append(heading)
            else:
                button = next(buttons)
                button.show_line(entry, self._digit(entry, sum(isinstance(w, LabelButton) for w in order)))
                order.append(button)
        self._bars = len(lines[0].bars) if lines else self._bars if len(self._lines) else 0
        self._arrange(order)
        searched = self.finder.text().strip()
        self.nothing.setText(
            _("No label contains “{text}”. Clear the field to see all labels.", text=isolated(searched))
        )
        self.nothing.setVisible(bool(searched and self._lines and not lines))
        count = len(self._lines) if self._listing is None else len(self._listing)
        rest = count - len(lines)
        self.all_button.setText(
            _("Show fewer labels")
            if self._all
            else ngettext("Show {count} more label", "Show {count} more labels", rest)
        )
        few = count <= SHOWN or bool(searched)
        self.all_button.setVisible(not few and (rest > 0 or self._all))
        self.foundChanged.emit()

    def _pool(self, count: int) -> list[LabelButton]:
        """Return buttons for so many labels, some of them made now."""
        while len(self.buttons) < count:
            button = LabelButton()
            button.set_density(self._density)
            button.set_typing(self._typing)
            button.set_many(self._many)
            button.clicked.connect(lambda _checked=False, button=button: self._choose(button))
            button.pointedAt.connect(self.pointedAt)
            self.buttons.append(button)
        return self.buttons

    def _heading_pool(self, count: int) -> list[GroupButton]:
        while len(self.headings) < count:
            heading = GroupButton()
            heading.clicked.connect(lambda _checked=False, heading=heading: self._fold(heading))
            self.headings.append(heading)
        return self.headings

    def _arrange(self, order: list[QWidget]) -> None:
        """Show these widgets in this order, and no other label or heading."""
        if order != self._order:
            same = 0
            while same < min(len(order), len(self._order)) and order[same] is self._order[same]:
                same += 1
            for widget in self._order[same:]:
                self._layout.removeWidget(widget)
                widget.hide()
            for place, widget in enumerate(order[same:], start=_ABOVE + same):
                self._layout.insertWidget(place, widget)
                widget.show()
            self._order = order

    def _fold(self, heading: GroupButton) -> None:
        if heading.line is not None:
            self.foldAsked.emit(heading.line.parent, not heading.line.folded)

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
