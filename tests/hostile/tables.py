"""Tables and files of labels that mean ill: small files that ask for gigabytes or hours, and lies.

Each builder writes one file into a folder and returns its path. `BOMBS` has them by name; names that begin
with ``labels`` are files of labels. ``python -m tests.hostile tables`` meets them in every way.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import os
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from tests.hostile import parquet_tables, reading, workbook_tables
from tests.hostile.trial import Ended, trial

Builder = Callable[[Path], Path]
BOMBS: dict[str, Builder] = {}

_MB = 1_000_000
SECONDS, MEMORY = 10, 1 << 30
"""Of the processor and in bytes, within which each must be read or refused."""


def bomb(build: Builder) -> Builder:
    """Add a builder to `BOMBS` under its name."""
    BOMBS[build.__name__.lstrip("_")] = build
    return build


def _text(folder: Path, name: str, pieces: Iterable[str | bytes]) -> Path:
    path = folder / name
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece.encode() if isinstance(piece, str) else piece)
    return path


# --- delimited text


@bomb
def wide_header(folder: Path) -> Path:
    """A million columns, which took 5 GB."""
    return _text(folder, "a.csv", [",".join(f"c{n}" for n in range(1_000_000)), "\n1,2\n"])


@bomb
def wide_row(folder: Path) -> Path:
    """Two columns, then a row of 3 million cells."""
    return _text(folder, "a.csv", ["id,text\n1,a\n", "," * (3 * _MB), "x\n"])


@bomb
def wide_rows(folder: Path) -> Path:
    """32,000 columns and rows that fill them all."""
    row = ",".join("x" * 32_000) + "\n"
    return _text(folder, "a.csv", [",".join(f"c{n}" for n in range(32_000)), "\n", row * 60])


@bomb
def quotes(folder: Path) -> Path:
    """Nothing but quotes: 27 seconds for 50 MB."""
    return _text(folder, "a.csv", ["id,text\n", ('"' * 4999 + "\n") * 1_000])


@bomb
def quotes_in_one_line(folder: Path) -> Path:
    """Quotes without a line end."""
    return _text(folder, "a.csv", ["id,text\n", '"' * (5 * _MB)])


@bomb
def open_quotes(folder: Path) -> Path:
    """Each line opens a quote that is never closed."""
    return _text(folder, "a.csv", ["id,text\n", '1,"late\n' * 100_000])


@bomb
def quote_never_closed(folder: Path) -> Path:
    """One quote is opened in the first row, and 8 MB follow it."""
    return _text(folder, "a.csv", ['id,text\n1,"late\n', "2,plain text without an end of quotes\n" * 200_000])


@bomb
def returns_behind_quotes(folder: Path) -> Path:
    """A carriage return behind each quoted cell of one line, which was copied for each of them."""
    return _text(folder, "a.csv", ["id,text\n1,2\n", '"a"\r,' * 200_000, "x\n"])


@bomb
def tabs(folder: Path) -> Path:
    """Nothing but tabs, each of which may be where spaces before a quote begin."""
    return _text(folder, "a.csv", ["id,text\n", "\t" * 500_000, "\n"])


@bomb
def single_quotes(folder: Path) -> Path:
    """Single quotes that open everywhere and close nowhere."""
    return _text(folder, "a.csv", ["id,text\n", ",'x" * 200_000, "\n"])


@bomb
def backslashes(folder: Path) -> Path:
    """Backslashes before quotes, and before nothing."""
    return _text(folder, "a.csv", ["id,text\n", '"\\"' * 200_000, "\n", "\\" * _MB, "\n"])


@bomb
def blank_lines(folder: Path) -> Path:
    """A million lines without anything in them."""
    return _text(folder, "a.csv", ["id,text\n1,a\n", "\n" * _MB])


@bomb
def carriage_returns(folder: Path) -> Path:
    """Lone carriage returns within a line, each of which may be the end of a row."""
    return _text(folder, "a.csv", ["id,text\n", "1,a\r" * 150_000, "\n"])


@bomb
def no_line_end(folder: Path) -> Path:
    """A line of 40 MB of a character that takes four bytes in memory."""
    return _text(folder, "a.csv", ["id,text\n1,", "👍".encode() * (10 * _MB)])


@bomb
def long_column_name(folder: Path) -> Path:
    """A header of one name of 8 MB, which no message shall repeat."""
    return _text(folder, "a.csv", ["id,", "n" * (8 * _MB), "\n1,a\n2,b\n3,c\n"])


@bomb
def nul_bytes(folder: Path) -> Path:
    """5 MB of zero bytes behind a header."""
    return _text(folder, "a.csv", ["id,text\n1,a\n" * 20_000, b"\0" * (5 * _MB)])


@bomb
def surrogates(folder: Path) -> Path:
    """UTF-16 in which no pair of halves fits."""
    return _text(folder, "a.csv", [b"\xff\xfe", "id,text\n".encode("utf-16-le"), b"\x00\xd8" * _MB])


@bomb
def broken_bytes(folder: Path) -> Path:
    """Rows of bytes that are no text in UTF-8, behind enough that are."""
    good = "1,schön\n".encode() * 40_000
    return _text(folder, "a.csv", [b"id,text\n", good, b"2,\xff\xfe\xff\n" * 50_000])


# --- compressed


def _gzip(folder: Path, name: str, head: bytes, line: bytes, size: int) -> Path:
    path = folder / name
    piece = line * (_MB // len(line))
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(head)
        for _ in range(size // len(piece)):
            file.write(piece)
    return path


@bomb
def gzip_rows(folder: Path) -> Path:
    """A gzip file whose rows are 400 times its size."""
    return _gzip(folder, "a.csv.gz", b"id,text\n", b"1,aaaaaaaaaaaaaaaa\n", 200 * _MB)


@bomb
def gzip_zeros(folder: Path) -> Path:
    """A gzip file of a line without end."""
    return _gzip(folder, "a.csv.gz", b"id,text\n1,", b"0", 200 * _MB)


@bomb
def gzip_json(folder: Path) -> Path:
    """A gzip file of JSON Lines."""
    return _gzip(folder, "a.jsonl.gz", b"", b'{"text": "aaaaaaaaaaaaaa"}\n', 200 * _MB)


@bomb
def gzip_in_gzip(folder: Path) -> Path:
    """A gzip file in a gzip file."""
    path = _gzip(folder, "a.csv.gz", b"id,text\n", b"1,a\n", 20 * _MB)
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


@bomb
def bzip2(folder: Path) -> Path:
    """A bzip2 file: it is not unpacked."""
    return _text(folder, "a.csv.bz2", [bz2.compress(b"id,text\n" + b"1,a\n" * (10 * _MB // 4))])


@bomb
def xz(folder: Path) -> Path:
    """An xz file."""
    return _text(folder, "a.csv.xz", [lzma.compress(b"id,text\n" + b"1,a\n" * (10 * _MB // 4), preset=1)])


@bomb
def zstd(folder: Path) -> Path:
    """A Zstandard file."""
    import pyarrow as pa

    packed = pa.compress(b"id,text\n" + b"1,a\n" * (10 * _MB // 4), codec="zstd", asbytes=True)
    return _text(folder, "a.csv.zst", [packed])


@bomb
def zip_of_a_table(folder: Path) -> Path:
    """A zip file of one CSV file of 200 MB."""
    path = folder / "a.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
        file.write(b"id,text\n")
        for _ in range(200):
            file.write(b"1,a\n" * (_MB // 4))
    return path


@bomb
def zip_of_many_files(folder: Path) -> Path:
    """A zip file of 300,000 files of nothing, which calls itself a workbook."""
    path = folder / "a.xlsx"
    with path.open("wb") as file:
        entries = []
        for number in range(300_000):
            name = b"%06d" % number
            at = file.tell()
            file.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, 6, 0) + name)
            entries.append(
                struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 6, 0, 0, 0, 0, 0, at)
                + name
            )
        at = file.tell()
        directory = b"".join(entries)
        file.write(directory)
        count, size = len(entries), len(directory)
        end = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, at)
        file.write(end + struct.pack("<4sIQI", b"PK\x06\x07", 0, at + size, 1))
        file.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    return path


# --- JSON


@bomb
def new_keys(folder: Path) -> Path:
    """200,000 rows, each with a key of its own, which took 4.8 GB."""
    return _text(folder, "a.jsonl", (f'{{"k{n}": "x"}}\n' for n in range(200_000)))


@bomb
def new_keys_between(folder: Path) -> Path:
    """20,000 rows with a new key between two known ones, which moved all columns each time."""
    return _text(folder, "a.jsonl", (f'{{"a": "x", "k{n}": "x", "b": "x"}}\n' for n in range(20_000)))


@bomb
def keys_in_one_object(folder: Path) -> Path:
    """One object of 300,000 keys."""
    return _text(folder, "a.jsonl", ["{", ", ".join(f'"k{n}": 1' for n in range(300_000)), "}\n"])


@bomb
def deep_lines(folder: Path) -> Path:
    """Lines that nest 100,000 deep."""
    return _text(folder, "a.jsonl", ['{"text": "a"}\n', ("[" * 100_000 + "]" * 100_000 + "\n") * 20])


@bomb
def deep_document(folder: Path) -> Path:
    """A document that nests a million deep."""
    return _text(folder, "a.json", ['{"a":' * 1_000_000, "1", "}" * 1_000_000])


@bomb
def long_places(folder: Path) -> Path:
    """Thousands of lists behind a key of 5 MB, whose places were all spelled out."""
    inner = ", ".join(f'"{n}": [{{"x": 1}}]' for n in range(10_000))
    return _text(folder, "a.json", ['{"', "k" * (5 * _MB), '": {', inner, "}}"])


@bomb
def small_values(folder: Path) -> Path:
    """A document of 6 million values."""
    return _text(folder, "a.json", ['[{"text": [', "0," * (6 * _MB), "0]}]"])


@bomb
def empty_objects(folder: Path) -> Path:
    """A document of 3 million objects without keys."""
    return _text(folder, "a.json", ['[{"text": "a"}', ",{}" * (3 * _MB), "]"])


@bomb
def huge_number(folder: Path) -> Path:
    """Numbers of two million digits, which Python needs minutes to read as such."""
    digits = "9" * (2 * _MB)
    return _text(folder, "a.jsonl", ['{"text": ', digits, '}\n{"text": 1e', digits, "}\n"])


@bomb
def long_json_line(folder: Path) -> Path:
    """A text of 40 MB in one line."""
    return _text(folder, "a.jsonl", ['{"text": "', "a" * (40 * _MB), '"}\n'])


@bomb
def repeated_keys(folder: Path) -> Path:
    """An object that says a key 500,000 times."""
    return _text(folder, "a.jsonl", ["{", ", ".join('"k": 1' for _ in range(500_000)), "}\n"])


# --- files of labels


@bomb
def labels_many(folder: Path) -> Path:
    """Half a million labels."""
    return _text(folder, "labels.txt", (f"label {n}\n" for n in range(500_000)))


@bomb
def labels_long(folder: Path) -> Path:
    """One label of 40 MB."""
    return _text(folder, "labels.txt", ["a\n", "b" * (40 * _MB), "\n"])


@bomb
def labels_gzip(folder: Path) -> Path:
    """Labels in a gzip file of 200 MB."""
    return _gzip(folder, "labels.txt", b"a\n", b"b\n", 200 * _MB)


@bomb
def labels_deep(folder: Path) -> Path:
    """JSON that nests a million deep."""
    return _text(folder, "labels.json", ["[" * 1_000_000, "]" * 1_000_000])


@bomb
def labels_json(folder: Path) -> Path:
    """Three million values that are no labels."""
    return _text(folder, "labels.json", ["[", "0," * (3 * _MB), "0]"])


@bomb
def labels_synonyms(folder: Path) -> Path:
    """One label with a million synonyms."""
    return _text(folder, "labels.json", ['[{"name": "a", "synonyms": [', '"b",' * _MB, '"c"]}, "d"]'])


@bomb
def labels_wide(folder: Path) -> Path:
    """A table of labels with a million columns."""
    return _text(folder, "labels.csv", ["name,", ",".join(f"c{n}" for n in range(1_000_000)), "\na,b\n"])


@bomb
def labels_workbook(folder: Path) -> Path:
    """A workbook of labels that unpacks to 300 MB."""
    path = workbook_tables.blank_cells(folder)
    return path.rename(folder / "labels.xlsx")


for _build in (*workbook_tables.BUILDERS, *parquet_tables.BUILDERS):
    bomb(_build)


def build(name: str, folder: Path) -> Path:
    """Write the file ``name`` in a child, so that what it takes to make counts for nobody else."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            BOMBS[name](folder)
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"{name} was not built")
    (path,) = folder.iterdir()
    return path


