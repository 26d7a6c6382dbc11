"""A box as settings of Anthropic's sandbox-runtime, which has what the others lack: a list of hosts to reach."""

from __future__ import annotations

import json
from pathlib import Path

from acp_tui.client.files import replace_file
from acp_tui.client.sandbox.access import Access
from acp_tui.client.sandbox.box import Box


def settings(box: Box) -> Path:
    """The file with the settings, in a folder that goes with the box and isn't in it. Blocks."""
    file = box.own.path / "srt.json"
    written = {
        "network": {"allowedDomains": [*box.profile.hosts] if box.profile.network else [], "deniedDomains": []},
        "filesystem": {
            "denyRead": _paths(box, Access.HIDDEN),
            "allowRead": [path for path in _paths(box, Access.READABLE, Access.WRITABLE) if path != "/"],
            "allowWrite": [*_paths(box, Access.WRITABLE), str(box.tmp)],
            "denyWrite": [path for path in _paths(box, Access.READABLE) if path != "/"],
        },
    }
    replace_file(file, json.dumps(written, indent=1).encode())
    return file


def _paths(box: Box, *accesses: Access) -> list[str]:
    return [str(path) for access in accesses for path in box.listed(access)]
