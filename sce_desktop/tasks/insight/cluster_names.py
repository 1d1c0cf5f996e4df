"""Names for clusters: words and pairs of words of their own rows, ranked by the model as labels.

Candidates have a high class-based tf-idf (Grootendorst 2022, BERTopic, arXiv 2203.05794): frequent in the
rows of one cluster, rare in those of the others. Among them the model chooses: the name is best that it would
give to the cluster's rows sooner than to other rows. No part of speech is looked at: a tagger would have to
be downloaded for every language. Stop words of 58 languages are left out.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import regex

from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.terms import languages_of, terms

CANDIDATES: Final = 12  # of a cluster
_LEAST_SHARE: Final = 0.02  # of a cluster's texts that must have a candidate, and two texts at least
_MORE_STOP_WORDS: Final = frozenset({"did", "does", "doing", "got", "just", "like", "said", "say", "says"})
_LOWEST: Final = 1e-6  # probabilities below are one to the logarithm


def candidates(texts: Sequence[str], members: IdArray, clusters: int) -> list[list[str]]:
    """Return for each cluster the words and pairs of words that set it apart, the best first.

    Args:
        texts: (n,) different texts.
        members: (n,) the cluster of each.
        clusters: How many there are. One whose texts have no word in common gets an empty list.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        analyzer=functools.partial(terms, stop_words=stop_words(texts)),
        min_df=2,
        binary=True,
        max_features=20_000,
    )
    try:
        there = vectorizer.fit_transform(texts)
    except ValueError:  # no word is in two texts
        return [[] for _cluster in range(clusters)]
    words = [str(name) for name in vectorizer.get_feature_names_out()]
    counts = np.stack([np.asarray(there[members == one].sum(axis=0)).ravel() for one in range(clusters)])
    sizes = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    frequency = counts.sum(axis=0)
    weights = counts / sizes * np.log(1 + sizes.mean() / np.maximum(frequency, 1))
    found = []
    for cluster in range(clusters):
        inside = int((members == cluster).sum())
        fit = counts[cluster] >= max(2, _LEAST_SHARE * inside)
        if clusters > 1:  # what is no more frequent here than everywhere sets nothing apart
            fit &= counts[cluster] * len(texts) > frequency * inside
        order = np.argsort(-weights[cluster], kind="stable")
        order = order[fit[order]]
        found.append(_without_inflections([words[place] for place in order])[:CANDIDATES])
    return found


def ranked(
    found: Sequence[Sequence[str]], members: IdArray, probabilities: FloatArray, names: Sequence[str]
) -> list[list[str]]:
    """Return the candidates of each cluster, those first that a model gives to its rows and not to others.

    Args:
        found: The candidates of each cluster.
        members: (n,) the cluster of each row.
        probabilities: (n, m) of each name on its own, whether it fits a row.
        names: (m,) all candidates.
    """
    scores = np.log(np.maximum(probabilities, _LOWEST)) - np.log(np.maximum(1 - probabilities, _LOWEST))
    means = np.stack([scores[members == one].mean(axis=0) for one in range(len(found))])  # (k, m)
    place_of = {name: place for place, name in enumerate(names)}
    result = []
    for cluster, own in enumerate(found):
        others = np.delete(means, cluster, axis=0)
        elsewhere = others.mean(axis=0) if len(others) else np.zeros(means.shape[1])
        worth = {name: means[cluster, place_of[name]] - elsewhere[place_of[name]] for name in own}
        result.append(sorted(own, key=lambda name: -worth[name]))
    return result


def as_written(found: Sequence[Sequence[str]], texts: Sequence[str]) -> dict[str, str]:
    """Return each candidate as the texts write it most often, its first letter a capital.

    A German noun and an abbreviation keep their capitals.
    """
    wanted = {word for own in found for name in own for word in name.split()}
    forms: dict[str, Counter[str]] = {word: Counter() for word in wanted}
    for text in texts:
        for word in regex.findall(r"[\p{L}\p{M}]+", text):
            if (counter := forms.get(word.lower())) is not None:
                counter[word] += 1
    usual = {word: counter.most_common(1)[0][0] if counter else word for word, counter in forms.items()}

    def written(name: str) -> str:
        text = " ".join(usual[word] for word in name.split())
        return text[:1].upper() + text[1:]

    return {name: written(name) for own in found for name in own}


def distinct(names: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the names of each cluster with a first one that no earlier cluster has, where there is one."""
    taken: set[str] = set()
    result = []
    for own in names:
        first = next((name for name in own if name.casefold() not in taken), None)
        result.append(list(own) if first is None else [first, *(name for name in own if name != first)])
        taken |= {name.casefold() for name in result[-1][:1]}
    return result


def stop_words(texts: Sequence[str]) -> frozenset[str]:
    """Return the words that name nothing in the languages of ``texts``, and those of English."""
    import stopwordsiso
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    english = ENGLISH_STOP_WORDS | _MORE_STOP_WORDS  # that library's English list has many a noun
    known = {one: stopwordsiso.stopwords(one) for one in sorted(stopwordsiso.langs())} | {"en": english}
    return english.union(*(known[one] for one in languages_of(texts, known)))


def _without_inflections(names: Sequence[str]) -> list[str]:
    """Leave out a name that differs from an earlier one by an ending of up to two letters ("refunds")."""
    kept: list[str] = []
    for name in names:
        if not any(_inflected(name, other) for other in kept):
            kept.append(name)
    return kept


def _inflected(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and long.startswith(short) and 0 < len(long) - len(short) <= 2
