"""Says when a recording that is still being written has grown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

STEP_MS: Final = 50
DEBOUNCE_MS: Final = 200
_NO_TIMEOUT: Final = 0


async def growth_of(path: Path) -> AsyncIterator[None]:
    """Once for each time it was written to, until cancelled. Raises OSError, RuntimeError where that cannot be seen."""
    import watchfiles  # loads a native library, which only this needs

    async for _ in watchfiles.awatch(
        path, watch_filter=None, step=STEP_MS, debounce=DEBOUNCE_MS, rust_timeout=_NO_TIMEOUT
    ):
        yield
