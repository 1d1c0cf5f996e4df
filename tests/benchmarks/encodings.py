"""How often the encoding of a table is guessed right, by language, code page and number of lines.

The tables are made of `feedback.json`, which nothing in the program was tuned on. ``PYTHONPATH`` may name
another version of the program to compare with.
"""

from __future__ import annotations

import json
import random
import tempfile
import unicodedata
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.data.tables import preview_table

_TEXTS = Path(__file__).with_name("feedback.json")
_TONES = "\u0300\u0301\u0303\u0309\u0323"  # are characters of their own in Vietnamese cp1258


def encoded(text: str, encoding: str) -> bytes:
    """Return the bytes of ``text``; raises UnicodeEncodeError for what the encoding has not."""
    if encoding == "cp1258":
        text = "".join(map(_with_tone_apart, text))
    return text.encode(encoding)


def _with_tone_apart(character: str) -> str:
    parts = unicodedata.normalize("NFD", character)
    tones = "".join(part for part in parts if part in _TONES)
    return unicodedata.normalize("NFC", "".join(part for part in parts if part not in _TONES)) + tones


def table(lines: list[str], encoding: str, count: int, seed: str) -> bytes:
    """Return a csv file of ``count`` rows, each of one or two ``lines``."""
    choose = random.Random(seed)
    rows = [" ".join(choose.sample(lines, choose.choice((1, 1, 2)))) for _ in range(count)]
    text = "id,text,rating\n" + "".join(
        f'{number},"{row}",{choose.randint(1, 5)}\n' for number, row in enumerate(rows, start=1)
    )
    return encoded(text, encoding)


def judged(path: Path, content: bytes, encoding: str) -> tuple[bool, bool]:
    """Return whether the table is read right, and whether a doubt is told."""
    path.write_bytes(content)
    wanted = unicodedata.normalize("NFC", content.decode(encoding))
    try:
        preview = preview_table(path)
    except UserError:
        return False, True
    cells = [cell or "" for row in preview.rows for cell in row]
    right = all(unicodedata.normalize("NFC", cell) in wanted for cell in cells)
    return right, bool(getattr(preview, "doubts", ()))


def run(*, files: int, line_counts: tuple[int, ...] = (3, 10, 100)) -> None:
    """Print one row for each language and code page; both totals count every file once."""
    languages = json.loads(_TEXTS.read_text(encoding="utf-8"))
    print("\n== encodings: files read right, of them told as doubtful; of the wrong ones, told ==")
    print(f"{'language':22} {'code page':10}" + "".join(f"{f'{count} lines':>26}" for count in line_counts))
    totals = {count: [0, 0, 0, 0] for count in line_counts}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for language, facts in languages.items():
            for encoding in facts["encodings"]:
                shown = []
                for count in line_counts:
                    seeds = (f"{language} {encoding} {count} {seed}" for seed in range(files))
                    tables = (table(facts["lines"], encoding, count, seed) for seed in seeds)
                    found = [judged(path, content, encoding) for content in tables]
                    numbers = [
                        found.count((True, False)) + found.count((True, True)),
                        found.count((True, True)),
                        found.count((False, False)) + found.count((False, True)),
                        found.count((False, True)),
                    ]
                    totals[count] = [a + b for a, b in zip(totals[count], numbers, strict=True)]
                    shown.append(_words(numbers))
                print(f"{language:22} {encoding:10}" + "".join(f"{words:>26}" for words in shown))
    print(f"{'all':33}" + "".join(f"{_words(totals[count]):>26}" for count in line_counts))


def _words(numbers: list[int]) -> str:
    right, doubted, wrong, told = numbers
    return f"{right}/{right + wrong} ({doubted}); {told}/{wrong}"
