"""Makes a recording of a scenario, for commands that show recordings; how it is played is `ui.picturing`'s matter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from acp_tui.cli.saying import say

SPEED: Final = 30.0
"""So many times as fast is a scenario played, while the user waits for its recording."""
HESITATES_S: Final = 0.06
"""Long enough, in the recording, to read what is asked."""
SCREEN: Final = (120, 40)


@contextmanager
def recording_of(source: Path | str) -> Iterator[Path]:
    """A recording's own file, or that of a scenario, by its name, which is there only meanwhile. Raises ClientError."""
    if isinstance(source, Path):
        yield source
        return
    from acp_tui.ui.picturing.rehearsal import DemoUser, record_demo

    with TemporaryDirectory(prefix="acp-tui-") as folder:
        file = Path(folder, f"{Path(source).stem}.jsonl")
        say(f"the scripted agent plays {source} …")
        user = DemoUser(hesitates_s=HESITATES_S)
        asyncio.run(record_demo(source, user, file, screen=SCREEN, speed=SPEED))
        yield file
