"""Tokenizers from anywhere: what one may hold is checked before the library reads it, then it is tried.

The library trusts its files: sizes that they state are allocated, and a panic or an allocation that fails
ends the process. A normaliser or a template can multiply each letter, and a regular expression can take for
ever.
"""

from __future__ import annotations

import base64
import re
import struct
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokenizers import Encoding, Tokenizer

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.ml.hub import model_files

LARGEST = 64_000_000
"""Bytes: Gemma 3 has 33 MB, XLM-V with its 900,000 tokens 60."""
MOST_TOKENS = 1_000_000
MOST_CONTAINERS = 2_500_000
"""Lists and objects: one for each token of a unigram model, or each merge."""
MOST_ADDED = 20_000
"""Added tokens; the most in use is about 6,000."""
MOST_PARTS = 32
"""Normalisers, pre-tokenizers or post-processors one after the other."""
MOST_PIECES = 32
"""Of a template that is put around a text."""
MOST_CHARACTERS = 2_000
"""Of all that normalisers put in; and of a regular expression."""
MOST_REPEATED = 1_000
"""How often a regular expression may ask for the same by number: {1000}."""
MOST_WORD = 1_000
"""Letters of a word that WordPiece looks at: it takes the square of them."""
MOST_GROWTH = 8
"""Characters that normalisers may make of one; a byte-level tokenizer makes four tokens of an emoji."""
TRIAL_SECONDS = 20.0
_TRIAL = 4_000
_MOST_FIXED = 10_000
_DEFAULT_ENDS = 64
_NORMALIZERS_THAT_GROW = {"ByteLevel": 2, "NFKD": 2, "NFKC": 2, "NFD": 2, "NFC": 1, "BertNormalizer": 3}


def read_tokenizer(file: Path) -> Tokenizer:
    """Return the tokenizer in ``file``.

    Raises:
        UserError: It is damaged, larger than any model needs, makes far more tokens of a text than it has
            letters, or takes for ever.
    """
    text = model_files.read_text(file, LARGEST)
    described = model_files.parse_json(file, text, MOST_CONTAINERS)
    try:
        _check(file, described)
    except (TypeError, ValueError, KeyError, AttributeError, struct.error):
        raise model_files.damaged(file) from None
    del described
    with _panics(file):
        tokenizer = Tokenizer.from_str(text)
        _try(file, tokenizer)
    return tokenizer


def encode(
    tokenizer: Tokenizer, texts: Sequence[str], name: str, *, special: bool = True, places: bool = False
) -> list[Encoding]:
    """Return the tokens of ``texts``; ``name`` is that of the model, for the error.

    ``special``: with the tokens that stand around a text; ``places``: with `Encoding.offsets` too.

    Raises:
        UserError: The tokenizer gives up on a text.
    """
    try:
        read = tokenizer.encode_batch if places else tokenizer.encode_batch_fast
        return read(texts, add_special_tokens=special)
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise UserError(
            _("The tokenizer of {model} fails on a text: choose another model.", model=name)
        ) from None


def check_ids(file: Path, tokenizer: Tokenizer, tokens: int) -> None:
    """Refuse a tokenizer that gives numbers beyond the ``tokens`` rows of the model's token table.

    Raises:
        UserError: It does.
    """
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=0)
    if highest >= tokens:
        raise UserError(
            _(
                "{file} does not belong to the model: it has a token {token}, and the model has {tokens} "
                "tokens.",
                file=file,
                token=highest,
                tokens=number(tokens),
            )
        )


# --- what it says -------------------------------------------------------------------------------------------


def _check(file: Path, found: Any) -> None:
    model = found["model"]
    tokens = len(model["vocab"])
    added = found.get("added_tokens") or []
    if tokens > MOST_TOKENS or len(added) > MOST_ADDED or len(model.get("merges") or ()) > 2 * MOST_TOKENS:
        raise UserError(
            _(
                "{file} has {tokens} tokens and {added} added ones, more than any model needs.",
                file=file,
                tokens=number(tokens),
                added=number(len(added)),
            )
        )
    _check_model(model)
    for ids in _token_ids(model["vocab"]), (one["id"] for one in added):
        if any(not 0 <= each < 2 * MOST_TOKENS for each in ids):
            raise UserError(
                _("{file} numbers its tokens beyond what any model has: choose another model.", file=file)
            )
    parts = {
        key: list(_parts(found.get(key), inside))
        for key, inside in (
            ("normalizer", "normalizers"),
            ("pre_tokenizer", "pretokenizers"),
            ("post_processor", "processors"),
        )
    }
    for part in (*parts["normalizer"], *parts["pre_tokenizer"]):
        _check_patterns(file, part)
    grown, put_in = _growth(parts["normalizer"], parts["pre_tokenizer"])
    ends = [_template(part) for part in parts["post_processor"]]
    again = 1
    for repeated, _pieces in ends:
        again *= repeated
    pieces = sum(pieces for _repeated, pieces in ends)
    if grown > MOST_GROWTH * 8 or put_in > MOST_CHARACTERS or again > 2 or pieces > MOST_PIECES:
        raise _multiplies(file)
    for key in ("padding", "truncation"):
        _check_lengths(found.get(key))


