"""The paper's downloads: small files made in the same formats."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.commands.paper_data import DOWNLOADS
from sce_desktop.core.errors import UserError
from sce_desktop.research import paper_sources as sources
from sce_desktop.research.paper_sources import SOURCES, draw


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def text(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_bbc(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "train.jsonl",
        {"text": "wales silent on grand slam talk", "label": 2, "label_text": "sport"},
        {"text": "x", "label": 9, "label_text": "weather"},
    )
    assert list(sources.read_bbc(path)) == [("wales silent on grand slam talk", "sport")]


def test_huffpost_joins_headline_and_description_and_drops_the_world(tmp_path: Path) -> None:
    rows = [
        {
            "link": "u",
            "headline": "A",
            "category": c,
            "short_description": "b",
            "authors": "",
            "date": "2022-09-23",
        }
        for c in ("STYLE & BEAUTY", "WORLD NEWS", "PARENTING", "QUEER VOICES")
    ]
    found = list(sources.read_huffpost(lines(tmp_path / "News_Category_Dataset_v3.json", *rows)))
    assert found == [("A b", "Style"), ("A b", "parenting")]


def test_mind_merges_films_and_drops_the_rest(tmp_path: Path) -> None:
    path = text(
        tmp_path / "news.tsv",
        'N1\tlifestyle\troyals\tThe "Brands" Queen\tShop them.\thttps://x\t[]\t[]',
        "N2\tmovies\tm\tA film\t\thttps://x\t[]\t[]",
        "N3\ttv\tt\tA show\tab\thttps://x\t[]\t[]",
        "N4\tnews\tn\tNo\tno\thttps://x\t[]\t[]",
        "N5\tfoodanddrink\tf\tSoup\thot\thttps://x\t[]\t[]",
    )
    assert list(sources.read_mind(path)) == [
        ('The "Brands" Queen Shop them.', "lifestyle"),
        ("A film", "entertainment"),
        ("A show ab", "entertainment"),
        ("Soup hot", "Food"),
    ]


NITF = """<?xml version="1.0" encoding="UTF-8"?>
<nitf><head><title>T</title><meta content="{sections}" name="online_sections"/></head>
<body><body.head><hedline><hl1>{headline}</hl1></hedline></body.head>
<body.content><block class="lead_paragraph"><p>Lead &amp; more.</p></block>
<block class="full_text"><p>Everything.</p></block></body.content></body></nitf>"""


def test_nyt(tmp_path: Path) -> None:
    sections = ["Real Estate", "Opinion; Sports", "Arts; Theater", "Movies; Music", "Dining & Wine", "World"]
    for number, section in enumerate(sections):
        folder = tmp_path / "1987" / "01"
        folder.mkdir(parents=True, exist_ok=True)
        filled = NITF.replace("{sections}", section.replace("&", "&amp;")).replace("{headline}", f"H{number}")
        (folder / f"{number}.xml").write_text(filled, encoding="utf-8")
    assert list(sources.read_nyt(tmp_path)) == [
        ("H0 Lead & more.", "Economy"),
        ("H2 Lead & more.", "Theater"),
        ("H4 Lead & more.", "Food"),
    ]
    (tmp_path / "1987" / "cut.xml").write_text("<nitf><head>", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        list(sources.read_nyt(tmp_path))


def test_ag_news_and_yahoo(tmp_path: Path) -> None:
    ag = text(
        tmp_path / "test.csv",
        '"3","Fears for ""T N"" pension","Unions, ""disappointed"""',
        '"4","Race","to space"',
    )
    assert list(sources.read_ag_news(ag)) == [
        ('Fears for "T N" pension Unions, "disappointed"', "Business"),
        ("Race to space", "Science"),
    ]
    yahoo = text(
        tmp_path / "yahoo.csv", '"9","What is love?","a\\nb","best answer"', '"5","Why a CPU?","",""'
    )
    assert list(sources.read_yahoo(yahoo)) == [
        ("What is love? a\nb", "Relationships"),
        ("Why a CPU?", "Computers"),
    ]


