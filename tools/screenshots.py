"""Make the pictures of the window: every screen and state, from a scripted state, offscreen, light and dark.

Usage: screenshots.py [--scene NAME ...] [--scale 100|200] [--format webp|png] [FOLDER]

FOLDER is build/screenshots where none is given. Needs the bundled model: what is shown is what it says. Every
picture comes at 100 % and, by a second process as Qt reads the scale once, at 200 %. Nothing of the user's is
read or written.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "resources" / "sample" / "parcel_feedback.csv"
PATIENCE_S = 120.0
SCALED = "QT_SCALE_FACTOR"
LANGUAGES = (
    ("وصلت الشحنة متأخرة ثلاثة أيام ولم يتصل بي أحد.", "تأخير"),
    ("السائق كان لطيفًا جدًا وحمل الطرد إلى الطابق الرابع (4).", "شكر"),
    ("包裹到的时候已经碎了，客服三天没有回复。", "损坏"),
    ("快递员很有礼貌，谢谢！", "表扬"),
    ("荷物が一週間届いていません。どこにありますか？", "遅延"),
    ("📦💥 box is flat as a pancake 😡😡", "damaged"),
    ("Best courier ever ❤️🙏 – thank you so much 👨‍👩‍👧‍👦", "praise"),
    ("החבילה הגיעה פתוחה, PO-4711 חסר.", "damaged"),
    ("Ο οδηγός άφησε το δέμα στη βροχή.", "damaged"),
    ("पार्सल गलत पते पर पहुँचा।", "address"),
    ("The app says مرحبا and then closes by itself", "app"),
)
LANGUAGE_LABELS = (
    "تأخير في التسليم",
    "损坏的包裹",
    "❤️ Praise",
    "配達の遅れ",
    "App problem 📱",
    "Wrong address",
)
GROUPED_LABELS = (
    "Delivery > Late",
    "Courier praise",
    "Delivery > Lost",
    "Parcel > Damaged on the outside",
    "Parcel > Damaged > Contents broken",
    "Delivery",
    "Delivery > Wrong address, although the customer had given the right one",
    "App problem",
    "الدعم > الهاتف",
)
LONG_LABELS = (
    "Delivered late although the customer had been promised a fixed day by telephone",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenversandverzögerung",
    "Parcel damaged on the outside, contents complete and usable, no replacement wanted",
    "Parcel damaged, contents broken or missing, customer asks for the money back",
    "x",
)


class Studio:
    """The program's own window in a home of its own, and a camera."""

    def __init__(self, folder: Path, home: Path, ending: str) -> None:
        from sce_desktop import paths
        from sce_desktop.app import make_application, make_window
        from sce_desktop.log import start_log
        from sce_desktop.settings import Settings
        from sce_desktop.ui.jobs import Lanes
        from sce_desktop.ui.session import Session
        from sce_desktop.ui.theme import Theme

        self.folder, self.home, self.ending = folder, home, ending
        start_log(paths.log_file())
        self.app = make_application()
        self.lanes = Lanes()
        self.theme = Theme(self.app, "light")
        self.session = Session(self.lanes, Settings.load())
        self.window = make_window(self.session, self.theme)
        self.window.resize(1280, 800)
        self.window.show()
        self.session.warm_up()

    def close(self) -> None:
        """End the window as its button does."""
        self.window.close()
        self.until(lambda: not self.window.isVisible())
        for lane in self.lanes:
            lane.close()

    def until(self, ready: Callable[[], object]) -> None:
        """Let the window live until ``ready``.

        Raises:
            TimeoutError: It takes too long.
        """
        end = time.monotonic() + PATIENCE_S
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError("the window does not become what the picture shows")
            self.app.processEvents()
            time.sleep(0.005)

    def rest(self, seconds: float = 0.5) -> None:
        """Let the window settle."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def shot(self, name: str, dialog: QDialog | None = None, *, rest: float = 0.4) -> None:
        """Take a picture in light and in dark; ``dialog`` lies over the window."""
        from PySide6.QtGui import QColor, QPainter

        from sce_desktop.ui.theme import tokens

        for mode in ("light", "dark"):
            self.theme.set_mode(mode)
            self.rest(rest)
            picture = self.window.grab()
            if dialog is not None:
                painter = QPainter(picture)
                place = self.window.rect()
                painter.fillRect(place, QColor(0, 0, 0, 70))
                corner = place.center() - dialog.rect().center()
                painter.drawPixmap(corner, dialog.grab())
                painter.setPen(QColor(tokens().line))  # the frame that a window manager would give
                painter.drawRect(dialog.rect().translated(corner).adjusted(-1, -1, 0, 0))
                painter.end()
            scale = os.environ.get(SCALED, "1")
            file = (
                self.folder
                / f"{name}-{mode}{'' if scale == '1' else f'-{float(scale) * 100:.0f}'}.{self.ending}"
            )
            # Without loss either way: the best quality of webp, the strongest compression of png.
            if not picture.save(str(file), quality=100 if self.ending == "webp" else 0):
                raise OSError(f"{file} cannot be written")
            print(f"{file}  {file.stat().st_size / 1000:.0f} kB", flush=True)
        self.theme.set_mode("light")

    # --- ways to a state -----------------------------------------------------------------------------------

    def table(self, name: str, texts: Sequence[str]) -> Path:
        """Write a table of texts."""
        path = self.home / name
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = ((f"T-{4000 + n}", text) for n, text in enumerate(texts))
            csv.writer(file).writerows([("ticket", "message"), *rows])
        return path

    @contextmanager
    def importing(self, path: Path) -> Iterator[QDialog]:
        """Show the import dialog of a table, read and counted."""
        from sce_desktop.ui.import_dialog import ImportDialog

        self.window.open_path(path)
        dialog = self.window.findChildren(ImportDialog)[-1]
        self.until(lambda: dialog.unread.text() or dialog._scan is not None)
        self.rest(0.2)
        yield dialog
        dialog.reject()
        self.rest(0.1)

    def open_table(self, path: Path, labels: Sequence[str] = ()) -> None:
        """Import a table and give it labels."""
        from sce_desktop.core.types import Label

        before = self.session.project
        with self.importing(path) as dialog:
            dialog.accept()
        self.until(lambda: self.session.project not in (None, before))
        if labels:
            self.session.set_labels([Label(name) for name in labels])
        self.until(lambda: self.session.counts is not None and not self.session.lanes.reads.busy)

    def score(self) -> None:
        """Score every row."""
        self.session.scorer.score()
        self.until(lambda: self.session.scorer.job is None)
        self.window.strip.hide()
        self.rest()

    def sample(self) -> None:
        """Open the sample with scores, and some rows decided as an analyst would."""
        from sce_desktop.core.types import Decision

        session = self.session
        session.open_sample()
        self.until(lambda: session.project is not None and session.project.name == "Parcel feedback")
        self.rest()
        if not session.runs:
            session.scorer.score()
        self.until(lambda: session.scorer.job is None and session.runs and session.counts)
        assert session.project is not None
        if not session.counts or not session.counts.labelled:
            tops = session.project.run_arrays(session.runs[0].id)
            for row_id, top, confidence in list(zip(*(part.tolist() for part in tops[:3]), strict=True))[:60]:
                if confidence > 0.8 and row_id % 5:
                    session.decide([row_id], Decision.LABEL, [session.labels[top].id or 0])
            session.set_marks([9], flag=True)
        session.set_current_row(12)
        self.rest(1)


def sample_texts() -> list[str]:
    """Return the texts of the bundled sample."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        return [row["message"] for row in csv.DictReader(file)]


