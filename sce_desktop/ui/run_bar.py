"""Scoring in the tool bar: the button, which model, which baselines, on which device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from sce_desktop.core.progress import Progress
from sce_desktop.tasks.models import DEFAULT_MODEL, Baseline, installed_models
from sce_desktop.ui.choices import DEVICES
from sce_desktop.ui.dialog_parts import open_dialog
from sce_desktop.ui.icons import set_icon
from sce_desktop.ui.row_actions import menu_text
from sce_desktop.ui.rows_text import alias_title
from sce_desktop.ui.scoring import chosen_baselines
from sce_desktop.ui.session import Session
from sce_desktop.ui.theme import SPACE_S, chip_width, px, set_role

SIMILARITY = "similarity"
MOST_VERSIONS = 8  # the newest ones; the Fine-tune panel has all
_SHOWS = {
    "similarity": "Also show which label's wording is most similar to the text: to compare with",
    "llm": "Also show what a language model answers when asked for the label: slow, to compare with",
}


def list_models(*, progress: Progress) -> list[tuple[str, str]]:
    """Return name and kind of every model that is here."""
    progress.check()
    return [(entry.name, entry.kind) for entry in installed_models()]


class RunBar(QWidget):
    """Follows the session and its scorer."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._scorer = session.scorer
        self._models: list[tuple[str, str]] = [(DEFAULT_MODEL, "sce")]
        self._folders: list[str] = []
        self.setAccessibleName("Scoring")
        self.score_button = QPushButton("Score")
        self.score_button.setAccessibleName("Score")
        set_role(self.score_button, "primary")
        self.score_button.clicked.connect(self._on_button)
        self.model_button = self._button("Model", self._open_models)
        self.baseline_button = QPushButton()
        self.baseline_button.setCheckable(True)
        set_role(self.baseline_button, "chip")
        self.baseline_button.clicked.connect(self._toggle_baseline)
        self.device_button = self._button("Device", self._open_devices)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_S), 0, px(SPACE_S), 0)
        layout.setSpacing(px(SPACE_S))
        for widget in (self.score_button, self.model_button, self.baseline_button, self.device_button):
            layout.addWidget(widget)
        session.projectOpened.connect(self._on_opened)
        session.projectClosed.connect(self._show)
        session.labelsChanged.connect(self._show)
        session.countsChanged.connect(self._show)
        self._scorer.modelsChanged.connect(self._show)
        self._show()

    def _button(self, name: str, do: Callable[[], None]) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(name)
        button.clicked.connect(lambda _=False: do())
        return button

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show(self) -> None:
        scorer = self._scorer
        running = scorer.job is not None or scorer.estimating
        text, icon, reason = ("Stop", "stop", "") if running else ("Score", "play", scorer.why_not())
        self.score_button.setText(text)
        self.score_button.setAccessibleName(text)
        self.score_button.setEnabled(not reason)
        self.score_button.setAccessibleDescription(reason)
        tip = "Stop; scored rows keep their scores (Shift+F5)" if running else "Score every row (F5)"
        self.score_button.setToolTip(reason or tip)
        set_icon(self.score_button, icon, "muted" if reason else "on_accent")
        name = scorer.title
        shown = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, px(140))
        self.model_button.setText(f"{shown} ▾")
        self.model_button.setAccessibleDescription(name)
        self.model_button.setToolTip(f"Model that scores: {name if scorer.version else scorer.model}")
        on, baseline = bool(scorer.baselines), self._baseline()
        title = alias_title(baseline.alias)
        self.baseline_button.setText(f"{title} ✓" if on else f"+ {title}")
        self.baseline_button.setMinimumWidth(chip_width(self.baseline_button.text()))
        self.baseline_button.setAccessibleName(f"{title} baseline")
        self.baseline_button.setToolTip(_SHOWS[baseline.kind])
        self.baseline_button.setChecked(on)
        device = DEVICES.get(scorer.device, scorer.device)
        self.device_button.setText(f"{device} ▾")
        self.device_button.setAccessibleDescription(device)
        self.device_button.setToolTip(f"Where models run: {scorer.device_text}")

    def _baseline(self) -> Baseline:
        """The baseline that is shown, or that the button would show."""
        return Baseline.parse((self._scorer.baselines or self._offered())[0])

    def _offered(self) -> tuple[str, ...]:
        return chosen_baselines(self._session.settings) or (SIMILARITY,)

    @Slot()
    def _on_opened(self) -> None:
        self._show()
        self._list_models()

    # --- scoring -------------------------------------------------------------------------------------------

    @Slot()
    def _on_button(self) -> None:
        if self._scorer.job is None and not self._scorer.estimating:
            self._scorer.start()
            return
        self._scorer.stop()
        self.score_button.setEnabled(False)
        self.score_button.setToolTip("Stopping…")

    # --- choices -------------------------------------------------------------------------------------------

    @Slot()
    def _toggle_baseline(self) -> None:
        scorer = self._scorer
        scorer.set_baselines(() if scorer.baselines else self._offered())
        self._show()
        if scorer.baselines and self._session.runs and not scorer.why_not():
            if self._baseline().kind == SIMILARITY:
                scorer.score()  # the text vectors are there: this is quick
            else:
                scorer.start()

    def _list_models(self) -> None:
        job = self._session.lanes.files.submit(list_models, title="Looking for models", quiet=True)
        job.finished.connect(self._on_models)

    @Slot(object)
    def _on_models(self, models: list[tuple[str, str]]) -> None:
        self._models = models

    def _popup(self, menu: QMenu, button: QWidget) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(button.mapToGlobal(QPoint(0, button.height() + px(2))))

    def _open_models(self) -> None:
        self._popup(self.model_menu(), self.model_button)

    def model_menu(self) -> QMenu:
        """The models that can score, and a way to a folder."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        names = [name for name, kind in self._models if kind == "sce"]
        for name in dict.fromkeys((*names, *self._folders, self._scorer.model)):
            chosen = self._scorer.version is None and self._scorer.model == name
            self._choice(menu, group, name, chosen, lambda name=name: self._choose(name))
        for version in self._session.tuner.versions[-MOST_VERSIONS:]:
            use = version.id == (self._scorer.version.id if self._scorer.version else None)
            self._choice(
                menu, group, version.title, use, lambda id_=version.id: self._scorer.use_version(id_)
            )
        embedders = [name for name, kind in self._models if kind == "similarity"]
        if embedders:
            menu.addSeparator()
            baselines = menu.addMenu("Similarity by")
            baseline = self._baseline()
            similar = (baseline.model or embedders[0]) if baseline.kind == SIMILARITY else ""
            of_baselines = QActionGroup(baselines)
            for name in embedders:
                self._choice(
                    baselines,
                    of_baselines,
                    name,
                    name == similar,
                    lambda name=name: self._choose_baseline(name),
                )
        menu.addSeparator()
        folder = QAction("Add folder…", menu)
        set_icon(folder, "folder", "muted")
        folder.triggered.connect(self._ask_folder)
        menu.addAction(folder)
        return menu

    def _choice(
        self, menu: QMenu, group: QActionGroup, text: str, checked: bool, do: Callable[..., Any]
    ) -> None:
        action = QAction(menu_text(text), menu, checkable=True, checked=checked)
        action.triggered.connect(lambda _=False: do())
        group.addAction(action)
        menu.addAction(action)

    def _choose(self, name: str) -> None:
        self._scorer.set_model(name)

    def _choose_baseline(self, name: str) -> None:
        self._scorer.set_baselines((f"{SIMILARITY}:{name}",))

    @Slot()
    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, "Folder of a model")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(self.add_folder)
        open_dialog(dialog)

    @Slot(str)
    def add_folder(self, folder: str) -> None:
        """Score with the model in ``folder`` from now on."""
        if folder not in self._folders:
            self._folders.append(folder)
        self._choose(folder)

    def _open_devices(self) -> None:
        self._popup(self.device_menu(), self.device_button)

    def device_menu(self) -> QMenu:
        """Where models can run; of a device that is here but cannot be used, why not and what to do."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        names = {"auto": DEVICES["auto"], "cpu": DEVICES["cpu"]}
        broken = []
        for device in self._scorer.devices:
            if not device.usable:
                broken.append(device)
            elif device.name != "cpu":
                names[device.name] = device.description
        for device_name, text in names.items():
            self._choice(
                menu,
                group,
                text,
                device_name == self._scorer.device,
                lambda device_name=device_name: self._scorer.set_device(device_name),
            )
        if broken:
            menu.addSeparator()
        for device in broken:
            told = QAction(menu_text(f"{device.description}: {device.problem}"), menu)
            told.setEnabled(False)
            menu.addAction(told)
        return menu
