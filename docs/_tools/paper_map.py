"""Writes docs/paper_map.md: each statement of the paper, the line that computes it, its check and its test.

Nothing here says where a line is. A comment at the end of a line that begins with a statement's number,
such as `# Equation 8`, says that this line computes it, or, in a test, that this test tries it. (Docstrings
and comments on lines of their own may mention statements as they like.) The checks are those of
`unflip.theory.propositions`, and each begins its claim with the number of what it checks. `gaps` names
what is missing, and `tests/docs/test_pages.py` asks it.
"""

from __future__ import annotations

import ast
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path

from unflip.theory import propositions

ROOT = Path(__file__).resolve().parents[2]
_NUMBER = r"(?:Equation|Proposition|Definition|Figure) \d+|Lemma|(?:Section|Appendix) [A-H\d](?:\.\d)?"
_MARK = re.compile(rf"#\s*({_NUMBER})\b")
_CLAIM = re.compile(rf"(?:Proof of )?({_NUMBER}|Multiclass|Scores)\b[^:]*: ")


@dataclass(frozen=True)
class Statement:
    """What the paper says, in one plain line; `see` is the statement that says it with another number."""

    number: str
    says: str
    see: str | None = None

    @property
    def is_numbered(self) -> bool:
        """Numbered statements need a line, a check and a test; sections have what they have."""
        return re.match("Equation|Proposition|Definition|Lemma", self.number) is not None


@cache
def paper() -> dict[str, list[Statement]]:
    """The statements of each section, in the paper's order."""
    listed = tomllib.loads((ROOT / "docs/_tools/paper.toml").read_text(encoding="utf-8"))
    return {
        section: [
            Statement(number, *((entry["says"], entry["see"]) if isinstance(entry, dict) else (entry,)))
            for number, entry in entries.items()
        ]
        for section, entries in listed.items()
    }


@dataclass(frozen=True)
class Place:
    """A line that carries a mark: its file, the function around it, its text without the comment."""

    number: str
    path: str
    name: str
    code: str


@dataclass(frozen=True)
class Check:
    """A check of `unflip.theory`, and the claim that it will print."""

    number: str
    path: str
    name: str
    claim: str


def statements() -> Iterator[Statement]:
    """All of them, in the paper's order."""
    for section in paper().values():
        yield from section


@cache
def marks(folder: str) -> tuple[Place, ...]:
    """The lines of a folder that say which statement they compute, or try.

    >>> [place.name for place in marks("src/unflip") if place.number == "Equation 8"]
    ['estimators.centroid.UnhingedClassifier._mean_map']
    """
    paths = sorted((ROOT / folder).rglob("*.py"))
    return tuple(place for path in paths for place in _marks_of(path, ROOT / folder))


def _marks_of(path: Path, folder: Path) -> Iterator[Place]:
    text = path.read_text(encoding="utf-8")
    if not _MARK.search(text):
        return
    module = ".".join(path.relative_to(folder).with_suffix("").parts)
    functions = _functions(ast.parse(text))
    for token in tokenize.generate_tokens(StringIO(text).readline):
        mark = _MARK.match(token.string) if token.type == tokenize.COMMENT else None
        code = token.line[: token.start[1]].strip()
        if mark and code:
            around = [name for first, last, name in functions if first <= token.start[0] <= last]
            place = str(path.relative_to(ROOT)).replace("\\", "/")
            yield Place(mark[1], place, ".".join([module, *around[-1:]]), code)


def _functions(tree: ast.AST, prefix: str = "") -> list[tuple[int, int, str]]:
    """First line, last line and qualified name of all classes and functions, outer ones first."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = f"{prefix}{node.name}"
            found.append((node.lineno, node.end_lineno or node.lineno, name))
            if isinstance(node, ast.ClassDef):
                found += _functions(node, f"{name}.")
    return found


@cache
def checks() -> tuple[Check, ...]:
    """All checks, with their claims, which are read and not computed: that would take half a minute.

    >>> next(check.claim for check in checks() if check.name == "equation_2")
    'Equation 2: noise turns eta into (1 - 2 rho) eta + rho'
    """
    found = []
    for check in propositions():
        path = Path(str(import_module(check.__module__).__file__))
        claims = [text for text in _texts(path)[check.__name__] if _CLAIM.match(text)]
        claim = claims[0] if len(claims) == 1 else ""
        number = match[1] if (match := _CLAIM.match(claim)) else "?"
        found.append(Check(number, f"src/unflip{str(path).rpartition('unflip')[2]}", check.__name__, claim))
    return tuple(found)


@cache
def _texts(path: Path) -> dict[str, list[str]]:
    """The texts in each function of a file."""
    return {
        node.name: [
            part.value
            for part in ast.walk(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def errata() -> dict[str, list[tuple[str, str]]]:
    """For each number, the headings of the errata that speak of it, as words and link.

    >>> errata()["Proposition 8"]
    [('the bound loses its factor r', 'errata.md#proposition-8-the-bound-loses-its-factor-r')]
    """
    found: dict[str, list[tuple[str, str]]] = {}
    heading = link = ""
    for line in (ROOT / "docs/errata.md").read_text(encoding="utf-8").splitlines():
        words = line.lstrip("# ")
        if line.startswith("##"):
            heading, link = words, f"errata.md#{_slug(words)}"
            numbers = _numbers(words.partition(":")[0])
        else:
            numbers = _numbers(line.split("|")[1]) if line.startswith("| ") else []
        for number in numbers:
            entry = (heading.rpartition(": ")[2].lower() if ":" in heading else heading.lower(), link)
            if entry not in found.setdefault(number, []):
                found[number].append(entry)
    return found


def _slug(heading: str) -> str:
    """The name that a heading has in links.

    >>> _slug("Section 4.1")
    'section-41'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _numbers(words: str) -> list[str]:
    """The statements that a heading speaks of.

    >>> _numbers("Sections 6.1 and E.2"), _numbers("The lemma and Proposition 3")
    (['Section 6.1', 'Appendix E.2'], ['Proposition 3', 'Lemma'])
    """
    kinds = re.findall(
        r"\b(Equation|Proposition|Figure|Section|Appendix)s? (\w[.\w]*)(?: and (\w\.\d))?", words
    )
    found = [f"{kind} {number}" for kind, number, _ in kinds]
    found += [f"{'Appendix' if also[0].isalpha() else kind} {also}" for kind, _, also in kinds if also]
    return found + ["Lemma"] * ("lemma" in words.lower())


