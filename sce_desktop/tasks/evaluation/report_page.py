"""The page of a report: one HTML file that needs no other file, no script and no network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sce_desktop.core.i18n import _, language, ngettext, number, right_to_left
from sce_desktop.data.atomic import replacing
from sce_desktop.tasks.evaluation.report import (
    COLUMNS,
    ROW_COLUMNS,
    Example,
    Report,
    range_text,
    sentences,
    value_text,
    with_ends,
)
from sce_desktop.tasks.evaluation.svg import Bar, Line, bar_chart, line_chart, without_controls
from sce_desktop.tasks.insight.findings import Findings, Group

MOST_LINES = 6
_STYLE = Markup("""
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25rem .7rem;
border-bottom:1px solid #8886;text-align:start;vertical-align:top}td.n,th.n{text-align:end}
td.n{white-space:nowrap}th{overflow-wrap:break-word;max-width:11rem}
.wide{overflow-x:auto}small,.quiet{opacity:.75}blockquote{margin:.3rem 0;padding-inline-start:.8rem;
border-inline-start:3px solid #8886;white-space:pre-wrap;overflow-wrap:anywhere}
svg{max-width:100%;height:auto}
@media print{details{display:block}.wide{overflow:visible}tr,blockquote{break-inside:avoid}}
""")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Should a text ever pass for markup: no script, no request, no other base for links, nowhere to send."""
_PAGE = """\
{%- macro figure(value, ends) -%}
<td class="n">{{ value }}{% if ends is not none %}<br><small>{{ ends }}</small>{% endif %}</td>
{%- endmacro -%}
<!doctype html>
<html lang="{{ language }}"{% if right_to_left %} dir="rtl"{% endif %}>
<head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<title>{{ report.title }}</title>
<style>{{ style }}</style></head>
<body>
<h1 dir="auto">{{ report.title }}</h1>
<p class="quiet">{{ report.created }}</p>
{% for sentence in sentences %}
<p dir="auto">{{ sentence }}</p>
{% endfor %}
<h2>{{ words.shares }}</h2>
{{ bars }}
<div class="wide"><table>
<tr>{% for name in columns %}<th{% if not loop.first %} class="n"{% endif %}>{{ name }}</th>{% endfor %}</tr>
{% for line in shares %}
<tr><td dir="auto">{{ line.name }}</td>
{%- for cell in line.cells %}{{ figure(cell.value, cell.ends) }}{% endfor %}</tr>
{% endfor %}
</table></div>
{% if parts %}
<h2 dir="auto">{{ words.by }}</h2>
{{ chart }}
<div class="wide"><table>
<tr><th dir="auto">{{ parts.corner }}</th>
{%- for name, rows in parts.heads %}<th class="n" dir="auto">{{ name }}
{%- if rows %}<br><small>{{ rows }}</small>{% endif %}</th>{% endfor %}</tr>
{% for line in parts.lines %}
<tr><td dir="auto">{{ line.name }}</td>
{%- for cell in line.cells %}{{ figure(cell.value, cell.ends) }}{% endfor %}</tr>
{% endfor %}
</table></div>
{% endif %}
{% if report.examples %}
<h2>{{ words.examples }}</h2>
{% for name, groups in examples %}
<details><summary dir="auto">{{ name }}</summary>
{% for part, shown in groups %}
{% if part %}<h4 dir="auto">{{ part }}</h4>{% endif %}
{% for text, row in shown %}
<blockquote dir="auto">{{ text }}<br><small>{{ row }}</small></blockquote>
{% endfor %}
{% endfor %}
</details>
{% endfor %}
{% endif %}
</body></html>
"""


@dataclass(frozen=True, slots=True)
class _Cell:
    value: str
    ends: str | None = None  # of its interval, on a line of their own; None: there is no such line


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    cells: list[_Cell]


@dataclass(frozen=True, slots=True)
class _Parts:
    """Shares, or numbers of rows, by part; ``heads`` with what stands below each name."""

    corner: str
    heads: list[tuple[str, str]]
    lines: list[_Line]


def page(report: Report) -> str:
    """Return the page. Every text is escaped, and what neither HTML nor XML can hold is left out."""
    found = report.findings
    # Every string becomes text; only the charts, which escape what they are given, and the style are markup.
    environment = Environment(
        autoescape=True, finalize=_clean, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_PAGE).render(
        language=language(),
        right_to_left=right_to_left(),
        style=_STYLE,
        policy=_POLICY,
        report=report,
        sentences=[*sentences(found), *report.notes],
        words={
            "shares": _("Shares"),
            "by": _("By {column}", column=found.column),
            "examples": _("Examples"),
        },
        bars=_bars(found),
        columns=[_(name) for name in (*COLUMNS, *ROW_COLUMNS)],
        shares=_shares(found.whole),
        parts=_parts(found, counts=report.counts) if found.groups else None,
        chart=_lines(found, counts=report.counts) if report.over_time and found.groups else "",
        examples=list(_examples(report)),
    )


def _clean(value: Any) -> Any:
    return without_controls(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _bars(found: Findings) -> Markup:
    bars = [
        Bar(
            one.name,
            one.share.value,
            one.share.interval,
            f"{value_text(one.share.value)} {range_text(one.share)}".strip(),
        )
        for one in found.whole.shares
    ]
    return Markup(bar_chart(bars, title=_("Share of each label, with 95% confidence intervals")))


def _shares(whole: Group) -> list[_Line]:
    lines = []
    for one in whole.shares:
        shares = with_ends(one.share, value_text, counts=False)
        rows = with_ends(one.share.as_count(whole.rows), value_text, counts=True)
        cells = (*shares, number(one.decided), number(one.predicted), *rows)
        lines.append(_Line(one.name, [_Cell(cell) for cell in cells]))
    return lines


def _parts(found: Findings, *, counts: bool) -> _Parts:
    """Return whichever is fewer side by side: parts or labels."""

    def cell(group: Group, answer: int) -> _Cell:
        if not group.rows:
            return _Cell("–")
        figure = group.figure(answer, counts=counts)
        return _Cell(value_text(figure.value, counts=counts), range_text(figure, counts=counts))

    answers = range(len(found.answers))
    if len(found.groups) < len(found.answers):
        heads = [(group.name, ngettext("{count} row", "{count} rows", group.rows)) for group in found.groups]
        lines = [_Line(found.answers[n], [cell(group, n) for group in found.groups]) for n in answers]
        return _Parts(_(COLUMNS[0]), heads, lines)
    lines = [
        _Line(group.name, [_Cell(number(group.rows)), *(cell(group, n) for n in answers)])
        for group in found.groups
    ]
    return _Parts(found.column, [(_("rows"), ""), *((name, "") for name in found.answers)], lines)


def _lines(found: Findings, *, counts: bool) -> Markup:
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
    column, ticks = found.column, [group.name for group in found.groups]
    if not any(ends for line in lines for ends in line.intervals):
        title = _("Rows by {column}", column=column) if counts else _("Shares by {column}", column=column)
    elif counts:
        title = _("Rows by {column}, with 95% intervals", column=column)
    else:
        title = _("Shares by {column}, with 95% intervals", column=column)
    return Markup(line_chart(lines, ticks, title=title, counts=counts))


def _examples(report: Report) -> Iterator[tuple[str, list[tuple[str, list[tuple[str, str]]]]]]:
    """Yield for each label its name and (name of the part, "": all rows; texts, each with its row)."""

    def text_and_row(example: Example) -> tuple[str, str]:
        return example.text, _("row {number}", number=number(example.number))

    found = report.findings
    for answer, name in enumerate(found.answers):
        shown = [
            (found.groups[part].name if part >= 0 else "", [text_and_row(one) for one in examples])
            for part in range(-1, len(found.groups))
            if (examples := report.examples.get((answer, part), ()))
        ]
        if shown:
            yield name, shown


def write_html(path: Path, report: Report, *, overwrite: bool = True) -> None:
    """Write one page that needs no other file, no script and no network. UserError for a bad place."""
    text = page(report).encode("utf-8", "replace")
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(text)
