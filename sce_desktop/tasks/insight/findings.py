"""What the texts say: the share of every label over the table, by a column, over time, with examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.estimates import Line, Share, part_share, sample_share, with_known, within_bounds
from sce_desktop.core.i18n import N_, _, ngettext
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import Cell
from sce_desktop.store.project import Project
from sce_desktop.store.runs.large_arrays import let_go
from sce_desktop.tasks.evaluation.evidence import Evidence

NONE_NAME = N_("none of these")
EMPTY_NAME = N_("(empty)")
OTHER_NAME = N_("(other values)")
MOST_GROUPS = 30
FEWEST_SAMPLED = 10
"""A part with fewer sampled rows gets no interval: it would tell hardly more than 0 to 1."""
_BATCH = 5000
_AT_ONCE = 100_000  # rows of a sum


@dataclass(frozen=True, slots=True)
class LabelShare:
    """One answer's share of a table, or of a part of it."""

    name: str
    share: Share
    decided: int  # rows that a person gave this answer
    predicted: int  # other rows for which the model puts it first


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the table and the shares in it, in the order of the answers."""

    name: str
    rows: int
    sampled: int  # of the random sample, as far as it is decided
    shares: tuple[LabelShare, ...]

    def figure(self, answer: int, *, counts: bool) -> Share:
        """Return the share of an answer, or with ``counts`` its estimated number of rows."""
        share = self.shares[answer].share
        return share.as_count(self.rows) if counts else share


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Shares over the whole table and, if a column was given, over its values or periods.

    Shares of single-label projects are estimated one by one: they sum to about 1, not to exactly 1.
    """

    rows: int
    decided: int
    sampled: int
    answers: tuple[str, ...]  # the labels, then `NONE_NAME`
    whole: Group
    column: str = ""
    groups: tuple[Group, ...] = ()
    codes: IdArray | None = None  # (n,) which of ``groups`` a row belongs to, -1: to none
    unreadable: int = 0  # rows whose date could not be read
    basis: str = ""  # a sentence: what the figures rest on


def find(
    evidence: Evidence,
    *,
    alias: str = "",
    column: str = "",
    codes: IdArray | None = None,
    names: Sequence[str] = (),
    unreadable: int = 0,
    progress: Progress | None = None,
) -> Findings:
    """Estimate the shares from ``evidence``.

    Args:
        evidence: Decisions, the random sample, probabilities.
        alias: Whose probabilities help; the empty string: none.
        column: Name of what ``codes`` tells apart.
        codes: (n,) for each row its place in ``names``, -1: none of them.
        names: Of the parts.
        unreadable: Rows without a part because their date cannot be read.
        progress: Asked after every label whether to go on.

    Raises:
        Cancelled: The user stopped.
    """
    watch = progress or SilentProgress()
    probabilities = evidence.probabilities.get(alias)
    everywhere = np.zeros(len(evidence.row_ids), dtype=np.int16)
    whole = _groups(evidence, probabilities, everywhere, [_("all rows")], watch)[0]
    groups: tuple[Group, ...] = ()
    if codes is not None:
        groups = _groups(evidence, probabilities, codes, names, watch)
    return Findings(
        rows=len(evidence.row_ids),
        decided=int(evidence.decided.sum()),
        sampled=len(evidence.audit),
        answers=(*evidence.names, _(NONE_NAME)),
        whole=whole,
        column=column,
        groups=groups,
        codes=codes,
        unreadable=unreadable,
        basis=basis(evidence, probabilities is not None),
    )


def basis(evidence: Evidence, model: bool) -> str:
    """Say in sentences what shares over the table rest on, and what that is worth."""
    decided = int(evidence.decided.sum())
    if decided == len(evidence.row_ids):
        return _("Every row is labelled: the shares are counts.")
    if sampled := len(evidence.audit):
        estimated = (
            ngettext(
                "Estimated from a random sample of {count} row, bias-corrected with model predictions.",
                "Estimated from a random sample of {count} rows, bias-corrected with model predictions.",
                sampled,
            )
            if model
            else ngettext(
                "Estimated from a random sample of {count} row.",
                "Estimated from a random sample of {count} rows.",
                sampled,
            )
        )
        sentences = [estimated, _("95% confidence intervals.")]
        if decided > sampled:
            sentences.append(_("Other labelled rows narrow the intervals."))
        return " ".join([*sentences, *(evidence.sample.notes if evidence.sample else ())])
    if not model:
        counted = ngettext(
            "Counted from {count} labelled row, not a random sample.",
            "Counted from {count} labelled rows, not a random sample.",
            decided,
        )
        return " ".join((counted, _("Draw an audit sample to estimate the shares of all rows.")))
    estimates = (
        ngettext(
            "{count} labelled row, model estimates for the rest: possibly biased.",
            "{count} labelled rows, model estimates for the rest: possibly biased.",
            decided,
        )
        if decided
        else _("Model estimates only, possibly biased.")
    )
    return " ".join((estimates, _("Draw an audit sample to get valid intervals."), _about_none(evidence)))


