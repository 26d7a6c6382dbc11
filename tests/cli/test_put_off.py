"""Modules that a start puts off: they load with their first use, whoever uses them, and work as ever."""

import subprocess
import sys

import pytest

from acp_tui.cli.put_off import PUT_OFF

USES = {
    "a context for TLS": ("ssl", "import ssl; ssl.create_default_context()"),
    "a class of TLS that another package names": ("ssl", "from ssl import SSLContext; SSLContext.wrap_socket"),
    "asyncio's side of TLS": ("asyncio.sslproto", "from asyncio import sslproto; sslproto.SSLProtocol.buffer_updated"),
    "anyio's side of TLS": ("ssl", "import anyio.streams.tls as tls; tls.ssl.MemoryBIO()"),
    "a function of the system": ("ctypes", "import ctypes; ctypes.CDLL(None).getpid()"),
    "pydantic's schemas": (
        "pydantic_core.core_schema",
        "import pydantic; assert pydantic.TypeAdapter(list[int]).validate_python([1]) == [1]",
    ),
    "Textual's types": ("textual.types", "from textual.types import RenderStyles; RenderStyles.__name__"),
    "a process of watchfiles": ("watchfiles.run", "from watchfiles import run; run.run_process.__call__"),
}


def _with_put_off(script: str) -> list[str]:
    script = f"import sys; from acp_tui.cli.put_off import put_off; put_off()\n{script}"
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    ).stdout.split()


@pytest.mark.parametrize("use", USES)
def test_a_module_loads_with_its_first_use(use: str) -> None:
    name, used = USES[use]
    look = f"print(hasattr(sys.modules[{name!r}], '__file__'))"
    script = f"import anyio, pydantic_core, textual.app, watchfiles\n{look}\n{used}\n{look}"
    assert _with_put_off(script) == ["False", "True"]


def test_each_module_is_seen_in_use() -> None:
    assert {name for name, _ in USES.values()} == set(PUT_OFF)


def test_hashes_are_the_same_without_openssl() -> None:
    script = """
import hashlib, hmac
print("_ssl" in sys.modules, hashlib.sha256(b"a").hexdigest(), hmac.new(b"k", b"a", "sha1").hexdigest())
"""
    assert _with_put_off(script) == [
        "False",
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        "40e7d441cadb17b07f050341aa23a6820ed81c8b",
    ]
