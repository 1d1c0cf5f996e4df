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
    extras = project["optional-dependencies"]
    wanted = [Requirement(r) for r in project["dependencies"] + extras["dev"] + extras["docs"]]
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


FOLDERS = ("docs", "models", "packaging", "resources", "tests", "tools")
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / "reference" / "command-line.md"}),
    *sorted((ROOT / "packaging").glob("*.md")),
]
CONFIGURATIONS = sorted((ROOT / "resources").rglob("*.toml"))
_KINDS = "md|toml|py|jsonl|json|gz|csv|tsv|txt|svg|png|safetensors|spec|sh|xlsx|parquet"
_FILE = re.compile(rf"""(?<![\w./-])((?:[\w.-]+/)*[\w.-]+\.(?:{_KINDS}))(?![\w/-])""")
_MADE_BY_THE_READER = {
    "suggested.csv",
    "labelled.csv",
    "bbc250.csv",
    "new.csv",
    "new-labelled.csv",
    "parcels.csv",
}
_MADE_BY_THE_READER |= {
    ".about.txt",
    "NAME.about.txt",
    "texts.csv",
    "part-000000.parquet",
    "tasks.json",
    "next.csv",
}
_MADE_BY_THE_PROGRAM = {"scoring.json"}


def test_no_committed_file_is_empty() -> None:
    """But for the marks of packages: an empty data file is one whose contents were lost."""
    empty = [
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and not file.stat().st_size and file.name != "__init__.py"
    ]
    assert empty == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_named_in_a_document_are_there(document: Path) -> None:
    names = {file.name for folder in (*FOLDERS, "sce_desktop") for file in (ROOT / folder).rglob("*")}
    names |= {file.name for file in ROOT.iterdir()} | _MADE_BY_THE_READER | _MADE_BY_THE_PROGRAM
    told = set(_FILE.findall(re.sub(r"https?://\S+", "", document.read_text(encoding="utf-8"))))
    near = (ROOT, document.parent, ROOT / "sce_desktop")
    missing = [
        name
        for name in told
        if not any((folder / name).exists() for folder in near) and ("/" in name or name not in names)
    ]
    assert missing == []


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda path: path.name)
def test_files_named_in_a_configuration_are_there(configuration: Path) -> None:
    def texts(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for one in value.values() for text in texts(one)]
        if isinstance(value, list):
            return [text for one in value for text in texts(one)]
        return [value] if isinstance(value, str) else []

    named = [text for text in texts(tomllib.loads(configuration.read_text("utf-8"))) if _FILE.fullmatch(text)]
    fetched = "data/"  # by `paper-data` and the scripts that docs/research/model.md names
    here = [text for text in named if not text.startswith(fetched)]
    assert here  # all of ours name some
    assert [text for text in here if not (configuration.parent / text).is_file()] == []


ICONS = sorted((ROOT / "resources" / "icons").glob("*.svg"))


@pytest.mark.parametrize("file", [f for f in ICONS if f.stem != "app"], ids=lambda f: f.stem)
def test_icons_follow_the_theme_and_share_one_grid(file: Path) -> None:
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    assert root.get("viewBox") == "0 0 24 24"
    assert root.get("stroke") == "currentColor"
    assert root.get("stroke-width") == "1.75"
