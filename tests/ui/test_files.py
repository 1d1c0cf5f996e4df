"""Which drags are taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl

from sce_desktop.ui.files import dropped_file, is_project


def drag(*urls: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl(url) for url in urls])
    return data


@pytest.mark.parametrize(
    "name",
    ["a.csv", "A.CSV", "a.tsv", "a.txt", "a.xlsx", "a.parquet", "a.jsonl", "a.json", "a.csv.gz", "a.sce"],
)
def test_our_endings_are_taken(name: str) -> None:
    assert dropped_file(drag(f"file:///data/{name}")) == Path(f"/data/{name}")


def test_spaces_and_accents_survive() -> None:
    assert dropped_file(drag("file:///data/mes%20donn%C3%A9es.csv")) == Path("/data/mes données.csv")


@pytest.mark.parametrize("url", ["file:///a.png", "file:///a", "https://example.org/a.csv", "file:///a.gz"])
def test_others_are_not(url: str) -> None:
    assert dropped_file(drag(url)) is None


def test_first_fitting_of_several() -> None:
    assert dropped_file(drag("file:///a.png", "file:///b.csv", "file:///c.csv")) == Path("/b.csv")
    text = QMimeData()
    text.setText("/data/a.csv")
    assert dropped_file(text) is None


def test_projects_are_known_by_their_ending() -> None:
    assert is_project(Path("x/My Project.SCE"))
    assert not is_project(Path("x/sce"))
