"""Recordings that can be given away: names, addresses, keys and files' contents replaced, the layout as it was.

It reads recordings as `client.transcript` writes them and makes new ones; it changes none. README.md says what is
found.
"""
