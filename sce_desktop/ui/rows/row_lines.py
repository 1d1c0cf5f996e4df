"""What models predict for one row, put together for each label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.controllers import rows_data, rows_text
from sce_desktop.controllers.labels_groups import grouped, short_name
from sce_desktop.controllers.rows_data import Score
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.ui.rows.label_line import Bar, GroupLine, LabelLine, LazyLines, Listing

if TYPE_CHECKING:
    from sce_desktop.store.project import Project


def scores_of_row(project: Project, row_id: int, runs: Sequence[Run], labels: Sequence[Label]) -> list[Score]:
    """Return the scores that ``runs`` have of a row, in their order; those that have none are left out."""
    found = (rows_data.scores_of(project, [row_id], run, tuple(labels)) for run in runs)
    return [scores[row_id] for scores in found if row_id in scores]


def label_lines(
    labels: Sequence[Label], scores: Sequence[Score], chosen: Collection[int], keys: Mapping[int, str]
) -> tuple[LazyLines, list[str]]:
    """Return the lines of ``labels``, best first, and the names of their bars.

    Args:
        labels: Those of the project.
        scores: Of the row, one a model.
        chosen: Ids of the labels that the row has.
        keys: Of labels that have one of their own, by id.
    """
    main = _main(scores)
    make = _maker(labels, scores, chosen, keys)
    return LazyLines(make, rows_data.best_first(main, labels)), [_title(score) for score in scores]


def label_listing(
    labels: Sequence[Label],
    scores: Sequence[Score],
    chosen: Collection[int],
    keys: Mapping[int, str],
    folded: Collection[str],
) -> Listing:
    """Return the lines of ``labels`` as their list has them; groups whose parents are ``folded`` are closed.

    The other arguments are those of `label_lines`. A group has the sum of the probabilities of its labels or,
    where a row may have several labels, the highest of them.
    """
    ordered, spans = grouped(labels)
    main = _main(scores)
    shares = None if main is None else np.nan_to_num(rows_data.shares(main, ordered))
    entries: list[GroupLine | tuple[int, str]] = []
    for span in spans:
        closed = bool(span.parent) and span.parent in folded
        if span.parent:
            part = None if shares is None else shares[span.start : span.end]
            several = main is not None and main.run.multi_label
            share = None if part is None else float(part.max() if several else min(1.0, part.sum()))
            entries.append(GroupLine(span.parent, span.end - span.start, share, closed))
        if not closed:
            entries += [
                (place, short_name(ordered[place].name, span.parent) if span.parent else "")
                for place in range(span.start, span.end)
            ]
    return Listing(_maker(ordered, scores, chosen, keys), entries)


def _main(scores: Sequence[Score]) -> Score | None:
    return scores[0] if scores and scores[0].run.alias == MAIN_ALIAS else None


def _maker(
    labels: Sequence[Label], scores: Sequence[Score], chosen: Collection[int], keys: Mapping[int, str]
) -> Callable[..., LabelLine]:
    main = _main(scores)
    shares = [rows_data.shares(score, labels) for score in scores]
    titles = [_title(score) for score in scores]

    def line(place: int, short: str = "") -> LabelLine:
        label = labels[place]
        assert label.id is not None  # it is the project's
        bars = tuple(
            Bar(title, float(of_label[place]), score is main)
            for title, of_label, score in zip(titles, shares, scores, strict=True)
            if not np.isnan(of_label[place])
        )
        key = keys.get(label.id, "")
        return LabelLine(label.id, label.name, colour_of(label), key, bars, label.id in chosen, short)

    return line


def _title(score: Score) -> str:
    title = rows_text.run_title(score.run)
    if score.draft:
        return _("{model} (draft)", model=title)
    return _("{model} (older)", model=title) if score.stale else title
