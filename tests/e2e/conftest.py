"""Running the program as users do: another process, outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.ml.tiny import tiny_sce

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample" / "parcel_feedback.csv"
LABELS = ROOT / "resources" / "sample" / "labels.txt"

# Runs before the program: a machine where some packages are not installed, and no network at all.
_WITHOUT = """
import socket, sys

class Missing:
    def __init__(self, names):
        self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def refuse(*args, **options):
    raise OSError("this test has no network")

sys.meta_path.insert(0, Missing(%r))
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Run Python ``code`` in a process of its own, in an empty folder, without the packages ``missing``."""

    def run(
        code: str, *arguments: str, missing: Sequence[str] = (), python: str | Path = sys.executable
    ) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / "elsewhere"
        folder.mkdir(exist_ok=True)
        return subprocess.run(
            [python, "-c", _WITHOUT % (tuple(missing),) + code, *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=110,
        )

    return run


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny SCE with random weights."""
    return Path(tiny_sce(tmp_path_factory.mktemp("tiny")))
