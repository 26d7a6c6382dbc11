"""Imports within functions: only where the first frame, or `exec`, must not pay for what is needed later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent.parent / "acp_tui"
LIMIT: Final = 62
"""This list only ever shrinks. `ui/tab/loading.py` names a tab's loading points."""


def _imports_within_functions() -> Iterator[str]:
    for file in sorted(PACKAGE.rglob("*.py")):
        found = {
            node.lineno
            for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        yield from (f"{file.relative_to(PACKAGE)}:{line}" for line in sorted(found))


def test_no_import_hides_in_a_function_without_need() -> None:
    found = list(_imports_within_functions())
    assert len(found) <= LIMIT, "\n".join(found)
