"""Labels that rows without a fitting one may need: groups of similar texts and the words that set them apart.

Latent semantic analysis and k-means over tf-idf, as in scikit-learn's guide to clustering texts: it needs no
model, so it works before the first scoring and for any language that is written with spaces.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import IdArray, Label, Run
from sce_desktop.store.project import Project
from sce_desktop.store.query import RowQuery, RowState

MOST_ROWS: Final = 3000
FEWEST_ROWS: Final = 20
MOST_GROUPS: Final = 12
_SHARE: Final = 0.25  # of the scored rows: the least certain ones
_TERMS: Final = 5
_DIMENSIONS: Final = 20


def unfitting_rows(project: Project, run: Run | None) -> IdArray:
    """Return the rows that no label fits: answered so, else the least certain quarter; all without a run."""
    none = project.row_ids(RowQuery(state=RowState.NONE, blank=False))
    if run is None or not run.scored:
        rest = project.row_ids(RowQuery(state=RowState.UNLABELLED, blank=False))
    else:
        arrays = project.run_arrays(run.id)
        order = np.argsort(arrays.confidence, kind="stable")
        rest = arrays.row_ids[order[: max(FEWEST_ROWS, int(_SHARE * len(order)))]]
    chosen = np.concatenate([none, rest[~np.isin(rest, none)]])
    if len(chosen) > MOST_ROWS:
        chosen = np.random.default_rng(0).choice(chosen, MOST_ROWS, replace=False)
    return np.sort(chosen)


def suggest_labels(project: Project, run: Run | None, *, progress: Progress) -> list[tuple[Label, int]]:
    """Return labels named by key terms, each with the number of rows behind it, the largest group first.

    Args:
        project: Whose rows.
        run: The scores that tell which rows no label fits; None: no row has scores.
        progress: Cancelled between steps.

    Raises:
        UserError: There are too few rows, or their texts have no words in common.
    """
    ids = unfitting_rows(project, run)
    texts = list(dict.fromkeys(project.texts(ids)))
    if len(texts) < FEWEST_ROWS:
        raise UserError(f"There are too few texts for suggestions: it takes {FEWEST_ROWS} different ones.")
    progress.report(0, None, stage="reading words")
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, max_df=0.5, stop_words="english", sublinear_tf=True, max_features=20_000
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:
        raise UserError("The texts have no words in common: no label can be suggested.") from None
    if weights.shape[1] <= _TERMS:
        raise UserError("The texts have no words in common: no label can be suggested.")
    progress.check()
    progress.report(0, None, stage="grouping")
    dimensions = min(_DIMENSIONS, weights.shape[1] - 1, len(texts) - 1)
    vectors = normalize(TruncatedSVD(dimensions, random_state=0).fit_transform(weights))
    groups = int(np.clip(np.sqrt(len(texts) / 2), 2, MOST_GROUPS))
    members = KMeans(groups, n_init=10, random_state=0).fit_predict(vectors)
    progress.check()
    progress.report(0, None, stage="naming")
    names = vectorizer.get_feature_names_out()
    overall = np.asarray(weights.mean(axis=0)).ravel()
    found: dict[str, tuple[Label, int]] = {}
    for group in np.argsort(-np.bincount(members, minlength=groups)):
        inside = members == group
        if inside.sum() < 2:
            continue
        lift = np.asarray(weights[inside].mean(axis=0)).ravel() - overall
        terms = _distinct_terms([str(names[place]) for place in np.argsort(-lift)[: 4 * _TERMS]])
        name = " and ".join(terms[:2]).capitalize()
        label = Label(name, description=f"Texts with words such as {', '.join(terms)}")
        found.setdefault(name, (label, int(inside.sum())))
    return list(found.values())


def _distinct_terms(terms: list[str]) -> list[str]:
    """Return the first few terms that do not repeat a word of an earlier one; pairs of words win over one."""
    kept: list[str] = []
    for term in terms:
        words = set(term.split())
        if all(not words & set(other.split()) for other in kept):
            kept.append(term)
    return kept[:_TERMS]
