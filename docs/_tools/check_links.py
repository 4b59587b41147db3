"""Looks at every page of the built site: do links within it lead somewhere, and does it need no network?

    python docs/_tools/check_links.py out/docs

Links to other sites are counted, not followed. Exits with 1 if anything is wrong.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page names (ids) and what it points to (links), and what it loads by itself.

    >>> page = Page("<h2 id='a'></h2><a href='b.html#c'></a><img src='d.png'>")
    >>> page.ids, page.links, page.loads
    ({'a'}, ['b.html#c'], ['d.png'])
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the attributes that matter."""
        given = {name: value for name, value in attrs if value}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and "href" in given:
            self.loads.append(given["href"])
        if "src" in given:
            self.loads.append(given["src"])


def problems(folder: Path) -> tuple[list[str], int, int]:
    """What is wrong, the number of links that were checked, and that of links to other sites."""
    found = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts)  # templates
    pages = {path.resolve(): Page(path.read_text()) for path in found}
    wrong, inside, outside = [], 0, 0
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                outside += 1
                if link in page.loads:
                    wrong.append(f"{path.name}: loads {link} from elsewhere")
                continue
            inside += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_relative_to(folder.resolve()):
                wrong.append(f"{path.name}: {link} leads out of the site")
            elif not target.is_file():
                wrong.append(f"{path.name}: {link} is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                wrong.append(f"{path.name}: {link} has no such place")
    return wrong, inside, outside


def main() -> int:
    """Check the folder that is named on the command line."""
    wrong, inside, outside = problems(Path(sys.argv[1]))
    for line in wrong:
        print(line)
    print(f"{inside} links within the site, {len(wrong)} of them wrong; {outside} to others, not followed")
    return 1 if wrong or not inside else 0


if __name__ == "__main__":
    sys.exit(main())
