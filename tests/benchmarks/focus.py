"""A review in focus mode through the real window, as somebody new would do it: by the keys that labels show.

One process, offscreen, a home of its own. A table is imported by its dialog, scored by F5, the review begun
by Q and focus mode entered by F9. For each row the label that the table calls gold is looked up among the
label buttons: if it shows a key, that key is pressed; else its name is typed into the field that finds
labels, until it is the first, and Return takes it. A key is timed from before it is sent until the next row
has been painted. After each row another connection looks up what is in the file. A surprise is whatever
somebody who trusts the screen would not expect; see `SURPRISES`.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.measure import print_table
from tests.benchmarks.review import Painted
from tests.benchmarks.window import Program, run_step

ROWS = 300
SEED = 0
SURPRISES = {
    "other label": "the file has another label than the one whose key was pressed",
    "other row": "the label went to another row than the one on the screen",
    "other text": "the text on the screen was not that of the row",
    "key changed": "a button showed another key or label when its key was pressed than when it was read",
    "labelled row": "a row came that had a label already",
    "focus lost": "the key had no effect, as something else had the focus",
}


def run(data: Path, *, rows: int = ROWS) -> None:
    """Measure and print; ``data`` is JSON Lines with "text" and "label", gzipped or not."""
    with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
        labels = write_csv(data, Path(name) / "table.csv", rows)
        got = run_step(review, Path(name), str(rows))
    times = got["ms"]
    print_table(
        f"{len(times)} rows of {data.name} with {labels} labels in focus mode",
        ["what", "value"],
        [
            ["rows an hour of machine time", f"{len(times) / sum(times) * 3_600_000:,.0f}"],
            ["keys a row", f"{got['keys'] / len(times):.2f}"],
            ["rows labelled by one key", f"{got['single'] / len(times):.0%}"],
            *(
                [f"last key to next row painted, ms, {name}", f"{np.percentile(times, share):.0f}"]
                for name, share in (("median", 50), ("99th", 99), ("most", 100))
            ),
            *([f"surprise: {name}", str(got["surprises"].get(name, 0))] for name in SURPRISES),
        ],
        [f"{name}: {words}." for name, words in SURPRISES.items()],
    )


def write_csv(data: Path, table: Path, rows: int) -> int:
    """Write ``rows`` texts, drawn at random, with their labels as the column gold; return the label count."""
    opened = gzip.open if data.suffix == ".gz" else open
    with opened(data, "rt", encoding="utf-8") as stream:
        found = [json.loads(line) for line in stream]
    drawn = np.random.default_rng(SEED).permutation(len(found))[:rows]
    with table.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("id", "text", "gold"))
        writer.writerows((place, found[place]["text"], found[place]["label"]) for place in drawn)
    return len({found[place]["label"] for place in drawn})


def review(folder: str, rows: str) -> None:
    """Import, score, review."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from sce_desktop.ui.transfer.import_dialog import ImportDialog

    table = Path(folder) / "table.csv"
    program = Program()
    window, controllers, until = program.window, program.controllers, program.until
    controllers.projects.warm_up()
    window.open_path(table)
    until(lambda: window.findChild(ImportDialog) is not None)
    dialog = window.findChild(ImportDialog)
    assert isinstance(dialog, ImportDialog)
    until(lambda: dialog.import_button.isEnabled() and dialog.columns.as_gold)
    dialog.import_button.click()
    until(lambda: controllers.workspace.project is not None and controllers.workspace.counts is not None)
    project = controllers.workspace.project
    assert project is not None
    window.activateWindow()  # as a window manager does when the dialog is gone
    until(lambda: QApplication.focusWidget() is not None)

    def press(key: Any) -> None:
        QTest.keyClick(QApplication.focusWidget() or window, key)

    press(Qt.Key.Key_F5)
    until(lambda: any(run.finished_at for run in project.runs()))
    until(lambda: controllers.scorer.job is None and not controllers.workspace.workers.reads.busy)
    press(Qt.Key.Key_Q)
    until(lambda: controllers.navigation.query.given and not controllers.workspace.workers.reads.busy)
    press(Qt.Key.Key_F9)
    view = window.focus.view
    assert view is not None
    text = view.row.text.view
    painted = Painted(text.viewport())
    until(lambda: painted.since(0.0, text.viewport()))
    with table.open(encoding="utf-8", newline="") as stream:
        gold = {number: line["gold"] for number, line in enumerate(csv.DictReader(stream), start=1)}
    reader = sqlite3.connect(f"file:{project.path}?mode=ro", uri=True)
    surprises: dict[str, int] = {}
    times: list[float] = []
    keys = single = 0

    def surprise(name: str) -> None:
        surprises[name] = surprises.get(name, 0) + 1

    def in_file(row_id: int) -> list[str]:
        return [
            name
            for (name,) in reader.execute(
                "SELECT name FROM annotation_labels JOIN labels ON labels.id = label_id WHERE row_id = ?",
                (row_id,),
            )
        ]

    def shown() -> dict[str, str]:
        buttons = [button for button in view.row.labels.buttons if button.isVisible()]
        return {button.accessibleName(): button._key for button in buttons}

    for _ in range(int(rows)):
        row_id = int(view.row.title.text().rsplit(" ", 1)[1].replace(",", ""))
        wanted = gold[row_id]
        if in_file(row_id):
            surprise("labelled row")
        if text.toPlainText() != project.texts([row_id])[0][: len(text.toPlainText())]:
            surprise("other text")
        caps = shown()
        cap = caps.get(wanted, "").split(" ")[0]
        program.app.processEvents()  # whatever comes between reading and pressing
        if shown() != caps:
            surprise("key changed")
        if cap:
            last = Qt.Key(ord(cap))
            single += 1
            keys += 1
        else:
            press(Qt.Key.Key_Slash)
            keys += 2  # with Return
            for letter in wanted:
                QTest.keyClicks(QApplication.focusWidget(), letter)
                keys += 1
                found = view.row.labels.found()
                if found is not None and found.name == wanted:
                    break
            last = Qt.Key.Key_Return
        start = time.perf_counter()
        press(last)
        if controllers.navigation.current_row != row_id or len(times) + 1 < int(rows):
            until(lambda start=start: painted.since(start, text.viewport()))
        times.append((time.perf_counter() - start) * 1000)
        done = in_file(row_id)
        if not done:
            surprise("focus lost" if not text.hasFocus() else "other row")
        elif done != [wanted]:
            surprise("other label")
    reader.close()
    window.focus.leave()
    print(json.dumps({"ms": times, "keys": keys, "single": single, "surprises": surprises}))
    program.end()
