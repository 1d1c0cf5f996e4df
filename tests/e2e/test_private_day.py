"""A whole day leaves no text of the user outside of what is the user's, opens no socket, and all is private.

`tests.e2e.private_day` works through it once, in a process of its own, under strace where that is installed.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import private_day
from tests.e2e.private_day import MARKER

pytestmark = [
    pytest.mark.timeout(900),  # the day takes 25 s of processor time; beside other work it took 150 s
    pytest.mark.skipif(sys.platform == "win32", reason="modes, and HOME, are of POSIX systems"),
]
ROOT = Path(__file__).resolve().parents[2]
GIVEN = {"table.csv", "other.csv", "labels.txt"} | {
    f"bad{name}" for name in (".csv", ".jsonl", ".json", ".xlsx", ".parquet", " labels.json")
}
"""What the user had before; the test wrote it, readable for everybody."""
MADE = {
    *("out.csv", "out.xlsx", "out.parquet", "out.jsonl", "bad.csv.csv", "bad.jsonl.csv", "bad.parquet.csv"),
    *(
        "p.sce",
        "backup.sce",
        "spoilt.sce",
        "repaired.sce",
        "copy.sce",
        "export.xlsx",
    ),
    *("window.csv", "window.csv.about.txt", "window.xlsx", "mine"),
}
"""What the user asked for: projects, exports, backups, a model."""
OF_THE_USER = ("share/sce-desktop/projects/", "share/sce-desktop/models/mine/config.json")
"""Places below HOME that hold texts because the user put them there; a model knows its labels' names."""
CRASHES = ("model fails", "llm fails", "export fails", "finetune fails", "database fails")
_SOCKET = re.compile(r"\b(?:socket|socketpair)\((?P<family>\w+)")


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("day")
    strace = [
        "strace",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-e",
        "trace=%network",
        "-o",
        str(folder / "strace.txt"),
    ]
    command = [sys.executable, "-m", "tests.e2e.private_day", str(folder)]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [*strace, *command] if can_trace() else command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=850,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "result.json").read_text(encoding="utf-8"))


def can_trace() -> bool:
    """Whether strace is installed and may look at processes here."""
    if shutil.which("strace") is None:
        return False
    trial = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=%network", "true"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def holds_marker(file: Path) -> bool:
    found = file.read_bytes()
    if found.startswith(b"\x1f\x8b"):
        found += gzip.decompress(found)
    return any(MARKER.encode(code) in found for code in ("utf-8", "utf-16-le", "utf-16-be"))


def test_the_day_was_whole(day: tuple[Path, dict[str, Any]]) -> None:
    """Else the other tests would look at nothing."""
    folder, result = day
    assert result.get("failed") is None
    assert result["window"] == {"scored": 24, "versions": 1}
    assert result["reached"][-1] == "spoilt project"
    refused = {title for title, code in result["codes"].items() if code == 2}
    assert refused >= {"bad.json", "bad.xlsx", "bad labels", "no such label", "spoilt export", "spoilt score"}
    assert all(title.startswith(("bad", "spoilt", "no such")) for title in refused)
    crashed = {title: code for title, code in result["codes"].items() if code not in (0, 2)}
    assert crashed == dict.fromkeys(CRASHES, "Marked") | {"database fails": "IntegrityError"}
    assert {file.name for file in (folder / "work").iterdir()} == GIVEN | MADE
    log = (folder / "home/.cache/sce-desktop/log/sce-desktop.log").read_text(encoding="utf-8")
    assert log.count("This is a bug.") == len(CRASHES)
    assert log.count("Job crashed") == 3  # of any kind, while exporting and while fine-tuning
    assert "Unexpected exception" in log  # in a slot
    assert "private_day.py" in log
    assert "UserError: bad.json is not valid JSON (JSONDecodeError): save it again." in log