# --- the pictures: each function one scene, by its name ----------------------------------------------------


def start(studio: Studio) -> None:
    """The start page, at the first time and later."""
    studio.rest(1)
    studio.shot("start-first")
    studio.sample()
    studio.open_table(studio.table("Answers May.csv", sample_texts()[:40]))
    studio.session.close_project()
    studio.until(lambda: studio.session.project is None)
    studio.shot("start")
    studio.window.start_page.set_drag_over(True)
    studio.shot("start-drag")
    studio.window.start_page.set_drag_over(False)


def imports(studio: Studio) -> None:
    """The import dialog on a table with faults, and on a file that is none."""
    texts = sample_texts()[:60]
    path = studio.table(
        "Feedback, June – July.csv", [*texts, "", *texts[:4], *(text for text, _ in LANGUAGES)]
    )
    with path.open("ab") as file:
        file.write(b'T-1,one cell,too many\r\nT-2,"never closed, \r\nT-3,again\r\n')
    with studio.importing(path) as dialog:
        studio.shot("import", dialog)
    wrong = studio.home / "archive.csv"
    wrong.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20)
    with studio.importing(wrong) as dialog:
        studio.shot("import-error", dialog)


def labels_empty(studio: Studio) -> None:
    """A table without labels."""
    studio.open_table(studio.table("Answers.csv", sample_texts()[:80]))
    studio.shot("labels-empty")


