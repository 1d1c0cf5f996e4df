"""Reduced motion: what moves automatically stands still where the user has chosen so.

    set_reduced(app, True)     # `appearance.Theme` does, by the setting "reduced_motion"
    bar = ProgressBar()        # in place of QProgressBar: one whose end is not known stands still

Whoever adds an animation asks `is_reduced` before it starts; a test looks for animations that do not. Two
things that Qt draws itself stay: the fade of the cross in a text field (160 ms), and scrolling, which follows
the hand.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QProgressBar, QWidget

_EFFECTS = (
    Qt.UIEffect.UI_General,
    Qt.UIEffect.UI_AnimateMenu,
    Qt.UIEffect.UI_FadeMenu,
    Qt.UIEffect.UI_AnimateCombo,
    Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip,
    Qt.UIEffect.UI_AnimateToolBox,
)


class _State:
    reduced = False
    effects: tuple[bool, ...] = ()  # of the system, while they are off
    cursor = 0  # milliseconds of its blinking, while it does not


def is_reduced() -> bool:
    """Whether nothing may move automatically."""
    return _State.reduced


def set_reduced(app: QApplication, reduced: bool) -> None:
    """Have menus, tips, windows, the text cursor and progress bars stand still, or as the system has them."""
    if reduced == _State.reduced:
        return
    if reduced:
        _State.effects = tuple(app.isEffectEnabled(effect) for effect in _EFFECTS)
        _State.cursor = app.cursorFlashTime()
    for effect, on in zip(_EFFECTS, _State.effects, strict=True):
        app.setEffectEnabled(effect, on and not reduced)
    app.setCursorFlashTime(0 if reduced else _State.cursor)
    _State.reduced = reduced
    for widget in app.allWidgets():
        if isinstance(widget, QMainWindow):
            widget.setAnimated(not reduced)
        elif isinstance(widget, ProgressBar):
            widget.follow_motion()


class ProgressBar(QProgressBar):
    """A progress bar; where the end is not known it moves to and fro, or is striped if motion is reduced."""

    def __init__(self, parent: QWidget | None = None, *, textVisible: bool = True) -> None:  # noqa: N803 - Qt's
        super().__init__(parent)
        self.setTextVisible(textVisible)
        self._endless = False

    def setRange(self, minimum: int, maximum: int) -> None:
        """Set the range; an empty one says that the end is not known."""
        self._endless = minimum == maximum == 0
        still = self._endless and _State.reduced
        if bool(self.property("still")) != still:
            self.setProperty("still", still)
            self.style().unpolish(self)
            self.style().polish(self)
        super().setRange(0, 1) if still else super().setRange(minimum, maximum)
        if still:
            self.setValue(1)

    def follow_motion(self) -> None:
        """Move or stand still, as is chosen now."""
        if self._endless:
            self.setRange(0, 0)
