"""Labels that rows without a fitting one may need: groups of similar texts and the words that set them apart.

Where the model has read the texts already, its own vectors say which are alike (k-means), whatever words
they use; before that, latent semantic analysis of their words does, as in scikit-learn's guide to clustering
texts.
The names come from the words either way: those with more tf-idf in a group than elsewhere.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Run
from sce_desktop.core.terms import languages_of, terms
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.vectors import KnownVectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_ROWS: Final = 3000
FEWEST_ROWS: Final = 20
MOST_GROUPS: Final = 12
UNSURE: Final = 0.6  # below this confidence no label fits a row well
_TERMS: Final = 5
_STARTS: Final = 10  # of k-means
_MORE_STOP_WORDS: Final = frozenset({"did", "does", "doing", "got", "just", "like", "said", "say", "says"})
_DIMENSIONS: Final = 20


@one_state
def unfitting_rows(project: Project, run: Run | None) -> IdArray:
    """Return the rows that no label fits: answered so, or unsure and unlabelled; without a run all others."""
    none = project.row_ids(RowQuery(state=RowState.NONE, blank=False))
    rest = project.row_ids(RowQuery(state=RowState.UNLABELLED, blank=False))
    if run is not None and run.scored:
        arrays = project.run_arrays(run.id)
        rest = rest[np.isin(rest, arrays.row_ids[arrays.confidence < UNSURE])]
    chosen = np.concatenate([none, rest])
    if len(chosen) > MOST_ROWS:
        chosen = np.random.default_rng(0).choice(chosen, MOST_ROWS, replace=False)
    return np.sort(chosen)


def suggest_labels(
    project: Project, run: Run | None, *, vectors: KnownVectors | None = None, progress: Progress
) -> list[tuple[Label, int]]:
    """Return labels named by key terms, each with the number of rows behind it, the largest group first.

    Args:
        project: Whose rows.
        run: The scores that tell which rows no label fits; None: no row has scores.
        vectors: What says which texts are alike; None, or for fewer than `FEWEST_ROWS` texts: their words.
        progress: Cancelled between steps.

    Raises:
        UserError: There are too few rows, or their texts have no words in common.
    """
    texts = list(dict.fromkeys(project.texts(unfitting_rows(project, run))))
    if len(texts) < FEWEST_ROWS:
        if run is not None and run.scored and project.row_count() >= FEWEST_ROWS:
            raise UserError(_("Nearly every row has a label that fits well: there is nothing to suggest."))
        raise UserError(_("Suggestions need at least {count} different texts.", count=FEWEST_ROWS))
    progress.report(0, None, stage=_("reading words"))
    texts, found = _with_vectors(texts, vectors)
    progress.check()
    from sklearn.feature_extraction.text import TfidfVectorizer
    from threadpoolctl import threadpool_limits

    stop_words, english = _stop_words(texts)
    vectorizer = TfidfVectorizer(
        analyzer=functools.partial(terms, stop_words=stop_words),
        min_df=2,
        max_df=0.5,
        sublinear_tf=True,
        max_features=20_000,
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:
        raise UserError(_("The texts have no words in common: no labels can be suggested.")) from None
    if weights.shape[1] <= _TERMS:
        raise UserError(_("The texts have no words in common: no labels can be suggested."))
    progress.check()
    progress.report(0, None, stage=_("grouping"))
    with threadpool_limits(1):  # so little is fastest so, and whatever else runs keeps the other cores
        points = _latent(weights) if found is None else found
        different = len(np.unique(points.round(5), axis=0))
        groups = min(int(np.clip(np.sqrt(len(texts) / 2), 2, MOST_GROUPS)), different)
        members = _grouped(points, groups, progress)
    progress.check()
    progress.report(0, None, stage=_("naming"))
    words = [str(name) for name in vectorizer.get_feature_names_out()]
    return _named(members, weights, words, joined=" and " if english else ", ")


def _stop_words(texts: list[str]) -> tuple[frozenset[str], bool]:
    """Return the words that name nothing in the texts' languages, and whether English is the only one."""
    import stopwordsiso
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    english = ENGLISH_STOP_WORDS | _MORE_STOP_WORDS  # that library's English list has many a noun
    known = {one: stopwordsiso.stopwords(one) for one in sorted(stopwordsiso.langs())} | {"en": english}
    languages = languages_of(texts, known)
    return english.union(*(known[one] for one in languages)), set(languages) <= {"en"}


def _with_vectors(texts: list[str], known: KnownVectors | None) -> tuple[list[str], FloatArray | None]:
    """Return the texts that have vectors, and these (n, d) of length 1; all texts and None if few have."""
    if known is None:
        return texts, None
    there, vectors = known.cache.get(known.embedder, texts)
    if vectors is None or there.sum() < FEWEST_ROWS:
        return texts, None
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return [text for text, has in zip(texts, there, strict=True) if has], vectors / lengths


def _grouped(points: FloatArray, groups: int, progress: Progress) -> IdArray:
    """Return the group (n,) of each point, by the best of several starts of k-means.

    One start at a time: scikit-learn's own ``n_init`` would keep the user waiting who wants to stop.
    """
    from sklearn.cluster import KMeans

    best = None
    for start in range(_STARTS):
        progress.check()
        found = KMeans(groups, n_init=1, random_state=start).fit(points)
        if best is None or found.inertia_ < best.inertia_:
            best = found
    assert best is not None
    members: IdArray = best.labels_
    return members


def _latent(weights: csr_matrix) -> FloatArray:
    """Return points (n, d) of length 1 that lie together where texts share words."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    dimensions = min(_DIMENSIONS, weights.shape[1] - 1, weights.shape[0] - 1)
    points: FloatArray = normalize(TruncatedSVD(dimensions, random_state=0).fit_transform(weights))
    return points


def _named(
    members: IdArray, weights: csr_matrix, words: list[str], *, joined: str
) -> list[tuple[Label, int]]:
    """Return a label for each group (n,) of rows, named by what has more weight in it than elsewhere."""
    overall = np.asarray(weights.mean(axis=0)).ravel()
    found: dict[str, tuple[Label, int]] = {}
    for group in np.argsort(-np.bincount(members), kind="stable"):
        inside = members == group
        if inside.sum() < 2:
            continue
        lift = np.asarray(weights[inside].mean(axis=0)).ravel() - overall
        best = _distinct_terms([words[place] for place in np.argsort(-lift)[: 4 * _TERMS]])
        name = joined.join(best[:2]).capitalize()
        label = Label(name, description=", ".join(best))
        found.setdefault(name, (label, int(inside.sum())))
    return list(found.values())


def _distinct_terms(terms: list[str]) -> list[str]:
    """Return the first few terms that do not repeat a word of an earlier one; pairs of words win over one."""
    kept: list[str] = []
    for term in terms:
        if all(not _share_a_word(term, other) for other in kept):
            kept.append(term)
    return kept[:_TERMS]


def _share_a_word(one: str, other: str) -> bool:
    """Whether two terms have a word in common; pairs of ideographs that overlap count as such."""
    if set(one.split()) & set(other.split()):
        return True
    return len(one) == len(other) == 2 and (one[0] == other[1] or one[1] == other[0])
