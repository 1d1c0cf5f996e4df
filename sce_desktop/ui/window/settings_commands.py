"""The settings: their dialog, and what follows from a change."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import (
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.theme import Mode
from sce_desktop.ui.window.settings_dialog import SettingsDialog


class SettingsCommands(QObject):
    """Shows the settings and applies what was changed; the theme can be chosen from the menu too."""

    def __init__(self, controllers: Controllers, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._controllers = controllers
        self._theme = theme
        self._window = window

    @Slot()
    def show_settings(self) -> None:
        """Show the settings."""
        dialog = SettingsDialog(
            self._controllers.preferences.settings, self._window, models=self._controllers.models
        )
        open_dialog(dialog).changed.connect(self._on_settings)

    @Slot(object)
    def _on_settings(self, keys: set[str]) -> None:
        if "theme" in keys:
            self._theme.set_mode(self._controllers.preferences.settings["theme"])  # type: ignore[arg-type]
        if "language" in keys:
            self._controllers.messages.notify_of_program(_("Restart SCE Desktop to use the new language."))
        self._controllers.scorer.settings_changed(keys)
        self._controllers.preferences.settingsChanged.emit(keys)

    def choose_theme(self, mode: Mode) -> None:
        """Take light, dark or the system's colours from now on."""
        self._theme.set_mode(mode)
        self._controllers.preferences.change_setting("theme", mode)
