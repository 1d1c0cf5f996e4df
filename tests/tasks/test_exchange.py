"""Files of other annotation tools: what a project's labels become there, and what comes back of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import UserError
from sce_desktop.core.exchange import FORMATS, Exchange
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.data.exchange import doccano, label_studio, qda_xml
from sce_desktop.data.exchange.records import DECIDED_COLUMNS, ExchangeProject, ExchangeRow
from sce_desktop.data.labels_file import read_labels
from sce_desktop.data.tables import open_table
from sce_desktop.project import Project
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS
from sce_desktop.tasks.tables.exchange import export_exchange
from sce_desktop.tasks.tables.tables import import_table

SCHEMA = Path(__file__).parents[1] / "data" / "qda" / "Project.xsd"

"""Of QDA-XML 1.0, as the REFI publishes it under the MIT licence."""

TEXTS = ["The box was crushed. 📦", "late & <lost>\r\n“again”", "thanks!", "why?", "no idea", "late, too"]

LABELS = [
    Label("Late", description="after the day & <hour>", colour="#aa3300"),
    Label("Parcel > Damaged"),
    Label("Praise"),
]


def make(folder: Path, *, multi_label: bool = False) -> Project:
    table = folder / "in.csv"
    lines = [f'{7 * n},"{text}",r{n % 2}' for n, text in enumerate(TEXTS, start=1)]
    table.write_text("id,message,region\n" + "\n".join(lines) + "\n", encoding="utf-8", newline="")
    project = Project.from_table(
        folder / "p.sce", table, text="message", labels=LABELS, multi_label=multi_label
    )
    label_set = project.label_set()
    assert label_set is not None
    late, damaged, praise = (label.id or 0 for label in label_set.labels)
    project.decide([1], Decision.LABEL, [damaged])
    project.decide([2], Decision.LABEL, [late, damaged] if multi_label else [late], origin=Origin.BULK)
    project.decide([3], Decision.NONE)
    project.decide([4], Decision.SKIPPED)
    project.set_marks(1, flag=True, unsure=True, note="see <photo> & call\nback")
    project.add_coder("ann@example.org", "a.csv", {1: "Late", 2: "Late", 3: "Praise", 6: None})
    run = project.open_run("sce", "sce", "tiny", "f" * 8, label_set.labels, multi_label)
    rows = np.array([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]], np.float32)
    project.add_scores(run.id, [1, 2, 3], Scores(rows, None))
    del praise
    return project


@pytest.fixture(params=[False, True], ids=["one label", "several labels"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    with make(tmp_path, multi_label=request.param) as made:
        yield made


def exported(project: Project, kind: Exchange) -> Path:
    path = project.path.with_name("out" + FORMATS[kind].ending)
    progress = SilentProgress()
    export_exchange(project, path, kind, progress=progress)
    assert FORMATS[kind].not_kept in progress.warnings  # what is not kept is said once
    return path


def imported(path: Path, text: str = "text") -> Project:
    import_table(path.with_name("again.sce"), path, text_columns=[text], progress=SilentProgress()).close()
    return Project.open(path.with_name("again.sce"))


def decided(project: Project) -> dict[int, tuple[str, tuple[str, ...]]]:
    """What is decided about each row: the kind, or how it was labelled, and the labels' names."""
    names = {label.id: label.name for label in project.label_set().labels}  # type: ignore[union-attr]
    return {
        row: (
            one.decision if one.decision is not Decision.LABEL else one.origin,
            tuple(names[i] for i in one.label_ids),
        )
        for row, one in project.annotations(project.row_ids()).items()
    }


def others(project: Project) -> dict[str, dict[int, set[str]]]:
    names: dict[int | str, str] = {label.id or 0: label.name for label in project.label_set().labels}  # type: ignore[union-attr]
    return {
        coder.name: {
            row: {names.get(one, str(one)) for one in answer}
            for row, answer in project.coder_answers(coder.id).items()
        }
        for coder in project.coders()
    }


# --- what is kept, format by format ------------------------------------------------------------------------

KEPT = {
    # labels, how they came about, none of these, skipped, marks, note, other annotators, other cells
    Exchange.LABEL_STUDIO: {"labels", "origin", "none", "skipped", "marks", "note", "others", "cells"},
    Exchange.ARGILLA: {"labels", "origin", "none", "skipped", "marks", "note", "others", "cells"},
    Exchange.DOCCANO: {"labels", "note", "cells"},
    Exchange.QDA_XML: {"labels", "none", "note", "others", "cells"},
}


