"""A large table is scored at random first: what a sample says is known long before all rows are scored.

The order is the rows on the screen, then a random sample, then the rest in file order. The sample is a
property of the table (`core.sampling`): whoever continues a scoring continues the same sample, and what is
made of it is read off the project. Its order is random too, so that its beginning is a smaller sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import N_, _, number
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Run
from sce_desktop.core.sampling import first_in_random_order
from sce_desktop.core.scoring import chosen
from sce_desktop.core.text import duration, isolated, share_text

if TYPE_CHECKING:
    from sce_desktop.store.project import Project

SAMPLE_ROWS: Final = 2000
"""At a share of one half the margin of error is 2.2 points."""
SAMPLE_FROM: Final = 10_000
"""Tables of no more rows with text are scored in order: they take minutes."""
REPORT_FROM_S: Final = 60.0
"""Nothing is reported where the rest takes no longer."""
_SHOWN: Final = 4  # labels that the sentence names
_NONE: Final = N_("none of these")
_BASELINES: Final = {"similarity": N_("Similarity"), "llm": N_("the LLM")}


@dataclass(frozen=True, slots=True)
class SampleReport:
    """What the random sample of a table says, as soon as it is scored.

    ``shares`` has every label, and "none of these" where the model says so, the most frequent first. Where
    rows may have several labels the shares need not sum to 1. ``disagree`` is the share of its rows for which
    the baseline ``beside`` predicts another label; None: none was asked.
    """

    project: Path
    run_id: int
    rows: int
    total: int  # rows with text
    shares: tuple[tuple[str, float], ...]
    seconds_left: float
    beside: str = ""
    disagree: float | None = None

    def sentence(self, *, background: bool = True) -> str:
        """Return it in words; ``background``: scoring goes on behind the window."""
        counts = {"rows": number(self.rows), "total": number(self.total), "shares": self._shares()}
        time = duration(self.seconds_left)
        if self.disagree is None:
            found = _("{rows} of {total} rows scored at random: {shares}.", **counts)
        else:
            found = _(
                "{rows} of {total} rows scored at random: {shares}; {share} disagree with {model}.",
                share=share_text(self.disagree),
                model=_(_BASELINES[self.beside]) if self.beside in _BASELINES else self.beside,
                **counts,
            )
        if background:
            rest = _("The rest takes about {time} in the background.", time=time)
        else:
            rest = _("The rest takes about {time}.", time=time)
        return f"{found} {rest}"

    def _shares(self) -> str:
        named = [
            _("{label} {share}", label=isolated(name), share=share_text(share))
            for name, share in self.shares[:_SHOWN]
        ]
        if len(self.shares) > _SHOWN:
            named.append("…")
        return ", ".join(named)


OnSample = Callable[[SampleReport], object]
"""Called in the thread that scores, once a run, when its sample is through and the rest takes long."""


def sample_ids(row_ids: IdArray) -> IdArray:
    """Return the random sample of the rows with text, ``row_ids``, in its order; none of a small table."""
    if len(row_ids) <= SAMPLE_FROM:
        return np.empty(0, dtype=np.int64)
    return first_in_random_order(row_ids, SAMPLE_ROWS)


def project_sample(project: Project) -> tuple[IdArray, int]:
    """Return the `sample_ids` of a project and the number of its rows with text."""
    row_ids = project.row_ids(RowQuery(blank=False))
    return sample_ids(row_ids), len(row_ids)


def seconds_left(seconds: Sequence[float], scored: Sequence[int], left: Sequence[int]) -> float:
    """Return the seconds that the rows which are ``left`` to each model take; 0 if no model scored any.

    A model that scored its part of the sample before is taken to be as slow as the slowest of the others.

    Args:
        seconds: That each model took for its rows of the sample.
        scored: How many these were.
        left: Rows that each has yet to score.
    """
    each = [took / rows if rows else None for took, rows in zip(seconds, scored, strict=True)]
    known = [one for one in each if one is not None]
    if not known:
        return 0.0
    return sum((max(known) if one is None else one) * rows for one, rows in zip(each, left, strict=True))


def report(
    project: Project, runs: Sequence[Run], sample: IdArray, total: int, *, seconds_left: float
) -> SampleReport | None:
    """Read what the first of ``runs`` predicts for the scored rows of ``sample``; None: it scored none.

    The first of the other runs that has scored them all, with the same labels, is what it is compared with.
    """
    main, *others = runs
    found = project.scores(main.id, sample)
    if not found:
        return None
    ids = np.sort(np.fromiter(found, dtype=np.int64, count=len(found)))
    none = np.isin(ids, project.unfitting_ids(main.id))
    top = np.array([found[row_id].top for row_id in ids.tolist()])
    names = main.label_names
    if main.multi_label:
        given = chosen(
            np.stack([found[row_id].probabilities for row_id in ids.tolist()]), threshold=project.threshold()
        )
        shares = dict(zip(names, given.mean(axis=0).tolist(), strict=True))
    else:
        counts = np.bincount(top[~none], minlength=len(names))
        shares = dict(zip(names, (counts / len(ids)).tolist(), strict=True))
    if none.any():
        shares[_(_NONE)] = float(none.mean())
    beside, disagree = "", None
    for other in others:
        said = project.scores(other.id, ids)
        if len(said) == len(ids) and other.labels == main.labels and not main.multi_label:
            theirs = np.array([said[row_id].top for row_id in ids.tolist()])
            beside, disagree = other.alias, float((theirs != top).mean())
            break
    ranked = tuple(sorted(shares.items(), key=lambda item: -item[1]))
    return SampleReport(project.path, main.id, len(ids), total, ranked, seconds_left, beside, disagree)
