"""``classify --engine ray`` beside the local engine on equal cores of this machine: rows, time, memory, loss.

Each run is a process of its own, watched from here with all processes below it. The first two do the same
table on the local engine and on Ray. In the third a worker is killed by its id, then the driver by its id;
the fourth is the same command again.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from sce_desktop.core.annotations import Label
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.parallel.pool import Opener
from sce_desktop.tasks.scoring.classify import BATCH_ROWS, ClassifySettings, classify_table
from tests.benchmarks.gpus import Clock
from tests.benchmarks.measure import print_table
from tests.benchmarks.tables import write_table
from tests.ml.tiny import tiny_sce

LABELS = ("world politics", "sports", "business", "science and technology")
TINY = "tiny"
"""Names a model of random weights: what is left is mostly the engines' own work."""
_POLL_S = 0.25
_NOTES = "notes"
"""A folder: a file for each process of a worker, with a line for each part that it began or ended."""


@dataclass(frozen=True)
class Run:
    """What all runs have in common."""

    folder: str
    model: str
    workers: int
    part_bytes: int
    batch_rows: int


@dataclass(frozen=True)
class Noting:
    """An `Opener` whose worker notes which parts it begins and ends."""

    opener: Opener
    folder: str

    def open(self, device: str) -> Callable[[Any], Any]:
        """Open what is noted."""
        work, notes = self.opener.open(device), Path(self.folder) / str(os.getpid())

        def noted(part: Any) -> Any:
            _add(notes, f"begun {part.number}")
            found = work(part)
            _add(notes, f"ended {part.number}")
            return found

        return noted


def _add(path: Path, line: str) -> None:
    with path.open("a", encoding="ascii") as file:
        file.write(line + "\n")


