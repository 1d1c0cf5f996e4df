"""Texts and labels that a model cannot read: it scores them nevertheless, so the user is warned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.core.languages import (
    LEAST_SHARE,
    READS_ALL,
    READS_ENGLISH,
    READS_LATIN,
    Languages,
    Reads,
    language_name,
    language_names,
    listed,
)
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import TextModel
from sce_desktop.core.scripts import foreign_script
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.languages import EvenSample, languages_of
from sce_desktop.tasks.scoring.models import NamedModel

_MANY_TOKENS = 100_000  # a vocabulary as large as this one has words of many languages
_ENGLISH_VOCABULARIES = (28_996, 30_522, 50_265)  # BERT cased and uncased (sce-mini, MiniLM), RoBERTa


def reads(model: TextModel) -> Reads:
    """Return what ``model`` reads.

    A model may say so itself (``known_scripts``, ``known_languages``). Else its vocabulary tells: one of many
    languages reads them all, the published English ones read English, of any other the script alone is
    known. What a language model reads, nobody can tell from outside.
    """
    if hasattr(model, "known_scripts") or hasattr(model, "known_languages"):
        return Reads(getattr(model, "known_scripts", None), getattr(model, "known_languages", None))
    if model.kind == "llm":
        return READS_ALL
    embedder: Any = getattr(model, "text_embedder", None) or getattr(model, "embedder", model)
    tokenizer = getattr(embedder, "tokenizer", None) or getattr(
        getattr(embedder, "model", None), "tokenizer", None
    )
    size = getattr(tokenizer, "get_vocab_size", None)
    return _by_vocabulary(size() if size is not None else getattr(tokenizer, "vocab_size", 0))


def reads_by_name(name: str) -> Reads:
    """Return what the installed model, or the model in the folder, ``name`` reads, without loading it."""
    from sce_desktop.core.errors import UserError
    from sce_desktop.ml.hub import catalog, folders

    try:
        folder = catalog.resolve(name)
        if folders.kind_of(folder) == "llm":
            return READS_ALL
        config = folders.read_json(folder / folders.CONFIG)
    except UserError:
        return READS_ALL  # loading it will say what is wrong
    embedder = config.get("embedder")
    for place in (embedder.get("encoder") if isinstance(embedder, dict) else None, config):
        if isinstance(place, dict) and isinstance(tokens := place.get("vocab_size"), int):
            return _by_vocabulary(tokens)
    return READS_LATIN if embedder is None else READS_ALL  # an embedder of its own, in another folder


def _by_vocabulary(tokens: int) -> Reads:
    if tokens >= _MANY_TOKENS:
        return READS_ALL
    return READS_ENGLISH if tokens in _ENGLISH_VOCABULARIES else READS_LATIN


class ForeignTexts:
    """Counts the texts that one of some models cannot read; the labels are looked at too."""

    def __init__(self, named: NamedModel, labels: Sequence[Label] = ()) -> None:
        self._name = named.name
        self._reads = reads(named.model)
        self._labels = [label.name for label in labels]
        self._texts = 0
        self._scripts = Counter[str]()
        self._sample = EvenSample()

    def count(self, texts: Iterable[str]) -> None:
        """Look at more texts; blank ones are none."""
        found = [text for text in texts if not is_blank(text)]
        self.add(found, self.scripts_of(found))

    def add(self, texts: Sequence[str], scripts: Counter[str], *, count: int | None = None) -> None:
        """Count ``texts``, none of them blank, whose `scripts_of` somebody else has looked at.

        ``count``: of how many ``texts`` are a sample.
        """
        self._texts += len(texts) if count is None else count
        self._sample.add(texts)
        self._scripts += scripts

    def add_numbered(self, count: int, texts: Iterable[tuple[int, str]], scripts: Counter[str]) -> None:
        """Count ``count`` texts that are not blank, of which ``texts`` are those that `some_of` left."""
        self._texts += count
        self._sample.add_numbered(texts)
        self._scripts += scripts

    def scripts_of(self, texts: Iterable[str]) -> Counter[str]:
        """Return how many of ``texts`` are in a script that the model cannot read, by script."""
        scripts = Counter[str]()
        if self._reads.scripts is not None:
            for text in texts:
                if not text.isascii() and (script := foreign_script(text, self._reads.scripts)) is not None:
                    scripts[script] += 1
        return scripts

    def languages(self) -> Languages:
        """Return the languages of the texts, by a sample of them, and of the labels."""
        return languages_of(self._sample.texts, self._labels)

    def report(self, progress: Progress) -> None:
        """Warn of them, a sentence for texts in other scripts, in other languages, and for the labels."""
        if self._scripts:
            script = listed([script for script, _ in self._scripts.most_common()])
            foreign = self._scripts.total()
            progress.warn(
                ngettext(
                    "{count} of {texts} texts is in {script} script, which {model} cannot read: "
                    "do not rely on "
                    "its prediction.",
                    "{count} of {texts} texts are in {script} script, which {model} cannot read: "
                    "do not rely on "
                    "their predictions.",
                    foreign,
                    texts=number(self._texts),
                    script=script,
                    model=self._name,
                )
            )
        if self._reads.languages is None:
            return
        found = self.languages()
        unread = self._reads.unread_latin(found)
        if (share := sum(unread.values())) >= LEAST_SHARE:
            progress.warn(
                _(
                    "The texts are in {languages}, which {model} cannot read: do not rely on "
                    "their predictions.",
                    languages=language_names(unread),
                    model=self._name,
                )
                if share > 0.99
                else _(
                    "About {share} of the texts are in {languages}, which {model} cannot read: do "
                    "not rely on their predictions.",
                    share=percent(share),
                    languages=language_names(unread),
                    model=self._name,
                )
            )
        if not self._reads.reads_labels(found):
            progress.warn(
                _(
                    "The labels are in {language}, which {model} cannot read: do not rely on its "
                    "predictions.",
                    language=language_name(found.labels),
                    model=self._name,
                )
            )


def report_foreign(
    named: NamedModel, texts: Iterable[str], progress: Progress, labels: Sequence[Label] = ()
) -> None:
    """Warn of those of ``texts`` and ``labels`` that the model cannot read."""
    found = ForeignTexts(named, labels)
    found.count(texts)
    found.report(progress)


def report_foreign_rows(
    named: NamedModel, project: Project, progress: Progress, labels: Sequence[Label] | None = None
) -> None:
    """Warn of the rows and labels of ``project`` that the model cannot read; ``labels``: those to come.

    Raises:
        Cancelled: The user stopped.
    """
    label_set = project.label_set()
    found = ForeignTexts(named, labels or (label_set.labels if label_set is not None else ()))
    for rows in project.iter_rows():
        progress.check()
        found.count(row.text for row in rows)
    found.report(progress)
