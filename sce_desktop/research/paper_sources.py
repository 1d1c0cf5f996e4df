"""The paper's data sets from their original downloads (arXiv 2601.03450, appendix "Datasets").

Each reader yields (text, label) with the paper's label names; classes that it drops are left out. Where the
paper is silent or contradicts itself:

- BBC validation: its text says 223 rows, its table 225. The training file's 1,225 less 1,000 are 225: taken.
- HuffPost "WORLD NEWS" has a name in the text and is removed in a footnote: removed.
- MIND: its text is not described; title and abstract are taken. "movie" is the file's "movies".
- NYT: the corpus has no "Index Subject Headings" of these names, but its online sections have: taken, with
  "Art & Design" as Art, "Dining & Wine" as Food, "Fashion & Style" as Style; headline and lead paragraph are
  the text.
- MN-DS: 17 classes less the four dropped are 13, of which 12 are named: "labour" has no name and is left out.
  The file has no abstract; its content's first 1,500 characters stand for it.
- Arise: title and excerpt are the text, which the paper does not say.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.data.csv.text_source import reading

Example = tuple[str, str]
CONTENT_CHARACTERS = 1_500

BBC = {name: name for name in ("tech", "business", "sport", "entertainment", "politics")}
HUFFPOST = {
    "WELLNESS": "wellness",
    "POLITICS": "Politics",
    "ENTERTAINMENT": "Entertainment",
    "TRAVEL": "Travel",
    "STYLE & BEAUTY": "Style",
    "PARENTING": "parenting",
    "FOOD & DRINK": "Food",
    "BUSINESS": "Business",
    "SPORTS": "Sports",
}
MIND = {
    **{name: name for name in ("travel", "health", "sports", "weather", "finance", "music")},
    **{name: name for name in ("lifestyle", "autos", "entertainment")},
    "foodanddrink": "Food",
    "movies": "entertainment",
    "tv": "entertainment",
}
NYT = {
    **{name: name for name in ("Television", "Movies", "Sports", "Music", "Theater", "Media", "Health")},
    **{name: name for name in ("Science", "Travel", "Style", "Food", "Art", "Economy")},
    "Art & Design": "Art",
    "Dining & Wine": "Food",
    "Dining and Wine": "Food",
    "Fashion & Style": "Style",
    "Real Estate": "Economy",
    "Your Money": "Economy",
}
YAHOO = (
    "Society",
    "Science",
    "Health",
    "Education",
    "Computers",
    "Sports",
    "Business",
    "Entertainment",
    "Relationships",
    "Government",
)
AG_NEWS = ("World", "Sports", "Business", "Science")
ARISE = {name: name for name in ("business", "sports", "politics", "health", "tech", "entertainment")}
MNDS = {
    **{
        name: name
        for name in ("society", "politics", "sport", "health", "education", "environment", "weather")
    },
    "science and technology": "science",
    "religion and belief": "religion",
    "conflict, war and peace": "war",
    "crime, law and justice": "crime",
    "disaster, accident and emergency incident": "disaster",
}


# --- readers -----------------------------------------------------------------------------------------------


def read_bbc(path: Path) -> Iterator[Example]:
    """A file of ``SetFit/bbc-news``: JSON lines with text and label_text."""
    for row in _json_lines(path, ("text", "label_text")):
        if label := BBC.get(row["label_text"]):
            yield row["text"], label


def read_huffpost(path: Path) -> Iterator[Example]:
    """Kaggle's ``News_Category_Dataset``: JSON lines with headline, short_description and category."""
    for row in _json_lines(path, ("headline", "short_description", "category")):
        if label := HUFFPOST.get(row["category"]):
            yield _joined(row["headline"], row["short_description"]), label


def read_mind(path: Path) -> Iterator[Example]:
    """Microsoft's ``news.tsv``: id, category, subcategory, title, abstract, ...; no header, no quotes."""
    with reading(path), path.open(encoding="utf-8", newline="") as file:
        for number, line in enumerate(file, 1):
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) < 5:
                raise UserError(f"{path.name} is not MIND's news.tsv: line {number} has {len(cells)} fields.")
            if label := MIND.get(cells[1]):
                yield _joined(cells[3], cells[4]), label


def read_nyt(folder: Path) -> Iterator[Example]:
    """The Annotated Corpus unpacked: NITF XML files below ``folder``, in the order of their paths."""
    files = sorted(folder.rglob("*.xml"))
    if not files:
        raise UserError(f"{folder} has no XML files: unpack the corpus's archives there.")
    for path in files:
        try:
            root = ElementTree.parse(path).getroot()  # the parser resolves nothing outside the file
        except ElementTree.ParseError as error:
            raise UserError(f"{path} is damaged ({error}): unpack it again.") from None
        found = root.find(".//meta[@name='online_sections']")
        sections = [] if found is None else [part.strip() for part in found.get("content", "").split(";")]
        labels = {NYT[section] for section in sections if section in NYT}
        if "Opinion" in sections or len(labels) != 1:  # two of our labels would both be right
            continue
        lead = root.find(".//block[@class='lead_paragraph']")
        text = _joined(_xml_text(root.find(".//hedline")), _xml_text(lead))
        if text:
            yield text, labels.pop()


