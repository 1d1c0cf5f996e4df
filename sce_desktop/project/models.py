"""Scoring, fine-tuning and versions without a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sce_desktop.core.annotations import Label
from sce_desktop.core.discovery import SAMPLE_ROWS, Discovery, Wanted
from sce_desktop.core.errors import UserError
from sce_desktop.core.heads import Way
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.versions import ModelVersion
from sce_desktop.project.base import Base

if TYPE_CHECKING:
    from sce_desktop.core.runs import Run


class Modelling(Base):
    """A part of `Project`."""

    def score(
        self,
        *,
        model: str | None = None,
        labels: Sequence[str | Label] | None = None,
        joint: bool | None = None,
        baselines: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> tuple[Run, ...]:
        """Score the rows that have no score yet and return the runs.

        Args:
            model: Name or folder; None: the version in use, else the model of the project, else the one that
                its languages ask for.
            labels: They become the project's labels.
            joint: Predict rows jointly (transductive) from now on, or not; None: as before.
            baselines: Each as ``--baseline`` takes it: "similarity", "llm".
            progress: Told of rows.
        """
        from sce_desktop.tasks.scoring.choice import choose_for_project
        from sce_desktop.tasks.scoring.joint import fit_transductive_to_project, joint_wanted
        from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, labels_for, load_models, parse_baselines
        from sce_desktop.tasks.scoring.scoring import score_project
        from sce_desktop.tasks.training.version_models import project_models

        watch = progress or SilentProgress()
        source, cache = self._models
        wanted = clean_labels(labels) if labels is not None else None
        kept = self.model()
        choice = None
        if not model and not kept.name and self.active_version() is None:
            choice = choose_for_project(self, wanted)
        name = model or kept.name or (choice.model if choice else DEFAULT_MODEL)
        others = parse_baselines(list(baselines))
        if model:
            loaded = load_models(source, [name], others, watch)
        else:
            loaded = project_models(self, source, name, others, watch)
        if model or choice:
            self.use_model(name, chosen=bool(model))
        main = loaded.models[0]
        label_set = self.label_set()
        used = labels_for(main.model, wanted or (label_set.labels if label_set else ()))
        if joint or (joint is None and joint_wanted(self, main.model.kind, used)):
            loaded.models[0] = fit_transductive_to_project(main, self, used, cache=cache, progress=watch)
        if joint is not None:
            self.use_whole_table(joint)
        return tuple(score_project(self, loaded.models, labels=wanted, cache=cache, progress=watch))

    def finetune(
        self,
        *,
        name: str = "",
        use: bool = False,
        model: str | None = None,
        head: str = "auto",
        seed: int = 0,
        all_rows: bool = False,
        progress: Progress | None = None,
    ) -> ModelVersion:
        """Fine-tune the base model on your labels and return the version; its `report` has the figures.

        Args:
            name: Of the version; empty: version and its number.
            use: Score with it from now on.
            model: The base model; None: that of the version in use, else that of the project.
            head: auto, sce, logistic, product or adapted.
            seed: Random seed of the validation split.
            all_rows: Learn from all labelled rows however long it takes.
            progress: Told of the work.
        """
        from sce_desktop.core.training import FinetuneSettings
        from sce_desktop.tasks.scoring.models import DEFAULT_MODEL
        from sce_desktop.tasks.training.versions import base_model, finetune_project

        source, cache = self._models
        used = self.active_version()
        base = model or (used.base if used else self.model().name) or DEFAULT_MODEL
        settings = FinetuneSettings(seed=seed, head=None if head == "auto" else Way(head), all_rows=all_rows)
        made = finetune_project(
            self,
            base_model(source, base),
            base,
            name=name,
            settings=settings,
            cache=cache,
            progress=progress or SilentProgress(),
        )
        if use:
            self.activate_version(made.version.id)
        return made.version

    def suggest_labels(
        self,
        clusters: int | None = None,
        *,
        rows: int = SAMPLE_ROWS,
        covering: bool = False,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Discovery:
        """Cluster a random sample of rows and suggest a label for each cluster; nothing is changed.

        ``core.discovery.labels_of`` makes labels of the clusters, which `set_labels` takes.

        Args:
            clusters: How many; None: as many as the rows suggest, 20 at most.
            rows: Size of the sample.
            covering: Leave out rows that one of the project's labels fits.
            seed: Of what is drawn at random.
            progress: Asked whether to go on.
        """
        from sce_desktop.tasks.insight.discover import discover
        from sce_desktop.tasks.scoring.choice import choose_for_project
        from sce_desktop.tasks.scoring.models import DEFAULT_MODEL
        from sce_desktop.tasks.training.version_models import project_models

        watch = progress or SilentProgress()
        source, cache = self._models
        choice = None if self.model().name else choose_for_project(self, None)
        name = self.model().name or (choice.model if choice else DEFAULT_MODEL)
        main = project_models(self, source, name, [], watch).models[0]
        known = self.label_set()
        wanted = Wanted(
            clusters,
            rows,
            seed,
            known.labels if covering and known is not None else (),
            known is not None and known.multi_label,
        )
        return discover(self, main, wanted, cache=cache, progress=watch)

    def use(self, version: int | str | None) -> ModelVersion | None:
        """Score with a version from now on, by its number or name; None or "base": with the base model."""
        if version is None or version == "base":
            self.activate_version(None)
            return None
        found = [one for one in self.versions() if version in (one.number, str(one.number), one.name)]
        if not found:
            names = ", ".join(["base", *(str(one.number) for one in self.versions())])
            raise UserError(
                _(
                    "This project has no version {name}: choose one of {names}.",
                    name=str(version),
                    names=names,
                )
            )
        self.activate_version(found[-1].id)
        return found[-1]
