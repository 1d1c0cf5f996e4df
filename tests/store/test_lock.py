from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sce_desktop.store.file.lock import FileLock, SharedLock

HOLD = """
import sys
from pathlib import Path
from sce_desktop.store.file.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.read()
"""


def test_second_holder_in_the_same_process_is_refused(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_release_leaves_nothing_behind_and_may_be_repeated(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a.lock")
    lock.acquire()
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_lock_vanishes_with_a_killed_process(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "a.lock")
    command = [sys.executable, "-c", HOLD, str(lock.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert not lock.acquire()
        other.kill()
    assert lock.path.exists()  # only the lock on it has gone
    assert lock.acquire()
    lock.release()


def test_shared_lock_knows_whether_it_is_alone(tmp_path: Path) -> None:
    first = SharedLock(tmp_path / "b.lock")
    second = SharedLock(tmp_path / "b.lock")
    with first.alone() as alone:
        assert not alone
    second.release()
    with first.alone() as alone:
        assert alone
    first.release()
