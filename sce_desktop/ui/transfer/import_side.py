"""The left side of the import dialog as it lies: what is chosen is seen, the list of columns gives way."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px
from sce_desktop.ui.transfer.import_forms import ColumnsForm
from sce_desktop.ui.transfer.import_model import ModelForm

_WIDTH = 312


class ImportSide(QScrollArea):
    """Groups of settings, one below the other; scrolls only where shortening the list is not enough."""

    def __init__(
        self, groups: Iterable[Iterable[QWidget]], columns: ColumnsForm, scored_by: ModelForm
    ) -> None:
        super().__init__()
        self._columns = columns
        self._scored_by = scored_by
        self._inside = QWidget()
        form = QVBoxLayout(self._inside)
        before_bar = px(SPACE_M)  # which stands at the end of a line, wherever that is
        form.setContentsMargins(*((before_bar, 0, 0, 0) if self.isRightToLeft() else (0, 0, before_bar, 0)))
        form.setSpacing(px(SPACE_S))
        for place, group in enumerate(groups):
            if place:
                form.addSpacing(px(SPACE_S))
            for widget in group:
                form.addWidget(widget)
        form.addStretch(1)  # else the columns take some of what is over, and move when there is less of it
        for widget in (self, self._inside):
            widget.setAccessibleName(_("Import settings"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the name has the focus first
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(px(_WIDTH))
        self.setWidget(self._inside)
        self._inside.installEventFilter(self)
        for chooser in (columns.label_column, columns.use):
            chooser.activated.connect(self._show_use)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit when something comes or goes."""
        if watched is self._inside and event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit into another height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        layout = self._inside.layout()
        assert layout is not None
        bar = self.verticalScrollBar().sizeHint().width()  # its place is kept: nothing gets narrower for it
        width = self.maximumViewportSize().width() - bar
        self._inside.setMaximumWidth(width)
        margins = layout.contentsMargins()
        # What comes once the rows are counted has its room from the first: the user is choosing by then.
        to_come = self._scored_by.room_to_come(width - margins.left() - margins.right())
        self._columns.give_way(layout.totalHeightForWidth(width) + to_come - self.viewport().height())

    @Slot()
    def _show_use(self) -> None:
        words = self._columns.use_words
        if not words.isHidden():
            QTimer.singleShot(0, self, lambda: self.ensureWidgetVisible(words))  # when it has its place
