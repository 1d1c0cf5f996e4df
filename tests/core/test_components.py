"""What the program consists of, and under which licences."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from sce_desktop.core import components
from sce_desktop.core.components import UNKNOWN, Component, distributions

ROOT = Path(__file__).resolve().parents[2]
NOTICES = ROOT / "resources" / "notices"


@pytest.fixture(scope="module")
def parts() -> dict[str, Component]:
    return {part.name: part for part in components.components(NOTICES, ROOT / "models")}


def test_every_part_has_a_licence_and_its_text(parts: dict[str, Component]) -> None:
    # CUDA's own come with another build of torch than the packages hold, and some say nothing.
    ours = [part for part in parts.values() if not part.name.startswith(("cuda-", "nvidia-"))]
    assert [part.name for part in ours if part.licence == UNKNOWN] == []
    assert [part.name for part in ours if not part.text().strip()] == []
    assert [file for part in parts.values() for file in part.files if not file.is_file()] == []


def test_what_must_be_named_is_named(parts: dict[str, Component]) -> None:
    qt = parts["Qt"]
    assert qt.version == metadata.version("PySide6-Essentials")
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in qt.text()
    assert "GNU GENERAL PUBLIC LICENSE" in qt.text()
    for name in ("torch", "transformers", "PySide6_Essentials", "all-MiniLM-L6-v2", "lid.176.ftz"):
        assert name in parts
    mini = parts["sce-mini"].text()
    assert "all-MiniLM-L6-v2" in mini
    assert "CC BY-SA 4.0" in mini  # of a training set, from the model's card
    assert "Permission is hereby granted" in parts["sce-multi"].text()


def test_a_model_that_is_not_bundled_is_not_named(tmp_path: Path) -> None:
    assert "sce-mini" not in {part.name for part in components.components(NOTICES, tmp_path)}


def test_all_that_the_program_needs_is_found_and_nothing_else() -> None:
    names = {str(one.metadata["Name"]).lower() for one in distributions()}
    assert {"sce-desktop", "torch", "numpy", "markupsafe"} <= names  # the last by way of Jinja2
    assert not names & {"pytest", "ruff", "mypy", "hypothesis"}


def test_every_text_of_the_folder_is_used() -> None:
    import tomllib

    stated = tomllib.loads((NOTICES / "notices.toml").read_text(encoding="utf-8"))
    used = {text for facts in stated["component"] for text in facts["texts"]}
    used |= {text for facts in stated["package"].values() for text in facts["texts"]}
    assert used == {file.name for file in NOTICES.glob("*.txt")}


def test_the_licence_is_named_shortly(tmp_path: Path) -> None:
    def named(*lines: str) -> str:
        folder = tmp_path / "one-1.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text("\n".join(("Name: one", "Version: 1", *lines)) + "\n", "utf-8")
        return components.licence_name(metadata.Distribution.at(folder))

    mit = "Classifier: License :: OSI Approved :: MIT License"
    assert named("License-Expression: MIT OR Apache-2.0", mit) == "MIT OR Apache-2.0"
    assert named("License: BSD", mit) == "BSD"
    assert named("License: Copyright (c) 2001 Somebody", mit) == "MIT License"
    assert named("License: " + "All rights " * 20, mit) == "MIT License"
    assert named() == UNKNOWN
