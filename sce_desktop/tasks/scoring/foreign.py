"""Texts in scripts that a model cannot read: it scores them nevertheless, so the user is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sce_desktop.core.blank import is_blank
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import TextModel
from sce_desktop.core.scripts import KNOWN_SCRIPTS, foreign_script
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.models import NamedModel

_TOLD = 3  # scripts named in one sentence
_MANY_TOKENS = 100_000  # a vocabulary as large as this one has words of many languages


def known_scripts(model: TextModel) -> frozenset[str] | None:
    """Return the scripts that ``model`` reads; None where that is not known, and nothing should be told.

    A model may say so itself (``known_scripts``). Else an embedder with the vocabulary of one language counts
    as English, which the bundled model is; what a language model reads, nobody can tell from outside.
    """
    if hasattr(model, "known_scripts"):
        told: frozenset[str] | None = model.known_scripts
        return told
    if model.kind == "llm":
        return None
    embedder: Any = getattr(model, "text_embedder", None) or getattr(model, "embedder", model)
    tokenizer = getattr(embedder, "tokenizer", None) or getattr(
        getattr(embedder, "model", None), "tokenizer", None
    )
    size = getattr(tokenizer, "get_vocab_size", None)
    tokens = size() if size is not None else getattr(tokenizer, "vocab_size", 0)
    return None if tokens >= _MANY_TOKENS else KNOWN_SCRIPTS


class ForeignTexts:
    """Counts the texts that the first of some models cannot read."""

    def __init__(self, named: NamedModel) -> None:
        self._name = named.name
        self._known = known_scripts(named.model)
        self._texts = 0
        self._scripts = Counter[str]()

    def count(self, texts: Iterable[str]) -> None:
        """Look at more texts; blank ones are none."""
        for text in texts:
            if is_blank(text):
                continue
            self._texts += 1
            if self._known is None or text.isascii():
                continue
            if (script := foreign_script(text, self._known)) is not None:
                self._scripts[script] += 1

    def tell(self, progress: Progress) -> None:
        """Warn of them in one sentence, if there are some."""
        if not self._scripts:
            return
        names = [script for script, _ in self._scripts.most_common(_TOLD)]
        script = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        foreign = self._scripts.total()
        are = "is" if foreign == 1 else "are"
        progress.warn(
            f"{foreign:,} of {self._texts:,} texts {are} in {script} script, which {self._name} does not "
            "know: do not rely on what it says of them."
        )


def tell_foreign(named: NamedModel, texts: Iterable[str], progress: Progress) -> None:
    """Warn of those of ``texts`` that the model cannot read."""
    found = ForeignTexts(named)
    found.count(texts)
    found.tell(progress)


def tell_foreign_rows(named: NamedModel, project: Project, progress: Progress) -> None:
    """Warn of the rows of ``project`` that the model cannot read.

    Raises:
        Cancelled: The user stopped.
    """
    found = ForeignTexts(named)
    for rows in project.iter_rows():
        progress.check()
        found.count(row.text for row in rows)
    found.tell(progress)
