"""Labels from nothing: clusters of a random sample of rows, each with typical rows and names to choose from.

The rows are clustered by the model's text vectors (`tasks.insight.clusters`); what the cache lacks is made.
Names are words of a cluster's own rows, ranked by the model (`tasks.insight.cluster_names`). With labels
given, the rows that one of them fits are set aside first, and the rest is clustered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.discovery import FEWEST_ROWS, MOST_ROWS, Cluster, Discovery, TypicalRow, Wanted
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Scores, VectorCache
from sce_desktop.core.sampling import random_order
from sce_desktop.core.scoring import MULTI_LABEL_THRESHOLD, none_fits
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import cluster_names
from sce_desktop.tasks.insight.clusters import Clustering, cluster
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import FIRST_CHUNK, next_chunk
from sce_desktop.tasks.tables.columns import find_columns

FITS_FROM: Final = 0.6
"""A label fits a row from this probability up; where rows may have several labels, from 0.5."""
TYPICAL: Final = 5  # rows of a cluster that are shown
_RANKED_ROWS: Final = 50  # of a cluster, by which names are ranked
_LLM_NAMES: Final = 8  # of a cluster, among which a language model chooses
_LLM_TEXT: Final = 200  # characters of each row that it reads


def discover(
    project: Project,
    named: NamedModel,
    wanted: Wanted,
    *,
    llm: NamedModel | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> Discovery:
    """Cluster a random sample of the rows of ``project``; see `discover_texts`.

    With ``wanted.covering`` a row that a person labelled counts as one that a label fits, and one that a
    person marked as "none of these" as one that none does, whatever the model predicts.
    """
    progress.report(0, None, stage=_("reading rows"))
    ids, texts, total, given = _sample(project, wanted)
    return discover_texts(
        ids, texts, total, named, wanted, given=given, llm=llm, cache=cache, progress=progress
    )


@one_state
def _sample(project: Project, wanted: Wanted) -> tuple[IdArray, list[str], int, IdArray]:
    """Return ids and texts of the sample, the number of rows with text, and what people said of each (n,).

    That is 1 where a person gave a label, -1 where none of these, else 0.
    """
    every = project.row_ids(RowQuery(blank=False))
    ids = np.sort(random_order(every, seed=wanted.seed)[: min(wanted.rows, MOST_ROWS)])
    given = np.zeros(len(ids), dtype=np.int64)
    for state, value in ((RowState.LABELLED, 1), (RowState.NONE, -1)):
        given[np.isin(ids, project.row_ids(RowQuery(state=state, blank=False)))] = value
    return ids, project.texts(ids), len(every), given


def discover_table(
    path: Path,
    text_columns: Sequence[str | int],
    named: NamedModel,
    wanted: Wanted,
    *,
    options: TableOptions,
    llm: NamedModel | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> Discovery:
    """Cluster a random sample of the rows of a table, whose ids are their places from 1 on.

    Raises:
        UserError: As `discover_texts`, or the table cannot be read, or lacks a column.
    """
    table = open_table(path, options)
    shape = Shape(table.columns, find_columns(table.columns, text_columns, Unreported(progress)))

    def texts() -> Iterator[str]:
        rows = 0
        for batch in table.batches():
            rows += len(batch)
            progress.report(rows, table.estimated_rows, stage=_("reading the table"))
            progress.check()
            yield from map(shape.text_of, batch)

    every = {place: text for place, text in enumerate(texts(), start=1) if not is_blank(text)}
    chosen = random_order(np.fromiter(every, dtype=np.int64, count=len(every)), seed=wanted.seed)
    ids = np.sort(chosen[: min(wanted.rows, MOST_ROWS)])
    return discover_texts(
        ids,
        [every[place] for place in ids.tolist()],
        len(every),
        named,
        wanted,
        llm=llm,
        cache=cache,
        progress=progress,
    )


def discover_texts(
    ids: IdArray,
    texts: Sequence[str],
    total: int,
    named: NamedModel,
    wanted: Wanted,
    *,
    given: IdArray | None = None,
    llm: NamedModel | None = None,
    cache: VectorCache | None,
    progress: Progress,
) -> Discovery:
    """Cluster ``texts`` (n,), a random sample of ``total``, and suggest names.

    Args:
        ids: (n,) what the rows are called in the result.
        texts: None is blank.
        total: Rows that they were drawn from.
        named: The model that makes the vectors and ranks the names.
        wanted: How many clusters, and the labels whose rows are set aside.
        given: (n,) 1 where a person gave a label, -1 where none of these, else 0.
        llm: A language model that chooses one of the names too.
        cache: Of text vectors.
        progress: Reports; checked between steps.

    Raises:
        UserError: There are too few texts, or the model makes no text vectors.
        Cancelled: The user stopped; vectors that were made are kept.
    """
    model: Any = named.model
    if not hasattr(model, "embed"):
        raise UserError(_("Clusters need text vectors, and LLMs make none: choose an SCE model."))
    if len(set(texts)) < FEWEST_ROWS:
        raise UserError(_("Suggestions need at least {count} different texts.", count=FEWEST_ROWS))
    vectors = _embed(model, texts, cache, progress)
    covered = None
    inside = np.arange(len(texts))
    if wanted.covering:
        progress.report(0, None, stage=_("finding rows that no label fits"))
        scores = model.score(vectors, wanted.covering, multi_label=wanted.multi_label, progress=progress)
        fits = fitting(scores, multi_label=wanted.multi_label)
        if given is not None:
            fits = (fits | (given > 0)) & (given >= 0)
        covered, inside = int(fits.sum()), np.flatnonzero(~fits)
        if len({texts[place] for place in inside.tolist()}) < FEWEST_ROWS:
            raise UserError(_few_left(len(inside), len(texts)))
    clusters = _clusters(
        ids[inside], [texts[place] for place in inside.tolist()], vectors[inside], model, wanted, progress
    )
    if llm is not None:
        clusters = _ask(llm, clusters, cache, progress)
    return Discovery(
        tuple(clusters),
        sampled=len(texts),
        total=total,
        covered=covered,
        fits_from=MULTI_LABEL_THRESHOLD if wanted.multi_label else FITS_FROM,
    )


def _embed(model: Any, texts: Sequence[str], cache: VectorCache | None, progress: Progress) -> FloatArray:
    """Return the text vectors (n, d), made in parts of under a second, so that a stop is heard soon."""
    parts, start, size = [], 0, FIRST_CHUNK
    while start < len(texts):
        progress.check()
        progress.report(start, len(texts), stage=_("embedding"))
        part, before = texts[start : start + size], time.perf_counter()
        parts.append(model.embed(part, cache=cache, progress=Unreported(progress)))
        start += len(part)
        size = next_chunk(len(part), time.perf_counter() - before)
    found: FloatArray = np.concatenate(parts)
    return found


def fitting(scores: Scores, *, multi_label: bool) -> NDArray[np.bool_]:
    """Return which rows (n,) a label fits.

    The best probability is at least `FITS_FROM`, and the model does not say that no label fits.
    """
    best = scores.probabilities.max(axis=1)
    none = none_fits(best, scores.none, threshold=None, multi_label=multi_label)
    found: NDArray[np.bool_] = ~none if multi_label else ~none & (best >= FITS_FROM)
    return found


def _few_left(rows: int, sampled: int) -> str:
    """Say that nearly every row has a label."""
    return " ".join(
        (
            ngettext(
                "No label fits {count} row of the sample.", "No label fits {count} rows of the sample.", rows
            ),
            _("That is too few to cluster: the labels cover the table."),
        )
    )


def _clusters(
    ids: IdArray,
    texts: list[str],
    vectors: FloatArray,
    model: Any,
    wanted: Wanted,
    progress: Progress,
) -> list[Cluster]:
    """Return the clusters of rows, the largest first. Equal texts are one point, whose rows all count."""
    distinct, first, copy_of = np.unique(
        np.array(texts, dtype=object), return_index=True, return_inverse=True
    )
    points = vectors[first]
    found = cluster(points, wanted.clusters, seed=wanted.seed, progress=progress)
    progress.check()
    progress.report(0, None, stage=_("naming the clusters"))
    names = _names([str(text) for text in distinct], points, found, model, wanted, progress)
    rows_of = np.bincount(found.members[copy_of], minlength=len(found))
    clusters = []
    for number in range(len(found)):
        near = found.nearest(number)
        ranks = np.full(len(distinct), len(distinct))
        ranks[near] = np.arange(len(near))
        mine = np.flatnonzero(ranks[copy_of] < len(distinct))
        mine = mine[np.argsort(ranks[copy_of[mine]], kind="stable")]
        typical = tuple(
            TypicalRow(int(ids[first[place]]), str(distinct[place]))
            for place in found.typical(number, TYPICAL)
        )
        clusters.append(
            Cluster(tuple(names[number]), int(rows_of[number]), typical, tuple(ids[mine].tolist()))
        )
    return sorted(clusters, key=lambda one: -one.rows)


def _names(
    texts: list[str], points: FloatArray, found: Clustering, model: Any, wanted: Wanted, progress: Progress
) -> list[list[str]]:
    """Return the names of each cluster, best first; one whose texts share no word is named by a number."""
    candidates = cluster_names.candidates(texts, found.members, len(found))
    progress.check()
    written = cluster_names.as_written(candidates, texts)
    own = [list(dict.fromkeys(written[name] for name in some)) for some in candidates]
    names = list(dict.fromkeys(name for some in own for name in some))
    if names:
        rng = np.random.default_rng(wanted.seed)
        rows = np.concatenate(
            [
                rng.permutation(np.flatnonzero(found.members == number))[:_RANKED_ROWS]
                for number in range(len(found))
            ]
        )
        scores = model.score(
            points[rows], [Label(name) for name in names], multi_label=True, progress=progress
        ).probabilities
        own = cluster_names.ranked(own, found.members[rows], scores, names)
    return [
        some or [_("Cluster {number}", number=number)]
        for number, some in enumerate(cluster_names.distinct(own), start=1)
    ]


def _ask(
    llm: NamedModel, clusters: Sequence[Cluster], cache: VectorCache | None, progress: Progress
) -> list[Cluster]:
    """Let a language model choose among the names of each cluster, from its typical rows."""
    result = []
    for number, one in enumerate(clusters):
        progress.report(number, len(clusters), stage=_("asking {model} for names", model=llm.name))
        progress.check()
        names = one.names[:_LLM_NAMES]
        if len(names) > 1:
            text = "\n".join(row.text[:_LLM_TEXT] for row in one.typical)
            scores = llm.model.probabilities([text], [Label(name) for name in names], cache=cache)
            one = replace(one, llm_name=names[int(scores.probabilities[0].argmax())])
        result.append(one)
    return result
