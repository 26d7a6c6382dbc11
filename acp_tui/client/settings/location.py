"""Where the user's settings stand, and what acp-tui keeps; the first frame waits for it, so it brings nothing along."""

from __future__ import annotations

from pathlib import Path
from typing import Final


def settings_file() -> Path:
    """The file, whether it is there or not."""
    import platformdirs  # not needed where the caller names a file

    return platformdirs.user_config_path("acp-tui") / "settings.toml"


PROJECT_SETTINGS: Final = ".acp-tui.toml"
"""What a project may bring along."""


def project_settings_file(folder: Path) -> Path:
    """What a project brings along, whether it is there or not."""
    return folder / PROJECT_SETTINGS


def state_folder() -> Path:
    """Where recordings, prompt history and drafts are kept; whether it is there or not."""
    import platformdirs

    return platformdirs.user_state_path("acp-tui")


def cache_folder() -> Path:
    """What can be fetched again, such as the agent registry; whether it is there or not."""
    import platformdirs

    return platformdirs.user_cache_path("acp-tui")


def own_folders() -> tuple[Path, ...]:
    """All that is ours: whoever can write there changes what acp-tui runs, trusts and remembers."""
    return (settings_file().parent, state_folder(), cache_folder())
