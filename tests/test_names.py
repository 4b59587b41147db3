"""One name, one meaning: a class or constant is defined in one module, and so is what `Array` stands for."""

import ast
from collections import defaultdict
from pathlib import Path

import unflip

ROOT = Path(unflip.__file__).parent
OF_EACH_MODULE = {
    "CLAIMS",  # of each module of theory.claims: what it claims
    "Linear",  # public twice: the kernel, and the plain scorer that export writes
}


def test_a_class_or_constant_of_one_name_is_defined_once():
    defined = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for name in set(names_of(ast.parse(path.read_text(encoding="utf-8")))):
            defined[name].append(str(path.relative_to(ROOT)))
    assert len(defined) > 500
    twice = {name: paths for name, paths in defined.items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if name not in OF_EACH_MODULE} == {}
    assert set(twice) == OF_EACH_MODULE, "an exception that is none any more"


def names_of(tree):
    """Classes, constants and `Array` of the top of a module; private names are its own business."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        for target in targets_of(node):
            for part in ast.walk(target):
                name = part.id if isinstance(part, ast.Name) else ""
                if name in ("Array", "AnyArray") or (name.isupper() and not name.startswith("_")):
                    yield name


def targets_of(node):
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []
