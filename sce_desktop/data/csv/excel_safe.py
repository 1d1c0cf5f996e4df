"""Text that Excel would run as a formula when it opens a csv file, and how it is kept from that.

Such a cell gets an apostrophe in front, as everybody does it, and a word joiner after that: invisible,
and hardly a text begins so. By it the import knows our apostrophes from those of the text, even after
Excel has saved the file in between, and takes off exactly what was put there.
"""

from __future__ import annotations

PREFIX = "'\u2060"
FORMULAS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)  # the wide ones in East Asian Excel


def is_formula(text: str) -> bool:
    """Whether Excel, or another spreadsheet, may take ``text`` for a formula."""
    return text.startswith(FORMULAS)


def protect(text: str) -> str:
    """Put the prefix before ``text``."""
    return PREFIX + text


def unprotect(text: str) -> str:
    """Take one prefix off, if there is one."""
    return text.removeprefix(PREFIX)
