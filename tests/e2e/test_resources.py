"""The sample, the label templates and the README's examples are what they say they are."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sce_desktop.core.labels import clean_labels, look_alikes
from sce_desktop.data.labels_file import read_labels
from tests.e2e.conftest import LABELS, ROOT, SAMPLE

TEMPLATES = sorted((ROOT / "resources" / "templates").glob("*.json"))


def test_the_sample_has_what_a_sample_should_have() -> None:
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    messages = [row["message"] for row in rows]
    gold = Counter(row["gold"] for row in rows)
    assert len(rows) == 304
    assert [label.name for label in read_labels(LABELS)] == LABELS.read_text(encoding="utf-8").split("\n")[
        :-1
    ]
    assert set(gold) == {label.name for label in read_labels(LABELS)} | {""}
    assert min(gold[name] for name in gold if name) >= 30
    assert sum(not message.strip() for message in messages) == 5
    assert all(row["gold"] == "" for row in rows if not row["message"].strip())
    assert max(map(len, messages)) > 2000
    assert sum("\n" in message for message in messages) >= 3
    assert max(Counter(m for m in messages if m.strip()).values()) == 3
    assert len({row["ref"] for row in rows}) == len(rows)
    for wanted in ("é", "ø", '"', ";", "😅", "مستودع", "招聘"):
        assert any(wanted in message for message in messages), wanted


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.stem)
def test_templates_are_label_files(file: Path) -> None:
    labels = clean_labels(read_labels(file))
    assert 4 <= len(labels) <= 12
    assert all(label.description for label in labels)
    assert look_alikes([wording for label in labels for wording in label.wordings]) == []


def readme_blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which the README's relative paths hold and may be written to."""
    shutil.copytree(ROOT / "resources" / "sample", tmp_path / "resources" / "sample")
    return tmp_path


@pytest.mark.model
@pytest.mark.skipif(os.name == "nt", reason="the README's commands are for a POSIX shell")
def test_the_commands_of_the_readme_work(checkout: Path) -> None:
    (commands,) = (block for block in readme_blocks("sh") if "sce-desktop classify" in block)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=checkout,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    header = (checkout / "labelled.csv").read_text(encoding="utf-8").splitlines()[0]
    for column in ("sce_label", "sce_confidence", "sce_status", "sce_p:Late delivery", "similarity_label"):
        assert f",{column}," in header


@pytest.mark.model
def test_the_python_example_of_the_readme_works(checkout: Path) -> None:
    (code,) = readme_blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    rows = [list(map(float, re.findall(r"[\d.e-]+", line))) for line in done.stdout.splitlines()]
    assert [len(row) for row in rows] == [3, 3]
    assert [sum(row) for row in rows] == pytest.approx([1, 1], abs=1e-5)
    assert [max(range(3), key=row.__getitem__) for row in rows] == [1, 2]
