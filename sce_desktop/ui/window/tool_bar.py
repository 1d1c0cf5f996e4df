"""The tool bar: which project, scoring, search, export."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QSizePolicy, QToolBar, QToolButton, QWidget

from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

_TYPING_MS = 250
_SEARCH, _LEAST_SEARCH = 220, 70  # pixels
_NAME, _PROBLEM = 220, 260  # pixels at most
_WIDE = 1180  # pixels; below, the number of rows is left to the status bar


HOW = _('All words must occur. Also: -word, "exact phrase", column:value')


class _SearchBox(QLineEdit):
    """Gives way where the window is narrow."""

    def __init__(self) -> None:
        super().__init__(clearButtonEnabled=True)
        self._hints = ("", "")  # with its key, and without
        self.show_hint(by_pattern=False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(px(_LEAST_SEARCH))

    def show_hint(self, *, by_pattern: bool) -> None:
        """Say in the empty box what it searches by, and its key."""
        keys = QKeySequence(QKeySequence.StandardKey.Find).toString(QKeySequence.SequenceFormat.NativeText)
        if by_pattern:
            self._hints = (_("Regular expression…  {keys}", keys=keys), _("Regex"))
        else:
            self._hints = (_("Search texts…  {keys}", keys=keys), _("Search texts"))
        self._fit_hint()

    def _fit_hint(self) -> None:
        whole, short = self._hints
        room = self.width() - 2 * px(SPACE_M)  # the frame, and what Qt leaves beside a text
        self.setPlaceholderText(whole if self.fontMetrics().horizontalAdvance(whole) <= room else short)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave its key away where there is no room for it."""
        super().resizeEvent(event)
        self._fit_hint()

    def sizeHint(self) -> QSize:
        """Return the size where there is room."""
        return QSize(px(_SEARCH), super().sizeHint().height())


class ToolBar(QToolBar):
    """Shown while a project is open."""

    exportAsked = Signal()

    def __init__(
        self, workspace: Workspace, navigation: Navigation, run_bar: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(_("Main tool bar"), parent)
        self.setObjectName("Main tool bar")
        self.setAccessibleName(_("Main tool bar"))
        self.setMovable(False)
        self.toggleViewAction().setVisible(False)
        self._workspace = workspace
        self._navigation = navigation
        self.name = ElidedLabel()
        self.name.setMaximumWidth(px(_NAME))
        self.name.setAccessibleName(_("Project"))
        set_role(self.name, "title")
        self.rows = QLabel()
        self.rows.setAccessibleName(_("Number of rows"))
        set_role(self.rows, "muted")
        self.search = _SearchBox()
        self.search.setAccessibleName(_("Search texts"))
        for button in self.search.findChildren(QToolButton):
            button.setAccessibleName(_("Clear the search"))
        self.pattern = QToolButton()
        self.pattern.setText(_("Regex"))
        self.pattern.setCheckable(True)
        self.pattern.setAccessibleName(_("Search by regular expression"))
        self.pattern.setToolTip(_("Search by regular expression"))
        set_role(self.pattern, "quiet")
        self.pattern.toggled.connect(self._on_pattern)
        self.problem = ElidedLabel()
        self.problem.setMinimumWidth(1)  # typing must not widen the window: the tip of the box has it too
        self.problem.setMaximumWidth(px(_PROBLEM))
        self.problem.setAccessibleName(_("Validation message"))
        set_role(self.problem, "warn")
        self.export_button = QPushButton(_("Export…"))
        self.export_button.setAccessibleName(_("Export"))
        set_icon(self.export_button, "export", "muted")
        self.export_button.clicked.connect(self.exportAsked)
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        find = (self.search, self.pattern, self.problem)
        self.addWidget(self.name)
        self._rows_shown = self.addWidget(self.rows)
        for widget in (run_bar, *find, gap, self.export_button):
            self.addWidget(widget)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._search)
        self.search.textEdited.connect(self._typing.start)
        self.search.returnPressed.connect(self._search)
        self.search.textChanged.connect(self._on_text)
        navigation.queryChanged.connect(self._on_query)
        navigation.queryFailed.connect(self._show_problem)
        workspace.projectOpened.connect(self._show_project)
        workspace.rowsChanged.connect(self._show_project)
        self._show_problem("")

    def minimumSizeHint(self) -> QSize:
        """Return the least size that shows all; Qt hides behind an arrow what the screen cannot hold."""
        layout = self.layout()
        assert layout is not None
        items = [item for place in range(layout.count()) if (item := layout.itemAt(place)) is not None]
        widths = [item.minimumSize().width() for item in items if item.widget() is not self.rows]
        margins = layout.contentsMargins()
        width = sum(widths) + layout.spacing() * (len(widths) - 1) + margins.left() + margins.right()
        width = min(width, self.screen().availableSize().width())
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show less where there is less room."""
        super().resizeEvent(event)
        self._rows_shown.setVisible(event.size().width() >= px(_WIDE))

    @Slot()
    def focus_search(self) -> None:
        """Go to the search box."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    @Slot(str)
    def _on_text(self, text: str) -> None:
        if not text:  # the clear button does not count as editing
            self._search()

    @Slot(bool)
    def _on_pattern(self, on: bool) -> None:
        self.search.show_hint(by_pattern=on)
        self._show_problem("")
        self._search()

    @Slot()
    def _search(self) -> None:
        self._typing.stop()
        if self._workspace.project is not None:
            text, by_pattern = self.search.text(), self.pattern.isChecked()
            query = replace(
                self._navigation.query,
                search="" if by_pattern else text,
                pattern=text if by_pattern else "",
            )
            self._navigation.set_query(query)

    @Slot(object)
    def _on_query(self, _query: object) -> None:
        self._show_problem("")
        query = self._navigation.query
        text = query.pattern or query.search
        if text != self.search.text() and not self._typing.isActive():
            self.search.setText(text)
        if text and self.pattern.isChecked() != bool(query.pattern):
            self.pattern.blockSignals(True)
            self.pattern.setChecked(bool(query.pattern))
            self.pattern.blockSignals(False)
            self.search.show_hint(by_pattern=bool(query.pattern))

    @Slot(object)
    def _show_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        tips = (_("Search texts"), "" if self.pattern.isChecked() else HOW)
        self.search.setToolTip(sentence or "\n".join(filter(None, tips)))
        if bool(sentence) != bool(self.search.property("wrong")):
            self.search.setProperty("wrong", bool(sentence))
            self.search.style().unpolish(self.search)
            self.search.style().polish(self.search)

    @Slot()
    def _show_project(self) -> None:
        project = self._workspace.project
        if project is not None:
            self.name.setText(project.path.stem, str(project.path))
            self.rows.setText(ngettext("{count} row", "{count} rows", project.row_count()))
            self.search.setText(self._navigation.query.pattern or self._navigation.query.search)
