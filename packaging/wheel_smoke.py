"""Installs the wheel as a user would and works with it: ``python packaging/wheel_smoke.py [--wheel FILE]``.

The wheel is built (by `build`, in an environment of its own), and installed with the tested versions of what
it needs into a new environment. There, in a folder outside the checkout and in a home of its own:

1. the command line says its version, and ``doctor`` finds the model and its trial right;
2. ``classify`` labels the sample that the wheel carries, and is mostly right by its own answers;
3. the window opens without a display, with a project of the sample, scores every row of it, and closes;
4. Help, Licences has a text for everything.

Needs pip to reach an index, and some minutes. Exits with 1 and says why.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FEWEST_RIGHT = 0.4  # of eight labels; what the model is worth is told elsewhere
PLACE = "import sce_desktop.paths as p; print(p.__file__, p.resources_dir() / 'sample', sep='\\n')"
WINDOW = """
import sqlite3, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMainWindow
from sce_desktop import app, paths
from sce_desktop.core.components import components
from sce_desktop.settings import Settings

project = Path(sys.argv[1])
finished = "SELECT alias, scored FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
state = {"pressed": False, "scored": []}

def look():
    windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMainWindow)]
    if not windows or project.stem not in windows[0].windowTitle():
        return
    score = next(a for a in windows[0].findChildren(QAction) if a.shortcut().toString() == "F5")
    if not state["pressed"] and score.isEnabled():
        score.trigger()
        state["pressed"] = True
    elif state["pressed"]:
        with sqlite3.connect(f"file:{project}?mode=ro", uri=True) as database:
            state["scored"] = database.execute(finished).fetchall()
        if len(state["scored"]) == 2:
            timer.stop()
            windows[0].close()

app.make_application()
timer = QTimer(interval=200)
timer.timeout.connect(look)
timer.start()
code = app.main(project, Settings.load())
parts = components(paths.resources_dir() / "notices", paths.bundled_models_dir())
print(code, state["scored"], len(parts), [part.name for part in parts if not part.text().strip()])
"""


def call(*command: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Run a command, say how long it took, and return what it printed; end with 1 if it fails."""
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    print(f"{time.monotonic() - started:6.1f} s  {' '.join(map(str, command))[:100]!r}", flush=True)
    check(
        done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel of the checkout into ``folder``."""
    call(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Return the folder of programs of a new environment with ``wheel`` and the tested versions."""
    call(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (binaries / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    constraints = ROOT / "constraints.txt"
    (torch,) = [line for line in constraints.read_text("utf-8").splitlines() if line.startswith("torch==")]
    call(*pip, torch, cwd=folder)  # first and alone: an index of builds for the processor then gives that one
    call(*pip, "-c", constraints, wheel, cwd=folder)
    return binaries


def work(binaries: Path, folder: Path) -> None:
    """Do what the module's text says."""
    home = folder / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    environment = kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "SCE_DESKTOP_HOME": str(home / "sce"),
        "QT_QPA_PLATFORM": "offscreen",
        "LC_ALL": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
    }

    def run(*command: str | Path) -> str:
        return call(*command, cwd=folder, environment=environment)

    program = binaries / "sce-desktop"
    print(run(program, "--version").strip())
    found = json.loads(run(program, "doctor", "--json"))
    check(found["ok"], f"doctor: {found}")
    module, sample = (Path(line) for line in run(binaries / "python", "-c", PLACE).splitlines())
    check(not module.is_relative_to(ROOT), f"the program comes from the checkout: {module}")
    labels = ["--labels-file", sample / "labels.txt"]
    table = sample / "parcel_feedback.csv"
    run(program, "classify", table, "--text", "message", *labels, "-o", folder / "out.csv")
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["message"].strip()]
    right = sum(row["sce_label"] == row["gold"] for row in rows) / len(rows)
    print(f"          {right:.1%} of the sample is right")
    check(right >= FEWEST_RIGHT, f"only {right:.1%} of the sample is right")
    project = folder / "Sample.sce"
    names = [
        word for name in (sample / "labels.txt").read_text("utf-8").splitlines() for word in ("--label", name)
    ]
    run(program, "project", "create", project, table, "--text", "message", *names)
    (folder / "window.py").write_text(WINDOW, encoding="utf-8")
    told = run(binaries / "python", folder / "window.py", project).strip().splitlines()[-1]
    print(f"          {told}")
    wanted = f"0 [('sce', {len(rows)}), ('similarity', {len(rows)})] "
    check(told.startswith(wanted) and told.endswith(" []"), f"the window: {told}, not {wanted}")


def check(right: bool, problem: str) -> None:
    """Go on only if ``right``."""
    if not right:
        sys.exit(f"FAILED: {problem}")


def main() -> None:
    """Build, install, work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="a wheel that is there; without it, one is built")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sce-desktop-wheel-") as name:
        folder = Path(name).resolve()
        for one in ("wheel", "work"):
            (folder / one).mkdir()
        wheel = args.wheel.resolve() if args.wheel else build(folder / "wheel")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        binaries = install(wheel, folder / "environment")
        size = sum(
            f.stat().st_size
            for f in (folder / "environment").rglob("*")
            if f.is_file() and not f.is_symlink()
        )
        print(f"{size / 1e6:.0f} MB in the environment")
        work(binaries, folder / "work")
    print("All is well.")


if __name__ == "__main__":
    main()