def run(*, rows: int, workers: int, model: str, data: Path | None, words: int) -> None:
    """Print the four runs, and whether their rows are the same."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as name:
        folder = Path(name)
        if model == TINY:
            model = str(tiny_sce(folder, name="model"))
        tokens = _table(folder / "table.csv", rows, data, words, model)
        size = (folder / "table.csv").stat().st_size
        part_bytes = max(20_000, size // (16 * workers))
        batch_rows = min(BATCH_ROWS, max(1, rows // 20))
        given = Run(name, model, workers, part_bytes, batch_rows)
        print(f"{rows:,} rows of {tokens:.1f} tokens on average, {len(LABELS)} labels, {size / 1e6:.1f} MB")
        local = watched("local", given, folder / "local.json")
        ray = watched("ray", given, folder / "clean.json")
        (folder / "out.csv").rename(folder / "clean.csv")
        shutil.rmtree(folder / _NOTES)
        ended = watched("ray", given, folder / "killed.json", Killer(folder, ray.facts["parts"]))
        left = {path.name: path.stat().st_mtime_ns for path in (folder / "out.csv").glob("part-*")}
        notes = _notes(folder)
        shutil.rmtree(folder / _NOTES)
        again = watched("ray", given, folder / "again.json")
        killer = ended.killer
        assert killer is not None
        lines = [
            _line(f"local, --device cpu:{workers}", local),
            _line(f"--engine ray --workers {workers}", ray, local),
            _line("the same, worker and driver killed", ended),
            _line("the same command again", again),
        ]
        print_table(
            f"classify on {workers} cores: local engine and Ray",
            [
                *("", "seconds", "processor s", "rows/s once started", "rows per processor s"),
                *("efficiency", "by processor time", "MB"),
            ],
            lines,
            [
                *_rows(folder),
                "MB of one process at most, on Ray: "
                + ", ".join(f"{kind} {held / 1e6:,.0f}" for kind, held in sorted(ray.peak_of.items()))
                + ".",
                *_loss(killer, notes, left, again, folder),
                "Rows per second, of the clock and of the processor, are counted from the first tenth of "
                "the rows to the last. Efficiency: those over the local engine's; where others use the "
                "machine too, the clock tells little. MB: memory of all processes together.",
            ],
        )


@dataclass
class Watched:
    """A run: seconds, processor seconds of all processes, the most memory, and what it printed itself."""

    seconds: float
    cpu: float
    peak_mb: float
    facts: dict[str, Any]
    cpu_at: list[tuple[float, float]]
    peak_of: dict[str, int]
    killer: Killer | None = None

    def per_cpu(self) -> float:
        """Rows per processor second, from the first tenth of the rows to the last."""
        ticks = self.facts["at"]
        done, begin = next((done, when) for done, when in ticks if done >= 0.1 * ticks[-1][0])
        times, spent = zip(*self.cpu_at, strict=True)
        first, last = np.interp([begin, ticks[-1][1]], times, spent)
        return float((1 - done / ticks[-1][0]) * self.facts["rows"] / (last - first))


@dataclass
class Killer:
    """Kills a worker in the midst of a part, a quarter of the way, and the driver behind the half."""

    folder: Path
    parts: int
    worker: int = 0
    done_by: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    at_end: int = 0

    def look(self, driver: int) -> None:
        """Kill who is due."""
        notes = _notes(self.folder)
        done = sum(kind == "ended" for lines in notes.values() for kind, _part in lines)
        if not self.worker and done >= self.parts // 4:
            busy = [pid for pid, lines in notes.items() if lines[-1][0] == "begun"]
            if busy:
                os.kill(busy[0], signal.SIGKILL)
                lines = _notes(self.folder)[busy[0]]
                self.worker = busy[0]
                self.done_by = tuple(part for kind, part in lines if kind == "ended")
                self.held = tuple(
                    part for kind, part in lines if kind == "begun" and part not in self.done_by
                )
        elif self.worker and done >= int(0.6 * self.parts):
            self.at_end = done
            os.kill(driver, signal.SIGKILL)


def watched(step: str, given: Run, facts: Path, killer: Killer | None = None) -> Watched:
    """Run ``step`` in a process and look at it and all below it until it ends."""
    notes = Path(given.folder) / _NOTES
    notes.mkdir(exist_ok=True)
    command = [sys.executable, "-m", __name__, step, json.dumps(given.__dict__), str(facts)]
    started = time.perf_counter()
    watcher = _Watcher()
    # What a killed driver leaves is removed with the folder; its name is short for Ray's sockets.
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": given.folder}) as process:
        while process.poll() is None:
            watcher.look(process.pid)
            if killer is not None:
                killer.look(process.pid)
            time.sleep(_POLL_S)
    if process.returncode and killer is None:
        raise SystemExit(f"{step} ended with {process.returncode}")
    seconds = time.perf_counter() - started
    watcher.ended()
    found = json.loads(facts.read_text()) if facts.exists() else {}
    return Watched(
        seconds,
        sum(watcher.cpu.values()),
        watcher.peak / 1e6,
        found,
        watcher.cpu_at,
        watcher.peak_of,
        killer,
    )


@dataclass
class _Watcher:
    cpu: dict[int, float] = field(default_factory=dict)
    peak: int = 0
    peak_of: dict[str, int] = field(default_factory=dict)  # the most that one process of a kind has held
    cpu_at: list[tuple[float, float]] = field(default_factory=list)
    seen: dict[int, psutil.Process] = field(default_factory=dict)

    def look(self, pid: int) -> None:
        memory = 0
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.Error:
            return
        for process in family:
            self.seen[process.pid] = process
            try:
                times = process.cpu_times()
                self.cpu[process.pid] = times.user + times.system
                held = process.memory_full_info().pss  # shared pages count once
                kind = _kind(process, pid)
                self.peak_of[kind] = max(self.peak_of.get(kind, 0), held)
                memory += held
            except psutil.Error:
                continue
        self.peak = max(self.peak, memory)
        self.cpu_at.append((time.time(), sum(self.cpu.values())))

    def ended(self) -> None:
        """Wait until no process of the run is left, for half a minute at most."""
        end = time.monotonic() + 30
        while (alive := [one for one in self.seen.values() if _lives(one)]) and time.monotonic() < end:
            time.sleep(_POLL_S)
        for process in alive:
            print(f"still there: {process.pid}")


def _kind(process: psutil.Process, driver: int) -> str:
    if process.pid == driver:
        return "driver"
    return "a worker" if process.cmdline()[:1] and "RayWorker" in process.cmdline()[0] else "another of Ray's"


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _notes(folder: Path) -> dict[int, list[tuple[str, int]]]:
    found = {}
    for path in sorted((folder / _NOTES).glob("[0-9]*")):
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
        found[int(path.name)] = [(kind, int(part)) for kind, part in lines]
    return found


def _line(name: str, one: Watched, local: Watched | None = None) -> list[str]:
    rates = ["", ""]
    efficiency = ["", ""]
    if one.facts and not one.facts.get("resumed"):
        mine = one.facts["rate"], one.per_cpu()
        rates = [f"{rate:,.0f}" for rate in mine]
        if local is not None:
            theirs = local.facts["rate"], local.per_cpu()
            efficiency = [f"{a / b:.2f}" for a, b in zip(mine, theirs, strict=True)]
    return [name, f"{one.seconds:.1f}", f"{one.cpu:.1f}", *rates, *efficiency, f"{one.peak_mb:,.0f}"]


def _rows(folder: Path) -> Iterator[str]:
    """Say how the rows of the three results differ."""
    parts = sorted((folder / "clean.csv").glob("part-*"))
    resumed = sorted((folder / "out.csv").glob("part-*"))
    rows = other = labels = 0
    apart = margin = 0.0
    with (folder / "local.csv").open(encoding="utf-8", newline="") as file:
        right = csv.reader(file)
        header = next(right)
        at, first = header.index("sce_label"), len(header) - len(LABELS)
        for mine, theirs in zip(_lines(parts, header), right, strict=True):
            rows += 1
            if mine == theirs:
                continue
            other += mine[:2] != theirs[:2]
            numbers = [sorted(map(float, row[first:])) for row in (mine, theirs)]
            apart = max(apart, *(abs(a - b) for a, b in zip(*numbers, strict=True)))
            if mine[at] != theirs[at]:
                labels += 1
                margin = max(margin, numbers[0][-1] - numbers[0][-2])
    yield (
        f"Ray beside local: {rows:,} rows in the same order, {other:,} with other cells of the table, "
        f"{labels:,} with another label"
        + (f" (margin of these at most {margin:.0e})" if labels else "")
        + f"; probabilities at most {apart:.0e} apart."
    )
    pairs = zip(parts, resumed, strict=True)
    unlike = [a.name for a, b in pairs if a.name != b.name or a.read_bytes() != b.read_bytes()]
    yield f"Killed and resumed beside clean: {len(parts)} parts, {len(unlike)} of them with other bytes."


def _lines(parts: list[Path], header: list[str]) -> Iterator[list[str]]:
    for path in parts:
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            assert next(lines) == header
            yield from lines


def _loss(
    killer: Killer,
    notes: dict[int, list[tuple[str, int]]],
    left: dict[str, int],
    again: Watched,
    folder: Path,
) -> Iterator[str]:
    begun = Counter(part for lines in notes.values() for kind, part in lines if kind == "begun")
    twice = sorted(part for part, times in begun.items() if times > 1)
    yield (
        f"Worker {killer.worker} killed in the midst of part {', '.join(map(str, killer.held))}; it had done "
        f"{len(killer.done_by)} parts. Begun twice: part {', '.join(map(str, twice)) or 'none'}."
    )
    begun_again = {part for lines in _notes(folder).values() for kind, part in lines if kind == "begun"}
    there = {int(name.removeprefix("part-").removesuffix(".csv")) for name in left}
    touched = [name for name, when in left.items() if (folder / "out.csv" / name).stat().st_mtime_ns != when]
    yield (
        f"Driver killed with {len(left)} of {killer.parts} parts on disk. Again: "
        f"{again.facts['resumed']} kept, {len(begun_again)} made; finished parts made again: "
        f"{len(begun_again & there)}, written again: {len(touched)}."
    )


def _table(path: Path, rows: int, data: Path | None, words: int, model: str) -> float:
    """Write the table; return the mean number of tokens of its texts."""
    if data is None:
        write_table(path, rows)
        with path.open(encoding="utf-8", newline="") as file:
            texts = [row[1] for _turn, row in zip(range(2000), csv.reader(file), strict=False)][1:]
    else:
        texts = list(texts_of(data, words))
        step = max(1, len(texts) // 2000)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "text"])
            # Round by round the texts are another one's beginning with this one's end: few are the same.
            writer.writerows([f"{n:07}", _mixed(texts, n)] for n in range(rows))
        texts = texts[::step]
    sce: Any = ModelSession("cpu").model(model)
    return float(sce.text_embedder.token_counts(texts).mean())


def _mixed(texts: list[str], n: int) -> str:
    turn, place = divmod(n, len(texts))
    if not turn:
        return texts[place]
    mine, other = texts[place].split(), texts[(place * 31 + turn) % len(texts)].split()
    return " ".join(chain(other[: len(other) // 2], mine[len(mine) // 2 :]))


def texts_of(data: Path, words: int) -> Iterator[str]:
    """Yield the texts of a labelled set, or the first ``words`` of each."""
    folder = data / "benchmark" if (data / "benchmark").is_dir() else data
    with gzip.open(folder / "ag_news.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            yield " ".join(text.split()[:words]) if words else text


def local(given: Run) -> dict[str, Any]:
    """Classify on the local engine."""
    clock = _Clock("classifying")
    folder = Path(given.folder)
    report = classify_table(
        folder / "table.csv",
        folder / "local.csv",
        ClassifySettings(given.model, batch_rows=given.batch_rows),
        text_columns=["text"],
        labels=[Label(name) for name in LABELS],
        source=ModelSession(f"cpu:{given.workers}"),
        progress=clock,
    )
    return {"rows": report.rows, "rate": clock.rate(), "at": clock.ticks}


def ray(given: Run) -> dict[str, Any]:
    """Classify on a cluster of this machine, noting who does what."""
    from sce_desktop.tasks.cluster.classify import classify_on_cluster
    from sce_desktop.tasks.cluster.ray_pool import RayCluster, RayWish

    clock = _Clock("classifying parts")
    folder = Path(given.folder)
    with RayCluster(RayWish(workers=given.workers)) as cluster:
        report = classify_on_cluster(
            str(folder / "table.csv"),
            str(folder / "out.csv"),
            ClassifySettings(given.model, batch_rows=given.batch_rows),
            text_columns=["text"],
            labels=[Label(name) for name in LABELS],
            source=ModelSession("cpu"),
            start_pool=lambda opener: cluster.pool(Noting(opener, str(folder / _NOTES))),
            workers=given.workers,
            part_bytes=given.part_bytes,
            progress=clock,
        )
    rate = clock.rate() * report.rows / (report.parts - report.resumed)
    facts = {"rows": report.rows, "parts": report.parts, "resumed": report.resumed}
    return facts | {"rate": rate, "at": clock.ticks}


class _Clock(Clock):
    """A `Clock` that also knows the time of day, by which the processes are watched."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.ticks: list[tuple[int, float]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        if stage == self._stage and done:
            self.ticks.append((done, time.time()))
        super().report(done, total, stage=stage)


def main() -> None:
    """Do one step, in a process of its own."""
    step, given, facts = sys.argv[1:]
    found = {"local": local, "ray": ray}[step](Run(**json.loads(given)))
    Path(facts).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
