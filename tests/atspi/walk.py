"""The main job without a mouse: keys go in, and what AT-SPI reports is all that is looked at.

    python3 tests/atspi/walk.py PROGRAM_PYTHON TABLE FOLDER [short]

Runs under the system's Python, on a display and a session bus of its own: see `tests.atspi`. Prints what it
does, and ends with 1 where something is missing that a screen reader would have to say.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reader import MUTE_ROLES, Reader, Seen

LABELS = ("Late delivery", "Damaged parcel", "Courier praise")
MOST_STOPS = 120  # after which Tab goes round in circles
LOADED_S = 90.0  # to import torch and load the model on a machine that is busy
TITLE = "SCE Desktop"


class Walk:
    """Presses keys, and asks the reader what came of it."""

    def __init__(self, reader: Reader, table: Path, folder: Path, *, short: bool = False) -> None:
        self.reader = reader
        self.short = short  # the main job alone: no rounds of Tab, no filter, no panel
        self.table = table
        self.folder = folder
        self.problems: list[str] = []
        self.stops = 0
        self._started = time.monotonic()

    # --- keys ----------------------------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], check=True, timeout=20)
            self.reader.pump(0.03)

    def type(self, text: str) -> None:
        subprocess.run(["xdotool", "type", "--delay", "15", text], check=True, timeout=60)
        self.reader.pump(0.03)

    def take_keyboard(self, title: str) -> Any:
        """Give a window the keyboard, as a window manager does: there is none here."""

        def taken() -> Any:
            window = self.reader.window(title)
            found = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", title],
                capture_output=True,
                text=True,
                timeout=20,
            ).stdout.split()
            if window is None or not found:
                return None
            subprocess.run(["xdotool", "windowfocus", found[-1]], timeout=20, capture_output=True)
            self.reader.pump(0.05)
            return window if self.reader.focused() is not None else None

        return self.reader.until(f"window {title!r} with the focus somewhere in it", taken, 60)

    def step(self, what: str) -> None:
        print(f"  {time.monotonic() - self._started:5.1f} s  {what}", flush=True)

    def spoken(self) -> Seen:
        """What has the focus: it must be there, named, and of a role that says what it does."""
        seen: Seen = self.reader.until("something with the focus", self.reader.focused, 10)
        if not seen.name.strip() or seen.role in MUTE_ROLES:
            self.problem(f"has the focus: {seen}, {self.reader.path(self.reader.focus)}")
        return seen

    def problem(self, words: str) -> None:
        if words not in self.problems:
            self.problems.append(words)
            print(f"           PROBLEM {words}", flush=True)

    def audit(self, where: str, top: Any) -> None:
        for words in self.reader.problems(top):
            self.problem(f"{where}: {words}")

    def tab_round(self, where: str, key: str = "Tab") -> None:
        """Press Tab until the focus is where it was: each stop must say what it is, and be seen."""
        if self.short:
            return
        start, stops = self.spoken(), []
        for _ in range(MOST_STOPS):
            self.press(key)
            seen = self.spoken()
            stops.append(seen)
            if not (seen.focused and seen.showing and min(seen.size) > 0):
                self.problem(f"{where}: Tab stops at {seen}, which is not seen")
            if (seen.name, seen.role, seen.description) == (start.name, start.role, start.description):
                self.stops += len(stops)
                self.step(f"{where}: Tab stops at {len(stops)} controls, each named")
                return
        raise TimeoutError(f"{where}: Tab never comes back to {start}")

    def tab_to(self, name: str, role: str = "", *, key: str = "Tab") -> Seen:
        """Press Tab until the focus is at a control."""
        for _ in range(MOST_STOPS):
            seen = self.spoken()
            if seen.name.startswith(name) and role in ("", seen.role):
                return seen
            self.press(key)
        raise TimeoutError(f"Tab never comes to {name!r}")

    def zone_to(self, fits: Callable[[Seen], bool], what: str) -> Seen:
        """Press F6 until the focus is in a zone."""
        passed = []
        for _ in range(12):
            seen = self.spoken()
            if fits(seen):
                return seen
            passed.append(str(seen))
            self.press("F6")
        raise TimeoutError(f"F6 never comes to {what}, but to {'; '.join(passed)}")

    # --- the job -------------------------------------------------------------------------------------------

    def run(self) -> None:
        for part in (self.open_table, self.type_labels, self.score, self.label_rows, self.filter_rows,
                     self.undo, self.fine_tune, self.export):  # fmt: skip
            if not (self.short and part in (self.filter_rows, self.fine_tune)):
                part()

    def open_table(self) -> None:
        window = self.take_keyboard(TITLE)
        self.audit("start page", window)
        self.tab_round("start page")
        self.press("ctrl+o")
        dialog = self.take_keyboard("Open")
        self.audit("file dialog", dialog)
        self.type(str(self.table))
        self.press("Return")
        dialog = self.take_keyboard("Import a table")

        def ready() -> Any:
            buttons = self.reader.all("push button", within=dialog)
            found = [one for one in buttons if one.get_name().startswith("Import")]
            return found and self.reader.see(found[0]).sensitive

        self.reader.until("the table to be read", ready, 60)
        self.audit("import dialog", dialog)
        self.tab_round("import dialog")
        self.tab_to("Import")
        self.press("Return")
        self.take_keyboard(f"{self.table.stem} – {TITLE}")
        self.step("the table is imported")

    def type_labels(self) -> None:
        self.tab_to("Add label")
        for name in LABELS:
            self.type(name)
            self.press("Return")
        self.reader.until("labels in the list", lambda: set(LABELS) <= self.label_names(), 30)
        self.step("labels are typed, and heard in the list")

    def label_names(self) -> set[str]:
        found = self.reader.find("list", "Labels")
        if found is None:
            return set()
        return {(one.get_name() or "").split(",")[0] for one in self.reader.walk(found)}

    @property
    def rows_table(self) -> Any:
        return self.reader.find("table", "Rows")

    def column(self, heading: str) -> int:
        return self.reader.headings(self.rows_table).index(heading)

    def score(self) -> None:
        self.press("F5")
        table, column = self.rows_table, self.column("SCE")

        def scored() -> bool:
            return "%" in self.reader.cell(table, 0, column).name

        self.reader.until("a score in the first row", scored, LOADED_S)
        self.reader.hear("scored", LOADED_S)
        self.step(f"row 1 is scored: {self.reader.cell(table, 0, column).name}")
        self.audit("window", self.reader.window(TITLE))

    def digit_label(self, digit: str) -> str:
        """The label that a digit gives, as its button says."""
        for button in self.reader.all("push button") + self.reader.all("button"):
            if f"key {digit}" in (button.get_description() or ""):
                return str(button.get_name())
        raise LookupError(f"no button says that {digit} is its key")

    def label_rows(self) -> None:
        seen = self.zone_to(lambda one: one.role == "table cell", "the table of rows")
        self.press("ctrl+Home")
        text, yours, theirs = (self.column(heading) for heading in ("Text", "You", "SCE"))
        for row, digit in enumerate(("1", "1", "1") if self.short else ("1", "2", "1")):
            words = self.reader.cell(self.rows_table, row, text).name

            def there(row: int = row, words: str = words) -> bool:
                focus = self.reader.focused()
                best = self.reader.cell(self.rows_table, row, theirs).name.partition(",")[0]
                return focus is not None and focus.name == words and self.digit_label("1") == best

            self.reader.until(f"row {row + 1} with the focus, and its labels", there, 15)
            seen = self.spoken()
            if "Not labelled" not in seen.description:
                self.problem(f"row {row + 1} is not said to be unlabelled: {seen}")
            name = self.digit_label(digit)
            self.press(digit)
            heard = self.reader.hear(name)
            cell = self.reader.until(
                "the label in its cell",
                lambda row=row, name=name: name in self.reader.cell(self.rows_table, row, yours).name,
                15,
            )
            assert cell
            self.step(f"row {row + 1}, “{seen.name[:30]}”: key {digit}, heard “{heard}”")

    def status(self) -> str:
        return " ".join(one.get_name() or "" for one in self.reader.all("label"))

    def filter_rows(self) -> None:
        before = self.reader.rows(self.rows_table)
        self.tab_to("Unlabelled", key="shift+Tab")
        self.press("space")
        self.reader.until("fewer rows", lambda: self.reader.rows(self.rows_table) == before - 3, 20)
        self.step(f"filter: {self.reader.rows(self.rows_table)} of {before} rows")
        self.press("space")
        self.reader.until("all rows", lambda: self.reader.rows(self.rows_table) == before, 20)

    def undo(self) -> None:
        self.press("ctrl+z")
        heard = self.reader.hear("Undone")
        yours = self.column("You")
        self.reader.until(
            "the third row without a label",
            lambda: self.reader.cell(self.rows_table, 2, yours).name == "not labelled",
            15,
        )
        self.step(f"undo: heard “{heard}”")

    def fine_tune(self) -> None:
        self.press("ctrl+1")
        self.reader.until("the panel", lambda: self.reader.find("panel", "Fine-tune") or self.status(), 20)
        self.zone_to(lambda one: one.role in ("page tab", "page tab list"), "the panels")
        self.audit("window with the panel Fine-tune", self.reader.window(TITLE))
        self.tab_round("window with the panel Fine-tune")
        self.press("ctrl+0")

    def export(self) -> None:
        self.press("ctrl+e")
        dialog = self.take_keyboard("Export")
        self.audit("export dialog", dialog)
        self.tab_round("export dialog")
        target = self.folder / "labelled.csv"
        self.tab_to("File")
        self.press("ctrl+a")
        self.type(str(target))
        self.tab_to("Export")
        self.press("Return")
        self.reader.hear("labelled.csv", 60)
        with target.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        labelled = [row["label"] for row in rows if row["label"]]
        assert len(labelled) == 2, labelled
        self.step(f"exported {len(rows)} rows, {len(labelled)} of them labelled")


def main(python: str, table: Path, folder: Path, *, short: bool) -> int:
    """Start the program, walk, and say what is missing."""
    environment = os.environ | {
        "QT_QPA_PLATFORM": "xcb",
        "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "SCE_DESKTOP_HOME": str(folder / "home"),
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
    }
    log = folder / "program.txt"
    with log.open("wb") as output:
        program = subprocess.Popen(
            [python, "-m", "sce_desktop", "gui"], env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        reader = Reader(program.pid)
        walk = Walk(reader, table, folder, short=short)
        try:
            reader.until("the program among those that can be read", reader.app, 60)
            walk.run()
            walk.take_keyboard(TITLE)
            walk.press("ctrl+q")
            if status := program.wait(60):
                walk.problem(f"the program ended with {status}")
        except (TimeoutError, LookupError, AssertionError, subprocess.SubprocessError) as error:
            walk.problem(f"{type(error).__name__}: {error}")
            (folder / "tree.txt").write_text("\n".join(reader.tree()), encoding="utf-8")
        finally:
            reader.close()
            if program.poll() is None:
                program.terminate()
                try:
                    program.wait(10)
                except subprocess.TimeoutExpired:
                    program.kill()
    if said := log.read_text(encoding="utf-8", errors="replace").strip():
        walk.problem(f"the program wrote: {said[:2000]}")
    print(f"{len(walk.problems)} problems, {walk.stops} stops of Tab, {len(reader.announced)} announcements")
    return 1 if walk.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), short="short" in sys.argv[4:]))
