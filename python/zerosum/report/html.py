"""The parts of a page as HTML: tables, pictures, and the document around them. No scripts, no external links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from zerosum.base.errors import printable
from zerosum.report.drawings import Picture

STYLE = """
:root { color-scheme: light dark; --ink: #22262b; --soft: #5d6570; --rule: #d9dde2; --back: #fdfdfc; --card: #f4f5f3;
  --good: #2e7d4f; --bad: #b3412e; --warn: #97680f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --soft: #a3abb5; --rule: #3a4048; --back: #16191d;
  --card: #1f2429; --good: #6cc08e; --bad: #ec8673; --warn: #dcb056; }
  .chart { background: #f7f7f5; border-radius: 6px; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 72rem; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p, ul { margin: .4rem 0; } .soft, figcaption { color: var(--soft); font-size: .9rem; }
.finding { border-left: 4px solid var(--rule); background: var(--card); padding: .5rem .8rem; margin: .4rem 0;
  overflow-wrap: anywhere; }
.finding b { display: block; font-size: .75rem; letter-spacing: .04em; text-transform: uppercase; }
.good { border-color: var(--good); } .good b { color: var(--good); }
.collapse { border-color: var(--bad); } .collapse b { color: var(--bad); }
.warning { border-color: var(--warn); } .warning b { color: var(--warn); }
figure { margin: .8rem 0; } figure img { max-width: 100%; height: auto; display: block; }
.trees { display: flex; flex-wrap: wrap; gap: 0 1.5rem; align-items: flex-start; }
figure img.tree { max-width: none; background: #f7f7f5; border-radius: 6px; }
table { border-collapse: collapse; font-size: .92rem; margin: .5rem 0; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.games { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.2rem; }
.games img { width: 100%; } .moves { font: .8rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
nav a { margin-right: 1rem; } a { color: inherit; }
"""


def document(title: str, body: str, *, kind: str) -> str:
    """A whole page. `kind` names the command that made it; `body` is HTML."""
    return (
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}: zerosum {kind}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def figure(drawn: Picture | None) -> Iterator[str]:
    """A picture with its title and caption; nothing without one."""
    if drawn is not None:
        yield (
            f'<h3>{text(drawn.title)}</h3><figure><img class=chart src="{drawn.data}" alt="{text(drawn.caption)}">'
            f"<figcaption>{text(drawn.caption)}</figcaption></figure>"
        )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """A table; with `numbers` all columns but the first are aligned on the right."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        kind = " class=number" if numbers else ""
        return "".join(f"<{tag}{kind if at else ''}>{text(one)}</{tag}>" for at, one in enumerate(texts))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<div class=wide><table><tr>{cells('th', head)}</tr>{body}</table></div>"


def text(untrusted: str) -> str:
    """Text from any source, escaped for a page."""
    return escape(printable(untrusted))
