"""Every command is killed, and asked to end, at random moments; files are counted before and after.

    python -m tests.litter                       # 30 kills and 5 of each polite end for every command
    python -m tests.litter --kills 2 --ends 1 --only classify backup --seed 7

All of it is forked from one process that has imported everything. ``kill``: SIGKILL, then another start of
the program, which sweeps. SIGTERM, SIGHUP, SIGINT and a closed terminal: one line, the exit code of the
signal, and nothing to sweep. POSIX only.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import os
import pty
import random
import re
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.slow_server import HOST, served

WHEEL = "tiny-words"
"""The model whose wheel is added, and downloaded from a server on loopback."""
ROWS = 400
LABELS = ("Late delivery", "Damaged parcel", "Praise")
PATIENCE_S = 120.0  # an end is a matter of two seconds and one batch; a busy machine may need more
TERMINAL = "terminal"
ENDS: dict[str, int] = {
    "SIGTERM": signal.SIGTERM,
    "SIGHUP": signal.SIGHUP,
    "SIGINT": signal.SIGINT,
    TERMINAL: signal.SIGHUP,
}
_OWN = ("home", "home/cache", "home/cache/temporary", "home/data", "home/data/models", "said")
_SHARED = ("home/log", "home/cache/vectors.sqlite", "home/cache/sha256.json")
_PROBE = re.compile(r"tmp/[a-z0-9_]{8}")
"""By which Python's tempfile finds out whether it can write there, and which it removes at once."""
_OPEN = ("-wal", "-shm", "-journal")
"""Of a project: what was being written when we were killed, and goes on, or is taken back, at its opening."""


@dataclass(frozen=True)
class Case:
    """A command, and the names of the files that may be there after it, beside those that were before."""

    name: str
    arguments: Sequence[str]
    makes: Sequence[str] = ()


def cases(url: str) -> list[Case]:
    """Return every command that reads, works for long or writes; ``url`` gives the wheel of `WHEEL`."""
    model = ["--model", "tiny"]
    labels = [part for name in LABELS for part in ("--label", name)]
    table = ["table.csv", "--text", "text"]
    return [
        Case("classify csv", ["classify", *table, *labels, *model, "-o", "o.csv"], ["o.csv"]),
        Case("classify xlsx", ["classify", *table, *labels, *model, "-o", "o.xlsx"], ["o.xlsx"]),
        Case("classify parquet", ["classify", *table, *labels, *model, "-o", "o.parquet"], ["o.parquet"]),
        Case("evaluate", ["evaluate", *table, "--gold", "gold", *model]),
        Case("finetune", ["finetune", *table, "--gold", "gold", *model, "-o", "tuned"], ["tuned"]),
        Case("labels", ["labels", *table, *model, "-o", "labels.csv"], ["labels.csv"]),
        Case("create", ["project", "create", "new.sce", *table, "--gold", "gold"], ["new.sce"]),
        Case("add", ["project", "add", "p.sce", "table.csv"]),
        Case("score", ["project", "score", "p.sce", *model]),
        Case("project finetune", ["project", "finetune", "p.sce", *model]),
        Case("export", ["project", "export", "p.sce", "-o", "o.xlsx", "--note"], ["o.xlsx"]),
        Case("backup", ["project", "backup", "p.sce", "copy.sce"], ["copy.sce"]),
        Case("repair", ["project", "repair", "p.sce", "copy.sce"], ["copy.sce"]),
        Case("verify", ["project", "verify", "p.sce"]),
        Case("info", ["project", "info", "p.sce"]),
        Case("models add", ["models", "add", "tiny", "--name", "mine"]),
        Case("models add wheel", ["models", "add", "wheel.whl"]),
        Case("models download", ["models", "download", WHEEL, "--from", url]),
    ]


# --- one run -----------------------------------------------------------------------------------------------


@dataclass
class Place:
    """A folder with the material of a run, the program's own folders and the system's temporary folder."""

    root: Path
    work: Path = field(init=False)
    home: Path = field(init=False)
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.work, self.home, self.temporary = (self.root / name for name in ("work", "home", "tmp"))

    def files(self) -> set[str]:
        """Every file and folder but the program's own folders, the log, vectors and hashes."""
        found = set()
        for folder, names, files in os.walk(self.root):
            for name in (*names, *files):
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                found.add(path)
        return {path for path in found if path not in _OWN and not path.startswith(_SHARED)}


