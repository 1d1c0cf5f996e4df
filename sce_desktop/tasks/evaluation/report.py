"""Findings to hand on: a page that opens anywhere, a workbook, and cells to paste."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import Share
from sce_desktop.core.words import plural
from sce_desktop.data.atomic import replacing
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import Evidence
from sce_desktop.tasks.evaluation.svg import Bar, Line, bar_chart, escape, line_chart
from sce_desktop.tasks.insight.findings import FEWEST_SAMPLED, Findings, Group, examples

EXAMPLE_LENGTH = 300
MOST_LINES = 6
MOST_CELLS = 400
"""Parts times answers: beyond it only the examples of the whole table are given."""
_HEADER = ("label", "share", "from", "to", "decided by a person", "predicted")
_ROWS = ("rows, estimated", "rows: from", "rows: to")
_PERCENT, _COUNT = "0.0%", "#,##0"


@dataclass(frozen=True, slots=True)
class Example:
    """A row that shows what an answer looks like; ``number`` counts from 1 as the table does."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What is written. ``examples`` by (answer, place of the part; -1: the whole table)."""

    title: str
    created: str  # a date for people
    findings: Findings
    examples: Mapping[tuple[int, int], Sequence[Example]] = field(default_factory=dict)
    over_time: bool = False  # the parts are periods: lines instead of columns
    counts: bool = False  # the parts are compared by numbers of rows instead of shares
    notes: Sequence[str] = ()  # more to be said about the parts


def collect_examples(
    project: Project, evidence: Evidence, findings: Findings, *, alias: str = "", count: int = 3
) -> dict[tuple[int, int], tuple[Example, ...]]:
    """Return example rows of every answer, over the whole table and in each part."""
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
    lines = [[_HEADER[0], "rows" if counts else _HEADER[1], *_HEADER[2:]]]
    for answer, one in enumerate(group.shares):
        figures = _with_ends(group.figure(answer, counts=counts), _plain, counts=counts)
        lines.append([one.name, *figures, str(one.decided), str(one.predicted)])
    return lines


def crosstab_cells(found: Findings, *, counts: bool = False) -> list[list[str]]:
    """Return shares, or numbers of rows, by part as text, header first: a line a label, a column a part."""
    ends = any(one.share.interval for group in found.groups for one in group.shares)
    header, rows = [found.column], ["rows"]
    for group in found.groups:
        header += [group.name, *([f"{group.name}: from", f"{group.name}: to"] if ends else [])]
        rows += [str(group.rows), *(["", ""] if ends else [])]
    lines = []
    for answer, name in enumerate(found.answers):
        line = [name]
        for group in found.groups:
            figures = _with_ends(group.figure(answer, counts=counts), _plain, counts=counts)
            shown = figures if group.rows else [""] * len(figures)
            line += shown if ends else shown[:1]
        lines.append(line)
    return [header, rows, *lines]


def write_html(path: Path, report: Report, *, overwrite: bool = True) -> None:
    """Write one page that needs no other file, no script and no network. UserError for a bad place."""
    page = _page(report).encode("utf-8", "replace")
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(page)


def write_xlsx(path: Path, report: Report, *, overwrite: bool = True) -> None:
    """Write a workbook: shares with a chart, parts, examples, what it rests on. UserError as `write_html`."""
    import xlsxwriter

    found = report.findings
    with replacing(path, overwrite=overwrite) as temporary:
        options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        with xlsxwriter.Workbook(temporary, options) as book:
            styles = {
                "bold": book.add_format({"bold": True}),
                "percent": book.add_format({"num_format": _PERCENT}),
                "count": book.add_format({"num_format": _COUNT}),
                "wrap": book.add_format({"text_wrap": True, "valign": "top"}),
            }
            sheet = book.add_worksheet("Shares")
            _write_shares(sheet, found.whole, styles)
            chart = book.add_chart({"type": "bar"})
            last = len(found.whole.shares)
            chart.add_series(
                {"categories": ["Shares", 1, 0, last, 0], "values": ["Shares", 1, 1, last, 1], "gap": 40}
            )
            chart.set_legend({"none": True})
            chart.set_title({"name": _cell(report.title)[:200]})
            chart.set_y_axis({"reverse": True})
            sheet.insert_chart(0, len(_HEADER) + len(_ROWS) + 1, chart)
            if found.groups:
                _write_parts(book.add_worksheet("Parts"), found, styles)
            if report.examples:
                _write_examples(book.add_worksheet("Examples"), report, styles)
            about = book.add_worksheet("About")
            about.set_column(0, 0, 100, styles["wrap"])
            for line, text in enumerate([report.title, report.created, *sentences(found), *report.notes]):
                about.write_string(line, 0, _cell(text))


