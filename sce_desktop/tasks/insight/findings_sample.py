"""Shares while a large table is being scored: of its random sample, not of whatever rows come first.

Until all rows have scores, the model's estimate is made from the beginning of the sample that
`tasks.scoring.sample_first` scores first. The intervals cover the drawing of the sample alone, not what the
model gets wrong: only an audit sample does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import Share, wilson_interval, within_bounds
from sce_desktop.core.i18n import _, number
from sce_desktop.tasks.evaluation.evidence import Evidence
from sce_desktop.tasks.insight.findings import FEWEST_SAMPLED, Findings, Group
from sce_desktop.tasks.scoring.sample_first import sample_ids

LEAST: Final = 100
"""From fewer rows of the sample no share is estimated: the margin of error is above ten points."""


def scored_sample(evidence: Evidence, alias: str) -> IdArray | None:
    """Return the places (m,) of the random sample that have scores, as far as they lead without a gap.

    None where figures rest on all rows: the table is small or is scored, or no model helps.
    """
    probabilities = evidence.probabilities.get(alias)
    if probabilities is None:
        return None
    unscored = np.asarray(np.isnan(probabilities).all(axis=1))
    sample = sample_ids(evidence.row_ids)
    if not len(sample) or not unscored.any():
        return None
    order = np.searchsorted(evidence.row_ids, sample)
    missing = unscored[order]
    return order[: int(missing.argmax())] if missing.any() else order


def by_sample_alone(evidence: Evidence, alias: str, sample: IdArray) -> Evidence:
    """Return ``evidence`` without the probabilities of rows outside ``sample``; of a tiny one without any."""
    others = {name: found for name, found in evidence.probabilities.items() if name != alias}
    if len(sample) < LEAST:
        return replace(evidence, probabilities=others)
    kept = np.full_like(evidence.probabilities[alias], np.nan)
    kept[sample] = evidence.probabilities[alias][sample]
    return replace(evidence, probabilities={**others, alias: kept})


def waiting(sample: IdArray) -> str:
    """Say what is waited for where too little of the ``sample`` is scored."""
    return _(
        "Shares appear when {least} rows drawn at random are scored: {count} so far.",
        least=number(LEAST),
        count=number(len(sample)),
    )


def note(evidence: Evidence, sample: IdArray) -> str:
    """Say what the predictions are of while an audit sample carries the figures."""
    return _(
        "Scoring is under way: predictions of {count} of {rows} rows, drawn at random.",
        count=number(len(sample)),
        rows=number(len(evidence.row_ids)),
    )


def estimated(
    found: Findings, evidence: Evidence, alias: str, sample: IdArray, codes: IdArray | None
) -> Findings:
    """Return ``found``, of a project without an audit sample, with the shares that ``sample`` gives.

    A row that a person labelled counts as labelled, any other by its probabilities.

    Args:
        found: What `findings.find` says; its numbers of rows stay.
        evidence: What is known of the n rows.
        alias: Whose probabilities.
        sample: (m,) places of a random sample of the rows, all of them scored.
        codes: (n,) the part that each row belongs to; None: there are no parts.
    """
    probabilities = evidence.probabilities[alias]
    decided = evidence.decided[sample]
    answers = np.zeros((len(sample), len(found.answers)))
    answers[:, : probabilities.shape[1]] = np.nan_to_num(probabilities[sample])
    for answer in range(answers.shape[1]):
        answers[decided, answer] = evidence.has(answer)[sample][decided]
    everywhere = np.ones(len(sample), dtype=bool)
    of_part: Sequence[NDArray[np.bool_]] = (
        [] if codes is None else [codes[sample] == place for place in range(len(found.groups))]
    )
    return replace(
        found,
        whole=_group(found.whole, answers[everywhere]),
        groups=tuple(
            _group(group, answers[inside]) for group, inside in zip(found.groups, of_part, strict=True)
        ),
        basis=_(
            "Model estimates from {count} of {rows} rows, drawn at random and scored first. "
            "95% confidence intervals of the drawing; the model may be biased.",
            count=number(len(sample)),
            rows=number(found.rows),
        ),
    )


def _group(group: Group, answers: NDArray[np.float64]) -> Group:
    """Return ``group`` with the shares that its sampled rows (m, answers) give."""
    shares = []
    for answer, one in enumerate(group.shares):
        share = mean_share(answers[:, answer], group.rows) if len(answers) else Share(one.share.value)
        if len(answers) < min(FEWEST_SAMPLED, group.rows):
            share = Share(share.value)
        if group.rows:  # whatever the sample says, labelled rows are what they are
            share = within_bounds(share, one.decided / group.rows, 1.0)
        shares.append(replace(one, share=share))
    return replace(group, sampled=len(answers), shares=tuple(shares))


def mean_share(values: NDArray[np.float64], rows: int) -> Share:
    """Estimate the mean over ``rows`` rows of numbers from 0 to 1 from a random sample of them (m,), m ≥ 1.

    The interval is Wilson's, as if each number were 0 or 1. Probabilities vary less, so it is wide enough.
    """
    mean = float(np.clip(values.mean(), 0, 1))
    return Share(mean, wilson_interval(mean, len(values), rows=rows))
