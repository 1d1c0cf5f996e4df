"""What every test may rely on, and what fails a test whatever it asserts.

Given: Qt draws offscreen (``--headed`` shows the windows), no hub is asked, no socket opens, the user's
folders are a fresh place per test, torch keeps to two threads.

Fails a test: a thread or QThread that outlives it, a modal dialog that nobody answers, a Qt warning
(``qt_log_level_fail``), an exception in a slot, a destructor or a thread. pytest's faulthandler and
pytest-timeout print every stack when a test crashes or hangs.

None of it imports Qt or torch for tests that use neither.
"""

from __future__ import annotations

import faulthandler
import itertools
import os
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

ROOT = Path(__file__).resolve().parent.parent
MINI = ROOT / "models" / "sce-mini" / "model.safetensors"
GRACE_S = 2.0  # a thread that is on its way out may take this long
PATIENCE_MS = 30_000  # what a wait for the window may take on a busy machine, where the test names no limit
_threads_before = pytest.StashKey[set[threading.Thread]]()
_session_home = pytest.StashKey[str]()
_home_numbers = itertools.count()

# Read once, when numpy, torch and tokenizers are imported: hence here and not in a fixture.
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--headed", action="store_true", help="show the windows of the tests on this display")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--headed"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    # For fixtures of a wider scope than the per-test home below: never the folders of whoever runs the tests.
    config.stash[_session_home] = tempfile.mkdtemp(prefix="sce-desktop-tests-")
    os.environ["SCE_DESKTOP_HOME"] = config.stash[_session_home]


def pytest_unconfigure(config: pytest.Config) -> None:
    if home := config.stash.get(_session_home, None):
        shutil.rmtree(home, ignore_errors=True)


# --- what a test needs -------------------------------------------------------------------------------------


def _missing_model() -> str | None:
    return None if MINI.is_file() else "the default model is not in models/sce-mini"


def _missing_hub_models() -> str | None:
    if os.environ.get("SCE_DESKTOP_TEST_MODELS"):
        return None
    return "set SCE_DESKTOP_TEST_MODELS to a folder of downloaded models"


def _missing_gpu() -> str | None:
    import torch

    return None if torch.cuda.is_available() or torch.backends.mps.is_available() else "there is no GPU"


