from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from sce_desktop.core.annotations import Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.estimates import Share
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import AuditSample, gather
from sce_desktop.tasks.evaluation.report import (
    Report,
    as_cells,
    collect_examples,
    crosstab_cells,
    write_xlsx,
)
from sce_desktop.tasks.evaluation.report_page import write_html
from sce_desktop.tasks.evaluation.svg import Bar, Line, bar_chart, line_chart, scale_step
from sce_desktop.tasks.insight.findings import Findings, Group, LabelShare, by_value, column_values, find
from sce_desktop.tasks.tables.pasting import as_tsv

EVIL = "<script>alert('x')</script> & \"quotes\" \x00\x08 \ud800"
FORMULA = '=HYPERLINK("http://example.org","click")'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    rng = np.random.default_rng(0)
    rows = [
        (
            (EVIL.replace("\ud800", ""), FORMULA, "שלום")[n % 3],
            f"{FORMULA if n % 5 == 0 else '<b>text</b>'} {n}",
        )
        for n in range(200)
    ]
    with Project.create(tmp_path_factory.mktemp("report") / "p.sce") as project:
        project.add_rows(["place", "text"], [rows], text_columns=[1], source={})
        labels = project.set_labels(clean_labels(["<i>a</i>", FORMULA])).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        p = rng.random(200).astype(np.float32)
        project.add_scores(run.id, range(1, 201), Scores(np.stack([p, 1 - p], axis=1)))
        sample = rng.permutation(np.arange(1, 201))[:60]
        for row_id in sample.tolist():
            project.decide([row_id], Decision.LABEL, [labels[int(p[row_id - 1] < 0.5)].id])  # type: ignore[list-item]
        evidence = gather(project, ["sce"], AuditSample(sample))
        codes, names = by_value(column_values(project, evidence.row_ids, 0, SilentProgress()))
        found = find(evidence, alias="sce", column="<place>", codes=codes, names=names, unreadable=3)
        shown = collect_examples(project, evidence, found, alias="sce")
    return Report(f"Report {EVIL}", "1 March 2026", found, shown, over_time=True)


