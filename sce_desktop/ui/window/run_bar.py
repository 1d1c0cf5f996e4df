"""Scoring in the tool bar: the button, which model, which baselines, on which device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from sce_desktop.controllers.baselines import chosen_baselines
from sce_desktop.controllers.model_advice import ModelAdvice
from sce_desktop.controllers.model_store import ModelStore
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.tuning import Tuner
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.choices import DEVICES
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind, model_title
from sce_desktop.core.text import menu_text
from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, Baseline, default_of, similarity_beside
from sce_desktop.ui.kit.dialog_parts import ask_folder, open_dialog
from sce_desktop.ui.kit.elided_button import ElidedButton
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_S, chip_width, px, set_role

SIMILARITY: ModelKind = "similarity"
MOST_VERSIONS = 8  # the newest ones; the Fine-tune panel has all
LLM: ModelKind = "llm"
_MODEL = 280  # pixels for the model at most: a folder's name may be of any length
_SIMILARITY_SHOWS = _("Baseline: the label whose wording is most similar to the text")
_LLM_SHOWS = _("Baseline: the label that a language model chooses (slow)")
_LLM_ROWS = {"screen": _("For visible rows"), "all": _("For all rows")}
_LLM_CHIPS = {"screen": _("LLM: visible ✓ ▾"), "all": _("LLM: all ✓ ▾")}

Button = TypeVar("Button", bound=QToolButton)


class RunBar(QWidget):
    """Follows the scorer and the open project."""

    def __init__(
        self,
        workspace: Workspace,
        scorer: Scorer,
        tuner: Tuner,
        models: ModelStore,
        advice: ModelAdvice,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._scorer = scorer
        self._tuner = tuner
        self._store = models
        self._advice = advice
        self._preferences = preferences
        self._names: list[tuple[str, str]] = [(DEFAULT_MODEL, "sce")]
        self._folders: list[str] = []
        self._reason = ""  # why nothing can be scored
        self.setAccessibleName(_("Scoring"))
        self.score_button = QPushButton(_("Score"))
        self.score_button.setAccessibleName(_("Score"))
        set_role(self.score_button, "primary")
        self.score_button.clicked.connect(self._on_button)
        self.pause_button = QPushButton(_("Pause"))
        self.pause_button.setAccessibleName(_("Pause scoring"))
        self.pause_button.setToolTip(_("Pause, until you resume; also after a restart (Ctrl+F5)"))
        set_role(self.pause_button, "quiet")
        set_icon(self.pause_button, "pause", "muted")
        self.pause_button.clicked.connect(scorer.long.pause)
        self.model_button = self._button(_("Model"), self._open_models, ElidedButton())
        self.model_button.setMaximumWidth(px(_MODEL))
        self.baseline_button = QPushButton()
        self.baseline_button.setCheckable(True)
        set_role(self.baseline_button, "chip")
        self.baseline_button.clicked.connect(self._toggle_baseline)
        self.llm_button = self._button(_("LLM baseline"), self._open_llm, QToolButton())
        self.llm_button.setCheckable(True)
        set_role(self.llm_button, "chip")
        self.device_button = self._button(_("Device"), self._open_devices, QToolButton())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(px(SPACE_S), 0, px(SPACE_S), 0)
        layout.setSpacing(px(SPACE_S))
        chips = (self.baseline_button, self.llm_button)
        for widget in (self.score_button, self.pause_button, self.model_button, *chips, self.device_button):
            layout.addWidget(widget)
        workspace.projectOpened.connect(self._on_opened)
        workspace.projectClosed.connect(self._show)
        workspace.labelsChanged.connect(self._show)
        workspace.countsChanged.connect(self._on_counts)
        models.changed.connect(self._on_store)
        advice.changed.connect(self._show)
        self._scorer.modelsChanged.connect(self._show)
        self._scorer.long.changed.connect(self._show)
        self._show()

    def _button(self, name: str, do: Callable[[], None], button: Button) -> Button:
        button.setAccessibleName(name)
        button.clicked.connect(lambda _=False: do())
        return button

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show(self) -> None:
        scorer = self._scorer
        running = scorer.job is not None or scorer.estimating
        self._reason = reason = "" if running else scorer.why_not()
        score = _("Resume") if scorer.long.paused else _("Score")
        text, icon = (_("Stop"), "stop") if running else (score, "play")
        self.pause_button.setVisible(scorer.long.lasting)
        self.score_button.setText(text)
        self.score_button.setAccessibleName(text)
        self.score_button.setEnabled(not reason)
        self.score_button.setAccessibleDescription(reason)
        tip = (
            _("Stop; scored rows keep their scores (Shift+F5)")
            if running
            else _("Continue scoring where it was paused (F5)")
            if scorer.long.paused
            else _("Predict labels for all rows (F5)")
        )
        self.score_button.setToolTip(reason or tip)
        set_icon(self.score_button, icon, "muted" if reason else "on_accent")
        titled = partial(model_title, whole_table=scorer.table.used)
        full = scorer.title if scorer.version else scorer.model
        self.model_button.show_name(scorer.title, f"{titled('')} ▾")
        self._show_unread(_("Model: {model}", model=titled(full)), titled(scorer.title))
        similarity = bool(self._similarity())
        self.baseline_button.setText(_("Similarity ✓") if similarity else _("+ Similarity"))
        self.baseline_button.setMinimumWidth(chip_width(self.baseline_button.text()))
        self.baseline_button.setAccessibleName(_("Similarity baseline"))
        embedder = next((run.model for run in self._workspace.runs if run.kind == SIMILARITY), "")
        vectors = _("Text encoder: {model}", model=embedder) if similarity and embedder else ""
        self.baseline_button.setToolTip("\n".join(filter(None, (_SIMILARITY_SHOWS, vectors))))
        self.baseline_button.setChecked(similarity)
        what = _LLM_CHIPS[scorer.llm_rows] if scorer.llm else _("+ LLM ▾")
        self.llm_button.setText(what)
        self.llm_button.setMinimumWidth(chip_width(what))
        rows = _LLM_ROWS[scorer.llm_rows] if scorer.llm else _("Off")
        self.llm_button.setAccessibleDescription(rows)
        self.llm_button.setToolTip(f"{_LLM_SHOWS}\n{rows}")
        self.llm_button.setChecked(bool(scorer.llm))
        device = _(DEVICES.get(scorer.device, scorer.device))
        self.device_button.setText(
            _("Device: auto ▾") if scorer.device == "auto" else _("Device: {device} ▾", device=device)
        )
        self.device_button.setAccessibleDescription(device)
        self.device_button.setToolTip(_("Device: {device}", device=scorer.device_text))

    @Slot()
    def _on_counts(self) -> None:
        """After an edit something may be there to score, or not any more; nothing else here is counted."""
        running = self._scorer.job is not None or self._scorer.estimating
        if self._reason != ("" if running else self._scorer.why_not()):
            self._show()

    def _show_unread(self, tip: str, title: str) -> None:
        """Mark the model where it cannot read the rows or labels, and say so."""
        unread = self._advice.warning
        self.model_button.setToolTip("\n".join(filter(None, (tip, unread))))
        self.model_button.setAccessibleDescription("\n".join(filter(None, (title, unread))))
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonTextOnly
        self.model_button.setToolButtonStyle(beside if unread else alone)
        if unread:
            set_icon(self.model_button, "warning", "warn")

    def _similarity(self) -> str:
        """The similarity baseline that is shown; empty if there is none."""
        return next((text for text in self._scorer.baselines if Baseline.parse(text).kind == SIMILARITY), "")

    @Slot()
    def _on_opened(self) -> None:
        self._show()
        self._store.refresh()

    # --- scoring -------------------------------------------------------------------------------------------

    @Slot()
    def _on_button(self) -> None:
        if self._scorer.job is None and not self._scorer.estimating:
            if self._scorer.long.paused:
                self._scorer.long.resume()
            else:
                self._scorer.start()
            return
        self._scorer.stop()
        self.score_button.setEnabled(False)
        self.score_button.setToolTip(_("Stopping…"))

    # --- choices -------------------------------------------------------------------------------------------

    @Slot()
    def _toggle_baseline(self) -> None:
        scorer = self._scorer
        if self._similarity():
            scorer.hide_baselines(SIMILARITY)
        else:
            chosen = chosen_baselines(self._preferences.settings)
            scorer.show_baseline(
                next((text for text in chosen if Baseline.parse(text).kind == SIMILARITY), SIMILARITY)
            )
        self._show()
        if self._similarity() and self._workspace.runs and not scorer.why_not():
            scorer.follow()  # the text vectors are there: this is quick

    @Slot()
    def _on_store(self) -> None:
        self._on_models([(one.name, one.kind) for one in self._store.installed if not one.problem])

    def _on_models(self, models: list[tuple[str, str]]) -> None:
        self._names = models

    def _popup(self, menu: QMenu, button: QWidget) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = button.width() - menu.sizeHint().width() if mirrored else 0
        menu.popup(button.mapToGlobal(QPoint(left, button.height() + px(2))))

    def _open_models(self) -> None:
        self._popup(self.model_menu(), self.model_button)

    def model_menu(self) -> QMenu:
        """The models that can score, and a way to a folder."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        names = [name for name, kind in self._names if kind == "sce"]
        for name in dict.fromkeys((*names, *self._folders, self._scorer.model)):
            chosen = self._scorer.version is None and self._scorer.model == name
            self._choice(menu, group, name, chosen, lambda name=name: self._choose(name))
        for version in self._tuner.versions[-MOST_VERSIONS:]:
            use = version.id == (self._scorer.version.id if self._scorer.version else None)
            self._choice(
                menu, group, version.title, use, lambda id_=version.id: self._scorer.use_version(id_)
            )
        menu.addSeparator()
        menu.addAction(self._scorer.table.action(menu))
        menu.setToolTipsVisible(True)
        embedders = [name for name, kind in self._names if kind == "similarity"]
        if embedders:
            menu.addSeparator()
            baselines = menu.addMenu(_("Similarity model"))
            shown = self._similarity()
            usual = similarity_beside(self._scorer.model)
            similar = (Baseline.parse(shown).model or usual) if shown else ""
            of_baselines = QActionGroup(baselines)
            for name in dict.fromkeys((*embedders, usual)):
                self._choice(
                    baselines,
                    of_baselines,
                    name,
                    name == similar,
                    lambda name=name: self._choose_baseline(name),
                )
        menu.addSeparator()
        folder = QAction(_("Add folder…"), menu)
        set_icon(folder, "folder", "muted")
        folder.triggered.connect(self._ask_folder)
        menu.addAction(folder)
        self._add_manager(menu)
        return menu

    def _open_llm(self) -> None:
        self.llm_button.setChecked(bool(self._scorer.llm))  # the click has turned it
        self._popup(self.llm_menu(), self.llm_button)

    def llm_menu(self) -> QMenu:
        """Which rows an LLM scores, and which LLM."""
        scorer, menu = self._scorer, QMenu(self)
        names = [name for name, kind in self._names if kind == LLM]
        rows = QActionGroup(menu)
        self._choice(menu, rows, _("Off"), not scorer.llm, lambda: scorer.hide_baselines(LLM))
        for key, text in _LLM_ROWS.items():
            on = bool(scorer.llm) and scorer.llm_rows == key
            self._choice(menu, rows, text, on, lambda key=key: self._ask_llm_about(key))
            rows.actions()[-1].setEnabled(bool(names or scorer.llm))
        menu.addSeparator()
        present = Baseline.parse(scorer.llm).model or default_of("llm") if scorer.llm else ""
        models = QActionGroup(menu)
        for name in dict.fromkeys((*names, *filter(None, [present]))):
            self._choice(menu, models, name, name == present, lambda name=name: self._choose_llm(name))
        if not names:
            get = QAction(_("Download an LLM…"), menu)
            set_icon(get, "import", "muted")
            get.triggered.connect(self._get_llm)
            menu.addAction(get)
        menu.addSeparator()
        self._add_manager(menu)
        return menu

    def _ask_llm_about(self, rows: str) -> None:
        scorer = self._scorer
        scorer.set_llm_rows(rows)
        if scorer.llm:
            scorer.go_on()
        else:
            names = [name for name, kind in self._names if kind == LLM]
            default = default_of("llm")
            scorer.try_baseline(f"{LLM}:{default if default in names else names[0]}")

    def _choose_llm(self, name: str) -> None:
        self._scorer.try_baseline(f"{LLM}:{name}")

    def _add_manager(self, menu: QMenu) -> None:
        manage = QAction(_("Models…"), menu)
        set_icon(manage, "model", "muted")
        manage.triggered.connect(self._manage)
        menu.addAction(manage)

    @Slot()
    def _manage(self) -> None:
        from sce_desktop.ui.models.models_dialog import ModelsDialog

        open_dialog(ModelsDialog(self._scorer, self._store, self._preferences, self.window()))

    @Slot()
    def _get_llm(self) -> None:
        from sce_desktop.ui.models.models_dialog import ModelsDialog

        open_dialog(ModelsDialog(self._scorer, self._store, self._preferences, self.window(), kind=LLM))

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
        self._scorer.try_baseline(f"{SIMILARITY}:{name}")

    @Slot()
    def _ask_folder(self) -> None:
        ask_folder(self, _("Model folder"), self.add_folder)

    @Slot(str)
    def add_folder(self, folder: str) -> None:
        """Score with the model in ``folder`` from now on."""
        if folder not in self._folders:
            self._folders.append(folder)
        self._choose(folder)

    def _open_devices(self) -> None:
        self._popup(self.device_menu(), self.device_button)

    def device_menu(self) -> QMenu:
        """Where models can run; for a device that cannot be used, why not and what to do."""
        menu = QMenu(self)
        group = QActionGroup(menu)
        names = {"auto": _(DEVICES["auto"]), "cpu": _(DEVICES["cpu"])}
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
            reason = QAction(
                menu_text(_("{device}: {problem}", device=device.description, problem=device.problem)),
                menu,
            )
            reason.setEnabled(False)
            menu.addAction(reason)
        return menu
