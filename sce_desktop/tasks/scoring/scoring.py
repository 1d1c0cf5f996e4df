"""Score the rows of a project: resumable, the rows on screen first, every chunk committed.

Rows that come on the screen meanwhile go before the others (`tasks.scoring.on_screen`). Of a large table a
random sample comes next, before the rest in file order (`tasks.scoring.sample_first`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Run, VectorCache
from sce_desktop.core.scored import ScoredChunk
from sce_desktop.store.project import Project
from sce_desktop.tasks.progress import PartProgress, Unreported
from sce_desktop.tasks.scoring.kept_vectors import cache_of, report_left_out
from sce_desktop.tasks.scoring.models import MAIN_ALIAS, NamedModel, labels_for
from sce_desktop.tasks.scoring.on_screen import Look, OnScreen
from sce_desktop.tasks.scoring.sample_first import (
    REPORT_FROM_S,
    OnSample,
    project_sample,
    report,
    seconds_left,
)
from sce_desktop.tasks.tables.room import check_scores

# A chunk is what one commit keeps and what the window shows at once: about this long, whatever a row costs.
CHUNK_SECONDS = 0.7
FIRST_CHUNK = 32
SMALLEST_CHUNK = 8
LARGEST_CHUNK = 20_000
KEPT_RUNS = 2  # finished ones of a model, the newest: going back on a label edit costs nothing


def score_project(
    project: Project,
    models: Sequence[NamedModel],
    *,
    labels: Sequence[Label] | None = None,
    first_ids: IdArray | None = None,
    first_only: Collection[str] = (),
    on_screen: Look | None = None,
    cache: VectorCache | None = None,
    on_scored: Callable[[ScoredChunk], None] | None = None,
    on_sample: OnSample | None = None,
    before_rest: Callable[[Run, IdArray, Callable[[], None]], None] | None = None,
    progress: Progress,
) -> list[Run]:
    """Score the rows that have no score yet with each of ``models``; their runs become the active ones.

    Rows that the same model has scored with the same labels are not scored again. ``first_ids`` go first,
    with all models, before the rest; models whose alias is in ``first_only`` score no others, and their runs
    stay unfinished, to be gone on with. Rows that ``on_screen`` returns later, asked before each chunk, go
    before the others, with all other models. ``labels`` become the project's own; a project without labels
    takes those that the first model carries. Once a run is finished, runs of the same model with older labels
    are removed but for `KEPT_RUNS`. ``on_scored`` gets each chunk as soon as it is committed, in this thread.
    ``before_rest`` is called once the rows of ``first_ids`` are scored, with the first model's run, its other
    rows without a score, and what scores rows that have come on the screen; it calls that often if it takes
    long. ``on_sample`` gets the results of the random sample of a large table once it
    is scored, unless it was scored before this call.

    Returns:
        The run of each of ``models`` as it is at the end, in their order.

    Raises:
        UserError: There are no labels that can be scored, or the project is read-only. What a baseline cannot
            do (200 labels in a prompt) is raised when the other models are through.
        Cancelled: The user stopped; scored rows keep their scores, and the next call goes on from there.
    """
    known, multi_label = _labels_of(project, models[0], labels)
    check_scores(project, len(known), len(models))
    shown = {run.id for named in models if (run := project.active_run(named.alias)) is not None}
    first = np.empty(0, dtype=np.int64) if first_ids is None else first_ids
    own = cache_of(project, cache)
    tally = _Tally(project, known, multi_label, own, on_scored, OnScreen(on_screen), progress)
    runs: list[Run] = []
    waiting: list[IdArray] = []
    sample, total = project_sample(project)
    for named in models:
        run = project.open_run(
            named.alias,
            named.model.kind,
            named.title,
            named.model.fingerprint,
            known,
            multi_label=multi_label,
            whole_table=named.whole_table,
        )
        project.activate(run.id)  # scores show as they come
        ids = project.unscored_ids(run.id)
        if run.alias in first_only:
            ids = np.intersect1d(ids, first)
        tally.expect(run, named, ids)
        shown_first = first[np.isin(first, ids)]
        tally.score(run, named, shown_first, visible=True)
        if len(shown_first):
            tally.report(run, _stage(named, visible=True))  # before the next model looks up what it has to do
        runs.append(run)
        waiting.append(ids[~np.isin(ids, first)])
    if before_rest is not None:
        before_rest(runs[0], waiting[0], tally.score_screen)
    if len(sample):
        sampled = [sample[np.isin(sample, ids)] for ids in waiting]
        waiting = [ids[~np.isin(ids, sample)] for ids in waiting]
        seconds = []
        for run, named, ids in zip(runs, models, sampled, strict=True):
            before = time.perf_counter()
            tally.score(run, named, ids, sampled=True)
            seconds.append(time.perf_counter() - before)
        left = seconds_left(seconds, [len(ids) for ids in sampled], [len(ids) for ids in waiting])
        if on_sample is not None and left > REPORT_FROM_S:
            found = report(project, runs, sample, total, seconds_left=left)
            if found is not None:
                on_sample(found)
    for run, named, ids in zip(runs, models, waiting, strict=True):
        tally.score(run, named, ids)
        whole = run.alias not in first_only or not len(project.unscored_ids(run.id))
        if whole and run.id not in tally.failed:
            project.finish_run(run.id)
    report_left_out(own, progress)
    for run in runs:
        _remove_older(project, run, shown)
    for error in tally.failed.values():
        raise error
    now = {run.id: run for run in project.runs()}
    return [now[run.id] for run in runs]


def _remove_older(project: Project, finished: Run, shown: set[int]) -> None:
    """Remove what label edits left behind; never an active run, nor one of ``shown``, which may be looked at.

    Runs of other models under the same alias stay: a fine-tuned version is compared with what was before it.
    A model that knows the table is another one once rows are added, and goes with what label edits left.
    """

    def is_alike(run: Run) -> bool:
        grown = run.whole_table and finished.whole_table and run.model == finished.model
        return run.alias == finished.alias and (run.fingerprint == finished.fingerprint or grown)

    alike = [run for run in project.runs() if is_alike(run)]
    newest = [run.id for run in alike if run.finished_at is not None][-KEPT_RUNS:]
    for run in alike:
        if run.id not in {*newest, *shown, finished.id}:
            project.remove_run(run.id)


def _labels_of(
    project: Project, main: NamedModel, given: Sequence[Label] | None
) -> tuple[tuple[Label, ...], bool]:
    label_set = project.label_set()
    multi_label = label_set is not None and label_set.multi_label
    present = label_set.labels if label_set else ()
    labels = labels_for(main.model, given or present, multi_label=multi_label)
    if given or not present:
        labels = project.set_labels(labels, multi_label=multi_label).labels
    return labels, multi_label


class _Tally:
    """Scores ids in chunks of about `CHUNK_SECONDS` and tells how many rows each model has scored.

    It counts as the project does (`Run.scored`), with what was scored before: both can be shown.
    """

    def __init__(
        self,
        project: Project,
        labels: tuple[Label, ...],
        multi_label: bool,
        cache: VectorCache | None,
        on_scored: Callable[[ScoredChunk], None] | None,
        screen: OnScreen,
        progress: Progress,
    ) -> None:
        self._project = project
        self._labels = labels
        self._multi_label = multi_label
        self._cache = cache
        self._on_scored = on_scored
        self._screen = screen
        self._models: dict[int, tuple[Run, NamedModel]] = {}  # by run, in their order
        self._total: dict[int, int] = {}  # by run
        self._done: dict[int, int] = {}
        self._progress = progress
        self._main: int | None = None  # the run of the first model
        self.failed: dict[int, UserError] = {}  # runs of baselines that cannot score these labels

    def expect(self, run: Run, named: NamedModel, ids: IdArray) -> None:
        """Count on the rows ``ids``, which ``named`` is to score for ``run``."""
        self._models[run.id] = run, named
        self._screen.expect(run.id, ids)
        self._done[run.id], self._total[run.id] = run.scored, run.scored + len(ids)

    def report(self, run: Run, stage: str) -> None:
        """Report what is done and committed. Another stage than the last is reported at once."""
        if self._done[run.id]:
            self._progress.report(self._done[run.id], self._total[run.id], stage=stage)

    def score(
        self, run: Run, named: NamedModel, ids: IdArray, *, visible: bool = False, sampled: bool = False
    ) -> None:
        """Score the rows ``ids``; a baseline that cannot is noted in ``failed`` and skipped from then on."""
        self._main = run.id if self._main is None else self._main
        size, start = FIRST_CHUNK, 0
        stage = _stage(named, visible=visible, sampled=sampled)
        if len(ids) and run.id not in self.failed:
            self._progress.report(self._done[run.id], self._total[run.id], stage=stage)
        while start < len(ids) and run.id not in self.failed:
            self._progress.check()
            if not visible:
                self.score_screen(run)
            chunk = self._screen.open(run.id, ids[start : start + size])
            start += size
            if len(chunk):
                before = time.perf_counter()
                self._score(run, named, chunk, stage)
                size = next_chunk(len(chunk), time.perf_counter() - before)

    def score_screen(self, current: Run | None = None) -> None:
        """Score the rows on the screen that have no score yet with all models.

        What the run ``current`` is at is reported, and no other: progress is of one thing at a time.
        """
        for run, named in self._models.values():
            rows = self._screen.rows(run.id)
            if len(rows) and run.id not in self.failed:
                reported = current is not None and run.id == current.id
                self._score(run, named, rows, _stage(named, visible=True), reported=reported)

    def _score(
        self, run: Run, named: NamedModel, chunk: IdArray, stage: str, *, reported: bool = True
    ) -> None:
        """Score the rows ``chunk`` and commit them. What is not ``reported`` counts, and is shown later."""
        total = self._total[run.id]
        progress = PartProgress(self._progress, start=self._done[run.id], total=total, stage=stage)
        try:
            scores = named.model.probabilities(
                self._project.texts(chunk),
                self._labels,
                multi_label=self._multi_label,
                cache=self._cache,
                progress=progress if reported else Unreported(self._progress),
            )
            self._project.add_scores(run.id, chunk, scores)
        except UserError as error:
            if run.id == self._main:
                raise
            self.failed[run.id] = error
            return
        if self._on_scored is not None:
            self._on_scored(ScoredChunk(run, chunk, scores))
        self._screen.note(run.id, chunk)
        self._done[run.id] += len(chunk)
        if reported:
            self._progress.report(self._done[run.id], total, stage=stage)


def _stage(named: NamedModel, *, visible: bool, sampled: bool = False) -> str:
    """Return what is done now, for the progress: ``visible`` rows come first, then ``sampled`` ones."""
    model = "SCE" if named.alias == MAIN_ALIAS else named.alias
    if visible:
        return _("scoring visible rows with {model}", model=model)
    if sampled:
        return _("scoring a random sample with {model}", model=model)
    return _("scoring with {model}", model=model)


def next_chunk(rows: int, seconds: float) -> int:
    """Return how many rows the next chunk should have, given what the last one of ``rows`` took."""
    growth = min(4.0, max(0.25, CHUNK_SECONDS / max(seconds, 1e-3)))
    return int(min(LARGEST_CHUNK, max(SMALLEST_CHUNK, rows * growth)))
