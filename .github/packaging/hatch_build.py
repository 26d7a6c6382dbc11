"""What a build adds: the project's addresses and the README with whole links, and the man page."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urljoin

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE: Final = re.compile(r"\]\((?![a-z]+:|#)([^)]+)\)")
PICTURES: Final = (".svg", ".png")


class Addresses(MetadataHookInterface):
    """All of them begin with `repository` in pyproject.toml. The README's lead to the files of this version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Raises ValueError if a release has no address."""
        repository = self.config["repository"]
        if "ACP_TUI_RELEASE" in os.environ and ".invalid/" in repository:
            raise ValueError("set the repository's address in pyproject.toml before you build a release")
        tag = f"v{metadata['version']}"

        def whole(link: re.Match[str]) -> str:
            kind = "raw" if link[1].endswith(PICTURES) else "blob"
            return f"]({urljoin(f'{repository}/{kind}/{tag}/', link[1])})"

        metadata["urls"] = {
            "Homepage": repository,
            "Documentation": f"{repository}/blob/{tag}/README.md#documentation",
            "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
        }
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(whole, readme)}


class ManPage(BuildHookInterface[Any]):
    """Puts the man page into the wheel; pipx, Homebrew, and Nix show it to `man acp-tui`.

    It is made from the command table, so no copy of it can be out of date.
    """

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
