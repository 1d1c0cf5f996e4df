"""What the workers run for the window: thin calls of tasks, imported there and not in the GUI thread.

Importing torch, pandas or SQLAlchemy takes from half a second to many; in the workers nobody waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop import paths
from sce_desktop.controllers.table_work import DOWNLOAD_IN_WINDOW
from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import Counts, ExportChoices, ImportChoices, ModelChoice
from sce_desktop.core.errors import UserError
from sce_desktop.core.giving_way import give_way
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.languages import Reads
from sce_desktop.core.private import make_folder
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.imports import MAPPING, importing
from sce_desktop.tasks.scoring.model_cache import ModelCache, embedder_of
from sce_desktop.tasks.scoring.models import NamedModel

if TYPE_CHECKING:
    from sce_desktop.settings import Settings
    from sce_desktop.store.content.rows import ImportReport
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.scoring.choice import Choice
    from sce_desktop.tasks.scoring.on_screen import Look
    from sce_desktop.tasks.scoring.sample_first import OnSample

log = logging.getLogger(__name__)

SAMPLE_TEXT_COLUMN = "message"
_SHOWN_PROBLEMS = 3  # of a repair; the log has them all
SAMPLE_ROWS = 100  # texts from which the time of a scoring is estimated


def score(
    project: Project,
    model_cache: ModelCache,
    choice: ModelChoice,
    first_ids: IdArray,
    on_scored: Callable[[ScoredChunk], None],
    *,
    on_sample: OnSample | None = None,
    on_draft: Callable[[], None] | None = None,
    on_screen: Look | None = None,
    screen_only: bool = False,
    progress: Progress,
) -> list[Run]:
    """Score the rows of ``project`` that have no score yet, ``first_ids`` first; see `score_project`.

    Rows that ``on_screen`` returns meanwhile go before the others. With ``on_draft`` a draft comes before the
    rest; see `draft_project`.
    ``screen_only``: score no others.
    """
    from sce_desktop.tasks.scoring.draft import draft_project
    from sce_desktop.tasks.scoring.joint import joint_wanted
    from sce_desktop.tasks.scoring.scoring import score_project

    models = model_cache.load_for(project, choice, progress=progress)
    if joint_wanted(project, models[0].model.kind):
        models[0] = model_cache.transductive(project, models[0], progress=progress)

    def draft(run: Run, row_ids: IdArray, score_screen: Callable[[], None]) -> None:
        if on_draft is not None:
            draft_project(
                project,
                run,
                row_ids,
                models[0],
                choice.model,
                cache=model_cache.cache,
                on_draft=on_draft,
                between=score_screen,
                progress=progress,
            )

    runs = score_project(
        project,
        models,
        first_ids=first_ids,
        first_only=[
            named.alias
            for named in (models if screen_only else _llms(models) if choice.llm_on_screen else ())
        ],
        on_screen=on_screen,
        cache=model_cache.cache,
        on_scored=on_scored,
        on_sample=on_sample,
        before_rest=draft,
        progress=progress,
    )
    if not screen_only:
        project.end_draft()  # every row has something better by now
    return runs


def ask_llm(
    project: Project,
    model_cache: ModelCache,
    choice: ModelChoice,
    ids: IdArray,
    on_scored: Callable[[ScoredChunk], None],
    *,
    progress: Progress,
) -> list[Run]:
    """Score the rows ``ids``, those on the screen, with the LLMs of ``choice`` alone."""
    from sce_desktop.tasks.scoring.scoring import score_project

    models = _llms(model_cache.load(choice, progress=progress))
    only = [named.alias for named in models]
    return score_project(
        project, models, first_ids=ids, first_only=only, on_scored=on_scored, progress=progress
    )


def _llms(models: Sequence[NamedModel]) -> list[NamedModel]:
    """The LLMs beside the main model."""
    return [named for named in models[1:] if named.model.kind == "llm"]


def estimate(
    project: Project, model_cache: ModelCache, choice: ModelChoice, first_ids: IdArray, *, progress: Progress
) -> float:
    """Return about how many seconds scoring ``project`` will take, by a trial of half a second a model.

    Warns of what it takes on disk and in memory where that is much.

    Raises:
        UserError: The disk has no room for it.
    """
    from sce_desktop.tasks.scoring.joint import joint_fingerprint, joint_wanted
    from sce_desktop.tasks.scoring.kept_vectors import check_room

    models = model_cache.load_for(project, choice, progress=progress)
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
        if named is models[0] and joint_wanted(project, named.model.kind):
            fingerprint = joint_fingerprint(project, named)
        same = run is not None and (run.fingerprint, run.labels) == (fingerprint, label_set.labels)
        left = len(ids) - (run.scored if run is not None and same else 0)
        if named.alias in few:
            left = min(left, len(first_ids))
        seconds += model_cache.seconds(named, texts, rows=left, labels=len(label_set.labels))
    check_room(project, models, model_cache.cache, seconds=seconds, progress=progress)
    return seconds


def count_tokens(
    model_cache: ModelCache, choice: ModelChoice, text: str, *, progress: Progress
) -> tuple[int, int]:
    """Return how many tokens ``text`` has for the model of ``choice``, and how many of them it reads."""
    named = model_cache.load(choice, progress=progress)[0]
    reader: Any = embedder_of(named) or named.model
    return int(reader.token_counts([text])[0]), named.model.max_tokens


def import_libraries(*, progress: Progress) -> None:
    """Import what opening a table or a project needs, before somebody waits for it."""
    with MAPPING, importing():
        pass


def model_for(project: Project, model: str, *, progress: Progress) -> tuple[Choice, Reads]:
    """Return the model that the languages of ``project`` ask for, and what the present one reads."""
    from sce_desktop.tasks.scoring.choice import choose, languages_in
    from sce_desktop.tasks.scoring.foreign import reads_by_name

    with project.snapshot():
        found = languages_in(project)
    progress.check()
    return choose(found, get_it=DOWNLOAD_IN_WINDOW), reads_by_name(model)


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


def repair_project(path: Path, copy: Path, *, replace: bool = False, progress: Progress) -> Project:
    """Make a new project at ``copy`` of what can be read at ``path`` and open it; warn of what came back."""
    from sce_desktop.store.project import Project

    report = Project.repair_file(path, copy, progress, overwrite=replace)
    for problem in report.problems:
        log.info("Repair of %s: %s", path, problem)
    progress.warn(
        _(
            "Recovered: {rows}, {annotations}, {predictions}.",
            rows=ngettext("{count} row", "{count} rows", report.rows),
            annotations=ngettext("{count} annotation", "{count} annotations", report.annotations),
            predictions=ngettext("{count} prediction", "{count} predictions", report.scores),
        )
    )
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        progress.warn(problem)
    if len(report.problems) > _SHOWN_PROBLEMS:
        progress.warn(_("The log has more."))
    return Project.open(copy)


def count(project: Project, runs: Sequence[Run], *, progress: Progress) -> Counts:
    """Count the rows of ``project`` in every way; predictions are those of the first of ``runs``."""
    project.shorten_log()  # this follows every edit, and nobody waits for it
    give_way()
    return Counts(
        states=project.state_counts(),
        labels=project.annotation_counts(),
        predicted=project.predicted_counts(runs[0].id) if runs else {},
        scored=runs[0].scored if runs else 0,
        blank=project.blank_count(),
        final=project.final_counts(runs[0].id if runs else None),
        draft=project.draft_count(runs[0].id) if runs else 0,
    )


# --- tables ------------------------------------------------------------------------------------------------


def import_table(choices: ImportChoices, target: Path, *, progress: Progress) -> Project:
    """Make the project ``target`` of a table and open it; nothing is left of it on failure or cancel."""
    from sce_desktop.tasks.tables.tables import import_table

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
    from sce_desktop.tasks.tables.tables import import_table

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
    """Add the rows of a table to ``project``. If cancelled, `Project.remove_unfinished` has to follow."""
    from sce_desktop.tasks.tables.tables import append_table

    return append_table(
        project,
        choices.path,
        gold_column=choices.label_column,
        as_gold=choices.as_gold,
        lists=choices.lists,
        options=choices.options,
        remove_cancelled=False,
        progress=progress,
    )


def export_table(project: Project, choices: ExportChoices, query: RowQuery, *, progress: Progress) -> int:
    """Write rows of ``project`` to a file and return how many; ``query`` says which ones are shown."""
    from sce_desktop.tasks.tables.export import export_table

    if choices.format:
        from sce_desktop.tasks.tables.exchange import export_exchange

        return export_exchange(
            project,
            choices.path,
            choices.format,
            only=choices.only,
            query=query,
            overwrite=choices.replace,
            progress=progress,
        )
    return export_table(
        project,
        choices.path,
        only=choices.only,
        query=query,
        columns=choices.columns,
        final=True,
        excel_safe=choices.excel_safe,
        note=choices.note,
        overwrite=choices.replace,
        drafts=choices.drafts,
        progress=progress,
    )


def _make_folder(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise UserError(
            _(
                "The folder {folder} cannot be created ({reason}): choose another one in the settings.",
                folder=folder,
                reason=error.strerror,
            )
        ) from error