def _write_shares(sheet: Any, whole: Group, styles: Mapping[str, Any]) -> None:
    sheet.set_column(0, 0, 36)
    for column, name in enumerate((*_HEADER, *_ROWS)):
        sheet.write_string(0, column, name, styles["bold"])
    for line, one in enumerate(whole.shares, 1):
        sheet.write_string(line, 0, _cell(one.name))
        _write_figure(sheet, line, 1, one.share, styles["percent"])
        sheet.write_number(line, 4, one.decided)
        sheet.write_number(line, 5, one.predicted)
        _write_figure(sheet, line, 6, one.share.of(whole.rows), styles["count"])


def _write_figure(sheet: Any, line: int, column: int, figure: Share, style: Any) -> None:
    for place, value in enumerate((figure.value, *(figure.interval or ()))):
        sheet.write_number(line, column + place, value, style)


def _write_parts(sheet: Any, found: Findings, styles: Mapping[str, Any]) -> None:
    header = (_cell(found.column), "rows", "of them sampled", *_HEADER, *_ROWS)
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
                _write_figure(sheet, line, 9, one.share.of(group.rows), styles["count"])
            sheet.write_number(line, 7, one.decided)
            sheet.write_number(line, 8, one.predicted)
            line += 1
    sheet.autofilter(0, 0, max(1, line - 1), len(header) - 1)


def _write_examples(sheet: Any, report: Report, styles: Mapping[str, Any]) -> None:
    found = report.findings
    for column, name in enumerate(("label", _cell(found.column) or "part", "row", "text")):
        sheet.write_string(0, column, name, styles["bold"])
    sheet.set_column(0, 1, 30)
    sheet.set_column(3, 3, 100, styles["wrap"])
    line = 1
    for (answer, part), shown in sorted(report.examples.items()):
        for example in shown:
            sheet.write_string(line, 0, _cell(found.answers[answer]))
            sheet.write_string(line, 1, "all rows" if part < 0 else _cell(found.groups[part].name))
            sheet.write_number(line, 2, example.number)
            sheet.write_string(line, 3, _cell(example.text))
            line += 1


_STYLE = """
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25rem .7rem;
border-bottom:1px solid #8886;text-align:start;vertical-align:top}td.n,th.n{text-align:end}
td.n{white-space:nowrap}th{overflow-wrap:break-word;max-width:11rem}
.wide{overflow-x:auto}small,.quiet{opacity:.75}blockquote{margin:.3rem 0;padding-inline-start:.8rem;
border-inline-start:3px solid #8886;white-space:pre-wrap;overflow-wrap:anywhere}
svg{max-width:100%;height:auto}
@media print{details{display:block}.wide{overflow:visible}tr,blockquote{break-inside:avoid}}
"""


def _page(report: Report) -> str:
    found = report.findings
    bars = [
        Bar(one.name, one.share.value, one.share.interval, f"{_number(one.share.value)} {_range(one.share)}")
        for one in found.whole.shares
    ]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head><body>",
        f'<h1 dir="auto">{escape(report.title)}</h1><p class="quiet">{escape(report.created)}</p>',
        *(f'<p dir="auto">{escape(sentence)}</p>' for sentence in (*sentences(found), *report.notes)),
        "<h2>Shares</h2>",
        bar_chart(bars, title="Share of each label, with intervals"),
        _shares_table(found.whole),
    ]
    if found.groups:
        parts.append(f'<h2 dir="auto">By {escape(found.column)}</h2>')
        if report.over_time:
            parts.append(_lines(found, counts=report.counts))
        parts.append(_parts_table(found, counts=report.counts))
    if report.examples:
        parts += ["<h2>Examples</h2>", *_examples(report)]
    return "".join([*parts, "</body></html>\n"])


def sentences(found: Findings) -> list[str]:
    """Return what has to be said beside the figures: what they rest on, and what they leave out."""
    said = [
        f"{plural(found.rows, 'row')} with text, {found.decided:,} of them decided by a person. {found.basis}"
    ]
    if found.unreadable:
        said.append(f"Rows in no period because their date cannot be read: {found.unreadable:,}.")
    sampled = found.whole.shares[0].share.interval is not None
    if sampled and any(group.shares[0].share.interval is None for group in found.groups if group.rows):
        said.append(
            f"Figures without an interval have fewer than {FEWEST_SAMPLED} sampled rows in their part: they "
            "rest on predictions and on these few rows, and may be far off."
        )
    return said


