"""The menus: every command of the window with its keys. The command palette offers the same actions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QDialog, QMainWindow, QMenu, QWidget

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.text import menu_text
from sce_desktop.ui.discover.discover_dialog import DiscoverDialog
from sce_desktop.ui.evaluate.agreement_dialog import AgreementDialog
from sce_desktop.ui.evaluate.final_dialog import FinalDialog
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.dialog_parts import GUIDE_ACTION, open_dialog
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.kit.palette import plain_text
from sce_desktop.ui.kit.resize_keys import LARGER, SMALLER, STEP, resize_focused
from sce_desktop.ui.kit.theme import Mode
from sce_desktop.ui.labels.label_sets_dialog import LabelSetsDialog
from sce_desktop.ui.models.models_dialog import ModelsDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.columns_dialog import ColumnsDialog
from sce_desktop.ui.rows.purge_dialog import PurgeDialog
from sce_desktop.ui.rows.table_looks import ROW_LINES
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from sce_desktop.ui.window.docks import PanelPage
from sce_desktop.ui.window.file_commands import FileCommands
from sce_desktop.ui.window.focus_mode import FocusMode
from sce_desktop.ui.window.help_commands import HelpCommands
from sce_desktop.ui.window.review_commands import ReviewCommands
from sce_desktop.ui.window.settings_commands import SettingsCommands
from sce_desktop.ui.window.tool_bar import ToolBar
from sce_desktop.ui.window.zone_keys import ZoneKeys
from sce_desktop.ui.window.zones import Zones

_THEMES: tuple[tuple[Mode, str], ...] = (
    ("system", N_("System theme")),
    ("light", N_("Light theme")),
    ("dark", N_("Dark theme")),
    ("contrast", N_("High-contrast theme")),
)
_HISTORY_MS = 100  # the names in the menu can wait for the next row


class _WindowCommands(Protocol):
    """What the main window itself can do; everything else in the menus is done by controllers."""

    @property
    def zones(self) -> Mapping[str, QWidget]: ...  # beside the rows, by name
    @property
    def docks(self) -> Mapping[str, PanelPage]: ...
    @property
    def tool_bar(self) -> ToolBar: ...
    @property
    def focus(self) -> FocusMode: ...
    @property
    def zone_keys(self) -> ZoneKeys: ...
    @property
    def beside(self) -> Zones: ...
    @property
    def file_commands(self) -> FileCommands: ...
    @property
    def review_commands(self) -> ReviewCommands: ...
    @property
    def settings_commands(self) -> SettingsCommands: ...
    @property
    def help_commands(self) -> HelpCommands: ...
    def ask_find(self) -> object: ...
    def show_palette(self) -> object: ...
    def toggle_panels(self) -> object: ...
    def toggle_full_screen(self) -> object: ...
    def take_tour(self) -> object: ...


class Menus(QObject):
    """Builds the menu bar of the main window and keeps its actions."""

    def __init__(
        self, window: QMainWindow, commands: _WindowCommands, controllers: Controllers, theme: Theme
    ) -> None:
        super().__init__(window)
        self._window = window
        self._commands = commands
        self._controllers = controllers
        self._with_project: list[QAction] = []
        self._history_soon = CalmTimer(self, interval=_HISTORY_MS)
        self._history_soon.calm.connect(self.show_history)
        self._build_file(controllers)
        self._build_edit()
        self._build_run(controllers)
        self._build_review(controllers)
        self._build_view(controllers, theme)
        self._build_help()

    def set_project_open(self, on: bool) -> None:
        """Enable or disable what needs a project."""
        for action in self._with_project:
            action.setEnabled(on)
        self.show_history()

    @Slot()
    def show_history(self) -> None:
        """Name what would be undone and redone."""
        project = self._controllers.workspace.project
        undo = redo = ""
        if project is not None:
            # A file that has just gone is reported by whoever reads rows of it.
            with contextlib.suppress(UserError), project.snapshot():
                undo, redo = project.undo_text(), project.redo_text()
        for action, alone, named, change in (
            (self._undo, _("&Undo"), N_("&Undo: {change}"), undo),
            (self._redo, _("&Redo"), N_("&Redo: {change}"), redo),
        ):
            action.setText(_(named, change=menu_text(change)) if change else alone)
            action.setEnabled(bool(change) and not self._controllers.workspace.read_only)

    @Slot(object)
    def ask_purge(self, asked: PurgeScope | None = None) -> None:
        """Show what would be deleted for good; None: of what is selected."""
        c = self._controllers
        if c.workspace.project is not None and not c.workspace.refuses_edit():
            open_dialog(PurgeDialog(c.workspace, c.navigation, c.projects, asked, self._window))

    def all_actions(self) -> list[QAction]:
        """Every action in the order of the menus."""
        menus = (entry.menu() for entry in self._window.menuBar().actions())
        return [action for menu in menus if isinstance(menu, QMenu) for action in menu.actions()]

    def _menu(self, title: str) -> QMenu:
        return self._window.menuBar().addMenu(title)

    def _add(
        self,
        menu: QMenu,
        text: str,
        do: Callable[[], object],
        *,
        keys: QKeySequence.StandardKey | str | None = None,
        icon: str = "",
        project: bool = False,
    ) -> QAction:
        """Add an action; ``text`` is marked by `N_`. ``project``: only while a project is open."""
        action = QAction(_(text), self._window)
        action.setObjectName(text.replace("&", "").rstrip("…"))
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
            key = action.shortcut().toString(QKeySequence.SequenceFormat.PortableText)
            self._controllers.preferences.keymap.menu_keys[key] = plain_text(action)
        if icon:
            set_icon(action, icon, "muted")
        action.setProperty("menu_name", plain_text(menu.menuAction()))
        action.triggered.connect(lambda _=False: do())
        menu.addAction(action)
        if project:
            self._with_project.append(action)
        return action

    def _build_file(self, controllers: Controllers) -> None:
        standard, settings = QKeySequence.StandardKey, self._commands.settings_commands
        menu, files = self._menu(_("&File")), self._commands.file_commands
        self._add(menu, N_("&Open…"), files.ask_open, keys=standard.Open, icon="open")
        self._add(menu, N_("&Add rows…"), files.ask_append, keys="Ctrl+Shift+O", icon="add", project=True)
        self._add(menu, N_("&Export…"), files.ask_export, keys="Ctrl+E", icon="export", project=True)
        self._add(menu, N_("Save a &copy…"), files.ask_copy, keys="Ctrl+Shift+S", icon="save", project=True)
        self._add(menu, N_("Close &project"), controllers.projects.close_project, keys="Ctrl+W", project=True)
        menu.addSeparator()
        self._add(menu, N_("Try the &sample"), controllers.projects.open_sample, icon="play")
        self._add(menu, N_("Se&ttings…"), settings.show_settings, keys="Ctrl+,", icon="settings")
        self._add(menu, N_("&Quit"), self._window.close, keys="Ctrl+Q")

    def _build_edit(self) -> None:
        menu = self._menu(_("&Edit"))
        self._undo = self._add(
            menu,
            N_("&Undo"),
            self._controllers.edits.undo,
            keys=QKeySequence.StandardKey.Undo,
            icon="undo",
            project=True,
        )
        self._redo = self._add(
            menu, N_("&Redo"), self._controllers.edits.redo, keys="Ctrl+Shift+Z", icon="redo", project=True
        )
        self._redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        self._controllers.workspace.historyChanged.connect(self._history_soon.start)
        self._controllers.workspace.annotationsChanged.connect(self._history_soon.start)
        self._controllers.workspace.labelsChanged.connect(self._history_soon.start)
        menu.addSeparator()
        find = self._commands.ask_find
        self._add(menu, N_("Delete for &good…"), self.ask_purge, project=True)
        self._controllers.navigation.purgeAsked.connect(self.ask_purge)
        menu.addSeparator()
        self._add(menu, N_("&Find…"), find, keys=QKeySequence.StandardKey.Find, icon="search", project=True)
        self._add(menu, N_("&Command palette…"), self._commands.show_palette, keys="Ctrl+K", icon="command")

    def _build_run(self, controllers: Controllers) -> None:
        menu = self._menu(_("&Run"))
        self._add(menu, N_("&Score"), controllers.scorer.start, keys="F5", icon="play", project=True)
        self._add(
            menu, N_("S&top scoring"), controllers.scorer.stop, keys="Shift+F5", icon="stop", project=True
        )
        self._add(
            menu, N_("&Pause or resume scoring"), controllers.scorer.long.toggle, keys="Ctrl+F5", project=True
        )
        menu.addSeparator()
        table = controllers.scorer.table.action(self._window)
        table.setObjectName("Joint prediction")
        table.setProperty("menu_name", plain_text(menu.menuAction()))
        menu.addAction(table)
        menu.setToolTipsVisible(True)
        self._add(
            menu,
            N_("&Models…"),
            self._opener(lambda c, w: ModelsDialog(c.scorer, c.models, c.preferences, w)),
            icon="model",
        )

    def _build_review(self, controllers: Controllers) -> None:
        menu = self._menu(_("Revie&w"))
        self._add(menu, N_("Start &reviewing"), controllers.review.begin, icon="play", project=True)
        accept, similar = (
            self._commands.review_commands.ask_accept,
            lambda: controllers.review.show_similar(controllers.navigation.current_row),
        )
        self._add(menu, N_("&Accept predictions…"), accept, keys="Ctrl+Return", icon="check", project=True)
        self._add(
            menu,
            N_("Confidence &threshold…"),
            self._opener(lambda c, w: ThresholdDialog(c.workspace, c.edits, c.scorer, w)),
            icon="unsure",
            project=True,
        )
        self._add(
            menu,
            N_("F&inal labels…"),
            self._opener(lambda c, w: FinalDialog(c.workspace, c.edits, c.preferences, c.audit, w)),
            icon="check",
            project=True,
        )
        menu.addSeparator()
        self._add(menu, N_("&Similar rows"), similar, icon="search", project=True)
        duplicates = partial(controllers.navigation.panelAsked.emit, "Duplicates")
        self._add(menu, N_("Find near &duplicates…"), duplicates, icon="copy", project=True)
        self._add(
            menu,
            N_("Filter by a &column…"),
            self._opener(lambda c, w: ColumnFilterDialog(c.workspace, c.navigation, w)),
            icon="filter",
            project=True,
        )
        menu.addSeparator()
        self._add(
            menu,
            N_("&Merge the selected labels…"),
            self._commands.review_commands.merge_labels,
            keys="Ctrl+M",
            icon="merge",
            project=True,
        )
        menu.addSeparator()
        self._digits(menu, controllers)
        self._repeats(menu, controllers)
        menu.addSeparator()
        self._add(
            menu,
            N_("Import another a&nnotator's labels…"),
            self._commands.review_commands.ask_annotator,
            icon="import",
            project=True,
        )
        self._add(
            menu,
            N_("Inter-annotator a&greement…"),
            self._opener(lambda c, w: AgreementDialog(c.workspace, c.navigation, c.edits, w)),
            icon="check",
            project=True,
        )
        self.suggest = self._add(
            menu,
            N_("Suggest labels from the r&ows…"),
            self._opener(lambda c, w: DiscoverDialog(c.workspace, c.edits, c.scorer, w)),
            icon="label",
            project=True,
        )
        self._add(
            menu,
            N_("&Label sets and versions…"),
            self._opener(lambda c, w: LabelSetsDialog(c.workspace, c.edits, w)),
            icon="label",
            project=True,
        )

    def _tick(self, action: QAction, is_on: Callable[[], bool], hint: str) -> None:
        """Let ``action`` have a tick while ``is_on``, which settings decide."""
        action.setCheckable(True)
        action.setChecked(is_on())
        action.setToolTip(hint)
        self._controllers.preferences.settingsChanged.connect(lambda _: action.setChecked(is_on()))

    def _repeats(self, menu: QMenu, controllers: Controllers) -> None:
        """Whether rows come again in focus mode."""
        again = self._add(menu, N_("Check my consistenc&y"), controllers.repeats.toggle)
        hint = _("Focus mode repeats 1 in 20 rows without your first label")
        self._tick(again, lambda: controllers.repeats.on, hint)

    def _digits(self, menu: QMenu, controllers: Controllers) -> None:
        """Which label a digit means: one of two."""
        texts = {"rank": N_("Digit &keys by rank"), "fixed": N_("&Fixed digit keys")}
        self._choices(menu, controllers, "digit_keys", texts, controllers.review.choose_digits)

    def _row_lines(self, menu: QMenu, controllers: Controllers) -> None:
        """How many lines of text a row of the table shows."""
        change = partial(controllers.preferences.change_setting, "row_height")
        self._choices(menu, controllers, "row_height", ROW_LINES, change, project=True)

    def _choices(
        self,
        menu: QMenu,
        controllers: Controllers,
        setting: str,
        texts: Mapping[str, str],
        choose: Callable[[str], object],
        *,
        project: bool = False,
    ) -> None:
        """Add the values of a setting, of which one holds."""
        group, choices = QActionGroup(self), {}
        for value, text in texts.items():
            choices[value] = self._add(menu, text, partial(choose, value), project=project)
            choices[value].setCheckable(True)
            group.addAction(choices[value])

        def show() -> None:
            choices[str(controllers.preferences.settings[setting])].setChecked(True)

        controllers.preferences.settingsChanged.connect(lambda _: show())
        show()

    def _build_view(self, controllers: Controllers, theme: Theme) -> None:
        menu = self._menu(_("&View"))
        for name, panel in self._commands.zones.items():
            toggle = QAction(_(name), self._window, checkable=True, checked=True)
            toggle.setObjectName(name)
            toggle.setProperty("menu_name", plain_text(menu.menuAction()))
            toggle.toggled.connect(panel.setVisible)
            menu.addAction(toggle)
            self._with_project.append(toggle)
        for dock in self._commands.docks.values():
            self._add(menu, dock.part.name, dock.toggle, keys=dock.part.keys, project=dock.part.project)
        self._add(menu, N_("&Close or reopen panels"), self._commands.toggle_panels, keys="Ctrl+0")
        self._add(menu, N_("Move panels to the next &side"), self._commands.beside.move_panels)
        menu.addSeparator()
        zones = self._commands.zone_keys
        self._add(menu, N_("Next &zone"), partial(zones.step, 1), keys="F6")
        self._add(menu, N_("Previous zone"), partial(zones.step, -1), keys="Shift+F6")
        self._add(menu, N_("&Enlarge this zone"), partial(resize_focused, STEP), keys=LARGER)
        self._add(menu, N_("Shrink this zone"), partial(resize_focused, -STEP), keys=SMALLER)
        menu.addSeparator()
        self._row_lines(menu, controllers)
        self._add(
            menu,
            N_("C&olumns…"),
            self._opener(lambda c, w: ColumnsDialog(c.workspace, c.navigation, w)),
            icon="table",
            project=True,
        )
        menu.addSeparator()
        group = QActionGroup(self)
        for mode, text in _THEMES:
            choice = self._add(menu, text, partial(self._commands.settings_commands.choose_theme, mode))
            choice.setCheckable(True)
            choice.setChecked(theme.mode == mode)
            group.addAction(choice)
        self._density(menu, controllers)
        menu.addSeparator()
        blind = self._add(
            menu, N_("&Blind mode"), controllers.navigation.toggle_blind, keys="Ctrl+B", project=True
        )
        self._tick(blind, lambda: controllers.navigation.blind, _("Hide predictions while you label"))
        menu.addSeparator()
        focus = self._add(menu, N_("Focus &mode"), self._commands.focus.toggle, keys="F9", project=True)
        focus.setCheckable(True)
        focus.setToolTip(_("One text, its labels, nothing else"))
        self._commands.focus.changed.connect(focus.setChecked)
        self._add(menu, N_("&Full screen"), self._commands.toggle_full_screen, keys="F11")

    def _density(self, menu: QMenu, controllers: Controllers) -> None:
        """Whether there is little room around things."""
        preferences = controllers.preferences

        def is_compact() -> bool:
            return bool(preferences.settings["density"] == "compact")

        def toggle() -> None:
            preferences.change_setting("density", "comfortable" if is_compact() else "compact")

        compact = self._add(menu, N_("Compact density"), toggle)
        self._tick(compact, is_compact, _("Less room around buttons, fields and rows"))

    def _opener(self, dialog: Callable[[Controllers, QWidget], QDialog]) -> Callable[[], object]:
        return lambda: open_dialog(dialog(self._controllers, self._window))

    def _build_help(self) -> None:
        menu, about = self._menu(_("&Help")), self._commands.help_commands
        guide = self._add(menu, N_("User &guide"), about.show_guide, keys="F1", icon="help")
        guide.setObjectName(GUIDE_ACTION)
        self._add(
            menu,
            N_("&Keyboard shortcuts…"),
            self._opener(lambda c, w: KeysDialog(c.workspace, c.preferences, w)),
            keys="Ctrl+/",
            icon="command",
        )
        self._add(menu, N_("Take the &tour"), self._commands.take_tour, icon="play")
        menu.addSeparator()
        self._add(menu, N_("Copy &diagnostics"), about.copy_diagnostics, icon="copy")
        self._add(menu, N_("Open the &log folder"), about.open_log_folder, icon="folder")
        self._add(menu, N_("Lic&ences…"), about.show_licences, icon="file")
        self._add(menu, N_("&About SCE Desktop"), about.show_about, icon="info")
