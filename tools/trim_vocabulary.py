"""Judges what a vocabulary trimmed by use would do to sce-multi: docs/adr/0019-the-whole-vocabulary.md.

    python tools/trim_vocabulary.py count COUNTS.npz --model models/sce-multi \\
        --words WORDS --udhr UDHR --messages MESSAGES
    python tools/trim_vocabulary.py cover COUNTS.npz --model models/sce-multi --keep 90000 --by own
    python tools/trim_vocabulary.py measure DATA --model models/sce-multi --keep 90000 --by own
    python tools/trim_vocabulary.py trim OUT_DIR --model models/sce-multi --keep 90000 --by own

``count`` counts the tokens of text in each language that the body was trained on. It needs the package
wordfreq, whose word lists it adds. WORDS has LANGUAGE.txt, a word and its count a line (github
hermitdave/FrequencyWords, content/2018), UDHR the Universal Declaration as udhr_*.xml (github
eric-muller/udhr), MESSAGES has LANGUAGE/LC_MESSAGES/*.mo (the folder program/resource of Debian's packages
libreoffice-l10n-*).

``cover`` and ``measure`` print Markdown tables, ``trim`` writes a model folder. Every single character is
kept, so that no text gets an unknown token that had none.
"""

from __future__ import annotations

import argparse
import dataclasses
import gettext
import gzip
import hashlib
import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.quantised import QuantisedTable
from sce_desktop.ml.hub import folders
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.collections import LabelledSet, list_sets, load_set
from sce_desktop.tasks.evaluation.gold import sample

LANGUAGES = frozenset(
    """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is
it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl
so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
""".split()  # noqa: SIM905 - a list of strings would fill a hundred lines
)
"""Those of the body, as XLM-R's paper lists them."""
UNSPACED = ("ja", "km", "lo", "my", "th", "zh")
WORDS = 200_000  # of a list without spaces are drawn
CHARACTERS = 2_000_000  # of one language and source are counted
SPECIAL = 4
BATCH = 2000
TOKENS_PER_BATCH = 4096


# --- counting ----------------------------------------------------------------------------------------------


def language_of(tag: str) -> str:
    """Return the two-letter code of a language tag of any kind ("deu_1996", "pt-BR", "cmn")."""
    from langcodes import standardize_tag

    try:
        found = standardize_tag(tag.replace("_", "-").split("-")[0], macro=True)
    except ValueError:
        return ""
    return {"nb": "no", "nn": "no", "fil": "tl"}.get(found, found)


def texts_of_words(words: dict[str, float], language: str) -> list[tuple[str, float]]:
    """Return texts with their weights: each word, or lines of drawn words where no spaces are written."""
    if language not in UNSPACED:
        return list(words.items())
    weights = np.array(list(words.values()))
    drawn = np.random.default_rng(0).choice(list(words), WORDS, p=weights / weights.sum())
    return [("".join(drawn[i : i + 20]), 1.0) for i in range(0, WORDS, 20)]


