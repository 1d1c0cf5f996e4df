"""What the lanes run for the session: thin calls of tasks, imported there and not in the GUI thread.

Importing torch, pandas or SQLAlchemy takes from half a second to many; in the lanes nobody waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.languages import Reads
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import (
    IdArray,
    Label,
    ModelVersion,
    Run,
    TableOptions,
    TablePreview,
    VectorCache,
)
from sce_desktop.core.words import plural
from sce_desktop.store.query import RowQuery
from sce_desktop.tasks.models import MAIN_ALIAS, NamedModel
from sce_desktop.ui.choices import Counts, ExportChoices, ImportChoices, ModelChoice
from sce_desktop.ui.garbage import importing
from sce_desktop.ui.preload import MAPPING, preload_torch
from sce_desktop.ui.table_work import GET_IT_HERE

if TYPE_CHECKING:
    from sce_desktop.ml.in_table import InTable
    from sce_desktop.ml.model import SCEModel
    from sce_desktop.ml.session import Device, ModelSession
    from sce_desktop.settings import Settings
    from sce_desktop.store.project import ImportReport, Project
    from sce_desktop.tasks.choice import Choice
    from sce_desktop.tasks.vectors import KnownVectors

log = logging.getLogger(__name__)

SAMPLE_TEXT_COLUMN = "message"
_TOLD_PROBLEMS = 3  # of a repair; the log has them all
SAMPLE_ROWS = 100  # texts from which the time of a scoring is estimated


class ModelShelf:
    """The models that are loaded. Belongs to the model lane: its methods run nowhere else."""

    def __init__(self, *, cache_megabytes: int) -> None:
        self._cache_megabytes = cache_megabytes
        self._session: ModelSession | None = None
        self._place: tuple[str, int] | None = None
        self._cache: VectorCache | None = None
        self._seen: set[ModelChoice] = set()
        self._version: tuple[object, SCEModel] | None = None  # the last one that was put together
        self._in_table: InTable | None = None  # the last table that was read
        self.known_vectors: KnownVectors | None = None  # of the main model, for any thread
        self.device = ""  # cpu, cuda or mps, once something is loaded
        self.devices: tuple[Device, ...] = ()  # all of this machine, once torch has been asked

    def open(self, choice: ModelChoice, *, progress: Progress) -> ModelSession:
        """Start torch as ``choice`` says, unless that is done; no model is loaded yet."""
        from sce_desktop.tasks.models import devices, open_session

        place = (choice.device, choice.threads)
        if self._session is None or place != self._place:
            progress.report(0, None, stage="starting torch")
            self._session = self._in_table = None  # the old device's memory first
            preload_torch()
            self._session = open_session(*place)
            self._place = place
            self.device = self._session.device.type
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
        from sce_desktop.tasks.models import load_models, parse_baselines

        session = self.open(choice, progress=progress)
        baselines = parse_baselines(choice.baselines)
        models = load_models(session, [choice.model], baselines, progress).models
        from sce_desktop.tasks.vectors import KnownVectors  # SQLAlchemy, which the files lane has by now

        embedder = _embedder(models[0])
        self.known_vectors = None if embedder is None else KnownVectors(embedder.key, self.cache)
        return models

    def load_for(self, project: Project, choice: ModelChoice, *, progress: Progress) -> list[NamedModel]:
        """Load the models of ``choice`` as `load` does, with the project's version in use as the main one.

        None of them knows the rows of the project yet: see `in_table`.
        """
        models = self.load(choice, progress=progress)
        version = project.active_version()
        if version is not None:
            models[0] = NamedModel(MAIN_ALIAS, version.title, self.version_model(project, version))
        return models

    def in_table(self, project: Project, named: NamedModel, *, progress: Progress) -> NamedModel:
        """Return the model as it scores the rows of ``project``; what it knows of them is kept."""
        from sce_desktop.tasks.whole_table import knowing_project

        known = knowing_project(named, project, before=self._in_table, cache=self.cache, progress=progress)
        model: Any = known.model
        self._in_table = model if model is not named.model else None  # no row has a text
        return known

    def version_model(self, project: Project, version: ModelVersion) -> SCEModel:
        """Return the model of a version; its base is loaded if it is not here yet."""
        from sce_desktop.tasks.version_models import version_model

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
        from sce_desktop.tasks.versions import base_model

        self.load(replace(choice, baselines=()), progress=progress)
        assert self._session is not None
        return base_model(self._session, choice.model)

    def seconds(self, named: NamedModel, texts: Sequence[str], *, rows: int, labels: int) -> float:
        """Return about how many seconds a loaded model needs for ``rows`` rows; ``texts`` are a sample."""
        assert self._session is not None
        model: Any = named.model
        embedder, cached = _embedder(named), 0
        if embedder is not None:
            found, _ = self.cache.get(embedder.key, texts)
            cached = int(found.mean() * rows)
        tokens = float((embedder or model).token_counts(texts).mean())
        return self._session.estimate(model, rows, tokens, labels, cached=cached)

    @property
    def cache(self) -> VectorCache:
        """The user's text vectors."""
        from sce_desktop.tasks.models import open_vector_cache

        if self._cache is None:
            self._cache = open_vector_cache(self._cache_megabytes)
        return self._cache


