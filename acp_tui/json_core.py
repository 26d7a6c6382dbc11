"""The compiled part of pydantic-core: its JSON parser, and its validators.

Its package also makes a hundred typed dictionaries, which tell type checkers what a schema looks like. That takes a
fiftieth of the processor time until the agent's title is shown, and half a megabyte. So the compiled module is loaded
without its package, under its own name: what imports the package later gets the same module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import (
        PydanticSerializationError,
        SchemaValidator,
        ValidationError,
        from_json,
        to_json,
    )
else:
    import sys
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    def _compiled():
        name = "pydantic_core._pydantic_core"
        if name not in sys.modules:
            package = PathFinder.find_spec("pydantic_core")
            spec = PathFinder.find_spec(name, package.submodule_search_locations)
            sys.modules[name] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    _core = _compiled()
    PydanticSerializationError = _core.PydanticSerializationError
    SchemaValidator = _core.SchemaValidator
    ValidationError = _core.ValidationError
    from_json = _core.from_json
    to_json = _core.to_json

__all__ = ["PydanticSerializationError", "SchemaValidator", "ValidationError", "from_json", "to_json"]
