"""What the workers run for the findings panel; like `controllers.work`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sce_desktop.core.annotations import Row
from sce_desktop.core.i18n import PSEUDO, _, language, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import Cell

if TYPE_CHECKING:
    from sce_desktop.core.estimates import Share
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.evaluation.evidence import Evidence
    from sce_desktop.tasks.insight.findings import Findings, Group
    from sce_desktop.tasks.tables.parts import Columns, Parts
    from sce_desktop.tasks.tables.periods import Unit

View = Literal["shares", "column", "time"]
SHOWN = 20  # example rows of a cell


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the panel asks for. ``column``: a 0-based place, None: whichever offers itself."""

    view: View = "shares"
    column: int | None = None
    unit: Unit | None = None  # of time; None: whichever fits
    alias: str = ""  # whose probabilities help; empty: nobody's
    rolled: bool = False  # children count as their parents
    counts: bool = False  # numbers of rows instead of shares


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """What was read from the project, for the next question; never changed."""

    evidence: Evidence
    scores: tuple[object, ...]  # what its probabilities hang on
    columns: Columns
    model: str = ""  # whose probabilities they are, as `about_run` says it
    column: int | None = None
    cells: Sequence[Cell] = ()  # of ``column``, one a row of the evidence


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the panel shows, and what further questions about it need."""

    wanted: Wanted  # with the column and the unit that were taken
    findings: Findings
    sentences: tuple[str, ...]  # what the figures rest on and leave out
    notes: tuple[str, ...]  # more of that, which the report cannot know by itself
    parts: Parts | None
    evidence: Evidence  # rolled up if that was wanted
    read: Read
    most: float = 1.0  # the largest figure, or end of an interval, of what is compared: the end of the scale

    def figure(self, place: int, part: int = -1) -> Share:
        """The figure of an answer in a part (-1: the whole table): a share, or a number of rows."""
        found = self.findings
        group = found.whole if part < 0 else found.groups[part]
        return group.figure(place, counts=self.wanted.counts)

    @property
    def nothing(self) -> bool:
        """Whether no row is labelled or scored."""
        return not self.findings.decided and not self.evidence.probabilities

    @property
    def calls_for_sample(self) -> bool:
        """Whether a random sample would give the shares intervals, or better ones."""
        return self.findings.decided < self.findings.rows and not self.findings.sampled


@dataclass(frozen=True, slots=True)
class CellRows:
    """The rows behind one cell: labelled rows come first, then the surest predictions."""

    ids: tuple[int, ...]
    decided: int
    shown: tuple[Row, ...]


def look(
    project: Project, wanted: Wanted, read: Read | None, *, recompute: bool = True, progress: Progress
) -> Answer:
    """Answer ``wanted``.

    Args:
        project: Whose rows.
        wanted: What is asked.
        read: What the last answer was made from.
        recompute: Whether decisions, labels, scores or rows may be others than in ``read``.
        progress: Asked between the steps whether to go on.

    Raises:
        UserError: There is no label, or no row with text.
    """
    from sce_desktop.tasks.evaluation import report
    from sce_desktop.tasks.evaluation.evidence import rolled_up
    from sce_desktop.tasks.insight.findings import column_values, find
    from sce_desktop.tasks.tables import parts

    if wanted.view == "time":
        import pyqtgraph  # noqa: F401 - takes up to a second, in which the window must not stand still
    if read is None or recompute or read.scores[:1] != (wanted.alias,):
        with project.snapshot():
            read = _read(project, wanted.alias, read, progress)
    evidence = rolled_up(read.evidence) if wanted.rolled else read.evidence
    progress.check()
    found_parts, column = None, wanted.column
    if wanted.view != "shares":
        if column is None:
            column = read.columns.by_date if wanted.view == "time" else read.columns.by_value
        if column is not None:
            if read.column != column:
                cells = column_values(project, evidence.row_ids, column, progress)
                read = replace(read, column=column, cells=cells)
            over_time = wanted.view == "time"
            found_parts = parts.part(read.cells, over_time=over_time, unit=wanted.unit, progress=progress)
            progress.check()
    findings = find(
        evidence,
        alias=wanted.alias,
        column="" if column is None or found_parts is None else project.columns[column],
        codes=found_parts.codes if found_parts else None,
        names=found_parts.names if found_parts else (),
        unreadable=found_parts.unreadable if found_parts else 0,
        progress=progress,
    )
    notes = list(found_parts.notes if found_parts else ())
    if evidence.waiting:
        notes.append(
            ngettext(
                "{count} row of the audit sample is still unlabelled.",
                "{count} rows of the audit sample are still unlabelled.",
                evidence.waiting,
            )
        )
    if evidence.frame is not None and (outside := int((~evidence.frame & (evidence.answer < 0)).sum())):
        notes.append(
            ngettext(
                "The audit sample was not drawn from {count} unlabelled row: draw another sample.",
                "The audit sample was not drawn from {count} unlabelled rows: draw another sample.",
                outside,
            )
        )
    if evidence.multi_label:
        notes.append(_("Rows may have several labels: the shares need not sum to 100%."))
    return Answer(
        replace(wanted, column=column, unit=found_parts.unit if found_parts else wanted.unit),
        findings,
        tuple(report.sentences(findings)),
        tuple(notes),
        found_parts,
        evidence,
        read,
        _most(findings.groups if found_parts else (findings.whole,), counts=wanted.counts),
    )


def _most(groups: Sequence[Group], *, counts: bool) -> float:
    figures = (
        group.figure(place, counts=counts)
        for group in groups
        if group.rows
        for place in range(len(group.shares))
    )
    least = 1.0 if counts else 0.01
    return max([least, *(max(figure.value, *(figure.interval or (0.0,))) for figure in figures)])


def _read(project: Project, alias: str, before: Read | None, progress: Progress) -> Read:
    """Read decisions, and probabilities and cells only where they are not those of ``before``."""
    from sce_desktop.tasks.evaluation.audits import gather_sampled
    from sce_desktop.tasks.tables.parts import columns
    from sce_desktop.tasks.tables.provenance import about_run

    label_set, run = project.label_set(), project.active_run(alias) if alias else None
    labels = tuple(label.id for label in label_set.labels) if label_set else ()
    rows = project.row_count()
    scores = (alias, run and (run.id, run.scored), labels, rows)
    kept = before is not None and before.scores == scores
    wanted = run is not None and run.scored > 0 and not kept
    evidence = gather_sampled(project, [alias] if wanted else [])
    model = about_run(run, project.versions()) if run is not None else ""
    progress.check()
    if before is not None and kept:
        evidence = replace(evidence, probabilities=before.evidence.probabilities)
    if before is None or before.scores[-1] != rows:
        return Read(evidence, scores, columns(project), model)
    return replace(before, evidence=evidence, scores=scores, model=model)


def cell_rows(project: Project, answer: Answer, place: int, part: int, *, progress: Progress) -> CellRows:
    """Return the rows with the answer at ``place`` in ``part`` (-1: the whole table)."""
    from sce_desktop.tasks.insight.findings import examples

    evidence, codes = answer.evidence, answer.parts.codes if answer.parts and part >= 0 else None
    count = len(evidence.row_ids)
    found = examples(evidence, place, alias=answer.wanted.alias, codes=codes, group=part, count=count)
    group = answer.findings.whole if part < 0 else answer.findings.groups[part]
    progress.check()
    shown = project.rows(found[:SHOWN])
    return CellRows(tuple(found.tolist()), group.shares[place].decided, tuple(shown))


def as_text(answer: Answer, order: Sequence[int], *, progress: Progress) -> str:
    """Return the figures that are shown as cells to paste, the labels in ``order`` if one is given."""
    from sce_desktop.tasks.evaluation.report import as_cells, crosstab_cells
    from sce_desktop.tasks.tables.pasting import as_tsv

    found, counts = answer.findings, answer.wanted.counts
    shares = answer.wanted.view == "shares"
    cells = as_cells(found.whole, counts=counts) if shares else crosstab_cells(found, counts=counts)
    head = len(cells) - len(found.answers)
    return as_tsv([*cells[:head], *(cells[head + place] for place in order or range(len(found.answers)))])


def write(project: Project, answer: Answer, path: Path, *, replace: bool = False, progress: Progress) -> Path:
    """Write ``answer`` to a workbook or a page, by the ending of ``path``."""
    from babel.dates import format_date

    from sce_desktop.tasks.evaluation.report import Report, collect_examples, write_xlsx
    from sce_desktop.tasks.evaluation.report_page import write_html

    shown = collect_examples(project, answer.evidence, answer.findings, alias=answer.wanted.alias)
    progress.check()
    tag = "en_GB" if language() in ("en", PSEUDO) else language()
    made = Report(
        _("Findings: {project}", project=project.path.stem),
        format_date(date.today(), "long", locale=tag),
        answer.findings,
        shown,
        over_time=answer.wanted.view == "time",
        counts=answer.wanted.counts,
        notes=[*answer.notes, *_models(answer)],
    )
    (write_xlsx if path.suffix.lower() == ".xlsx" else write_html)(path, made, overwrite=replace)
    return path


def _models(answer: Answer) -> list[str]:
    """Which model's probabilities helped when they were read: a line, or none."""
    return [_("Model: {model}.", model=answer.read.model)] if answer.evidence.probabilities else []
