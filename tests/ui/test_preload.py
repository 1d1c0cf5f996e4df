"""torch's libraries are mapped before the import, and nothing else happens."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from sce_desktop import imports as preload
from sce_desktop.controllers import work
from sce_desktop.core.progress import SilentProgress

IMPORTS = """
import builtins, inspect, sys
plain = builtins.__import__
from PySide6.QtWidgets import QWidget
from sce_desktop.imports import spare_imports
spare_imports()
read = []
inspect.getsource = lambda module: read.append(module)
import colorsys, PySide6.QtSvg, sce_desktop.tasks.scoring.models
assert read == [], read
assert colorsys.rgb_to_hls(1, 0, 0) == (0.0, 0.5, 1.0)
print(PySide6.QtSvg.QSvgRenderer.__name__)
"""
CODE = """
import sys
from sce_desktop.imports import preload_torch
assert preload_torch()
assert "torch" not in sys.modules
maps = open("/proc/self/maps").read()
assert "libtorch_cpu.so" in maps
import torch
assert torch.ones(2).sum().item() == 2
assert not preload_torch()
"""

WINDOW = """
import os, sys
from tests.benchmarks.start import HEAVY
from sce_desktop import app
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.settings import Settings
from sce_desktop.ui.kit.appearance import Theme
application = app.make_application()
window = app.make_window(Controllers(WorkerQueues(), Settings.load()), Theme(application, "light"))
window.show()
application.processEvents()
print(*(set(HEAVY) - {"numpy"} & set(sys.modules)))
sys.stdout.flush()
os._exit(0)  # what the window would do next is not the question
"""


def test_no_source_text_is_read_for_an_import() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=100)
    assert (result.returncode, result.stdout.strip()) == (0, "QSvgRenderer"), result.stderr


def test_the_window_is_painted_before_anything_that_takes_long_comes_in() -> None:
    result = subprocess.run([sys.executable, "-c", WINDOW], capture_output=True, text=True, timeout=100)
    assert (result.returncode, result.stdout.strip()) == (0, ""), result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_libraries_are_mapped_and_torch_works() -> None:
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr


def test_without_torch_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(preload.importlib.util, "find_spec", lambda _name: None)
    assert not preload.preload_torch()


def test_libraries_are_imported_one_worker_after_another() -> None:
    """Two threads in the system's loader: the second holds Python's lock, and the window stands still."""
    done = threading.Event()

    def import_libraries() -> None:
        work.import_libraries(progress=SilentProgress())
        done.set()

    thread = threading.Thread(target=import_libraries)
    with preload.MAPPING:
        thread.start()
        assert not done.wait(0.1)
    assert done.wait(30)
    thread.join()
