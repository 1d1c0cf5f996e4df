"""Findings to hand on: a page that opens anywhere, a workbook, and cells to paste."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import Share
from sce_desktop.core.i18n import N_, _, ngettext, number, percent
from sce_desktop.data.atomic import replacing
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import Evidence
from sce_desktop.tasks.insight.findings import FEWEST_SAMPLED, Findings, Group, examples
from sce_desktop.temporary import temporary_beside

EXAMPLE_LENGTH = 300
MOST_CELLS = 400
"""Parts times labels: beyond it only the examples of all rows are given."""
COLUMNS = (N_("label"), N_("share"), N_("from"), N_("to"), N_("labelled"), N_("predicted"))
ROW_COLUMNS = (N_("rows, estimated"), N_("rows: from"), N_("rows: to"))
_PERCENT, _COUNT = "0.0%", "#,##0"


@dataclass(frozen=True, slots=True)
class Example:
    """A row that shows what an answer looks like; ``number`` counts from 1 as the table does."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What is written. ``examples`` by (answer, place of the part; -1: all rows)."""

    title: str
    created: str  # a date for people
    findings: Findings
    examples: Mapping[tuple[int, int], Sequence[Example]] = field(default_factory=dict)
    over_time: bool = False  # the parts are periods: lines instead of columns
    counts: bool = False  # the parts are compared by numbers of rows instead of shares
    notes: Sequence[str] = ()  # about the parts


def collect_examples(
    project: Project, evidence: Evidence, findings: Findings, *, alias: str = "", count: int = 3
) -> dict[tuple[int, int], tuple[Example, ...]]:
    """Return example rows of every answer, of all rows and of each part."""
    cells = [(answer, -1) for answer in range(len(findings.answers))]
    if findings.codes is not None and len(findings.groups) * len(findings.answers) <= MOST_CELLS:
        cells += [
            (answer, part) for answer in range(len(findings.answers)) for part in range(len(findings.groups))
        ]
    chosen: dict[tuple[int, int], IdArray] = {}
    for answer, part in cells:
        codes = None if part < 0 else findings.codes
        chosen[answer, part] = examples(evidence, answer, alias=alias, codes=codes, group=part, count=count)
    ids = sorted({int(row_id) for row_ids in chosen.values() for row_id in row_ids})
    rows = {row.id: Example(row.position + 1, _cut(row.text)) for row in project.rows(ids)}
    return {cell: tuple(rows[int(row_id)] for row_id in row_ids) for cell, row_ids in chosen.items()}


def as_cells(group: Group, *, counts: bool = False) -> list[list[str]]:
    """Return the shares, or numbers of rows, as text, header first: what goes to the clipboard."""
    columns = [_(name) for name in COLUMNS]
    lines = [[columns[0], _("rows") if counts else columns[1], *columns[2:]]]
    for answer, one in enumerate(group.shares):
        figures = with_ends(group.figure(answer, counts=counts), _plain, counts=counts)
        lines.append([one.name, *figures, str(one.decided), str(one.predicted)])
    return lines


def crosstab_cells(found: Findings, *, counts: bool = False) -> list[list[str]]:
    """Return shares, or numbers of rows, by part as text, header first: a line a label, a column a part."""
    ends = any(one.share.interval for group in found.groups for one in group.shares)
    header, rows = [found.column], [_("rows")]
    for group in found.groups:
        header.append(group.name)
        if ends:
            header += [_("{group}: from", group=group.name), _("{group}: to", group=group.name)]
        rows += [str(group.rows), *(["", ""] if ends else [])]
    lines = []
    for answer, name in enumerate(found.answers):
        line = [name]
        for group in found.groups:
            figures = with_ends(group.figure(answer, counts=counts), _plain, counts=counts)
            shown = figures if group.rows else [""] * len(figures)
            line += shown if ends else shown[:1]
        lines.append(line)
    return [header, rows, *lines]


def write_xlsx(path: Path, report: Report, *, overwrite: bool = True) -> None:
    """Write a workbook: shares with a chart, parts, examples, notes. UserError as `write_html`."""
    import xlsxwriter

    found = report.findings
    with replacing(path, overwrite=overwrite) as temporary, ExitStack() as book_files:
        scratch = book_files.enter_context(temporary_beside(temporary))
        scratch.mkdir()
        options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        with xlsxwriter.Workbook(temporary, {**options, "tmpdir": str(scratch)}) as book:
            styles = {
                "bold": book.add_format({"bold": True}),
                "percent": book.add_format({"num_format": _PERCENT}),
                "count": book.add_format({"num_format": _COUNT}),
                "wrap": book.add_format({"text_wrap": True, "valign": "top"}),
            }
            shares = _("Shares")
            sheet = book.add_worksheet(shares)
            _write_shares(sheet, found.whole, styles)
            chart = book.add_chart({"type": "bar"})
            last = len(found.whole.shares)
            chart.add_series(
                {"categories": [shares, 1, 0, last, 0], "values": [shares, 1, 1, last, 1], "gap": 40}
            )
            chart.set_legend({"none": True})
            chart.set_title({"name": _cell(report.title)[:200]})
            chart.set_y_axis({"reverse": True})
            sheet.insert_chart(0, len(COLUMNS) + len(ROW_COLUMNS) + 1, chart)
            if found.groups:
                _write_parts(book.add_worksheet(_("Parts")), found, styles)
            if report.examples:
                _write_examples(book.add_worksheet(_("Examples")), report, styles)
            about = book.add_worksheet(_("About"))
            about.set_column(0, 0, 100, styles["wrap"])
            for line, text in enumerate([report.title, report.created, *sentences(found), *report.notes]):
                about.write_string(line, 0, _cell(text))


