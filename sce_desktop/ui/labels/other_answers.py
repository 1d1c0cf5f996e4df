"""What a row can get instead of a label: none of these, and skip, with their counts and keys."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Slot
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QStyle, QVBoxLayout, QWidget

from sce_desktop.controllers.keymap import shown_key
from sce_desktop.controllers.label_edits import rows
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Decision
from sce_desktop.core.i18n import _
from sce_desktop.core.query import RowState
from sce_desktop.ui.kit.icons import icon
from sce_desktop.ui.kit.painting import SQUARE
from sce_desktop.ui.kit.theme import MARK_RADIUS, SPACE_S, font, px, row_height, set_role, tokens
from sce_desktop.ui.labels.labels_list import MARGIN, compact, draw_key, key_rect, margins

ANSWERS = (
    (Decision.NONE, RowState.NONE, _("None of these"), "none"),
    (Decision.SKIPPED, RowState.SKIPPED, _("Skip"), "skip"),
)


class _Answer(QWidget):
    """One of the other answers."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, decision: Decision, name: str, key: str) -> None:
        super().__init__()
        self._decision, self._name, self._key = decision, name, key
        self._count: int | None = None
        self.setFixedHeight(row_height("normal"))
        self.set_count(None)

    def set_count(self, count: int | None) -> None:
        """Show how many rows have this answer."""
        self._count = count
        parts = [self._name]
        if count is not None:
            parts.append(rows(count))
        if self._key:
            parts.append(_("key {key}", key=self._key))
        self.setAccessibleName(", ".join(parts))
        self.update()

    def set_key(self, key: str) -> None:
        """Show which key gives it."""
        self._key = key
        self.set_count(self._count)

    def sizeHint(self) -> QSize:
        return QSize(px(180), row_height("normal"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange:  # the density too
            self.setFixedHeight(row_height("normal"))

    def paintEvent(self, event: QPaintEvent) -> None:
        t, rect = tokens(), self.rect()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirrored = partial(QStyle.visualRect, self.layoutDirection(), rect)
        side, left, middle = px(SQUARE), px(MARGIN), rect.center().y()
        if self._decision is Decision.NONE:
            painter.setPen(QPen(QColor(t.muted), 1.4))
            square = mirrored(QRect(left, middle - side // 2, side, side))
            painter.drawRoundedRect(square, px(MARK_RADIUS), px(MARK_RADIUS))
        else:
            picture = icon("skip", "muted").pixmap(px(14), px(14))
            place = mirrored(QRect(left - px(2), middle - px(7), px(14), px(14)))
            painter.drawPixmap(place.topLeft(), picture)
        painter.setFont(font("body"))
        painter.setPen(QColor(t.ink))
        names = mirrored(rect.adjusted(px(MARGIN + SQUARE + SPACE_S), 0, 0, 0))
        painter.drawText(names, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._name)
        if self._count is not None:
            counts = mirrored(rect.adjusted(0, 0, key_rect(rect).left() - px(SPACE_S) - rect.right(), 0))
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.setPen(QColor(t.ink if self._count else t.muted))
            painter.drawText(counts, flags, compact(self._count))
        if self._key:
            draw_key(painter, mirrored(key_rect(rect)), self._key)
        painter.end()


class OtherAnswers(QWidget):
    """Below the labels."""

    def __init__(self, workspace: Workspace, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._preferences = preferences
        self.setAccessibleName(_("No label"))
        heading = QLabel(_("No label"))
        heading.setContentsMargins(margins(px(MARGIN), 0))
        set_role(heading, "heading")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(heading)
        self.answers = {state: _Answer(decision, name, "") for decision, state, name, _command in ANSWERS}
        for answer in self.answers.values():
            layout.addWidget(answer)
        workspace.countsChanged.connect(self._show_counts)
        preferences.settingsChanged.connect(self._show_keys)
        self._show_keys()
        workspace.projectClosed.connect(self._show_counts)

    @Slot()
    def _show_keys(self) -> None:
        keys = self._preferences.keymap.keys()
        for _decision, state, _name, command in ANSWERS:
            self.answers[state].set_key(shown_key(keys[command]))

    @Slot()
    def _show_counts(self) -> None:
        counts = self._workspace.counts
        for state, answer in self.answers.items():
            answer.set_count(None if counts is None else counts.states.get(state, 0))
