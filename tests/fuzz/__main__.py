"""``python -m tests.fuzz readers [--minutes N]``: read odd and damaged files until one is read wrongly.

Hypothesis makes csv, tsv, txt, JSON, JSON Lines, xlsx, ods, xls, parquet and files of labels and damages
them. Each is sniffed, previewed and read whole in a child process with 2 GiB of memory and ten seconds.
``models`` and ``projects`` instead of ``readers`` damage model folders and project files: see there.
What is neither read nor refused in one sentence is a finding: it is kept as a file, with the seed and the
options that made it. The exit code is 1 if there was one. Linux only.

With ``--coverage`` atheris varies the files that reach new code of the readers: see `tests.fuzz.guided`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # the others reserve address space

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sce_desktop.core.tables import TableOptions
from tests.fuzz import binary_files, text_files
from tests.fuzz.mutations import mutated, mutations
from tests.fuzz.reading import load_everything, outcome

KINDS = {
    "delimited": text_files.delimited(),
    "json": text_files.json_text(),
    "labels": text_files.labels(),
    "xlsx": binary_files.xlsx(),
    "workbook": binary_files.other_workbook(),
    "parquet": binary_files.parquet(),
}
_GOOD = {"read", "labels", "refused"}
OTHERS = ("models", "projects")
"""What has a module of its own here, with ``main(arguments)``."""
_ROUND = 200  # files with one seed

_options = st.one_of(
    st.just(TableOptions()),
    st.just(TableOptions()),
    st.just(TableOptions()),
    st.builds(
        TableOptions,
        encoding=st.sampled_from([None, "utf-8", "utf-16", "utf-16-le", "cp1252", "utf-7", "idna"]),
        delimiter=st.sampled_from([None, ",", ";", "\t", ""]),
        quoting=st.sampled_from([None, True, False]),
        header_row=st.sampled_from([None, 0, 1, 2, 5]),
        sheet=st.sampled_from([None, None, "Sheet1", "x"]),
    ),
)


class Fuzz:
    """Counts what came of the files and keeps those that came to nothing good."""

    def __init__(self, folder: Path, kinds: list[str]) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []
        self._files = st.one_of(*(KINDS[kind] for kind in kinds))
        self._seen: set[str] = set()

    def round(self, number: int, examples: int) -> None:
        """Try ``examples`` files that the seed ``number`` gives."""

        @seed(number)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(self._files, mutations, st.integers(0, 2), _options)
        def check(
            file: tuple[str, bytes], damage: list[tuple[str, float, int]], damaged: int, options: TableOptions
        ) -> None:
            name, content = file
            self._try(number, name, mutated(content, damage) if damaged == 0 else content, options)

        check()

    def _try(self, number: int, name: str, content: bytes, options: TableOptions) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            word, said = outcome(path, options)
        self.counts[word] += 1
        if word in _GOOD:
            return
        lines = [line.strip() for line in said.splitlines()]
        last = lines[-1] if lines else ""
        kind = " ".join([word, last.partition(":")[0], *(line for line in lines if line.startswith("File "))])
        if word in ("slow", "hangs", "killed"):  # nobody knows where
            kind += Path(name).suffix
        if kind in self._seen:  # the same fault again
            return
        self._seen.add(kind)
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = self.folder / f"{len(self.findings):03}-{word}"
        stem.with_name(f"{stem.name}-{name}").write_bytes(content)
        facts = {"seed": number, "name": name, "options": asdict(options), "outcome": word, "said": said}
        stem.with_suffix(".json").write_text(json.dumps(facts, indent=2), encoding="utf-8")
        self.findings.append(f"{stem}: {word}, {name}, {len(content):,} bytes: {last[:200]}")
        print(self.findings[-1], flush=True)


def main() -> int:
    """Try files for some minutes, or a number of them."""
    if sys.argv[1:2] and sys.argv[1] in OTHERS:
        run: int = importlib.import_module(f"tests.fuzz.{sys.argv[1]}").main(sys.argv[2:])
        return run
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("part", choices=["readers"])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--examples", type=int, help="how many files instead")
    parser.add_argument("--seed", type=int, default=0, help="of the first files; later ones count up")
    parser.add_argument(
        "--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), help="which files (all)"
    )
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir()) / "sce-desktop-fuzz")
    parser.add_argument("--coverage", action="store_true", help="guided by coverage; needs the extra fuzz")
    args = parser.parse_args()
    if args.coverage:
        from tests.fuzz import guided

        return guided.run(args.minutes, args.findings)
    load_everything()
    fuzz = Fuzz(args.findings, args.kinds)
    end = time.monotonic() + 60 * args.minutes
    number = args.seed
    left = args.examples
    while left if left is not None else time.monotonic() < end:
        examples = _ROUND if left is None else min(left, _ROUND)
        fuzz.round(number, examples)
        number += 1
        left = None if left is None else left - examples
    counts = ", ".join(f"{count:,} {word}" for word, count in sorted(fuzz.counts.items()))
    print(f"{fuzz.counts.total():,} files (seeds {args.seed} to {number - 1}): {counts or 'none'}")
    print(f"{len(fuzz.findings)} findings" + (f" in {args.findings}" if fuzz.findings else ""))
    return 1 if fuzz.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
