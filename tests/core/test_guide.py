"""The guide as text: its contents, addresses of headings, links."""

from __future__ import annotations

import pytest

from sce_desktop.core.guide import Entry, contents, headings, links, pages, slug, without_directives


def test_contents_are_pages_and_headings_over_pages() -> None:
    found = contents("# Contents\n\n- [Start](index.md)\n- Guide\n    - [A](guide/a.md)\n    - [B](b.md)\n")
    assert found == (
        Entry("Start", "index.md"),
        Entry("Guide", "", (Entry("A", "guide/a.md"), Entry("B", "b.md"))),
    )
    assert [entry.page for entry in pages(found)] == ["index.md", "guide/a.md", "b.md"]


def test_a_page_below_no_heading_is_refused() -> None:
    with pytest.raises(ValueError, match="no heading above"):
        contents("- [Start](index.md)\n    - [A](a.md)\n")


@pytest.mark.parametrize(
    ("heading", "address"),
    [
        ("Merge, split, remove", "merge-split-remove"),
        ("Import another annotator's labels", "import-another-annotators-labels"),
        ("What it brings: 95%", "what-it-brings-95"),
        ("Überblick – schnell", "uberblick-schnell"),
    ],
)
def test_addresses_are_those_of_the_web_site(heading: str, address: str) -> None:
    assert slug(heading) == address


def test_addresses_are_as_python_markdown_makes_them() -> None:
    toc = pytest.importorskip("markdown.extensions.toc", reason="the extra docs is not installed")
    for heading in ("A  b - c", "x_y, z!", "ä é ß", "`code` here", "1. First"):
        assert slug(heading) == toc.slugify(heading, "-")


def test_headings_and_links_are_not_looked_for_in_code() -> None:
    page = (
        "# One\n\n```sh\n# no heading\n[no](link.md)\n```\n\n## Two `F1`\n"
        "[a](a.md#x) ![b](b.webp) `[c](c.md)` [![d](d.svg)](e.md)\n"
    )
    assert headings(page) == ["One", "Two F1"]
    assert links(page)[:2] == [("a.md#x", False), ("b.webp", True)]
    assert "c.md" not in dict(links(page))


def test_a_directive_becomes_a_sentence() -> None:
    page = "# P\n\n::: a.b.C\n    options:\n      x: 1\n\nAfter\n"
    assert without_directives(page) == (
        "# P\n\nIn Python, `help(a.b.C)` shows every method and argument.\nAfter\n"
    )
