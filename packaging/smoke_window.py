"""What `smoke.py` does in the window of the built program, from outside: a drop, keys, the project's file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from tests.e2e import drag_source
from tests.e2e.display import Display, wait_for, wait_until

SCORED_S = 180
FINETUNED_S = 300
_BUTTON_X = 54  # the middle of the button Fine-tune
_LABELS = "SELECT count(*) FROM labels WHERE active"
_SCORES = "SELECT count(*) FROM scores"
_FINISHED = "SELECT alias, scored FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
_LABELLED = "SELECT count(DISTINCT row_id) FROM annotation_labels"
_VERSIONS = "SELECT count(*) FROM model_versions"


class Window:
    """The program ``command`` on ``display``; ``folder`` is its home."""

    def __init__(
        self,
        display: Display,
        command: Sequence[str | Path],
        folder: Path,
        fail: Callable[[str], None],
    ) -> None:
        self.display = display
        self.command = command
        self.folder = folder
        self.fail = fail
        self.started = time.monotonic()
        self.project = folder / "home" / "data" / "projects" / "parcel_feedback.sce"

    def report(self, what: str) -> None:
        """Print the seconds since the start."""
        print(f"{time.monotonic() - self.started:6.2f} s  {what}", flush=True)

    def asked(self, query: str, project: Path | None = None) -> list[tuple[object, ...]]:
        """What the project file answers while the program works on it; nothing as long as it cannot."""
        file = project or self.project
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=5)) as database:
                return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def work(self, table: Path, labels: Path, *, texts: int) -> None:
        """Start, take ``table``, label, score, fine-tune, export, close."""
        display = self.display
        log = self.folder / "window.txt"
        self.started = time.monotonic()
        program = display.start([*self.command], log=log)
        display.focus("^SCE Desktop$")
        self.report("start page on the screen, it takes keys")
        self.take(table)
        names = [name for name in labels.read_text("utf-8").splitlines() if name]
        for name in names:  # the cursor is where labels are typed
            display.type(name)
            display.press("Return")
        wait_for("labels from the keyboard", lambda: self.asked(_LABELS) == [(len(names),)], 60)
        self.report(f"{len(names)} labels typed")
        pressed = time.monotonic()
        display.press("F5")
        wait_for("the first scores", lambda: self.asked(_SCORES) not in ([], [(0,)]), SCORED_S)
        self.report(f"first scores, {time.monotonic() - pressed:.2f} s after F5")
        scored = [("sce", texts), ("similarity", texts)]
        wait_for("all scores", lambda: self.asked(_FINISHED) == scored, SCORED_S)
        self.report("every row scored by the model and the baseline")
        self.label()
        self.finetune()
        self.export(table)
        self.second_start(table)
        display.press("ctrl+q")
        if program.wait(60) != 0:
            self.fail(f"the window ended with {program.returncode}")
        self.report("closed")
        if told := log.read_text("utf-8"):
            self.fail(f"the window said:\n{told}")
        if Path(f"{self.project}-wal").exists():
            self.fail("the project was not brought into one file")
        if self.asked("PRAGMA integrity_check") != [("ok",)]:
            self.fail("the project is damaged")

    def take(self, table: Path) -> None:
        """Drop ``table`` on the window from another program, and import it."""
        display = self.display
        source = display.start(
            [sys.executable, drag_source.__file__, str(table)], log=self.folder / "source.txt"
        )
        title = f"^{drag_source.TITLE}$"
        wait_for("the window to drag from", lambda: display.windows(title), 60)
        time.sleep(0.5)  # painted, and known to the other program
        for _ in range(3):
            display.drag(display.middle(title), (500, 450))
            if wait_until(lambda: display.windows("Import a table"), 8):
                break
        else:
            self.fail("three drags brought no import dialog")
        source.terminate()
        self.report("sample dropped, import dialog open")

        def imported() -> bool:
            if display.focus_now("Import a table"):  # Return does nothing until the table has been read
                display.press("Return")
            return bool(self.asked("SELECT sum(rows) FROM imports")) and not display.windows("Import a table")

        wait_for("the import", imported, 90)
        display.focus("^parcel_feedback – SCE Desktop$")
        self.report("imported, labels can be typed")

    def label(self) -> None:
        """Label three rows, by keys alone once the table has the keyboard, with different labels."""
        display = self.display
        display.xdotool("mousemove", 400, 330, "click", 1)  # in the table; there single keys decide
        display.press("ctrl+Home")
        for count, key in enumerate(("1", "2", "1"), start=1):
            display.press(key)
            wait_for(f"label {count}", lambda count=count: self.asked(_LABELLED) == [(count,)], 30)
        self.report("three rows labelled by keys")

    def finetune(self) -> None:
        """Fine-tune on them, by the button at the foot of the panel."""
        display = self.display
        display.press("ctrl+1")
        for y in (743, 735, 750, 727):  # of the screen's 800; the panel may still be opening
            time.sleep(1)
            display.xdotool("mousemove", _BUTTON_X, y, "click", 1)
            pressed = time.monotonic()
            if wait_until(lambda: self.asked(_VERSIONS) not in ([], [(0,)]), 15):
                break
        wait_for("a version", lambda: self.asked(_VERSIONS) not in ([], [(0,)]), FINETUNED_S)
        self.report(f"fine-tuned on three rows, {time.monotonic() - pressed:.2f} s after the click")

    def export(self, table: Path) -> None:
        """Export, by Ctrl+E and Return."""
        display = self.display
        out = table.with_name("parcel_feedback labelled.csv")
        display.press("ctrl+e")

        def exported() -> bool:
            if display.focus_now("^Export"):  # Return does nothing until the rows have been counted
                display.press("Return")
            return out.exists()

        wait_for("the export", exported, 60)
        lines = out.read_text("utf-8-sig").splitlines()
        if "sce_label" not in lines[0] or len(lines) < 300:
            self.fail(f"the export: {lines[0]}, {len(lines)} lines")
        self.report("exported")
        display.focus("^parcel_feedback – SCE Desktop$")

    def second_start(self, table: Path) -> None:
        """Start the program again with a project: it opens in the window that runs, and the second ends."""
        other = table.with_name("Other.sce")
        run = [*self.command, "project", "create", other, table, "--text", "message", "--label", "A"]
        subprocess.run(run, check=True, capture_output=True, env=self.display._environment, cwd=self.folder)
        second = self.display.start([*self.command, other], log=self.folder / "second.txt")
        code = second.wait(60)
        said = (self.folder / "second.txt").read_text("utf-8")
        if code or said:
            self.fail(f"the second start ended with {code} and said: {said}")
        self.display.focus("^Other – SCE Desktop$")
        if len(self.display.windows("SCE Desktop$")) != 1:
            self.fail("the second start opened a second window")
        self.report("a second start opened its file in the window that runs")
