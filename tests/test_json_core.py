"""What is taken of pydantic-core without its package is the same as with it, whichever comes first."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAMES = ("PydanticSerializationError", "SchemaValidator", "ValidationError", "from_json", "to_json")
CHECK = f"""
import pydantic_core, pydantic
assert all(getattr(pydantic_core, name) is getattr(json_core, name) for name in {NAMES})
assert pydantic.TypeAdapter(list[int]).validate_json("[1]") == [1]
"""


@pytest.mark.parametrize("imports", ["", "import pydantic\n"], ids=["ours first", "theirs first"])
def test_other_libraries_get_the_same_module(imports: str) -> None:
    code = f"{imports}from acp_tui import json_core\n{CHECK}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
