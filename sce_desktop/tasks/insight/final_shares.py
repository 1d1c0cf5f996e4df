"""How the final labels of a project are spread: a count over rows, beside the shares that are estimated."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sce_desktop.core.i18n import _, listed, ngettext, number
from sce_desktop.core.labels import roll_up
from sce_desktop.core.query import FinalSource
from sce_desktop.core.text import isolated, share_text
from sce_desktop.store.project import Project
from sce_desktop.store.runs.final import SOURCES
from sce_desktop.tasks.insight.findings import NONE_NAME
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.models import MAIN_ALIAS

SHOWN = 6  # labels that are named; the others by their number


@one_state
def final_counts(project: Project, *, rolled: bool = False) -> tuple[Counter[str], int, int]:
    """Return how many rows have each final label, how many are to be reviewed, and how many have text.

    Args:
        project: In which a row has one label.
        rolled: Count labels named "Parent > Child" as "Parent".
    """
    label_set, run = project.label_set(), project.active_run(MAIN_ALIAS)
    labels = label_set.labels if label_set else ()
    names = {label.id: label.name for label in labels}
    tops = roll_up(names.values())
    ids, codes = project.final_sources(run.id if run else None)
    found: Counter[str] = Counter()
    for label_id, rows in project.annotation_counts().items():
        if label_id in names:
            found[names[label_id]] += rows
    annotated = int((codes == SOURCES.index(FinalSource.ANNOTATOR)).sum())
    found[_(NONE_NAME)] += annotated - found.total()
    if run is not None:
        arrays = project.run_arrays(run.id)
        by_model = np.isin(arrays.row_ids, ids[codes == SOURCES.index(FinalSource.MODEL)])
        for place, rows in enumerate(np.bincount(arrays.top[by_model], minlength=len(run.labels)).tolist()):
            if rows:
                found[names[run.labels[place].id]] += rows
    review = int((codes == SOURCES.index(FinalSource.NONE)).sum())
    if rolled:
        merged: Counter[str] = Counter()
        for name, rows in found.items():
            merged[tops.get(name, name)] += rows
        found = merged
    return +found, review, len(ids)


def final_sentence(project: Project, *, rolled: bool = False) -> str:
    """Say in a sentence how final labels are spread; empty where a row may have several."""
    label_set = project.label_set()
    if label_set is None or label_set.multi_label:
        return ""
    found, review, rows = final_counts(project, rolled=rolled)
    shown = [
        _("{label} {share}", label=isolated(name), share=share_text(count / max(1, rows)))
        for name, count in found.most_common(SHOWN)
    ]
    if (more := len(found) - SHOWN) > 0:
        shown.append(ngettext("{count} more label", "{count} more labels", more))
    if review or not shown:
        shown.append(
            _("to review {share} ({rows})", share=share_text(review / max(1, rows)), rows=number(review))
        )
    return _("Final labels: {shares}.", shares=listed(shown))
