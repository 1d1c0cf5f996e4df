"""A second start gives its file to the window that runs."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sce_desktop.ui.window.running import SecondStarts, hand_over, server_name


@pytest.fixture
def name(tmp_path: Path) -> str:
    found = server_name(tmp_path)
    if not found:
        pytest.skip("the temporary folder's name is too long for a socket")
    return found


@pytest.fixture
def listen(name: str, qapp: QApplication) -> Iterator[Callable[..., SecondStarts]]:
    made: list[SecondStarts] = []

    def start(accepts: Callable[[], bool] = lambda: True) -> SecondStarts:
        made.append(SecondStarts(name, accepts))
        return made[-1]

    yield start
    for each in made:
        each.close()


SECOND = """
import json, sys
from pathlib import Path
from sce_desktop.ui.window.running import hand_over
name, path = json.loads(sys.argv[1])
print(hand_over(name, None if path is None else Path(path)))
"""


def second(name: str, path: Path | None) -> subprocess.Popen[str]:
    """Be the second start; it prints whether the window took the file."""
    asked = json.dumps([name, None if path is None else str(path)])
    return subprocess.Popen([sys.executable, "-c", SECOND, asked], stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str], qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=120_000)
    return process.communicate()[0].strip()


def test_nobody_is_there(name: str) -> None:
    assert not hand_over(name, None)
    assert not hand_over("", None)


@pytest.mark.parametrize("path", [None, Path("/tables/Späte Päckchen\n2.csv")])
def test_the_running_window_is_asked(
    name: str, listen: Callable[..., SecondStarts], path: Path | None, qtbot: QtBot
) -> None:
    starts = listen()
    with qtbot.waitSignal(starts.asked, timeout=120_000) as asked:
        process = second(name, path)
    assert asked.args == [path]
    assert answer(process, qtbot) == "True"


def test_a_window_that_closes_takes_nothing(
    name: str, listen: Callable[..., SecondStarts], qtbot: QtBot
) -> None:
    starts = listen(lambda: False)
    taken: list[object] = []
    starts.asked.connect(taken.append)
    assert answer(second(name, Path("a.csv")), qtbot) == "False"
    assert taken == []


@pytest.mark.parametrize(
    "sent", [b"\n", b"[]\n", b'{"open": 7, "token": ""}\n', b"[" * 50_000 + b"\n", b"x" * 70_000]
)
def test_what_is_no_request_is_refused(
    name: str, listen: Callable[..., SecondStarts], sent: bytes, qtbot: QtBot
) -> None:
    starts = listen()
    taken: list[object] = []
    starts.asked.connect(taken.append)
    socket = QLocalSocket()
    socket.connectToServer(name)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.ConnectedState, timeout=20_000)
    socket.write(sent)
    qtbot.waitUntil(lambda: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState, timeout=20_000)
    assert taken == []
    assert starts.listening


@pytest.mark.skipif(sys.platform == "win32", reason="modes, and sockets that are files, are of POSIX systems")
def test_only_the_user_can_ask_and_nothing_stays(
    name: str, listen: Callable[..., SecondStarts], tmp_path: Path
) -> None:
    starts = listen()
    assert starts.listening
    assert stat.S_IMODE(Path(name).stat().st_mode) & 0o077 == 0
    starts.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe has no file")
def test_a_window_that_did_not_answer_in_time_keeps_its_socket(
    name: str, listen: Callable[..., SecondStarts], tmp_path: Path
) -> None:
    first, other = listen(), listen()
    assert first.listening
    assert not other.listening
    other.close()
    assert Path(name).exists()
    assert not listen().listening  # the lock is still held
    first.close()
    assert list(tmp_path.iterdir()) == []
    assert listen().listening


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe ends with its process")
def test_a_killed_window_leaves_no_obstacle(name: str, listen: Callable[..., SecondStarts]) -> None:
    killed = (
        "import os, sys\nfrom PySide6.QtCore import QLockFile\nfrom PySide6.QtNetwork import QLocalServer\n"
        "lock = QLockFile(sys.argv[1] + '.lock')\nlock.setStaleLockTime(0)\nassert lock.tryLock(0)\n"
        "server = QLocalServer()\nassert server.listen(sys.argv[1])\nos._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", killed, name], check=False, timeout=120).returncode == 9
    assert Path(name).exists()
    assert not hand_over(name, None)
    assert listen().listening


def test_a_folder_with_a_long_name_has_none() -> None:
    if sys.platform != "win32":
        assert server_name(Path("/" + "x" * 200)) == ""
