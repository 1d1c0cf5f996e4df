"""The settings of the program as the window changes and follows them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from sce_desktop.controllers.keymap import Keymap
from sce_desktop.controllers.messages import Messages
from sce_desktop.core.errors import UserError
from sce_desktop.settings import Settings, Value


class Preferences(QObject):
    """Settings and keyboard shortcuts; every change is on the disk before ``settingsChanged``."""

    settingsChanged = Signal(object)  # keys of the settings that changed

    def __init__(self, settings: Settings, messages: Messages, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.keymap = Keymap(settings)
        self._messages = messages

    def change_setting(self, key: str, value: Value) -> None:
        """Set and write one setting."""
        try:
            self.settings[key] = value
            self.settings.save()
        except UserError as error:
            self._messages.notify_of_program(str(error), "warn")
        self.settingsChanged.emit({key})