def child(place: Place, case: Case, arguments: Sequence[str], ready: int) -> int:
    """Run the program in this process, which is a fork, and return its exit code.

    The end of the pipe ``ready`` is closed when it begins.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(place.work)
    os.environ.update(SCE_DESKTOP_HOME=str(place.home), TMPDIR=str(place.temporary), no_proxy=HOST)
    tempfile.tempdir = None
    from sce_desktop import cli

    os.close(ready)
    return cli.main(list(arguments))


def started(place: Place, case: Case, arguments: Sequence[str], *, terminal: bool) -> tuple[int, int]:
    """Fork the program; return its number and, on a ``terminal``, our end of it, else -1."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    number, master = pty.fork() if terminal else (os.fork(), -1)
    if number:
        os.close(writing)
        os.read(reading, 1)  # it is about to run
        os.close(reading)
        return number, master
    code = 1
    try:
        os.close(reading)
        if not terminal:
            os.setsid()
            with (place.root / "said").open("w") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
        code = child(place, case, arguments, writing)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    except BaseException:
        import traceback

        with (place.root / "said").open("a") as said:  # the terminal may be gone
            traceback.print_exc(file=said)
    finally:
        os._exit(code)


def ended(number: int, *, patience: float = PATIENCE_S) -> int | None:
    """Wait for a process; return its exit code, negative after a signal; None if it has not ended."""
    until = time.monotonic() + patience
    while True:
        found, status = os.waitpid(number, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
            return None
        time.sleep(0.002)


def drained(master: int, seconds: float) -> None:
    """Read what is written to a terminal for so long, that nobody has to wait for its reader."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if not select.select([master], [], [], left)[0]:
            return
        try:
            if not os.read(master, 1 << 16):
                return
        except OSError:
            return


class Harness:
    """Runs cases on copies of one material."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.material = root / "material"
        self.problems: list[str] = []
        self.found = 0
        self.runs = 0
        write_material(self.material)

    @contextlib.contextmanager
    def place(self) -> Iterator[Place]:
        """Give a new place with the material, as other runs of the program have left it."""
        self.runs += 1
        place = Place(self.root / f"run{self.runs}")
        place.root.mkdir()
        shutil.copytree(self.material, place.work)
        place.temporary.mkdir()
        self.run(place, FLOPS)
        (place.root / "said").touch()
        yield place
        shutil.rmtree(place.root)

    def run(self, place: Place, case: Case) -> int | None:
        """Run a case to its end."""
        return ended(started(place, case, case.arguments, terminal=False)[0])

    def seconds(self, case: Case) -> float:
        """Return how long a case takes; it has to succeed."""
        with self.place() as place:
            began = time.monotonic()
            code = self.run(place, case)
            took = time.monotonic() - began
            said = (place.root / "said").read_text()
            if code or "Traceback" in said:
                self.problems.append(f"{case.name}: ended with {code}: {said}")
            return took

    def kill(self, case: Case, moment: float) -> str:
        """Kill a case after ``moment`` seconds, start the program again, and count."""
        with self.place() as place:
            before = place.files()
            number, _ = started(place, case, case.arguments, terminal=False)
            time.sleep(moment)
            os.kill(number, signal.SIGKILL)
            code = ended(number)
            left = self.extra(place, case, before, opened=True)
            self.run(place, FLOPS)
            if litter := self.extra(place, case, before, opened=True):
                self.problems.append(f"{case.name}, killed after {moment:.3f} s: {sorted(litter)}")
            return "ended before" if code != -signal.SIGKILL else "litter swept" if left else "no litter"

    def end(self, case: Case, way: str, moment: float) -> tuple[str, float]:
        """Ask a case to end after ``moment`` seconds; return what came of it, and in how many seconds."""
        with self.place() as place:
            before = place.files()
            number, master = started(place, case, case.arguments, terminal=way == TERMINAL)
            if master >= 0:
                drained(master, moment)
                os.close(master)
            else:
                time.sleep(moment)
                os.kill(number, ENDS[way])
            asked = time.monotonic()
            code = ended(number)
            took = time.monotonic() - asked
            said = (place.root / "said").read_text()
            where = f"{case.name}, {way} after {moment:.3f} s"
            if litter := self.extra(place, case, before):
                self.problems.append(f"{where}: {sorted(litter)} (exit {code})")
            lines = [line for line in said.splitlines() if line.startswith("sce-desktop: ")]
            stopped = 128 + ENDS[way]
            if code == stopped:
                if "Traceback" in said or (master < 0 and [line[:20] for line in lines] != [_STOPPED]):
                    self.problems.append(f"{where}: said {said!r}")
                return "stopped", took
            # the signal came before the program listened, or after it had ended its work
            if code in (0, 2, -ENDS[way]) and "Traceback" not in said:
                return "too early or late", took
            self.problems.append(f"{where}: exit {code}: {said}")
            return f"exit {code}", took

    def extra(self, place: Place, case: Case, before: set[str], *, opened: bool = False) -> set[str]:
        """Return the files that should not be there; those of a project that was ``opened`` may be."""
        kept = {"work/" + name for name in case.makes}
        extra = {path for path in place.files() - before if not path.startswith(tuple(kept or {"\0"}))}
        extra |= {path for path in place.files() for name in kept if path.startswith(f"{name}.sce-")}
        if case.name.startswith("models"):
            extra = {path for path in extra if not path.startswith("home/data")}
            models = place.home / "data" / "models"
            extra |= {f"models/{path.name}" for path in models.glob(".*")}
        if opened:
            extra = {path for path in extra if not path.endswith(_OPEN) and not _PROBE.fullmatch(path)}
        return extra


FLOPS = Case("flops", ["flops"])
_STOPPED = "sce-desktop: Stopped"


def write_material(folder: Path) -> None:
    """Write a table, a project of it and a model with random weights."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.tables.tables import import_table
    from tests.ml.tiny import tiny_sce

    folder.mkdir()
    words = ["late", "damaged", "friendly", "driver", "box", "street", "rain", "refund"]
    lines = (
        f"{number},parcel {words[number % 8]} {words[number // 8 % 8]} {number},{LABELS[number % 3]}\n"
        for number in range(ROWS)
    )
    (folder / "table.csv").write_text("id,text,gold\n" + "".join(lines), encoding="utf-8")
    import_table(
        folder / "p.sce",
        folder / "table.csv",
        text_columns=["text"],
        gold_column="gold",
        progress=SilentProgress(),
    ).close()
    tiny_sce(folder)
    with tempfile.TemporaryDirectory() as aside:
        model = tiny_sce(Path(aside)).rename(Path(aside) / WHEEL)
        (model / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
        facts = {"version": "1.0", "summary": "a tiny model", "notices": ["multilingual-e5-small.txt"]}
        _wheel_builder().build(model, facts, Path(aside) / "dist").rename(folder / "wheel.whl")


def _wheel_builder() -> ModuleType:
    """packaging/model_wheel.py, whose folder is no package: the name is that of a library."""
    file = Path(__file__).parents[1] / "packaging" / "model_wheel.py"
    spec = importlib.util.spec_from_file_location("model_wheel", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_all() -> None:
    """Import what the commands import, so that a fork need not."""
    import pkgutil

    import torch

    import sce_desktop

    torch.set_num_threads(1)
    for package in ("commands", "core", "data", "store", "ml", "tasks"):
        found = importlib.import_module(f"sce_desktop.{package}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            with contextlib.suppress(ImportError):  # an extra that is not installed
                importlib.import_module(module.name)
    for name in ("pyarrow.parquet", "xlsxwriter", "sklearn.cluster", "scipy.stats", "tqdm", "babel.lists"):
        importlib.import_module(name)
    assert sce_desktop.__version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; the exit code is 1 where anything was left, lost or said wrongly."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=30, help="SIGKILLs of each command (default: 30)")
    parser.add_argument("--ends", type=int, default=5, help="of each polite end of each command (default: 5)")
    parser.add_argument("--only", nargs="*", default=[], help="names of commands")
    parser.add_argument("--seed", type=int, help="of the moments")
    args = parser.parse_args(argv)
    seed = random.randrange(1 << 30) if args.seed is None else args.seed
    random.seed(seed)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory(prefix="sce-desktop-litter-") as root:
        os.environ["SCE_DESKTOP_HOME"] = str(Path(root) / "home")
        import_all()
        harness = Harness(Path(root))
        with served(harness.material / "wheel.whl") as url:
            for case in cases(url):
                if not args.only or case.name in args.only:
                    report(harness, case, args)
    print(f"{harness.runs} runs, {harness.found} problems, seed {seed}")
    return 1 if harness.found else 0


def report(harness: Harness, case: Case, args: Any) -> None:
    """Run one case and print a line."""
    took = harness.seconds(case)
    kills = Counter(harness.kill(case, random.uniform(0, 1.1 * took)) for _ in range(args.kills))
    ends: Counter[str] = Counter()
    slowest = 0.0
    for way in ENDS:
        for _ in range(args.ends):
            outcome, seconds = harness.end(case, way, random.uniform(0, took))
            ends[f"{way} {outcome}"] += 1
            slowest = max(slowest, seconds)
    while harness.problems:
        harness.found += 1
        print(f"PROBLEM {harness.problems.pop(0)[:2000]}", flush=True)
    print(
        f"{case.name}: {took:.2f} s; kills {dict(kills)}; ends {dict(ends)}; slowest end {slowest:.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