def _shares_table(whole: Group) -> str:
    head = "".join(
        f"<th{'' if place == 0 else ' class=n'}>{escape(name)}</th>"
        for place, name in enumerate((*_HEADER, *_ROWS))
    )
    lines = []
    for one in whole.shares:
        shares = _with_ends(one.share, _number, counts=False)
        rows = _with_ends(one.share.of(whole.rows), _number, counts=True)
        cells = (*shares, f"{one.decided:,}", f"{one.predicted:,}", *rows)
        numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
        lines.append(f'<tr><td dir="auto">{escape(one.name)}</td>{numbers}</tr>')
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _parts_table(found: Findings, *, counts: bool) -> str:
    """Return shares, or numbers of rows, by part, whichever is fewer side by side: parts or labels."""

    def cell(group: Group, answer: int) -> str:
        if not group.rows:
            return '<td class="n">–</td>'
        figure = group.figure(answer, counts=counts)
        value, ends = _number(figure.value, counts=counts), _range(figure, counts=counts)
        return f'<td class="n">{value}<br><small>{ends}</small></td>'

    def head(name: str, rows: str = "") -> str:
        return f'<th class="n" dir="auto">{escape(name)}{rows}</th>'

    lines = []
    if len(found.groups) < len(found.answers):
        heads = "".join(
            head(one.name, f"<br><small>{plural(one.rows, 'row')}</small>") for one in found.groups
        )
        for answer, name in enumerate(found.answers):
            cells = "".join(cell(group, answer) for group in found.groups)
            lines.append(f'<tr><td dir="auto">{escape(name)}</td>{cells}</tr>')
        corner = "label"
    else:
        heads = head("rows") + "".join(map(head, found.answers))
        for group in found.groups:
            cells = "".join(cell(group, answer) for answer in range(len(found.answers)))
            rows = f'<td class="n">{group.rows:,}</td>'
            lines.append(f'<tr><td dir="auto">{escape(group.name)}</td>{rows}{cells}</tr>')
        corner = found.column
    return (
        f'<div class="wide"><table><tr><th dir="auto">{escape(corner)}</th>{heads}</tr>'
        f"{''.join(lines)}</table></div>"
    )


def _lines(found: Findings, *, counts: bool) -> str:
    order = sorted(range(len(found.answers)), key=lambda answer: -found.whole.shares[answer].share.value)
    lines = []
    for answer in order[:MOST_LINES]:
        figures = [group.figure(answer, counts=counts) if group.rows else None for group in found.groups]
        lines.append(
            Line(
                found.answers[answer],
                [None if figure is None else figure.value for figure in figures],
                [None if figure is None or figure.counted else figure.interval for figure in figures],
            )
        )
    title = f"{'Rows' if counts else 'Shares'} by {found.column}, with 95% intervals"
    if not any(ends for line in lines for ends in line.intervals):
        title = title.partition(",")[0]
    return line_chart(lines, [group.name for group in found.groups], title=title, counts=counts)


def _examples(report: Report) -> list[str]:
    found, parts = report.findings, []
    for answer, name in enumerate(found.answers):
        inside = []
        for part in range(-1, len(found.groups)):
            shown = report.examples.get((answer, part), ())
            if shown and part >= 0:
                inside.append(f'<h4 dir="auto">{escape(found.groups[part].name)}</h4>')
            inside += [
                f'<blockquote dir="auto">{escape(example.text)}<br><small>row {example.number:,}</small>'
                "</blockquote>"
                for example in shown
            ]
        if inside:
            parts.append(f'<details><summary dir="auto">{escape(name)}</summary>{"".join(inside)}</details>')
    return parts


def _number(value: float, *, counts: bool = False) -> str:
    """A share, or a number of rows, for people."""
    return f"{value:,.0f}" if counts else f"{value:.1%}"


def _plain(value: float, *, counts: bool = False) -> str:
    """The same for a spreadsheet, which takes a comma between thousands for something else."""
    return f"{value:.0f}" if counts else f"{value:.1%}"


def _with_ends(figure: Share, say: Callable[..., str], *, counts: bool) -> list[str]:
    """A figure and the ends of its interval, which are empty where it has none."""
    ends = ["", ""] if figure.interval is None else [say(end, counts=counts) for end in figure.interval]
    return [say(figure.value, counts=counts), *ends]


def _range(figure: Share, *, counts: bool = False) -> str:
    if figure.counted:
        return "(counted)"
    if figure.interval is None:
        return ""
    low, high = (_number(end, counts=counts) for end in figure.interval)
    return f"({low} to {high})"


def _cut(text: str) -> str:
    return text if len(text) <= EXAMPLE_LENGTH else text[:EXAMPLE_LENGTH].rstrip() + "…"


def _cell(text: str) -> str:
    """Return ``text`` as Excel can hold it: no half of a surrogate pair, not too long."""
    return text.encode("utf-8", "replace").decode("utf-8")[:16_000]
