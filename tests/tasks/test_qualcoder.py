"""QualCoder's own code imports what we export, and we import what it exports.

QualCoder is in no package index: ``SCE_DESKTOP_TEST_QUALCODER`` names the folder ``src`` of its repository
(github.com/ccbogel/QualCoder), ``SCE_DESKTOP_TEST_QUALCODER_PYTHON`` a Python with PyQt6 if this has none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.core.exchange import Exchange
from sce_desktop.project import Project
from tests.tasks.test_exchange import LABELS, TEXTS, decided, exported, imported, make, others

DRIVER = Path(__file__).with_name("qualcoder_driver.py")
PYTHON = os.environ.get("SCE_DESKTOP_TEST_QUALCODER_PYTHON", sys.executable)

# What it exported of `make`, shortened: to read that needs no QualCoder.
EXPORTED = """<?xml version="1.0" encoding="utf-8"?>
<Project name="out.qda" origin="QualCoder" creatingUserGUID="35314c5a-2688-40e2-96f8-f525ccedb6fb"
 xmlns="urn:QDA-XML:project:1.0">
<Users>
<User guid="f6fc0042-3a7d-4adb-b447-03bc47d26666" name="SCE Desktop" />
<User guid="f6fc0042-3a7d-4adb-b447-03bc47d26667" name="ann@example.org" />
</Users>
<CodeBook><Codes>
<Code guid="37613483-57f5-4a4b-bc69-6a48950fe3c7" name="Late" isCodable="true" color="#BF360C" />
<Code guid="b4bdfe75-92ff-4a9b-8ed4-348e358296e2" name="Parcel" isCodable="false">
<Code guid="c254bebe-c7db-446c-b1a0-7aa4f69afbe9" name="Damaged" isCodable="true" color="#3498DB" />
</Code>
</Codes></CodeBook>
<Variables><Variable guid="9b4b6073-7f05-4fc3-a435-177ae56a08ca" name="none of these" typeOfVariable="Text" >
<Description /></Variable></Variables>
<Sources>
<TextSource plainTextPath="internal://3aadae91-a487-4788-bf70-ce1d27714aea.txt"
 guid="51038f8e-8b47-423b-839e-9a630e057550" name="row 1">
<Description>see &lt;photo&gt;</Description>
<PlainTextSelection guid="61c97dcb-043e-48f4-aefa-0421fa339cde" startPosition="0" endPosition="7"
 name="crushed" creatingUser="f6fc0042-3a7d-4adb-b447-03bc47d26666">
<Coding guid="4b3df5be-78c1-469e-860d-3f43cca87888" creatingUser="f6fc0042-3a7d-4adb-b447-03bc47d26666" >
<CodeRef targetGUID="c254bebe-c7db-446c-b1a0-7aa4f69afbe9" /></Coding>
</PlainTextSelection>
<PlainTextSelection guid="cdeeb29e-4b18-4952-8379-084236827f2e" startPosition="0" endPosition="7"
 name="crushed" creatingUser="f6fc0042-3a7d-4adb-b447-03bc47d26667">
<Coding guid="5ecc0e5c-dae2-4327-beae-d3d02cc2479c" creatingUser="f6fc0042-3a7d-4adb-b447-03bc47d26667" >
<CodeRef targetGUID="37613483-57f5-4a4b-bc69-6a48950fe3c7" /></Coding>
</PlainTextSelection>
</TextSource>
<TextSource plainTextPath="internal://3aadae91-a487-4788-bf70-ce1d27714aeb.txt"
 guid="51038f8e-8b47-423b-839e-9a630e057551" name="row 2">