@pytest.mark.parametrize("kind", list(KEPT))
def test_there_and_back(project: Project, kind: Exchange) -> None:
    kept = KEPT[kind]
    wanted = decided(project)
    if "origin" not in kept:
        wanted = {row: (Origin.IMPORTED if labels else how, labels) for row, (how, labels) in wanted.items()}
    if "none" not in kept:
        wanted = {row: one for row, one in wanted.items() if one[0] is not Decision.NONE}
    if "skipped" not in kept:
        wanted = {row: one for row, one in wanted.items() if one[0] is not Decision.SKIPPED}
    with imported(exported(project, kind)) as again:
        ids = project.row_ids()
        assert again.texts(ids) == project.texts(ids)
        found = decided(again)
        assert {row: (how, set(labels)) for row, (how, labels) in found.items()} == {
            row: (how, set(labels)) for row, (how, labels) in wanted.items()
        }
        marks, before = again.marks(ids), project.marks(ids)
        assert marks[1].note == before[1].note
        assert (marks[1].flag, marks[1].unsure) == (("marks" in kept,) * 2)
        wanted_others = others(project)
        if (
            "none" not in kept
            or (kind is Exchange.QDA_XML)
            or (kind is Exchange.ARGILLA and not _several(project))
        ):
            for answers in wanted_others.values():  # that none fits is an answer only where there is a place
                answers.pop(6)
        assert others(again) == (wanted_others if "others" in kept else {})
        place = again.columns.index("region")
        assert [row.cells[place] for row in again.rows(ids)] == [f"r{n % 2}" for n in range(1, 7)]
        if kind is not Exchange.DOCCANO and "origin" in kept:
            assert again.annotations([1])[1].decided_at == project.annotations([1])[1].decided_at
        assert again.undo_text()  # the labels can be undone


def _several(project: Project) -> bool:
    label_set = project.label_set()
    return label_set is not None and label_set.multi_label


def test_the_columns_are_those_of_an_export() -> None:
    assert DECIDED_COLUMNS == DECISION_COLUMNS


def test_a_codebook_there_and_back(project: Project) -> None:
    label_set = project.label_set()
    assert label_set is not None
    found = read_labels(exported(project, Exchange.CODEBOOK))
    assert found == tuple(replace(label, id=None) for label in label_set.labels)
    assert (found[0].description, found[1].name) == ("after the day & <hour>", "Parcel > Damaged")


def test_wrong_endings_and_formats_are_refused(project: Project) -> None:
    with pytest.raises(UserError, match=r"must end in \.qdpx"):
        project.export(project.path.with_name("out.csv"), format="qda-xml")
    with pytest.raises(UserError, match="not a format"):
        project.export(project.path.with_name("out.csv"), format="word")
    path = project.path.with_name("out.json")
    project.export(path, format="argilla")
    with pytest.raises(UserError, match="already exists"):
        project.export(path, format="argilla")
    project.export(path, format="label-studio", overwrite=True)
    assert '<Choice value="Parcel &gt; Damaged"/>' in path.with_name("out.interface.xml").read_text("utf-8")


@pytest.mark.parametrize("kind", [Exchange.DOCCANO, Exchange.LABEL_STUDIO, Exchange.QDA_XML])
@pytest.mark.parametrize(
    "names",
    [
        ("a", "a", "a"),
        ("label_2", "label", "id"),
        ("text_2", "text", "source"),
        ("none of these", "Comments", "Comments_2"),
    ],
)
def test_columns_of_equal_names_are_all_kept(tmp_path: Path, kind: Exchange, names: tuple[str, ...]) -> None:
    columns, path = ("message", *names), tmp_path / ("out" + FORMATS[kind].ending)
    project = ExchangeProject("p", columns, (0,), (Label("A"),), False)
    row = ExchangeRow(1, "words", ("words", "x", "y", "z"), ("A",))
    if kind is Exchange.QDA_XML:
        qda_xml.write_project(path, project, [row])
    else:
        write = doccano.write_lines if kind is Exchange.DOCCANO else label_studio.write_tasks
        path.write_text("".join(write(project, [row])), encoding="utf-8")
    ((cells, *_more),) = open_table(path).batches()
    assert [cell for cell in cells if cell in ("x", "y", "z")] == ["x", "y", "z"]
    assert "words" in cells
    assert "A" in cells


