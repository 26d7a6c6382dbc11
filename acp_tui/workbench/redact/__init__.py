"""Recordings that you can give away: names, addresses, keys and file contents replaced. README.md has the list."""
