"""What models predict for one row, put together for each label."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from sce_desktop.controllers import rows_data, rows_text
from sce_desktop.controllers.rows_data import Score
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.i18n import _
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.ui.rows.row_labels import Bar, LabelLine, LazyLines


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
    main = scores[0] if scores and scores[0].run.alias == MAIN_ALIAS else None
    shares = [rows_data.shares(score, labels) for score in scores]
    titles = [_title(score) for score in scores]

    def line(place: int) -> LabelLine:
        label = labels[place]
        assert label.id is not None  # it is the project's
        bars = tuple(
            Bar(title, float(of_label[place]), score is main)
            for title, of_label, score in zip(titles, shares, scores, strict=True)
            if not np.isnan(of_label[place])
        )
        key = keys.get(label.id, "")
        return LabelLine(label.id, label.name, colour_of(label), key, bars, label.id in chosen)

    return LazyLines(line, rows_data.best_first(main, labels)), titles


def _title(score: Score) -> str:
    title = rows_text.run_title(score.run)
    return _("{model} (older)", model=title) if score.stale else title