def running(studio: Studio) -> None:
    """While rows are scored."""
    texts = [f"{text} ({n})" for n in range(8) for text in sample_texts()]
    studio.open_table(studio.table("Running.csv", texts), [*_sample_labels()])
    studio.session.scorer.score()
    studio.until(lambda: any(run.scored for run in studio.session.runs))
    studio.window.strip.hide()
    studio.shot("running", rest=1.2)
    studio.window.docks["Jobs and log"].show()
    studio.shot("jobs")
    studio.window.docks["Jobs and log"].hide()
    studio.session.scorer.stop()
    studio.until(lambda: studio.session.scorer.job is None)


def adding(studio: Studio) -> None:
    """Rows for the open project, with labels of their own."""
    from sce_desktop.ui.import_dialog import ImportDialog

    texts = sample_texts()
    studio.open_table(studio.table("Answers so far.csv", texts[:40]), _sample_labels())
    more = studio.home / "Answers of June.csv"
    with more.open("w", encoding="utf-8", newline="") as file:
        rows = [(label, text) for label, text in zip(_sample_labels() * 5, texts[30:70], strict=True)]
        csv.writer(file).writerows([("ticket", "message"), *rows])
    studio.window._show_import(more, append=True)
    dialog = studio.window.findChildren(ImportDialog)[-1]
    studio.until(lambda: dialog._scan is not None)
    dialog.columns.label_column.setCurrentIndex(1)
    dialog.columns.changed.emit()
    studio.until(lambda: dialog._scan is not None)
    studio.rest(0.3)
    studio.shot("add-rows", dialog)
    dialog.reject()


def label_dialogs(studio: Studio) -> None:
    """A label's details, and labels that are suggested."""
    studio.sample()
    studio.window.strip.hide()
    panel = studio.window.workspace.labels
    panel.select(studio.session.labels[2].id)
    editor = panel.show_details()
    assert editor is not None
    studio.shot("label-details", editor)
    editor.reject()
    suggestions = panel.suggest()
    assert suggestions is not None
    studio.until(lambda: not studio.session.lanes.files.busy)
    studio.shot("suggestions", suggestions)
    suggestions.reject()


