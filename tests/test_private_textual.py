"""What is private to Textual and Rich is used only in `textual_gaps`: the next Textual breaks one folder."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import rich
import textual

ROOT = Path(__file__).parent.parent
GAPS = ROOT / "acp_tui/ui/textual_gaps"
PRIVATE = re.compile(r"(?:\bself\.|\bdef |\"(?=__))(_\w*[^\W_])\b")
"""The attributes and methods that a source has, and names of attributes in quotes."""
NAMED_TUPLE = {"_asdict", "_replace"}
OWN = ("self", "cls", "super()")


def is_theirs(module: str) -> bool:
    return module.split(".")[0] in ("textual", "rich")


@cache
def names_of(base: type) -> frozenset[str]:
    return frozenset(PRIVATE.findall(inspect.getsource(base)))


def used_in_classes(tree: ast.Module, module: str) -> Iterator[str]:
    """What classes take from a base class of Textual or Rich, or override there."""
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
        ours = getattr(importlib.import_module(module), node.name, None)
        theirs = {
            name for base in getattr(ours, "__mro__", ()) if is_theirs(base.__module__) for name in names_of(base)
        }
        for each in ast.walk(node):
            match each:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in theirs:
                    yield name
                case ast.Attribute(attr=name, value=owner) if name in theirs and ast.unparse(owner) in OWN:
                    yield name


def used_elsewhere(tree: ast.Module, theirs: set[str]) -> Iterator[str]:
    """What is imported from private modules or with private names, used of other objects, and patched."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if is_theirs(module):
                imported |= {alias.asname or alias.name for alias in names}
                yield from (name for name in (*module.split("."), *(each.name for each in names)) if name[0] == "_")
            case ast.Attribute(attr=name, value=owner) if name in theirs and ast.unparse(owner) not in OWN:
                yield name
            case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]):
                yield from {name} & theirs
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store()) if name in imported:
                yield f"{name}.{attribute} ="


def uses() -> Iterator[str]:
    folders = [Path(package.__path__[0]) for package in (textual, rich)]
    theirs = {name for folder in folders for file in folder.rglob("*.py") for name in PRIVATE.findall(file.read_text())}
    for file in sorted((ROOT / "acp_tui").rglob("*.py")):
        source, path = file.read_text("utf-8"), file.relative_to(ROOT)
        if GAPS in file.parents or not re.search("textual|rich|acp_tui.ui", source):
            continue
        tree, module = ast.parse(source), ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        ours = {name for name in PRIVATE.findall(source) if not name.startswith("__")} | NAMED_TUPLE
        for use in (*used_in_classes(tree, module), *used_elsewhere(tree, theirs - ours)):
            yield f"{path}: {use}"


def test_textuals_private_names_are_used_only_in_textual_gaps() -> None:
    assert [*uses()] == []