class Tags(HTMLParser):
    """Notes every tag and whether they close."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [
            value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")
        ]
        if tag not in ("meta", "br", "rect", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_stands_alone_and_runs_nothing(report: Report, tmp_path: Path) -> None:
    write_html(tmp_path / "r.html", report)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.links == []
    assert not tags.seen & {"script", "img", "link", "iframe", "b", "i", "a"}
    assert "<script>alert('x')</script>" in tags.text  # shown as it is, not run
    assert "<i>a</i>" in tags.text
    assert not re.search("[\x00\x08]", page)
    assert "http://www.w3.org/2000/svg" in page
    assert "שלום" in page
    assert "3 rows are in no period: their dates cannot be read." in tags.text
    for name in ("svg", "table", "blockquote"):
        assert name in tags.seen


def test_the_workbook_holds_numbers_and_no_formula(report: Report, tmp_path: Path) -> None:
    write_xlsx(tmp_path / "r.xlsx", report)
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    assert book.sheetnames == ["Shares", "Parts", "Examples", "About"]
    shares = list(book["Shares"].iter_rows(values_only=True))
    first = report.findings.whole.shares[0]
    assert shares[1][0] == "<i>a</i>"
    assert shares[1][1:4] == pytest.approx((first.share.value, *(first.share.interval or ())))
    assert shares[2][0] == FORMULA
    assert len(list(book["Parts"].iter_rows())) == 1 + 3 * 3
    assert all(cell.data_type != "f" for sheet in book for row in sheet.iter_rows() for cell in row)
    assert book["Shares"]._charts


def test_a_place_that_cannot_be_written(report: Report, tmp_path: Path) -> None:
    for write in (write_html, write_xlsx):
        with pytest.raises(UserError):
            write(tmp_path / "missing" / "r", report)


def test_cells_to_paste(report: Report) -> None:
    cells = as_cells(report.findings.whole)
    assert cells[0] == ["label", "share", "from", "to", "labelled", "predicted"]
    assert len(cells) == 4
    assert re.fullmatch(r"\d+\.\d%", cells[1][2])


def test_numbers_of_rows_stand_beside_shares(report: Report, tmp_path: Path) -> None:
    whole = report.findings.whole
    first = whole.shares[0].share.as_count(whole.rows)
    low, high = first.interval or (0, 0)
    assert (first.value, low) == (
        whole.shares[0].share.value * 200,
        (whole.shares[0].share.interval or (0,))[0] * 200,
    )
    cells = as_cells(whole, counts=True)
    assert cells[0][:4] == ["label", "rows", "from", "to"]
    assert cells[1][1:4] == [f"{first.value:.0f}", f"{low:.0f}", f"{high:.0f}"]
    write_xlsx(tmp_path / "r.xlsx", report)
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    shares, parts = (list(book[name].iter_rows(values_only=True)) for name in ("Shares", "Parts"))
    assert shares[0][6:] == ("rows, estimated", "rows: from", "rows: to")
    assert shares[1][6:] == pytest.approx((first.value, low, high))
    group = report.findings.groups[1]
    there = next(row for row in parts if row[0] == group.name and row[3] == "<i>a</i>")
    assert there[9] == pytest.approx(group.shares[0].share.value * group.rows)
    write_html(tmp_path / "shares.html", report)
    write_html(tmp_path / "rows.html", replace(report, counts=True))
    by_share, by_rows = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("shares.html", "rows.html")
    )
    figure = group.figure(0, counts=True)
    assert f"{figure.value:,.0f}<br><small>(" in by_rows
    assert f"{figure.value:,.0f}<br><small>(" not in by_share
    assert "Rows by &lt;place&gt;, with 95% intervals" in by_rows
    for page in (by_share, by_rows):
        assert f'<td class="n">{first.value:,.0f}</td>' in page  # of the whole table both are given


@pytest.mark.parametrize(
    ("most", "ticks", "least", "step"),
    [
        (0.3, 6, 0.01, 0.05),
        (1.0, 5, 0.002, 0.2),
        (0.001, 5, 0.002, 0.002),
        (1, 6, 1, 1),
        (4321, 6, 1, 1000),
        (12, 6, 1, 2),
    ],
)
def test_steps_of_a_scale(most: float, ticks: int, least: float, step: float) -> None:
    assert scale_step(most, ticks=ticks, least=least) == pytest.approx(step)


def test_examples_are_of_their_cell(report: Report) -> None:
    for (answer, part), shown in report.examples.items():
        assert answer in (0, 1, 2)
        assert len(shown) <= 3
        if part >= 0 and report.findings.codes is not None:
            assert {int(report.findings.codes[example.number - 1]) for example in shown} <= {part}


def test_charts_are_sound_xml() -> None:
    bars = ET.fromstring(bar_chart([Bar(EVIL, 0.5, (0.4, 0.6), "50 %"), Bar("b", 0.0)], title=EVIL))
    widths = [float(rect.get("width", "")) for rect in bars.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths == [pytest.approx(400 * 0.5 / 0.6, abs=0.1), 0]
    lines = [
        Line(EVIL, [0.1, None, 0.3, 0.2]),
        Line("empty", [None] * 4),
        Line("one", [None, 0.2, None, None]),
    ]
    chart = ET.fromstring(line_chart(lines, ["1", "2", "3", EVIL], title="t"))
    paths = [path.get("d", "") for path in chart.iter("{http://www.w3.org/2000/svg}path")]
    assert sum(path.count("M") == 2 and "L" in path for path in paths) == 1  # a gap parts a line
    ET.fromstring(line_chart([Line("x", [1.0])], ["only"], title="t"))
    sure = line_chart([Line("x", [10.0, 20.0], [(5.0, 40.0), None])], ["1", "2"], title="t", counts=True)
    assert re.findall(r">([\d,]+)</text>", sure)[:5] == ["0", "10", "20", "30", "40"]
    assert sure.count('opacity=".6"') == 1
    ET.fromstring(bar_chart([], title="t"))


@pytest.mark.parametrize("answers", [2, 5])
def test_the_page_puts_side_by_side_whichever_is_fewer(tmp_path: Path, answers: int) -> None:
    shares = tuple(LabelShare(f"label {n}", Share(n / 10), n, 0) for n in range(answers))
    parts = (Group("mail", 4, 0, shares), Group("chat", 0, 0, shares), Group("app", 2, 0, shares))
    found = Findings(6, 0, 0, tuple(one.name for one in shares), parts[0], "channel", parts)
    write_html(tmp_path / "page.html", Report("Report", "1 March 2026", found, notes=("One more thing.",)))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    table = page[page.index("By channel") :]
    head = re.findall(r"<th[^>]*>(.*?)</th>", table)
    if answers == 5:
        assert head == ["label", *(f"{g.name}<br><small>{g.rows} rows</small>" for g in parts)]
        assert table.count("<tr>") == 1 + 5
    else:
        assert head == ["channel", "rows", "label 0", "label 1"]
        assert table.count("<tr>") == 1 + 3
    assert table.count('<td class="n">–</td>') == answers  # a part without rows has no shares
    assert "One more thing." in page


def test_cells_to_paste_show_parts_side_by_side() -> None:
    one = LabelShare("=a\tb", Share(0.25, (0.1, 0.5)), 1, 2)
    bare = LabelShare("=a\tb", Share(0.0), 0, 0)
    parts = (Group("mail", 4, 4, (one,)), Group("+chat", 0, 0, (bare,)))
    cells = crosstab_cells(Findings(4, 4, 4, (one.name,), parts[0], "channel", parts))
    assert cells == [
        ["channel", "mail", "mail: from", "mail: to", "+chat", "+chat: from", "+chat: to"],
        ["rows", "4", "", "", "0", "", ""],
        ["=a\tb", "25.0%", "10.0%", "50.0%", "", "", ""],
    ]
    lines = list(csv.reader(as_tsv(cells).splitlines(), dialect="excel-tab"))
    assert [len(line) for line in lines] == [7, 7, 7]
    assert not [cell for line in lines for cell in line if cell.startswith(("=", "+"))]
    assert lines[2][0].endswith("=a\tb")
