"""A project goes to another tool as a file, people work on it there, and it comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.exchange import Exchange
from sce_desktop.project import Project

USER = "0e7a1f6e-1111-4222-8333-444455556666"
TEXTS = ["crushed", "late", "late and crushed", "why?", "thanks", "hm"]


def make(folder: Path) -> Project:
    table = folder / "in.csv"
    table.write_text("message\n" + "\n".join(f'"{text}"' for text in TEXTS) + "\n", encoding="utf-8")
    project = Project.from_table(
        folder / "p.sce", table, text="message", labels=[Label("Late"), Label("Damaged")]
    )
    _late, damaged = (label.id or 0 for label in project.label_set().labels)  # type: ignore[union-attr]
    project.decide([1], Decision.LABEL, [damaged])
    project.decide([2], Decision.LABEL, [damaged])
    project.decide([3], Decision.LABEL, [damaged], origin=Origin.BULK)
    project.decide([5], Decision.SKIPPED)
    project.decide([6], Decision.NONE)
    project.add_coder("Ann", "a.csv", {1: "Late", 4: "Late"})
    return project


def answers(project: Project) -> dict[int, tuple[Any, ...]]:
    names = {label.id: label.name for label in project.label_set().labels}  # type: ignore[union-attr]
    found = project.annotations(project.row_ids())
    return {row: (one.decision, one.origin, *(names[i] for i in one.label_ids)) for row, one in found.items()}


def others(project: Project) -> dict[str, set[int]]:
    return {coder.name: set(project.coder_answers(coder.id)) for coder in project.coders()}


WANTED = {
    1: (Decision.LABEL, Origin.HAND, "Damaged"),
    2: (Decision.LABEL, Origin.IMPORTED, "Late"),  # changed there
    3: (Decision.LABEL, Origin.BULK, "Damaged"),  # another person's view beside ours does not replace it
    4: (Decision.LABEL, Origin.IMPORTED, "Damaged"),  # had no label of ours, only one of Ann's
    5: (Decision.LABEL, Origin.IMPORTED, "Late"),  # skipped here, labelled there
    6: (Decision.NONE, Origin.HAND),
}


def test_what_is_labelled_in_label_studio_comes_back(tmp_path: Path) -> None:
    with make(tmp_path) as project:
        project.export(tmp_path / "out.json", format=Exchange.LABEL_STUDIO)
    items = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    def made(label: str) -> dict[str, Any]:
        region = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        return {"result": [region], "was_cancelled": False}

    items[1]["annotations"][0]["result"][0]["value"]["choices"] = ["Late"]
    items[2]["annotations"].append(made("Late"))
    items[3]["annotations"].append(made("Damaged"))
    items[4]["annotations"] = [made("Late")]
    for item in items:
        for one in item["annotations"]:  # as Label Studio stores them: by number, without fields of others
            one.pop("annotator", None)
            one["completed_by"] = 1
    path = tmp_path / "out.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    with Project.from_table(tmp_path / "again.sce", path, text="text") as again:
        assert answers(again) == WANTED
        assert others(again) == {"Ann": {1, 4}, "1": {3}}  # her name is back


def test_what_is_labelled_in_argilla_comes_back(tmp_path: Path) -> None:
    with make(tmp_path) as project:
        project.export(tmp_path / "out.json", format=Exchange.ARGILLA)
    items = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    def made(label: str) -> dict[str, Any]:
        return {"value": label, "user_id": USER, "status": "submitted"}

    items[1]["responses"]["label"] = [made("Late")]
    items[2]["responses"]["label"].append(made("Late"))
    items[3]["responses"]["label"].append(made("Damaged"))
    items[4]["responses"] = {"label": [made("Late")]}
    items[4]["status"] = "completed"
    path = tmp_path / "out.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    with Project.from_table(tmp_path / "again.sce", path, text="text") as again:
        assert answers(again) == WANTED
        assert others(again) == {"Ann": {1, 4}, USER: {3}}