def test_class_labels_are_read_by_their_names(tmp_path: Path) -> None:
    with make(tmp_path) as project:
        path = exported(project, Exchange.HUGGINGFACE)
    table = open_table(path)
    (rows,) = table.batches()
    places = [table.columns.index(name) for name in ("label", "sce_label", "decided")]
    assert [tuple(row[place] for place in places) for row in rows[:4]] == [
        ("Parcel > Damaged", "Parcel > Damaged", "hand"),
        ("Late", "Late", "bulk"),
        (None, "Praise", "hand"),
        (None, None, "skipped"),
    ]
    progress = SilentProgress()
    again = import_table(
        tmp_path / "again.sce", path, text_columns=["message"], gold_column="label", progress=progress
    )
    with again:
        assert {row: labels for row, (_how, labels) in decided(again).items()} == {
            1: ("Parcel > Damaged",),
            2: ("Late",),
        }


# --- each tool's own package or schema, where it is installed ----------------------------------------------


def test_label_studio_takes_the_tasks(project: Project) -> None:
    interfaces = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="label-studio-sdk is not installed"
    )
    path = exported(project, Exchange.LABEL_STUDIO)
    interface = interfaces.LabelInterface(path.with_name("out.interface.xml").read_text(encoding="utf-8"))
    interface.validate()
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert len(tasks) == 6
    for task in tasks:
        assert interface.validate_task({"data": task["data"]})
        assert all(interface.validate_annotation(one) for one in task["annotations"])
        for one in task["predictions"]:
            assert interface.validate_prediction(one, return_errors=True) == []
    wrong = {"result": [{**tasks[0]["annotations"][0]["result"][0], "value": {"choices": ["nobody's"]}}]}
    assert not interface.validate_annotation(wrong)  # so the package does look


def test_argilla_reads_the_records(project: Project) -> None:
    argilla = pytest.importorskip("argilla", reason="argilla is not installed")
    from argilla.records._io import JsonIO

    records = JsonIO._records_from_json(exported(project, Exchange.ARGILLA))
    assert all(isinstance(record, argilla.Record) for record in records)
    first = records[0]
    assert first.fields["text"] == TEXTS[0]
    several = _several(project)
    values = [response.value for response in first.responses["label"]]
    assert values == ([["Parcel > Damaged"], ["Late"]] if several else ["Parcel > Damaged", "Late"])
    assert (first.suggestions["label"].agent, first.suggestions["label"].score) == (
        "tiny",
        [0.7] if several else 0.7,
    )
    written = project.path.with_name("theirs.json")
    JsonIO.to_json(records, written)  # what Argilla writes itself comes back, too
    with imported(written) as again:
        assert {row: set(labels) for row, (_how, labels) in decided(again).items()} == {
            row: set(labels) for row, (_how, labels) in decided(project).items()
        }


def test_datasets_loads_class_labels(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    path = exported(project, Exchange.HUGGINGFACE)
    loaded = datasets.Dataset.from_parquet(str(path), cache_dir=str(tmp_path / "cache"))
    several = _several(project)
    feature = loaded.features["labels"].feature if several else loaded.features["label"]
    assert feature == datasets.ClassLabel(names=["Late", "Parcel > Damaged", "Praise"])
    wanted = [[1], [0, 1], [], None, None, None] if several else [1, 0, None, None, None, None]
    assert loaded["labels" if several else "label"][:] == wanted
    assert loaded.features["sce_label"].int2str(loaded["sce_label"][0]) == "Parcel > Damaged"
    assert loaded["message"][:] == TEXTS


@pytest.mark.parametrize("checker", ["lxml", "xmlschema"])
def test_the_schema_of_qda_xml(project: Project, checker: str) -> None:
    """The schema has the codebook as an element of projects; of codebook files nobody publishes another."""
    with zipfile.ZipFile(exported(project, Exchange.QDA_XML)) as archive:
        xml = archive.read("project.qde")
        texts = [name for name in archive.namelist() if name.startswith("Sources/")]
    codebook = exported(project, Exchange.CODEBOOK).read_text(encoding="utf-8")
    inner = codebook[codebook.index("<Codes>") : codebook.index("</CodeBook>")]
    wrapped = (
        f'<Project xmlns="urn:QDA-XML:project:1.0" name="p"><CodeBook>{inner}</CodeBook></Project>'.encode()
    )
    assert len(texts) == 6
    if checker == "lxml":
        etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
        schema = etree.XMLSchema(etree.parse(SCHEMA))
        for one in (xml, wrapped):
            schema.assertValid(etree.fromstring(one))
    else:
        xmlschema = pytest.importorskip("xmlschema", reason="xmlschema is not installed")
        schema = xmlschema.XMLSchema(SCHEMA)
        for one in (xml, wrapped):
            schema.validate(one.decode())
