"""Where the user's settings stand; the first frame waits for it, so it brings nothing else along."""

from __future__ import annotations

from pathlib import Path


def settings_file() -> Path:
    """The file, whether it is there or not."""
    import platformdirs  # not needed where the caller names a file

    return platformdirs.user_config_path("acp-tui") / "settings.toml"