def read_ag_news(path: Path) -> Iterator[Example]:
    """``ag_news_csv``: class from 1, title, description; no header."""
    for label, cells in _classes(path, AG_NEWS, 3):
        yield _joined(*cells), label


def read_yahoo(path: Path) -> Iterator[Example]:
    """``yahoo_answers_csv``: class from 1, question title, question content, best answer; no header."""
    for label, cells in _classes(path, YAHOO, 4):
        yield _joined(*(cell.replace("\\n", "\n") for cell in cells[:2])), label


def read_arise(path: Path) -> Iterator[Example]:
    """``okite97/news-data``: csv with Title, Excerpt and Category."""
    for row in _csv_rows(path, ("Title", "Excerpt", "Category")):
        if label := ARISE.get(row["Category"].strip().lower()):
            yield _joined(row["Title"], row["Excerpt"]), label


def read_mnds(path: Path) -> Iterator[Example]:
    """Zenodo's ``MN-DS-news-classification.csv``: title, content and category_level_1."""
    for row in _csv_rows(path, ("title", "content", "category_level_1")):
        if label := MNDS.get(row["category_level_1"].strip().lower()):
            yield _joined(row["title"], row["content"][:CONTENT_CHARACTERS]), label


# --- samples -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """A data set of the paper: its reader and how many rows are drawn. 0: all that are left.

    ``files``: the training download, then the test download; a single one gives train, validation and test.
    ``each``: rows of every label in the test sample instead.
    """

    name: str
    read: Callable[[Path], Iterator[Example]]
    train: int = 0
    validation: int = 0
    test: int = 0
    seen: bool = True
    files: int = 1
    each: int = 0


SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        Source("bbc_news", read_bbc, train=1000, validation=225, test=1000, files=2),
        Source("huffpost", read_huffpost, train=5000, validation=2000, test=5000),
        Source("mind_news", read_mind, train=5000, validation=2000, test=2000, files=2),
        Source("nyt_sections", read_nyt, train=5000, validation=1100, test=2600),
        Source("yahoo_answers", read_yahoo, test=5000, seen=False),
        Source("ag_news", read_ag_news, seen=False),
        Source("okite_arise_news", read_arise, seen=False),
        Source("mnds", read_mnds, seen=False, each=50),
    )
}


def draw(source: Source, paths: Sequence[Path], *, seed: int = 0) -> dict[str, list[Example]]:
    """Return train, validation and test examples of ``source``, drawn as the paper does, always the same.

    A download with fewer rows than the paper draws gives what it has, training rows first.

    Raises:
        UserError: The number of files is wrong, or one is not what it should be.
    """
    if len(paths) != source.files:
        raise UserError(f"{source.name} needs {source.files} files, the training one first.")
    generator = random.Random(seed)

    def shuffled(path: Path) -> list[Example]:
        rows = list(dict.fromkeys(source.read(path)))
        generator.shuffle(rows)
        return rows

    rows = shuffled(paths[0])
    if source.each:
        return {"train": [], "validation": [], "test": _of_each(rows, source.each)}
    learnt = source.train + source.validation
    rest = shuffled(paths[1]) if source.files == 2 else rows[learnt:]
    return {
        "train": rows[: source.train],
        "validation": rows[source.train : learnt],
        "test": rest[: source.test or None],
    }


def _of_each(rows: Sequence[Example], count: int) -> list[Example]:
    taken: dict[str, int] = defaultdict(int)
    chosen = []
    for text, label in rows:
        if taken[label] < count:
            taken[label] += 1
            chosen.append((text, label))
    return chosen


# --- formats -----------------------------------------------------------------------------------------------


def _joined(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part.strip())


def _xml_text(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join(" ".join(element.itertext()).split())


def _json_lines(path: Path, keys: Sequence[str]) -> Iterator[dict[str, str]]:
    with reading(path), path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
                values = {key: str(row[key]) for key in keys}
            except (ValueError, KeyError, TypeError):
                raise UserError(
                    f"Line {number} of {path.name} should be JSON with {', '.join(keys)}: download it again."
                ) from None
            yield values


def _csv_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with reading(path), path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        if missing := [name for name in columns if name not in (rows.fieldnames or ())]:
            raise UserError(f"{path.name} has no column “{missing[0]}”: download the original file.")
        for row in rows:
            yield {name: row[name] or "" for name in columns}


def _classes(path: Path, names: Sequence[str], width: int) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(sys.maxsize)
    with reading(path), path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file), 1):
            if len(row) != width or not row[0].isdigit() or not 1 <= int(row[0]) <= len(names):
                raise UserError(f"Line {number} of {path.name} is not a class from 1 and {width - 1} texts.")
            yield names[int(row[0]) - 1], row[1:]
