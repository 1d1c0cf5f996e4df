"""``python -m tests.fuzz readers --coverage``: inputs that reach new code of the readers are varied further.

atheris (libFuzzer) counts which branches of `sce_desktop.data` an input takes. It works in a child process
that ends when an input hangs or takes 2 GiB; this module starts the next one, which goes on with the inputs
that were worth keeping. What raises anything but a `UserError` is kept and does not end it. So is what is
read but is not the same after it was written and read again (`tests.fuzz.round_trip`). Needs the extra
``fuzz``; Linux only.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from hashlib import sha1
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sce_desktop.core.errors import UserError

SECONDS = 10  # of the processor, for one input
LONGEST_SENTENCE = 600  # characters
_CLOCK = 150  # by the clock: the machine may do other work
_MEMORY = 2048  # MiB
_SEEDS = 400
_CELLS = 2_000  # that are written and read again
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# What the first byte of an input makes of the rest: a file of that name, or a part of a workbook.
SHAPES = (
    *("a.csv", "a.tsv", "a.txt", "a.csv", "a.json", "a.jsonl", "a.json", "a.jsonl"),
    *("labels.txt", "labels.json", "labels.jsonl", "labels.csv"),
    *("a.xlsx", "a.ods", "a.xls", "a.parquet", "a.csv.gz"),
    *("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml", "content.xml"),
)


def content_of(data: bytes) -> tuple[str, bytes]:
    """Return the name and the content of the file that an input stands for."""
    shape = SHAPES[data[0] % len(SHAPES)]
    if "/" not in shape and shape != "content.xml":
        return shape, data[1:]
    parts = {
        "_rels/.rels": _relations([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns:r="{_OFFICE}"><sheets><sheet name="S" r:id="rId1"/></sheets>'
        "</workbook>",
        "xl/worksheets/sheet1.xml": '<worksheet><sheetData><row><c t="str"><v>text</v></c></row>'
        '<row><c t="s"><v>0</v></c><c s="1"><v>45413.5</v></c></row></sheetData></worksheet>',
        "xl/sharedStrings.xml": "<sst><si><t>late</t></si></sst>",
        "xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": _relations(
            [
                ("rId1", "worksheet", "worksheets/sheet1.xml"),
                ("rId2", "sharedStrings", "sharedStrings.xml"),
                ("rId3", "styles", "styles.xml"),
            ]
        ),
    }
    if shape == "content.xml":
        parts = {"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            if name != shape:
                archive.writestr(name, text)
        archive.writestr(shape, data[1:])
    return ("a.ods" if shape == "content.xml" else "a.xlsx"), buffer.getvalue()


def _relations(targets: list[tuple[str, str, str]]) -> str:
    found = (f'<Relationship Id="{i}" Type="{_OFFICE}/{kind}" Target="{t}"/>' for i, kind, t in targets)
    return f"<Relationships>{''.join(found)}</Relationships>"


def write_seeds(folder: Path) -> None:
    """Write the files to begin with: those that the other fuzzer makes, and the parts of its workbooks."""
    from tests.fuzz.__main__ import KINDS

    folder.mkdir(parents=True, exist_ok=True)

    def keep(shape: str, content: bytes) -> None:
        data = bytes([SHAPES.index(shape)]) + content
        (folder / sha1(data).hexdigest()).write_bytes(data)

    @seed(0)
    @settings(
        max_examples=_SEEDS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(*KINDS.values()))
    def collect(file: tuple[str, bytes]) -> None:
        name, content = file
        if len(content) > 4_000:
            return
        if name in SHAPES:
            keep(name, content)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for part in archive.namelist():
                    if part in SHAPES:
                        keep(part, archive.read(part))
        except Exception:  # most files are no archives
            return

    collect()


class Findings:
    """What went wrong, each kind of it once, as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, word: str, data: bytes, said: str) -> None:
        """Keep an input with what was said of it, unless there is one of the kind."""
        lines = [line.strip() for line in said.splitlines() if line.strip().startswith("File ")]
        where = [re.sub(r'.*"(.*)", line (\d+).*', r"\1:\2", line) for line in lines if "sce_desktop" in line]
        kind = f"{word} {' '.join(where[-4:])}" if where else f"{word} {said[-80:]}"
        if kind in self._seen:
            return
        self._seen.add(kind)
        stem = self.folder / f"{word}-{os.getpid()}-{len(self._seen):03}"
        stem.with_suffix(".input").write_bytes(data)
        stem.with_suffix(".txt").write_text(f"{kind}\n{said}", encoding="utf-8", errors="backslashreplace")


