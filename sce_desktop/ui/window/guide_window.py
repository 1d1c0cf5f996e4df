"""The user guide in a window of its own: contents, pages with pictures, history, a search within the page.

The pages are the Markdown files of `paths.guide_dir`, which every copy of the program carries: nothing is
asked of the network. Links to the web go to the browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QIcon,
    QImageReader,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QTextCursor,
    QTextDocument,
    QTextTable,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSplitter,
    QTextBrowser,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop import paths
from sce_desktop.core.guide import CONTENTS, contents, slug, without_directives
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.resize_keys import add_resize_keys
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, px, set_role

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINE = 24  # of the contents, high
_RESIZED_MS = 150  # pictures are drawn again when the width has come to rest


class GuidePage(QTextBrowser):
    """Shows one page; pictures are never wider than there is room for."""

    pageChanged = Signal(str)  # its place in the folder

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Page of the guide"))
        self._folder = folder.resolve()
        self._read = QUrl()  # the page that was read last: `source` is late to know
        # A page that is read again is empty for a moment: a bar that went then and came back would change
        # the width twice, for which the page would be read again, and so on.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(px(SPACE_L))
        self.anchorClicked.connect(self.follow)
        self.sourceChanged.connect(self._on_source)
        self._resized = QTimer(self, singleShot=True, interval=_RESIZED_MS)
        self._resized.timeout.connect(self._draw_again)

    @property
    def page(self) -> str:
        """The place of the page in the folder; empty before the first."""
        file = self._read.toLocalFile()
        return Path(file).relative_to(self._folder).as_posix() if file else ""

    def open_page(self, page: str) -> None:
        """Show ``page``, which may end in ``#`` and the address of a heading."""
        name, _, heading = page.partition("#")
        url = QUrl.fromLocalFile(str(self._folder / name))
        if heading:
            url.setFragment(heading)
        self.setSource(url, QTextDocument.ResourceType.MarkdownResource)
        self.go_to(heading)

    @Slot(QUrl)
    def follow(self, url: QUrl) -> None:
        """Follow a link: to a page here, else to the browser."""
        target = self._read.resolved(url)
        if target.scheme() in ("http", "https"):
            QDesktopServices.openUrl(target)
            return
        file = Path(target.toLocalFile())
        if file.is_relative_to(self._folder) and file.suffix == ".md" and file.is_file():
            name = file.relative_to(self._folder).as_posix()
            self.open_page(f"{name}#{target.fragment()}" if target.fragment() else name)

    def go_to(self, heading: str) -> bool:
        """Scroll to the heading with that address; return whether there is one."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and slug(block.text()) == heading:
                top = self.document().documentLayout().blockBoundingRect(block).top()
                self.verticalScrollBar().setValue(round(top) - px(SPACE_S))
                return True
            block = block.next()
        return False

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Read a page or a picture from the folder; nothing else is read."""
        url = self._read.resolved(QUrl(name))
        file = Path(url.toLocalFile()).resolve()
        if not url.isLocalFile() or not file.is_relative_to(self._folder) or not file.is_file():
            return QByteArray()
        if kind == QTextDocument.ResourceType.ImageResource.value:
            return self._picture(file)
        self._read = url
        text = file.read_text(encoding="utf-8")
        return without_directives(_COMMENT.sub("", text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let pictures follow the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and self.page:
            self._resized.start()

    def _picture(self, file: Path) -> object:
        reader = QImageReader(str(file))
        size, ratio = reader.size(), self.devicePixelRatioF()
        room = round((self.viewport().width() - 2 * px(SPACE_L) - px(SPACE_M)) * ratio)
        if size.isValid() and size.width() > room > 0:
            reader.setScaledSize(QSize(room, round(size.height() * room / size.width())))
        picture = reader.read()
        if size.width() > room > 0:
            picture.setDevicePixelRatio(ratio)
        return picture

    @Slot()
    def _draw_again(self) -> None:
        at = self.verticalScrollBar().value() / max(1, self.verticalScrollBar().maximum())
        self.reload()
        self._dress()
        self.verticalScrollBar().setValue(round(at * self.verticalScrollBar().maximum()))

    @Slot()
    def _on_source(self) -> None:
        self._dress()
        self.pageChanged.emit(self.page)

    def _dress(self) -> None:
        """Give tables room, which Markdown cannot ask for."""
        for frame in self.document().rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                form = frame.format()
                form.setCellPadding(px(4))
                form.setCellSpacing(0)
                form.setBorderCollapse(True)
                form.setBorder(1)
                form.setBorderBrush(self.palette().mid())
                frame.setFormat(form)


class GuideWindow(QWidget):
    """The guide; it stays open beside the program, and beside its dialogs."""

    def __init__(self, icon: QIcon | None = None) -> None:
        super().__init__()  # no parent: a dialog of the program would block a child of its window
        folder = paths.guide_dir()
        self.setWindowTitle(_("User guide – SCE Desktop"))
        self.setAccessibleName(_("User guide"))
        if icon is not None:
            self.setWindowIcon(icon)
        self.page = GuidePage(folder)
        self.list = QTreeWidget()
        self.list.setAccessibleName(_("Contents of the guide"))
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self._items: dict[str, QTreeWidgetItem] = {}
        self._fill((folder / CONTENTS).read_text(encoding="utf-8"))
        self.back = self._button(_("Back"), "left", self.page.backward)
        self.forward = self._button(_("Forward"), "right", self.page.forward)
        self.field = QLineEdit(placeholderText=_("Find in this page…"))
        self.field.setAccessibleName(_("Find in this page"))
        self.field.setClearButtonEnabled(True)
        self.previous = self._button(_("Previous match"), "up", lambda: self.find_next(backward=True))
        self.next = self._button(_("Next match"), "down", self.find_next)
        self.result_label = QLabel()
        self.result_label.setAccessibleName(_("Result of the search"))
        set_role(self.result_label, "muted")
        self._lay_out()
        self.page.backwardAvailable.connect(self.back.setEnabled)
        self.page.forwardAvailable.connect(self.forward.setEnabled)
        self.back.setEnabled(False)
        self.forward.setEnabled(False)
        self.page.pageChanged.connect(self._on_page)
        self.list.itemActivated.connect(self._on_chosen)
        self.list.itemClicked.connect(self._on_chosen)
        self.field.returnPressed.connect(self.find_next)
        self.field.textChanged.connect(lambda: self.result_label.setText(""))
        for keys, do in (
            (QKeySequence(QKeySequence.StandardKey.Find), self._go_to_field),
            (QKeySequence("F3"), self.find_next),
            (QKeySequence("Shift+F3"), lambda: self.find_next(backward=True)),
            (QKeySequence("Alt+Left"), self.page.backward),
            (QKeySequence("Alt+Right"), self.page.forward),
            (QKeySequence("Esc"), self.close),
            (QKeySequence("Ctrl+W"), self.close),
        ):
            QShortcut(keys, self).activated.connect(do)
        self.resize(px(1040), px(720))

    def show_page(self, page: str) -> None:
        """Show ``page`` (as `guide_pages.PAGES` names it) and bring the window before the others."""
        self.show()
        self.raise_()
        self.activateWindow()
        self.page.open_page(page)
        self.page.setFocus()

    @Slot()
    def find_next(self, *, backward: bool = False) -> None:
        """Select the next match, from the top again after the last one."""
        words = self.field.text()
        if not words:
            return
        flags = QTextDocument.FindFlag.FindBackward if backward else QTextDocument.FindFlag(0)
        if self.page.find(words, flags):
            self.result_label.setText("")
            return
        kept = self.page.textCursor()
        self.page.moveCursor(QTextCursor.MoveOperation.End if backward else QTextCursor.MoveOperation.Start)
        if self.page.find(words, flags):
            self.result_label.setText(
                _("Continued from the end") if backward else _("Continued from the top")
            )
        else:
            self.page.setTextCursor(kept)
            self.result_label.setText(_("No match here: try another page"))

    # --- building ------------------------------------------------------------------------------------------

    def _button(self, words: str, icon: str, do: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(words)
        button.setToolTip(words)
        set_role(button, "quiet")
        set_icon(button, icon)
        button.clicked.connect(lambda: do())
        return button

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        bar.setSpacing(px(SPACE_S))
        bar.addWidget(self.back)
        bar.addWidget(self.forward)
        bar.addStretch(1)
        bar.addWidget(self.result_label)
        self.field.setFixedWidth(px(240))
        bar.addWidget(self.field)
        bar.addWidget(self.previous)
        bar.addWidget(self.next)
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setAccessibleName(_("Contents and page"))
        both.setChildrenCollapsible(False)
        both.addWidget(self.list)
        both.addWidget(self.page)
        both.setStretchFactor(1, 1)
        both.setSizes([px(250), px(790)])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(both, 1)
        add_resize_keys(self)

    def _fill(self, text: str) -> None:
        def line(title: str) -> QTreeWidgetItem:
            item = QTreeWidgetItem([title])
            item.setSizeHint(0, QSize(0, px(_LINE)))
            return item

        for entry in contents(text):
            top = line(entry.title)
            self.list.addTopLevelItem(top)
            if entry.page:
                self._items[entry.page] = top
            else:
                top.setFlags(Qt.ItemFlag.ItemIsEnabled)  # a heading
            for page in entry.pages:
                self._items[page.page] = item = line(page.title)
                top.addChild(item)
            top.setExpanded(True)

    @Slot(str)
    def _on_page(self, page: str) -> None:
        self.result_label.setText("")
        if (item := self._items.get(page)) is not None:
            self.list.setCurrentItem(item)

    @Slot(QTreeWidgetItem)
    def _on_chosen(self, item: QTreeWidgetItem) -> None:
        page = next((page for page, one in self._items.items() if one is item), "")
        if page and page != self.page.page:
            self.page.open_page(page)

    def _go_to_field(self) -> None:
        self.field.setFocus()
        self.field.selectAll()