def _embedder(named: NamedModel) -> Any:
    """What makes the text vectors of a model; None for an LLM, which reads texts without making any."""
    return getattr(named.model, "text_embedder", None) or getattr(named.model, "embedder", None)


def score(
    project: Project, shelf: ModelShelf, choice: ModelChoice, first_ids: IdArray, *, progress: Progress
) -> list[Run]:
    """Score the rows of ``project`` that have no score yet, ``first_ids`` first."""
    from sce_desktop.tasks.scoring import score_project
    from sce_desktop.tasks.whole_table import wanted_in

    models = shelf.load_for(project, choice, progress=progress)
    if wanted_in(project, models[0].model.kind):
        models[0] = shelf.in_table(project, models[0], progress=progress)
    return score_project(
        project,
        models,
        first_ids=first_ids,
        first_only=[named.alias for named in _llms(models)] if choice.llm_on_screen else (),
        cache=shelf.cache,
        progress=progress,
    )


def ask_llm(
    project: Project, shelf: ModelShelf, choice: ModelChoice, ids: IdArray, *, progress: Progress
) -> list[Run]:
    """Score the rows ``ids``, those on the screen, with the LLMs of ``choice`` alone."""
    from sce_desktop.tasks.scoring import score_project

    models = _llms(shelf.load(choice, progress=progress))
    only = [named.alias for named in models]
    return score_project(project, models, first_ids=ids, first_only=only, progress=progress)


def _llms(models: Sequence[NamedModel]) -> list[NamedModel]:
    """The LLMs beside the main model."""
    return [named for named in models[1:] if named.model.kind == "llm"]