def _check_model(model: dict[str, Any]) -> None:
    if len(str(model.get("continuing_subword_prefix") or "")) > 16:
        raise ValueError("a long prefix")
    if len(str(model.get("end_of_word_suffix") or "")) > 16:
        raise ValueError("a long suffix")
    if not 0 <= int(model.get("max_input_chars_per_word") or 0) <= MOST_WORD:
        raise ValueError("words without an end")


def _token_ids(vocabulary: Any) -> Iterator[int]:
    if isinstance(vocabulary, dict):
        for each in vocabulary.values():
            if type(each) is not int:
                raise TypeError("no number")
            yield each


def _parts(found: Any, inside: str) -> Iterator[dict[str, Any]]:
    """Yield the steps of a sequence of sequences; raises ValueError where there are too many."""
    waiting, count = [found] if found is not None else [], 0
    while waiting:
        one = waiting.pop(0)
        count += 1
        if count > MOST_PARTS:
            raise ValueError("too many parts")
        if one.get("type") == "Sequence":
            waiting = [*one[inside], *waiting]
        else:
            yield one


def _growth(
    normalizers: Sequence[dict[str, Any]], pre_tokenizers: Sequence[dict[str, Any]]
) -> tuple[float, int]:
    """Return by how much letters may multiply at most, and how many letters are put in by name."""
    grown, put_in = 1.0, 0
    for part in (*normalizers, *pre_tokenizers):
        kind = part.get("type")
        if kind == "Replace":
            pattern, content = part["pattern"], str(part["content"])
            shortest = len(str(pattern["String"])) if "String" in pattern else 1
            put_in += len(content)
            grown *= max(1.0, len(content) / max(1, shortest))
        elif kind == "Prepend":
            put_in += len(str(part["prepend"]))
            grown *= 1 + (len(str(part["prepend"])) > 1)
        elif kind == "Precompiled":
            _check_precompiled(str(part["precompiled_charsmap"]))
            grown *= 2
        else:
            grown *= _NORMALIZERS_THAT_GROW.get(str(kind), 1)
    return grown, put_in


def _check_precompiled(encoded: str) -> None:
    """Raise ValueError unless the table is as long as it says: the library allocates what it says."""
    data = base64.b64decode(encoded, validate=True)
    (size,) = struct.unpack_from("<I", data)
    if size % 4 or not 0 < size <= len(data) - 4:
        raise ValueError("a table of another size")


