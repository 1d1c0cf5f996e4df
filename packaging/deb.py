"""Makes a Debian package of the built program: ``python packaging/deb.py dist/sce-desktop [-o dist]``.

Needs dpkg-deb, and readelf of binutils. The package depends on what the program's libraries ask of the
system, found by reading them, so build it on the oldest release that it is for. The same folder gives the
same bytes: the time of every file is SOURCE_DATE_EPOCH, or a fixed one, and owners are root.

The maintainer is DEBFULLNAME and DEBEMAIL, as for Debian's own tools.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from email.utils import formatdate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "sce-desktop"
VERSION = runpy.run_path(str(ROOT / "sce_desktop" / "__init__.py"))["__version__"]
RELEASED = 1_764_460_800  # 2025-11-30; of this version, where SOURCE_DATE_EPOCH does not say
MAINTAINER = (
    f"{os.environ.get('DEBFULLNAME', 'The authors of SCE Desktop')} "
    f"<{os.environ.get('DEBEMAIL', 'maintainers@sce-desktop.invalid')}>"
)
LEVELS = {"xz": 6, "zstd": 10}
# What Qt opens by name, so that no header tells: the bus, and fonts to draw with.
OPENED_BY_NAME = ("libdbus-1.so.3",)
ALSO = ("fontconfig-config",)
RECOMMENDED = "fonts-noto-core, fonts-noto-cjk, fonts-noto-color-emoji, shared-mime-info, desktop-file-utils"
RENAMED = {"libglib2.0-0": "libglib2.0-0 | libglib2.0-0t64"}  # by 64-bit times, in newer releases
_NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")
_GLIBC = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")

CONTROL = """\
Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: {recommends}
Section: science
Priority: optional
Description: sort texts into labels of your own, on this machine
 SCE Desktop opens a table of texts, takes labels that you type, and shows how
 probable each label is for every row, without a training example. Rows are
 labelled by keyboard, the model is fine-tuned on the labels in seconds, and
 accuracy is measured on random samples with confidence intervals.
 .
 Everything runs on this machine; no text leaves it. The package holds Python,
 Qt, PyTorch and two models, so that nothing has to be downloaded.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: SCE Desktop
Comment:
 The package holds libraries and models of others, unchanged but for symbols
 that only debuggers read. Their licences and copyrights are in
 /usr/share/doc/sce-desktop/THIRD-PARTY-NOTICES.gz, and in the program under
 Help, Licences.

Files: *
Copyright: 2025-2026 The authors of SCE Desktop
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
"""
CHANGELOG = """\
{name} ({version}) unstable; urgency=medium

  * The changes of this version are in CHANGELOG.md.gz beside this file.

 -- {maintainer}  {date}
