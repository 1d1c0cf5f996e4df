"""Labels named "Parent > Child" as groups: in which order the list shows them, and how they move in it.

A group is the labels with one topmost parent (`core.labels.roll_up`), as metrics and reports roll them up. A
label without a parent or a child is a span of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sce_desktop.core.annotations import Label
from sce_desktop.core.labels import PARENT_SIGN, roll_up


@dataclass(frozen=True, slots=True)
class Span:
    """Places ``start`` to ``end`` (exclusive) of the list; ``parent`` is empty for a label that has none."""

    start: int
    end: int
    parent: str = ""


def grouped(labels: Sequence[Label]) -> tuple[tuple[Label, ...], tuple[Span, ...]]:
    """Return the labels with those of a group side by side, each group where its first label is."""
    top = roll_up(label.name for label in labels)
    parents = {parent for name, parent in top.items() if name != parent}
    members: dict[tuple[str, int], list[Label]] = {}
    for place, label in enumerate(labels):
        parent = top[label.name]
        members.setdefault((parent, -1) if parent in parents else ("", place), []).append(label)
    ordered: list[Label] = []
    spans = []
    for (parent, _), inside in members.items():
        spans.append(Span(len(ordered), len(ordered) + len(inside), parent))
        ordered += inside
    return tuple(ordered), tuple(spans)


def ids_in(labels: Sequence[Label], parents: Collection[str]) -> frozenset[int]:
    """Return the ids of the labels in the groups of ``parents``: a group without its name."""
    top = roll_up(label.name for label in labels)
    return frozenset(label.id for label in labels if label.id is not None and top[label.name] in parents)


def parents_of(labels: Sequence[Label], ids: Collection[int]) -> frozenset[str]:
    """Return the groups that the labels ``ids`` are in now."""
    top = roll_up(label.name for label in labels)
    return frozenset(top[label.name] for label in labels if label.id in ids and top[label.name] != label.name)


def short_name(name: str, parent: str) -> str:
    """What a label of the group ``parent`` is called below its heading."""
    return name.removeprefix(parent + PARENT_SIGN) if parent else name


def moved(labels: Sequence[Label], spans: Sequence[Span], place: int, before: int) -> list[Label]:
    """Return ``labels``, ordered as by `grouped`, with the one at ``place`` put before ``before``.

    Out of its group a label takes the whole group along, and none goes into the midst of another group.
    """
    start, end = place, place + 1
    own = next(span for span in spans if span.start <= place < span.end)
    if not own.start <= before <= own.end:
        start, end = own.start, own.end
        into = next((span for span in spans if span.start < before < span.end), None)
        if into is not None:
            before = into.end if before > end else into.start
    rest = [*labels[:start], *labels[end:]]
    at = before - (end - start if before >= end else 0)
    return [*rest[:at], *labels[start:end], *rest[at:]]
