"""What the parts of `Project` share: where its models and text vectors come from."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.precision import AUTO
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project

if TYPE_CHECKING:
    from sce_desktop.core.runs import Run, VectorCache
    from sce_desktop.tasks.scoring.models import ModelSource
    from sce_desktop.tasks.scoring.vectors import KnownVectors

Rows = int | Iterable[int]
"""A row's number, or several."""


class Base(Project):
    """The stored project with its models."""

    device: str = "auto"
    """Where models run: auto, cpu, cuda, cuda:N or mps; to be set before the first that is loaded."""
    precision: str = AUTO
    """What the text encoder multiplies in; likewise."""

    @functools.cached_property
    def _models(self) -> tuple[ModelSource, VectorCache]:
        """Where models come from, and the cache of text vectors."""
        from sce_desktop.settings import Settings
        from sce_desktop.tasks.scoring.models import open_session, open_vector_cache

        settings = Settings.load()
        source = open_session(self.device, int(settings["threads"]), self.precision)
        return source, open_vector_cache(int(settings["cache_megabytes"]))

    def _vectors(self) -> KnownVectors:
        """Return the text vectors of the model that scores."""
        from sce_desktop.tasks.scoring.model_cache import embedder_of
        from sce_desktop.tasks.scoring.models import DEFAULT_MODEL
        from sce_desktop.tasks.scoring.vectors import KnownVectors
        from sce_desktop.tasks.training.version_models import project_models

        source, cache = self._models
        name = self.model().name or DEFAULT_MODEL
        embedder = embedder_of(project_models(self, source, name, [], SilentProgress()).models[0])
        if embedder is None:
            raise UserError(_("No text vectors, as LLMs make none. Choose an SCE model, then score."))
        return KnownVectors(embedder.key, cache, embedder.precision)

    def _aliases(self) -> list[str]:
        from sce_desktop.tasks.scoring.models import MAIN_ALIAS

        found = dict.fromkeys(run.alias for run in self.runs() if run.scored)
        return sorted(found, key=lambda alias: alias != MAIN_ALIAS)

    def _main_run(self) -> Run:
        from sce_desktop.tasks.scoring.models import MAIN_ALIAS

        run = self.active_run(MAIN_ALIAS)
        if run is None or not run.scored:
            raise UserError(_("Nothing is scored yet: score the rows first."))
        return run


def as_ids(rows: Rows) -> list[int]:
    """Return row numbers as a list."""
    if isinstance(rows, int):
        return [rows]
    return [int(row) for row in rows]
