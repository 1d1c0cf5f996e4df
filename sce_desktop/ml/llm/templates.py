"""Chat templates from anywhere, rendered within bounds of time and memory.

They are programs: jinja's sandbox keeps them from files and attributes, but not from going on for ever nor
from doubling a text until the memory is full.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _

LONGEST = 200_000
"""Characters of a template; the longest in use has about 20,000."""
SECONDS = 5.0
"""Of the processor, for one short message."""
MEMORY = 200_000_000
_LARGEST_FACTOR = 1_000


class _Unbounded(Exception):  # noqa: N818 - never leaves this module
    pass


def render(template: str, run: Callable[[], str], model: str) -> str:
    """Return what ``run`` makes of the chat template ``template`` of ``model``.

    Raises:
        UserError: The template fails, never ends, or fills the memory.
    """
    if len(template) > LONGEST or not _is_harmless(template):
        raise _refused(model)
    import psutil

    process = psutil.Process()
    before, started = process.memory_info().rss, time.thread_time()

    def watch(_frame: FrameType, _event: str, _arg: Any) -> Any:
        if time.thread_time() - started > SECONDS or process.memory_info().rss > before + MEMORY:
            raise _Unbounded
        return watch

    others = sys.gettrace()  # a debugger's, or of what measures coverage
    sys.settrace(watch)
    try:
        return str(run())
    except (UserError, KeyboardInterrupt):
        raise
    except Exception as error:  # a template may raise whatever it likes
        raise _refused(model) from error
    finally:
        sys.settrace(others)


def _refused(model: str) -> UserError:
    return UserError(
        _(
            "The chat template of {model} is damaged, never ends or fills the memory: choose another model.",
            model=model,
        )
    )


def _is_harmless(template: str) -> bool:
    """Whether no product makes a long text at once, between two looks at the memory."""
    from jinja2 import Environment, TemplateError, nodes

    try:
        tree = Environment(extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"], autoescape=True).parse(
            template
        )
        powers, products = list(tree.find_all(nodes.Pow)), list(tree.find_all(nodes.Mul))
    except RecursionError:
        return False
    except TemplateError:
        # transformers' own tag is not known here: such a one is rendered under watch alone
        return "{% generation" in template.replace("{%- ", "{% ")
    if powers:
        return False
    for product in products:
        for side in (product.left, product.right):
            if isinstance(side, nodes.Const) and (
                isinstance(side.value, str)
                or (isinstance(side.value, int | float) and abs(side.value) > _LARGEST_FACTOR)
            ):
                return False
    return True
