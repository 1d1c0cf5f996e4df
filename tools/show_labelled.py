"""Show what ``sce-desktop classify`` wrote: the first rows, and how many rows each label got.

Usage: show_labelled.py CSV TEXT_COLUMN
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

ROWS = 12
WIDTH = 58


def main(path: str, text_column: str) -> None:
    """Print a short table of the file at ``path``."""
    csv.field_size_limit(2**31 - 1)
    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print(f"\n{text_column:<{WIDTH}}  {'SCE':<18} {'':>5}  similarity")
    for row in rows[:ROWS]:
        text = " ".join(row[text_column].split())
        if len(text) > WIDTH:
            text = text[: WIDTH - 1] + "…"
        share = f"{float(row['sce_confidence']):.0%}" if row["sce_confidence"] else ""
        print(f"{text:<{WIDTH}}  {row['sce_label']:<18} {share:>5}  {row['similarity_label']}")
    counts = Counter(row["sce_label"] or "(blank)" for row in rows)
    print("\n" + ", ".join(f"{label} {n}" for label, n in counts.most_common()))
    print(f"All {len(rows)} rows with every probability: {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