def main_window(studio: Studio) -> None:
    """The sample, scored; then what the models disagree on; dialogs over it."""
    from sce_desktop.store.query import RowQuery
    from sce_desktop.ui.crash_dialog import CrashDialog
    from sce_desktop.ui.crashes import Crash
    from sce_desktop.ui.export_dialog import ExportDialog
    from sce_desktop.ui.palette import CommandPalette
    from sce_desktop.ui.settings_dialog import SettingsDialog

    studio.sample()
    studio.window.strip.hide()
    studio.shot("main")
    window, session = studio.window, studio.session
    ours, theirs = (run.id for run in session.runs)
    session.set_query(RowQuery(compare=(ours, theirs), disagree=True))
    studio.rest(0.5)
    session.stepAsked.emit(3)
    studio.shot("disagreeing")
    session.set_query(RowQuery(search="no such words"))
    studio.shot("nothing-found")
    session.set_query(RowQuery())
    session.scorer.set_model(str(studio.home / "no model"))
    studio.rest(1)
    studio.shot("error")
    window.strip.hide()
    window.ask_export()
    studio.rest()
    export = window.findChildren(ExportDialog)[-1]
    export.path.setText(str(studio.home / "Parcel feedback labelled.csv"))
    studio.shot("export", export)
    export.reject()
    window.show_settings()
    settings = window.findChildren(SettingsDialog)[-1]
    studio.shot("settings", settings)
    settings.reject()
    window.show_crash(
        Crash("ZeroDivisionError", "sce_desktop/ui/rows_view.py:120 in _show\nZeroDivisionError")
    )
    crash = window.findChildren(CrashDialog)[-1]
    studio.shot("crash", crash)
    crash.reject()
    window.show_palette()
    studio.shot("palette")
    for palette in window.findChildren(CommandPalette):
        palette.close()


def many_labels(studio: Studio, *, shot: bool = True) -> None:
    """Two hundred labels."""
    places = ("depot", "driver", "app", "invoice", "locker", "customs", "phone", "label", "van", "shop")
    faults = ("late", "lost", "broken", "rude", "wrong", "slow", "dear", "closed", "full", "missing")
    names = [f"{place} {fault}" for place in places for fault in faults]
    studio.open_table(
        studio.table("Two hundred.csv", sample_texts()[:60]), [*names, *(f"not {name}" for name in names)]
    )
    studio.score()
    if shot:
        studio.shot("labels-200")


def long_names(studio: Studio) -> None:
    """Names and texts that are too long for their place."""
    texts = ["word " * 900, "OneWordWithoutAnySpace" * 60, "Line\n" * 60, *sample_texts()[:30]]
    studio.open_table(
        studio.table("A project with a name that nobody would read to its end.csv", texts), LONG_LABELS
    )
    studio.score()
    studio.shot("long-names")


def languages(studio: Studio, *, shot: bool = True) -> None:
    """Arabic, Chinese, emoji and others."""
    studio.open_table(studio.table("多语言 – لغات.csv", [text for text, _ in LANGUAGES]), LANGUAGE_LABELS)
    studio.score()
    for row_id, name in ((1, "languages-arabic"), (3, "languages-chinese"), (7, "languages-emoji")):
        if not shot:
            break
        studio.session.set_current_row(row_id)
        studio.shot(name)


def _findings(studio: Studio, view: str = "shares", *, table: bool = False) -> None:
    """Show the findings of the sample, a hundred rows of which were drawn at random and decided."""

    studio.sample()
    studio.window.strip.hide()
    project = studio.session.project
    assert project is not None
    if not project.audits():
        _decide_sample(studio, 100)
    studio.window.show_panel("Findings")
    panel: Any = studio.window.docks["Findings"].panel
    panel.bar.table.setChecked(table)
    panel.bar.choose(view)
    studio.until(lambda: panel.answer is not None and panel.answer.wanted.view == view and not panel._dirty)
    studio.rest(0.5)


def _decide_sample(studio: Studio, size: int) -> None:
    """Draw rows at random and give them the label that the sample's own column says."""
    import numpy as np

    from sce_desktop.core.types import Decision
    from sce_desktop.store.query import AUDIT, RowQuery

    session, project = studio.session, studio.session.project
    assert project is not None
    drawn = np.random.default_rng(0).permutation(project.row_ids(RowQuery(blank=False)))[:size]
    project.create_audit(drawn, 0)
    ids = {label.name: label.id or 0 for label in session.labels}
    gold = project.columns.index("gold")
    for row in project.rows(drawn):
        given = [ids[name] for name in (row.cells[gold],) if name in ids]
        project.decide([row.id], Decision.LABEL if given else Decision.NONE, given, queue=AUDIT)
    session.annotationsChanged.emit(None)


