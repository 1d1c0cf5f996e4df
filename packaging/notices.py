"""Collects the licences of all that the built program holds.

``python packaging/notices.py [-o FILE] [--check]`` writes one text of every part with its licence, as Help,
Licences shows them: Python packages by their installed metadata, Qt, the models with the licences of their
training data (`sce_desktop.core.components`). ``--check`` exits with 1 if a part has no licence or no text.

The recipe of the program without Python asks for more: the Python and the libraries of the system that go
into the folder.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sce_desktop.core import components  # noqa: E402 - of the checkout that this lies in

NOT_SHIPPED = {"setuptools", "pip"}  # needed by metadata, left out of the folder
_DEBIAN_DOC = Path("/usr/share/doc")
_LICENCE = re.compile(r"^License:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
WHOLE = "THIRD-PARTY-NOTICES.txt"
_RULE = "=" * 100


def shipped() -> list[str]:
    """Return the names of the Python packages that the folder holds, or parts of them."""
    names = [str(package.metadata["Name"]) for package in components.distributions()]
    return [name for name in names if name.lower() not in NOT_SHIPPED]


def entries(binaries: Iterable[tuple[str, str, str]], work: Path, place: str) -> list[tuple[str, str, str]]:
    """Return PyInstaller's entries of what is known only when the folder is made, and of one text of all.

    Args:
        binaries: (place, source, kind) of every library that goes in.
        work: A folder for what is written.
        place: Where the texts lie in the program: beside notices.toml.
    """
    shutil.copytree(ROOT / "resources" / "notices", work, dirs_exist_ok=True)
    written = native(binaries)
    for file, text in written.items():
        (work / file).write_text(text, encoding="utf-8", newline="\n")
    names = {name.lower() for name in NOT_SHIPPED}
    parts = [part for part in components.components(work, ROOT / "models") if part.name.lower() not in names]
    (work / WHOLE).write_text(text_of(parts), encoding="utf-8", newline="\n")
    found = [(f"{place}/{file}", str(work / file), "DATA") for file in sorted(written)]
    return [*found, (WHOLE, str(work / WHOLE), "DATA")]


def native(binaries: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the texts of Python and of the system's libraries in ``binaries``, by file, and their TOML."""
    texts: dict[str, str] = {}
    parts = []
    python = next((file for file in _python_licences() if file.is_file()), None)
    if python is None:
        raise SystemExit("this Python has no licence text: nothing made with it may be handed on")
    texts["python.txt"] = python.read_text(encoding="utf-8", errors="replace")
    parts.append(("Python", platform.python_version(), "PSF-2.0", "python.txt"))
    for name, version, text in _debian_packages(Path(source) for _, source, _ in binaries):
        file = f"system-{name}.txt"
        texts[file] = text
        stated = sorted({one for one in _LICENCE.findall(text) if len(one) < 40})
        parts.append((f"{name} (system library)", version, ", ".join(stated)[:100] or "see its text", file))
    lines = [
        f'[[component]]\nname = "{name}"\nversion = "{version}"\nlicence = "{licence}"\ntexts = ["{file}"]\n'
        for name, version, licence, file in parts
    ]
    return texts | {"native.toml": "\n".join(lines)}


def _python_licences() -> Iterable[Path]:
    for folder in (sysconfig.get_path("stdlib"), sys.base_prefix):
        yield from (Path(folder) / name for name in ("LICENSE.txt", "LICENSE"))


def _debian_packages(files: Iterable[Path]) -> list[tuple[str, str, str]]:
    """Return (name, version, copyright text) of the Debian packages that own ``files``; none elsewhere."""
    ours = (Path(sys.prefix), Path(sys.base_prefix), ROOT)
    names = set()
    for file in {file.resolve() for file in files}:
        if any(file.is_relative_to(folder) for folder in ours) or not file.is_relative_to("/usr"):
            continue
        try:  # dpkg knows a library by the path that its package has: before /lib was a link, or after
            for name in (file, Path("/") / file.relative_to("/usr")):
                done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
                if done.returncode == 0:
                    names.add(done.stdout.split(":")[0])
                    break
        except FileNotFoundError:
            return []
    found = []
    for name in sorted(names):
        show = ["dpkg-query", "-W", "-f", "${Version}\n", name]
        version = subprocess.run(show, capture_output=True, text=True).stdout.split("\n")[0]
        text = (_DEBIAN_DOC / name / "copyright").read_text(encoding="utf-8", errors="replace")
        found.append((name, version, text))
    return found


def text_of(parts: Iterable[components.Component]) -> str:
    """Return one text of all parts."""
    pages = [
        f"{_RULE}\n{part.name} {part.version}".rstrip()
        + f"\nLicence: {part.licence}\n{_RULE}\n\n{part.text()}\n"
        for part in parts
    ]
    head = "SCE Desktop uses these components, each under its own licence. Its own licence is in LICENSE.\n\n"
    return head + "\n".join(pages)


def main() -> None:
    """Write the text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--out", type=Path, help="where the text goes; without it, only a table is printed"
    )
    parser.add_argument("--check", action="store_true", help="fail if a licence or its text is missing")
    parser.add_argument("--folder", type=Path, help="of a built program, whose notices are added")
    args = parser.parse_args()
    folder = ROOT / "resources" / "notices"
    if args.folder:
        (folder,) = args.folder.rglob("_bundled/resources/notices")
    parts = components.components(folder, ROOT / "models")
    wrong = [part.name for part in parts if part.licence == components.UNKNOWN or not part.text().strip()]
    for part in parts:
        print(f"{part.name:32} {part.version:18} {part.licence[:60]}")
    if args.out:
        args.out.write_text(text_of(parts), encoding="utf-8", newline="\n")
        print(f"{args.out} ({args.out.stat().st_size / 1e6:.2f} MB, {len(parts)} parts)")
    if args.check and wrong:
        sys.exit(f"without a licence or its text: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
