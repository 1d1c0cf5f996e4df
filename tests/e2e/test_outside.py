"""The real program from outside, on a virtual display: a drag from another program, keys, clicks, a file."""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e import drag_source
from tests.e2e.display import Display, wait_for

pytestmark = [
    pytest.mark.outside,
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(400),  # each wait below has a limit of its own, for a machine that is busy
]

LABELS = ("Late delivery", "Damaged parcel", "Courier praise")
TEXTS = (
    "It came two days after the date I was promised.",
    'The box was crushed, and "fragile" stood on every side; three cups are gone.',
    "The driver waved, waited,\nand carried it upstairs. Lovely!",
    "",
    "وصلت الشحنة متأخرة ثلاثة أيام",
    "=HYPERLINK(a) is what the label said 😡",
)
TRIES = 3  # a drag may go wrong on a machine that is busy


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def display(home: Path, tmp_path: Path) -> Iterator[Display]:
    environment = os.environ | {"HOME": str(home), "SCE_DESKTOP_HOME": str(home / "sce"), "LC_ALL": "C.UTF-8"}
    with Display(environment) as display:
        try:
            yield display
        finally:
            display.picture(tmp_path / "last.png")  # pytest keeps it for who looks into a failure


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a table é.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("ref", "message"), *((f"r{n}", text) for n, text in enumerate(TEXTS))])
    return path


def asked(project: Path, query: str) -> list[tuple[object, ...]]:
    """What the project file answers while the program works on it; nothing as long as it cannot."""
    try:
        with closing(sqlite3.connect(f"file:{project}?mode=ro", uri=True, timeout=5)) as database:
            return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def drag_onto_the_window(display: Display, table: Path, log: Path) -> None:
    """Drag ``table`` from another program onto the window, until the import dialog comes."""
    command = [sys.executable, drag_source.__file__, str(table)]
    source = display.start(command, log=log)
    title = f"^{drag_source.TITLE}$"
    wait_for("the window to drag from", lambda: display.windows(title), 60)
    time.sleep(0.3)  # painted, and known to the other program
    for _ in range(TRIES):
        display.drag(display.middle(title), (500, 450))
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if display.windows("Import a table"):
                source.terminate()
                source.wait(10)
                return
            time.sleep(0.1)
    pytest.fail(f"{TRIES} drags brought no import dialog")


def test_a_dropped_table_is_labelled_and_exported(
    display: Display, home: Path, table: Path, tmp_path: Path
) -> None:
    started = time.monotonic()
    program = display.start([sys.executable, "-m", "sce_desktop", "gui"], log=tmp_path / "program.txt")
    display.focus("^SCE Desktop$")

    drag_onto_the_window(display, table, tmp_path / "source.txt")
    project = home / "sce" / "data" / "projects" / "a table é.sce"

    def imported() -> bool:
        if display.focus_now("Import a table"):  # Return does nothing until the table has been read
            display.press("Return")
        return asked(project, "SELECT sum(rows) FROM imports") == [(len(TEXTS),)]

    wait_for("the import", imported, 60)
    display.focus("^a table é – SCE Desktop$")

    for name in LABELS:  # the cursor is where labels are typed
        display.type(name)
        display.press("Return")
    active = "SELECT count(*) FROM labels WHERE active"
    wait_for("labels from the keyboard", lambda: asked(project, active) == [(len(LABELS),)], 30)

    display.press("F5")
    finished = "SELECT alias, scored FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
    scored = [("sce", len(TEXTS) - 1), ("similarity", len(TEXTS) - 1)]
    wait_for("the scoring", lambda: asked(project, finished) == scored, 90)

    display.xdotool("mousemove", 400, 205, "click", 1)  # in the table; there single keys decide
    display.press("ctrl+Home", "Down", "2")
    decided = "SELECT row_id FROM annotation_labels"
    wait_for("a decision by a key", lambda: asked(project, decided) == [(2,)], 30)

    out = home / "a table é labelled.csv"
    display.press("ctrl+e")

    def exported() -> bool:
        if display.focus_now("^Export"):  # nor does it until the rows have been counted
            display.press("Return")
        return out.exists()

    wait_for("the export", exported, 60)
    display.focus("^a table é – SCE Desktop$")
    display.press("ctrl+q")
    assert program.wait(60) == 0
    assert (tmp_path / "program.txt").read_text(encoding="utf-8") == ""
    assert not Path(f"{project}-wal").exists()
    print(f"driven in {time.monotonic() - started:.1f} s")

    written = read_table(out)
    assert [(row["ref"], row["message"]) for row in written] == [
        (f"r{n}", text) for n, text in enumerate(TEXTS)
    ]
    second = sorted(LABELS, key=lambda name: -float(written[1][f"sce_p:{name}"]))[
        1
    ]  # keys follow the buttons
    assert [row["label"] for row in written] == ["", second, "", "", "", ""]
    ((model,),) = asked(project, "SELECT model FROM project")  # Return may come before one is proposed
    same_as_classify(written, table, tmp_path / "told.csv", model or "sce-mini")


def same_as_classify(written: list[dict[str, str]], table: Path, told: Path, model: str) -> None:
    """Compare with the command line, which has no vectors of the window's: it works in another home."""
    labels = [word for name in LABELS for word in ("--label", name)]
    command = [sys.executable, "-m", "sce_desktop", "classify", str(table), "--text", "message", *labels]
    subprocess.run(
        [*command, "--model", model, "--baseline", "similarity", "-o", str(told)],
        check=True,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    columns = [f"{alias}_p:{name}" for alias in ("sce", "similarity") for name in LABELS]
    for ours, theirs in zip(written, read_table(told), strict=True):
        assert ours["sce_label"] == theirs["sce_label"]
        for column in columns:
            assert bool(ours[column]) == bool(theirs[column]) == bool(ours["message"])
            if ours[column]:
                # In 16 bits a text's numbers hang a little on the texts that are read with it.
                assert float(ours[column]) == pytest.approx(float(theirs[column]), abs=0.005)
