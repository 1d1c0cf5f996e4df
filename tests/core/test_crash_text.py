"""What Python writes when the process dies is read into a place and a kind, without folders of the user."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sce_desktop.core.crash_text import place_in, read_fault

FAULT = """Fatal Python error: Segmentation fault

Thread 0x00007f11 [models] (most recent call first):
  File "/home/anna/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 12 in linear

Current thread 0x00007f22 (most recent call first):
  File "/home/anna/venv/lib/python3.11/site-packages/PySide6/shim.py", line 7 in paint
  File "{package}/sce_desktop/ui/rows/rows_view.py", line 120 in _show
  File "/home/anna/start.py", line 3 in <module>

Thread 0x00007f33 (most recent call first):
  File "/home/anna/other.py", line 1 in never

Extension modules: numpy.core._multiarray_umath, torch._C (total: 2)
"""
PACKAGE = Path(__file__).parents[2]


def test_the_place_is_the_programs_own_in_the_thread_that_died() -> None:
    fault = read_fault(FAULT.format(package=PACKAGE))
    assert fault is not None
    assert fault.kind == "Segmentation fault"
    assert fault.place == "sce_desktop/ui/rows/rows_view.py:120 in _show"
    assert "anna" not in fault.stacks
    assert str(PACKAGE) not in fault.stacks
    assert 'File "torch/nn/functional.py", line 12 in linear' in fault.stacks
    assert "Extension modules: 2" in fault.stacks


def test_without_a_frame_of_ours_the_innermost_one_counts() -> None:
    text = "Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n"
    fault = read_fault(text + '  File "C:\\Users\\anna\\a.py", line 4 in f\n  File "b.py", line 5 in g\n')
    assert fault is not None
    assert (fault.kind, fault.place) == ("Aborted", "a.py:4 in f")
    assert "anna" not in fault.stacks


@pytest.mark.parametrize("text", ["", "Timeout (0:00:01)!\n", "\0\0\0\0", 'File "a", line 1 in b'])
def test_what_makes_no_sense_is_no_fault(text: str) -> None:
    assert read_fault(text) is None


def test_a_fault_is_bounded() -> None:
    frame = 'File "/home/anna/x.py", line 1 in f\n'
    fault = read_fault("Fatal Python error: Bus error\n\n" + 100_000 * frame)
    assert fault is not None
    assert len(fault.stacks) <= 20_000
    assert "anna" not in fault.stacks


def test_a_real_death_is_read() -> None:
    code = "import faulthandler; faulthandler.enable()\ndef dies(): faulthandler._sigabrt()\ndies()"
    died = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    fault = read_fault(died.stderr)
    assert fault is not None
    assert fault.kind == "Aborted"
    assert fault.place.endswith(":2 in dies")


def test_the_place_in_a_trace_is_the_last_one_of_ours() -> None:
    trace = (
        "  sce_desktop/cli.py:1 in main\n      main()\n  sce_desktop/tasks/a.py:2 in work\n      x\n"
        "  numpy/core.py:3 in dot\n      y\nValueError\n"
    )
    assert place_in(trace) == "sce_desktop/tasks/a.py:2 in work"
    assert place_in("  numpy/core.py:3 in dot\n      y\nValueError\n") == "numpy/core.py:3 in dot"
    assert place_in("ValueError\n") == ""
