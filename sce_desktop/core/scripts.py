"""In which script a text is written: the cheap sign of a language that a model does not know.

A model trained on one language reads others badly, and a script is what can be told for sure from a few
words, where guessers of languages need sentences. So a text counts as foreign when more than half of its
letters belong to scripts other than the model's, by the names that Unicode gives them. Another language in
the same script is not noticed; what shows the result says so.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter

from sce_desktop.core.blank import is_blank

KNOWN_SCRIPTS = frozenset({"LATIN"})  # of the bundled model, which was trained on English
_FOREIGN_SHARE = 0.5
_READ = 2000  # characters that decide; a text of many pages does not change its script
_NAMES = {"CJK": "Chinese", "HANGUL": "Korean"}
_KANA = ("HIRAGANA", "KATAKANA")


@functools.lru_cache(maxsize=1 << 16)
def _script(character: str) -> str | None:
    """Return the script of a letter by its Unicode name ("LATIN", "CYRILLIC"), None for what is no letter."""
    if not character.isalpha() or is_blank(character):  # a Hangul filler counts as a letter
        return None
    name = unicodedata.name(character, "")
    for prefix in ("FULLWIDTH ", "HALFWIDTH ", "MODIFIER LETTER ", "MATHEMATICAL "):
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            if prefix == "MATHEMATICAL ":
                return "LATIN"
    return name.split(" ", 1)[0].split("-", 1)[0] or None


def foreign_script(text: str, known: frozenset[str] = KNOWN_SCRIPTS) -> str | None:
    """Return the name of the script of most foreign letters of ``text``, None unless they are its majority.

    Args:
        text: Any text; its beginning decides.
        known: First words of the Unicode names of letters that the model knows.
    """
    if text.isascii() and "LATIN" in known:
        return None
    scripts = Counter(filter(None, map(_script, text[:_READ])))
    foreign = {script: count for script, count in scripts.items() if script not in known}
    if sum(foreign.values()) <= _FOREIGN_SHARE * scripts.total():
        return None
    if any(kana in foreign for kana in _KANA):  # Chinese characters beside them are Japanese too
        return "Japanese"
    most = max(foreign, key=lambda script: foreign[script])
    return _NAMES.get(most, most.title())


def has_letters(text: str) -> bool:
    """Whether ``text`` has a letter of any script among the characters that decide."""
    return any(_script(character) is not None for character in text[:_READ])
