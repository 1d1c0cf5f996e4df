"""Keeps the translations up to date: `python tools/messages.py` extracts, merges and compiles; see docs/.

Messages are given to `_`, `N_`, `pgettext` and `ngettext` of `sce_desktop.core.i18n`. New ones are shown
in English until somebody writes a translation.

python tools/messages.py            extract, merge, compile
python tools/messages.py --check    fail if a catalogue lacks a message, has one too many, or is not compiled
python tools/messages.py --missing de      print what is not translated yet, as JSON
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "sce_desktop"
LOCALE = ROOT / "resources" / "locale"
DOMAIN = "sce_desktop"
KEYWORDS = {"_": None, "N_": None, "pgettext": ((1, "c"), 2), "ngettext": (1, 2)}
TRANSLATED = ("de", "ar")
ONE_DAY = datetime(2026, 1, 1, tzinfo=UTC)


@cache
def extracted() -> Catalog:
    """Return all messages of the program; not to be changed."""
    catalogue = Catalog(domain=DOMAIN, project="SCE Desktop", charset="utf-8")
    found = extract_from_dir(SOURCE, method_map=[("**.py", "python")], keywords=KEYWORDS)
    for name, _line, message, _comments, context in sorted(found, key=lambda one: (one[0], one[1])):
        catalogue.add(message, locations=[(f"sce_desktop/{name}", None)], context=context)
    return catalogue


def file_of(code: str) -> Path:
    """Return where the catalogue of a language lies."""
    return LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(code: str) -> Catalog:
    """Return the catalogue of a language; a new one where there is none yet."""
    file = file_of(code)
    if not file.exists():
        return Catalog(locale=code, domain=DOMAIN, project="SCE Desktop", charset="utf-8")
    with file.open("rb") as stream:
        return read_po(stream, locale=code, domain=DOMAIN)


def po_bytes(catalogue: Catalog) -> bytes:
    """Return a catalogue as text without what changes from day to day."""
    catalogue.header_comment = "# SCE Desktop. Same licence as the program."
    catalogue.fuzzy = False
    stream = io.BytesIO()
    write_po(stream, catalogue, width=110, no_location=True, sort_output=True, ignore_obsolete=True)
    lines = stream.getvalue().decode().splitlines(keepends=True)
    dated = ('"POT-Creation-Date', '"PO-Revision-Date', '"Generated-By', '"Last-Translator', '"Language-Team')
    return "".join(line for line in lines if not line.startswith(dated)).encode()


def mo_bytes(catalogue: Catalog) -> bytes:
    """Return a catalogue as the program reads it, without what changes from day to day."""
    catalogue.creation_date = catalogue.revision_date = ONE_DAY
    stream = io.BytesIO()
    write_mo(stream, catalogue)
    return stream.getvalue()


def merged(code: str, messages: Catalog) -> Catalog:
    """Return the catalogue of a language with exactly ``messages``; nothing is guessed."""
    catalogue = read(code)
    catalogue.update(messages, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def missing(code: str) -> list[dict[str, object]]:
    """Return the messages that a language has no translation of."""
    return [
        {"message": one.id, "context": one.context, "in": sorted({place for place, _ in one.locations})}
        for one in merged(code, extracted())
        if one.id and not (all(one.string) if isinstance(one.string, tuple) else one.string)
    ]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--missing", metavar="CODE")
    parser.add_argument(
        "--take", metavar="FILE", type=Path, help="JSON: [[context, id or ids, text or texts]]"
    )
    parser.add_argument("--into", metavar="CODE")
    arguments = parser.parse_args()
    if arguments.missing:
        json.dump(missing(arguments.missing), sys.stdout, ensure_ascii=False, indent=1)
        return 0
    messages, stale = extracted(), []
    for code in TRANSLATED:
        catalogue = merged(code, messages)
        if arguments.take and code == arguments.into:
            for context, one, text in json.loads(arguments.take.read_text(encoding="utf-8")):
                found = catalogue.get(tuple(one) if isinstance(one, list) else one, context)
                if found is not None:
                    found.string = tuple(text) if isinstance(text, list) else text
        file = file_of(code)
        for target, data in ((file, po_bytes(catalogue)), (file.with_suffix(".mo"), mo_bytes(catalogue))):
            if target.exists() and target.read_bytes() == data:
                continue
            stale.append(str(target.relative_to(ROOT)))
            if not arguments.check:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
    if stale:
        print(f"{'Out of date' if arguments.check else 'Written'}: {', '.join(stale)}")
    return int(bool(stale) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
