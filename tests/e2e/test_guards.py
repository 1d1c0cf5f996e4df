"""The guards of tests/conftest.py fail what they should fail."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.e2e.conftest import ROOT

BAD_TESTS = """
import socket, threading, time
from PySide6.QtCore import QThread, QTimer, qWarning
from PySide6.QtWidgets import QMessageBox

kept = []

class Bad:
    def __del__(self):
        raise ValueError("in a destructor")

def test_good(qtbot):
    pass

def test_thread():
    threading.Thread(target=time.sleep, args=(3,)).start()

def test_qthread(qtbot):
    kept.append(QThread())
    kept[0].start()

def test_good_that_stops_the_thread(qtbot):
    kept[0].quit()
    assert kept[0].wait(2000)

def test_modal(qtbot):
    try:
        QMessageBox.question(None, "Delete", "Really?")
    except AssertionError:
        pass

def test_warning(qtbot):
    qWarning("a bug")

def test_style_sheet(qapp):
    qapp.setStyleSheet("")

def test_slot(qtbot):
    QTimer.singleShot(0, lambda: 1 / 0)
    qtbot.wait(50)

def test_unraisable():
    Bad()

def test_socket():
    socket.create_connection(("127.0.0.1", 9))
"""
MESSAGES = {
    "test_thread": "threads outlive the test",
    "test_qthread": "QThreads outlive the test",
    "test_modal": "modal dialogs were opened",
    "test_warning": "Qt messages with level WARNING",
    "test_style_sheet": "style sheet was taken away",
    "test_slot": "ZeroDivisionError",
    "test_unraisable": "PytestUnraisableExceptionWarning",
    "test_socket": "SocketBlockedError",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a run of the bad tests reported: nothing for those that passed."""
    folder = tmp_path_factory.mktemp("guards")
    (folder / "test_bad.py").write_text(BAD_TESTS, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:randomly"),
            *("-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", folder),
            *("--junitxml", folder / "report.xml", folder / "test_bad.py"),
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    cases = ElementTree.parse(folder / "report.xml").iter("testcase")
    return {
        case.attrib["name"]: "".join(
            f"{bad.get('message')} {bad.text}" for kind in ("failure", "error") for bad in case.findall(kind)
        )
        for case in cases
    }


@pytest.mark.parametrize("test", MESSAGES)
def test_a_bad_test_fails(test: str, outcomes: dict[str, str]) -> None:
    assert MESSAGES[test] in outcomes[test]


def test_good_tests_pass(outcomes: dict[str, str]) -> None:
    assert {name for name, report in outcomes.items() if not report} == {
        "test_good",
        "test_good_that_stops_the_thread",
    }
