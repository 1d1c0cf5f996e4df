"""Compares two builds, files or folders of the built program: ``python packaging/reproducible.py A B``.

Says for files whether their bytes are the same, and for folders which files differ and where. Without
arguments, builds the wheel twice, with ten seconds between and from two copies of the checkout, and compares.
Exits with 1 if something differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAUSE_S = 10
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "__pycache__", "*.sce", "tests")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def differing(one: Path, other: Path) -> list[str]:
    """Return the files that differ between two folders, or are in one alone."""
    found = []
    names = {file.relative_to(folder) for folder in (one, other) for file in folder.rglob("*")}
    for name in sorted(names):
        a, b = one / name, other / name
        if not a.exists() or not b.exists():
            found.append(f"{name}: only in {one if a.exists() else other}")
        elif a.is_file() and not a.is_symlink() and digest(a) != digest(b):
            found.append(f"{name}: {a.stat().st_size} and {b.stat().st_size} bytes, {_place(a, b)}")
    return found


def _place(one: Path, other: Path) -> str:
    a, b = one.read_bytes(), other.read_bytes()
    places = [at for at in range(min(len(a), len(b))) if a[at] != b[at]] if max(len(a), len(b)) < 1e8 else []
    return f"{len(places)} of them differ, the first at {places[0]}" if places else "lengths differ"


def wheel_twice(folder: Path) -> tuple[Path, Path]:
    """Build the wheel from two copies of the checkout, with a pause between."""
    built = []
    for name in ("one", "other"):
        checkout = folder / name / "checkout"
        shutil.copytree(ROOT, checkout, ignore=LEFT_OUT)
        for file in checkout.rglob("*"):
            os.utime(file)  # a fresh clone has new times
        out = folder / name / "dist"
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
        subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True)
        built += out.glob("*.whl")
        time.sleep(PAUSE_S if name == "one" else 0)
    one, other = built
    return one, other


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", type=Path, nargs="*", metavar="BUILD")
    args = parser.parse_args()
    if len(args.builds) not in (0, 2):
        parser.error("two builds are compared, or none is named")
    with tempfile.TemporaryDirectory(prefix="sce-desktop-twice-") as name:
        one, other = args.builds or wheel_twice(Path(name))
        if one.is_dir():
            found = differing(one, other)
            print("\n".join(found) or "every file is the same")
            sys.exit(bool(found))
        same = digest(one) == digest(other)
        print(f"{digest(one)}  {one.name}\n{digest(other)}  {other.name}")
        print("the same" if same else "they differ")
        if not same and zipfile.is_zipfile(one):
            for a, b in zip(zipfile.ZipFile(one).infolist(), zipfile.ZipFile(other).infolist(), strict=False):
                if (a.filename, a.CRC, a.date_time) != (b.filename, b.CRC, b.date_time):
                    print(f"{a.filename} {a.date_time} {b.filename} {b.date_time}")
        sys.exit(not same)


if __name__ == "__main__":
    main()
