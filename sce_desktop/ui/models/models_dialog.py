"""The models manager: installed and available models, their terms, and what each is used for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.model_store import ModelStore
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.words import progress_text
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind
from sce_desktop.ui.kit.dialog_parts import ask_folder, dialog_column, open_dialog, problem_label
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.motion import ProgressBar
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role
from sce_desktop.ui.models.model_questions import CodeQuestion, FetchQuestion, RemoveQuestion
from sce_desktop.ui.models.models_list import ModelsList

if TYPE_CHECKING:
    from sce_desktop.core.models import Known

_USES = {"sce": _("Score with it"), "similarity": _("Use for similarity"), "llm": _("Use as the LLM")}
_PLAYS = {
    "sce": _("Scores texts against the labels."),
    "similarity": _("Embeds texts: for the similarity baseline, or as the base of a new SCE (pretrain)."),
    "llm": _("Predicts labels from a prompt: for the LLM baseline."),
}


class ModelsDialog(QDialog):
    """Follows the `ModelStore`; work that was begun here continues when it is closed.

    ``kind``: begin at a model that plays this part, the default one of it if it is in the list.
    """

    def __init__(
        self,
        scorer: Scorer,
        models: ModelStore,
        preferences: Preferences,
        parent: QWidget | None = None,
        *,
        kind: ModelKind | None = None,
    ) -> None:
        super().__init__(parent)
        self._scorer = scorer
        self._preferences = preferences
        self._store = models
        self._waiting: Job | None = None  # a question about a model that the dialog waits for
        self._folder = Path()  # that it asks about
        self.setWindowTitle(_("Models"))
        self.setAccessibleName(_("Models"))
        self.models = ModelsList(models, kind, self)
        self.list = self.models.tree
        self.list.currentItemChanged.connect(self._show_chosen)
        layout = dialog_column(self)
        layout.addWidget(self.list, 1)
        layout.addLayout(self._details())
        layout.addLayout(self._hub())
        self.problem = problem_label()
        layout.addWidget(self.problem)
        layout.addLayout(self._bottom())
        self.resize(px(780), px(620))
        self._store.changed.connect(self.show_models)
        scorer.modelsChanged.connect(self.show_models)
        preferences.settingsChanged.connect(self._show_offline)
        self.show_models()
        self._show_offline()
        self._store.refresh()

    # --- building ------------------------------------------------------------------------------------------

    def _details(self) -> QVBoxLayout:
        self.facts = QLabel(wordWrap=True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        self.facts.setAccessibleName(_("About the selected model"))
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.outcome = QLabel(wordWrap=True)
        self.outcome.setTextFormat(Qt.TextFormat.PlainText)
        self.outcome.setAccessibleName(_("Result"))
        self.bar = ProgressBar(textVisible=False)
        self.bar.setAccessibleName(_("Progress"))
        self.use = self._button(_("Use"), self._use)
        self.get = self._button(_("Download…"), self._ask_get, "import")
        self.check = self._button(_("Verify files"), self._check, "check")
        self.remove = self._button(_("Remove…"), self._ask_remove, "delete")
        self.cancel = self._button(_("Stop"), self._cancel, "stop")
        buttons = QHBoxLayout()
        buttons.setSpacing(px(SPACE_S))
        for button in (self.use, self.get, self.check, self.remove, self.cancel):
            buttons.addWidget(button)
        buttons.addWidget(self.bar, 1)
        buttons.addStretch()
        column = QVBoxLayout()
        column.setSpacing(px(SPACE_S))
        for widget in (self.facts, self.outcome):
            column.addWidget(widget)
        column.addLayout(buttons)
        return column

    def _hub(self) -> QHBoxLayout:
        self.hub_name = QLineEdit(placeholderText=_("Another model from the hub: owner/model"))
        self.hub_name.setAccessibleName(_("Name of a model on the hub"))
        self.hub_name.returnPressed.connect(self._ask_hub)
        self.hub_get = self._button(_("Look up…"), self._ask_hub, "search")
        self.offline = QLabel(_("Downloads are off: “Stay offline” is on in the settings."), wordWrap=True)
        self.offline.setAccessibleName(_("Why downloads are off"))
        set_role(self.offline, "muted")
        self.allow = self._button(_("Allow downloads"), self._allow)
        row = QHBoxLayout()
        row.setSpacing(px(SPACE_S))
        row.addWidget(self.hub_name, 1)
        row.addWidget(self.hub_get)
        row.addWidget(self.offline, 1)
        row.addWidget(self.allow)
        return row

    def _bottom(self) -> QHBoxLayout:
        self.device = QLabel(wordWrap=True)
        self.device.setTextFormat(Qt.TextFormat.PlainText)
        self.device.setAccessibleName(_("Device"))
        set_role(self.device, "muted")
        self.add = self._button(_("Add folder…"), self._ask_folder, "folder")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setAccessibleName(_("Close"))
        self.buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(px(SPACE_S))
        row.addWidget(self.add)
        row.addWidget(self.device, 1)
        row.addWidget(self.buttons)
        return row

    def _button(self, text: str, do: object, symbol: str = "") -> QPushButton:
        button = QPushButton(text)
        button.setAccessibleName(text.rstrip("…"))
        button.setAutoDefault(False)
        button.clicked.connect(do)
        if symbol:
            set_icon(button, symbol, "muted")
        return button

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def show_models(self) -> None:
        """Draw the list again; the selection stays."""
        self.models.show_models()
        problems = [
            _("{device}: {problem}.", device=one.description, problem=one.problem)
            for one in self._scorer.devices
            if one.problem
        ]
        self.device.setText(
            " ".join((_("Models run on: {device}.", device=self._scorer.device_text), *problems))
        )
        self._show_chosen()

    @Slot()
    def _show_chosen(self) -> None:
        name, store = self.models.chosen(), self._store
        entry = store.entry(name)
        known = next((one for one in store.known if one.name == name), None)
        job = store.jobs.get(name)
        lines = [_(known.note) if known is not None and known.note else ""]
        if entry is not None:
            where = _("Comes with the program.") if entry.bundled else f"{entry.folder}"
            if entry.package:
                where = _("Installed by pip as {package}: remove it with pip.", package=entry.package)
            elif entry.code and not entry.bundled:
                where = _("{folder}. Its own program code may run.", folder=entry.folder)
            lines += [_PLAYS[entry.kind] if known is None and not entry.problem else "", entry.problem, where]
        elif known is not None:
            lines += [f"{known.terms()}."]
        self.facts.setText("\n".join(filter(None, lines)))
        note, well = store.notes.get(name, ("", True))
        self.outcome.setText(progress_text(job) if job is not None else note)
        set_role(self.outcome, "muted" if job is not None else "good" if well else "warn")
        self.outcome.setVisible(bool(self.outcome.text()))
        here = entry is not None and job is None
        usable = here and entry is not None and not entry.problem
        self.use.setVisible(usable)
        self.use.setEnabled(not store.in_use(name))
        if entry is not None:
            self.use.setText(_USES[entry.kind])
            self.use.setAccessibleName(_USES[entry.kind])
        self.check.setVisible(usable)
        self.remove.setVisible(here and entry is not None and not (entry.bundled or entry.package))
        self.remove.setEnabled(not store.in_use(name))
        self.remove.setToolTip(store.in_use(name))
        self.get.setVisible(known is not None and entry is None and job is None)
        self.get.setText(_("Resume…") if store.begun.get(name) else _("Download…"))
        self.cancel.setVisible(job is not None)
        self.bar.setVisible(job is not None)
        if job is not None:
            self._follow(name)

    def _follow(self, name: str) -> None:
        """Draw the progress of the job about the chosen model."""
        job = self._store.jobs[name]
        job.progressed.connect(self._on_progressed, Qt.ConnectionType.UniqueConnection)
        self._on_progressed(job.done, job.total, job.stage)

    @Slot(object, object, object)
    def _on_progressed(self, _done: int, _total: int | None, _stage: str) -> None:
        job = self._store.jobs.get(self.models.chosen())
        if job is None:
            return
        self.bar.setRange(0, 1000 if job.total else 0)
        if job.total:
            self.bar.setValue(int(1000 * job.done / job.total))
        self.outcome.setText(progress_text(job))
        self.models.show_state()

    @Slot()
    def _show_offline(self) -> None:
        off = bool(self._preferences.settings["offline"])
        for widget in (self.hub_name, self.hub_get):
            widget.setVisible(not off)
        for extra in (self.offline, self.allow):
            extra.setVisible(off)
        self.get.setEnabled(not off)
        self.get.setToolTip(self.offline.text() if off else "")

    # --- what can be done ----------------------------------------------------------------------------------

    @Slot()
    def _use(self) -> None:
        entry = self._store.entry(self.models.chosen())
        if entry is None:
            return
        if entry.kind == "sce":
            self._scorer.set_model(entry.name)
        else:
            self._scorer.try_baseline(f"{entry.kind}:{entry.name}")

    @Slot()
    def _check(self) -> None:
        self._store.verify(self.models.chosen())

    @Slot()
    def _cancel(self) -> None:
        if (job := self._store.jobs.get(self.models.chosen())) is not None:
            job.cancel()

    @Slot()
    def _ask_remove(self) -> None:
        entry = self._store.entry(self.models.chosen())
        if entry is not None and not self._store.in_use(entry.name):
            question = open_dialog(RemoveQuestion(entry.name, entry.size, self))
            question.accepted.connect(lambda: self._store.remove(entry.name))

    @Slot()
    def _ask_get(self) -> None:
        known = next((one for one in self._store.available if one.name == self.models.chosen()), None)
        if known is not None:
            self._ask_terms(known)

    @Slot()
    def _ask_hub(self) -> None:
        name = self.hub_name.text().strip()
        if not name or not self.hub_get.isEnabled():
            return
        self.problem.hide()
        job = self._wait(self._store.look_up(name))
        self.hub_get.setEnabled(False)
        job.finished.connect(self._ask_terms)
        job.failed.connect(self._show_problem)
        job.ended.connect(self._on_looked_up)

    @Slot()
    def _on_looked_up(self) -> None:
        self.hub_get.setEnabled(True)

    def _wait(self, job: Job) -> Job:
        """Hear of the newest question alone, and of none once the dialog is gone."""
        if self._waiting is not None:
            self._waiting.detach()
        self._waiting = job
        self.hub_get.setEnabled(True)
        return job

    def done(self, result: int) -> None:
        """Close; downloads and the like go on."""
        drop(self._waiting)
        super().done(result)

    @Slot(object)
    def _show_problem(self, error: object) -> None:
        self.problem.setText(str(error))
        self.problem.show()

    @Slot(object)
    def _ask_terms(self, known: Known) -> None:
        """Show licence and size before a download, and code only after a yes."""
        question = open_dialog(FetchQuestion(known, self))
        question.accepted.connect(lambda: self._store.get(known.name, code=question.code_allowed))

    @Slot()
    def _ask_folder(self) -> None:
        ask_folder(self, _("Model folder"), self.add_folder)

    @Slot(str)
    def add_folder(self, folder: str) -> None:
        """Add the model in ``folder``; its own program code only after a yes."""
        self.problem.hide()
        job = self._wait(self._store.look_into(Path(folder)))
        self._folder = Path(folder)
        job.finished.connect(self._on_looked_into)
        job.failed.connect(self._show_problem)

    @Slot(object)
    def _on_looked_into(self, code: bool) -> None:
        folder = self._folder
        if not code:
            self._store.add(folder).failed.connect(self._show_problem)
            return
        question = open_dialog(CodeQuestion(folder.name, self))
        question.accepted.connect(
            lambda: self._store.add(folder, code=question.code_allowed).failed.connect(self._show_problem)
        )

    @Slot()
    def _allow(self) -> None:
        self._preferences.change_setting("offline", False)
