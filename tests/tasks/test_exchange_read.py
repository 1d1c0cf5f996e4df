"""Files as other annotation tools write them."""

from __future__ import annotations

import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Decision, Origin
from sce_desktop.data.exchange.records import majority
from sce_desktop.data.tables import open_table
from tests.tasks.test_exchange import decided, imported, others


def test_label_studio_with_several_annotators(tmp_path: Path) -> None:
    def result(*names: str) -> list[dict[str, Any]]:
        return [{"from_name": "s", "to_name": "t", "type": "choices", "value": {"choices": list(names)}}]

    def by(who: str, *names: str) -> dict[str, Any]:
        return {"completed_by": {"id": 1, "email": who}, "result": result(*names), "was_cancelled": False,
                "created_at": "2026-01-02T03:04:05.000000Z"}  # fmt: skip

    tasks = [
        {
            "id": 1,
            "data": {"text": "a", "n": 5},
            "annotations": [by("x@e.org", "A"), by("y@e.org", "B"), by("z@e.org", "A")],
        },
        {
            "id": 2,
            "data": {"text": "b", "label": "own"},
            "annotations": [by("x@e.org", "A"), by("y@e.org", "B")],
        },
        {
            "id": 3,
            "data": {"text": "c"},
            "annotations": [{"result": [], "was_cancelled": True, "completed_by": 4}],
        },
        {
            "id": 4,
            "data": {"text": "d"},
            "annotations": [],
            "predictions": [{"result": result("A"), "score": 0.5}],
        },
    ]
    path = tmp_path / "ls.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    with imported(path) as project:
        assert decided(project) == {1: (Origin.IMPORTED, ("A",)), 3: (Decision.SKIPPED, ())}
        assert others(project) == {
            "x@e.org": {1: {"A"}, 2: {"A"}},
            "y@e.org": {1: {"B"}, 2: {"B"}},
            "z@e.org": {1: {"A"}},
        }
        assert project.columns == ("text", "n", "label")
        assert project.annotations([1])[1].decided_at.startswith("2026-01-02T03:04:05")
    table = open_table(path)
    assert table.annotated
    assert table.columns[3:5] == ("label_2", "decided")


def test_majority() -> None:
    assert majority([("A",), ("B",), ("A",)]) == ("A",)
    assert majority([("A",), ("B",)]) is None
    assert majority([]) is None
    assert majority([()]) == ()


def test_doccano_lines_and_lines_like_them(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    lines = [
        {"id": 3, "text": "a", "label": ["X"], "Comments": ["hm"], "page": 2},
        {"id": 4, "text": "b", "label": [], "Comments": []},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with imported(path) as project:
        assert decided(project) == {1: (Origin.IMPORTED, ("X",))}
        assert project.marks([1])[1].note == "hm"
        assert project.columns == ("id", "text", "page")
    path.write_text('{"text": "a", "label": ["X", "Y"]}\n', encoding="utf-8")
    assert not open_table(path).annotated  # any other table: its column of lists is read as ever


def test_a_coded_interview_becomes_rows_of_its_coded_parts(tmp_path: Path) -> None:
    guids = {name: str(uuid.uuid4()).upper() for name in ("doc", "a", "b", "u", "s1", "s2", "c1", "c2")}
    xml = """<?xml version="1.0" encoding="utf-8"?>
<Project xmlns="urn:QDA-XML:project:1.0" name="p" origin="Other 1.0">
<Users><User guid="{u}" name="Ben"/></Users>
<CodeBook><Codes><Code guid="{a}" name="Fear" isCodable="true" color="#FF0000">
<Code guid="{b}" name="Loss" isCodable="true"/></Code></Codes></CodeBook>
<Sources><TextSource guid="{doc}" name="Interview" plainTextPath="internal://{doc}.txt">
<PlainTextSelection guid="{s1}" startPosition="0" endPosition="5">
<Coding guid="{c1}" creatingUser="{u}"><CodeRef targetGUID="{a}"/></Coding></PlainTextSelection>
<PlainTextSelection guid="{s2}" startPosition="6" endPosition="99">
<Coding guid="{c2}" creatingUser="{u}"><CodeRef targetGUID="{{{b}}}"/></Coding></PlainTextSelection>
</TextSource><PictureSource guid="{s1}"/></Sources></Project>""".format(**guids)
    path = tmp_path / "p.qdpx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.qde", xml)
        archive.writestr(f"Sources/{guids['doc']}.txt", "I was afraid".encode("utf-8-sig"))
    table = open_table(path)
    assert any("1 source that is not a text" in note for note in table.notes)
    with imported(path) as project:
        assert [row.cells for row in project.rows([1, 2])] == [
            ("Interview", "0", "5", "I was"),
            ("Interview", "6", "12", "afraid"),
        ]
        assert decided(project) == {1: (Origin.IMPORTED, ("Fear",)), 2: (Origin.IMPORTED, ("Fear > Loss",))}