"""
MANUAL = """\
.TH SCE-DESKTOP 1 "" "SCE Desktop {version}" "User Commands"
.SH NAME
sce-desktop \\- sort texts into labels of your own, on this machine
.SH SYNOPSIS
.B sce-desktop
[\\fIgui\\fR [\\fIFILE\\fR]]
.br
.B sce-desktop
\\fICOMMAND\\fR [\\fIOPTION\\fR]...
.SH DESCRIPTION
Without a command, or with
.BR gui ,
the window opens, with the project or table \\fIFILE\\fR.
The other commands do without a window what the window does:
.BR classify ,
.BR evaluate ,
.BR finetune ,
.BR labels ,
.BR project ,
.B models
and
.BR doctor .
.B sce-desktop --help
lists all, and
.B sce-desktop
\\fICOMMAND\\fR
.B --help
says the options of one.
.SH SEE ALSO
The guide: press F1 in the window.
"""


def elf_files(folder: Path) -> list[Path]:
    """Return the libraries and programs in ``folder``."""
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.stat().st_size > 64:
            with file.open("rb") as opened:
                if opened.read(4) == b"\x7fELF":
                    found.append(file)
    return found


def dependencies(folder: Path) -> list[str]:
    """Return the Debian packages that hold what the libraries in ``folder`` need and do not find there."""
    files = elf_files(folder)
    there = {file.name for file in folder.rglob("*.so*")}
    needed: set[str] = set()
    glibc = (2, 17)
    for file in files:
        told = subprocess.run(
            ["readelf", "-dVW", file], capture_output=True, text=True, errors="replace"
        ).stdout
        needed |= set(_NEEDED.findall(told))
        glibc = max([glibc, *((int(major), int(minor)) for major, minor in _GLIBC.findall(told))])
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    places = dict(re.findall(r"^\s+(\S+) \(libc6[^)]*\) => (\S+)$", cache, re.MULTILINE))
    packages = set(ALSO)
    for name in sorted((needed | set(OPENED_BY_NAME)) - there):
        if name not in places:
            sys.exit(f"{name} is needed, and neither in {folder} nor on this system")
        owner = _owner(Path(places[name]))
        packages.add(f"libc6 (>= {glibc[0]}.{glibc[1]})" if owner == "libc6" else RENAMED.get(owner, owner))
    return sorted(packages)


def _owner(library: Path) -> str:
    for path in (
        library,
        library.resolve(),
        Path("/") / str(library).removeprefix("/usr/"),
        Path(f"/usr{library}"),
    ):
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0].split(",")[0]
    sys.exit(f"no package owns {library}: build on a plain Debian system")


def lay_out(folder: Path, tree: Path) -> None:
    """Copy the program in ``folder`` and what a system is to know of it into ``tree``."""
    program = tree / "usr" / "lib" / NAME
    program.parent.mkdir(parents=True)
    shutil.copytree(folder, program, symlinks=True)
    shutil.move(program / "_internal" / "share", tree / "usr" / "share")
    (tree / "usr" / "bin").mkdir()
    (tree / "usr" / "bin" / NAME).symlink_to(f"../lib/{NAME}/{NAME}")
    doc = tree / "usr" / "share" / "doc" / NAME
    doc.mkdir(parents=True)
    (doc / "copyright").write_text(COPYRIGHT, encoding="utf-8")
    date = formatdate(epoch())
    change = CHANGELOG.format(name=NAME, version=VERSION, maintainer=MAINTAINER, date=date)
    _compress(doc / "changelog.gz", change.encode())
    _compress(doc / "CHANGELOG.md.gz", (ROOT / "CHANGELOG.md").read_bytes())
    notices = program / "_internal" / "THIRD-PARTY-NOTICES.txt"
    _compress(doc / "THIRD-PARTY-NOTICES.gz", notices.read_bytes())
    manuals = tree / "usr" / "share" / "man" / "man1"
    manuals.mkdir(parents=True)
    _compress(manuals / f"{NAME}.1.gz", MANUAL.format(version=VERSION).encode())


def epoch() -> int:
    """Return the time that every file gets."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", RELEASED))


def _compress(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, 9, mtime=0))


def write_control(tree: Path, depends: list[str]) -> None:
    """Write what dpkg reads: the facts, and the hash of every file."""
    control = tree / "DEBIAN"
    control.mkdir()
    files = [file for file in sorted((tree / "usr").rglob("*")) if file.is_file() and not file.is_symlink()]
    sums = []
    for file in files:
        with file.open("rb") as opened:
            sums.append(
                f"{hashlib.file_digest(opened, 'md5').hexdigest()}  {file.relative_to(tree).as_posix()}"
            )
    (control / "md5sums").write_text("\n".join(sums) + "\n", encoding="utf-8")
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    facts = CONTROL.format(
        name=NAME,
        version=VERSION,
        architecture=architecture,
        maintainer=MAINTAINER,
        size=sum(-(-file.stat().st_size // 1024) for file in files),
        depends=", ".join(depends),
        recommends=RECOMMENDED,
    )
    (control / "control").write_text(facts, encoding="utf-8")


def settle(tree: Path) -> None:
    """Give every file the rights and the time that a package has."""
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or (path.parent.name == NAME and path.name == NAME)
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (epoch(), epoch()), follow_symlinks=False)


def build(folder: Path, out: Path, compression: str) -> Path:
    """Write the package of the program in ``folder`` to the folder ``out`` and return it."""
    if not (folder / NAME).is_file():
        sys.exit(f"there is no program in {folder}: build it first")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".deb-") as place:
        tree = Path(place) / NAME
        lay_out(folder, tree)
        write_control(tree, dependencies(tree / "usr" / "lib" / NAME))
        settle(tree)
        options = [f"-Z{compression}", f"-z{LEVELS[compression]}"]
        command = ["dpkg-deb", "--root-owner-group", *options, "--build", tree, out]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"dpkg-deb failed: {done.stderr}")
    (package,) = out.glob(f"{NAME}_{VERSION}_*.deb")
    return package


def main() -> None:
    """Build the package asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what PyInstaller made")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "dist", help="where the package goes")
    parser.add_argument("--compression", choices=tuple(LEVELS), default="xz")
    args = parser.parse_args()
    started = time.monotonic()
    package = build(args.folder, args.out, args.compression)
    with package.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    print(f"{package} ({package.stat().st_size / 1e6:.1f} MB, {time.monotonic() - started:.0f} s)")
    print(f"sha256 {digest}")
    print(subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