def _template(part: dict[str, Any]) -> tuple[int, int]:
    """Return how often a post-processor repeats the text, and how many tokens it puts around it."""
    if part.get("type") != "TemplateProcessing":
        return 1, 2
    known = {name: len(special["ids"]) for name, special in part["special_tokens"].items()}
    repeated, pieces = 1, 0
    for key in ("single", "pair"):
        inside = part[key]
        texts = sum("Sequence" in piece for piece in inside)
        repeated = max(repeated, -(-texts // (1 if key == "single" else 2)))
        pieces = max(
            pieces, sum(known[piece["SpecialToken"]["id"]] for piece in inside if "SpecialToken" in piece)
        )
        if len(inside) > 2 * MOST_PIECES:
            return len(inside), pieces
    return repeated, pieces


def _check_lengths(found: Any) -> None:
    if not found:
        return
    strategy = found.get("strategy")
    numbers = [found.get(key) or 0 for key in ("pad_to_multiple_of", "stride", "pad_id", "pad_type_id")]
    if isinstance(strategy, dict):
        numbers += strategy.values()
    if any(not 0 <= int(each) <= _MOST_FIXED * 1_000 for each in numbers) or (
        isinstance(strategy, dict) and any(int(each) > _MOST_FIXED for each in strategy.values())
    ):
        raise ValueError("padding without an end")


# --- regular expressions ------------------------------------------------------------------------------------


def _check_patterns(file: Path, part: dict[str, Any]) -> None:
    pattern = part.get("pattern")
    if not isinstance(pattern, dict) or "Regex" not in pattern:
        return
    source = str(pattern["Regex"])
    if len(source) > MOST_CHARACTERS * 10 or not is_bounded(source):
        raise UserError(
            _(
                "{file} has a regular expression that may take for ever on some texts: choose another model.",
                file=file,
            )
        )


def is_bounded(pattern: str) -> bool:
    """Whether no repetition without an end stands in another one, nor numbered ones multiply.

    Oniguruma's syntax is read by Python's parser, with its properties in the place of which a letter stands.
    What that cannot read is not bounded.
    """
    # sre's own parser: no other library reads a pattern into a tree, and it has stayed the same since 3.11
    from re import _constants as kinds, _parser as parser  # type: ignore[attr-defined]  # noqa: I001

    plain = re.sub(r"\\[pP](\{\^?[\w ]+\}|\w)|\\[hHR]", "w", pattern)
    plain = re.sub(r"\[\[:\^?\w+:\]", "[w", plain)
    plain = plain.replace("&&", "").replace(r"\z", r"\Z")
    # only in front may Python set flags for the whole
    plain = re.sub(r"\(\?([imsx]+)\)", "", plain)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(plain)
    except (re.error, RecursionError, OverflowError, ValueError):
        return False
    repeats = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
    waiting: list[tuple[Any, bool, int]] = [
        (tree, False, 1)
    ]  # what, within an endless one, how often at most
    while waiting:
        one, endless, times = waiting.pop()
        if isinstance(one, parser.SubPattern):
            waiting += [(each, endless, times) for each in one]
        elif isinstance(one, tuple) and len(one) == 2 and one[0] in repeats:
            _low, high, body = one[1]
            without_end = high == kinds.MAXREPEAT
            if (without_end or high > MOST_REPEATED) and endless:
                return False
            several = times if without_end else times * max(1, high)
            if several > MOST_REPEATED:
                return False
            waiting.append((body, endless or without_end, several))
        elif isinstance(one, tuple | list):
            waiting += [
                (each, endless, times) for each in one if isinstance(each, tuple | list | parser.SubPattern)
            ]
    return True


# --- how it behaves -----------------------------------------------------------------------------------------


def _try(file: Path, tokenizer: Tokenizer) -> None:
    """Tokenise what is likely to go wrong, in a thread, so that one that never ends is not waited for."""
    texts = [
        "a" * _TRIAL,
        " " * _TRIAL,
        "1" * _TRIAL,
        "aA1 -\n" * (_TRIAL // 6),
        "\u4f60\u597d" * (_TRIAL // 2),
        "\U0001f600\u200d" * (_TRIAL // 2),
        "\u00e9\u0301" * (_TRIAL // 2),
        "\ufdfa" * (_TRIAL // 4),
        "The parcel came late, and it was damaged.",
    ]
    kept = tokenizer.truncation
    tokenizer.no_truncation()
    problem: list[BaseException | str] = []

    def run() -> None:
        try:
            for text in texts:
                found = tokenizer.encode(text)
                if len(found.ids) > MOST_GROWTH * 4 * len(text) + _DEFAULT_ENDS:
                    problem.append("multiplies")
                    return
        except BaseException as error:
            problem.append(error)

    thread = threading.Thread(target=run, daemon=True, name="tokenizer trial")
    thread.start()
    thread.join(TRIAL_SECONDS)
    if thread.is_alive():
        raise UserError(_("{file} takes for ever on a short text: choose another model.", file=file))
    if problem == ["multiplies"]:
        raise _multiplies(file)
    if problem:
        assert isinstance(problem[0], BaseException)
        raise problem[0]
    if kept:
        tokenizer.enable_truncation(**kept)


def _multiplies(file: Path) -> UserError:
    return UserError(
        _(
            "{file} makes far more of a text than it has letters, which may fill the memory: choose another "
            "model.",
            file=file,
        )
    )


def _is_panic(error: BaseException) -> bool:
    """Whether the library gave up: a panic is no Exception, and what it raises itself is a bare one."""
    return type(error).__name__ == "PanicException" or type(error) is Exception


@contextmanager
def _panics(file: Path) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except BaseException as error:
        if not (_is_panic(error) or isinstance(error, TypeError | ValueError | OverflowError)):
            raise
        raise model_files.damaged(file) from None
