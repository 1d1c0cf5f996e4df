"""Texts that would run as code, ask the network, act on a terminal or turn a line round, if anybody let them.

Whatever runs sets the attribute `RAN` of the document; whatever asks the network asks `HOST`, which cannot
exist (RFC 6761).
"""

from __future__ import annotations

RAN = "data-ran"
HOST = "hostile.invalid"
_RUN = f"document.documentElement.setAttribute('{RAN}','1')"
_ASK = f"http://{HOST}"

FOR_BROWSERS = (
    f"<script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</details></table></blockquote><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--",
    f"]]><script>{_RUN}</script>",
    f"<img src={_ASK}/img onerror={_RUN}>",
    f'<img src=x onerror="{_RUN}">',
    f'" onmouseover="{_RUN}" autofocus onfocus="{_RUN}" x="',
    f"' onload='{_RUN}' x='",
    f'<svg onload="{_RUN}"><script>{_RUN}</script></svg>',
    f'<svg><style><!--</style><img src=x onerror="{_RUN}">--></style></svg>',
    f'<body onload="{_RUN}">',
    f'<iframe src="{_ASK}/frame" srcdoc="<script>parent.{_RUN}</script>"></iframe>',
    f'<a href="javascript:{_RUN}">javascript:{_RUN}</a>',
    f"<link rel=stylesheet href={_ASK}/css><link rel=prefetch href={_ASK}/prefetch>",
    f"<style>body{{background:url({_ASK}/background)}}@import '{_ASK}/import';</style>",
    f"url({_ASK}/url)",
    f'<base href={_ASK}/><meta http-equiv=refresh content="0;url={_ASK}/refresh">',
    f'<object data="data:text/html,<script>parent.{_RUN}</script>"></object>',
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    f'<form action={_ASK}/form><input autofocus onfocus="{_RUN}"></form>',
    f'<video src={_ASK}/video onerror="{_RUN}"></video><audio src={_ASK}/audio autoplay></audio>',
    "{{7*7}}{% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %}${7*7}#{7*7}",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"\ufeff＜script＞{_RUN}＜/script＞<scr\0ipt>{_RUN}</scr\0ipt>",
    f"<ſcript>{_RUN}</ſcript><\u202escript\u202c>{_RUN}<\u2066/script\u2069>",
    f'<math><mtext><table><mglyph><style><img src=x onerror="{_RUN}"></style></mglyph></table></mtext>',
)
"""Names of labels and columns, cells and titles."""

FOR_TERMINALS = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://hostile.invalid\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1bP+q544e\x1b\\",
    "\x9b2J\x90q\x9c",
    "line\nsce-desktop: Everything is fine.",
    "a\rb\x08\x08c\x7f",
    "up\x1b[2A\x1b[2Kover",
    "\u202etxt.exe\u202c",
    "\u2066isolated\u2067\u2069\u2069",
    "para\u2029graph\u2028line",
    "bell\x07null\x00tab\t",
    "half \udc80 of a pair \ud800",
)
"""Names that act on a terminal, end a line, or turn the reading order round."""

ACTING = frozenset(
    [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
    + list("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067")
    + [chr(number) for number in range(0xD800, 0xE000)]
) - {"\n"}
"""Characters that no output for people may have, beside the ends of its own lines.

Not among them: U+2068 and U+2069, by which `core.text.isolated` sets a name off; they end with the line.
"""
