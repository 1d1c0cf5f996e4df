"""Translations: whole sentences from gettext catalogues, numbers as the chosen language writes them.

    _("Open a table or a project first.")
    _("{name} was added to your models.", name=entry.name)
    ngettext("{count} row was added.", "{count} rows were added.", rows)

A message is a literal and a whole sentence: what varies stands in named placeholders, never glued on, and
``count`` is written with the language's separators. Constants of modules are made when these are imported: so
`set_language` comes before any module of the window, and another language takes effect at the next start. The
command line speaks English, as scripts read it.

Catalogues are ``resources/locale/CODE/LC_MESSAGES/sce_desktop.po`` and ``.mo``; see ``tools/messages.py``.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from sce_desktop.core.escapes import in_message

DOMAIN = "sce_desktop"
LANGUAGES = {"en": "English", "de": "Deutsch", "ar": "العربية"}
"""The languages that there are, by code, in their own names."""
PSEUDO = "qps"
"""A made-up language for tests: every translated message is marked, lengthened and accented."""
_PLACEHOLDER = re.compile(r"(\{[^{}]*\}|<[^<>]*>|&\w|\t.*)", re.DOTALL)
_ACCENTS = str.maketrans("AEIOUYaeiouycn", "ÀÉÎÕÜÝàéîõüýçñ")


class _Pseudo(gettext.NullTranslations):
    """Marks what is translated, a third longer, as German is; placeholders and keys stay."""

    def gettext(self, message: str) -> str:
        parts = _PLACEHOLDER.split(message)
        changed = "".join(part if i % 2 else part.translate(_ACCENTS) for i, part in enumerate(parts))
        words, tab, keys = changed.partition("\t")
        return f"⟦{words}{'·' * (len(words) // 3)}⟧{tab}{keys}"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)


class Message(str):
    """A sentence of ours with what it was made of, so that the log can leave out what is not ours.

    ``template`` is in the chosen language; ``values`` are those of its placeholders.
    """

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, object]

    def __new__(cls, text: str, template: str, values: Mapping[str, object]) -> Message:  # noqa: D102
        made = super().__new__(cls, text)
        made.template, made.values = template, values
        return made

    def __getnewargs__(self) -> tuple[str, str, Mapping[str, object]]:  # type: ignore[override]
        return str.__str__(self), self.template, self.values

    def __str__(self) -> str:
        """Itself: what an exception says stays a message."""
        return self


class Safe(str):
    """A string that holds nothing of the user's and may be written to the log."""

    __slots__ = ()


def _made(template: str, values: Mapping[str, object]) -> Message:
    return Message(template.format(**_shown(values)) if values else template, template, values)


class _State:
    language = "en"
    right_to_left = False
    catalogue: gettext.NullTranslations = gettext.NullTranslations()
    group = ","
    decimal = "."
    percent = "{}%"


def system_language() -> str:
    """Return the language of the system if there is a translation of it, else English."""
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for tag in os.environ.get(variable, "").split(":"):
            code = re.split(r"[_.@-]", tag)[0].lower()
            if code in LANGUAGES or code == PSEUDO:
                return code
            if code and code not in ("c", "posix"):
                return "en"
    return "en"


def set_language(code: str, folder: Path | None = None) -> None:
    """Speak the language ``code`` from now on; empty: the system's. Unknown ones mean English.

    Args:
        code: Of `LANGUAGES`, or `PSEUDO`.
        folder: That of the catalogues; None needs no translation (English, the made-up language).
    """
    code = code or system_language()
    if code == PSEUDO:
        _State.catalogue, number_code = _Pseudo(), "en"
    elif code not in LANGUAGES or code == "en" or folder is None:
        code = number_code = "en"
        _State.catalogue = gettext.NullTranslations()
    else:
        _State.catalogue = gettext.translation(DOMAIN, folder, [code], fallback=True)
        number_code = code
    _State.language = code
    _State.group, _State.decimal, _State.percent, _State.right_to_left = ",", ".", "{}%", False
    if number_code == "en":
        return
    from babel import Locale  # the command line need not wait for it

    locale = Locale(number_code)
    symbols = locale.number_symbols.get("latn", locale.number_symbols)
    pattern = locale.percent_formats[None]
    _State.group, _State.decimal = symbols["group"], symbols["decimal"]
    _State.percent = pattern.prefix[0] + "{}" + pattern.suffix[0]
    _State.right_to_left = locale.text_direction == "rtl"


def language() -> str:
    """Return the code of the language that is spoken."""
    return _State.language


def right_to_left() -> bool:
    """Whether the language is written from right to left."""
    return _State.right_to_left


def _(message: str, /, **values: object) -> str:
    """Return ``message`` in the chosen language, its placeholders filled with ``values`` (see `escapes`)."""
    return _made(_State.catalogue.gettext(message), values)


def pgettext(context: str, message: str, /, **values: object) -> str:
    """Return ``message`` as it is said in ``context``, where one word has two meanings."""
    return _made(_State.catalogue.pgettext(context, message), values)


def N_(message: str) -> str:
    """Mark a constant that is translated where it is shown, by `_`."""
    return message


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the form of the message for ``count`` things; ``{count}`` is written as the language does."""
    return _made(_State.catalogue.ngettext(one, many, count), {"count": number(count), **values})


def _shown(values: Mapping[str, object]) -> dict[str, object]:
    """Return what fills placeholders, without characters that act on a terminal or turn a sentence round."""
    return {name: in_message(value) for name, value in values.items()}


def number(value: float, digits: int = 0) -> str:
    """Write a number with the language's separators: "1,234.5", "1.234,5"."""
    text = f"{value:,.{digits}f}"
    if _State.group == "," and _State.decimal == ".":
        return Safe(text)
    return Safe(text.replace(",", "\0").replace(".", _State.decimal).replace("\0", _State.group))


def percent(share: float, digits: int = 0) -> str:
    """Write a share (0 to 1) in per cent: "52%", "52 %"."""
    return Safe(_State.percent.format(number(100 * share, digits)))


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence: "a, b and c"."""
    return _in_list(names, "standard")


def any_of(names: Sequence[str]) -> str:
    """Write names to choose from in a sentence: "a, b or c"."""
    return _in_list(names, "or")


def _in_list(names: Sequence[str], style: Literal["standard", "or"]) -> str:
    from babel.lists import format_list

    code = "en_GB" if _State.language in ("en", PSEUDO) else _State.language
    return format_list(names, style, locale=code) if names else ""