def read(path: Path, way: int) -> str:
    """Read a file whole, write what was read in one of the formats and read that; ``way`` says which.

    One in eight is previewed first, as in `tests.fuzz.reading`: that takes three times as long.
    """
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.data.tables import open_table
    from tests.fuzz.reading import read_like_the_program
    from tests.fuzz.round_trip import ENDINGS, check

    if way % 8 == 0 or path.name.startswith("labels."):
        return read_like_the_program(path, TableOptions())
    try:
        table = open_table(path)
        rows = [cells for batch in table.batches() for cells in batch]
    except UserError as error:
        message = str(error)
        assert "\n" not in message, f"several lines: {message!r}"
        assert message.endswith((".", "?")), f"no sentence: {message!r}"
        assert len(message) < LONGEST_SENTENCE, f"a message of {len(message)} characters"
        return "refused"
    if len(table.columns) * len(rows) <= _CELLS:
        check(path.parent, table.columns, rows, ENDINGS[way % len(ENDINGS)])
    return "read"


def child(corpus: Path, findings: Path, seconds: int) -> None:
    """Vary inputs for some seconds. libFuzzer ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["sce_desktop.data", "sce_desktop.core.labels"]):
        from tests.fuzz import reading, round_trip  # noqa: F401

        reading.load_everything()
    import xlsxwriter  # noqa: F401

    kept = Findings(findings)
    counts: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=findings.parent))
    last = folder / "last"

    def one(data: bytes) -> None:
        if len(data) < 2:
            return
        last.write_bytes(data)  # whoever ends this process wants to know by which input
        name, content = content_of(data)
        path = folder / name
        path.write_bytes(content)
        before = time.process_time()
        try:
            word = read(path, data[1])
        except UserError as error:
            word, said = "refused", str(error)
            kept.add("unexpected-refusal", data, f"{said}\n{traceback.format_exc()}")
        except (MemoryError, RecursionError, AssertionError, Exception):
            word = "error"
            kept.add(word, data, traceback.format_exc())
        if (used := time.process_time() - before) > SECONDS:
            kept.add("slow", data, f"{used:.1f} s")
        counts[word] += 1
        if counts.total() % 500 == 0:
            (folder / "counts.json").write_text(json.dumps(counts), encoding="utf-8")

    options = [
        f"-max_total_time={seconds}",
        f"-timeout={_CLOCK}",
        f"-rss_limit_mb={_MEMORY}",
        "-max_len=4096",
    ]
    atheris.Setup(
        [sys.argv[0], str(corpus), f"-artifact_prefix={findings}/", "-print_final_stats=1", *options], one
    )
    atheris.Fuzz()


def run(minutes: float, findings: Path) -> int:
    """Start children until the time is over. Return 1 if anything was found."""
    findings = findings.resolve()
    corpus = findings / "corpus"
    write_seeds(corpus)
    end = time.monotonic() + 60 * minutes
    executions = children = worst = 0
    while (left := int(end - time.monotonic())) > 5:
        children += 1
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.guided", str(corpus), str(findings / "found"), str(left)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
        executions += int(stats.get("number_of_executed_units", 0)) or _last_count(done.stderr)
        worst = max(worst, int(stats.get("peak_rss_mb", 0)))
        (findings / f"child-{children}.log").write_text(done.stderr[-20_000:], encoding="utf-8")
        if not stats and children > 200:
            print(done.stderr[-2000:], file=sys.stderr)
            return 2
    found = sorted((findings / "found").glob("*.input")) + [
        path for path in (findings / "found").iterdir() if path.name.startswith(("crash", "timeout", "oom"))
    ]
    covered = re.findall(r"cov: (\d+)", done.stderr)
    print(
        f"{executions:,} executions in {children} processes, {covered[-1] if covered else '?'} branches, "
        f"worst memory {worst:,} MiB"
    )
    for path in found:
        said = path.with_suffix(".txt")
        print(f"{path}: {said.read_text().splitlines()[0][:200] if said.exists() else ''}")
    print(f"{len(found)} findings")
    return 1 if found else 0


def _last_count(log: str) -> int:
    found = re.findall(r"^#(\d+)", log, re.MULTILINE)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    child(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
