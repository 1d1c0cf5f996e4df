"""Reports with hostile texts in a real browser: nothing runs, nothing asks the network, all is shown.

Chromium says which addresses it asked for in its own log, and resolves no name, so that nothing leaves.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.evidence import AuditSample, gather
from sce_desktop.tasks.evaluation.report import Report, collect_examples, write_xlsx
from sce_desktop.tasks.evaluation.report_page import write_html
from sce_desktop.tasks.evaluation.svg import Bar, Line, bar_chart, line_chart, without_controls
from sce_desktop.tasks.insight.findings import by_value, column_values, find
from tests.hostile.texts import FOR_BROWSERS, HOST, RAN

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which needs rights that containers do not give; the page has none to misuse
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=3000",
)
# Words stand on the lines of a report more than once; the rest of a text may lie across their ends.
_SHOWN = 60


@pytest.fixture(scope="module")
def browser() -> str:
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


def opened(browser: str, page: Path, folder: Path) -> tuple[str, set[str]]:
    """Return the document as it is after its scripts, and the addresses that were asked for."""
    log = folder / "net.json"
    command = [
        browser,
        *_FLAGS,
        f"--user-data-dir={folder / 'profile'}",
        f"--log-net-log={log}",
        "--dump-dom",
    ]
    found = subprocess.run([*command, page.as_uri()], capture_output=True, timeout=240, check=True)
    text = log.read_text(encoding="utf-8")
    asked = set(re.findall(r'"url":"(https?://[^"]*)"', text))
    return found.stdout.decode("utf-8"), {address for address in asked if HOST in address}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Findings whose title, column, groups, labels and texts are all hostile."""
    count = len(FOR_BROWSERS)
    rows = [(FOR_BROWSERS[n % count], FOR_BROWSERS[n * 7 % count]) for n in range(count * 6)]
    with Project.create(tmp_path_factory.mktemp("hostile") / "p.sce") as project:
        project.add_rows([FOR_BROWSERS[0], "text"], [rows], text_columns=[1], source={})
        labels = project.set_labels([Label(name) for name in FOR_BROWSERS]).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        chances = np.random.default_rng(0).random((len(rows), count), dtype=np.float32)
        ids = project.row_ids()
        project.add_scores(run.id, ids, Scores(chances / chances.sum(axis=1, keepdims=True)))
        for row_id in ids[:60]:
            label_id = labels[int(row_id) % count].id
            assert label_id is not None
            project.decide([row_id], Decision.LABEL, [label_id])
        evidence = gather(project, ["sce"], AuditSample(np.asarray(ids[:60])))
        codes, names = by_value(column_values(project, evidence.row_ids, 0, SilentProgress()))
        found = find(evidence, alias="sce", column=FOR_BROWSERS[1], codes=codes, names=names)
        shown = collect_examples(project, evidence, found, alias="sce")
    title = " ".join(FOR_BROWSERS)
    return Report(title, FOR_BROWSERS[2], found, shown, over_time=True, notes=FOR_BROWSERS)


class Words(HTMLParser):
    """The text of a page, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.tags |= {name for name, _ in attrs if name.startswith("on") or name in ("href", "src")}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_page_without_our_escaping_would_run_and_ask(browser: str, tmp_path: Path) -> None:
    """What the other tests do not find is found where nothing is escaped and no policy stands."""
    page = tmp_path / "page.html"
    texts = "".join(one for one in FOR_BROWSERS[5:] if "refresh" not in one)  # which would lead elsewhere
    page.write_text(f"<!doctype html><title>x</title>{texts}", "utf-8", "replace")
    document, asked = opened(browser, page, tmp_path)
    assert RAN in document.partition("<head")[0]
    assert f"http://{HOST}/img" in asked


def test_the_policy_alone_keeps_scripts_and_requests_away(
    browser: str, tmp_path: Path, report: Report
) -> None:
    """Should a text ever get through as markup: no script runs, and nothing is asked for."""
    page = tmp_path / "page.html"
    write_html(page, replace(report, title="Report", notes=["MARK"]))
    text = page.read_text(encoding="utf-8")
    through = "".join(one for one in FOR_BROWSERS if "refresh" not in one)
    assert text.count("MARK") == 1
    page.write_text(text.replace("MARK", through), "utf-8", "replace")
    document, asked = opened(browser, page, tmp_path)
    assert f"{RAN}=" not in document.partition("<head")[0]
    assert asked == set()


def test_a_report_runs_nothing_asks_for_nothing_and_shows_every_text(
    browser: str, tmp_path: Path, report: Report
) -> None:
    page = tmp_path / "report.html"
    write_html(page, report)
    document, asked = opened(browser, page, tmp_path)
    assert f"{RAN}=" not in document.partition("<head")[0]
    assert asked == set()
    words = Words()
    words.feed(document)
    allowed = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "table"}
    allowed |= {"tbody", "tr", "th", "td", "br", "small", "details", "summary", "blockquote"}
    allowed |= {"svg", "text", "rect", "path"}
    assert words.tags == allowed | words.tags & {"h4"}
    everything = "".join(words.text)
    for hostile in FOR_BROWSERS:
        assert without_controls(hostile)[:_SHOWN] in everything
    assert "49" not in re.sub(r"\d+[.,%]\d*|[\d,]+", "", everything)  # no template was filled


def test_the_charts_alone_are_as_harmless(browser: str, tmp_path: Path) -> None:
    bars = bar_chart([Bar(name, 0.5, (0.4, 0.6), name) for name in FOR_BROWSERS], title=FOR_BROWSERS[1])
    lines = line_chart(
        [Line(name, [0.1, 0.5]) for name in FOR_BROWSERS], FOR_BROWSERS[:2], title=FOR_BROWSERS[0]
    )
    ElementTree.fromstring(lines)
    both = bars.removesuffix("</svg>") + lines + "</svg>"  # one drawing, read as XML
    page = tmp_path / "charts.svg"
    page.write_text(both, encoding="utf-8")
    document, asked = opened(browser, page, tmp_path)
    assert f"{RAN}=" not in document.partition("<title")[0]
    assert "parsererror" not in document
    assert asked == set()


def test_the_workbook_has_texts_alone(tmp_path: Path, report: Report) -> None:
    """No browser needed: a workbook asks the network by a link or another part, and runs formulas."""
    path = tmp_path / "report.xlsx"
    write_xlsx(path, report)
    with zipfile.ZipFile(path) as parts:
        for name in parts.namelist():
            text = parts.read(name).decode("utf-8")
            assert 'TargetMode="External"' not in text
            assert "<f>" not in text.replace(f"<f>{_reference(text)}</f>", "") or "charts/" in name
            assert "<hyperlink" not in text
    book = openpyxl.load_workbook(path)
    cells = {str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row if cell.value}
    assert not {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row} & {"f", "e"}
    assert any(FOR_BROWSERS[0] in cell for cell in cells)


def _reference(text: str) -> str:
    found = re.search(r"<f>([^<]*)</f>", text)
    return found[1] if found else "\0"