def findings(studio: Studio) -> None:
    """How often each label fits, and rows behind a figure."""
    _findings(studio)
    studio.window.docks["Findings"].panel.shares.choose(4, -1)  # type: ignore[union-attr]
    studio.rest()
    studio.shot("findings")
    studio.window.docks["Findings"].hide()


def findings_crosstab(studio: Studio) -> None:
    """Shares by a column."""
    _findings(studio, "column")
    studio.window.docks["Findings"].panel.parts.choose(0, 1)  # type: ignore[union-attr]
    studio.rest()
    studio.shot("findings-crosstab")
    studio.window.docks["Findings"].hide()


def findings_time(studio: Studio) -> None:
    """Shares over time, as lines."""
    _findings(studio, "time")
    studio.shot("findings-time")
    studio.window.docks["Findings"].hide()


def findings_empty(studio: Studio) -> None:
    """Nothing to find yet."""
    studio.open_table(studio.table("Nothing yet.csv", sample_texts()[:40]), _sample_labels())
    studio.session.scorer.stop()
    studio.window.show_panel("Findings")
    studio.rest(1)
    studio.shot("findings-empty")
    studio.window.docks["Findings"].hide()


def labels_grouped(studio: Studio) -> None:
    """Labels that say what they belong to."""
    studio.open_table(studio.table("Grouped.csv", sample_texts()[:80]), GROUPED_LABELS)
    studio.score()
    studio.shot("labels-grouped")


def models(studio: Studio) -> None:
    """The models manager: what is here, one that is spoilt, one being fetched; terms and code."""
    from dataclasses import replace

    from sce_desktop.ui.model_questions import CodeQuestion, FetchQuestion
    from sce_desktop.ui.models_dialog import ModelsDialog

    studio.sample()
    studio.window.strip.hide()
    spoilt = studio.home / "data" / "models" / "نموذج قديم"
    spoilt.mkdir(parents=True, exist_ok=True)
    (spoilt / "config.json").write_text("{", encoding="utf-8")
    store = studio.session.models
    dialog = ModelsDialog(studio.session, studio.window)
    dialog.open()
    studio.until(lambda: len(store.installed) > 2)
    studio.shot("models", dialog)
    studio.session.change_setting("offline", False)
    items = [dialog.list.topLevelItem(i) for i in range(dialog.list.topLevelItemCount())]
    dialog.list.setCurrentItem(next(item for item in items if item.text(0) == "jina-embeddings-v3"))
    studio.shot("models-online", dialog)
    question = FetchQuestion(next(one for one in store.known if one.name == "jina-embeddings-v3"), dialog)
    question.open()
    studio.shot("models-terms", question)
    question.reject()
    gated = next(one for one in store.known if one.gated)
    question = FetchQuestion(replace(gated, code=True), dialog)
    question.open()
    studio.shot("models-gated", question)
    question.reject()
    code = CodeQuestion("gte-multilingual-base", dialog)
    code.open()
    studio.shot("models-code", code)
    code.reject()
    dialog.reject()
    spoilt.joinpath("config.json").unlink()
    spoilt.rmdir()
    studio.session.change_setting("offline", True)


def llm_column(studio: Studio) -> None:
    """An LLM (a tiny one that answers at random) beside the model, for the rows on the screen."""
    sys.path.insert(0, str(ROOT))
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.models import add_model
    from sce_desktop.ui.run_bar import RunBar
    from tests.ml.tiny_llm import tiny_llm

    add_model(
        tiny_llm(studio.home, context=2048, name="tiny-chat"), name="tiny-chat", progress=SilentProgress()
    )
    studio.sample()
    studio.window.strip.hide()
    bar = studio.window.tool_bar.findChild(RunBar)
    assert bar is not None
    studio.session.models.refresh()
    studio.until(lambda: ("tiny-chat", "llm") in bar._models)
    menu = bar.llm_menu()
    menu.popup(bar.llm_button.mapTo(studio.window, bar.llm_button.rect().bottomLeft()))
    studio.shot("llm-menu", menu)
    menu.close()
    bar._ask_llm_about("screen")
    studio.until(lambda: len(studio.session.runs) == 3 and studio.session.scorer.job is None)
    studio.rest(1)
    studio.shot("llm-column")
    studio.session.scorer.hide_baselines("llm")


