"""What every part measures with: the machine's own peak, time, memory, and the tables that are printed."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

MATRIX = 3072
Rows = Sequence[Sequence[str]]


def print_table(title: str, header: Sequence[str], rows: Rows, notes: Sequence[str] = ()) -> None:
    """Print one table with aligned columns, the first to the left."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n## {title}\n")
    for row in [header, ["-" * w for w in widths], *rows]:
        cells = [
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    for note in notes:
        print(note)
    sys.stdout.flush()


def machine() -> str:
    """Name the machine in a line."""
    import torch

    model = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        model = next((line.split(": ")[1] for line in lines if line.startswith("model name")), model)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    return f"{model}, {os.cpu_count()} cores{load}, {versions} with {torch.get_num_threads()} threads"


def matrix_peak(seconds: float = 1.5, precision: str = "float32") -> float:
    """Return the multiply-adds a second that `torch.mm` sustains on 3072 x 3072 matrices of ``precision``."""
    import torch

    a, b, out = (torch.rand(MATRIX, MATRIX).to(getattr(torch, precision)) for _ in range(3))
    torch.mm(a, b, out=out)
    calls, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        torch.mm(a, b, out=out)
        calls += 1
    return calls * MATRIX**3 / spent


def rate(work: Callable[[], int], seconds: float) -> float:
    """Return units a second of ``work`` (which says how many it did), after one call to warm up."""
    work()
    done, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        done += work()
    return done / spent


def peak_memory_mb() -> float:
    """Return the most memory that this process has held, in MB of 10^6 bytes.

    Linux counts what a process's parent held before exec into ru_maxrss, so VmHWM is asked where it exists.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
