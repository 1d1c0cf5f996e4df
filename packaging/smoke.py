"""Starts the built program and works with it: ``python packaging/smoke.py dist/sce-desktop``.

The program runs in a home of its own, outside the checkout, without this Python's packages, and on a virtual
display. Checked, each with the seconds it took:

1. the command line says its version;
2. ``doctor`` finds Qt, the bundled models by their hashes, and its trial right;
3. ``classify`` labels the sample, with a similarity baseline, and is mostly right by its own answers;
   it writes and reads csv, xlsx, parquet and jsonl, and every model that was put in (models.toml) does so;
4. a model that is not there is refused in one sentence, without pip and without a network;
5. the window opens a project by its path, scores it when F5 is pressed, and is closed by Ctrl+Q: the scores
   are in the project file, nothing was printed, and the project is one whole file again.

Needs Linux with xvfb and xdotool. Exits with 1 and says why as soon as something is not as it should be.
"""

from __future__ import annotations

import csv
import json
import runpy
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.display import Display, wait_for  # noqa: E402 - of the checkout that this lies in

frozen_models = runpy.run_path(str(ROOT / "packaging" / "model_wheel.py"))["frozen_models"]

SAMPLE = ROOT / "resources" / "sample"
MODELS = [folder.name for folder in frozen_models()]
BUNDLED = {*MODELS, "all-MiniLM-L6-v2"}
FEWEST_RIGHT = 0.4  # of eight labels; what the model is worth is told elsewhere
SCORED_S = 120


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


SAMPLE_ROWS = read_csv(SAMPLE / "parcel_feedback.csv")


class Smoke:
    """The built program at ``program``, which works in ``folder``."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        kept = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1"}
        self.environment = kept | {"HOME": str(folder), "SCE_DESKTOP_HOME": str(folder / "home")}

    def run(self, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the program; it must end with ``code``."""
        started = time.monotonic()
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        print(f"{time.monotonic() - started:6.2f} s  {' '.join(map(str, arguments))[:90]}", flush=True)
        if done.returncode != code:
            fail(f"it ended with {done.returncode} instead of {code}:\n{done.stdout}{done.stderr}")
        return done

    def command_line(self) -> None:
        """Steps 1 to 4."""
        check(self.run("--version").stdout.startswith("sce-desktop "), "no version")
        found = json.loads(self.run("doctor", "--json").stdout)
        check(found["ok"] and found["qt"] and found["torch"], f"doctor: {found}")
        check({model["name"] for model in found["models"]} == BUNDLED, f"models: {found['models']}")

        source: Path = SAMPLE / "parcel_feedback.csv"
        for ending in ("csv", "xlsx", "parquet", "jsonl"):
            out = self.folder / f"out.{ending}"
            labels = ["--labels-file", SAMPLE / "labels.txt", "--baseline", "similarity"]
            self.run("classify", source, "--text", "message", *labels, "-o", out)
            source = out if ending != "csv" else source
        self.run("classify", source, "--text", "message", *labels[:2], "-o", self.folder / "again.csv")
        for model in MODELS:
            more = ["--model", model, "-o", self.folder / f"{model}.csv"]
            self.run("classify", SAMPLE / "parcel_feedback.csv", "--text", "message", *labels, *more)
        for name in ("out.csv", "again.csv", *(f"{model}.csv" for model in MODELS)):
            rows = read_csv(self.folder / name)
            check([row["ref"] for row in rows] == [row["ref"] for row in SAMPLE_ROWS], f"{name}: other rows")
            texts = [row for row in rows if row["message"].strip()]
            check(all(row["sce_label"] and row["similarity_label"] for row in texts), f"{name}: empty cells")
            right = sum(row["sce_label"] == row["gold"] for row in texts) / len(texts)
            print(f"          {name}: {right:.1%} of the sample is right")
            check(right >= FEWEST_RIGHT, f"{name}: only {right:.1%} of the sample is right")

        refused = self.run("models", "get", "nobody/nothing", code=2).stderr
        check("Traceback" not in refused and len(refused.splitlines()) == 1, f"models get: {refused}")

    def window(self) -> None:
        """Step 5."""
        project = self.folder / "Sample.sce"
        labels = [
            word
            for name in (SAMPLE / "labels.txt").read_text("utf-8").split("\n")
            if name
            for word in ("--label", name)
        ]
        self.run("project", "create", project, SAMPLE / "parcel_feedback.csv", "--text", "message", *labels)
        log = self.folder / "window.txt"
        with Display(self.environment) as display:
            started = time.monotonic()
            program = display.start([self.program, "gui", project], log=log)

            def report(what: str) -> None:
                print(f"{time.monotonic() - started:6.2f} s  {what}", flush=True)

            wait_for("a window", lambda: display.windows("SCE Desktop"), 60)
            report("window shown")
            display.focus("^Sample – SCE Desktop$")
            report("project open in it, it takes keys")
            display.press("F5")
            first = "SELECT count(*) FROM scores"
            wait_for("the first scores", lambda: asked(project, first) not in ([], [(0,)]), SCORED_S)
            report("first scores in the project after F5")
            texts = sum(bool(row["message"].strip()) for row in SAMPLE_ROWS)
            scored = [("sce", texts), ("similarity", texts)]
            finished = "SELECT alias, scored FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
            wait_for(
                "all scores",
                lambda: asked(project, finished) == scored,
                SCORED_S,
            )
            report("every row scored by the model and the baseline")
            display.focus("^Sample – SCE Desktop$")
            display.press("ctrl+q")
            check(program.wait(20) == 0, f"the window ended with {program.returncode}")
            report("closed")
        check(not log.read_text("utf-8"), f"the window said:\n{log.read_text('utf-8')}")
        check(not Path(f"{project}-wal").exists(), "the project was not brought into one file")
        check(asked(project, "PRAGMA integrity_check") == [("ok",)], "the project is damaged")
        self.run("project", "verify", project)


def asked(project: Path, query: str) -> list[tuple[object, ...]]:
    """What the project file answers while the program works on it; nothing as long as it cannot."""
    try:
        with closing(sqlite3.connect(f"file:{project}?mode=ro", uri=True, timeout=5)) as database:
            return database.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


def check(right: bool, problem: str) -> None:
    """Go on only if ``right``."""
    if not right:
        fail(problem)


def fail(problem: str) -> None:
    """End with 1."""
    sys.exit(f"FAILED: {problem}")


def main() -> None:
    """Check the built program in the folder given."""
    folder = Path(sys.argv[1]).resolve()
    program = folder / "sce-desktop"
    check(program.is_file(), f"there is no {program}")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    print(f"{size / 1e6:.0f} MB in {folder}")
    with tempfile.TemporaryDirectory(prefix="sce-desktop-smoke-") as name:
        smoke = Smoke(program, Path(name))
        smoke.command_line()
        try:
            smoke.window()
        except (TimeoutError, OSError, RuntimeError) as error:
            fail(f"the window: {error}")
    print("All is well.")


if __name__ == "__main__":
    main()
