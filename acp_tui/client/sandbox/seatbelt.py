"""A box as a profile of macOS's sandbox, in its own language, where the last rule that matches decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from acp_tui.client.sandbox.access import Access
from acp_tui.client.sandbox.box import Box

# What isn't about files is as in Apple's own profiles: a process sees and signals those of its sandbox only.
_HEAD: Final = """\
(version 1)
(allow default)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info* (target others))
(deny mach-priv-task-port)
(deny network-outbound (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(deny mach-lookup (global-name "com.apple.pasteboard.1") (global-name "com.apple.coreservices.appleevents"))
(deny file-write*)
(allow file-write* (regex #"^/dev/(null|zero|tty|ptmx|ttys[0-9]+|fd/[0-9]+)$"))
"""
_RULES: Final = {
    Access.HIDDEN: "(deny file-read* file-write* {})",
    Access.READABLE: "(allow file-read* {0})\n(deny file-write* {0})",
    Access.WRITABLE: "(allow file-read* file-write* {})",
    Access.SCRATCH: "(deny file-read* file-write* {})",
}


def profile(box: Box) -> str:
    """The profile of a box. Nothing can be mounted, so its /tmp is a folder elsewhere."""
    return "\n".join((_HEAD.rstrip(), *_rules(box), ""))


def _rules(box: Box) -> Iterator[str]:
    if not box.profile.network:
        yield "(deny network*)"
    for path in sorted(box.places, key=lambda path: (len(path.parts), path)):
        if path != Path("/"):
            yield _RULES[box.places[path]].format(_below(path))
    yield _RULES[Access.WRITABLE].format(_below(box.tmp))
    yield "(allow file-read-metadata)"  # programs follow their own path from the root


def _below(path: Path) -> str:
    return f"(subpath {json.dumps(str(path), ensure_ascii=False)})"
