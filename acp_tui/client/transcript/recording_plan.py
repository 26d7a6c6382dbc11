"""Whether, where, and how to record the agents of a run. `recorder` writes each recording."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from acp_tui import __version__
from acp_tui.client.secrets.masking import Masker
from acp_tui.client.settings.location import state_folder
from acp_tui.client.settings.settings import RecordingSettings
from acp_tui.client.transcript import RecordTo
from acp_tui.client.transcript.events import Header
from acp_tui.client.transcript.index import IndexedRecording
from acp_tui.client.transcript.recorder import Outlet, Recorder
from acp_tui.client.transcript.store import RecordingStore, create_beside
from acp_tui.values import dataclass


@dataclass(frozen=True, slots=True)
class RecordingPlan:
    """Each process of an agent has one recording with all its sessions."""

    cwd: Path
    store: RecordingStore | None = None
    """None to keep nothing besides `file`."""
    file: Path | None = None
    """An additional recording that the user requested. The second agent's gets a number."""
    is_file_raw: bool = False
    """Keep secrets in `file`."""
    screen: tuple[int, int] | None = None
    on_trouble: Callable[[str], None] = lambda _: None
    """Called on the event loop with a sentence for the user if recording fails. The session continues."""

    def begin(self, agent: str, argv: tuple[str, ...], env: Mapping[str, str], sandbox: str = "") -> Recorder:
        """Record a process that started with `env` added to our own environment, in the sandbox of that name.

        Call it on the event loop.
        """
        environ = {**os.environ, **env}
        header = Header(
            agent=agent,
            argv=Masker(environ).argv(argv),
            env_names=tuple(env),
            client=__version__,
            cwd=str(self.cwd),
            sandbox=sandbox,
            screen=self.screen,
            pid=os.getpid(),
            started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        outlets = []
        if self.file is not None:
            open_file = partial(create_beside, self.file)
            outlets.append(Outlet(open_file, max_bytes=1 << 62, is_raw=self.is_file_raw))
        if self.store is not None:
            kept = IndexedRecording(self.store, header)
            outlets.append(Outlet(kept.open, index=kept))
        return Recorder(header, outlets, environ=environ, on_trouble=self._on_loop())

    def _on_loop(self) -> Callable[[str], None]:
        loop = asyncio.get_running_loop()

        def tell(trouble: str) -> None:
            with suppress(RuntimeError):  # the loop is closed, so there's no one to tell
                loop.call_soon_threadsafe(self.on_trouble, trouble)

        return tell


def recording_store(settings: RecordingSettings) -> RecordingStore:
    return RecordingStore(state_folder() / "recordings", max_total_bytes=settings.max_total_bytes)


def recording_plan(
    settings: RecordingSettings,
    cwd: Path,
    on_trouble: Callable[[str], None],
    *,
    to: RecordTo | None = None,
    screen: tuple[int, int] | None = None,
) -> RecordingPlan | None:
    """How to record an agent that works in `cwd`; None to record nothing."""
    if not settings.keep and to is None:
        return None
    return RecordingPlan(
        cwd,
        store=recording_store(settings) if settings.keep else None,
        file=to.file if to is not None else None,
        is_file_raw=to is not None and to.is_raw,
        screen=screen,
        on_trouble=on_trouble,
    )
