"""A headless Chromium, controlled over its DevTools protocol: types, clicks, and reads pages."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pyte
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from support.waiting import until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class BrowserPage:
    """One page; made by `browser_page`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self.screen = pyte.Screen(80, 24)
        """What the page was sent, as a terminal would show it."""
        self._stream = pyte.ByteStream(self.screen)

    async def read(self) -> None:
        """Receive answers until the browser is gone."""
        with suppress(ConnectionClosed):
            async for frame in self._connection:
                message = json.loads(frame)
                if message.get("id") in self._answers:
                    self._answers.pop(message["id"]).set_result(message)
                elif "method" in message:
                    self._note(message["method"], message["params"])

    def _note(self, event: str, params: Any) -> None:
        frame = params.get("response", {})
        if event == "Network.webSocketFrameReceived" and frame["opcode"] == 2:
            # pyte takes the markers of an update, and colors it doesn't know, as text.
            self._stream.feed(re.sub(rb"\x1b\[[?<>=][0-9;]*[a-z]", b"", b64decode(frame["payloadData"])))
        elif event == "Network.webSocketFrameSent" and frame["payloadData"].startswith('["resize"'):
            size = json.loads(frame["payloadData"])[1]
            self.screen.resize(size["height"], size["width"])
        elif event == "Network.webSocketCreated":
            width, height = (re.search(rf"{side}=(\d+)", params["url"]) for side in ("width", "height"))
            if width and height:
                self.screen.resize(int(height[1]), int(width[1]))

    @property
    def text(self) -> str:
        """The rows of the screen."""
        return "\n".join(self.screen.display)

    async def until_it_shows(self, text: str) -> None:
        """Wait until the screen shows this."""
        await until(lambda: text in self.text, partial(asyncio.sleep, 0.02), lambda: self.text)

    async def click_on(self, text: str) -> None:
        """Click this word, in the last row of the screen that contains it."""
        row = max(number for number, line in enumerate(self.screen.display) if text in line)
        column = self.screen.display[row].index(text) + len(text) // 2
        place = await self.value(
            "(() => { const at = document.querySelector('.xterm-screen').getBoundingClientRect();"
            " return [at.x, at.y, at.width, at.height]; })()"
        )
        x, y, width, height = place
        await self.click(x + (column + 0.5) * width / self.screen.columns, y + (row + 0.5) * height / self.screen.lines)

    async def call(self, method: str, **params: Any) -> Any:
        """Call a method of the DevTools protocol; return its result."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        session = {"sessionId": self._session} if self._session else {}
        await self._connection.send(json.dumps({"id": number, "method": method, "params": params, **session}))
        message = await answer
        assert "error" not in message, message
        return message["result"]

    async def attach(self) -> None:
        """Control the page rather than the browser."""
        targets = (await self.call("Target.getTargets"))["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = await self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        await self.call("Network.enable")

    async def value(self, script: str) -> Any:
        """The value of a line of JavaScript."""
        return (await self.call("Runtime.evaluate", expression=script, returnByValue=True))["result"].get("value")

    async def type(self, text: str) -> None:
        """Type this text; a line break is Enter."""
        for letter in text:
            key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
            given = key if letter == "\n" else {"key": letter, "text": letter}
            await self.call("Input.dispatchKeyEvent", type="keyDown", **given)
            given.pop("text")
            await self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    async def click(self, x: float, y: float) -> None:
        """Click there."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def screenshot(self, file: Path) -> None:
        """Save a picture of the page."""
        file.write_bytes(b64decode((await self.call("Page.captureScreenshot"))["data"]))


@asynccontextmanager
async def browser_page(url: str, profile: Path) -> AsyncIterator[BrowserPage]:
    """A page at this address."""
    assert CHROMIUM is not None
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        "--no-first-run",
    ]
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *options,
        f"--user-data-dir={profile}",
        "--window-size=1200,800",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        while not (found := re.search(rb"listening on (ws://\S+)", await process.stderr.readline())):
            assert process.returncode is None
        draining = asyncio.create_task(process.stderr.read())
        async with connect(found[1].decode(), max_size=None) as connection:
            page = BrowserPage(connection)
            reading = asyncio.create_task(page.read())
            await page.attach()
            await page.call("Page.navigate", url=url)
            yield page
        await asyncio.gather(reading)
        draining.cancel()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
