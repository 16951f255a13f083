"""Checks the built site: every link leads somewhere, nothing is fetched from another host, and the reference is whole.

`make docs` runs this.  README and CONTRIBUTING are read too: what they link to must exist.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

import streamparse as sp

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
FETCHED = {"img", "script", "link", "iframe", "source", "video"}
"""Elements whose address a browser asks for by itself."""


class Page(HTMLParser):
    """The ids of a page and the addresses in it, each with its element."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[tuple[str, str]] = []
        self.unlinked: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take one element."""
        values = dict(attrs)
        self.ids |= {value for key in ("id", "name") if (value := values.get(key))}
        self.addresses += [(tag, value) for key in ("href", "src") if (value := values.get(key))]
        if tag == "span" and (title := values.get("title") or "").startswith("streamparse."):
            self.unlinked.add(title)


def find_broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what leads nowhere, or to another host."""
    for path, page in pages.items():
        for tag, address in page.addresses:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                if tag in FETCHED:
                    yield f"{path.relative_to(SITE)} fetches {address}"
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if path.name == "404.html":  # its addresses begin at the root of a server
                target = SITE / unquote(url.path).lstrip("/")
            if not target.is_file() and not (target / "index.html").is_file():
                yield f"{path.relative_to(SITE)} links to {address}"
            elif url.fragment and target in pages and unquote(url.fragment) not in pages[target].ids:
                yield f"{path.relative_to(SITE)} links to {address}: no such id"


def find_broken_markdown(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what README and CONTRIBUTING link to and is not there."""
    for source in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for path, fragment in re.findall(r"\]\((docs/[\w./-]+)#?([\w.-]*)\)", source.read_text(encoding="utf-8")):
            page = SITE / Path(path).relative_to("docs").with_suffix(".html")
            if not (ROOT / path).is_file() or (fragment and fragment not in pages[page].ids):
                yield f"{source.name} links to {path}#{fragment}"


def find_missing_names() -> Iterator[str]:
    """Yield public names, and fields of public structs, that are not in `objects.inv`, or are modules there."""
    compressed = (SITE / "objects.inv").read_bytes().split(b"\n", 4)[4]
    rows = [line.split(" ")[:2] for line in zlib.decompress(compressed).decode().splitlines()]
    known = {name for name, kind in rows if kind != "py:module"}
    for name in sp.__all__:
        public = getattr(sp, name)
        fields = public.__struct_fields__ if isinstance(public, type) and issubclass(public, msgspec.Struct) else ()
        wanted = [f"streamparse.{name}", *(f"streamparse.{name}.{each}" for each in fields if each[0] != "_")]
        yield from (f"the reference lacks {each}" for each in wanted if each not in known)


def find_unlinked_types(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield the types in signatures of public names that are no links, but for type variables and private ones."""
    for path, page in pages.items():
        if path.parent.name == "reference" and path.stem != "types":
            for title in sorted(page.unlinked):
                module, name = title.rsplit(".", 1)
                value: Any = getattr(sys.modules.get(module), name, None)
                if not (isinstance(value, TypeVar) or name.isupper() or "_" in name or "(" in name):
                    yield f"{path.relative_to(SITE)}: {title} is no link; docs/reference/types.md may name it"


def main() -> None:
    """Print what is wrong, and exit with status 1 if anything is."""
    pages = {path: Page(path) for path in sorted(SITE.rglob("*.html"))}
    assert pages, "there is no site: make docs"
    wrong = [
        *find_broken_links(pages),
        *find_broken_markdown(pages),
        *find_missing_names(),
        *find_unlinked_types(pages),
    ]
    print(*wrong, f"{len(pages)} pages, {len(wrong)} faults", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
