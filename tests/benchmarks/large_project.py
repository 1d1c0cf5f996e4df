"""A project of millions of rows, written fast: made texts and scores, the schema and the form of our own.

The store writes rows and scores in short transactions, so that a person can decide in between: hours for ten
million rows and two runs. Here nobody waits, so all of a table goes in at once, with its indexes made behind.
What is in the file in the end is what the store would have written. Beyond a million rows the first million
is repeated by SQL alone, with a number behind each text, so that texts repeat as often as before.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

from sce_desktop.core import scoring
from sce_desktop.core.annotations import Label
from sce_desktop.store.content.rows import HASH_BYTES
from sce_desktop.store.project import Project
from sce_desktop.store.sql import now

COLUMNS = ("id", "text", "country", "amount", "day")
RARE_WORD = "zephyr"  # in one text of ten thousand
COMMON_WORD = "parcel"  # in about one of ten
_BATCH = 50_000
_WORDS = 2_000
_REPEATED = 50  # every so-manieth text is one of a few sentences
_SENTENCES = 5_000
_LABELLED = 100  # every so-manieth row
_INDEXED = ("rows", "scores")
UNIT = 1_000_000  # rows that are drawn; more are copies of them with other texts


def make(
    path: Path, *, rows: int, labels: int, multi_label: bool = False, baseline: bool = True, seed: int = 0
) -> None:
    """Make the project ``path`` with ``rows`` rows, all of them scored, one of a hundred labelled."""
    rng = np.random.default_rng(seed)
    runs = ("sce", "similarity") if baseline else ("sce",)
    with Project.create(path) as project:
        first = [("1", "the first row, which is made by the store", "land", "1.00", "2020-01-01")]
        project.add_rows(COLUMNS, [first], text_columns=[1], source={"name": "made texts"})
        label_set = project.set_labels(
            [Label(f"Intent {number}") for number in range(labels)], multi_label=multi_label
        )
        run_ids = []
        for alias in runs:
            kind = "sce" if alias == "sce" else "similarity"
            run = project.open_run(
                alias, kind, "drawn at random", "random", label_set.labels, multi_label=multi_label
            )
            project.activate(run.id)
            project.finish_run(run.id)
            run_ids.append(run.id)
    ids = [label.id or 0 for label in label_set.labels]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode = OFF")
        plain.execute("PRAGMA synchronous = OFF")
        plain.execute("PRAGMA cache_size = -200000")
        plain.execute("PRAGMA temp_store = FILE")
        indexes = plain.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
            f" AND tbl_name IN ({', '.join('?' * len(_INDEXED))})",
            _INDEXED,
        ).fetchall()
        for name, _sql in indexes:
            plain.execute(f"DROP INDEX {name}")
        plain.execute("BEGIN")
        drawn = min(rows, UNIT)
        _write_rows(plain, drawn, rng)
        for run_id in run_ids:
            _write_scores(plain, run_id, drawn, labels, rng, multi_label=multi_label)
        for start in range(UNIT, rows, UNIT):
            _repeat(plain, start, min(UNIT, rows - start), len(run_ids))
        _write_annotations(plain, rows, ids, rng)
        plain.execute("COMMIT")
        for _name, sql in indexes:
            plain.execute(sql)
        _finish(plain, rows)
        plain.execute("PRAGMA journal_mode = WAL")
    with Project.open(path) as project:
        project.build_search_index()


def _texts(rows: int, rng: np.random.Generator) -> Iterator[list[str]]:
    syllables = ["ba", "co", "di", "fu", "ge", "la", "mo", "ni", "pu", "re", "sa", "to", "vi", "wo", "zu"]
    words = [COMMON_WORD] + [
        "".join(rng.choice(syllables, size=int(rng.integers(2, 5)))) for _ in range(_WORDS - 1)
    ]
    shares = 1 / (np.arange(_WORDS) + 60.0)  # the commonest in one text of ten, six words a text
    shares /= shares.sum()
    table = np.array(words)

    def sentences(count: int) -> list[str]:
        return [" ".join(some) for some in table[rng.choice(_WORDS, size=(count, 6), p=shares)].tolist()]

    few = sentences(_SENTENCES)
    for start in range(0, rows, _BATCH):
        texts = sentences(min(_BATCH, rows - start))
        for at in range(0, len(texts), _REPEATED):
            texts[at] = few[int(rng.integers(_SENTENCES))]
        for at in range(7, len(texts), 10_000):
            texts[at] += f" {RARE_WORD}"
        yield texts


def _write_rows(plain: sqlite3.Connection, rows: int, rng: np.random.Generator) -> None:
    """Write rows after the first one."""
    number = 1
    for texts in _texts(rows - 1, rng):
        amounts = (rng.integers(0, 200_000, len(texts)) / 100).tolist()
        days = (np.datetime64("2015-01-01") + rng.integers(0, 4000, len(texts))).astype(str).tolist()
        lands = rng.integers(0, 40, len(texts)).tolist()
        records = []
        for text, amount, day, land in zip(texts, amounts, days, lands, strict=True):
            number += 1
            cells = f'["{number}","land {land}","{amount:.2f}","{day}"]'
            hashed = blake2b(text.encode(), digest_size=HASH_BYTES).digest()
            records.append((number, hashed, len(text), 0, text, cells))
        plain.executemany(
            "INSERT INTO rows (id, text_hash, length, blank, text, cells) VALUES (?, ?, ?, ?, ?, ?)", records
        )


def _write_scores(
    plain: sqlite3.Connection,
    run_id: int,
    rows: int,
    labels: int,
    rng: np.random.Generator,
    *,
    multi_label: bool,
) -> None:
    for start in range(0, rows, _BATCH):
        ids = range(start + 1, min(start + _BATCH, rows) + 1)
        drawn = rng.random((len(ids), labels), dtype=np.float32)
        for _ in range(4):
            drawn *= drawn  # one label stands out
        if not multi_label:
            drawn /= drawn.sum(axis=1, keepdims=True)
        top, confidence, margin = scoring.top(drawn)
        whole, size = drawn.astype("<f4").tobytes(), 4 * labels
        plain.executemany(
            "INSERT INTO scores (run_id, row_id, top, confidence, margin, none, probabilities)"
            " VALUES (?, ?, ?, ?, ?, NULL, ?)",
            [
                (run_id, row_id, best, sure, ahead, whole[at * size : (at + 1) * size])
                for at, (row_id, best, sure, ahead) in enumerate(
                    zip(ids, top.tolist(), confidence.tolist(), margin.tolist(), strict=True)
                )
            ],
        )


def _repeat(plain: sqlite3.Connection, start: int, count: int, runs: int) -> None:
    """Write the rows after ``start`` as the first ``count``, with other texts and their scores."""

    def hash_of(text: str) -> bytes:
        return blake2b(text.encode(), digest_size=HASH_BYTES).digest()

    plain.create_function("hash_of", 1, hash_of, deterministic=True)
    values = {"start": start, "count": count, "mark": f" {start // UNIT}"}
    plain.execute(
        "INSERT INTO rows (id, text_hash, length, blank, text, cells)"
        " SELECT id + :start, hash_of(text || :mark), length + length(:mark), blank, text || :mark,"
        " '[\"' || (id + :start) || substr(cells, instr(cells, '\",')) FROM rows WHERE id <= :count",
        values,
    )
    plain.execute(
        "INSERT INTO scores (run_id, row_id, top, confidence, margin, none, probabilities)"
        " SELECT run_id, row_id + :start, top, confidence, margin, none, probabilities FROM scores"
        " WHERE row_id <= :count AND rowid <= :drawn",
        values | {"drawn": UNIT * runs},
    )


def _write_annotations(
    plain: sqlite3.Connection, rows: int, label_ids: list[int], rng: np.random.Generator
) -> None:
    ids = np.arange(_LABELLED, rows, _LABELLED).tolist()
    kinds = rng.choice(["label", "none", "skipped"], size=len(ids), p=[0.9, 0.05, 0.05]).tolist()
    moment = now()
    plain.executemany(
        "INSERT INTO annotations (row_id, decision, origin, decided_at, queue) VALUES (?, ?, 'hand', ?, '')",
        [(row_id, kind, moment) for row_id, kind in zip(ids, kinds, strict=True)],
    )
    chosen = rng.choice(label_ids, size=len(ids)).tolist()
    plain.executemany(
        "INSERT INTO annotation_labels (row_id, label_id) VALUES (?, ?)",
        [(row, label) for row, kind, label in zip(ids, kinds, chosen, strict=True) if kind == "label"],
    )
    plain.executemany(
        "INSERT INTO marks (row_id, unsure, flag, note) VALUES (?, ?, ?, '')",
        [(row_id, at % 2, 1 - at % 2) for at, row_id in enumerate(ids[::10])],
    )


def _finish(plain: sqlite3.Connection, rows: int) -> None:
    (distinct,) = plain.execute("SELECT count(*) FROM (SELECT DISTINCT text_hash FROM rows)").fetchone()
    plain.execute(
        "UPDATE imports SET rows = ?, duplicates = ?, last_row_id = ?", (rows, rows - distinct, rows)
    )
    plain.execute("UPDATE runs SET scored = ?", (rows,))
