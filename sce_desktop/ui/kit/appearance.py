"""The look of the whole application: its palette, style sheet and icons follow the theme that is chosen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.ui.kit import icons, motion, stylesheet
from sce_desktop.ui.kit.density import change_density
from sce_desktop.ui.kit.theme import Mode, palette_of
from sce_desktop.ui.kit.tokens import CONTRAST, DARK, LIGHT, THEMES, Tokens


class Theme(QObject):
    """Keeps the application's palette, style sheet and icons in step with the system or the user's choice."""

    changed = Signal()

    def __init__(self, app: QApplication, mode: Mode = "system") -> None:
        super().__init__(app)
        self._app = app
        self._mode: Mode = mode
        app.setStyle("Fusion")  # the one base style that draws all of a palette on every system
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        hints.accessibility().contrastPreferenceChanged.connect(self._on_system_changed)
        self._apply()

    @property
    def mode(self) -> Mode:
        """What was chosen: as the system says, or one of `tokens.THEMES`."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Choose light, dark, high contrast or the system's."""
        if mode != self._mode:
            self._mode = mode
            self._apply()

    @Slot()
    def _on_system_changed(self) -> None:
        if self._mode == "system":
            self._apply()

    def follow(self, preferences: Preferences) -> None:
        """Take density and motion from the settings, now and whenever they change."""
        self._preferences = preferences
        preferences.settingsChanged.connect(self._on_settings)
        self._on_settings({"density", "reduced_motion"})

    @Slot(object)
    def _on_settings(self, keys: set[str]) -> None:
        settings = self._preferences.settings
        if "reduced_motion" in keys:
            motion.set_reduced(self._app, bool(settings["reduced_motion"]))
        if "density" in keys and change_density(self._app, settings["density"]):  # type: ignore[arg-type]
            self._apply()

    def _apply(self) -> None:
        colours = self._colours()
        self._app.setPalette(palette_of(colours))
        self._app.setStyleSheet(stylesheet.style_sheet(colours))
        icons.recolour(self._app)
        self.changed.emit()

    def _colours(self) -> Tokens:
        if self._mode != "system":
            return THEMES[self._mode]
        hints = self._app.styleHints()
        if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
            return CONTRAST
        return DARK if hints.colorScheme() == Qt.ColorScheme.Dark else LIGHT