def map_(studio: Studio) -> None:
    """The map: your labels, the model's with a selection, two hundred labels, many scripts, none yet."""
    import numpy as np

    from sce_desktop.ui.map_panel import MapPanel

    def shown() -> MapPanel:
        dock = studio.window.docks["Map"]
        dock.bring()
        panel = dock.panel
        assert isinstance(panel, MapPanel)
        studio.until(lambda: panel.data.facts is not None or panel.data.failure)
        studio.rest()
        return panel

    studio.open_table(studio.table("Not scored yet.csv", [f"{text}!" for text in sample_texts()[:60]]))
    studio.until(lambda: studio.session.scorer.ready)
    shown()
    studio.shot("map-empty")
    studio.sample()
    studio.window.strip.hide()
    panel = shown()
    studio.shot("map")
    panel.bar.colour.setCurrentIndex(1)
    pixels = panel.view.pixels()
    panel._select(pixels[:, 0] < np.median(pixels[:, 0]), False)
    studio.shot("map-selected")
    panel.clear_selection()
    many_labels(studio, shot=False)
    shown()
    studio.shot("map-200")
    languages(studio, shot=False)
    shown()
    studio.shot("map-languages")
    panel.bar.colour.setCurrentIndex(0)
    studio.window.docks["Map"].hide()


def duplicates(studio: Studio) -> None:
    """Groups of duplicates: before anything was looked for, and found, some contradictory."""
    from sce_desktop.core.types import Decision
    from sce_desktop.ui.duplicates_panel import DuplicatesPanel

    texts = sample_texts()[:60]
    near = [f"{text.rstrip('.')}!" for text in texts[:20:2]] + [text.upper() for text in texts[:9:3]]
    scripts = [text for text, _ in LANGUAGES[:5]] * 2
    studio.open_table(studio.table("Sent twice.csv", [*texts, *near, *texts[:4], *scripts]), _sample_labels())
    studio.window.strip.hide()
    session = studio.session
    studio.window.show_panel("Duplicates")
    panel = studio.window.docks["Duplicates"].panel
    assert isinstance(panel, DuplicatesPanel)
    studio.shot("duplicates-first")
    for place, row_id in enumerate((1, 61, 3, 5, 65)):
        session.decide([row_id], Decision.LABEL, [session.labels[place % 3].id or 0])
    panel.find_button.click()
    studio.until(lambda: panel._search is None)
    studio.shot("duplicates")
    studio.window.docks["Duplicates"].hide()


