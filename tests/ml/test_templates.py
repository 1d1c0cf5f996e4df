"""Chat templates within bounds of time and memory."""

from __future__ import annotations

import sys

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sce_desktop.core.errors import UserError
from sce_desktop.ml.llm import templates


def render(template: str) -> str:
    return templates.render(
        template, lambda: ImmutableSandboxedEnvironment().from_string(template).render(words=["a", "b"]), "x"
    )


def test_an_ordinary_template_is_rendered_and_no_trace_stays() -> None:
    before = sys.gettrace()

    assert render("{% for word in words %}<{{ word }}>{{ loop.index0 * 2 }}{% endfor %}") == "<a>0<b>2"
    assert sys.gettrace() is before


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 9999999999 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ 1 // 0 }}",
        "{% if %}",
        "{{ " + "(" * 5_000 + ")" * 5_000 + " }}",
        "{% set n = namespace(t='aaaaaaaa') %}{% for i in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    ],
)
def test_what_fails_or_fills_the_memory_is_refused(template: str) -> None:
    with pytest.raises(UserError, match="chat template of x is damaged"):
        render(template)


def test_one_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "SECONDS", 0.2)

    with pytest.raises(UserError, match="never ends"):
        render("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