def test_arise_and_mnds(tmp_path: Path) -> None:
    arise = text(
        tmp_path / "test.csv", "Title,Excerpt,Category", '"Oil, again",Prices rise,business', "x,y,other"
    )
    assert list(sources.read_arise(arise)) == [("Oil, again Prices rise", "business")]
    mnds = text(
        tmp_path / "mn.csv",
        "data_id,id,title,content,category_level_1,category_level_2",
        'a,1,War,"long, text","conflict, war and peace",war',
        "b,2,Pay,text,labour,pay",
        "c,3,Fun,text,lifestyle and leisure,x",
    )
    assert list(sources.read_mnds(mnds)) == [("War long, text", "war")]


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (sources.read_bbc, "text,label\n"),
        (sources.read_huffpost, '{"headline": "x"}\n'),
        (sources.read_mind, "N1\tnews\n"),
        (sources.read_ag_news, '"5","a","b"\n'),
        (sources.read_yahoo, '"1","a","b"\n'),
        (sources.read_arise, "title,text\n"),
        (sources.read_mnds, "a,b\n"),
    ],
)
def test_another_file_is_reported(tmp_path: Path, read: object, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError):
        list(read(path))  # type: ignore[operator]
    with pytest.raises(UserError, match="does not exist"):
        list(read(tmp_path / "gone"))  # type: ignore[operator]


def test_the_papers_samples() -> None:
    """Appendix "Datasets": 16,000 for training, 5,325 for validation (its table)."""
    assert sum(source.train for source in SOURCES.values()) == 16_000
    assert sum(source.validation for source in SOURCES.values()) == 5_325
    labels = [
        set(m.values()) for m in (sources.BBC, sources.HUFFPOST, sources.MIND, sources.NYT, sources.MNDS)
    ]
    assert [len(one) for one in labels] == [5, 9, 10, 13, 12]


def test_splits_do_not_overlap_and_are_the_same_every_time(tmp_path: Path) -> None:
    rows = [{"headline": f"h{i}", "short_description": "d", "category": "TRAVEL"} for i in range(12_500)]
    path = lines(tmp_path / "huff.json", *rows)
    found = draw(SOURCES["huffpost"], [path])
    assert {split: len(one) for split, one in found.items()} == {
        "train": 5000,
        "validation": 2000,
        "test": 5000,
    }
    assert len({example for split in found.values() for example in split}) == 12_000
    assert draw(SOURCES["huffpost"], [path]) == found
    with pytest.raises(UserError, match="needs 2 files"):
        draw(SOURCES["mind_news"], [path])


def test_the_command_takes_every_download() -> None:
    offered = {name: 1 if isinstance(files, str) else len(files) for name, files, _ in DOWNLOADS}
    assert offered == {name: source.files for name, source in SOURCES.items()}


def test_the_command_makes_a_folder_of_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "data"
    bbc = [{"text": f"t{i}", "label_text": ("tech", "sport")[i % 2]} for i in range(1225)]
    train, test = lines(tmp_path / "train.jsonl", *bbc), lines(tmp_path / "test.jsonl", *bbc[:7])
    header = "title,content,category_level_1"
    mnds = text(tmp_path / "mn.csv", header, *(f"w{i},x,weather" for i in range(70)), "s,x,sport")
    arguments = [
        "paper-data",
        "-o",
        str(out),
        "--bbc-news",
        str(train),
        str(test),
        "--mnds",
        str(mnds),
        "--json",
    ]
    assert cli.main(arguments) == 0
    found = json.loads(capsys.readouterr().out)["sets"]
    assert found["bbc_news"] == {"train": 1000, "validation": 225, "test": 7}
    assert found["mnds"]["test"] == 51
    with gzip.open(out / "train" / "bbc_news.jsonl.gz", "rt", encoding="utf-8") as file:
        assert Counter(json.loads(line)["split"] for line in file) == {"train": 1000, "test": 7}
    assert (out / "validation" / "bbc_news_validation.jsonl.gz").is_file()
    assert (out / "benchmark" / "mnds.jsonl.gz").is_file()
    assert cli.main(["paper-data", "-o", str(out)]) == 2
    assert "Give at least one download" in capsys.readouterr().err
