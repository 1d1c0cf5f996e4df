"""What the files at the top level promise."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def pinned_versions() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


def test_the_tested_versions_lie_within_the_ranges() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [Requirement(r) for r in project["dependencies"] + project["optional-dependencies"]["dev"]]
    pins = pinned_versions()
    assert len(wanted) > 20
    wrong = {
        str(r): pins.get(canonicalize_name(r.name))
        for r in wanted
        if not r.specifier.contains(pins.get(canonicalize_name(r.name), "0"))
    }
    assert wrong == {}


def test_every_make_target_is_explained() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", text, re.MULTILINE))
    explained = set(re.findall(r"^([a-z]+):.*## \S", text, re.MULTILINE))
    assert {"run", "test", "check", "bench"} <= explained
    assert targets == explained


ICONS = sorted((ROOT / "resources" / "icons").glob("*.svg"))


@pytest.mark.parametrize("file", [f for f in ICONS if f.stem != "app"], ids=lambda f: f.stem)
def test_icons_follow_the_theme_and_share_one_grid(file: Path) -> None:
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    assert root.get("viewBox") == "0 0 24 24"
    assert root.get("stroke") == "currentColor"
    assert root.get("stroke-width") == "1.75"