def _about_none(evidence: Evidence) -> str:
    """Say what "none of these" is made of where probabilities fill in for labels."""
    if len(evidence.names) == 1:
        return _("“None of these” is what remains of the one label.")
    given = int(evidence.decided[evidence.hits[-1]].sum())
    counted = (
        ngettext(
            "“None of these” counts only the {count} row that you labelled so.",
            "“None of these” counts only the {count} rows that you labelled so.",
            given,
        )
        if given
        else _("“None of these” counts only rows that you label so (none yet).")
    )
    return counted if evidence.multi_label else " ".join((counted, _("The model never predicts it.")))


def _groups(
    evidence: Evidence,
    probabilities: FloatArray | None,
    codes: NDArray[np.signedinteger[Any]],
    names: Sequence[str],
    progress: Progress,
) -> tuple[Group, ...]:
    """Return the shares in each part; every step is a count over all rows, whatever the number of parts."""
    count = len(names)
    inside = codes >= 0
    # The sample stands for its frame. What was decided outside of it is known and not estimated; what was
    # decided in the frame but not in the sample cannot be told from what was not, so it is not used.
    sampled = np.zeros(len(codes), dtype=bool)
    sampled[evidence.audit] = True
    by_sample = len(evidence.audit) > 0
    drawn_from = evidence.frame if by_sample and evidence.frame is not None else ~evidence.decided
    known = ~drawn_from & evidence.decided
    frame = ~known
    sampled &= frame

    def tally(places: IdArray) -> IdArray:
        found = codes[places]
        return np.bincount(found[found >= 0], minlength=count)

    decided_rows = evidence.decided
    sizes, known_rows = _sums(codes, inside, count), tally(np.flatnonzero(known))
    framed = frame & inside
    all_decided = tally(np.flatnonzero(decided_rows))
    sample = np.flatnonzero(sampled)
    order = np.flatnonzero(sampled & inside)
    order = order[np.argsort(codes[order], kind="stable")]
    ends = np.searchsorted(codes[order], np.arange(count + 1))
    predicted = _predicted(probabilities, codes, inside & ~decided_rows, count, len(evidence.names) + 1)
    shares: list[list[LabelShare]] = [[] for _name in names]
    for answer, name in enumerate((*evidence.names, _(NONE_NAME))):
        progress.check()
        if probabilities is not None:
            let_go(probabilities)  # of ten million rows each label's are 40 MB
        hit, hits = evidence.has(answer), evidence.hits[answer]
        guess = _column(probabilities, answer, frame)
        if answer == 1 == len(evidence.names) and not by_sample:  # a yes or no: what is not yes
            yes = _column(probabilities, 0, frame)
            guess = None if yes is None else 1 - yes.astype(np.float64)
        guesses = None if guess is None else _sums(codes, framed, count, guess)
        line = Line.through(hit[sample], None if guess is None else guess[sample])
        known_hits, decided = tally(hits[known[hits]]), tally(hits[decided_rows[hits]])
        for group in range(count):
            rows = int(sizes[group] - known_rows[group])
            drawn = order[ends[group] : ends[group + 1]]
            mean = 0.0 if guesses is None or rows == 0 else float(guesses[group]) / rows
            few = len(drawn) < min(FEWEST_SAMPLED, rows)
            if by_sample and (probabilities is not None or not few):
                seen = None if guess is None else guess[drawn]
                if len(drawn) == len(sample) or (guess is None and not few):
                    found = sample_share(hit[drawn], seen, mean=mean, rows=rows)
                else:  # a part: its predictions, corrected by its own rows as far as these reach
                    found = part_share(hit[drawn], seen, line, mean=mean, rows=rows)
                found = Share(found.value) if few else found
            elif guesses is not None:
                found = Share(min(1.0, mean))
            elif probabilities is not None:
                # Nothing predicts it, and the others share out all rows that are not decided.
                found = Share(0.0)
            else:
                found = Share(float(decided[group]) / max(1, int(all_decided[group])))
            share = with_known(found, rows, known=int(known_rows[group]), known_hits=int(known_hits[group]))
            if size := int(sizes[group]):  # whatever the sample says, decided rows are what they are
                sure, open_rows = int(decided[group]), size - int(all_decided[group])
                share = within_bounds(share, sure / size, (sure + open_rows) / size)
            shares[group].append(LabelShare(name, share, int(decided[group]), int(predicted[group, answer])))
    return tuple(
        Group(name, int(sizes[place]), int(ends[place + 1] - ends[place]), tuple(shares[place]))
        for place, name in enumerate(names)
    )


