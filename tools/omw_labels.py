"""Makes omw.jsonl.gz for resources/pretrain/sce-multi.toml: WordNet glosses with labels in many languages.

    python tools/omw_labels.py OMW/wns WORDNET/dict/data.noun omw.jsonl.gz

OMW is a checkout of the Open Multilingual Wordnet (github omwn/omw-data; each wordnet under its own open
licence), WORDNET that of WordNet 3.0. A line is one noun sense: ``t`` its English gloss, ``p`` for each
language the lemmas of the sense, then of the senses above it, ``d`` its definitions in other languages. The
senses that most languages name come first; ``--senses`` says how many are kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

LANGUAGES = frozenset(
    """
als arb ben bul cat ces cmn deu ell eus fas fin fra glg heb hin
hrv hun hye ind isl ita jpn kat khm kor lit mya nld nob pol por
rus slk slv spa swa swe tam tel tha tur ukr urd vie zsm
""".split()  # noqa: SIM905 - a list of strings would fill fifty lines
)
ABOVE = 3
VOWEL_SIGNS = re.compile("[\u0591-\u05c7\u064b-\u0652]")  # Hebrew, Arabic: not written in ordinary texts


def english(path: Path) -> dict[str, tuple[str, list[str], list[str]]]:
    """Return by offset: the gloss without its examples, the lemmas, the offsets right above."""
    senses = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        facts, gloss = line.split(" | ", 1)
        words = facts.split()
        count = int(words[3], 16)
        lemmas = [words[4 + 2 * i].replace("_", " ") for i in range(count)]
        above = re.findall(r"@i? (\d{8}) n", facts)
        senses[words[0]] = (re.split(r'; "', gloss)[0].strip().rstrip(";"), lemmas, above)
    return senses


def main() -> None:
    """Read the wordnets and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wordnets", type=Path)
    parser.add_argument("nouns", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--senses", type=int, default=6000)
    args = parser.parse_args()
    senses = english(args.nouns)
    lemmas: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    translations: dict[str, dict[str, str]] = defaultdict(dict)
    files = sorted(
        args.wordnets.glob("*/wn-*.tab"), key=lambda p: (p.parent.name in ("wikt", "cldr"), p.name)
    )
    for file in files:
        language = file.stem.split("-")[-1]
        if language not in LANGUAGES:
            continue
        for line in file.read_text(encoding="utf-8").splitlines():
            parts = line.split("\t")
            if line.startswith("#") or len(parts) < 3 or not parts[0].endswith("-n"):
                continue
            offset, kind, text = parts[0][:8], parts[1].split(":")[-1], parts[-1].strip().replace("_", " ")
            if VOWEL_SIGNS.search(text):
                continue
            if kind == "lemma" and text not in lemmas[offset][language] and len(text) <= 40:
                lemmas[offset][language].append(text)
            elif kind == "def" and len(text) >= 20:
                translations[offset].setdefault(language, text)
    order = sorted((o for o in senses if o in lemmas), key=lambda o: (-len(lemmas[o]), o))[: args.senses]
    with gzip.GzipFile(args.output, "wb", mtime=0) as out:
        for offset in order:
            gloss, own, _ = senses[offset]
            chain, at = [], offset
            while senses[at][2] and len(chain) < ABOVE:
                at = senses[at][2][0]
                chain.append(at)
            groups = {"eng": [own[:3], *(senses[o][1][:2] for o in chain)]}
            for language, names in sorted(lemmas[offset].items()):
                groups[language] = [
                    names[:3],
                    *(lemmas[o][language][:2] for o in chain if lemmas[o].get(language)),
                ]
            line = {"t": gloss, "p": groups, "d": translations.get(offset, {})}
            out.write((json.dumps(line, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main()