def weighted_texts(args: argparse.Namespace) -> Iterable[tuple[str, str, list[tuple[str, float]]]]:
    """Yield source, language, and texts with their weights."""
    import wordfreq

    for tag in sorted(wordfreq.available_languages("best")):
        language = language_of(tag)
        yield "wordfreq", language, texts_of_words(wordfreq.get_frequency_dict(tag, "best"), language)
    for file in sorted(args.words.glob("*.txt")):
        lines = (line.rsplit(" ", 1) for line in file.read_text(encoding="utf-8").splitlines())
        words = {word: float(count) for word, count in lines}
        yield "words", language_of(file.stem), texts_of_words(words, language_of(file.stem))
    for file in sorted(args.udhr.glob("udhr_*.xml")):
        root = ElementTree.parse(file).getroot()
        tag = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
        yield "udhr", language_of(tag), [("".join(part.itertext()), 1.0) for part in root if part.text]
    for folder in sorted(args.messages.glob("*/LC_MESSAGES")):
        texts: list[str] = []
        for file in sorted(folder.glob("*.mo")):
            with file.open("rb") as stream:
                found = gettext.GNUTranslations(stream)._catalog  # type: ignore[attr-defined]
            texts += [text.replace("~", "").replace("_", "") for text in found.values() if text]
        yield "messages", language_of(folder.parent.name), [(text, 1.0) for text in dict.fromkeys(texts)]
    with gzip.open(args.written, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            texts = [text for name, _, *rest in row["labels"] for text in (name, *rest)]
            yield "written", language_of(row["lang"]), [(text, 1.0) for text in texts]


def count(args: argparse.Namespace) -> None:
    """Write each language's share of every token, mean of its sources (languages, tokens), float32."""
    tokenizer = folders.read_tokenizer(args.model / folders.TOKENIZER)
    tokenizer.no_truncation()
    counts: dict[tuple[str, str], NDArray[np.float64]] = {}
    read: Counter[tuple[str, str]] = Counter()
    for source, language, texts in weighted_texts(args):
        if language not in LANGUAGES:
            continue
        table = counts.setdefault((language, source), np.zeros(tokenizer.get_vocab_size()))
        left = iter(texts)
        while read[language, source] < CHARACTERS and (part := list(islice(left, BATCH))):
            read[language, source] += sum(len(text) for text, _ in part)
            found = tokenizer.encode_batch_fast([text for text, _ in part], add_special_tokens=False)
            for one, (_, weight) in zip(found, part, strict=True):
                np.add.at(table, one.ids, weight)
    languages = sorted({language for language, _ in counts})
    shares = np.stack(
        [
            np.mean([t / t.sum() for (own, _), t in counts.items() if own == language and t.any()], 0)
            for language in languages
        ]
    )
    np.savez_compressed(args.counts, shares=shares.astype(np.float32), languages=languages)
    used = (shares > 0).any(0).sum()
    print(f"{len(languages)} languages, {sum(read.values()):,} characters, {used:,} tokens used")
    print("not counted:", *(sorted(LANGUAGES - set(languages)) or ["none"]))


# --- trimming ----------------------------------------------------------------------------------------------


@cache
def read_facts(tokenizer: str) -> dict[str, Any]:
    """Return what the tokenizer's JSON text says; not to be changed."""
    found: dict[str, Any] = json.loads(tokenizer)
    return found


class Vocabulary(NamedTuple):
    """What is known of the tokens: ``always`` kept or not, and their ``own`` probability; both (tokens,)."""

    always: NDArray[np.bool_]
    own: NDArray[np.float64]


def read_vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """Return the tokenizer's vocabulary; special tokens and single characters are always kept."""
    pieces, scores = zip(*read_facts(tokenizer.to_str())["model"]["vocab"], strict=True)
    always = np.array([i < SPECIAL or len(p) == 1 or p == "<mask>" for i, p in enumerate(pieces)])
    characters = {piece for piece in pieces if len(piece) == 1}
    if odd := [p for p, kept in zip(pieces, always, strict=True) if not kept and not set(p) <= characters]:
        raise SystemExit(f"{len(odd)} tokens have characters that are none: {odd[:3]}")
    own = np.where(np.array(scores) == 0, 0, np.exp(scores))
    return Vocabulary(always, own / own.sum())


def kept_tokens(
    vocabulary: Vocabulary, by: str, counts: Path | None, keep: int, without: Sequence[str] = ()
) -> NDArray[np.int64]:
    """Return the ids of ``keep`` tokens in order: special and single characters, then the most used.

    Use is, ``by`` "own", the vocabulary's own probability, which its makers took from the text that the body
    was trained on; by "counted" the mean share in ``counts`` over all languages but ``without``; by "both"
    the sum of the two. Tokens of equal use come by their own probability, which is their order.
    """
    use = vocabulary.own * (by != "counted")
    if by != "own":
        if counts is None:
            raise SystemExit("give the file with the counts")
        shares, languages = read_counts(counts)
        use = use + shares[~np.isin(languages, without)].mean(0)
    order = np.lexsort((np.arange(len(use)), -use))
    rest = order[~vocabulary.always[order]][: max(0, keep - int(vocabulary.always.sum()))]
    return np.sort(np.concatenate([np.flatnonzero(vocabulary.always), rest]))


@cache
def read_counts(file: Path) -> tuple[NDArray[np.float32], NDArray[np.str_]]:
    """Return what `count` wrote: shares (languages, tokens) and the languages."""
    with np.load(file) as found:
        return found["shares"], found["languages"]


def narrowed(tokenizer: Tokenizer, kept: NDArray[np.int64]) -> Tokenizer:
    """Return a tokenizer that finds only the tokens ``kept`` and leaves every id as it is."""
    facts = read_facts(tokenizer.to_str())
    reachable = set(kept.tolist())
    vocabulary = [
        one if i in reachable else [f"\uf8ff\uf8fe{i}", -1000.0]
        for i, one in enumerate(facts["model"]["vocab"])
    ]
    return Tokenizer.from_str(json.dumps(facts | {"model": facts["model"] | {"vocab": vocabulary}}))


def trimmed_tokenizer(tokenizer: Tokenizer, kept: NDArray[np.int64]) -> Tokenizer:
    """Return a tokenizer of the tokens ``kept`` alone, numbered anew."""
    facts = json.loads(tokenizer.to_str())  # a copy to change
    facts["model"]["vocab"] = [facts["model"]["vocab"][i] for i in kept]
    places = {int(old): new for new, old in enumerate(kept)}
    for token in facts["added_tokens"]:
        token["id"] = places[token["id"]]
    return Tokenizer.from_str(json.dumps(facts))


def trimmed(model: SCEModel, kept: NDArray[np.int64]) -> SCEModel:
    """Return the model with the rows ``kept`` of its token table alone."""
    assert model.tokenizer is not None
    facts = model.config.embedder["encoder"] | {"vocab_size": len(kept)}
    encoder = TextEncoder(EncoderConfig.from_dict(facts))
    old = model.embedder.tokens
    assert isinstance(old, QuantisedTable)
    rows = torch.from_numpy(kept)
    state = {name: tensor for name, tensor in model.embedder.state_dict().items() if "tokens." not in name}
    state |= {"tokens.blocks": old.blocks[rows], "tokens.scales": old.scales[rows]}
    encoder.load_state_dict(state)
    head = dataclasses.replace(
        model.config.sce, encoder=dataclasses.replace(model.config.sce.encoder, vocab_size=len(kept))
    )
    config = dataclasses.replace(model.config, sce=head, embedder=model.config.embedder | {"encoder": facts})
    return SCEModel(config, encoder, model.head, trimmed_tokenizer(model.tokenizer, kept))


def trim(args: argparse.Namespace) -> None:
    """Write the trimmed model."""
    model = SCEModel.from_pretrained(args.model)
    assert model.tokenizer is not None
    kept = kept_tokens(
        read_vocabulary(model.tokenizer), (args.by or ["both"])[0], args.counts, args.keep[0], args.without
    )
    trimmed(model, kept).save_pretrained(args.output)
    print(f"{len(kept):,} tokens, {folders.folder_size(args.output) / 1e6:.1f} MB in {args.output}")


def cover(args: argparse.Namespace) -> None:
    """Print which share of the tokens in each language's text is not kept: mean, and the worst languages.

    "left out": the language's own text was not counted when the tokens were chosen.
    """
    vocabulary = read_vocabulary(folders.read_tokenizer(args.model / folders.TOKENIZER))
    shares, languages = read_counts(args.counts)
    print("| vocabulary | tokens | not kept, % of a text's tokens | worst languages |\n|---|---|---|---|")
    for keep, by in product(args.keep, args.by or ["both"]):
        everywhere = kept_tokens(vocabulary, by, args.counts, keep)
        for left_out in (False, True) if by != "own" else (False,):
            lost = {}
            for row, language in zip(shares, languages.tolist(), strict=True):
                kept = everywhere
                if left_out:
                    kept = kept_tokens(vocabulary, by, args.counts, keep, [language])
                lost[language] = 100 * (1 - float(row[kept].sum()))
            worst = sorted(lost, key=lambda language: -lost[language])[:4]
            words = ", ".join(f"{language} {lost[language]:.0f}" for language in worst)
            title = f"{by}, left out" if left_out else by
            print(f"| {title} | {keep:,} | {np.mean(list(lost.values())):.1f} | {words} |", flush=True)


# --- measuring ---------------------------------------------------------------------------------------------


def hashed(ids: tuple[int, ...]) -> bytes:
    """Return what a text cut into ``ids`` is kept by."""
    return hashlib.sha256(np.array(ids).tobytes()).digest()


class Measure:
    """Accuracy and tokens of the model with other vocabularies; no text is embedded twice if cut alike."""

    def __init__(
        self, folder: Path, data: Path, rows: int, every: int = 1, memory: Path | None = None
    ) -> None:
        self.model = SCEModel.from_pretrained(folder)
        assert self.model.tokenizer is not None
        self.tokenizer = Tokenizer.from_str(self.model.tokenizer.to_str())
        self.memory = memory
        self.tokens_alone = False
        self.vocabulary = read_vocabulary(self.tokenizer)
        self.vectors: dict[bytes, NDArray[np.float32]] = {}  # by a hash of the ids
        if memory is not None and memory.is_file():
            with np.load(memory) as file:
                self.vectors = dict(zip(map(bytes, file["keys"]), file["vectors"], strict=True))
        self.sets: dict[str, LabelledSet] = {}
        for part in ("multilingual", "validation"):
            for name in list_sets(data, part):
                whole = load_set(data, name)
                places = sample(list(range(len(whole))), rows)[::every]
                few = [tuple(column[i] for i in places) for column in (whole.texts, whole.labels)]
                self.sets[name] = dataclasses.replace(whole, texts=few[0], labels=few[1])

    def _remember(self) -> None:
        """Keep the vectors for the next call."""
        if self.memory is not None:
            keys = np.array([np.frombuffer(key, np.uint8) for key in self.vectors])
            np.savez(self.memory, keys=keys, vectors=np.stack(list(self.vectors.values())))

    def size(self, kept: NDArray[np.int64]) -> float:
        """Return the MB of the folder with the tokens ``kept``."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "trimmed"
            trimmed(self.model, kept).save_pretrained(folder)
            return folders.folder_size(folder) / 1e6

    def measure(self, names: Sequence[str], kept: NDArray[np.int64]) -> dict[str, tuple[float, float]]:
        """Return by set: the share that is right, and tokens a text."""
        old = self.model
        model = SCEModel(old.config, old.embedder, old.head, narrowed(self.tokenizer, kept))
        assert isinstance(model.text_embedder, NativeEmbedder)
        found = {}
        for name in names:
            texts, gold = self.sets[name].texts, self.sets[name].labels
            labels = [Label(label) for label in self.sets[name].label_names]
            tokens = model.text_embedder.token_counts(texts)
            if self.tokens_alone:
                found[name] = math.nan, float(tokens.mean())
                continue
            ids = [tuple(one) for one in model.text_embedder.token_ids(texts)]
            self._embed(model.text_embedder, ids)
            scores = model.score(np.stack([self.vectors[hashed(one)] for one in ids]), labels).probabilities
            right = [labels[k].name == label for k, label in zip(scores.argmax(1), gold, strict=True)]
            found[name] = float(np.mean(right)), float(tokens.mean())
        return found

    @torch.inference_mode()
    def _embed(self, embedder: NativeEmbedder, ids: Sequence[tuple[int, ...]]) -> None:
        new = sorted({one for one in ids if hashed(one) not in self.vectors}, key=len)
        while new:
            size = max(1, TOKENS_PER_BATCH // len(new[-1]))
            batch, new = new[-size:], new[:-size]
            rows = embedder.vectors([list(one) for one in batch]).float().numpy()
            self.vectors |= zip(map(hashed, batch), rows, strict=True)
            if not new:
                self._remember()


def measure(args: argparse.Namespace) -> None:
    """Print a line a vocabulary: size, accuracies, tokens a text beside the whole vocabulary's."""
    run = Measure(args.model, args.data, args.rows, args.every, args.memory)
    run.tokens_alone = args.tokens_alone
    if args.sets:
        run.sets = {name: run.sets[name] for name in args.sets}
    own = [name for name in run.sets if name.endswith("_own")]
    english_labels = [name.removesuffix("_own") for name in own]
    english = [name for name in run.sets if name not in own and name not in english_labels]
    everything = np.arange(run.tokenizer.get_vocab_size())
    parts = (english_labels, own, english)

    def line(title: str, kept: NDArray[np.int64], found: dict[str, tuple[float, float]], mb: float) -> None:
        named = [[name for name in part if name in found] for part in parts]
        right = [100 * np.mean([found[name][0] for name in part]) if part else math.nan for part in named]
        more = [np.mean([found[n][1] / whole[n][1] for n in part]) if part else 1 for part in named[1:]]
        worst = max((found[name][1] / whole[name][1], name) for name in found)
        cells = [
            f"{title}",
            f"{len(kept):,}",
            f"{mb:.1f}" if mb else "",
            *("" if math.isnan(x) else f"{x:.1f}" for x in right),
        ]
        cells += [f"{100 * x - 100:+.1f} %" for x in more] + [f"{100 * worst[0] - 100:+.1f} % {worst[1]}"]
        print("| " + " | ".join(cells) + " |", flush=True)

    whole = run.measure(list(run.sets), everything)
    heads = ("vocabulary", "tokens", "MB", "English labels", "own labels", "English sets")
    print("| " + " | ".join((*heads, "tokens a text", "in English", "at most")) + " |")
    print("|---|---|---|---|---|---|---|---|---|")
    line("whole", everything, whole, run.size(everything))
    results = {"whole": whole}
    for keep, by in product(args.keep, args.by or ["both"]):
        kept = kept_tokens(run.vocabulary, by, args.counts, keep)
        results[f"{by} {keep}"] = found = run.measure(list(run.sets), kept)
        line(by, kept, found, run.size(kept))
        if args.leave_out:
            found = dict(found)
            for name in own:
                code = language_of(name.split("_")[1])
                kept = kept_tokens(run.vocabulary, by, args.counts, keep, [code])
                found |= run.measure([name.removesuffix("_own"), name], kept)
            results[f"{by} {keep} left out"] = found
            line(f"{by}, each set's language not counted", kept, found, 0)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run the command given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, run, place in (
        ("count", count, "counts"),
        ("measure", measure, "data"),
        ("trim", trim, "output"),
        ("cover", cover, "counts"),
    ):
        command = commands.add_parser(name)
        command.add_argument(place, type=Path)
        command.add_argument("--model", type=Path, required=True)
        command.set_defaults(run=run)
        if name == "count":
            for source in ("words", "udhr", "messages", "written"):
                default = Path("resources/pretrain/written_sets_languages.jsonl.gz")
                needed = source != "written"
                command.add_argument(f"--{source}", type=Path, required=needed, default=default)
        else:
            if place != "counts":
                command.add_argument("--counts", type=Path, help="what `count` wrote")
            command.add_argument("--keep", type=int, action="append", default=[])
            command.add_argument("--by", action="append", choices=("own", "counted", "both"))
        if name == "measure":
            command.add_argument("--rows", type=int, default=300, help="a set")
            command.add_argument("--sets", nargs="*", help="these sets alone")
            command.add_argument("--tokens-alone", action="store_true", help="no accuracies: embed nothing")
            command.add_argument("--leave-out", action="store_true", help="also without each set's language")
            command.add_argument("--every", type=int, default=1, help="of these rows every second, third …")
            command.add_argument("--memory", type=Path, help="file that keeps the vectors between calls")
            command.add_argument("--json", type=Path, help="each set's figures go here")
        if name == "trim":
            command.add_argument(
                "--without", action="append", default=[], help="language that is not counted"
            )
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
