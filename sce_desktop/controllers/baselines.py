"""Which baselines stand beside the model, and about which rows the LLM among them is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import work
from sce_desktop.controllers.jobs import Job
from sce_desktop.controllers.rows_text import alias_title
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.settings import Settings
from sce_desktop.tasks.scoring.models import Baseline

if TYPE_CHECKING:
    from sce_desktop.controllers.navigation import Navigation
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.workspace import Workspace

SCROLL_PAUSE_MS = 600  # the LLM is asked about rows that the table rests on


def chosen_baselines(settings: Settings) -> tuple[str, ...]:
    """The baseline of the settings; one that is none is ignored, as it must not keep a project shut."""
    text = str(settings["baseline"]).strip()
    try:
        return (text,) if text and Baseline.parse(text) else ()
    except UserError:
        return ()


class Baselines(QObject):
    """What `Scorer` does about baselines. They may be several, at most one of a kind from the run bar."""

    modelsChanged = Signal()

    baselines: tuple[str, ...]
    llm_rows: str
    job: Job | None
    _model_cache: work.ModelCache

    def __init__(self, workspace: Workspace, navigation: Navigation, preferences: Preferences) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._navigation = navigation
        self._preferences = preferences
        self._asked: tuple[int, ...] = ()  # the rows on the screen that the LLM was last asked about
        self._rest = QTimer(self, singleShot=True, interval=SCROLL_PAUSE_MS)
        self._rest.timeout.connect(self._ask_llm)
        navigation.visibleRowsChanged.connect(self.rows_shown)

    @property
    def estimating(self) -> bool:
        """Whether it is being found out how long scoring takes."""
        raise NotImplementedError

    def why_not(self) -> str:
        """Why nothing can be scored now."""
        raise NotImplementedError

    def start(self) -> None:
        """Score; what takes long is announced first."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Look up which runs are shown."""
        raise NotImplementedError

    def choice(self) -> ModelChoice:
        """What a job needs to know of the choices."""
        raise NotImplementedError

    def _submit(self, fn: Callable[..., list[Run]], choice: ModelChoice, title: str) -> Job | None:
        raise NotImplementedError

    def _abandon(self) -> None:
        raise NotImplementedError

    def _on_failed(self, error: object) -> None:
        raise NotImplementedError

    # --- which ---------------------------------------------------------------------------------------------

    def set_baselines(self, baselines: tuple[str, ...]) -> None:
        """Show these baselines beside the model, each as `Baseline.parse` reads it."""
        if baselines != self.baselines:
            self.baselines = baselines
            self.refresh()
            self.modelsChanged.emit()

    def show_baseline(self, spec: str) -> None:
        """Show the baseline ``spec`` in place of what is shown of its kind, if anything is."""
        kind = Baseline.parse(spec).kind
        self.set_baselines((*self._other_baselines(kind), spec))

    def try_baseline(self, spec: str) -> Job:
        """Load the baseline ``spec``, then show it and score with it; one that cannot be changes nothing."""
        baseline = Baseline.parse(spec)
        choice = replace(self.choice(), baselines=(spec,))
        name = baseline.model or alias_title(baseline.alias)
        job = self._workspace.workers.models.submit(
            self._model_cache.load, choice, title=_("Loading {model}", model=name)
        )
        job.finished.connect(lambda _run: self._on_baseline(spec))
        job.failed.connect(self._on_failed)
        return job

    def _on_baseline(self, spec: str) -> None:
        self.show_baseline(spec)
        self.go_on()

    def go_on(self) -> None:
        """Score what another choice of models has left to score, if the project has been scored before."""
        if self._workspace.runs and not self.why_not():
            self._abandon()
            self.start()

    def hide_baselines(self, kind: str) -> None:
        """Show no baseline of ``kind`` any more; its scores stay in the project."""
        self.set_baselines(self._other_baselines(kind))

    def _other_baselines(self, kind: str) -> tuple[str, ...]:
        return tuple(text for text in self.baselines if Baseline.parse(text).kind != kind)

    @property
    def llm(self) -> str:
        """The LLM among the baselines, as `Baseline.parse` reads it; empty if there is none."""
        return next((text for text in self.baselines if Baseline.parse(text).kind == "llm"), "")

    def set_llm_rows(self, rows: str) -> None:
        """Ask the LLM about the rows on the "screen", or about "all"; kept in the settings."""
        if rows != self.llm_rows:
            self.llm_rows = rows
            self._preferences.change_setting("llm_rows", rows)
            self.modelsChanged.emit()

    # --- the LLM on the screen's rows ----------------------------------------------------------------------

    @Slot()
    def rows_shown(self) -> None:
        """Ask the LLM about the rows on the screen once the table rests, if its column follows the screen."""
        if self.llm and self.llm_rows == "screen" and self._navigation.visible_rows != self._asked:
            self._rest.start()

    @Slot()
    def _ask_llm(self) -> None:
        if not self.llm or self.llm_rows != "screen" or not self._workspace.runs or self._workspace.read_only:
            return
        if self.job is None and not self.estimating:  # else at its end
            self._submit(work.ask_llm, self.choice(), _("Scoring with the LLM"))
