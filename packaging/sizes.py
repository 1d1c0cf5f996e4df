"""Says what the built program is made of: ``python packaging/sizes.py dist/sce-desktop [--packed]``.

A table by part: megabytes on disk, files, and with ``--packed`` megabytes of the part as an archive of its
own (``tar | zstd -10``, needs zstd). A file that several names lead to counts once.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# The first pattern that a file's place in the folder matches names its part.
PARTS: tuple[tuple[str, str], ...] = (
    ("torch: kernels (libtorch_cpu)", r"_internal/torch/lib/libtorch_cpu|_internal/libtorch_cpu"),
    (
        "torch: Python binding, other libraries",
        r"_internal/torch/.*\.(so|dll|dylib|pyd)|_internal/lib(torch|c10|gomp)",
    ),
    ("torch: Python sources and data", r"_internal/torch/"),
    ("model sce-mini", r".*_bundled/models/sce-mini/"),
    ("model sce-multi", r".*_bundled/models/sce-multi/"),
    ("similarity baseline (MiniLM)", r".*_bundled/models/"),
    ("guide, icons, sample, notices", r".*_bundled/|_internal/(share|THIRD|LICENSE)|[^/]*\.txt$"),
    ("Qt and PySide6", r"_internal/(PySide6|shiboken6)/|_internal/lib(Qt6|icu|pyside|shiboken)"),
    ("pyarrow", r"_internal/pyarrow|_internal/lib(arrow|parquet)"),
    ("transformers", r"_internal/transformers/"),
    ("scipy", r"_internal/scipy"),
    ("numpy", r"_internal/numpy"),
    ("scikit-learn", r"_internal/sklearn|_internal/scikit_learn"),
    ("pandas", r"_internal/pandas"),
    ("Python modules (archive in the program)", r"sce-desktop(\.exe)?$"),
    ("chardet", r"_internal/chardet|_internal/[0-9a-f]{20}__mypyc"),
    ("system libraries", r"_internal/lib[^/]*\.(so|dylib)[^/]*$"),
    ("Python itself", r"_internal/(python\d|lib-dynload|base_library)"),
    ("package metadata", r"_internal/[^/]*\.(dist|egg)-info/"),
)
OTHER = "other libraries"


def parts_of(folder: Path) -> dict[str, list[Path]]:
    """Return the files of ``folder`` by part, each once."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            place = file.relative_to(folder).as_posix()
            found[next((name for name, pattern in PARTS if re.match(pattern, place)), OTHER)].append(file)
    return found


def size(files: list[Path]) -> int:
    """Bytes on disk."""
    return sum(file.stat().st_size for file in files)


def packed(folder: Path, files: list[Path]) -> int:
    """Bytes of an archive of ``files``."""
    names = "\n".join(file.relative_to(folder).as_posix() for file in files)
    tar = subprocess.Popen(
        ["tar", "-C", folder, "-c", "--files-from=-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=False,
    )
    zstd = subprocess.Popen(["zstd", "-q", "-10", "-T1", "-c"], stdin=tar.stdout, stdout=subprocess.PIPE)
    assert tar.stdin is not None
    assert tar.stdout is not None
    assert zstd.stdout is not None
    tar.stdout.close()
    tar.stdin.write(names.encode())
    tar.stdin.close()
    total = sum(len(part) for part in iter(lambda: zstd.stdout.read(1 << 20), b""))
    if tar.wait() or zstd.wait():
        sys.exit(f"the files of {folder} could not be packed")
    return total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what PyInstaller made, or a package unpacked")
    parser.add_argument("--packed", action="store_true", help="each part as an archive, too: a minute")
    parser.add_argument("--largest", type=int, default=0, metavar="N", help="the N largest files, too")
    args = parser.parse_args()
    parts = parts_of(args.folder)
    if not parts:
        sys.exit(f"there is nothing in {args.folder}")
    print(f"| part | MB |{' packed |' if args.packed else ''} files |")
    print(f"|---|---|{'---|' if args.packed else ''}---|")
    total = 0
    for name, files in sorted(parts.items(), key=lambda part: -size(part[1])):
        small = ""
        if args.packed:
            total += (bytes_packed := packed(args.folder, files))
            small = f" {bytes_packed / 1e6:.1f} |"
        print(f"| {name} | {size(files) / 1e6:.1f} |{small} {len(files)} |", flush=True)
    everything = [file for files in parts.values() for file in files]
    small = f" {total / 1e6:.1f} |" if args.packed else ""
    print(f"| all | {size(everything) / 1e6:.1f} |{small} {len(everything)} |")
    for file in sorted(everything, key=lambda one: -one.stat().st_size)[: args.largest]:
        print(f"{file.stat().st_size / 1e6:8.1f} MB  {file.relative_to(args.folder)}")


if __name__ == "__main__":
    main()