def estimate(
    project: Project, shelf: ModelShelf, choice: ModelChoice, first_ids: IdArray, *, progress: Progress
) -> float:
    """Return about how many seconds scoring ``project`` will take, by a trial of half a second a model."""
    from sce_desktop.tasks.whole_table import fingerprint_in, wanted_in

    models = shelf.load_for(project, choice, progress=progress)
    few = [named.alias for named in _llms(models)] if choice.llm_on_screen else []
    label_set = project.label_set()
    ids = project.row_ids(RowQuery(blank=False))
    texts = project.texts(ids[:: max(1, len(ids) // SAMPLE_ROWS)])
    if not texts or label_set is None or not label_set.labels:
        return 0.0
    seconds = 0.0
    for named in models:
        progress.check()
        run = project.active_run(named.alias)
        fingerprint = named.model.fingerprint
        if named is models[0] and wanted_in(project, named.model.kind):
            fingerprint = fingerprint_in(project, named)
        same = run is not None and (run.fingerprint, run.labels) == (fingerprint, label_set.labels)
        left = len(ids) - (run.scored if run is not None and same else 0)
        if named.alias in few:
            left = min(left, len(first_ids))
        seconds += shelf.seconds(named, texts, rows=left, labels=len(label_set.labels))
    return seconds


def count_tokens(shelf: ModelShelf, choice: ModelChoice, text: str, *, progress: Progress) -> tuple[int, int]:
    """Return how many tokens ``text`` has for the model of ``choice``, and how many of them it reads."""
    named = shelf.load(choice, progress=progress)[0]
    reader: Any = _embedder(named) or named.model
    return int(reader.token_counts([text])[0]), named.model.max_tokens


def import_libraries(*, progress: Progress) -> None:
    """Import what opening a table or a project needs, before somebody waits for it."""
    with MAPPING, importing():
        import sce_desktop.tasks.export
        import sce_desktop.tasks.tables  # noqa: F401


def model_for(project: Project, model: str, *, progress: Progress) -> tuple[Choice, Reads]:
    """Return the model that the languages of ``project`` ask for, and what the present one reads."""
    from sce_desktop.tasks.choice import choose, languages_in
    from sce_desktop.tasks.foreign import reads_by_name

    with project.snapshot():
        found = languages_in(project)
    progress.check()
    return choose(found, get_it=GET_IT_HERE), reads_by_name(model)


# --- projects ----------------------------------------------------------------------------------------------


def projects_folder(settings: Settings) -> Path:
    """Where new projects go."""
    chosen = str(settings["projects_folder"])
    return Path(chosen).expanduser() if chosen else paths.projects_dir()


def free_path(folder: Path, stem: str) -> Path:
    """A project path in ``folder`` that is not taken yet: "name.sce", else "name 2.sce" and so on."""
    path, number = folder / f"{stem}.sce", 1
    while path.exists():
        number += 1
        path = folder / f"{stem} {number}.sce"
    return path


def open_project(path: Path, *, progress: Progress) -> Project:
    """Open the project file at ``path``."""
    from sce_desktop.store.project import Project

    return Project.open(path)


def repair_project(path: Path, copy: Path, *, replace: bool = False, progress: Progress) -> Project:
    """Make a new project at ``copy`` of what can be read at ``path`` and open it; warn of what came back."""
    from sce_desktop.store.project import Project

    report = Project.repair_file(path, copy, progress, overwrite=replace)
    for problem in report.problems:
        log.info("Repair of %s: %s", path.name, problem)
    counts = (
        plural(report.rows, "row"),
        plural(report.annotations, "annotation"),
        plural(report.scores, "prediction"),
    )
    progress.warn(f"Recovered: {', '.join(counts)}.")
    for problem in report.problems[:_TOLD_PROBLEMS]:
        progress.warn(problem)
    if len(report.problems) > _TOLD_PROBLEMS:
        progress.warn("More is in the log.")
    return Project.open(copy)


def close_project(project: Project, *, progress: Progress) -> None:
    """Bring ``project`` into one file again, which may take a while after a long import."""
    project.close()


def backup(project: Project, copy: Path, *, replace: bool = False, progress: Progress) -> None:
    """Copy ``project`` while it is in use; ``replace`` what is there."""
    project.backup(copy, progress, overwrite=replace)


def build_search_index(project: Project, *, progress: Progress) -> None:
    """Make searching fast; it works without, too."""
    project.build_search_index(progress)


def count(project: Project, runs: Sequence[Run], *, progress: Progress) -> Counts:
    """Count the rows of ``project`` in every way; predictions are those of the first of ``runs``."""
    project.shorten_log()  # this follows every edit, and nobody waits for it
    return Counts(
        states=project.state_counts(),
        labels=project.annotation_counts(),
        predicted=project.predicted_counts(runs[0].id) if runs else {},
        scored=runs[0].scored if runs else 0,
        blank=project.blank_count(),
    )


# --- tables ------------------------------------------------------------------------------------------------


def preview_table(path: Path, options: TableOptions, *, progress: Progress) -> TablePreview:
    """Read the head of the table at ``path``."""
    from sce_desktop.tasks.tables import preview_table

    return preview_table(path, options, progress=progress)


def import_table(choices: ImportChoices, target: Path, *, progress: Progress) -> Project:
    """Make the project ``target`` of a table and open it; nothing is left of it on failure or cancel."""
    from sce_desktop.tasks.tables import import_table

    _make_folder(target.parent)
    project = import_table(
        target,
        choices.path,
        text_columns=choices.text_columns,
        gold_column=choices.label_column,
        as_gold=choices.as_gold,
        lists=choices.lists,
        take_back=choices.take_back,
        options=choices.options,
        progress=progress,
    )
    if choices.model:
        project.use_model(choices.model, chosen=choices.model_chosen)
    return project


def import_sample(target: Path, *, progress: Progress) -> Project:
    """Make the sample project of the bundled table and labels, and open it."""
    from sce_desktop.tasks.tables import import_table

    folder = paths.resources_dir() / "sample"
    names = (folder / "labels.txt").read_text(encoding="utf-8").splitlines()
    _make_folder(target.parent)
    return import_table(
        target,
        folder / "parcel_feedback.csv",
        text_columns=[SAMPLE_TEXT_COLUMN],
        labels=[Label(name) for name in names if name],
        progress=progress,
    )


def append_table(project: Project, choices: ImportChoices, *, progress: Progress) -> ImportReport:
    """Add the rows of a table to ``project``."""
    from sce_desktop.tasks.tables import append_table

    return append_table(
        project,
        choices.path,
        gold_column=choices.label_column,
        as_gold=choices.as_gold,
        lists=choices.lists,
        options=choices.options,
        progress=progress,
    )


def export_table(project: Project, choices: ExportChoices, query: RowQuery, *, progress: Progress) -> int:
    """Write rows of ``project`` to a file and return how many; ``query`` says which ones are shown."""
    from sce_desktop.tasks.export import export_table

    return export_table(
        project,
        choices.path,
        only=choices.only,
        query=query,
        columns=choices.columns,
        excel_safe=choices.excel_safe,
        note=choices.note,
        overwrite=choices.replace,
        progress=progress,
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The folder {folder} cannot be made ({error.strerror}): choose another one in the settings."
        ) from error
