"""The list of libraries that `doctor --libraries` imports: it is whole, and a missing one is named."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks import libraries

ROOT = Path(__file__).resolve().parents[2]
_HINTS = re.compile(r"^if TYPE_CHECKING:\n(?:(?: {4}.*)?\n)+", re.MULTILINE)
_IMPORT = re.compile(
    r"^ *(?:from ([a-zA-Z][\w.]*) import|import ([a-zA-Z][\w.]*)(?: as \w+)?(?: *#.*)?$)", re.MULTILINE
)


def imported(file: Path) -> set[str]:
    """The modules that ``file`` imports when it runs."""
    return {one or other for one, other in _IMPORT.findall(_HINTS.sub("", file.read_text(encoding="utf-8")))}


def test_every_library_that_the_program_imports_is_listed() -> None:
    own = {"sce_desktop", *sys.stdlib_module_names}
    found = {
        name
        for file in (ROOT / "sce_desktop").rglob("*.py")
        for name in imported(file)
        if name.split(".")[0] not in own
    }
    assert len(found) > 50
    listed = {name.partition(":")[0] for name in libraries.USED}
    listed |= {name.rpartition(".")[0] for name in listed}  # `from PySide6 import QtDBus`
    optional = {name.split(".")[0] for name in libraries.OPTIONAL} - {"torch"}
    assert {
        name for name in found - listed - set(libraries.OPTIONAL) if name.split(".")[0] not in optional
    } == set()


def test_what_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    used = ("json", "no_such_library", "json:no_such_part", "json.decoder:JSONDecoder")
    monkeypatch.setattr(libraries, "USED", used)
    problems = libraries.unusable(SilentProgress())
    assert set(problems) == {"no_such_library", "json:no_such_part"}
    assert "no_such_library" in problems["no_such_library"]
