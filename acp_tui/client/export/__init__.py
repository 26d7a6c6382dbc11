"""Exports a conversation as a page to read (Markdown, HTML) or as JSON Lines for programs.

It knows neither sessions nor the screen: whoever has a conversation says what it is about, and gives `plain_text`.
"""

from acp_tui.client.export.html import to_html
from acp_tui.client.export.jsonl import to_jsonl
from acp_tui.client.export.markdown import to_markdown
from acp_tui.client.export.outline import ExportFacts, default_name
from acp_tui.client.export.tool_calls import PlainText
from acp_tui.client.export.writing import (
    NOT_REDACTED,
    SUFFIXES,
    CannotWrite,
    ExportError,
    FileExists,
    UnknownFormat,
    export,
    snapshot,
)

__all__ = [
    "NOT_REDACTED",
    "SUFFIXES",
    "CannotWrite",
    "ExportError",
    "ExportFacts",
    "FileExists",
    "PlainText",
    "UnknownFormat",
    "default_name",
    "export",
    "snapshot",
    "to_html",
    "to_jsonl",
    "to_markdown",
]
