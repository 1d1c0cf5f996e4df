"""Crash reports: what, where and what to do, in a file that is whole, private, and offered once."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from sce_desktop import state_files
from sce_desktop.controllers.crash_reports import CrashReports, report_of_bug, report_of_fault
from sce_desktop.controllers.crashes import Crash
from tests.core.test_crash_text import FAULT, PACKAGE

SECRET = "a text of the user"


def bug() -> Crash:
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        return Crash.from_error(error)


def test_a_report_of_a_bug_says_what_where_and_what_to_do(qapp: object) -> None:
    text = report_of_bug(bug()).text()
    head = text.splitlines()[:5]
    assert [line.partition(":")[0] for line in head] == [
        "SCE Desktop crash report",
        "When",
        "What",
        "Where",
        "What to do",
    ]
    assert "ValueError" in head[2]
    assert head[3].startswith("Where: tests/ui/test_crash_reports.py:")
    assert "your project is saved" in head[4]
    assert "Python 3" in text
    assert SECRET not in text


def test_a_report_of_a_fault_says_what_it_means(qapp: object) -> None:
    report = report_of_fault(FAULT.format(package=PACKAGE))
    assert report.ended
    assert "Segmentation fault" in report.what
    assert "memory that is not its own" in report.what
    assert report.where == "sce_desktop/ui/rows/rows_view.py:120 in _show"
    assert "anna" not in report.text()
    odd = report_of_fault("\0\0 of a disk that was full")
    assert "unknown" in odd.what
    assert "disk" not in odd.text()


def test_reports_are_offered_until_read_and_the_newest_ten_stay(qapp: object, tmp_path: Path) -> None:
    reports = CrashReports(tmp_path / "log" / "crashes")
    assert reports.unread() == []
    for _ in range(12):
        reports.note(bug())
    unread = reports.unread()
    assert len(unread) == 10
    assert unread == sorted(unread, reverse=True)
    assert "ValueError" in reports.read(unread[0])
    if os.name == "posix":
        assert stat.S_IMODE(unread[0].stat().st_mode) == 0o600
        assert stat.S_IMODE(reports.folder.stat().st_mode) == 0o700
    reports.mark_read()
    assert reports.unread() == []
    reports.note(bug())
    assert len(reports.unread()) == 1
    assert len(list(reports.folder.iterdir())) == 10


def test_a_report_is_whole_or_not_there(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = CrashReports(tmp_path / "crashes")

    def no_room(_descriptor: int) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(state_files.os, "fsync", no_room)
    assert reports.write(report_of_bug(bug())) is None
    assert reports.unread() == []
    assert list(reports.folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a folder that cannot be made")
def test_a_folder_that_cannot_be_made_is_no_second_crash(qapp: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    reports = CrashReports(tmp_path / "file" / "crashes")
    reports.note(bug())
    reports.mark_read()
    assert reports.unread() == []
