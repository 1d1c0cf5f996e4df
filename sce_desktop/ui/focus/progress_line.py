"""How far one has come today, how fast, and how long the rest takes: one line, and a goal set in place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from sce_desktop.controllers import session_work
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.session_work import SessionProgress
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import duration
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.fields import ComboBox, SpinBox
from sce_desktop.ui.kit.painting import draw_bar
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role, tokens
from sce_desktop.ui.kit.visibility import VisibilityGate

PAUSE_MS = 200  # between a label and the figures with it
_REST = 4
_MINUTE_MS = 60_000  # a session ends, and a day, without anybody doing anything
UNITS = {"rows": _("rows"), "minutes": _("minutes")}


def goal_share(found: SessionProgress, goal: int, unit: str) -> float:
    """Return how much of the day's goal is done, 0 to 1."""
    done = found.figures.today if unit == "rows" else found.figures.seconds_today / 60
    return min(1.0, done / goal)


def progress_words(found: SessionProgress, goal: int, unit: str) -> list[str]:
    """Say how the user comes on; ``goal`` of the day in rows or minutes, 0: none."""
    figures = found.figures
    minutes = int(figures.seconds_today // 60)
    if goal and goal_share(found, goal, unit) >= 1:
        words = [
            ngettext(
                "Today's goal of {count} row is reached",
                "Today's goal of {count} rows is reached",
                goal,
            )
            if unit == "rows"
            else ngettext(
                "Today's goal of {count} minute is reached",
                "Today's goal of {count} minutes is reached",
                goal,
            )
        ]
        rest = found.open
    elif goal and unit == "rows":
        words = [
            ngettext(
                "{done} of {count} row, today's goal",
                "{done} of {count} rows, today's goal",
                goal,
                done=number(figures.today),
            )
        ]
        rest = min(found.open, goal - figures.today)
    else:
        words = [ngettext("{count} row labelled today", "{count} rows labelled today", figures.today)]
        if goal:
            words.append(
                ngettext(
                    "{done} of {count} minute, today's goal",
                    "{done} of {count} minutes, today's goal",
                    goal,
                    done=number(minutes),
                )
            )
        rest = found.open
    if figures.rows_an_hour is not None:
        speed = round(figures.rows_an_hour)
        words.append(ngettext("{count} row an hour", "{count} rows an hour", speed))
    left = figures.seconds_left(rest)
    if goal and unit == "minutes" and goal_share(found, goal, unit) < 1:
        words.append(_("{time} left", time=duration(60 * goal - figures.seconds_today)))
    elif not found.open:
        words.append(_("no rows left in this list"))
    elif left is not None:
        words.append(_("about {time} left", time=duration(left)))
    return words


class _Bar(QWidget):
    """How much of the goal is done; nothing moves on its own."""

    def __init__(self) -> None:
        super().__init__()
        self._share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(_("Today's goal"))

    def show_share(self, share: float | None) -> None:
        """Show a share, 0 to 1; None: there is no goal."""
        if share != self._share:
            self._share = share
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a thin line."""
        return QSize(px(100), px(3))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the share."""
        if self._share is not None:
            painter, colours = QPainter(self), tokens()
            painter.setLayoutDirection(self.layoutDirection())
            colour = colours.good if self._share >= 1 else colours.accent
            if self._share > 0:
                draw_bar(painter, QRectF(self.rect()), self._share, colour, colours.hover)
            else:
                painter.fillRect(self.rect(), colours.hover)
            painter.end()


class ProgressLine(QWidget):
    """Reads the figures in the background whenever something was labelled and the line is seen."""

    leaveAsked = Signal()
    edited = Signal()  # the goal was set, or left as it was: the keys are for the rows again

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self.found: SessionProgress | None = None
        self.setAccessibleName(_("Progress"))
        self.words = ElidedLabel()
        self.words.setAccessibleName(_("Progress of today"))
        set_role(self.words, "muted")
        self.goal_button = self._button(_("Set a goal…"), _("Rows or minutes a day"))
        self.goal_button.clicked.connect(self.edit_goal)
        self.leave_button = self._button(_("Leave focus mode"), _("Back to the table"))
        key = QKeySequence(Qt.Key.Key_Escape).toString(QKeySequence.SequenceFormat.NativeText)
        self.leave_button.setText(f"{self.leave_button.text()}  {key}")
        self.leave_button.clicked.connect(self.leaveAsked)
        self.editor = self._make_editor()
        self._bar = _Bar()
        line = QHBoxLayout()
        line.setContentsMargins(px(SPACE_M), px(2), px(SPACE_M), px(2))
        line.setSpacing(px(SPACE_S))
        line.addWidget(self.words, 1)
        line.addWidget(self.editor, 1)
        line.addWidget(self.goal_button)
        line.addWidget(self.leave_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(line)
        layout.addWidget(self._bar)
        self.visibility = VisibilityGate(self, PAUSE_MS, rest=_REST)
        self.visibility.due.connect(self._read)
        self._minute = QTimer(self, interval=_MINUTE_MS)
        self._minute.timeout.connect(self.visibility.soon)
        self.visibility.changed.connect(self._on_seen)
        workspace.annotationsChanged.connect(self.visibility.soon)
        workspace.projectOpened.connect(self.visibility.soon)
        workspace.projectClosed.connect(self._forget)
        workspace.rowsChanged.connect(self.visibility.soon)
        navigation.queryChanged.connect(self.visibility.soon)
        preferences.settingsChanged.connect(self._show)
        self.visibility.soon()
        self._show()

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setAccessibleName(text)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        set_role(button, "quiet")
        return button

    def _make_editor(self) -> QWidget:
        self.amount = SpinBox(minimum=0, maximum=100_000)
        self.amount.setAccessibleName(_("Goal of the day"))
        self.amount.setSpecialValueText(_("No goal"))
        self.unit = ComboBox()
        self.unit.setAccessibleName(_("Rows or minutes"))
        for unit, words in UNITS.items():
            self.unit.addItem(words, unit)
        done = self._button(_("Set"), _("Keep this goal"))
        done.clicked.connect(self.keep_goal)
        editor = QWidget()
        line = QHBoxLayout(editor)
        line.setContentsMargins(0, 0, 0, 0)
        label = QLabel(_("Goal of the day:"))
        label.setBuddy(self.amount)
        for widget in (label, self.amount, self.unit, done):
            line.addWidget(widget)
        line.addStretch(1)
        for field in (self.amount, self.unit):
            field.installEventFilter(self)
        editor.hide()
        return editor

    # --- the goal ------------------------------------------------------------------------------------------

    @Slot()
    def edit_goal(self) -> None:
        """Let the user type a goal in the place of the words."""
        settings = self._preferences.settings
        self.amount.setValue(int(settings["daily_goal"]))
        self.unit.setCurrentIndex(max(0, self.unit.findData(settings["goal_unit"])))
        self.words.hide()
        self.goal_button.hide()
        self.editor.show()
        self.amount.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.amount.selectAll()

    @Slot()
    def keep_goal(self) -> None:
        """Keep the goal that was typed; 0 is none."""
        self.amount.interpretText()
        self._preferences.change_setting("goal_unit", str(self.unit.currentData()))
        self._preferences.change_setting("daily_goal", self.amount.value())
        self.end_editing()

    @Slot()
    def end_editing(self) -> None:
        """Show the words again."""
        if not self.editor.isHidden():
            self.editor.hide()
            self.words.show()
            self.goal_button.show()
            self.edited.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return keeps the goal, Escape leaves it as it was."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.keep_goal()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.end_editing()
                return True
        return super().eventFilter(watched, event)

    # --- the figures ---------------------------------------------------------------------------------------

    @Slot()
    def _read(self) -> None:
        if (project := self._workspace.project) is not None:
            job = self._workspace.submit(
                session_work.session_progress,
                project,
                self._navigation.query,
                title=_("Reading the progress of today"),
                worker="reads",
                quiet=True,
            )
            self.visibility.follow(job).finished.connect(self._on_read)

    @Slot(object)
    def _on_read(self, found: SessionProgress) -> None:
        self.found = found
        self._show()

    @Slot()
    def _show(self) -> None:
        settings = self._preferences.settings
        goal, unit = int(settings["daily_goal"]), str(settings["goal_unit"])
        self.goal_button.setText(_("Change goal…") if goal else _("Set a goal…"))
        self.goal_button.setAccessibleName(self.goal_button.text())
        found = self.found
        self._bar.show_share(goal_share(found, goal, unit) if goal and found is not None else None)
        if found is None:
            self.words.setText("")
        else:
            self.words.setText(" · ".join(progress_words(found, goal, unit)), _session_words(found))

    @Slot(bool)
    def _on_seen(self, seen: bool) -> None:
        if seen:
            self._minute.start()
            self.visibility.soon()
        else:
            self._minute.stop()

    @Slot()
    def _forget(self) -> None:
        self.visibility.forget()
        self.found = None
        self._show()


def _session_words(found: SessionProgress) -> str:
    figures = found.figures
    words = ngettext("This session: {count} row.", "This session: {count} rows.", figures.session)
    if figures.median_seconds is not None:
        median = _("Median {seconds} s a row.", seconds=number(figures.median_seconds, 1))
        words = f"{words} {median}"
    return words
