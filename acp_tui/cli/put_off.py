"""Puts off modules of other packages that a start imports but doesn't use: OpenSSL alone takes 5 MB and 10 ms.

They load with their first use, in any process that `main` runs in. Whatever imports acp-tui gets the real ones.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

PUT_OFF: Final = {
    "ssl": "anyio.streams.tls",
    "asyncio.sslproto": "",
    "ctypes": "",
    "pydantic_core.core_schema": "pydantic_core",
    "textual.types": "textual.command",
    "watchfiles.run": "watchfiles",
}
"""Each with the module that names parts of it while it loads, only for annotations or to export them."""


class _PutOff(ModuleType):
    """Stands for a module until it's used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # whoever looks through all modules uses none
        caller = sys._getframe(1)
        if caller.f_code.co_name == "<module>" and caller.f_globals["__name__"] == PUT_OFF[self.__name__]:
            return Any
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def put_off() -> None:
    """Put them off, as far as they aren't loaded."""
    for name in PUT_OFF:
        sys.modules.setdefault(name, _PutOff(name))
    if find_spec("_sha1") and find_spec("_sha3"):  # some distributions leave out what Python has itself
        sys.modules.setdefault("_hashlib", None)  # type: ignore[arg-type]  # OpenSSL's hashes: None makes Python use its own
