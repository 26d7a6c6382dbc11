"""The files that the user's rules name, for a sandbox to hide: a rule about a path is enforced there by the kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from acp_tui.client.path_globs import alternatives, is_spelled_in
from acp_tui.client.sandbox import Access
from acp_tui.client.settings.settings import RefusalRule

_ACCESS = {None: Access.HIDDEN, "read": Access.HIDDEN} | dict.fromkeys(("edit", "delete", "move"), Access.READABLE)
"""What is left of a file by a rule for this kind of tool call."""


def masks(rules: Sequence[RefusalRule], roots: Sequence[Path]) -> Iterator[tuple[Path, Access]]:
    """What exists of what the rules name, and the access that is left. Blocks: it goes through the folders."""
    named = [
        (path, _ACCESS[rule.kind])
        for rule in rules
        if rule.path and not rule.command and rule.kind in _ACCESS
        for path in alternatives(rule.path)
    ]
    for path, access in named:
        if path.startswith("/"):
            yield from ((found, access) for found in Path("/").glob(path.lstrip("/")))
    if all(path.startswith("/") for path, _ in named):
        return
    spelled = [str(root) for root in roots]
    for root in spelled:
        for folder, folders, files in os.walk(root):
            for name in [*folders, *files]:
                place = f"{folder}/{name}"
                left = [access for path, access in named if is_spelled_in(place, path, spelled)]
                if left:
                    # A link can't be hidden, but what it leads to here.
                    leads_to = os.path.realpath(place)
                    if leads_to.startswith(tuple(f"{os.path.realpath(each)}/" for each in spelled)):
                        yield Path(leads_to), Access.HIDDEN if Access.HIDDEN in left else Access.READABLE
                    if name in folders:
                        folders.remove(name)  # all below is the same
