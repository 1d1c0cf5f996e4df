"""The user guide: pages, links, pictures, what is made from the program, and the web site."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from sce_desktop.cli import build_parser
from sce_desktop.core.guide import CONTENTS, contents, headings, links, pages, slug

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ENTRIES = contents((DOCS / CONTENTS).read_text(encoding="utf-8"))
PAGES = sorted(DOCS.rglob("*.md"))
PICTURES = {".webp", ".svg", ".png"}
MOST_BYTES = 2_000_000  # of pictures: every wheel carries them


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools" / "docs")


def place(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def test_every_page_of_the_contents_exists_and_every_page_is_in_the_contents() -> None:
    listed = [entry.page for entry in pages(ENTRIES)]
    assert len(listed) == len(set(listed)) > 25
    decisions = {place(page) for page in (DOCS / "adr").glob("0*.md")}
    assert set(listed) | decisions | {CONTENTS} == {place(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    dead = []
    for target, picture in links(page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            assert not picture, "a picture from the network"
            continue
        name, _, heading = unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        if (
            not file.is_file()
            or not file.is_relative_to(DOCS)
            or (heading and heading not in map(slug, headings(file.read_text(encoding="utf-8"))))
        ):
            dead.append(target)
    assert dead == []


def test_every_picture_is_used_and_all_are_small() -> None:
    used = {
        (page.parent / target).resolve()
        for page in PAGES
        for target, picture in links(page.read_text(encoding="utf-8"))
        if picture
    }
    files = {file for file in DOCS.rglob("*") if file.suffix in PICTURES}
    assert len(files) > 10
    assert files - used == set()
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def test_pages_have_one_title_each_and_no_two_headings_of_one_address() -> None:
    for page in PAGES:
        found = [slug(heading) for heading in headings(page.read_text(encoding="utf-8"))]
        if page.parent.name in ("guide", "concepts", "reference") or page.parent == DOCS:
            assert len(found) == len(set(found)), place(page)


def test_what_is_made_from_the_program_is_up_to_date(tools: None) -> None:
    from generate import made

    old = [name for name, text in made().items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert old == [], "run `make docs`, or tools/docs/generate.py"


def test_every_option_of_the_command_line_is_documented(tools: None) -> None:
    from reference_pages import all_parsers, options_of

    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    flags = {
        flag
        for parser in all_parsers(build_parser())
        for action in options_of(parser)
        for flag in action.option_strings
    }
    assert len(flags) > 50
    flags.discard("--version")  # of the program itself
    assert [flag for flag in flags if not re.search(rf"`[^`]*{flag}\b", page)] == []


COMMAND = re.compile(r"^sce-desktop (?:\\\n|[^\n])*", re.MULTILINE)


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "guide"], ids=place)
def test_commands_in_the_guide_are_commands(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for command in COMMAND.findall(block):
            words = shlex.split(command.replace("\\\n", " "))[1:]
            assert build_parser().parse_args(words).run


@pytest.mark.docs
def test_the_web_site_is_built_without_a_warning_and_asks_no_server(tmp_path: Path) -> None:
    done = subprocess.run(
        (sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", tmp_path / "site"),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    for entry in pages(ENTRIES):
        html = entry.page.removesuffix(".md") if entry.page != "adr/README.md" else "adr/index"
        text = (site / f"{html}.html").read_text(encoding="utf-8")
        asked = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"?(https?://[^\s\">]+)", text)
        assert asked == [], entry.page
    assert "SCEClassifier" in (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert (site / "search" / "search_index.js").is_file()  # found from the disk, too


NAME = re.compile(r"`((?:core|data|store|ml|tasks|controllers|ui|research)(?:\.\w+)+)`")


def test_what_the_architecture_names_is_in_the_code() -> None:
    found = NAME.findall((DOCS / "architecture.md").read_text(encoding="utf-8"))
    assert len(found) > 50
    for name in found:
        assert resolves(f"sce_desktop.{name}"), name


def resolves(name: str) -> bool:
    """Whether the longest part of ``name`` that is a module has the rest as attributes."""
    module, _, rest = name, "", ""
    while True:
        try:
            thing: object = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
    for part in rest.split(".") if rest else ():
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True
