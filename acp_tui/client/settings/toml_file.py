"""Reads a settings file as TOML; what its tables mean is known to the readers of the sections."""

from __future__ import annotations

from pathlib import Path

from acp_tui.client.errors import SettingsError


def read_toml(file: Path, example: str) -> dict[str, object]:
    """The document, empty where there is no file. Raises SettingsError, with the example, where it is of no use."""
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # who has no settings file does not wait for it

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    # ValueError: not UTF-8, not TOML, or a number of thousands of digits.
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}", hint=f"mend it or move it away; it looks like:\n{example}"
        ) from error