def _write_shares(sheet: Any, whole: Group, styles: Mapping[str, Any]) -> None:
    sheet.set_column(0, 0, 36)
    for column, name in enumerate(map(_, (*COLUMNS, *ROW_COLUMNS))):
        sheet.write_string(0, column, name, styles["bold"])
    for line, one in enumerate(whole.shares, 1):
        sheet.write_string(line, 0, _cell(one.name))
        _write_figure(sheet, line, 1, one.share, styles["percent"])
        sheet.write_number(line, 4, one.decided)
        sheet.write_number(line, 5, one.predicted)
        _write_figure(sheet, line, 6, one.share.as_count(whole.rows), styles["count"])


def _write_figure(sheet: Any, line: int, column: int, figure: Share, style: Any) -> None:
    for place, value in enumerate((figure.value, *(figure.interval or ()))):
        sheet.write_number(line, column + place, value, style)


def _write_parts(sheet: Any, found: Findings, styles: Mapping[str, Any]) -> None:
    header = (_cell(found.column), _("rows"), _("of them sampled"), *map(_, (*COLUMNS, *ROW_COLUMNS)))
    for column, name in enumerate(header):
        sheet.write_string(0, column, name, styles["bold"])
    sheet.set_column(0, 0, 30)
    sheet.set_column(3, 3, 36)
    line = 1
    for group in found.groups:
        for one in group.shares:
            sheet.write_string(line, 0, _cell(group.name))
            sheet.write_number(line, 1, group.rows)
            sheet.write_number(line, 2, group.sampled)
            sheet.write_string(line, 3, _cell(one.name))
            if group.rows:
                _write_figure(sheet, line, 4, one.share, styles["percent"])
                _write_figure(sheet, line, 9, one.share.as_count(group.rows), styles["count"])
            sheet.write_number(line, 7, one.decided)
            sheet.write_number(line, 8, one.predicted)
            line += 1
    sheet.autofilter(0, 0, max(1, line - 1), len(header) - 1)


def _write_examples(sheet: Any, report: Report, styles: Mapping[str, Any]) -> None:
    found = report.findings
    for column, name in enumerate((_("label"), _cell(found.column) or _("group"), _("row"), _("text"))):
        sheet.write_string(0, column, name, styles["bold"])
    sheet.set_column(0, 1, 30)
    sheet.set_column(3, 3, 100, styles["wrap"])
    line = 1
    for (answer, part), shown in sorted(report.examples.items()):
        for example in shown:
            sheet.write_string(line, 0, _cell(found.answers[answer]))
            sheet.write_string(line, 1, _("all rows") if part < 0 else _cell(found.groups[part].name))
            sheet.write_number(line, 2, example.number)
            sheet.write_string(line, 3, _cell(example.text))
            line += 1


def sentences(found: Findings) -> list[str]:
    """Return the notes on the figures: their basis, and what is excluded."""
    rows = ngettext("{count} row with text", "{count} rows with text", found.rows)
    notes = [
        ngettext(
            "{rows}, {count} of them labelled.", "{rows}, {count} of them labelled.", found.decided, rows=rows
        ),
        found.basis,
    ]
    if found.unreadable:
        notes.append(
            ngettext(
                "{count} row is in no period: its date cannot be read.",
                "{count} rows are in no period: their dates cannot be read.",
                found.unreadable,
            )
        )
    sampled = found.whole.shares[0].share.interval is not None
    if sampled and any(group.shares[0].share.interval is None for group in found.groups if group.rows):
        notes.append(
            ngettext(
                "Figures without an interval: fewer than {count} sampled row in the group. "
                "Interpret with care.",
                "Figures without an interval: fewer than {count} sampled rows in the group. "
                "Interpret with care.",
                FEWEST_SAMPLED,
            )
        )
    return notes


def value_text(value: float, *, counts: bool = False) -> str:
    """Write a share, or a number of rows, for people."""
    return number(value) if counts else percent(value, 1)


def _plain(value: float, *, counts: bool = False) -> str:
    """The same for a spreadsheet, which takes a comma between thousands for something else."""
    return f"{value:.0f}" if counts else f"{value:.1%}"


def with_ends(figure: Share, write: Callable[..., str], *, counts: bool) -> list[str]:
    """Return a figure and the ends of its interval, which are empty where it has none."""
    ends = ["", ""] if figure.interval is None else [write(end, counts=counts) for end in figure.interval]
    return [write(figure.value, counts=counts), *ends]


def range_text(figure: Share, *, counts: bool = False) -> str:
    """Write the ends of an interval; empty without one."""
    if figure.counted:
        return _("(counted)")
    if figure.interval is None:
        return ""
    low, high = (value_text(end, counts=counts) for end in figure.interval)
    return _("({low} to {high})", low=low, high=high)


def _cut(text: str) -> str:
    return text if len(text) <= EXAMPLE_LENGTH else text[:EXAMPLE_LENGTH].rstrip() + "…"


def _cell(text: str) -> str:
    """Return ``text`` as Excel can hold it: no half of a surrogate pair, not too long."""
    return text.encode("utf-8", "replace").decode("utf-8")[:16_000]
