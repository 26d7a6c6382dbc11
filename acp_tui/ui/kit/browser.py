"""Opens pages in the user's browser."""

from __future__ import annotations

import webbrowser

from anyio import to_thread


async def open_page(url: str) -> str:
    """Open a page that the user agreed to; return "" if it succeeds, or a sentence on what failed."""
    if await to_thread.run_sync(webbrowser.open, url):
        return ""
    return f"Couldn't start a browser. The page is {url}"