def gaps() -> list[str]:
    """What the map lacks, by name; empty if nothing."""
    lines, tests = marks("src/unflip"), marks("tests")
    known = {statement.number for statement in statements()}
    found = [
        f"{check.name}: no single claim that begins with its number" for check in checks() if not check.claim
    ]
    for number in sorted({place.number for place in (*lines, *tests)} | {check.number for check in checks()}):
        if number not in known | {"?"}:
            found.append(f"{number}: marked or checked, but not in the list of the paper's statements")
    for statement in filter(lambda statement: statement.is_numbered, statements()):
        places = _of(statement, lines)
        if len(places) != 1:
            where = ", ".join(place.name for place in places) or "none"
            found.append(f"{statement.number}: one line of src ends in `# {statement.number}`, found {where}")
        if not _of(statement, checks()):
            found.append(f"{statement.number}: no check of unflip.theory speaks of it")
        if not _of(statement, tests) and not all(_is_a_check(place) for place in places):
            found.append(f"{statement.number}: no line of a test ends in `# {statement.number}`")
    return found


def _of(statement: Statement, places: tuple) -> list:
    """Those of a statement, or of the one it is stated with."""
    own = [place for place in places if place.number == statement.number]
    return own or [place for place in places if place.number == statement.see]


def _is_a_check(place: Place) -> bool:
    """Steps of proofs are computed by their checks; planted mistakes test those."""
    return "/theory/claims/" in place.path


HEAD = """# The paper, line by line

Each statement of ["Learning with Symmetric Label Noise: The Importance of Being
Unhinged"](https://arxiv.org/abs/1505.07634): what it says, the line of the library that computes it, the
check that compares both of its sides, and the test of that line. Symbols are in [notation](notation.md);
where the paper slips, the [errata](errata.md) say how. {run} runs every check,
{refute} plants mistakes and demands that each check sees one, and
`unflip verify` [prints them all](checks.md).

Sections have a line where the library computes something of its own for them. Steps of proofs are computed by
their checks.
"""


def page() -> str:
    """The page, as text."""
    run = _test_file("def test_the_claim_holds(")
    refute = _test_file("MUTANTS = {")
    parts = [
        "<!-- Written by docs/_tools/paper_map.py: `make pages` -->",
        HEAD.format(run=run, refute=refute),
    ]
    rows = [f"| {title} | {' · '.join(map(_jump, section))} |" for title, section in paper().items()]
    parts.append("\n".join(["| part | statements |", "| --- | --- |", *rows, ""]))
    for title, section in paper().items():
        parts.append(f"## {title}\n")
        parts += map(_block, section)
    return "\n".join(parts)


def _jump(statement: Statement) -> str:
    return f"[{statement.number}](#{_slug(statement.number)})"


def _block(statement: Statement) -> str:
    lines = [f"### {statement.number}", "", statement.says, ""]
    own = [place for place in marks("src/unflip") if place.number == statement.number]
    lines += [f"- **line**: {_link(place.name, place.path)}, {_code(place.code)}" for place in own]
    if statement.see:
        lines.append(f"- **see** [{statement.see}](#{_slug(statement.see)})")
    for check in (check for check in checks() if check.number == statement.number):
        lines.append(f"- **check**: {_link(check.name, check.path)}, {_plain(check.claim)}")
    tests = [place for place in marks("tests") if place.number == statement.number]
    lines += [f"- **test**: {_link(place.name.rpartition('.')[2], place.path)}" for place in tests]
    lines += [f"- **erratum**: [{words}]({link})" for words, link in errata().get(statement.number, [])]
    return "\n".join([*lines, ""])


def _link(name: str, path: str) -> str:
    return f"[`{name}`](../{path})"


def _plain(claim: str) -> str:
    r"""A claim without the number of its statement, as Markdown that means what it says.

    >>> _plain("Proposition 9, erratum: the bound |l| fails")
    'erratum: the bound \\|l\\| fails'
    """
    number = re.match(rf"(Proof of )?(?:{_NUMBER}|\w+)", claim)
    rest = claim[number.end() :].lstrip(",: ") if number else claim
    return re.sub(r"([*_<\[\]|~])", r"\\\1", f"in its proof: {rest}" if number and number[1] else rest)


def _code(line: str) -> str:
    return f"`{line.removesuffix(':')}`"


def _test_file(text: str) -> str:
    """The test that has this text, as a link."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if text in path.read_text(encoding="utf-8"):
            return _link(path.name, str(path.relative_to(ROOT)).replace("\\", "/"))
    raise LookupError(f"no test has {text!r}")
