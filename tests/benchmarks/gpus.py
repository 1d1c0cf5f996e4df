"""Several devices of one machine: rows per second of classify, steps per second of pretrain.

``python -m tests.benchmarks.gpus --data FOLDER`` needs neither Qt nor what the other parts need.
``--device cpu:2`` tries it without a GPU.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
from safetensors.torch import save_file

from sce_desktop.core.annotations import Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.hub.session import ModelSession, choose_devices
from sce_desktop.ml.parallel.pool import cores, processes_for
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from sce_desktop.tasks.scoring.spread import Spread
from tests.benchmarks.measure import machine, print_table
from tests.ml.tiny import published_state

_SOURCE = "ag_news"  # its texts have a mean of about 54 tokens


class Clock(SilentProgress):
    """When the first rows were there and when the last ones, to leave loading and starting out."""

    def __init__(self, stage: str) -> None:
        super().__init__()
        self._stage = stage
        self.at: list[tuple[int, float]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        if stage == self._stage and done:
            self.at.append((done, time.perf_counter()))

    def rate(self, start: float = 0.5) -> float:
        """Units a second from the share ``start`` of them to the end: workers start one after the other."""
        last, end = self.at[-1]
        first, begin = next(
            ((n, t) for n, t in self.at if n >= start * last and n < last), (0, self.at[0][1])
        )
        return (last - first) / max(end - begin, 1e-9)


def run(
    *, model: str, data: Path, device: str, rows: int, processes: Sequence[int], batch_rows: int, labels: int
) -> None:
    """Classify one table on 1, 2, 4 … devices and print rows per second, and how the results differ."""
    devices = tuple(map(str, choose_devices(device)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names, tokens = write_halves(folder / "table.csv", data, model, rows, labels)
        print(
            f"{rows:,} texts, mean of {tokens:.1f} tokens, {len(names)} labels, devices {', '.join(devices)}"
        )
        some = folder / "some.csv"
        head = min(rows, 200_000)
        with (folder / "table.csv").open(encoding="utf-8") as whole, some.open("w", encoding="utf-8") as part:
            part.writelines(line for _, line in zip(range(head + 1), whole, strict=False))
        local = _classified(some, folder / "local.csv", model, names, devices[0], None, batch_rows)
        table = [["one process, as --device of one", f"{head:,}", *_cells(local)]]
        best, best_rate = 1, 0.0
        for count in processes:
            spread = Spread(tuple(processes_for(devices[:1], per_gpu=count)))
            found = _classified(some, folder / "some-out.csv", model, names, device, spread, batch_rows)
            table.append([f"1 device, {count} worker processes", f"{head:,}", *_cells(found)])
            if found.rate > best_rate:
                best, best_rate = count, found.rate
        alone, first = 0.0, folder / "out-1.csv"
        differences = []
        for count, again in _ways(len(devices)):
            each = min(best, max(1, (cores() - 1) // count))
            spread = Spread(tuple(processes_for(devices[:count], per_gpu=each)))
            out = folder / f"out-{count}.csv"
            found = _classified(folder / "table.csv", out, model, names, device, spread, batch_rows)
            alone = max(alone, found.rate) if count == 1 else alone
            efficiency = found.rate / (count * alone)
            table.append([f"{count} devices, {each} processes each", f"{rows:,}", *_cells(found, efficiency)])
            if count > 1 and not again:
                differences.append(f"{count} devices beside 1: {_difference(first, out)}")
        differences.append(f"1 device beside one process: {_difference(folder / 'local.csv', first)}")
    print_table(
        "classify on several devices",
        [
            "",
            "rows",
            "rows/s once started",
            "rows/s with start",
            "efficiency",
            "cores: this process",
            "workers",
        ],
        table,
        differences,
    )


def _ways(most: int) -> Iterator[tuple[int, bool]]:
    """Yield numbers of devices, and whether it is the same again: 1, 2, 4 … twice each."""
    count = 1
    while count <= most:
        yield count, False
        yield count, True
        count *= 2


class Found(NamedTuple):
    """Rows per second without and with the start; processor seconds per second of this process and others."""

    rate: float
    whole: float
    ours: float
    theirs: float


def _cells(found: Found, efficiency: float | None = None) -> list[str]:
    rates = [f"{found.rate:,.0f}", f"{found.whole:,.0f}", "" if efficiency is None else f"{efficiency:.2f}"]
    return [*rates, f"{found.ours:.1f}", f"{found.theirs:.1f}"]


def _classified(
    table: Path,
    out: Path,
    model: str,
    names: Sequence[str],
    device: str,
    spread: Spread | None,
    batch_rows: int,
) -> Found:
    clock = Clock("classifying")
    session = ModelSession(device)
    started, ours, theirs = time.perf_counter(), _processor(RUSAGE_SELF), _processor(RUSAGE_CHILDREN)
    with mock.patch.object(Spread, "over", return_value=spread):
        report = classify_table(
            table,
            out,
            ClassifySettings(model, batch_rows=batch_rows),
            text_columns=["text"],
            labels=[Label(name) for name in names],
            source=session,
            force=True,
            progress=clock,
        )
    seconds = time.perf_counter() - started
    for warning in clock.warnings:
        print(f"warning: {warning}")
    ours, theirs = _processor(RUSAGE_SELF) - ours, _processor(RUSAGE_CHILDREN) - theirs
    return Found(clock.rate(), report.rows / seconds, ours / seconds, theirs / seconds)


def _processor(whose: int) -> float:
    used = getrusage(whose)
    return used.ru_utime + used.ru_stime


def _difference(one: Path, other: Path) -> str:
    a = pd.read_csv(one)
    b = pd.read_csv(other, nrows=len(a))
    columns = [name for name in a.columns if name.startswith("sce_p:")]
    apart = np.abs(a[columns].to_numpy() - b[columns].to_numpy())
    changed = (a["sce_label"] != b["sce_label"]).to_numpy()
    ordered = np.sort(a[columns].to_numpy(), axis=1)
    margin = (ordered[:, -1] - ordered[:, -2])[changed]
    largest = f", margin of these at most {margin.max():.1e}" if len(margin) else ""
    return (
        f"{len(a):,} rows, probabilities {apart.max():.1e} apart at most, "
        f"{int(changed.sum()):,} other labels{largest}"
    )


def _sets(data: Path, part: str) -> Path:
    return data / part if (data / part).is_dir() else data


def write_halves(path: Path, data: Path, model: str, rows: int, most: int) -> tuple[list[str], float]:
    """Write texts that are halves of two given ones; return the labels and the mean number of tokens."""
    with gzip.open(_sets(data, "benchmark") / f"{_SOURCE}.jsonl.gz", "rt", encoding="utf-8") as lines:
        given = [json.loads(line) for line in lines]
    words = [row["text"].replace('"', "'").split() for row in given]
    halves = (
        [" ".join(one[: len(one) // 2]) for one in words],
        [" ".join(one[len(one) // 2 :]) for one in words],
    )
    names = sorted({row["label"] for row in given})
    names += [f"{a} and {b}" for a in names for b in names if a < b]
    places = np.random.default_rng(0).integers(len(words), size=(rows, 2)).tolist()
    mixed = (f'{number},"{halves[0][i]} {halves[1][j]}"\n' for number, (i, j) in enumerate(places))
    sample = [f"{halves[0][i]} {halves[1][j]}" for i, j in places[:4000]]
    with path.open("w", encoding="utf-8") as file:
        file.write("id,text\n")
        file.writelines(mixed)
    embedder = ModelSession("cpu").model(model)
    assert isinstance(embedder, SCEModel)
    return names[:most], float(embedder.text_embedder.token_counts(sample).mean())


PRETRAIN = """
[model]
name = "trained"
embedder = "start"
[data]
folder = "{folder}"
sets = [{sets}]
validation = [{validation}]
validation_rows = 400
max_rows = 5000
[mixture]
groups = 32
rows = 64
wordnet = 0.0
[optim]
steps = {steps}
warmup = 50
seed = {seed}
[run]
validate_every = {half}
save_every = 1000000
"""
_TRAIN = ("20newsgroups", "clinc150", "huffpost", "goemotions", "jeopardy_topics", "stackoverflow_titles")
_VALIDATION = ("search_snippets", "dbpedia14", "book_titles", "us_congress_bills")


def run_pretrain(*, model: str, data: Path, device: str, steps: int) -> None:
    """Train from the encoder of ``model`` on 1 and on all devices; print steps per second and accuracy."""
    from sce_desktop.research import pretrain
    from sce_desktop.research.pretrain.train import Trainer

    devices = tuple(map(str, choose_devices(device)))
    lines: list[list[str]] = []
    rates: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _start(folder / "start", model)
        ways = [(1, devices[0], 0), (1, devices[0], 1)]
        ways += [(len(devices), device, 0)] if len(devices) > 1 else []
        for count, where, seed in ways:
            config = folder / f"{count}-{seed}.toml"
            config.write_text(
                PRETRAIN.format(
                    folder=data.resolve().as_posix(),
                    sets=", ".join(f'"{one}"' for one in _TRAIN),
                    validation=", ".join(f'"{one}"' for one in _VALIDATION),
                    steps=steps,
                    half=max(1, steps // 2),
                    seed=seed,
                ),
                encoding="utf-8",
            )
            spent: list[float] = []
            clock = Clock("Training")
            with mock.patch.object(Trainer, "validate", _timed(Trainer.validate, spent)):
                found = pretrain.run(
                    config, folder / f"out-{count}-{seed}", device=where, progress=clock, force=True
                )
            # The second half: what is between two validations, each of which waits for all steps before it.
            half = next(t for n, t in clock.at if n >= max(1, steps // 2))
            seconds = clock.at[-1][1] - half - spent[-1]
            rates.append((steps - steps // 2) / seconds)
            accuracy = np.mean([one["sce"] for one in found.validation.values()])
            trace = json.loads((folder / f"out-{count}-{seed}" / "training.json").read_text())["members"]
            losses = ", ".join(f"{loss:.4f}" for loss in trace["model"]["losses"])
            lines.append([f"{count} of {where}, seed {seed}", f"{rates[-1]:.2f}", losses, f"{accuracy:.2f}"])
    notes = [f"{steps} steps of {32 * 64} texts in 32 groups, whatever the number of devices."]
    if len(devices) > 1:
        notes.append(f"Efficiency {rates[-1] / (len(devices) * rates[0]):.2f} on {len(devices)} devices.")
    print_table("pretrain, data parallel", ["", "steps/s", "losses", "validation accuracy, %"], lines, notes)


def _timed(validate: object, spent: list[float]) -> object:
    def timed(self: object) -> object:
        started = time.perf_counter()
        try:
            return validate(self)  # type: ignore[operator]
        finally:
            spent.append(time.perf_counter() - started)

    return timed


def _start(folder: Path, model: str) -> None:
    """Write the text encoder of ``model`` as a published one is laid."""
    found = ModelSession("cpu", precision="float32").model(model)
    assert isinstance(found, SCEModel)
    assert found.tokenizer is not None
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(asdict(found.embedder.config)), encoding="utf-8")
    found.tokenizer.save(str(folder / "tokenizer.json"))
    save_file(published_state(found.embedder), folder / "model.safetensors", metadata={"format": "pt"})


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what this part alone takes."""
    parser.add_argument("--device", default="cuda:all", help="devices (gpus); cpu:2 tries it without a GPU")
    parser.add_argument(
        "--processes", type=int, nargs="+", default=[4, 8, 12, 20], help="workers on a device to try (gpus)"
    )
    parser.add_argument("--batch-rows", type=int, default=2000, help="rows of a block (gpus)")
    parser.add_argument("--gpu-labels", type=int, default=10, help="labels at most (gpus)")
    parser.add_argument("--training-steps", type=int, default=400, help="0: no training (gpus)")


def main() -> None:
    """Run this part alone."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.gpus", description=__doc__)
    parser.add_argument("--model", default="sce-mini")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with train/, validation/, benchmark/"
    )
    parser.add_argument("--rows", type=int, default=2_000_000, help="0: no classify")
    add_options(parser)
    args = parser.parse_args()
    print(machine())
    run_all(args)


def run_all(args: argparse.Namespace) -> None:
    """Run classify and pretrain as ``args`` say."""
    if args.rows:
        run(
            model=args.model,
            data=args.data,
            device=args.device,
            rows=args.rows,
            processes=args.processes,
            batch_rows=args.batch_rows,
            labels=args.gpu_labels,
        )
    if args.training_steps:
        run_pretrain(model=args.model, data=args.data, device=args.device, steps=args.training_steps)


if __name__ == "__main__":
    main()
