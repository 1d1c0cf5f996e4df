"""Languages by ISO 639 code: what they are called, and how a sample of rows is spread over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sce_desktop.core.i18n import PSEUDO, _, language
from sce_desktop.core.scripts import KNOWN_SCRIPTS

ENGLISH = "en"
LEAST_SHARE = 0.05  # of rows in other languages that is worth a word: English tables seem to have up to 0.023
MOST_NAMES = 3  # of languages in one sentence
OTHER = "mis"  # ISO 639-2 for a language that is certainly not English, and has no name here
UNKNOWN = "und"  # ISO 639-2 for what cannot be told: names, codes, a word or two

# The languages of XLM-R's vocabulary, which sce-multi reads (Conneau et al. 2020, appendix A).
_NAMES = """
af Afrikaans, am Amharic, ar Arabic, as Assamese, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali,
br Breton, bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English,
eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, fy Frisian, ga Irish,
gd Scottish Gaelic, gl Galician, gu Gujarati, ha Hausa, he Hebrew, hi Hindi, hr Croatian, hu Hungarian,
hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese, jv Javanese, ka Georgian, kk Kazakh,
km Khmer, kn Kannada, ko Korean, ku Kurdish, ky Kyrgyz, la Latin, lo Lao, lt Lithuanian, lv Latvian,
mg Malagasy, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, my Burmese, ne Nepali,
nl Dutch, no Norwegian, om Oromo, or Odia, pa Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian,
ru Russian, sa Sanskrit, sd Sindhi, si Sinhala, sk Slovak, sl Slovenian, so Somali, sq Albanian, sr Serbian,
su Sundanese, sv Swedish, sw Swahili, ta Tamil, te Telugu, th Thai, tl Filipino, tr Turkish, ug Uyghur,
uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, xh Xhosa, yi Yiddish, zh Chinese
"""
NAMES: Mapping[str, str] = dict(entry.split(maxsplit=1) for entry in _NAMES.replace("\n", " ").split(","))
_SAME = {
    **{"arz": "ar", "ckb": "ku", "iw": "he", "nb": "no", "nn": "no"},
    **{"pnb": "pa", "sh": "sr", "wuu": "zh", "yue": "zh"},
}


@dataclass(frozen=True, slots=True)
class Languages:
    """How a sample of a table is spread over languages.

    ``shares`` of the sampled rows that have letters, by ISO 639-1 code, the greatest first; they sum to 1
    with `UNKNOWN` for rows that were too short to tell. Empty where no row has letters. ``labels`` is the
    language of the label names, `UNKNOWN` where they do not tell. ``latin`` has the part of ``shares`` that
    is written in Latin letters, where a language is an estimate while other scripts are certain.
    """

    shares: Mapping[str, float]
    labels: str = UNKNOWN
    latin: Mapping[str, float] = field(default_factory=dict)

    @property
    def foreign(self) -> float:
        """The share of rows in languages other than English."""
        return sum(share for code, share in self.shares.items() if code not in (ENGLISH, UNKNOWN))

    @property
    def foreign_codes(self) -> tuple[str, ...]:
        """The languages other than English, that of most rows first."""
        return tuple(code for code in self.shares if code not in (ENGLISH, UNKNOWN))


def code_of(code: str) -> str:
    """Return the ISO 639-1 code under which `NAMES` has the language of ``code``, else the code itself."""
    return _SAME.get(code, code)


def language_name(code: str) -> str:
    """Return the name of a language in the language of the window, "another language" where it has none."""
    if code not in NAMES:
        return _("another language")
    if language() in (ENGLISH, PSEUDO):
        return NAMES[code]
    from babel import Locale  # English, as of the command line, need not wait for it

    return str(Locale(language()).languages.get(code, NAMES[code]))


@dataclass(frozen=True, slots=True)
class Reads:
    """What a model reads. None: anything, or nobody knows what; then nothing is claimed about a text.

    ``scripts`` are first words of the Unicode names of letters, ``languages`` ISO 639-1 codes.
    """

    scripts: frozenset[str] | None = None
    languages: frozenset[str] | None = None

    def unread(self, found: Languages) -> dict[str, float]:
        """Return the shares of the languages that cannot be read, the greatest first."""
        if self.languages is not None:
            return self._foreign(found.shares)
        if self.scripts != KNOWN_SCRIPTS:
            return {}
        others = {code: share - found.latin.get(code, 0) for code, share in found.shares.items()}
        return {code: share for code, share in others.items() if share > 0}

    def unread_latin(self, found: Languages) -> dict[str, float]:
        """Return as `unread` the part that is written in Latin letters, which no script gives away."""
        return {} if self.languages is None else self._foreign(found.latin)

    def _foreign(self, shares: Mapping[str, float]) -> dict[str, float]:
        assert self.languages is not None
        known = {*self.languages, UNKNOWN}
        return {code: share for code, share in shares.items() if code not in known}

    def reads_labels(self, found: Languages) -> bool:
        """Whether the label names can be read, as far as that can be told."""
        return self.languages is None or found.labels in {*self.languages, UNKNOWN}


READS_ENGLISH = Reads(KNOWN_SCRIPTS, frozenset({ENGLISH}))
READS_LATIN = Reads(KNOWN_SCRIPTS)
READS_ALL = Reads()


def language_names(codes: Iterable[str]) -> str:
    """Return some languages as a sentence has them: "German, French or Polish".

    More than three are the first two "or another language": nobody is to think that those are all.
    """
    names = list(dict.fromkeys(map(language_name, codes)))
    if len(names) > MOST_NAMES:
        other = language_name(OTHER)
        names = [*[name for name in names if name != other][: MOST_NAMES - 1], other]
    return listed(names)


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return the first of some names as a sentence has them: "German, French or Polish"."""
    from babel.lists import format_list

    locale = "en_GB" if language() in (ENGLISH, PSEUDO) else language()
    return format_list(names[:most], style="or", locale=locale)
