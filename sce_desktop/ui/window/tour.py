"""The tour: five steps beside the real controls, from a file to an export.

It starts by itself once, at the first start, and from the Help menu whenever somebody wants it. It is left by
Esc, by its button, and by working: whoever does what a later step is about is taken there, and whoever does
something else has seen enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.ui.kit.callout import Callout
from sce_desktop.ui.rows.row_keys import takes_text

SEEN: Final = "tour_seen"
MOST_WORK: Final = 3  # as often somebody does something else than what the tour shows, then it leaves


class Stop(IntEnum):
    """What the steps are about, in their order."""

    OPEN = 0
    LABELS = 1
    SCORE = 2
    CHECK = 3
    EXPORT = 4


@dataclass(frozen=True, slots=True)
class Step:
    """One step. Words are marked by `N_`; ``target`` finds the control, or None where there is none now."""

    title: str
    text: str
    target: Callable[[], QWidget | None]


WORDS: Final = (
    (N_("Open a table"), N_("Drop a CSV or Excel file on the window. Without one at hand, try the sample.")),
    (
        N_("Type your labels"),
        N_("Type at least two, each with Enter. Plain words work best; no examples are needed."),
    ),
    (
        N_("Score the rows"),
        N_("Press Score (F5): the model predicts a label for every row, on this machine."),
    ),
    (
        N_("Check the rows"),
        N_("Press the digit beside a label to choose it; Ctrl+Z undoes. Start with low-confidence rows."),
    ),
    (
        N_("Export"),
        N_("Writes your table with its labels (Ctrl+E). Then look at Fine-tune and Evaluate, below."),
    ),
)
"""Title and text of the steps."""


class Tour(QObject):
    """Shows the steps in a callout over ``window``.

    Args:
        window: What the callout lies over; its keys are heard.
        targets: Where each step points to.
        preferences: Remember that the tour was seen.
        is_open: Whether a project is open; without one the first step offers the sample.
        open_sample: Opens it.
        focus_back: Gives the focus to what one works with, when it was in the callout that goes.
    """

    changed = Signal()  # it began, went to another step, or ended

    def __init__(
        self,
        window: QWidget,
        targets: Sequence[Callable[[], QWidget | None]],
        preferences: Preferences,
        *,
        is_open: Callable[[], bool],
        open_sample: Callable[[], object],
        focus_back: Callable[[], object],
    ) -> None:
        super().__init__(window)
        self.steps = tuple(
            Step(title, text, target) for (title, text), target in zip(WORDS, targets, strict=True)
        )
        self.at: int | None = None
        self._window = window
        self._preferences = preferences
        self._is_open = is_open
        self._open_sample = open_sample
        self._focus_back = focus_back
        self._work = 0
        self._heard: QWidget | None = None  # the widget with the focus, whose Esc is ours
        self.callout = Callout(window)
        self.callout.leaveAsked.connect(self.leave)
        self.callout.backAsked.connect(self._back)
        self.callout.nextAsked.connect(self._next)

    # --- coming and going ----------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Whether a step is shown."""
        return self.at is not None

    def begin_once(self) -> None:
        """Start, unless it has been seen before."""
        if not self._preferences.settings[SEEN]:
            self.begin()

    @Slot()
    def begin(self) -> None:
        """Start at the first step; from here on it does not come by itself."""
        if not self._preferences.settings[SEEN]:
            self._preferences.change_setting(SEEN, True)
        if not self.active:
            app = QApplication.instance()
            assert isinstance(app, QApplication)
            app.focusChanged.connect(self._on_focus)
            self._listen(QApplication.focusWidget())
            self._window.installEventFilter(self)
        self._work = 0
        self._show(Stop.OPEN, take_focus=not takes_text(QApplication.focusWidget()))

    @Slot()
    def leave(self) -> None:
        """End; the keys are for what one works with again."""
        if not self.active:
            return
        self.at = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.disconnect(self._on_focus)
        self._listen(None)
        self._window.removeEventFilter(self)
        focus = QApplication.focusWidget()
        within = focus is not None and self.callout.isAncestorOf(focus)
        self.callout.put_away()
        if within:
            self._focus_back()
        self.changed.emit()

    # --- steps ---------------------------------------------------------------------------------------------

    def _show(self, at: int, *, take_focus: bool = False) -> None:
        self.at = at
        step = self.steps[at]
        self.callout.show_words(
            step=_("{step} of {steps}", step=number(at + 1), steps=number(len(self.steps))),
            title=_(step.title),
            text=_(step.text),
            next_text=self._next_text(at),
            back=at > Stop.OPEN,
        )
        self.callout.point_at(step.target())
        if take_focus:
            self.callout.next_button.setFocus(Qt.FocusReason.OtherFocusReason)
        QAccessible.updateAccessibility(QAccessibleEvent(self.callout, QAccessible.Event.Alert))
        self.changed.emit()

    def _next_text(self, at: int) -> str:
        if at == len(self.steps) - 1:
            return _("Done")
        return _("Try the sample") if at == Stop.OPEN and not self._is_open() else _("Next")

    @Slot()
    def _next(self) -> None:
        if self.at is None:
            return
        if self.at == Stop.OPEN and not self._is_open():
            self._open_sample()  # its opening leads to the next step
        elif self.at == len(self.steps) - 1:
            self.leave()
        else:
            self._show(self.at + 1, take_focus=True)

    @Slot()
    def _back(self) -> None:
        if self.at:
            self._show(self.at - 1, take_focus=True)

    def done(self, stop: Stop) -> None:
        """Hear that somebody did what ``stop`` is about: go on behind it, or leave who works by now."""
        if self.at is None:
            return
        if stop >= self.at:
            self._work = 0
            if stop == len(self.steps) - 1:
                self.leave()
            else:
                self._show(stop + 1)
        else:
            self.other_work()

    @Slot()
    def other_work(self) -> None:
        """Hear that somebody does something that the tour does not show now."""
        if self.active:
            self._work += 1
            if self._work >= MOST_WORK:
                self.leave()

    @Slot()
    def project_closed(self) -> None:
        """Leave: what the later steps point at is gone."""
        if self.at is not None and self.at > Stop.OPEN:
            self.leave()

    # --- Esc -----------------------------------------------------------------------------------------------

    @Slot(QWidget, QWidget)
    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        self._listen(new)

    def _listen(self, widget: QWidget | None) -> None:
        """Hear the keys of the widget that has the focus, if it is in the window."""
        if self._heard is not None:
            self._heard.removeEventFilter(self)
            self._heard.destroyed.disconnect(self._forget)
        ours = widget is not None and widget is not self._window and widget.window() is self._window
        self._heard = widget if ours else None
        if self._heard is not None:
            self._heard.installEventFilter(self)
            self._heard.destroyed.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self._heard = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave on Esc, which means nothing else meanwhile."""
        if self.active and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() is QEvent.Type.ShortcutOverride:
                event.accept()  # else it would be the shortcut of something below
                return True
            if event.type() is QEvent.Type.KeyPress:
                self.leave()
                return True
        return super().eventFilter(watched, event)
