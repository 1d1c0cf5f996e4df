"""Classify a table into another table, without a project: streamed, so that its size does not matter."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.labels import check_scorable
from sce_desktop.core.precision import AUTO
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import TextModel, VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.atomic import check_folder
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import check_kind, write_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.evaluation.final_labels import FinalReport
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.blocks import BlockPlan, Reference
from sce_desktop.tasks.scoring.final_table import FinalTable, FinalWanted
from sce_desktop.tasks.scoring.joint import check_joint, fit_transductive_to_file
from sce_desktop.tasks.scoring.models import (
    MAIN_ALIAS,
    Baseline,
    ModelSource,
    NamedModel,
    labels_for,
    load_models,
    precision_of,
)
from sce_desktop.tasks.scoring.scale import report_scale
from sce_desktop.tasks.scoring.spread import Spread
from sce_desktop.tasks.scoring.table_work import TableWork
from sce_desktop.tasks.scoring.timing import TimedCache
from sce_desktop.tasks.tables.columns import (
    ModelColumns,
    beside,
    elsewhere,
    find_column,
    find_columns,
    report_doubts,
    report_reading,
)
from sce_desktop.tasks.tables.final_columns import FINAL_COLUMNS
from sce_desktop.tasks.tables.replaceable import check_output, has_only_rows_of, is_result

BATCH_ROWS = 2000  # read and scored at once; a cancel need not wait for them, it takes effect within


@dataclass(frozen=True, slots=True)
class ClassifySettings:
    """Which models score a table, and what is written of it.

    ``threshold``: below it a row's status is "unsure"; None: never. ``multi_label``: each label is scored
    separately. ``whole_table``: rows are predicted jointly (`ml.transductive`). ``excel_safe``: in csv, put '
    before cells that Excel would run as a formula. ``final``: adds final labels; for an error to promise it
    chooses the threshold in place of ``threshold``. ``batch_rows``: read and scored at once.
    ``draft``: models come from a `DraftSource`, and a column says so.
    """

    model: str
    baselines: tuple[Baseline, ...] = ()
    threshold: float | None = None
    multi_label: bool = False
    whole_table: bool = False
    excel_safe: bool = False
    final: FinalWanted | None = None
    batch_rows: int = BATCH_ROWS
    draft: bool = False


@dataclass(frozen=True, slots=True)
class ClassifyReport:
    """What `classify_table` did. ``seconds``: load, embed, score and total."""

    rows: int
    scored: int
    skipped_blank: int
    cut: int  # texts longer than the model reads
    labels: list[str]
    models: list[str]
    seconds: dict[str, float]
    output: str
    precision: str | None = None  # what the main model's text embedder multiplied in; None: it has none
    whole_table: bool = False  # rows were predicted jointly
    baselines: dict[str, str] = field(default_factory=dict)  # the model behind each, by alias
    languages: dict[str, float] = field(default_factory=dict)  # shares by ISO code, see `core.languages`
    final: FinalReport | None = None  # where final labels were asked for


def classify_table(
    table_path: Path,
    output: Path,
    settings: ClassifySettings,
    *,
    text_columns: Sequence[str | int],
    labels: Sequence[Label] | None,
    source: ModelSource,
    options: TableOptions | None = None,
    force: bool = False,
    cache: VectorCache | None = None,
    progress: Progress,
) -> ClassifyReport:
    """Write ``table_path`` to ``output`` with the results of models beside its columns.

    Rows keep their order and cells; rows without text keep their place and have empty result cells. Nothing
    is left at ``output`` if it cannot be finished. Without ``labels`` the model's own are taken. An older
    result with the same columns, all of whose rows are this table's, is replaced; with ``force`` any file but
    the table itself.

    Raises:
        UserError: The table, a column, a label, a model or the output is not right.
        Cancelled: The user stopped; nothing was written.
    """
    started = time.perf_counter()
    final = settings.final
    check_kind(output)  # now, and not when the model has been loaded
    check_folder(output)
    table = open_table(table_path, options or TableOptions())
    report_doubts(table, progress)
    if output.exists() and output.samefile(table_path):
        raise UserError(_("The output would replace the table itself: choose another name for it."))
    delimiter = table.options.delimiter or ","

    what = _("an earlier result of this command")

    def ours_of_this_table() -> bool:
        again = open_table(table_path, options or TableOptions())
        return is_result(output, table.columns, delimiter, more=True) and has_only_rows_of(
            output, table.columns, again.batches(), delimiter
        )

    check_output(output, force=force, ours=ours_of_this_table, what=what)
    texts_at = find_columns(table.columns, text_columns, progress, hint=elsewhere(table))
    known_at = find_column(table.columns, final.column, progress) if final and final.column else None
    if labels:
        check_scorable(labels)  # before the model takes its seconds
    loaded = load_models(source, [settings.model], settings.baselines, progress)
    labels = labels_for(loaded.models[0].model, labels, multi_label=settings.multi_label)
    timed = TimedCache(cache)
    if settings.whole_table:
        check_joint(labels, multi_label=settings.multi_label)
        loaded.models[0] = fit_transductive_to_file(
            loaded.models[0], table_path, texts_at, table.options, cache=timed, progress=progress
        )
    ours = _columns(loaded.models, labels, settings, settings.threshold)
    names = [name for columns in ours for name in columns.header]
    names = beside(table.columns, [*names, *(FINAL_COLUMNS if final else ())], progress)
    header = [*table.columns, *names]
    replace = check_output(output, force=force, ours=lambda: is_result(output, header, delimiter), what=what)
    report_scale(table, texts_at, output, labels, loaded.models, settings.multi_label, timed, progress)
    work = TableWork(loaded.models, ours, labels, settings.multi_label, timed, progress)
    if final is not None:
        labels_at = ours[0].header.index(f"{MAIN_ALIAS}_labels") if settings.multi_label else None
        work.final = FinalTable(final, column=known_at, labels_at=labels_at, threshold=settings.threshold)
    report = None
    if work.final is not None and final is not None and final.max_error is not None:
        work.look(open_table(table_path, options or TableOptions()), texts_at, settings.batch_rows)
        report = work.final.choose()
        work.columns = _columns(loaded.models, labels, settings, report.threshold)
    ending = output.suffix.lower()
    work.keep_types = ending == ".jsonl"
    work.by_column = final is None and ending in (".csv", ".tsv", ".parquet")
    spread = Spread.over(source) if final is None else None  # final labels need every row in this process
    with closing(
        work.classified(table, texts_at, settings.batch_rows)
        if spread is None
        else spread.classified(
            table,
            block_plan(work, settings, Shape(table.columns, texts_at), _delimiter_of(output, delimiter)),
            settings.batch_rows,
            work,
            progress,
        )
    ) as batches:
        write_table(
            output,
            header,
            batches,
            delimiter=delimiter,
            excel_safe=settings.excel_safe,
            overwrite=replace,
            types=table.types,
            progress=Unreported(progress),
        )
    if work.kept is not None:
        work.kept.close()
    if work.final is not None and report is None:
        report = work.final.choose()
    for note in report.notes if report is not None else ():
        progress.warn(note)
    report_reading(table, progress)
    if work.cut:
        most = loaded.models[0].model.max_tokens
        progress.warn(
            _(
                "Texts longer than the {tokens} tokens that {model} reads: {count}. Only their "
                "beginning is used.",
                tokens=most,
                model=settings.model,
                count=number(work.cut),
            )
        )
    work.foreign.report(progress)
    if not work.rows:
        progress.warn(_("The table has no rows: only the header was written."))
    return ClassifyReport(
        rows=work.rows,
        scored=work.rows - work.blank,
        skipped_blank=work.blank,
        cut=work.cut,
        labels=[label.name for label in labels],
        models=[named.name for named in loaded.models],
        seconds={
            "load": loaded.seconds,
            "embed": timed.seconds,
            "score": work.model_seconds - timed.seconds,
            "total": time.perf_counter() - started,
        },
        output=str(output),
        precision=precision_of(loaded.models[0].model),
        whole_table=settings.whole_table,
        baselines=loaded.baselines,
        languages=dict(work.foreign.languages().shares),
        final=report,
    )


def _delimiter_of(output: Path, delimiter: str) -> str | None:
    """Return the delimiter of ``output`` if its rows can be handed over as csv text, else None."""
    return {".csv": delimiter, ".tsv": "\t"}.get(output.suffix.lower())


def block_plan(work: TableWork, settings: ClassifySettings, shape: Shape, delimiter: str | None) -> BlockPlan:
    """Return what a worker has to know to do as ``work`` does."""
    main = work.models[0]
    base, fitted = main.model, getattr(main.model, "model", None)
    reference = None
    if main.whole_table and fitted is not None:
        base, reference = fitted, Reference.of(base)
    return BlockPlan(
        settings.model,
        tuple(settings.baselines),
        tuple(work.labels),
        work.multi_label,
        shape,
        tuple(work.columns),
        precision=precision_of(base) or AUTO,
        fingerprint=base.fingerprint,
        reference=reference,
        delimiter=delimiter,
        excel_safe=settings.excel_safe,
        keep_types=work.keep_types,
    )


def model_columns(
    models: Sequence[NamedModel], labels: Sequence[Label], settings: ClassifySettings
) -> list[ModelColumns]:
    """Return the columns of each model; the first one's lead."""
    return _columns(models, labels, settings, settings.threshold)


def _columns(
    models: Sequence[NamedModel],
    labels: Sequence[Label],
    settings: ClassifySettings,
    threshold: float | None,
) -> list[ModelColumns]:
    """Return the columns of each model; the first one's lead."""
    several = settings.multi_label
    return [
        ModelColumns(
            named.alias,
            [label.name for label in labels],
            main=named is models[0],
            none=named is models[0] and says_none(named.model, labels, multi_label=several),
            multi_label=several,
            threshold=threshold,
            draft=settings.draft,
        )
        for named in models
    ]


def says_none(model: TextModel, labels: Sequence[Label], *, multi_label: bool) -> bool:
    """Return whether ``model`` can say that no label fits: only its answer tells, so it is asked once."""
    return model.probabilities(["?"], labels, multi_label=multi_label).none is not None
