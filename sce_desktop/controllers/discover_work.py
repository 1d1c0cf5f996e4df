"""What the worker of models runs to suggest labels from the rows; like `controllers.work`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.discovery import Discovery, Wanted
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring.model_cache import ModelCache

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


def discover(
    project: Project, model_cache: ModelCache, choice: ModelChoice, wanted: Wanted, *, progress: Progress
) -> Discovery:
    """Cluster a sample of the rows of ``project`` and name the clusters; `Wanted.llm` is loaded too."""
    from sce_desktop.tasks.insight.discover import discover

    beside = (wanted.llm,) if wanted.llm else ()
    main, *others = model_cache.load_for(project, replace(choice, baselines=beside), progress=progress)
    llm = others[0] if others else None
    return discover(project, main, wanted, llm=llm, cache=model_cache.cache, progress=progress)
