"""``python -m tests.atspi``: the main job by keys alone, with what AT-SPI reports as the only witness.

The real program runs on a virtual display, on a session bus of its own. A second process under the system's
Python reads it as a screen reader does: it opens a table, types labels, waits for scores in the cells of the
table, labels three rows by digits, filters, undoes, opens a panel and exports. On the way every control that
can take the focus must have a name and a role, every stop of Tab must be seen, and labels, undo and the end
of work must be announced. Linux only; ``tools/system_packages.sh virtual-display screen-reader`` installs
what it needs.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.e2e.display import Display

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
LIMIT_S = 900.0
ROWS = 40  # of the sample
_BINDINGS = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"


def missing() -> str:
    """Return what this needs and is not there, in a sentence; empty if all is there."""
    for program in ("Xvfb", "xdotool", "dbus-run-session", SYSTEM_PYTHON):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    found = subprocess.run([SYSTEM_PYTHON, "-c", _BINDINGS], capture_output=True, timeout=30)
    if found.returncode:
        return "the AT-SPI bindings of the system's Python are not installed"
    if not any(Path(folder, "org.a11y.Bus.service").exists() for folder in _services()):
        return "at-spi2-core is not installed"
    return ""


def _services() -> list[Path]:
    folders = os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":")
    return [Path(folder, "dbus-1", "services") for folder in folders]


def write_table(path: Path) -> Path:
    """Write the first rows of the sample, without its labels."""
    sample = ROOT / "resources" / "sample" / "parcel_feedback.csv"
    with sample.open(encoding="utf-8", newline="") as source:
        rows = [row["message"] for row, _ in zip(csv.DictReader(source), range(ROWS), strict=False)]
    with path.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target).writerows([("message",), *((text,) for text in rows)])
    return path


def run(folder: Path, *, short: bool = False) -> int:
    """Walk through the program with files below ``folder``; return the exit status of the walk.

    ``short``: the main job alone, as an ordinary test has it.
    """
    (folder / "home").mkdir(parents=True, exist_ok=True)
    table = write_table(folder / "parcels.csv")
    log = folder / "walk.txt"
    with Display(dict(os.environ)) as display:
        command: list[str | Path] = [
            "dbus-run-session",
            "--",
            SYSTEM_PYTHON,
            ROOT / "tests" / "atspi" / "walk.py",
        ]
        walk = display.start(
            [*command, sys.executable, table, folder, *(["short"] if short else [])], log=log
        )
        try:
            status = walk.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = 1
        display.picture(folder / "last.png")
    print(log.read_text(encoding="utf-8", errors="replace"), end="")
    return status


def main() -> int:
    """Say what is missing, or walk."""
    parser = argparse.ArgumentParser(prog="python -m tests.atspi", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the main job alone, as `make test` has it")
    parser.add_argument("--keep", type=Path, help="folder for the project, the log and the last picture")
    arguments = parser.parse_args()
    if lack := missing():
        print(f"Not run: {lack}. As root: tools/system_packages.sh virtual-display screen-reader")
        return 2
    if arguments.keep is not None:
        return run(arguments.keep.absolute(), short=arguments.short)
    with tempfile.TemporaryDirectory(prefix="sce-desktop-atspi-") as name:
        return run(Path(name), short=arguments.short)


if __name__ == "__main__":
    sys.exit(main())
