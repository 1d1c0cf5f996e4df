"""The models that the window has loaded, kept between jobs; torch is imported when the first is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Device
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.versions import ModelVersion
from sce_desktop.imports import importing, preload_torch
from sce_desktop.tasks.scoring.models import MAIN_ALIAS, NamedModel, bound_vector_cache

if TYPE_CHECKING:
    from sce_desktop.ml.hub.session import ModelSession
    from sce_desktop.ml.sce.model import SCEModel
    from sce_desktop.ml.transductive import TransductiveModel
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.scoring.vectors import KnownVectors


@dataclass(frozen=True, slots=True)
class MainModel:
    """The model that scores: ``base`` is what was loaded, ``version`` the id of the version put on it."""

    named: NamedModel
    base: str
    version: int | None


class ModelCache:
    """The models that are loaded. Belongs to the model worker: its methods run nowhere else."""

    def __init__(self, *, cache_megabytes: int) -> None:
        self._cache_megabytes = cache_megabytes
        self._session: ModelSession | None = None
        self._place: tuple[str, int, str] | None = None
        self._cache: VectorCache | None = None
        self._seen: set[ModelChoice] = set()
        self._version: tuple[object, SCEModel] | None = None  # the last one that was put together
        self._transductive: TransductiveModel | None = None  # fitted to the last table
        self.known_vectors: KnownVectors | None = None  # of the main model, for any thread
        self.main: MainModel | None = None  # the model that scores, ready, for any thread
        self.device = ""  # cpu, cuda or mps, once something is loaded
        self.precision = ""  # what text embedders multiply in, once something is loaded
        self.devices: tuple[Device, ...] = ()  # all of this machine, once torch has been asked

    def set_megabytes(self, megabytes: int) -> None:
        """Bound the vector cache otherwise, from the next vectors on; from any thread."""
        self._cache_megabytes = megabytes
        if (cache := self._cache) is not None:
            bound_vector_cache(cache, megabytes)

    def open(self, choice: ModelChoice, *, progress: Progress) -> ModelSession:
        """Start torch as ``choice`` says, unless that is done; no model is loaded yet."""
        from sce_desktop.tasks.scoring.models import devices, open_session

        place = (choice.device, choice.threads, choice.precision)
        if self._session is None or place != self._place:
            progress.report(0, None, stage=_("starting torch"))
            self._session = self._transductive = self.main = None  # the old device's memory first
            preload_torch()
            self._session = open_session(*place)
            self._place = place
            self.device = self._session.device.type
            self.precision = self._session.precision
            self.devices = self.devices or devices()
        return self._session

    def load(self, choice: ModelChoice, *, progress: Progress) -> list[NamedModel]:
        """Load the models of ``choice``, unless they are here already; the main one comes first."""
        if choice in self._seen:
            return self._load(choice, progress)
        with importing():  # a baseline may bring libraries of its own
            models = self._load(choice, progress)
        self._seen.add(choice)
        return models

    def _load(self, choice: ModelChoice, progress: Progress) -> list[NamedModel]:
        from sce_desktop.tasks.scoring.models import load_models, parse_baselines

        session = self.open(choice, progress=progress)
        baselines = parse_baselines(choice.baselines)
        if self.main is not None and self.main.base != choice.model:
            self.main = None  # the old model's memory first
        models = load_models(session, [choice.model], baselines, progress).models
        from sce_desktop.tasks.scoring.vectors import (
            KnownVectors,  # SQLAlchemy, which the files worker has by now
        )

        embedder = embedder_of(models[0])
        self.known_vectors = (
            None if embedder is None else KnownVectors(embedder.key, self.cache, embedder.precision)
        )
        return models

    def load_for(self, project: Project, choice: ModelChoice, *, progress: Progress) -> list[NamedModel]:
        """Load the models of ``choice`` as `load` does, with the project's version in use as the main one.

        None of them is fitted to the rows of the project yet: see `transductive`.
        """
        models = self.load(choice, progress=progress)
        version = project.active_version()
        if version is not None:
            models[0] = NamedModel(MAIN_ALIAS, version.title, self.version_model(project, version))
        self.main = MainModel(models[0], choice.model, version.id if version is not None else None)
        return models

    def transductive(self, project: Project, named: NamedModel, *, progress: Progress) -> NamedModel:
        """Return the model fitted to the rows of ``project``; the fitted model is kept."""
        from sce_desktop.tasks.scoring.joint import fit_transductive_to_project

        known = fit_transductive_to_project(
            named, project, previous=self._transductive, cache=self.cache, progress=progress
        )
        model: Any = known.model
        self._transductive = model if model is not named.model else None  # no row has a text
        return known

    def version_model(self, project: Project, version: ModelVersion) -> SCEModel:
        """Return the model of a version; its base is loaded if it is not here yet."""
        from sce_desktop.tasks.training.version_models import version_model

        assert self._session is not None
        label_set = project.label_set()
        names = tuple((label.id, label.name) for label in label_set.labels) if label_set else ()
        made = (version.created_at, version.data_hash, version.base_fingerprint)  # a path is used again
        key = (project.path, version.id, made, names, self._place)
        if self._version is None or self._version[0] != key:
            self._version = key, version_model(project, version, self._session)
        return self._version[1]

    def base(self, choice: ModelChoice, *, progress: Progress) -> SCEModel:
        """Return the main model of ``choice``, to be fine-tuned.

        Raises:
            UserError: It is none that can be.
        """
        from sce_desktop.tasks.training.versions import base_model

        self.load(replace(choice, baselines=()), progress=progress)
        assert self._session is not None
        return base_model(self._session, choice.model)

    def seconds(self, named: NamedModel, texts: Sequence[str], *, rows: int, labels: int) -> float:
        """Return about how many seconds a loaded model needs for ``rows`` rows; ``texts`` are a sample."""
        assert self._session is not None
        model: Any = named.model
        embedder, cached = embedder_of(named), 0
        if embedder is not None:
            found, _ = self.cache.get(embedder.key, texts)
            cached = int(found.mean() * rows)
        tokens = float((embedder or model).token_counts(texts).mean())
        return self._session.estimate(model, rows, tokens, labels, cached=cached)

    @property
    def cache(self) -> VectorCache:
        """The user's text vectors."""
        from sce_desktop.tasks.scoring.models import open_vector_cache

        if self._cache is None:
            self._cache = open_vector_cache(self._cache_megabytes)
        return self._cache


def embedder_of(named: NamedModel) -> Any:
    """What makes the text vectors of a model; None for an LLM, which reads texts without making any."""
    return getattr(named.model, "text_embedder", None) or getattr(named.model, "embedder", None)
