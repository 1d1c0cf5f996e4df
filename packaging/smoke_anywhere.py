"""Starts the built program on any system: ``python packaging/smoke_anywhere.py PROGRAM``.

What `smoke.py` checks without a display: the version, ``doctor`` with every library, the sample labelled and
mostly right, and the window, drawn offscreen, that opens a project, is asked to end, and leaves it whole. For
Windows and macOS, where nothing drives a window from outside. Exits with 1 and says why.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FEWEST_RIGHT = 0.4
WINDOW_S = 20  # that the window must live; a library that is missing ends it at once


def main() -> None:
    """Check the program given."""
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="sce-desktop-smoke-") as name:
        folder = Path(name)
        for file in (ROOT / "resources" / "sample").iterdir():
            shutil.copy(file, folder)
        environment = os.environ | {"SCE_DESKTOP_HOME": str(folder / "home"), "QT_QPA_PLATFORM": "offscreen"}

        def run(*arguments: str) -> str:
            started = time.monotonic()
            command = [program, *arguments]
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
            )
            print(f"{time.monotonic() - started:6.2f} s  {' '.join(arguments)[:90]}", flush=True)
            check(done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout}{done.stderr}")
            return done.stdout

        check(run("--version").startswith("sce-desktop "), "no version")
        found = json.loads(run("doctor", "--libraries", "--json"))
        check(found["ok"], f"doctor: {found}")
        sample = ("parcel_feedback.csv", "--text", "message")
        run("classify", *sample, "--labels-file", "labels.txt", "-o", "out.csv")
        with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["message"].strip()]
        right = sum(row["sce_label"] == row["gold"] for row in rows) / len(rows)
        check(right >= FEWEST_RIGHT, f"only {right:.1%} of the sample is right")
        run("project", "create", "Sample.sce", *sample, "--label", "A", "--label", "B")
        window = subprocess.Popen(
            [program, "gui", "Sample.sce"], cwd=folder, env=environment, stdin=subprocess.DEVNULL
        )
        try:
            code = window.wait(WINDOW_S)
            check(False, f"the window ended by itself with {code}")
        except subprocess.TimeoutExpired:
            window.terminate()
            window.wait(60)
        run("project", "verify", "Sample.sce")
    print("All is well.")


def check(right: bool, problem: str) -> None:
    """Go on only if ``right``."""
    if not right:
        sys.exit(f"FAILED: {problem}")


if __name__ == "__main__":
    main()