def _predicted(
    probabilities: FloatArray | None, codes: IdArray, rows: NDArray[np.bool_], parts: int, answers: int
) -> IdArray:
    """Return how many of ``rows`` have each best label (parts, answers)."""
    if probabilities is None:
        return np.zeros((parts, answers), dtype=np.int64)
    found = np.zeros(parts * answers, np.int64)
    for start in range(0, len(probabilities), _AT_ONCE):
        some = np.ascontiguousarray(probabilities[start : start + _AT_ONCE])
        kept = rows[start : start + _AT_ONCE] & ~np.isnan(some).any(axis=1)
        cells = codes[start : start + _AT_ONCE][kept].astype(np.int64) * answers + some[kept].argmax(axis=1)
        found += np.bincount(cells, minlength=parts * answers)
        let_go(probabilities)
    return found.reshape(parts, answers)


def _sums(
    codes: IdArray, rows: NDArray[np.bool_], parts: int, values: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return how many of ``rows`` each part has (parts,), or the sum of their ``values``."""
    found = np.zeros(parts, np.int64 if values is None else np.float64)
    for start in range(0, len(codes), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        kept = rows[some]
        of_rows = None if values is None else values[some][kept]
        found += np.bincount(codes[some][kept], of_rows, minlength=parts)
    return found


def _column(
    probabilities: FloatArray | None, answer: int, frame: NDArray[np.bool_]
) -> FloatArray | NDArray[np.float64] | None:
    """Return what is predicted for ``answer`` (n,), None if nothing is; unscored rows get the mean."""
    if probabilities is None or answer == probabilities.shape[1]:
        return None
    missing = np.isnan(probabilities[:, answer])
    if missing.all():
        return None
    if not missing.any():
        return probabilities[:, answer]
    guess = probabilities[:, answer].astype(np.float64)
    scored = guess[frame & ~missing] if (frame & ~missing).any() else guess[~missing]
    guess[missing] = scored.mean()
    return guess


def examples(
    evidence: Evidence,
    answer: int,
    *,
    alias: str = "",
    codes: IdArray | None = None,
    group: int = 0,
    count: int = 3,
) -> IdArray:
    """Return up to ``count`` row ids for one cell: decided rows first, then the surest predictions."""
    inside = np.ones(len(evidence.row_ids), dtype=bool) if codes is None else codes == group
    decided = np.flatnonzero(evidence.has(answer) & evidence.decided & inside)[:count]
    probabilities = evidence.probabilities.get(alias)
    if probabilities is None or len(decided) == count or answer == probabilities.shape[1]:
        return evidence.row_ids[decided]
    scored = ~np.isnan(probabilities).any(axis=1)
    rest = np.flatnonzero(inside & scored & ~evidence.decided)
    rest = rest[probabilities.argmax(axis=1)[rest] == answer]
    rest = rest[np.argsort(-probabilities[rest, answer], kind="stable")][: count - len(decided)]
    return evidence.row_ids[np.concatenate([decided, rest])]


def column_values(project: Project, row_ids: IdArray, column: int, progress: Progress) -> list[Cell]:
    """Return the cells (n,) of the original ``column`` (0-based place) for ``row_ids``."""
    values: list[Cell] = []
    for start in range(0, len(row_ids), _BATCH):
        progress.check()
        values += [row.cells[column] for row in project.rows(row_ids[start : start + _BATCH])]
        progress.report(len(values), len(row_ids), stage=_("reading the column"))
    return values


def by_value(values: Sequence[Cell], most: int = MOST_GROUPS) -> tuple[IdArray, tuple[str, ...]]:
    """Return (codes (n,), names) of the most frequent values, then the other ones, then the empty cells."""
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray([value or "" for value in values], dtype=object))
    counts = np.bincount(codes, minlength=len(distinct))
    ranked = [int(place) for place in np.argsort(-counts, kind="stable") if distinct[place] != ""]
    names = [str(distinct[place]) for place in ranked[:most]]
    new = np.full(len(distinct), -1, dtype=np.int64)
    new[ranked[:most]] = np.arange(len(names))
    if len(ranked) > most:
        new[ranked[most:]] = len(names)
        names.append(_(OTHER_NAME))
    if len(ranked) < len(distinct):
        new[new == -1] = len(names)
        names.append(_(EMPTY_NAME))
    return new[codes], tuple(names)
