"""Classify the files of a table on a cluster: a folder of parts with the local engine's columns.

What every worker needs is found out here first: columns, labels, the model and, for joint prediction, the
reference sample. Then each part is read, scored and written by the worker that has it. Finished parts stay: a
later call with the same settings goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Protocol

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.labels import check_scorable
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import Table
from sce_desktop.data.writers import BY_COLUMN
from sce_desktop.ml.parallel.pool import Opener
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.cluster.manifest import Manifest, ResultFolder, fingerprint
from sce_desktop.tasks.cluster.parts import JSON, PART_BYTES, Part, Source, cut, look, sources
from sce_desktop.tasks.cluster.scorer import PartPlan, PartReport, Reading, Survey
from sce_desktop.tasks.scoring.blocks import BlockPlan, Reference
from sce_desktop.tasks.scoring.classify import ClassifySettings, model_columns
from sce_desktop.tasks.scoring.foreign import ForeignTexts
from sce_desktop.tasks.scoring.joint import check_joint, fit_transductive
from sce_desktop.tasks.scoring.models import Loaded, ModelSource, labels_for, load_models, precision_of
from sce_desktop.tasks.tables.columns import beside, elsewhere, find_columns, report_doubts
from sce_desktop.temporary import temporary_folder

_LEAST_PART_BYTES = 50_000
_MOST_TEXTS = 50_000
"""Texts for the reference sample that are held at most: each part names as many as the sample may have."""
_ENDINGS = (".parquet", ".csv", ".tsv", ".jsonl")


class Pool(Protocol):
    """Workers: a `RayPool`, or what tests put in its place."""

    def map(self, blocks: Iterable[Any], progress: Progress, *, ordered: bool = True) -> Iterator[Any]:
        """Yield the result of each block."""


StartPool = Callable[[Opener], AbstractContextManager[Pool]]


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """What a call did. ``rows`` and what follows are those of the parts that it made itself."""

    parts: int
    resumed: int  # parts that an earlier call had finished
    rows: int
    scored: int
    skipped_blank: int
    cut: int
    labels: list[str]
    models: list[str]
    seconds: dict[str, float]
    output: str
    precision: str | None = None
    whole_table: bool = False
    baselines: dict[str, str] = field(default_factory=dict)
    languages: dict[str, float] = field(default_factory=dict)


def classify_on_cluster(
    place: str,
    output: str,
    settings: ClassifySettings,
    *,
    text_columns: Sequence[str],
    labels: Sequence[Label] | None,
    source: ModelSource,
    start_pool: StartPool,
    options: TableOptions | None = None,
    part_bytes: int | None = None,
    workers: int = 1,
    force: bool = False,
    cache: VectorCache | None = None,
    progress: Progress,
) -> ClusterReport:
    """Write the rows of the files at ``place`` with their predictions to the folder ``output``, in parts.

    ``part_bytes`` is about the size of a part; None: such that each of the ``workers`` has several.

    Raises:
        UserError: A file, a column, a label, a model or the folder is not right, or it holds parts that were
            made otherwise.
        Cancelled: The user stopped; finished parts stay.
    """
    started = time.perf_counter()
    ending = check_wanted(output, settings)
    folder = ResultFolder(output, ending)
    known = folder.check(force=force)
    progress.report(0, None, stage=_("looking at the files"))
    files = sources(place)
    with temporary_folder() as place_here:
        table = look(files[0], options or TableOptions(), place_here)
    report_doubts(table, progress)
    texts_at = find_columns(table.columns, list(text_columns), progress, hint=elsewhere(table))
    if labels:
        check_scorable(labels)
    parts = list(known.parts) if known is not None and known.files == tuple(files) else []
    parts = parts or cut(files, table.options, part_bytes=part_bytes or _part_bytes(files, workers))
    loaded = load_models(source, [settings.model], settings.baselines, progress)
    labels = labels_for(loaded.models[0].model, labels, multi_label=settings.multi_label)
    made_of = fingerprint(
        [named.model.fingerprint for named in loaded.models],
        [named.alias for named in loaded.models],
        labels,
        settings.multi_label,
        settings.threshold,
        settings.whole_table,
        settings.excel_safe,
        [table.columns[at] for at in texts_at],
        table.options,
        ending,
    )
    if known is not None:
        _check_same(known, made_of, files, output)
    todo = _unfinished(folder, parts)
    if known is not None and not todo:  # nothing is looked through again
        return _report(loaded, labels, settings, parts, [], 0.0, started, output)
    reading, reference = _survey(
        table, files, parts, texts_at, settings, loaded, labels, start_pool, cache, progress
    )
    columns = model_columns(loaded.models, labels, settings)
    header = [*reading.columns, *beside(reading.columns, [n for c in columns for n in c.header], progress)]
    if known is None:
        folder.write(Manifest(made_of, tuple(files), tuple(parts), tuple(header)))
    main = loaded.models[0].model
    plan = PartPlan(
        BlockPlan(
            settings.model,
            tuple(settings.baselines),
            labels,
            settings.multi_label,
            Shape(reading.columns, tuple(reading.columns.index(table.columns[at]) for at in texts_at)),
            tuple(columns),
            precision=precision_of(main) or "auto",
            fingerprint=main.fingerprint,
            reference=reference,
            by_column=ending in BY_COLUMN,
            keep_types=ending == ".jsonl",
        ),
        reading,
        output,
        ending,
        tuple(header),
        delimiter=table.options.delimiter or ",",
        excel_safe=settings.excel_safe,
        batch_rows=settings.batch_rows,
    )
    found = _score(plan, todo, len(parts), start_pool, progress)
    report = _report(loaded, labels, settings, parts, found, loaded.seconds, started, output)
    _warn(found, loaded, labels, settings, report, progress)
    return report


def check_wanted(output: str, settings: ClassifySettings) -> str:
    """Refuse what no cluster can do, before one is started, and return the ending of ``output``.

    Raises:
        UserError: It ends otherwise than parts can, or final labels are wanted.
    """
    ending = PurePosixPath(output.rstrip("/")).suffix.lower()
    if ending not in _ENDINGS:
        raise UserError(_("{file} must end in .parquet, .csv, .tsv or .jsonl.", file=output))
    if settings.final is not None:
        raise UserError(_("Final labels need the local engine: leave --final or --engine out."))
    return ending


def _part_bytes(files: Sequence[Source], workers: int) -> int:
    """Return the size of parts: with few for each worker, the last ones would work alone."""
    return min(PART_BYTES, max(_LEAST_PART_BYTES, sum(one.size for one in files) // (8 * workers)))


def _check_same(known: Manifest, made_of: str, files: Sequence[Source], output: str) -> None:
    if known.files != tuple(files):
        raise UserError(
            _(
                "{place} holds parts of other files, or these changed: choose another name or add --force.",
                place=output,
            )
        )
    if known.settings != made_of:
        raise UserError(
            _(
                "{place} holds parts made with other settings: choose another name or add --force.",
                place=output,
            )
        )


def _unfinished(folder: ResultFolder, parts: Sequence[Part]) -> list[Part]:
    there = folder.finished(parts)
    return [part for part in parts if part.number not in there]


def _survey(
    table: Table,
    files: Sequence[Source],
    parts: Sequence[Part],
    texts_at: Sequence[int],
    settings: ClassifySettings,
    loaded: Loaded,
    labels: Sequence[Label],
    start_pool: StartPool,
    cache: VectorCache | None,
    progress: Progress,
) -> tuple[Reading, Reference | None]:
    """Look through all parts where that is needed: for the keys of JSON, and for joint prediction."""
    json = files[0].ending in JSON
    reading, reference = Reading(table.options, table.columns, json), None
    if not json and not settings.whole_table:
        return reading, None
    if settings.whole_table:
        check_joint(labels, multi_label=settings.multi_label)
    names = tuple(table.columns[at] for at in texts_at)
    columns: dict[str, None] = {}
    texts: list[str] = []
    with start_pool(Survey(table.options, names, settings.whole_table)) as pool:
        for done, (there, some) in enumerate(pool.map(parts, progress), start=1):
            columns.update(dict.fromkeys(there))
            texts += some
            if len(texts) > _MOST_TEXTS:
                texts = _sample(texts)
            progress.report(done, len(parts), stage=_("reading the table"))
    if json:
        reading = Reading(table.options, tuple(columns), json)
    if settings.whole_table:
        fitted = fit_transductive(loaded.models[0], texts, cache=cache, progress=progress)
        model: Any = fitted.model
        reference = Reference.of(model) if fitted.whole_table else None
    return reading, reference


def _sample(texts: Sequence[str]) -> list[str]:
    from sce_desktop.ml.transductive import sample

    return sample(texts)


def _score(
    plan: PartPlan, parts: Sequence[Part], total: int, start_pool: StartPool, progress: Progress
) -> list[PartReport]:
    found: list[PartReport] = []
    before = total - len(parts)
    progress.report(before, total, stage=_("starting workers"))
    with start_pool(plan) as pool:
        for report in pool.map(parts, progress, ordered=False):
            found.append(report)
            progress.report(before + len(found), total, stage=_("classifying parts"))
    return sorted(found, key=lambda report: report.number)


def _report(
    loaded: Loaded,
    labels: Sequence[Label],
    settings: ClassifySettings,
    parts: Sequence[Part],
    found: Sequence[PartReport],
    loading: float,
    started: float,
    output: str,
) -> ClusterReport:
    rows, blank = sum(one.rows for one in found), sum(one.blank for one in found)
    embed = sum(one.embed_seconds for one in found)
    return ClusterReport(
        parts=len(parts),
        resumed=len(parts) - len(found),
        rows=rows,
        scored=rows - blank,
        skipped_blank=blank,
        cut=sum(one.cut for one in found),
        labels=[label.name for label in labels],
        models=[named.name for named in loaded.models],
        seconds={
            "load": loading,
            "embed": embed,
            "score": sum(one.model_seconds for one in found) - embed,
            "total": time.perf_counter() - started,
        },
        output=output,
        precision=found[0].precision if found else precision_of(loaded.models[0].model),
        whole_table=settings.whole_table,
        baselines=loaded.baselines,
        languages=dict(_foreign(found, loaded, labels).languages().shares),
    )


def _foreign(found: Sequence[PartReport], loaded: Loaded, labels: Sequence[Label]) -> ForeignTexts:
    foreign = ForeignTexts(loaded.models[0], labels)
    for one in found:
        foreign.add(one.sample, one.scripts, count=one.rows - one.blank)
    return foreign


def _warn(
    found: Sequence[PartReport],
    loaded: Loaded,
    labels: Sequence[Label],
    settings: ClassifySettings,
    report: ClusterReport,
    progress: Progress,
) -> None:
    if problems := sum(one.problems for one in found):
        first = next(one.problem for one in found if one.problems)
        progress.warn(
            ngettext(
                "{count} problem in the files: {first}",
                "{count} problems in the files. The first: {first}",
                problems,
                first=first,
            )
        )
    if report.cut:
        progress.warn(
            _(
                "Texts longer than the {tokens} tokens that {model} reads: {count}. Only their "
                "beginning is used.",
                tokens=loaded.models[0].model.max_tokens,
                model=settings.model,
                count=number(report.cut),
            )
        )
    _foreign(found, loaded, labels).report(progress)
