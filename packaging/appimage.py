"""Makes an AppImage of the built program: ``python packaging/appimage.py dist/sce-desktop --runtime FILE``.

Needs mksquashfs. An AppImage is a small program, the runtime, with a compressed file system behind it that
the runtime mounts: the program starts from one file, and nothing is unpacked to the disk. The runtime is
published at https://github.com/AppImage/type2-runtime, under the MIT License; it is not fetched from here.
Without ``--runtime`` the folder and the file system are made and checked, and nothing else.

The same folder and runtime give the same bytes: times are those of `deb.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEB = runpy.run_path(str(ROOT / "packaging" / "deb.py"))
APP_ID = runpy.run_path(str(ROOT / "sce_desktop" / "paths.py"))["APP_ID"]
APP_RUN = """\
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/lib/sce-desktop/sce-desktop" "$@"
"""


def lay_out(folder: Path, tree: Path) -> None:
    """Make the AppDir of the program in ``folder``: the tree of the .deb, and what AppImages want on top."""
    DEB["lay_out"](folder, tree)
    share = tree / "usr" / "share"
    shutil.copy(share / "applications" / f"{APP_ID}.desktop", tree)
    shutil.copy(share / "icons" / "hicolor" / "256x256" / "apps" / f"{APP_ID}.png", tree)
    (tree / ".DirIcon").symlink_to(f"{APP_ID}.png")
    # The name under which software centres look for it in an AppImage.
    metainfo = share / "metainfo" / f"{APP_ID}.metainfo.xml"
    metainfo.with_name(f"{APP_ID}.appdata.xml").symlink_to(metainfo.name)
    (tree / "AppRun").write_text(APP_RUN, encoding="utf-8")
    DEB["settle"](tree)
    (tree / "AppRun").chmod(0o755)


def check(tree: Path) -> None:
    """Fail unless the AppDir has what the specification asks for, and its program starts by AppRun."""
    for name in ("AppRun", ".DirIcon", f"{APP_ID}.desktop", f"{APP_ID}.png"):
        if not (tree / name).exists():
            sys.exit(f"the AppDir has no {name}")
    done = subprocess.run([tree / "AppRun", "--version"], capture_output=True, text=True)
    if done.returncode or not done.stdout.startswith("sce-desktop "):
        sys.exit(f"AppRun --version ended with {done.returncode}: {done.stdout}{done.stderr}")


def build(folder: Path, runtime: Path | None, out: Path) -> Path:
    """Write the AppImage of the program in ``folder``, without ``runtime`` its file system, and return it."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".appimage-") as place:
        tree = Path(place) / "AppDir"
        tree.mkdir()
        lay_out(folder, tree)
        check(tree)
        system = Path(place) / "system.squashfs"
        options = ["-comp", "zstd", "-Xcompression-level", "19", "-b", "1M", "-root-owned", "-noappend"]
        quiet = ["-no-progress", "-quiet", "-no-xattrs", "-all-time", str(DEB["epoch"]()), "-mkfs-time"]
        environment = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        command = ["mksquashfs", tree, system, *options, *quiet, str(DEB["epoch"]())]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        name = f"SCE_Desktop-{DEB['VERSION']}-{platform.machine()}"
        if runtime is None:
            return Path(shutil.move(system, out / f"{name}.squashfs"))
        image = out / f"{name}.AppImage"
        with image.open("wb") as file:
            for part in (runtime, system):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
        image.chmod(0o755)
        return image


def main() -> None:
    """Build what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what PyInstaller made")
    parser.add_argument("--runtime", type=Path, help="runtime-x86_64 of type2-runtime")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "dist")
    args = parser.parse_args()
    made = build(args.folder, args.runtime, args.out)
    with made.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)\nsha256 {digest}")


if __name__ == "__main__":
    main()