def _missing_display() -> str | None:
    for program in ("xvfb-run", "xdotool"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return None


def _missing_docs() -> str | None:
    missing = [name for name in ("mkdocs", "material", "mkdocstrings") if find_spec(name) is None]
    return f"{missing[0]} is not installed: `make docs` installs it" if missing else None


def _missing_ray() -> str | None:
    return None if find_spec("ray") else "ray is not installed: pip install sce-desktop[ray]"


NEEDS: dict[str, Callable[[], str | None]] = {
    "model": _missing_model,
    "hub": _missing_hub_models,
    "gpu": _missing_gpu,
    "ray": _missing_ray,
    "outside": _missing_display,
    "docs": _missing_docs,
}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_threads_before] = set(threading.enumerate())
    for name, missing in NEEDS.items():
        if item.get_closest_marker(name) is None or (reason := missing()) is None:
            continue
        if name in os.environ.get("SCE_DESKTOP_MUST_RUN", "").split():  # CI: a skip there would hide a hole
            pytest.fail(f"{name} tests must run here, but {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.fixture
def hub_models() -> Path:
    """The folder of downloaded models that ``hub`` tests read."""
    return Path(os.environ["SCE_DESKTOP_TEST_MODELS"])


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.getbasetemp() / f"home-{next(_home_numbers)}"
    monkeypatch.setenv("SCE_DESKTOP_HOME", str(home))
    monkeypatch.setattr(
        "sce_desktop.state_files._reported", []
    )  # what another test's settings gave to report


# --- threads -----------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield  # every fixture of this test has been taken down
    if (stderr := item.config.stash.get(fault_handler_stderr_fd_key, None)) is not None:
        faulthandler.enable(stderr)  # a test of what a crash leaves behind had it write elsewhere
    before = item.stash.get(_threads_before, set())
    started = [t for t in threading.enumerate() if t not in before and not t.daemon]
    for thread in started:
        thread.join(GRACE_S)
    if left := [t for t in started if t.is_alive()]:
        frames = sys._current_frames()
        stacks = "".join(
            f"\n{t.name}, now at:\n" + "".join(traceback.format_stack(frames.get(t.ident or 0))) for t in left
        )
        pytest.fail(f"threads outlive the test; stop and join them in it: {stacks}", pytrace=False)
    return result


# --- Qt ----------------------------------------------------------------------------------------------------


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> Any:
    """pytest-qt's gives up after five seconds: too soon where others compute beside the tests."""
    from pytestqt.qtbot import QtBot

    class PatientBot(QtBot):
        def waitUntil(self, callback: Any, *, timeout: int = PATIENCE_MS) -> None:
            super().waitUntil(callback, timeout=timeout)

        def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:
            return super().waitSignal(signal, timeout=timeout, **options)

        def waitSignals(self, signals: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:
            return super().waitSignals(signals, timeout=timeout, **options)

    return PatientBot(request)


@pytest.fixture(autouse=True)
def _qt_guards(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if "qapp" not in request.fixturenames:  # qtbot brings it too
        yield
        return
    application = request.getfixturevalue("qapp")
    _keep_a_style_sheet(application)
    _let_go_of_keys()
    threads = _record_qthreads(monkeypatch)
    opened = _refuse_modals(monkeypatch)
    yield
    from PySide6.QtCore import QThreadPool
    from shiboken6 import isValid

    if not application.styleSheet():
        pytest.fail("the application's style sheet was taken away: see _keep_a_style_sheet")

    grace_ms = int(GRACE_S * 1000)
    left = [where for thread, where in threads if isValid(thread) and not thread.wait(grace_ms)]
    if left:
        pytest.fail("QThreads outlive the test; quit() and wait() them. Started at:\n" + "\n".join(left))
    if not QThreadPool.globalInstance().waitForDone(grace_ms):
        pytest.fail("work in the global QThreadPool outlives the test")
    if opened:
        pytest.fail("modal dialogs were opened, which would hang for ever: " + ", ".join(opened))


def _keep_a_style_sheet(application: Any) -> None:
    """Give the application a style sheet before the first test, which is there until after the last.

    Qt (6.11) frees what it knows of styled widgets with an application's last style sheet, but not the mark
    of those that never came on the screen. Under the next style sheet it would not hear when one of these
    dies, and would crash at the change after it. The program never takes its style sheet away.
    """
    if not application.styleSheet():
        application.setStyleSheet("/* of no theme */")


def _let_go_of_keys() -> None:
    """Let Qt forget that Ctrl or Shift is held.

    After ``keyClick(..., modifier)`` it believes so until the next key, and a row that is chosen meanwhile is
    added to others, or left out.
    """
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QWidget

    if QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Control)


def _record_qthreads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, str]]:
    """Note every QThread that is started, with the place, so that a leak can be named."""
    from PySide6.QtCore import QThread

    started: list[tuple[Any, str]] = []
    start = QThread.start

    def recording_start(self: Any, *args: Any) -> None:
        started.append((self, "".join(traceback.format_stack(limit=6)[:-1])))
        start(self, *args)

    monkeypatch.setattr(QThread, "start", recording_start)
    return started


def _refuse_modals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make everything that would wait for a click raise; a test that means it replaces the one it expects."""
    from PySide6 import QtWidgets

    opened: list[str] = []
    blocking = {
        "QDialog": ("exec", "exec_"),
        "QMenu": ("exec", "exec_"),
        "QMessageBox": ("information", "question", "warning", "critical", "about", "aboutQt"),
        "QFileDialog": (
            *("getOpenFileName", "getOpenFileNames", "getSaveFileName", "getExistingDirectory"),
            *("getOpenFileUrl", "getOpenFileUrls", "getSaveFileUrl", "getExistingDirectoryUrl"),
        ),
        "QInputDialog": ("getText", "getMultiLineText", "getInt", "getDouble", "getItem"),
        "QColorDialog": ("getColor",),
        "QFontDialog": ("getFont",),
    }

    def refusing(name: str) -> Callable[..., Any]:
        def refuse(*_args: Any, **_options: Any) -> Any:
            opened.append(name)
            raise AssertionError(f"{name} would wait for ever in a test: use open() and its signals")

        return refuse

    for class_name, methods in blocking.items():
        cls = getattr(QtWidgets, class_name)
        for method in methods:
            if hasattr(cls, method):
                monkeypatch.setattr(cls, method, refusing(f"{class_name}.{method}"))
    return opened
