"""How well libraries tell languages, and what the program makes of whole tables; see docs/adr/0020.

Libraries that are not installed are left out. English texts are those of ``validation``, others those of
``multilingual`` and of `feedback.json`, short messages that nothing was tuned on.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sce_desktop.core.languages import ENGLISH, NAMES, UNKNOWN, code_of
from sce_desktop.tasks.languages import EvenSample, _likeliest, languages_of
from tests.benchmarks.measure import print_table

ROWS = 300  # of a set
FEW_WORDS = 4
_FEEDBACK = Path(__file__).with_name("feedback.json")
_SIB = {"arb": "ar", "deu": "de", "fra": "fr", "hin": "hi", "jpn": "ja", "pol": "pl", "por": "pt"} | {
    "rus": "ru",
    "spa": "es",
    "tur": "tr",
    "vie": "vi",
    "zho": "zh",
}
_LATIN = ("de", "es", "fr", "pl", "pt", "tr", "vi")
Teller = Callable[[str], str]


def read(path: Path) -> tuple[list[str], list[str]]:
    """Return the texts of a set and its label names."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], list(dict.fromkeys(row["label"] for row in rows))


def _some(texts: Sequence[str]) -> list[str]:
    return random.Random(0).sample(texts, min(ROWS, len(texts)))


def _few_words(text: str) -> str:
    return " ".join(text.split()[:FEW_WORDS])


# --- the libraries -----------------------------------------------------------------------------------------


def _fasttext() -> Teller:
    return lambda text: _likeliest(text)[0]


def _py3langid() -> Teller:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return lambda text: str(identifier.classify(text)[0])


def _eld() -> Teller:
    from eld import LanguageDetector

    detector = LanguageDetector()
    return lambda text: str(detector.detect(text).language or "")


def _pycld2() -> Teller:
    import pycld2

    return lambda text: str(pycld2.detect(text.encode(errors="ignore"))[2][0][1])


def _langdetect() -> Teller:
    import langdetect

    langdetect.DetectorFactory.seed = 0
    return lambda text: str(langdetect.detect(text))


def _lingua() -> Teller:
    from lingua import LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().build()

    def tell(text: str) -> str:
        found = detector.detect_language_of(text)
        return found.iso_code_639_1.name.lower() if found else ""

    return tell


def _chardet() -> Teller:
    import chardet

    return lambda text: str(chardet.detect(text.encode())["language"] or "")


LIBRARIES: dict[str, tuple[str, Callable[[], Teller]]] = {
    "fastText lid.176.ftz": ("fasttext", _fasttext),
    "py3langid": ("py3langid", _py3langid),
    "eld": ("eld", _eld),
    "pycld2": ("pycld2", _pycld2),
    "chardet": ("chardet", _chardet),
    "langdetect": ("langdetect", _langdetect),
    "lingua": ("lingua", _lingua),
}


def _share(tell: Teller, texts: Iterable[str], code: str) -> float:
    told = []
    for text in texts:
        try:
            told.append(code_of(tell(text).lower().split("-")[0]) == code)
        except Exception:  # each library has errors of its own for a text that it cannot judge
            told.append(False)
    return sum(told) / len(told)


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values)


def _measured(make: Callable[[], Teller], english: Any, others: Any, short: Any) -> list[str]:
    started = time.perf_counter()
    tell = make()
    tell("Where is my parcel?")
    load = time.perf_counter() - started
    mixed = [text for texts in (*english.values(), *others.values()) for text in texts[:25]][:500]
    started = time.perf_counter()
    _share(tell, mixed, "en")
    pace = (time.perf_counter() - started) * 500 / len(mixed)
    whole = [_share(tell, texts, "en") for texts in english.values()]
    few = _mean(_share(tell, map(_few_words, texts), "en") for texts in english.values())
    right = _mean(_share(tell, texts, code) for code, texts in others.items())
    taken = _mean(_share(tell, map(_few_words, others[code]), "en") for code in _LATIN)
    messages = _mean(_share(tell, texts, code) for code, texts in short.items())
    figures = (_mean(whole), min(whole), few, right, taken, messages)
    return [f"{load:.2f}", f"{1000 * pace:.0f}", *(f"{100 * one:.1f}" for one in figures)]


def run(data: Path) -> None:
    """Print a table of the libraries, then what `languages_of` makes of every set."""
    sets = {path.name.split(".")[0]: read(path) for path in sorted((data / "validation").glob("*.jsonl.gz"))}
    english = {name: _some(texts) for name, (texts, _) in sets.items()}
    others = {code: _some(read(data / f"multilingual/sib_{sib}.jsonl.gz")[0]) for sib, code in _SIB.items()}
    codes = {name: code for code, name in NAMES.items()}
    feedback = json.loads(_FEEDBACK.read_text(encoding="utf-8"))
    short = {codes[name]: found["lines"] for name, found in feedback.items() if name in codes}
    rows = []
    for name, (module, make) in LIBRARIES.items():
        if importlib.util.find_spec(module) is not None:
            rows.append([name, *_measured(make, english, others, short)])
    few = f"{FEW_WORDS} words"
    header = ["library", "load s", "ms a sample", "English", "lowest set", few, "others right"]
    print_table(
        "Languages of single texts, in per cent",
        [*header, f"others as English, {few}", "messages"],
        rows,
        ["a sample: 500 texts; lowest set: the English one in which fewest texts are taken for English"],
    )
    _print_tables(data)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _print_tables(data: Path) -> None:
    found = []
    for part in ("validation", "train", "multilingual"):
        for path in sorted((data / part).glob("*.jsonl.gz")):
            texts, labels = read(path)
            sample = EvenSample()
            sample.add(texts)
            started = time.perf_counter()
            whole = languages_of(sample.texts, labels)
            seconds = time.perf_counter() - started
            cut = languages_of([" ".join(text.split()[:3]) for text in sample.texts])
            found.append((part, path.name.split(".")[0], whole, cut.foreign, seconds))
    for part in ("validation", "train", "multilingual"):
        mine = [one[1:] for one in found if one[0] == part]
        foreign = sorted((whole.foreign, name) for name, whole, _, _ in mine)
        labels = [name for name, whole, _, _ in mine if whole.labels not in (ENGLISH, UNKNOWN)]
        (least, first), (most, last) = foreign[0], foreign[-1]
        cut = [one[2] for one in mine]
        slowest = max(one[3] for one in mine)
        print(
            f"{part}: {len(mine)} sets; rows in other languages {least:.3f} ({first}) to {most:.3f} "
            f"({last}), by three words a row {min(cut):.3f} to {max(cut):.3f}; "
            f"labels in other languages: {len(labels)}; {slowest:.2f} s at most"
        )
