"""Which models score the project, and when: the button, label edits, the rows on screen first.

scorer = controllers.scorer
scorer.model, scorer.baselines, scorer.device     what the next scoring uses; set_... changes it
scorer.version, scorer.title                      the model version in use or None; the name of what scores
scorer.use_version(id or None)                    score with a version, or with the base model
scorer.table                                      joint prediction: `controllers.joint_prediction`
scorer.long                                       pause and resume: `controllers.long_scoring`
scorer.why_not()                                  why nothing can be scored now; empty if it can
scorer.start()                                    the button and F5: what takes long is announced first
scorer.score()                                    at once; supersedes a scoring that still runs
scorer.follow()                                   as score(), but the LLM on the screen's rows alone
scorer.show_baseline("llm"), .hide_baselines("llm")   one more or one less column beside the model
scorer.llm_rows                                   "screen" or "all": about which rows an LLM is asked
scorer.stop()                                     scored rows keep their scores
scorer.ready, scorer.job                          is the model loaded; the scoring that runs, or None
scorer.estimating                                 `start` is finding out how long it takes
scorer.devices                                    what models can run on, as far as that is known
scorer.new_scores                                 what the window shows of it: `controllers.new_scores`
scorer.modelsChanged                              any of these changed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Slot

from sce_desktop.controllers import review_work, work
from sce_desktop.controllers.baselines import Baselines, chosen_baselines
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.joint_prediction import JointPrediction
from sce_desktop.controllers.long_scoring import LongScoring
from sce_desktop.controllers.model_device import device_text, window_threads
from sce_desktop.controllers.new_scores import NewScores
from sce_desktop.controllers.sample_news import SampleNews
from sce_desktop.controllers.scoring_time import ScoringTime
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import KeptModel, Run
from sce_desktop.core.scored import ALL_SCORES
from sce_desktop.core.versions import ModelVersion
from sce_desktop.tasks.scoring.models import DEFAULT_MODEL

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.navigation import Navigation
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.workspace import Workspace
    from sce_desktop.core.models import Device
    from sce_desktop.tasks.scoring.vectors import KnownVectors


class Scorer(Baselines):
    """Runs `work.score` in the model worker for the open project and emits signals for what is new."""

    def __init__(
        self, workspace: Workspace, navigation: Navigation, preferences: Preferences, messages: Messages
    ) -> None:
        super().__init__(workspace, navigation, preferences)
        self._messages = messages
        self._news = SampleNews(workspace, messages, self)
        settings = preferences.settings
        self.model = str(settings["model"])  # of the project, once one is open
        self._usual = self.model  # that scores projects which keep none
        self.kept = KeptModel()  # what the project keeps
        self.baselines = chosen_baselines(settings)
        self.device, self.precision = str(settings["device"]), str(settings["precision"])
        self.llm_rows = str(settings["llm_rows"])
        self.version: ModelVersion | None = None
        self.table = JointPrediction(workspace, lambda: self.base, self)
        self.table.switched.connect(self.rescore)
        self.modelsChanged.connect(self.table.possibleChanged)
        self.long = LongScoring(self, workspace, preferences, messages, self)
        self.ready = False
        self._load_failed = False
        self._loaded = ""  # the last model that could be loaded
        self.job: Job | None = None
        self._model_cache = work.ModelCache(cache_megabytes=int(settings["cache_megabytes"]))
        self._time = ScoringTime(workspace, messages, self._model_cache, self)
        self._time.said.connect(self.score)
        self._time.failed.connect(self._on_failed)
        self._time.ended.connect(self.modelsChanged)
        self.new_scores = NewScores(workspace, lambda: self.baselines, self)

    # --- what to score with --------------------------------------------------------------------------------

    def set_model(self, model: str) -> None:
        """Score with ``model`` (a name of the catalog or a folder) from the next scoring on."""
        if self.version is not None:
            if self._workspace.refuses_edit():
                return
            self.use_version(None, score=model == self.model)
        project = self._workspace.project
        if project is None:
            self._usual = model
        elif not project.read_only:
            project.use_model(model, chosen=True)
            self.kept = KeptModel(model, chosen=True)
        self._take(model)

    def follow_model(self) -> None:
        """Score with the model that the project keeps, which has just been opened or closed."""
        project = self._workspace.project
        self.new_scores.forget()
        self.kept = project.model() if project is not None else KeptModel()
        if project is not None:
            self._take(self.kept.name or self._usual)

    def _take(self, model: str) -> None:
        if model != self.model:
            self.model = model
            self.warm_up()

    @property
    def title(self) -> str:
        """The model that scores are from, as people call it: "sce-mini", or "sce-mini + version 3"."""
        return self.version.title if self.version is not None else Path(self.model).name or self.model

    @property
    def base(self) -> str:
        """The model that is loaded: a fine-tune begins there."""
        return self.version.base if self.version is not None else self.model

    def use_version(self, version_id: int | None, *, score: bool = True) -> None:
        """Take scores from a version of the project, or (None) from the base model; undoable."""
        if self._workspace.project is None or self._workspace.refuses_edit():
            return
        self._workspace.project.activate_version(version_id)
        self._workspace.historyChanged.emit()
        self.follow_version(score=score)

    def follow_version(self, *, score: bool = False) -> None:
        """Look which version the project uses now; ``score``: rows that have scores get new ones from it."""
        project = self._workspace.project
        self.table.follow()
        found = project.active_version() if project is not None else None
        if found == self.version:
            return
        self.version = found
        self._workspace.versionsChanged.emit()
        self.rescore(score=score)

    def rescore(self, *, score: bool = True) -> None:
        """Mark scores of a model that is no longer used; ``score``: rows that have some get new ones."""
        self.new_scores.of_older = self.job is not None
        self.modelsChanged.emit()
        self._workspace.scoresChanged.emit(ALL_SCORES)
        if score and (self._workspace.runs or self.job is not None) and self._workspace.labels:
            self.follow()

    def set_device(self, device: str) -> None:
        """Score on ``device``: auto, cpu, cuda or mps."""
        if device != self.device:
            self.device = device
            self.warm_up()

    def settings_changed(self, keys: set[str]) -> None:
        """Follow the settings ``keys``, as far as they are about models."""
        settings = self._preferences.settings
        if "baseline" in keys:
            self.set_baselines(chosen_baselines(settings))
            if (text := str(settings["baseline"]).strip()) and not self.baselines:
                self._messages.notify(
                    _("“{text}” is not a baseline: write similarity or llm.", text=text), "warn"
                )
        if "draft" in keys and not settings["draft"] and self._workspace.project is not None:
            self._workspace.project.end_draft()
            self.new_scores.show_drafts()
        if "model" in keys:
            self._usual = str(settings["model"])
        if "cache_megabytes" in keys:
            self._model_cache.set_megabytes(int(settings["cache_megabytes"]))
        if keys & {"model", "device", "precision", "threads"}:
            self.model, self.device = self.kept.name or self._usual, str(settings["device"])
            self.precision = str(settings["precision"])
            self.warm_up()

    @property
    def model_cache(self) -> work.ModelCache:
        """What the worker of models holds; only jobs of that worker use it."""
        return self._model_cache

    def choice(self) -> ModelChoice:
        """What is loaded next."""
        threads = int(self._preferences.settings["threads"]) or window_threads()
        few = self.llm_rows == "screen"
        return ModelChoice(self.base, self.baselines, self.device, threads, self.precision, llm_on_screen=few)

    def _screen(self) -> IdArray:
        """Return the rows on the screen. The worker that scores asks too: a tuple is read as a whole."""
        return np.array(self._navigation.visible_rows, dtype=np.int64)

    @property
    def device_text(self) -> str:
        """Where models run, and in what unless it is float32, for the status bar."""
        if not self.ready:
            return _("Model not loaded") if self._load_failed else _("Loading the model…")
        return device_text(self._model_cache, self.choice().threads)

    @property
    def devices(self) -> tuple[Device, ...]:
        """What models can run on, and what they cannot; empty until torch has been asked."""
        return self._model_cache.devices

    @property
    def known_vectors(self) -> KnownVectors | None:
        """The text vectors that what scores has made; None before the model is loaded, and for an LLM.

        A version with an adapted text embedder has vectors of its own.
        """
        known = self.base_vectors
        own = self.version.report.fit.encoder_key if self.version is not None else ""
        return known.with_embedder(own) if known is not None and own else known

    @property
    def base_vectors(self) -> KnownVectors | None:
        """The text vectors that the base model has made, from which a fine-tune starts."""
        return self._model_cache.known_vectors

    def why_no_vectors(self) -> str:
        """Why what needs text vectors cannot be done now, in one sentence; empty if it perhaps can."""
        if self.known_vectors is not None:
            return ""  # whether there are some of these rows is looked up where they are needed
        if self._load_failed:
            return _("The model could not be loaded: choose another one.")
        return review_work.NO_VECTORS if self.ready else review_work.NOT_READY

    def warm_up(self) -> None:
        """Load the model in the background, so that it is there when it is needed."""
        self.ready = self._load_failed = False
        job = self._workspace.workers.models.submit(
            self._model_cache.load,
            replace(self.choice(), baselines=()),
            title=_("Loading {model}", model=self.model),
        )
        model = self.model
        job.finished.connect(lambda _models: self._on_loaded(model))
        job.failed.connect(lambda error: self._on_load_failed(model, error))
        self.modelsChanged.emit()

    def count_tokens(self, text: str) -> Job:
        """Find out how much of ``text`` is read; the job finishes with its tokens and how many are read."""
        choice = replace(self.choice(), baselines=())
        count = partial(work.count_tokens, self._model_cache, choice, text)
        return self._workspace.workers.models.submit(
            count, title=_("Counting tokens"), quiet=True, first=True
        )

    def _on_loaded(self, model: str) -> None:
        self.ready = True
        self._loaded = model
        self.modelsChanged.emit()

    def _on_load_failed(self, model: str, error: object) -> None:
        """Tell why, and stay with the model of before."""
        self._load_failed = True
        self._messages.notify_of_program(str(error), "warn")
        self.modelsChanged.emit()
        if self._loaded and model == self.model != self._loaded:
            self._take(self._loaded)

    # --- scoring -------------------------------------------------------------------------------------------

    def why_not(self) -> str:
        """Why nothing can be scored now, in one sentence; empty if it can."""
        unlabelled = not self._workspace.labels and self.model == DEFAULT_MODEL
        return self._workspace.why_not() or (_("Add a label first.") if unlabelled else "")

    @property
    def estimating(self) -> bool:
        """Whether `start` is finding out how long scoring takes."""
        return self._time.job is not None

    @Slot()
    def start(self) -> None:
        """Score as the user asked; what may take long is estimated and announced first."""
        if self.job is not None or self.estimating:
            return
        if reason := self.why_not():
            self._messages.notify(reason, "warn")
            return
        if self._time.is_surely_short(self.choice()):
            self.score()
        else:
            self._time.find_out(self.choice(), self._screen())
            self.modelsChanged.emit()

    @Slot()
    def score(self) -> Job | None:
        """Score every row that has no score yet, those on the screen first, instead of what is scored now."""
        self.long.start_all()
        return self._submit(self._scoring(), self.choice(), _("Scoring"), whole=True)

    @Slot()
    def follow(self) -> Job | None:
        """Score as `score` does after an edit of the user's: nobody agreed that the LLM may take hours."""
        return self._submit(self._scoring(), replace(self.choice(), llm_on_screen=True), _("Scoring"))

    def _scoring(self) -> Callable[..., list[Run]]:
        drafts = bool(self._preferences.settings["draft"])
        on_draft = self.new_scores.drafted.emit if drafts else None
        return partial(
            work.score,
            on_sample=self._news.arrived.emit,
            on_draft=on_draft,
            on_screen=self._screen,
            **self.long.only,
        )

    def _submit(
        self, fn: Callable[..., list[Run]], choice: ModelChoice, title: str, *, whole: bool = False
    ) -> Job | None:
        self._rest.stop()
        self._abandon()
        if self._workspace.project is None or self._workspace.refuses_edit():
            return None
        self._asked = self._navigation.visible_rows
        self.new_scores.begin()
        job = self._workspace.submit(
            self.long.paced(fn),
            self._workspace.project,
            self._model_cache,
            choice,
            self._screen(),
            self.new_scores.put,
            title=title,
            worker="models",
            first=True,
            notify_failure=False,
        )
        job.progressed.connect(self._on_progressed)
        job.warned.connect(lambda sentence: self._messages.notify(sentence, "warn"))
        job.failed.connect(self._on_failed)
        job.ended.connect(self._on_ended)
        self.job = job
        self.long.begin(job, whole=whole)
        self.modelsChanged.emit()
        return job

    @Slot()
    def stop(self) -> None:
        """Stop scoring; rows that are scored keep their scores."""
        self._rest.stop()
        self.long.forget()
        for job in (self.job, self._time.job):
            if job is not None:
                job.cancel()

    def labels_changed(self) -> None:
        """Follow an edit of the labels, if the project has been scored before.

        At once, so that the worker scores while the window is painted; the next edit supersedes it.
        """
        if self._workspace.runs and self._workspace.labels:
            self.follow()
        else:
            if self.job is not None and not self.long.paused:
                self.long.forget()  # nothing is scored in its place
            self._abandon()

    def refresh(self) -> None:
        """Look up which runs of the project are shown."""
        if self.new_scores.look_up():
            self._workspace.scoresChanged.emit(ALL_SCORES)

    def _abandon(self) -> None:
        """Stop the scoring that runs, or is about to, and hear no more of it."""
        jobs = [job for job in (self.job, self._time.job) if job is not None]
        self.job = self._time.job = None
        drop(*jobs)
        if jobs:
            self.long.ended()  # no signal of theirs says so
            self.modelsChanged.emit()

    @Slot(object, object, object)
    def _on_progressed(self, done: int, _total: int | None, stage: str) -> None:
        self.ready = True
        self.new_scores.progressed(done, stage)

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self._messages.notify_error(error)
        self.modelsChanged.emit()

    @Slot()
    def _on_ended(self) -> None:
        self.job = None
        if not self._workspace.labels:
            self._workspace.reload_labels()  # the model may have brought its own
        self.new_scores.show()
        self.modelsChanged.emit()
        self.rows_shown()  # others may have come into sight meanwhile
