"""Images and sounds are left out on request."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from pathlib import Path

from PIL import Image

from support.scenes import encoded, quarters
from support.secrets import Redacted, update


def test_images_are_left_unless_it_is_asked_and_that_is_said(tmp_path: Path) -> None:
    data = encoded(quarters(6))
    image = update(
        sessionUpdate="agent_message_chunk", content={"type": "image", "data": data, "mimeType": "image/png"}
    )
    done = Redacted(tmp_path, image)
    assert (data in done.text, done.report.media_kept) == (True, 1)
    (tmp_path / "redacted.jsonl").unlink()
    done = Redacted(tmp_path, image, drops_media=True)
    assert (data in done.text, done.report.media_left_out, done.report.media_kept) == (False, 1, 0)
    [left] = re.findall(r'"data": ?"([^"]+)"', done.text)
    with Image.open(io.BytesIO(b64decode(left))) as blank:
        assert (blank.size, blank.getpixel((0, 0))) == ((1, 1), 128)
