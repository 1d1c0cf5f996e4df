"""Work on labels that looks at many rows: labels of a column, one label taking over others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from sce_desktop.core.annotations import Label, LabelSet
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.labels import label_key, look_alikes, merged_names
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.columns import cells_of

MOST_VALUES: Final = 1000


def column_labels(project: Project, column: int, *, progress: Progress) -> list[tuple[Label, int]]:
    """Return the distinct values of a column with their rows, in the order in which they first appear.

    Raises:
        UserError: There are more than `MOST_VALUES`, or none.
    """
    counts = Counter[str]()
    name = project.columns[column]
    for _row_id, value in cells_of(project, column, progress):
        if value and not is_blank(value):
            counts[value] += 1
            if len(counts) > MOST_VALUES:
                raise UserError(
                    _(
                        "“{name}” has more than {most} different values, too many for labels: choose another"
                        " column.",
                        name=name,
                        most=number(MOST_VALUES),
                    )
                )
    if not counts:
        raise UserError(_("“{name}” has only empty cells: choose another column.", name=name))
    return [(Label(value), count) for value, count in counts.items()]


def merge_alike(project: Project, first: Iterable[str] = (), *, progress: Progress) -> None:
    """Let the labels of ``project`` that look the same become one: that of most annotated rows.

    Args:
        project: Whose labels.
        first: Names of labels that take over before those of most rows do.
        progress: Told of labels, and of which are one.

    Raises:
        UserError: The project cannot be written.
        Cancelled: The user stopped.
    """
    label_set = project.label_set()
    if label_set is None:
        return
    ids = {label.name: label.id for label in label_set.labels if label.id is not None}
    counts = project.annotation_counts()
    merged = merged_names(
        {name: counts.get(label_id, 0) for name, label_id in ids.items()},
        (name for name in first if name in ids),
    )
    into = {ids[name]: ids[stays] for name, stays in merged.items() if name != stays}
    if into:
        report_merged(merged, progress)
        merge_labels(project, into, progress=progress)


def report_merged(merged: Mapping[str, str], progress: Progress) -> None:
    """Say which names of labels count as one (`core.labels.merged_names`)."""
    for stays in dict.fromkeys(merged.values()):
        others = ", ".join(_shown(name) for name, into in merged.items() if into == stays != name)
        progress.warn(_("Merged into the label {label}: {others}.", label=_shown(stays), others=others))


def _shown(name: str) -> str:
    """Return a name in quotation marks, with what nobody sees in it written out."""
    seen = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return f"“{seen}”"


def report_unmerged(names: Iterable[str], progress: Progress) -> None:
    """Say how labels that look the same can be counted as one, if there are some.

    Those that differ in spaces alone are one already.
    """
    if look_alikes(dict.fromkeys(map(label_key, names))):
        progress.warn(_("Some labels look the same: add --merge-labels to merge them."))


def merge_labels(project: Project, into: Mapping[int, int], *, progress: Progress) -> LabelSet | None:
    """Let labels take over others: their annotations move, with time and origin, and the others go.

    Each label that takes over is a step of its own to undo.

    Args:
        project: Whose labels.
        into: From the id of each label that goes to the id of the label that takes over.
        progress: Told of labels.

    Returns:
        The label set as it is then.

    Raises:
        UserError: The project cannot be written.
        ValueError: A label that takes over goes itself or is not in use.
        Cancelled: The user stopped; labels that took over by then stay so.
    """
    label_set = project.label_set()
    used = {label.id for label in label_set.labels} if label_set else set()
    if label_set is None or not set(into.values()) <= used - into.keys():
        raise ValueError("a label that takes over must stay")
    targets = sorted(set(into.values()))
    for done, target in enumerate(targets, start=1):
        progress.check()
        going = [label_id for label_id in into if into[label_id] == target and label_id in used]
        label_set = project.merge_labels(going, target)
        progress.report(done, len(targets), stage=_("merging"))
    return label_set
