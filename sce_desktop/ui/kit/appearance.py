"""The look of the whole application: its palette, style sheet and icons follow the theme that is chosen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication

from sce_desktop.ui.kit import icons, stylesheet
from sce_desktop.ui.kit.theme import DARK, LIGHT, Mode, palette_of


class Theme(QObject):
    """Keeps the application's palette, style sheet and icons in step with the system or the user's choice."""

    changed = Signal()

    def __init__(self, app: QApplication, mode: Mode = "system") -> None:
        super().__init__(app)
        self._app = app
        self._mode: Mode = mode
        app.setStyle("Fusion")  # the one base style that draws all of a palette on every system
        app.styleHints().colorSchemeChanged.connect(self._on_system_changed)
        self._apply()

    @property
    def mode(self) -> Mode:
        """What was chosen: system, light or dark."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Choose light, dark or the system's."""
        if mode != self._mode:
            self._mode = mode
            self._apply()

    @Slot()
    def _on_system_changed(self) -> None:
        if self._mode == "system":
            self._apply()

    def _apply(self) -> None:
        system_dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        dark = system_dark if self._mode == "system" else self._mode == "dark"
        colours = DARK if dark else LIGHT
        self._app.setPalette(palette_of(colours))
        self._app.setStyleSheet(stylesheet.style_sheet(colours))
        icons.recolour(self._app)
        self.changed.emit()