def ways_of(name: str) -> tuple[Callable[[Path], str], ...]:
    """Return in which ways a file can be met, the one of the window first."""
    if name.startswith("labels"):
        return (reading.read_labels, reading.labels_of_classify)
    return (reading.import_it, reading.project_create, reading.classify)


def met(name: str, way: Callable[[Path], str], folder: Path, *, seconds: float = 3 * SECONDS) -> Ended:
    """Build the file ``name`` in ``folder`` unless it is there, meet it in one way and clean up."""
    place = folder / name
    if place.exists():
        (path,) = place.iterdir()
    else:
        place.mkdir()
        path = build(name, place)
    ended = trial(partial(way, path), seconds=seconds)
    for other in place.iterdir():
        if other != path:
            shutil.rmtree(other) if other.is_dir() else other.unlink()
    return ended


def is_good(ended: Ended) -> bool:
    """Whether a file was read or refused in one sentence, in time and in little memory."""
    return ended.word in ("read", "refused") and ended.seconds < SECONDS and ended.memory < MEMORY


def main(arguments: list[str]) -> int:
    """Meet every file and say how it ended; 1 if one ended badly."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile tables", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(BOMBS), default=list(BOMBS), metavar="NAME")
    parser.add_argument("--first-way", action="store_true", help="the way of the window alone")
    args = parser.parse_args(arguments)
    reading.load_everything()
    bad = count = 0
    worst = 0.0, 0
    for name in args.only:
        with tempfile.TemporaryDirectory() as folder:
            for way in ways_of(name)[: 1 if args.first_way else None]:
                ended = met(name, way, Path(folder))
                count += 1
                bad += not is_good(ended)
                worst = max(worst[0], ended.seconds), max(worst[1], ended.memory)
                print(f"{'ok ' if is_good(ended) else 'BAD'} {name} {way.__name__}: {ended}", flush=True)
    print(
        f"{len(args.only)} files, {count} trials, {bad} bad; worst {worst[0]:.1f} s of the processor, "
        f"{worst[1] >> 20} MiB"
    )
    return 1 if bad else 0