def test_no_text_outside_of_what_is_the_users(day: tuple[Path, dict[str, Any]]) -> None:
    folder, _result = day
    assert holds_marker(folder / "work/p.sce")  # the search finds what is there
    files = [file for file in (folder / "home").rglob("*") if file.is_file()]
    found = {str(file.relative_to(folder / "home")) for file in files if holds_marker(file)}
    assert {name for name in found if not any(place in name for place in OF_THE_USER)} == set()
    assert not [file for file in files if MARKER in file.name]
    assert len(files) > 10
    left = [file for file in (folder / "home/tmp").rglob("*") if not file.is_dir()]
    assert left == []  # temporary files


def test_no_text_on_stderr_or_in_a_title(day: tuple[Path, dict[str, Any]]) -> None:
    _folder, result = day
    for title in (*CRASHES, "libraries"):
        assert MARKER not in result["stderr"][title]
        assert "This is a bug of SCE Desktop." in result["stderr"][title]
    assert {title for title in result["titles"] if MARKER in title} == set()
    assert "table – SCE Desktop" in result["titles"]


def test_no_text_in_what_is_passed_on_or_seen_on_a_locked_screen(day: tuple[Path, dict[str, Any]]) -> None:
    """Notifications, diagnostics and crash reports; the last two name no file either."""
    folder, result = day
    titles = [title for title, _body in result["notices"]]
    assert {"Importing table.csv: finished", "Fine-tuning: finished", "Fine-tuning: failed"} <= set(titles)
    assert "Exporting no.csv: failed" in titles
    assert MARKER not in str(result["notices"])
    told = result["diagnostics"]
    assert re.search(r"\d+ rows, \d+ columns, ", told), told  # of the project that is open
    assert "Message: " in told  # the sentence of the user is not in that line
    crashes = folder / "home/.cache/sce-desktop/log/crashes"
    reports = [path.read_text(encoding="utf-8") for path in sorted(crashes.glob("crash-*.txt"))]
    assert len(reports) >= 4  # of any kind, while exporting, while fine-tuning, in a slot
    for text in (told, *reports):
        assert MARKER not in text
        assert str(folder) not in text
        assert "table.csv" not in text
    assert any("Where: tests/e2e/private_day.py" in text for text in reports)
    assert all("What to do: " in text for text in reports)


def test_no_socket(day: tuple[Path, dict[str, Any]]) -> None:
    _folder, result = day
    assert result["sockets"] == []


def test_no_socket_in_the_eyes_of_the_system(day: tuple[Path, dict[str, Any]]) -> None:
    if not can_trace():
        pytest.skip("strace is not installed, or may not trace here")
    traced = (day[0] / "strace.txt").read_text(encoding="utf-8", errors="replace")
    families = {found["family"] for found in _SOCKET.finditer(traced)}
    assert families <= {"AF_UNIX"}  # of the display, and of the system's list of users


def test_sockets_would_be_seen() -> None:
    before = list(private_day.sockets)
    private_day.listen("socket.__new__", (None, socket.AF_UNIX, socket.SOCK_STREAM, 0))
    assert private_day.sockets == before
    private_day.listen("socket.__new__", (None, socket.AF_INET, socket.SOCK_STREAM, 0))
    private_day.listen("socket.getaddrinfo", ("example.org", 443, 0, 0, 0))
    assert len(private_day.sockets) == len(before) + 2
    private_day.sockets[:] = before
    assert _SOCKET.search("12 socket(AF_INET6, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 3")["family"] == "AF_INET6"  # type: ignore[index]


def test_all_is_private_though_the_umask_hides_nothing(day: tuple[Path, dict[str, Any]]) -> None:
    folder, _result = day
    home = folder / "home"
    ours = [
        path
        for place in (".config", ".cache", ".local/share")
        for path in (home / place / "sce-desktop", *(home / place / "sce-desktop").rglob("*"))
    ]
    ours += [path for path in (folder / "work").rglob("*") if path.name not in GIVEN]
    wrong = {
        str(path.relative_to(folder)): oct(mode)
        for path in ours
        if (mode := stat.S_IMODE(path.stat().st_mode)) != (0o700 if path.is_dir() else 0o600)
    }
    assert wrong == {}
    assert len(ours) > 30
