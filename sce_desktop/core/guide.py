"""The user guide as text: its contents, the addresses of headings, what a page is without its web extras.

The pages are Markdown files in one folder, with `contents.md` as their list. The window of the guide and the
web site are both made from them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

CONTENTS = "contents.md"
_ENTRY = re.compile(r"^( *)- (?:\[([^\]]+)\]\(([^)\s]+)\)|(.+))$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^::: (\S+)\n(?:(?: {4}.*)?\n)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: a page, or a heading over pages, whose ``page`` is empty."""

    title: str
    page: str
    pages: tuple[Entry, ...] = ()


def contents(text: str) -> tuple[Entry, ...]:
    """Return the entries of ``text``, a list of links two levels deep.

    Raises:
        ValueError: A page stands below no heading.
    """
    entries: list[Entry] = []
    for line in text.splitlines():
        if found := _ENTRY.match(line):
            indent, title, page, heading = found.groups()
            entry = Entry(title or heading, page or "")
            if not indent:
                entries.append(entry)
            elif not entries or entries[-1].page:
                raise ValueError(f"no heading above: {line}")
            else:
                above = entries[-1]
                entries[-1] = Entry(above.title, "", (*above.pages, entry))
    return tuple(entries)


def pages(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    """Yield the pages from top to bottom."""
    for entry in entries:
        if entry.page:
            yield entry
        yield from entry.pages


def slug(heading: str, separator: str = "-") -> str:
    """The address of a heading within its page, as Python-Markdown makes it."""
    ascii_only = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    words = re.sub(r"[^\w\s-]", "", ascii_only).strip().lower()
    return re.sub(rf"[{separator}\s]+", separator, words)


def headings(page: str) -> list[str]:
    """Return the headings of a page, in order, as they are read."""
    plain = _CODE.sub(lambda code: "" if code[0].startswith("```") else code[0], page)
    return [re.sub(r"[`*]", "", heading) for heading in _HEADING.findall(plain)]


def links(page: str) -> list[tuple[str, bool]]:
    """Return the targets of links and pictures, and whether each is a picture; what is code holds none."""
    plain = _CODE.sub("", page)
    return [(target, bool(mark)) for mark, _, target in _LINK.findall(plain)]


def without_directives(page: str) -> str:
    """Return ``page`` with a sentence for each part that only the web site fills in."""
    return _DIRECTIVE.sub(r"In Python, `help(\1)` shows every method and argument.\n", page)
