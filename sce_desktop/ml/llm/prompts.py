"""The prompts of the prompted LLM: the two of the paper, word for word (arXiv 2601.03450).

A prompt is kept in pieces, so that what a user wrote is only ever put between them, never read as a template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _


@dataclass(frozen=True, slots=True)
class Prompt:
    """``before`` the text, ``between`` text and categories, ``after`` the categories.

    ``lead`` is what parts ``before`` and the text: it is tokenised with the text, as in running prose.
    """

    name: str
    before: str
    between: str
    after: str
    lead: str = ""

    def rest(self, labels: Sequence[str]) -> str:
        """Return what follows the text: the labels as a comma-separated list, in their order."""
        return self.between + ", ".join(labels) + self.after

    def whole(self, text: str, labels: Sequence[str]) -> str:
        """Return the prompt in one piece."""
        return self.before + self.lead + text + self.rest(labels)


MESSAGE = "\ue000"
"""Stands for the user's message while a chat template is split around it; of the private use area."""
DATE = "26 Jul 2024"
"""Llama's template would write today's: the same text would score otherwise tomorrow."""


def around_message(rendered: str, model: str) -> tuple[str, str]:
    """Return what a chat template puts before and after `MESSAGE`, given what it made of it.

    Raises:
        UserError: The template of ``model`` leaves the message out.
    """
    before, found, after = rendered.partition(MESSAGE)
    if not found:
        raise UserError(_("The chat template of {model} drops the message: use another model.", model=model))
    return before, after


PAPER = Prompt(
    name="paper",
    before="""You are given a text excerpt and a list of categories.
Your task is to select the best category from the list of categories to classify the given text excerpt.

### Note:
Your selected category for the text excerpt must match exactly -case, plural/singular, and spelling-with one \
of the options in the CATEGORIES list. Use the category string exactly as it appears in CATEGORIES.

## TEXT_EXCERPT:
""",
    between="""

## CATEGORIES:
""",
    after="""

## SCHEMA:
SelectedCategory

### Note: Your output must strictly be a single token which is the category selected from the list of \
categories. Do not give verbose reasonings giving explanations around it. Do not give python reasoning. Just \
a single token output. Now generate the output.""",
)
"""Appendix "meta-LLama-3.2-1B-Instruct prompt"; its listing's line breaks at both ends are left out."""

SHORT = Prompt(
    name="short",
    before="Here is a sentence:",
    lead=" ",
    between=". Which topic does it belong to from the set {",
    after="}? Return only the topic.",
)
"""Appendix "Prompt based LLM classification"."""

PROMPTS: Mapping[str, Prompt] = {prompt.name: prompt for prompt in (PAPER, SHORT)}
