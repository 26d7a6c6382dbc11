"""Puts the man page into the wheel; pipx, Homebrew, and Nix show it to `man acp-tui`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManPage(BuildHookInterface[Any]):
    """The page is made from the command table, so no copy of it can be out of date."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make it before the files are gathered."""
        if version != "standard":  # an editable install leaves the environment as it is
            return
        sys.path.insert(0, self.root)
        from acp_tui.cli.help_text import man_page  # from this source, not from an installed version

        self._folder = TemporaryDirectory()
        page = Path(self._folder.name, "acp-tui.1")
        page.write_text(man_page(), encoding="utf-8")
        build_data["shared_data"][str(page)] = "share/man/man1/acp-tui.1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove it again."""
        if version == "standard":
            self._folder.cleanup()