def finetune(studio: Studio) -> None:
    """The Fine-tune panel without labels, before, while and after it learns, and with several versions."""
    from sce_desktop.core.types import Decision
    from sce_desktop.ui.choices import TuneChoices
    from sce_desktop.ui.finetune_panel import FineTunePanel

    session, dock = studio.session, studio.window.docks["Fine-tune"]
    studio.open_table(studio.table("Nothing yet.csv", sample_texts()[:40]))
    dock.bring()
    studio.rest(1)
    studio.shot("finetune-empty")
    studio.sample()
    studio.window.strip.hide()
    panel = dock.build()
    assert isinstance(panel, FineTunePanel)
    project = session.project
    assert project is not None
    gold = project.columns.index("gold")
    by_name = {label.name: label.id or 0 for label in session.labels}

    def answer(rows: range) -> None:
        for row in project.rows(list(rows)):
            if (label := by_name.get(row.cells[gold] or "")) and row.text:
                session.decide([row.id], Decision.LABEL, [label])

    def learn(choices: TuneChoices) -> None:
        before = len(session.tuner.versions)
        session.tuner.start(choices)
        studio.until(lambda: session.tuner.job is None and len(session.tuner.versions) > before)
        studio.rest(0.5)

    answer(range(1, 61))
    studio.rest(1)
    studio.shot("finetune")
    panel.start.settings_button.setChecked(True)
    studio.shot("finetune-settings")
    panel.start.settings_button.setChecked(False)
    session.tuner.start(TuneChoices())
    studio.until(lambda: len(session.tuner.watch.measured) > 12 or session.tuner.job is None)
    studio.shot("finetune-running", rest=0)
    studio.until(lambda: session.tuner.job is None)
    studio.rest(1)
    studio.window.strip.hide()
    studio.shot("finetune-done")
    panel.result.tabs.setCurrentIndex(2)
    studio.shot("finetune-labels")
    panel.result.tabs.setCurrentIndex(3)
    studio.shot("finetune-changed")
    panel.result.tabs.setCurrentIndex(0)
    session.scorer.use_version(session.tuner.versions[-1].id)
    studio.until(lambda: session.scorer.job is None)
    answer(range(61, 141))
    studio.rest(1)
    learn(TuneChoices())
    learn(TuneChoices(seed=1))
    studio.window.strip.hide()
    studio.shot("versions")
    panel.versions.list.selectAll()
    panel.versions.list.clearSelection()
    for place in (0, 2):
        item = panel.versions.list.topLevelItem(place)
        assert item is not None
        item.setSelected(True)
    studio.rest(0.3)
    studio.shot("versions-compared")
    dock.hide()


def evaluate_empty(studio: Studio) -> None:
    """Nothing to measure yet: no scores, then no decisions."""
    studio.open_table(studio.table("Nothing decided.csv", sample_texts()[:60]), _sample_labels())
    dock = studio.window.docks["Evaluate"]
    dock.bring()
    studio.rest(1)
    studio.shot("evaluate-unscored")
    studio.score()
    studio.rest(1)
    studio.shot("evaluate-empty")
    dock.hide()


def evaluate(studio: Studio) -> None:
    """The sample with an audit of forty rows, decided as its gold labels say; every tab of the panel."""
    panel = _measured(studio, "Audited.csv", _sample_labels(), 120, audit=80)
    studio.shot("evaluate")
    for place, name in enumerate(("labels", "confusions", "charts", "doubts")):
        panel.tabs.setCurrentIndex(place)
        if name == "doubts":
            panel.doubts.look()
            studio.until(lambda: panel.doubts.found is not None)
        if place:
            studio.shot(f"evaluate-{name}")
    panel.tabs.setCurrentIndex(0)
    studio.window.docks["Evaluate"].hide()


def evaluate_many(studio: Studio) -> None:
    """Two hundred labels, some nested, and names in many scripts."""
    places = ("depot", "driver", "app", "invoice", "locker", "السائق", "电话", "label 📦", "van", "shop")
    faults = ("late", "lost", "broken", "rude", "wrong", "slow", "dear", "closed", "full", "missing")
    names = [f"{place} > {fault}" for place in places for fault in faults]
    names = [*names, *LONG_LABELS, *LANGUAGE_LABELS, *(f"not {name}" for name in names[:89])]
    panel = _measured(studio, "Many labels.csv", names, 120, audit=0)
    studio.shot("evaluate-many")
    panel.tabs.setCurrentIndex(1)
    studio.shot("evaluate-many-confusions")
    panel.bar.rolled.setChecked(True)
    studio.until(lambda: panel.found is not None)
    studio.shot("evaluate-rolled-up")
    panel.bar.rolled.setChecked(False)
    panel.tabs.setCurrentIndex(0)
    studio.window.docks["Evaluate"].hide()


