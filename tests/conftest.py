"""What every test shares: the async backend."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The client runs inside Textual, so asyncio is the one loop that counts."""
    return "asyncio"
