"""What people do to a project, drawn at random and the same again from the same seed.

So whoever knows how many actions were acknowledged can do them again on a copy, and knows what must be there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import bulk

ROWS = 120
LABELS = ("late", "damaged", "rude", "refund")
STEP = 15  # rows of one part of a bulk action
State = dict[str, Any]


def fill(project: Project) -> None:
    """Give a new project the rows and labels that the actions are about."""
    rows = [(str(number), f"text of row {number}") for number in range(ROWS)]
    project.add_rows(("id", "text"), [rows], text_columns=[1], source={})
    project.set_labels([Label(name) for name in LABELS])


def state_of(project: Project) -> State:
    """Return everything that people made, in words: no moments, which differ each time."""
    ids = project.row_ids()
    label_set = project.label_set()
    labels = label_set.labels if label_set else ()
    names = {label.id: label.name for label in labels}
    return {
        "rows": len(ids),
        "labels": [(label.name, label.description, label.synonyms) for label in labels],
        "annotations": {
            row: (str(found.decision), sorted(names[i] for i in found.label_ids), str(found.origin))
            for row, found in project.annotations(ids).items()
        },
        "marks": {row: (one.unsure, one.flag, one.note) for row, one in project.marks(ids).items()},
        "former": project.former_labels(ids),
        "audits": [project.audit_rows(audit.id).tolist() for audit in project.audits()],
        "coders": {
            coder.name: sorted(map(str, project.coder_answers(coder.id).items()))
            for coder in project.coders()
        },
        "repeats": [(one.row_id, str(one.first), str(one.second)) for one in project.repeats()],
        "undo": project.undo_text(),
        "redo": project.redo_text(),
    }


def actions(project: Project, seed: int) -> Iterator[str]:
    """Do one action after the other, without end; give the name of each when the program has done it."""
    draw = random.Random(seed)
    bulk.STEP = STEP  # type: ignore[misc]
    for number in range(10**9):
        action = draw.choices(list(_ACTIONS), list(_ACTIONS.values()))[0]
        if action not in _WITHOUT_LABELS and not _labels(project):  # they were undone, too
            action = _add_label
        action(project, draw, number)
        yield action.__name__.strip("_")


def _labels(project: Project) -> list[Label]:
    label_set = project.label_set()
    return list(label_set.labels) if label_set else []


def _some(draw: random.Random, most: int) -> list[int]:
    return draw.sample(range(1, ROWS + 1), draw.randint(1, most))


def _decide(project: Project, draw: random.Random, _number: int) -> None:
    labels = _labels(project)
    decision = draw.choices(list(Decision), [8, 1, 1])[0]
    chosen = [draw.choice(labels).id or 0] if decision is Decision.LABEL else []
    project.decide(_some(draw, 3), decision, chosen)


def _note(project: Project, draw: random.Random, number: int) -> None:
    project.set_marks(_some(draw, 1)[0], note=f"note {number} – é", flag=draw.random() < 0.5)


def _clear(project: Project, draw: random.Random, _number: int) -> None:
    project.clear_decision(_some(draw, 3))


def _accept_in_bulk(project: Project, draw: random.Random, _number: int) -> None:
    answers = {row: (draw.choice(_labels(project)).id or 0,) for row in _some(draw, ROWS)}
    bulk.decide_all(project, answers, queue="accepted predictions", progress=SilentProgress())


def _undo(project: Project, _draw: random.Random, _number: int) -> None:
    project.undo()


def _redo(project: Project, _draw: random.Random, _number: int) -> None:
    project.redo()


def _rename_label(project: Project, draw: random.Random, number: int) -> None:
    labels = _labels(project)
    place = draw.randrange(len(labels))
    labels[place] = replace(labels[place], name=f"label {number}", description="renamed")
    project.set_labels(labels)


def _add_label(project: Project, _draw: random.Random, number: int) -> None:
    project.set_labels([*_labels(project), Label(f"new {number}", synonyms=(f"synonym {number}",))])


def _merge_labels(project: Project, draw: random.Random, _number: int) -> None:
    labels = _labels(project)
    if len(labels) > 3:
        one, other = draw.sample(labels, 2)
        project.merge_labels([one.id or 0], other.id or 0)


def _delete_label(project: Project, draw: random.Random, _number: int) -> None:
    labels = _labels(project)
    if len(labels) > 3:
        one, other = draw.sample(labels, 2)
        project.delete_label(one.id or 0, move_to=draw.choice([None, other.id]))


def _split_label(project: Project, draw: random.Random, number: int) -> None:
    label = draw.choice(_labels(project))
    project.split_label(label.id or 0, [Label(f"part {number}a"), Label(f"part {number}b")])


def _draw_sample(project: Project, draw: random.Random, number: int) -> None:
    project.create_audit(_some(draw, 8), number)


def _add_annotator(project: Project, draw: random.Random, number: int) -> None:
    answers = {row: draw.choice([*LABELS, None]) for row in _some(draw, 20)}
    project.add_coder(f"annotator {number}", "a.csv", answers)


def _label_again(project: Project, draw: random.Random, _number: int) -> None:
    may = project.repeatable_ids(0).tolist()
    by_hand = sorted(set(may) & set(project.annotations(may)))  # their own order is that of moments
    if by_hand:
        project.add_repeat(draw.choice(by_hand), [draw.choice(_labels(project)).id or 0])


_ACTIONS: dict[Callable[[Project, random.Random, int], None], int] = {
    _decide: 40,
    _note: 12,
    _clear: 4,
    _accept_in_bulk: 6,
    _undo: 16,
    _redo: 6,
    _rename_label: 3,
    _add_label: 3,
    _merge_labels: 3,
    _delete_label: 2,
    _split_label: 2,
    _draw_sample: 1,
    _add_annotator: 1,
    _label_again: 3,
}
_WITHOUT_LABELS = (_undo, _redo, _add_label)
