"""What is shown without a project: drop a table, open, continue a recent project, try the sample."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.recent import RecentProject, RecentProjects
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.ui.kit.files import KINDS
from sce_desktop.ui.kit.icons import icon, set_icon
from sce_desktop.ui.kit.low_scroll import LowScroll
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XL, font, px, set_role, tokens
from sce_desktop.ui.window.start_steps import StartSteps

_PATH_ROLE = Qt.ItemDataRole.UserRole
_DAY = 86_400  # seconds
Index = QModelIndex | QPersistentModelIndex


def ago(seconds: float) -> str:
    """How long ago, in the coarsest unit that is not zero."""
    if (weeks := int(seconds // (7 * _DAY))) > 0:
        return ngettext("{count} week ago", "{count} weeks ago", weeks)
    if (days := int(seconds // _DAY)) > 0:
        return ngettext("{count} day ago", "{count} days ago", days)
    if (hours := int(seconds // 3600)) > 0:
        return ngettext("{count} hour ago", "{count} hours ago", hours)
    if (minutes := int(seconds // 60)) > 0:
        return ngettext("{count} minute ago", "{count} minutes ago", minutes)
    return _("just now")


def state_of(project: RecentProject) -> str:
    """One line on where a project stands."""
    if not project.exists:
        return _("The file no longer exists: {path}", path=project.path)
    parts = [ngettext("{count} row", "{count} rows", project.rows)]
    if project.scored:
        parts.append(_("{count} scored", count=number(project.scored)))
    if project.labelled:
        parts.append(_("{count} labelled", count=number(project.labelled)))
    return " · ".join((*parts, ago(time.time() - project.opened_at)))


class _RecentList(QListWidget):
    """Recent projects; Return opens, Delete takes off the list."""

    opened = Signal(object)  # Path
    forgotten = Signal(str)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if item is not None and event.key() == Qt.Key.Key_Delete:
            self.forgotten.emit(item.data(_PATH_ROLE))
        elif item is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(Path(item.data(_PATH_ROLE)))
        else:
            super().keyPressEvent(event)


class _RecentDelegate(QStyledItemDelegate):
    """Draws a project: its name, and below it, muted, how it stands."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines and the air around them."""
        return QSize(px(200), 2 * option.fontMetrics.lineSpacing() + px(SPACE_L))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the ground as the style does, then icon and lines."""
        self.initStyleOption(option, index)
        name, _, state = index.data().partition("\n")
        picture: QIcon = index.data(Qt.ItemDataRole.DecorationRole)
        option.text, option.icon = "", QIcon()
        style = QApplication.style() if option.widget is None else option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        side, middle = px(18), option.rect.center().y()
        line = option.fontMetrics.lineSpacing()
        box = QRect(option.rect.left() + px(SPACE_S), middle - side // 2, side, side)
        words = option.rect.adjusted(px(SPACE_S) + side + px(SPACE_M), 0, -px(SPACE_S), 0)
        box, words = (QStyle.visualRect(option.direction, option.rect, place) for place in (box, words))
        leading = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft)
        place = leading | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        picture.paint(painter, box)
        painter.save()
        for text, top, colour in ((name, middle - line, tokens().ink), (state, middle, tokens().muted)):
            painter.setPen(QColor(colour))
            shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideMiddle, words.width())
            painter.drawText(QRect(words.left(), top, words.width(), line), int(place), shown)
        painter.restore()


class StartPage(LowScroll):
    """Shown while no project is open; hidden, it does not hold the window's height, which the docks share."""

    openAsked = Signal()  # choose a file
    pathChosen = Signal(object)  # Path of a recent project
    sampleAsked = Signal()
    tourAsked = Signal()

    def __init__(self, recent: RecentProjects, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._recent = recent
        self.setAccessibleName(_("Start page"))

        title = QLabel(_("Sort texts into labels of your own"), wordWrap=True)
        large = font("strong")
        large.setPixelSize(px(22))
        title.setFont(large)
        subtitle = QLabel(_("Everything runs on this machine; no text leaves it."))
        set_role(subtitle, "muted")

        self.tour_button = QPushButton(_("Take the tour"))
        self.tour_button.setAccessibleName(_("Take the tour"))
        self.tour_button.setToolTip(_("Five steps beside the real controls; leave at any moment"))
        set_role(self.tour_button, "quiet")
        set_icon(self.tour_button, "help", "muted")
        self.tour_button.clicked.connect(self.tourAsked)
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.tour_button, 0, Qt.AlignmentFlag.AlignBottom)

        self.drop = QFrame()
        self.drop.setAccessibleName(_("Drop a file here"))
        set_role(self.drop, "drop")
        picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        picture.setPixmap(icon("import", "muted").pixmap(px(36), px(36)))
        picture.setAccessibleName(_("Import"))
        self._picture = picture
        words = QLabel(_("Drop a table here"), alignment=Qt.AlignmentFlag.AlignCenter)
        strong = font("strong")
        strong.setPixelSize(px(15))
        words.setFont(strong)
        kinds = QLabel(_("{kinds}, or a project (.sce)", kinds=KINDS), alignment=Qt.AlignmentFlag.AlignCenter)
        set_role(kinds, "muted")
        self.open_button = QPushButton(_("Open file…"))
        self.open_button.setAccessibleName(_("Open a table or a project"))
        set_role(self.open_button, "primary")
        self.open_button.clicked.connect(self.openAsked)
        self.sample_button = QPushButton(_("Try the sample"))
        self.sample_button.setAccessibleName(_("Try the sample"))
        self.sample_button.setToolTip(_("300 messages to an invented parcel service, with labels"))
        set_icon(self.sample_button, "play")
        self.sample_button.clicked.connect(self.sampleAsked)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(SPACE_S))
        buttons.addStretch()
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.sample_button)
        buttons.addStretch()
        inside = QVBoxLayout(self.drop)
        inside.setContentsMargins(px(SPACE_XL), px(36), px(SPACE_XL), px(36))
        inside.setSpacing(px(SPACE_S))
        for part in (picture, words, kinds):
            inside.addWidget(part)
        inside.addSpacing(px(SPACE_S))
        inside.addLayout(buttons)

        self._heading = QLabel(_("Recent projects"))
        set_role(self._heading, "heading")
        self.recent_list = _RecentList()
        self.recent_list.setAccessibleName(_("Recent projects"))
        self.recent_list.setItemDelegate(_RecentDelegate(self.recent_list))
        self.recent_list.itemActivated.connect(self._on_activated)
        self.recent_list.itemClicked.connect(self._on_activated)
        self.recent_list.opened.connect(self.pathChosen)
        self.recent_list.forgotten.connect(self._forget)

        column = QWidget()
        column.setMaximumWidth(px(640))
        column.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        content = QVBoxLayout(column)
        content.setSpacing(px(SPACE_S))
        content.addStretch(1)
        content.addLayout(head)
        content.addWidget(subtitle)
        content.addSpacing(px(SPACE_S))
        content.addWidget(StartSteps())
        content.addSpacing(px(SPACE_L))
        content.addWidget(self.drop)
        content.addSpacing(px(SPACE_L))
        content.addWidget(self._heading)
        content.addWidget(self.recent_list, 4)
        content.addStretch(1)
        outer = QHBoxLayout(self.inside)
        outer.setContentsMargins(px(SPACE_XL), px(SPACE_XL), px(SPACE_XL), px(SPACE_XL))
        outer.addStretch(1)
        outer.addWidget(column, 8)
        outer.addStretch(1)
        QWidget.setTabOrder(self.sample_button, self.tour_button)  # the first focus is for opening
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Read the recent projects again."""
        self._picture.setPixmap(icon("import", "muted").pixmap(px(36), px(36)))
        self.recent_list.clear()
        for project in self._recent.all():
            item = QListWidgetItem(
                icon("table" if project.exists else "warning", "muted"),
                f"{project.name}\n{state_of(project)}",
            )
            item.setData(_PATH_ROLE, project.path)
            item.setToolTip(project.path)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{project.name}\n{state_of(project)}")
            self.recent_list.addItem(item)
        some = self.recent_list.count() > 0
        self._heading.setVisible(some)
        self.recent_list.setVisible(some)

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons in the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.refresh()

    @Slot(QListWidgetItem)
    def _on_activated(self, item: QListWidgetItem) -> None:
        self.pathChosen.emit(Path(item.data(_PATH_ROLE)))

    @Slot(str)
    def _forget(self, path: str) -> None:
        self._recent.forget(path)
        self.refresh()
