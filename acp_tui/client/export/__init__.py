"""Exports a conversation as Markdown or as JSON Lines. The caller provides facts."""

from acp_tui.client.export.facts import ExportFacts, default_name
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.client.export.writing import NOT_REDACTED, SUFFIXES, CannotWrite, ExportError, UnknownFormat, export

__all__ = [
    "NOT_REDACTED",
    "SUFFIXES",
    "CannotWrite",
    "ExportError",
    "ExportFacts",
    "UnknownFormat",
    "default_name",
    "export",
    "to_jsonl",
    "to_markdown",
]
