"""Every golden message decodes, and encodes again to an equal value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_tui.protocol.v1.agent_requests import (
    ReadTextFileRequest,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
    WriteTextFileRequest,
)
from acp_tui.protocol.v1.content import ContentBlock, ToolCallContent
from acp_tui.protocol.v1.initialize import InitializeRequest, InitializeResponse
from acp_tui.protocol.v1.session import (
    CancelNotification,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
)
from acp_tui.protocol.v1.updates import SessionUpdate
from acp_tui.protocol.validators import reader_of
from support.schema import as_json, golden_files, read_or_skip

TYPES: dict[str, Any] = {
    "cancel_notification": CancelNotification,
    "content_": ContentBlock,
    "fs_read_text_file_request": ReadTextFileRequest,
    "fs_write_text_file_request": WriteTextFileRequest,
    "initialize_request": InitializeRequest,
    "initialize_response": InitializeResponse,
    "new_session_request": NewSessionRequest,
    "new_session_response": NewSessionResponse,
    "permission_outcome_": RequestPermissionOutcome,
    "prompt_request": PromptRequest,
    "request_permission_request": RequestPermissionRequest,
    "request_permission_response_": RequestPermissionResponse,
    "session_update_": SessionUpdate,
    "set_session_config_option_request": SetSessionConfigOptionRequest,
    "set_session_config_option_response": SetSessionConfigOptionResponse,
    "tool_content_": ToolCallContent,
}


NOT_READ = ("fs_read_text_file_response",)
"""What we only send, and never read."""


@pytest.mark.parametrize(
    "path",
    [path for path in golden_files() if not path.stem.startswith(NOT_READ)],
    ids=lambda path: path.stem,
)
def test_a_golden_message_survives_decoding_and_encoding(path: Path) -> None:
    message = read_or_skip(path)
    kind: Any = next(of for prefix, of in TYPES.items() if path.stem.startswith(prefix))
    decoded = reader_of(kind).validate_python(message)
    assert not isinstance(decoded, dict), "it was taken for one of a kind that we don't know"
    assert as_json(decoded, message) == message
