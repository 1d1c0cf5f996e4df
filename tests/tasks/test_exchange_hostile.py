"""Files of other tools that mean ill, or say nothing: one sentence each."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.data.labels_file import read_labels
from sce_desktop.data.tables import open_table
from tests.tasks.test_exchange import imported

BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]><Project name="&c;"/>'

OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><CodeBook>&b;</CodeBook>'

DEEP = '<CodeBook xmlns="urn:QDA-XML:codebook:1.0">' + "<Code>" * 3000


@pytest.mark.parametrize("xml", [BOMB, OUTSIDE, DEEP, "<a/>", "<Project", "", "no xml"])
@pytest.mark.parametrize("ending", [".qde", ".qdc", ".qdpx"])
def test_hostile_xml_is_one_sentence(tmp_path: Path, xml: str, ending: str) -> None:
    path = tmp_path / f"p{ending}"
    if ending == ".qdpx":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("project.qde", xml)
    else:
        path.write_text(xml, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        (read_labels if ending == ".qdc" else open_table)(path)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_zip_bomb_and_a_damaged_project(tmp_path: Path) -> None:
    path = tmp_path / "p.qdpx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.qde", b"<Project/>")
        archive.writestr("Sources/a.txt", bytes(100_000_000))
    with pytest.raises(UserError, match="unpacks to"):
        open_table(path)
    path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(UserError, match="damaged"):
        open_table(path)


def _selections(count: int) -> str:
    return "".join(
        f'<PlainTextSelection startPosition="{n}" endPosition="500000"><Coding><CodeRef targetGUID="c"/>'
        "</Coding></PlainTextSelection>"
        for n in range(count)
    )


def _overlapping(folder: Path) -> Path:
    """One text with 400 codings of nearly all of it: each would be a row of half a megabyte."""
    sources = f'<TextSource name="s" plainTextPath="internal://a.txt">{_selections(400)}</TextSource>'
    return _project_of(folder, sources)


def _shared_part(folder: Path) -> Path:
    """400 sources with the same text, which was read again for each."""
    return _project_of(folder, '<TextSource name="s" plainTextPath="internal://a.txt"/>' * 400)


def _repeated_note(folder: Path) -> Path:
    """A long note on a text with 400 codings of one character."""
    text = f'<TextSource name="s"><PlainTextContent>{"a" * 500}</PlainTextContent>{_selections(400)}'
    note = f'<Note guid="n"><PlainTextContent>{"a" * 500_000}</PlainTextContent></Note>'
    return _project_of(folder, f'{text}<NoteRef targetGUID="n"/></TextSource>', f"<Notes>{note}</Notes>")


def _variables(folder: Path) -> Path:
    """A text with 3,500 variables and 3,500 codings, each a row with a cell for every variable."""
    text = f'<TextSource name="s"><PlainTextContent>{"a" * 6000}</PlainTextContent>{_selections(3500)}'
    values = "".join(
        f'<VariableValue><VariableRef targetGUID="{n}"/><TextValue>1</TextValue></VariableValue>'
        for n in range(3500)
    )
    return _project_of(folder, f"{text}{values}</TextSource>")


def _project_of(folder: Path, sources: str, notes: str = "") -> Path:
    path = folder / "p.qdpx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        codes = '<CodeBook><Codes><Code guid="c" name="C"/></Codes></CodeBook>'
        archive.writestr("project.qde", f"<Project>{codes}<Sources>{sources}</Sources>{notes}</Project>")
        archive.writestr("Sources/a.txt", "a" * 500_000)
    return path


def _keys_of_their_own(folder: Path, count: int = 3500, each: int = 1) -> Path:
    """Tasks with a key of its own each: every row would have a cell for each of them."""
    tasks = [
        {"data": {"text": "a", **{f"k{n}_{i}": 1 for i in range(each)}}, "annotations": []}
        for n in range(count)
    ]
    path = folder / "p.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def _more_keys_than_columns(folder: Path) -> Path:
    """Few tasks with more keys than a table has columns, which was seen once all rows were made."""
    return _keys_of_their_own(folder, 200, 170)


@pytest.mark.parametrize(
    "build",
    [_overlapping, _shared_part, _repeated_note, _variables, _keys_of_their_own, _more_keys_than_columns],
)
def test_a_small_file_that_asks_for_gigabytes_is_one_sentence(
    tmp_path: Path, build: Callable[[Path], Path]
) -> None:
    path = build(tmp_path)
    assert path.stat().st_size < 3_000_000
    tracemalloc.start()
    try:
        with pytest.raises(UserError) as caught:
            open_table(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_codings_that_overlap_as_those_of_people_are_read(tmp_path: Path) -> None:
    text = f'<TextSource name="s"><PlainTextContent>{"a" * 5000}</PlainTextContent>{_selections(400)}'
    assert open_table(_project_of(tmp_path, f"{text}</TextSource>")).estimated_rows == 400


@pytest.mark.parametrize(
    "item",
    [
        {
            "data": {"text": "a"},
            "annotations": [1, None, {"result": 5}, {"result": [{"value": {"choices": [[1]]}}]}],
        },
        {
            "data": {"text": "a"},
            "annotations": [],
            "meta": {"sce_desktop": {"labels": 5, "note": [1], "flag": "x"}},
        },
        {
            "fields": {"text": "a"},
            "responses": {"q": [{"value": {"a": 1}, "user_id": 5}, 7]},
            "metadata": {"sce_desktop": "{["},
        },
        {"fields": {"text": "a"}, "responses": {"q": 5}, "suggestions": {}, "metadata": 3},
    ],
)
def test_odd_json_says_nothing_and_stops_nothing(tmp_path: Path, item: dict[str, Any]) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([item, 5]), encoding="utf-8")
    with imported(path) as project:
        assert project.texts([1]) == ["a"]
        assert project.state_counts()["labelled"] == 0
