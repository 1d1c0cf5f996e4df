"""The slider under the chip "Confidence < 60%"."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget, QWidgetAction

from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.fields import Slider
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px
from sce_desktop.ui.rows.percent_field import percent_field

_PAUSE_MS = 120


class ConfidenceMenu(QMenu):
    """Emits the threshold, 0.01 to 1, while the slider is moved."""

    changed = Signal(object)  # float

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(_("Confidence below"))
        self.slider = Slider()
        self.slider.setRange(1, 100)
        self.slider.setAccessibleName(_("Confidence below, in per cent"))
        self.slider.setFixedWidth(px(160))
        self.spin = percent_field(_("Confidence below, as a number"))
        body = QWidget()
        layout = QHBoxLayout(body)
        layout.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addWidget(QLabel(_("Below")))
        layout.addWidget(self.slider)
        layout.addWidget(self.spin)
        action = QWidgetAction(self)
        action.setDefaultWidget(body)
        self.addAction(action)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._emit)
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self.slider.setValue)
        self.spin.valueChanged.connect(self._pause.start)
        self.aboutToHide.connect(self._finish)

    def open_at(self, place: QPoint, threshold: float) -> None:
        """Show it with its corner at ``place``."""
        self.spin.setValue(round(threshold * 100))
        self._pause.stop()
        self.popup(place)
        self.slider.setFocus()

    @Slot()
    def _emit(self) -> None:
        self.changed.emit(self.spin.value() / 100)

    @Slot()
    def _finish(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._emit()