<VariableValue><VariableRef targetGUID="9b4b6073-7f05-4fc3-a435-177ae56a08ca" />
<TextValue>yes</TextValue></VariableValue>
</TextSource>
</Sources>
</Project>
"""


def test_what_went_through_qualcoder_is_the_projects_own(tmp_path: Path) -> None:
    """It says another origin; the user of our codings, and the memo that a note became, come back."""
    path = tmp_path / "out.qdpx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", EXPORTED)
        for name, text in (("ea", "crushed"), ("eb", "thanks!")):
            archive.writestr(f"sources/3aadae91-a487-4788-bf70-ce1d27714a{name}.txt", f"\ufeff{text}")
    with imported(path) as again:
        assert again.texts([1, 2]) == ["crushed", "thanks!"]
        assert decided(again) == {1: (Origin.IMPORTED, ("Parcel > Damaged",)), 2: (Decision.NONE, ())}
        assert others(again) == {"ann@example.org": {1: {"Late"}}}
        assert again.marks([1])[1].note == "see <photo>"


@pytest.fixture
def qualcoder() -> Path:
    source = os.environ.get("SCE_DESKTOP_TEST_QUALCODER", "")
    if not source:
        pytest.skip("SCE_DESKTOP_TEST_QUALCODER does not name QualCoder's source")
    return Path(source)


def through(qualcoder: Path, path: Path, out: Path) -> dict[str, Any]:
    """Let QualCoder import ``path`` and export it to ``out``; return what its database holds between."""
    command = [PYTHON, str(DRIVER), str(qualcoder), str(path), str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads((out / "project.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(params=[False, True], ids=["one label", "several labels"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    return make(tmp_path, multi_label=request.param)


def test_qualcoder_imports_a_project(qualcoder: Path, project: Project, tmp_path: Path) -> None:
    with project:
        path = exported(project, Exchange.QDA_XML)
        wanted, answers, several = decided(project), others(project), project.label_set()
    found = through(qualcoder, path, tmp_path / "out")
    assert [source["name"] for source in found["sources"]] == [f"row {n}" for n in range(1, 7)]
    # Its own way with Windows' line ends: a space in the place of the return, so that positions stay.
    assert [source["fulltext"] for source in found["sources"]] == [t.replace("\r\n", "\n ") for t in TEXTS]
    assert found["sources"][0]["memo"] == "see <photo> & call\nback"
    assert found["categories"] == [{"catid": 1, "name": "Parcel", "memo": "", "supercatid": None}]
    codes = {code["cid"]: code for code in found["codes"]}
    assert [(code["name"], code["catid"], code["memo"]) for code in codes.values()] == [
        ("Late", None, LABELS[0].description),
        ("Damaged", 1, ""),
        ("Praise", None, ""),
    ]
    coded: dict[str, dict[int, set[str]]] = {}
    for one in found["codings"]:
        text = found["sources"][one["fid"] - 1]["fulltext"]
        assert (one["pos0"], one["pos1"], one["seltext"]) == (0, len(text), text)
        coded.setdefault(one["owner"], {}).setdefault(one["fid"], set()).add(codes[one["cid"]]["name"])
    names = {"Parcel > Damaged": "Damaged"}
    assert several is not None
    assert coded == {
        "SCE Desktop": {
            row: {names.get(n, n) for n in labels} for row, (_how, labels) in wanted.items() if labels
        },
        "ann@example.org": {row: given for row, given in answers["ann@example.org"].items() if row != 6},
    }
    values = {(value["id"], value["name"]): value["value"] for value in found["values"]}
    assert {name for _row, name in values} == {"id", "region", "none of these"}
    assert (values[1, "region"], values[3, "none of these"]) == ("r1", "yes")
    assert not [line for line in found["said"] if "error" in line.lower()]


def test_a_project_comes_back_from_qualcoder(qualcoder: Path, project: Project, tmp_path: Path) -> None:
    with project:
        path = exported(project, Exchange.QDA_XML)
        wanted = {
            row: (how if how is Decision.NONE else Origin.IMPORTED, set(labels))
            for row, (how, labels) in decided(project).items()
            if how is not Decision.SKIPPED
        }
        answers = others(project)
        answers["ann@example.org"].pop(6)
    through(qualcoder, path, tmp_path / "out")
    with imported(tmp_path / "out" / "out.qdpx") as again:
        ids = again.row_ids()
        assert again.texts(ids) == [text.replace("\r\n", "\n ") for text in TEXTS]
        assert {row: (how, set(labels)) for row, (how, labels) in decided(again).items()} == wanted
        assert others(again) == answers
        assert again.marks([1])[1].note == "see <photo> & call\nback"
        place = again.columns.index("region")
        assert [row.cells[place] for row in again.rows(ids)] == [f"r{n % 2}" for n in range(1, 7)]


def test_qualcoder_imports_a_codebook(qualcoder: Path, project: Project, tmp_path: Path) -> None:
    with project:
        path = exported(project, Exchange.CODEBOOK)
    found = through(qualcoder, path, tmp_path / "out")
    assert {code["name"]: code["memo"] for code in found["codes"]} == {
        "Late": LABELS[0].description,
        "Damaged": "",
        "Praise": "",
    }
    assert [category["name"] for category in found["categories"]] == ["Parcel"]
