"""Starts the built program and works with it: ``python packaging/smoke.py dist/sce-desktop``.

With ``--root ROOT --program /usr/bin/sce-desktop`` the program is one that is installed in the system below
ROOT, and runs in it by chroot (as root; ``packaging/deb_smoke.sh`` makes such a system and installs the
package). The program runs in a home of its own, outside the checkout, without this Python's packages, and on
a virtual display. Checked, each with the seconds it took:

1. the command line says its version;
2. ``doctor`` finds Qt, every library, the bundled models by their hashes, and its trial right;
3. ``classify`` labels the sample, with a similarity baseline, and is mostly right by its own answers;
   it writes and reads csv, xlsx, parquet and jsonl, and every model that was put in (models.toml) does so;
4. evaluation, a fine-tune, shares by a column and by date, a refusal in one sentence without pip and without
   a network;
5. the window: starts, takes the sample by a drop from another program (its path where that fails), scores
   it when F5 is pressed, labels three rows by keys, fine-tunes, exports, and is closed by Ctrl+Q; a second
   start opens its file in the window that runs; nothing was printed, the project is one whole file again.

Needs Linux with xvfb and xdotool. Exits with 1 and says why as soon as something is not as it should be.
"""

from __future__ import annotations

import argparse
import csv
import json
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from smoke_window import Window  # noqa: E402 - beside this file, which is run as a script

from tests.e2e.display import Display  # noqa: E402 - of the checkout that this lies in

frozen_models = runpy.run_path(str(ROOT / "packaging" / "model_wheel.py"))["frozen_models"]

MODELS = [folder.name for folder in frozen_models()]
BUNDLED = {*MODELS, "all-MiniLM-L6-v2"}
FEWEST_RIGHT = 0.4  # of eight labels; what the model is worth is told elsewhere


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Smoke:
    """The built program, as ``command``, which works in ``folder``."""

    def __init__(self, command: list[str | Path], folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.sample = folder / "parcel_feedback.csv"
        self.labels = folder / "labels.txt"
        for file in (ROOT / "resources" / "sample").iterdir():
            shutil.copy(file, folder)
        self.rows = read_csv(self.sample)
        kept = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1"}
        self.environment = kept | {"HOME": str(folder), "SCE_DESKTOP_HOME": str(folder / "home")}

    def run(self, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the program; it must end with ``code``."""
        started = time.monotonic()
        done = subprocess.run(
            [*self.command, *arguments],
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
        """Steps 1 to 3."""
        check(self.run("--version").stdout.startswith("sce-desktop "), "no version")
        found = json.loads(self.run("doctor", "--libraries", "--json").stdout)
        check(found["ok"] and found["qt"] and found["torch"], f"doctor: {found}")
        check({model["name"] for model in found["models"]} == BUNDLED, f"models: {found['models']}")
        source: Path = self.sample
        for ending in ("csv", "xlsx", "parquet", "jsonl"):
            out = self.folder / f"out.{ending}"
            labels = ["--labels-file", self.labels, "--baseline", "similarity"]
            self.run("classify", source, "--text", "message", *labels, "-o", out)
            source = out if ending != "csv" else source
        self.run("classify", source, "--text", "message", *labels[:2], "-o", self.folder / "again.csv")
        for model in MODELS:
            more = ["--model", model, "-o", self.folder / f"{model}.csv"]
            self.run("classify", self.sample, "--text", "message", *labels, *more)
        for name in ("out.csv", "again.csv", *(f"{model}.csv" for model in MODELS)):
            rows = read_csv(self.folder / name)
            check([row["ref"] for row in rows] == [row["ref"] for row in self.rows], f"{name}: other rows")
            texts = [row for row in rows if row["message"].strip()]
            check(all(row["sce_label"] and row["similarity_label"] for row in texts), f"{name}: empty cells")
            right = sum(row["sce_label"] == row["gold"] for row in texts) / len(texts)
            print(f"          {name}: {right:.1%} of the sample is right")
            check(right >= FEWEST_RIGHT, f"{name}: only {right:.1%} of the sample is right")

    def libraries(self) -> None:
        """Step 4."""
        self.run("evaluate", self.sample, "--text", "message", "--gold", "gold")
        tuned = self.folder / "tuned"
        self.run("finetune", self.sample, "--text", "message", "--gold", "gold", "-o", tuned)
        project = self.folder / "Findings.sce"
        self.run("project", "create", project, self.sample, "--text", "message", "--gold", "gold")
        self.run("project", "score", project)
        for split in (("--by", "channel"), ("--over-time", "date")):
            shares = self.run("project", "findings", project, *split).stdout
            check(len(shares.splitlines()) > len({row["gold"] for row in self.rows}), f"findings: {shares}")
        refused = self.run("models", "get", "nobody/nothing", code=2).stderr
        check("Traceback" not in refused and len(refused.splitlines()) == 1, f"models get: {refused}")

    def window(self) -> None:
        """Step 5."""
        with Display(self.environment) as display:
            window = Window(display, self.command, self.folder, fail)
            window.work(self.sample, self.labels, texts=sum(bool(r["message"].strip()) for r in self.rows))


@contextmanager
def seen_in(root: Path, folder: Path) -> Iterator[None]:
    """Let what runs below ``root`` see ``folder`` at the same place, and /proc, which psutil reads."""
    mounts = []
    try:
        for kind, place in (("bind", folder), ("proc", Path("/proc"))):
            inside = root / place.relative_to("/")
            inside.mkdir(parents=True, exist_ok=True)
            options = ["--bind", str(place)] if kind == "bind" else ["-t", "proc", "proc"]
            subprocess.run(["mount", *options, inside], check=True)
            mounts.append(inside)
        yield
    finally:
        for inside in reversed(mounts):
            subprocess.run(["umount", "--lazy", inside], check=False)


def check(right: bool, problem: str) -> None:
    """Go on only if ``right``."""
    if not right:
        fail(problem)


def fail(problem: str) -> None:
    """End with 1."""
    sys.exit(f"FAILED: {problem}")


def work(smoke: Smoke, only_window: bool) -> None:
    """Do all steps."""
    if not only_window:
        smoke.command_line()
        smoke.libraries()
    try:
        smoke.window()
    except (TimeoutError, OSError, RuntimeError) as error:
        fail(f"the window: {error}")


def main() -> None:
    """Check the built program in the folder given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="what PyInstaller made")
    parser.add_argument("--root", type=Path, help="a system that the program is installed in")
    parser.add_argument("--program", default="/usr/bin/sce-desktop", help="its place below ROOT")
    parser.add_argument("--window", action="store_true", help="step 5 alone")
    args = parser.parse_args()
    if (args.folder is None) == (args.root is None):
        parser.error("name the folder of the program, or a root")
    with tempfile.TemporaryDirectory(prefix="sce-desktop-smoke-") as name:
        work_folder = Path(name)
        if args.root:
            work_folder.chmod(0o755)
            with seen_in(args.root.resolve(), work_folder):
                inside = ["chroot", args.root, "/usr/bin/env", "-C", work_folder, args.program]
                work(Smoke(inside, work_folder), args.window)
        else:
            folder = args.folder.resolve()
            check((folder / "sce-desktop").is_file(), f"there is no program in {folder}")
            files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
            print(f"{sum(file.stat().st_size for file in files) / 1e6:.0f} MB in {folder}")
            work(Smoke([folder / "sce-desktop"], work_folder), args.window)
    print("All is well.")


if __name__ == "__main__":
    main()
