"""Files of a table cut into parts that workers can read alone: ranges that end with a row, or row groups.

Places are what fsspec takes: paths, folders, globs, or addresses such as s3://bucket/texts/*.parquet. A part
becomes a small file of its own beside the worker, with the header of its table, and is read as the local
engine reads a table: "007" stays "007", and a damaged line is reported, not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError, reason_of
from sce_desktop.core.i18n import _
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import Table, open_table

TEXTS = (".csv", ".tsv", ".txt")
JSON = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
ENDINGS = (*TEXTS, *JSON, *PARQUET)
PART_BYTES = 16_000_000
_HEAD = 4_000_000  # bytes of a file from which its options are found out
_CHUNK = 1_000_000
_WHOLE_ENCODINGS = ("utf-16", "utf-32", "utf_16", "utf_32", "utf-7")  # a line feed has other bytes there


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the table. ``stamp`` changes when it does, as far as its file system tells."""

    place: str
    size: int
    stamp: str

    @property
    def ending(self) -> str:
        """Its last suffix, without that of a compressed file."""
        path = Path(self.place.removesuffix(".gz"))
        return path.suffix.lower()


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a file: bytes ``start`` to ``stop`` behind a header of ``header`` bytes, or row groups.

    ``stop`` None: the whole file.
    """

    number: int
    place: str
    start: int = 0
    stop: int | None = None
    header: int = 0

    @property
    def name(self) -> str:
        """What its result is called, without the ending."""
        return f"part-{self.number:06d}"


def opened(place: str) -> tuple[Any, str]:
    """Return the file system of ``place`` and the path there.

    Raises:
        UserError: Its file system needs a package that is missing.
    """
    import fsspec

    try:
        return fsspec.core.url_to_fs(place)
    except (ImportError, ValueError, OSError) as error:
        raise UserError(
            _(
                "{place} cannot be opened ({reason}): check the address, or install what it needs.",
                place=place,
                reason=reason_of(error),
            )
        ) from None


def is_local(system: Any) -> bool:
    """Whether files of this fsspec file system are files of this machine."""
    return "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))


def sources(place: str) -> list[Source]:
    """Return the files that ``place`` names (a file, a folder or a glob), sorted by name.

    Raises:
        UserError: There is none.
    """
    system, path = opened(place)
    try:
        if any(sign in path for sign in "*?["):
            found = system.glob(path)
        elif system.isdir(path):
            found = system.find(path)
        else:
            found = [path]
        names = sorted(name for name in found if _wanted(name) or name == path)
        return [_source(system, name) for name in names] or _none(place)
    except FileNotFoundError:
        raise UserError(_("{place} does not exist.", place=place)) from None
    except OSError as error:
        raise UserError(
            _(
                "{place} cannot be read ({reason}): check the address and your rights there.",
                place=place,
                reason=reason_of(error),
            )
        ) from None


def _none(place: str) -> list[Source]:
    raise UserError(_("{place} has no CSV, JSON Lines or Parquet file.", place=place))


def _wanted(name: str) -> bool:
    last = name.rsplit("/", 1)[-1]
    return last.removesuffix(".gz").lower().endswith(ENDINGS) and not last.startswith((".", "_"))


def _source(system: Any, name: str) -> Source:
    facts = system.info(name)
    stamp = next((str(facts[key]) for key in ("ETag", "etag", "mtime", "LastModified") if facts.get(key)), "")
    source = Source(system.unstrip_protocol(name) if not is_local(system) else name, facts["size"], stamp)
    if source.ending not in ENDINGS:
        raise UserError(
            _("{file} cannot be read in parts: give CSV, TSV, JSON Lines or Parquet.", file=Path(name).name)
        )
    return source


def look(source: Source, options: TableOptions, folder: Path) -> Table:
    """Open the beginning of ``source``: what its columns and its options are.

    Raises:
        UserError: It is no table.
    """
    if source.ending in PARQUET:
        return open_table(_fetch(Part(0, source.place), folder), options)
    system, path = opened(source.place)
    if is_local(system):
        return open_table(path, options)
    with system.open(path, "rb") as file:
        head = file.read(_HEAD)
    if len(head) < source.size and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    target = folder / f"head{source.ending}"
    target.write_bytes(head)
    return open_table(target, options)


def cut(files: Sequence[Source], options: TableOptions, *, part_bytes: int = PART_BYTES) -> list[Part]:
    """Return the parts of ``files``, which are read with ``options`` as `look` found them."""
    ranges = (one for source in files for one in _ranges(source, options, part_bytes))
    return [replace(part, number=number) for number, part in enumerate(ranges)]


def _ranges(source: Source, options: TableOptions, step: int) -> Iterator[Part]:
    system, path = opened(source.place)
    whole = Part(0, source.place)
    if source.ending in PARQUET:
        import pyarrow.parquet as pq

        with system.open(path, "rb") as file:
            facts = pq.ParquetFile(file).metadata
            sizes = [facts.row_group(group).total_byte_size for group in range(facts.num_row_groups)]
        yield from _groups(source, sizes, step) if len(sizes) > 1 else [whole]
        return
    encoding = (options.encoding or "utf-8").lower()
    plain = not options.escape and options.quote in (None, '"') and (options.header_row or 0) < 2
    if (
        source.size <= step
        or source.place.endswith(".gz")
        or encoding.startswith(_WHOLE_ENCODINGS)
        or not plain
    ):
        yield whole
        return
    json = source.ending in JSON
    with system.open(path, "rb") as file:
        ends = list(_ends(file, step, quoted=not json and options.quoting is not False))
    header = 0 if json or options.header_row == 0 else ends[0]
    starts = [header, *(end for end in ends[1:] if end > header)]
    if len(starts) < 2:
        yield whole
        return
    for start, stop in zip(starts, [*starts[1:], source.size], strict=True):
        if stop > start:
            yield Part(0, source.place, start, stop, header)


def _groups(source: Source, sizes: Sequence[int], step: int) -> Iterator[Part]:
    start, bytes_ = 0, 0
    for group, size in enumerate(sizes):
        bytes_ += size
        if bytes_ >= step or group == len(sizes) - 1:
            yield Part(0, source.place, start, group + 1)
            start, bytes_ = group + 1, 0


def _ends(file: Any, step: int, *, quoted: bool) -> Iterator[int]:
    """Yield where the first row ends, then the first row end behind every ``step`` bytes.

    A line feed between quotes ends no row: there an odd number of quotes comes before it.
    """
    at, quotes, wanted = 0, 0, 0
    while chunk := file.read(_CHUNK):
        place = max(0, wanted - at)
        while place < len(chunk):
            found = chunk.find(b"\n", place)
            if found < 0:
                break
            if quoted and (quotes + chunk.count(b'"', 0, found)) % 2:
                place = found + 1
                continue
            yield at + found + 1
            wanted = at + found + step
            place = wanted - at
        quotes += chunk.count(b'"')
        at += len(chunk)


def open_part(part: Part, options: TableOptions, folder: Path) -> Table:
    """Open a part as a table; a copy goes to ``folder`` where it is not a whole file of this machine."""
    return open_table(_fetch(part, folder), options)


def _fetch(part: Part, folder: Path) -> Path:
    system, path = opened(part.place)
    if part.stop is None and is_local(system):
        return Path(path)
    target = folder / f"{part.name}{''.join(Path(part.place).suffixes[-2:])}"
    if part.stop is None:
        system.get_file(path, str(target))
    elif Path(path).suffix.lower() in PARQUET:
        import pyarrow.parquet as pq

        with system.open(path, "rb") as file:
            source = pq.ParquetFile(file)
            with pq.ParquetWriter(target, source.schema_arrow) as writer:
                for group in range(part.start, part.stop):
                    writer.write_table(source.read_row_group(group))
    else:
        with system.open(path, "rb") as file, target.open("wb") as copy:
            copy.write(file.read(part.header))
            file.seek(part.start)
            left = part.stop - part.start
            while left and (chunk := file.read(min(left, _CHUNK))):
                copy.write(chunk)
                left -= len(chunk)
    return target
