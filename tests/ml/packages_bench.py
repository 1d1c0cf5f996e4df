"""A tiny model as a wheel, and how to make others of it."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from sce_desktop.core.models import Known, Package
from sce_desktop.ml.hub import model_packages
from tests.ml.tiny import tiny_sce

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"version": "2.1", "summary": "a tiny model", "notices": ["multilingual-e5-small.txt"]}

CARD = "---\nlicense: mit\n---\n\n# tiny-words\n"
INSIDE = f"{model_packages.NAMESPACE}/tiny-words"


def builder() -> ModuleType:
    """packaging/model_wheel.py, whose folder is no package: the name is that of a library."""
    spec = importlib.util.spec_from_file_location("model_wheel", ROOT / "packaging" / "model_wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="wheel", scope="module")
def wheel_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    folder = tiny_sce(place, name="tiny-words")
    folder = folder.rename(place / "tiny-words")
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    (folder / ".hidden").write_text("not shipped", encoding="utf-8")
    made: Path = builder().build(folder, FACTS, place / "dist")
    return made


def repacked(wheel: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def published(wheel: Path, sha256: str = "") -> Known:
    sha256 = sha256 or model_packages.open_wheel(wheel).weights_sha256
    package = Package("sce-desktop-tiny-words", "2.1", "", sha256, 1_000_000, format="model", only=True)
    return Known("tiny-words", "", "sce", "mit", 1_000_000, "", package=package)