def audit(studio: Studio) -> None:
    """Drawing a random sample, and the review of its rows."""
    from sce_desktop.core.types import Decision
    from sce_desktop.ui.audit_dialog import AuditDialog

    studio.sample()
    session, window = studio.session, studio.window
    window.docks["Evaluate"].bring()
    studio.rest(1)
    window.docks["Evaluate"].panel.ask_sample()  # type: ignore[union-attr]
    dialog = window.findChildren(AuditDialog)[-1]
    studio.until(lambda: dialog.plan is not None)
    studio.shot("audit-dialog", dialog)
    dialog.accept()
    studio.until(lambda: session.audit.shown)
    studio.rest()
    assert session.audit.state is not None
    for row_id in session.audit.state.row_ids[:12].tolist():
        session.decide([row_id], Decision.LABEL, [session.labels[row_id % 5].id or 0])
    session.set_current_row(int(session.audit.state.row_ids[12]))
    window.strip.hide()
    studio.rest(2)
    studio.shot("audit")
    window.docks["Evaluate"].hide()


def _measured(studio: Studio, name: str, labels: Sequence[str], count: int, *, audit: int) -> Any:
    """Score a table, decide rows mostly as the model does, and return the panel that measures it."""
    import numpy as np

    from sce_desktop.core.types import Decision
    from sce_desktop.store.query import AUDIT, RowQuery

    session = studio.session
    studio.open_table(studio.table(name, sample_texts()[:count]), labels)
    studio.score()
    if audit:
        session.audit.draw(audit)
        studio.until(lambda: session.audit.shown)
    assert session.project is not None
    tops = session.project.run_arrays(session.runs[0].id)
    best = dict(zip(tops.row_ids.tolist(), tops.top.tolist(), strict=True))
    chosen = list(session.query.given) or sorted(best)
    rng = np.random.default_rng(0)
    for row_id in chosen[: len(chosen) - 5]:
        right = rng.random() < 0.7
        place = best[row_id] if right else int(rng.integers(len(session.labels)))
        ids = [session.labels[place].id or 0]
        session.project.decide([row_id], Decision.LABEL, ids, queue=AUDIT if audit else "file")
    session.set_query(RowQuery())  # while the sample is shown, its blind review, nothing is measured
    session.annotationsChanged.emit(None)
    dock = studio.window.docks["Evaluate"]
    dock.bring()
    panel = dock.build()
    studio.until(lambda: panel.found is not None and panel.found.quality.parts)  # type: ignore[attr-defined]
    studio.window.strip.hide()
    studio.rest(1)
    return panel


def _sample_labels() -> list[str]:
    return (SAMPLE.parent / "labels.txt").read_text(encoding="utf-8").split("\n")[:8]


SCENES: tuple[Callable[[Studio], None], ...] = (
    start,
    imports,
    labels_empty,
    main_window,
    running,
    adding,
    label_dialogs,
    many_labels,
    long_names,
    languages,
    findings,
    findings_crosstab,
    findings_time,
    findings_empty,
    labels_grouped,
    models,
    llm_column,
    map_,
    duplicates,
    finetune,
    evaluate_empty,
    evaluate,
    evaluate_many,
    audit,
)


def _name(scene: Callable[[Studio], None]) -> str:
    return scene.__name__.rstrip("_")


def main() -> int:
    """Make the scenes that were asked for."""
    names = [_name(scene) for scene in SCENES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--format", choices=("webp", "png"), default="webp", help="webp is a third as large")
    parser.add_argument("--scene", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--scale", choices=("100", "200"), help="per cent; both where none is given")
    args = parser.parse_args()
    scenes = [scene for scene in SCENES if args.scene is None or _name(scene) in args.scene]
    args.folder.mkdir(parents=True, exist_ok=True)
    if SCALED not in os.environ and args.scale != "100":
        subprocess.run([sys.executable, __file__, *sys.argv[1:]], check=True, env=os.environ | {SCALED: "2"})
        if args.scale == "200":
            return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "SCE_DESKTOP_HOME": folder, "HF_HUB_OFFLINE": "1"}
        studio = Studio(args.folder.absolute(), Path(folder), args.format)
        try:
            for scene in scenes:
                scene(studio)
        finally:
            studio.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
