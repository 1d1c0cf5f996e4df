"""A project as a file of another annotation tool, and what such a file says of annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.annotations import Annotation, Decision
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.exchange import FORMATS, INTERFACE_ENDING, Exchange
from sce_desktop.core.i18n import _
from sce_desktop.core.lists import from_list
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.data.atomic import replacing
from sce_desktop.data.exchange import argilla, doccano, huggingface, label_studio, qda_xml
from sce_desktop.data.exchange.records import (
    ANNOTATOR_PREFIX,
    ExchangeProject,
    ExchangeRow,
    Names,
    Prediction,
)
from sce_desktop.data.reader import Table
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.tables.export import Which, rows_to_export
from sce_desktop.tasks.tables.replaceable import check_output

_BATCH = 1000
_SHOWN_LABELS = 20  # predicted labels of a row that are exported, the best first


@one_state
def export_exchange(
    project: Project,
    path: Path,
    kind: str,
    *,
    only: Which = "all",
    query: RowQuery | None = None,
    overwrite: bool = True,
    progress: Progress,
) -> int:
    """Write rows of ``project`` to ``path`` in the format ``kind`` and return how many.

    What the format has no place for is one warning. Beside a file of Label Studio its labeling interface is
    written, without which that tool cannot show the labels.

    Args:
        project: Whose rows.
        path: The file.
        kind: One of `Exchange`.
        only: Which rows.
        query: What "shown" means.
        overwrite: Replace a file that is there.
        progress: Told of rows.

    Raises:
        UserError: There is no such format, the ending is another one, or the place cannot be written.
        Cancelled: The user stopped; the file is as it was before.
    """
    chosen = check_format(path, kind)
    about = _about(project)
    ids = rows_to_export(project, only, query) if chosen is not Exchange.CODEBOOK else project.row_ids()[:0]
    rows = _rows(project, about, ids, progress)
    with replacing(path, overwrite=overwrite) as aside:
        if chosen is Exchange.CODEBOOK:
            qda_xml.write_codebook(aside, about)
        elif chosen is Exchange.QDA_XML:
            qda_xml.write_project(aside, about, rows)
        elif chosen is Exchange.HUGGINGFACE:
            huggingface.write_dataset(aside, about, rows)
        else:
            write = _TEXTS[chosen]
            with aside.open("w", encoding="utf-8", newline="") as file:
                file.writelines(piece.encode("utf-8", "replace").decode() for piece in write(about, rows))
    if chosen is Exchange.LABEL_STUDIO:
        beside = path.with_name(path.stem + INTERFACE_ENDING)
        with replacing(beside) as aside:
            aside.write_text(label_studio.labeling_interface(about), encoding="utf-8", newline="")
        progress.warn(
            _(
                "The labeling interface is in {file}: paste it into Label Studio under Settings > Labeling "
                "Interface > Code.",
                file=beside.name,
            )
        )
    progress.warn(_(FORMATS[chosen].not_kept))
    return len(ids)


def check_format(path: Path, kind: str) -> Exchange:
    """Return the format ``kind``.

    Raises:
        UserError: There is none of that name, or ``path`` ends otherwise.
    """
    if kind not in set(Exchange):
        raise UserError(
            _("“{name}” is not a format: choose one of {names}.", name=kind, names=", ".join(Exchange))
        )
    chosen = Exchange(kind)
    ending = FORMATS[chosen].ending
    if path.suffix.lower() != ending:
        raise UserError(
            _(
                "{file} must end in {ending} for {format}.",
                file=path.name,
                ending=ending,
                format=_(FORMATS[chosen].title),
            )
        )
    return chosen


def check_exchange(path: Path, kind: str, *, force: bool = False) -> bool:
    """Refuse to replace a file that nobody asked to replace; return whether there is one that may be.

    Raises:
        UserError: There is one, or as `check_format`.
    """
    replace = check_output(path, force=force) if check_format(path, kind) else False
    if kind == Exchange.LABEL_STUDIO:
        check_output(path.with_name(path.stem + INTERFACE_ENDING), force=force)
    return replace


_TEXTS: Final[dict[Exchange, Callable[[ExchangeProject, Iterator[ExchangeRow]], Iterator[str]]]] = {
    Exchange.LABEL_STUDIO: label_studio.write_tasks,
    Exchange.DOCCANO: doccano.write_lines,
    Exchange.ARGILLA: argilla.write_records,
}


def _about(project: Project) -> ExchangeProject:
    label_set = project.label_set()
    return ExchangeProject(
        project.name,
        project.columns,
        project.text_columns,
        label_set.labels if label_set is not None else (),
        label_set is not None and label_set.multi_label,
    )


def _rows(
    project: Project, about: ExchangeProject, ids: IdArray, progress: Progress
) -> Iterator[ExchangeRow]:
    names = {label.id: label.name for label in about.labels}
    run = project.active_run(MAIN_ALIAS)
    others = [(coder.name, project.coder_answers(coder.id)) for coder in project.coders()]
    for start in range(0, len(ids), _BATCH):
        progress.check()
        some = project.rows(ids[start : start + _BATCH])
        row_ids = [row.id for row in some]
        annotations, marks = project.annotations(row_ids), project.marks(row_ids)
        scores = project.scores(run.id, row_ids) if run is not None else {}
        for row in some:
            mark = marks.get(row.id)
            yield ExchangeRow(
                row.id,
                row.text,
                row.cells,
                **_decided(annotations.get(row.id), names),
                unsure=mark is not None and mark.unsure,
                flag=mark is not None and mark.flag,
                note=mark.note if mark is not None else "",
                others=tuple(
                    (coder, tuple(_name(one, names) for one in answers[row.id]))
                    for coder, answers in others
                    if row.id in answers
                ),
                prediction=_prediction(run, scores.get(row.id)) if run is not None else None,
            )
        progress.report(min(start + _BATCH, len(ids)), len(ids), stage=_("exporting"))


def _name(answer: int | str, names: dict[int | None, str]) -> str:
    return answer if isinstance(answer, str) else names.get(answer, str(answer))


def _decided(annotation: Annotation | None, names: dict[int | None, str]) -> dict[str, Any]:
    if annotation is None:
        return {}
    if annotation.decision is Decision.SKIPPED:
        return {"skipped": True}
    labels: Names = tuple(name for label_id, name in names.items() if label_id in annotation.label_ids)
    return {"labels": labels, "decided": annotation.origin.value, "decided_at": annotation.decided_at}


def _prediction(run: Run, score: Any) -> Prediction | None:
    if score is None:
        return None
    shares = [float(f"{share:.6g}") for share in score.probabilities.tolist()]
    ranked = sorted(zip(run.label_names, shares, strict=True), key=lambda pair: -pair[1])
    if run.multi_label:
        likely = [pair for pair in ranked if pair[1] >= 0.5]
        ranked = likely or ranked[:1]
    return Prediction(run.title, tuple(ranked[:_SHOWN_LABELS]), run.multi_label)


# --- annotators of a file that was imported ----------------------------------------------------------------


def keep_annotators(project: Project, table: Table, ids: IdArray, progress: Progress) -> int:
    """Keep the labels of each annotator of ``table``, whose rows became ``ids``; return how many annotators.

    Labels of an annotator whose name is taken are not kept, with a warning.
    """
    columns = [
        (place, name.removeprefix(ANNOTATOR_PREFIX))
        for place, name in enumerate(table.columns)
        if name.startswith(ANNOTATOR_PREFIX) and len(name) > len(ANNOTATOR_PREFIX)
    ]
    if not columns:
        return 0
    answers: dict[int, dict[int, Names | None]] = {place: {} for place, _name in columns}
    row_ids = iter(ids.tolist())
    for batch in table.batches():
        progress.check()
        for cells, row_id in zip(batch, row_ids, strict=False):
            for place, _name in columns:
                cell = cells[place]
                if cell is not None and not is_blank(cell):
                    names = from_list(cell)
                    answers[place][row_id] = ((cell,) if names is None else names) or None
    kept = 0
    for place, name in columns:
        if answers[place]:
            try:
                project.add_coder(name, table.path.name, answers[place])
                kept += 1
            except UserError as error:
                progress.warn(str(error))
    return kept
