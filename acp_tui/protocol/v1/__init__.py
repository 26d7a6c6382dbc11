"""ACP version 1: its messages as models, and the adapters between them and a conversation.

This module has the method names, grouped by who answers them. Start with `connection` (the client's calls and the
agent's). Modules of models are named after their subject. `inbound*` reads the models; `outbound` writes them.
"""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = 1

# Answered by the agent
INITIALIZE: Final = "initialize"
AUTHENTICATE: Final = "authenticate"
LOGOUT: Final = "logout"
AUTH_STATUS: Final = "auth/status"
"""A draft, like `session/status`, and the same in version 2."""
SESSION_NEW: Final = "session/new"
SESSION_FORK: Final = "session/fork"
SESSION_LOAD: Final = "session/load"
SESSION_RESUME: Final = "session/resume"
SESSION_LIST: Final = "session/list"
SESSION_DELETE: Final = "session/delete"
SESSION_CLOSE: Final = "session/close"
SESSION_PROMPT: Final = "session/prompt"
SESSION_CANCEL: Final = "session/cancel"
"""A notification."""
SESSION_STATUS: Final = "session/status"
SESSION_SET_MODE: Final = "session/set_mode"
SESSION_SET_CONFIG_OPTION: Final = "session/set_config_option"
SESSION_SET_MODEL: Final = "session/set_model"
"""Removed from the protocol, but many agents still answer it (R-OLD-1)."""

# Answered by the client
SESSION_UPDATE: Final = "session/update"
"""A notification."""
SESSION_REQUEST_PERMISSION: Final = "session/request_permission"
FS_READ_TEXT_FILE: Final = "fs/read_text_file"
FS_WRITE_TEXT_FILE: Final = "fs/write_text_file"
TERMINAL_CREATE: Final = "terminal/create"
TERMINAL_OUTPUT: Final = "terminal/output"
TERMINAL_WAIT_FOR_EXIT: Final = "terminal/wait_for_exit"
TERMINAL_KILL: Final = "terminal/kill"
TERMINAL_RELEASE: Final = "terminal/release"
ELICITATION_CREATE: Final = "elicitation/create"
ELICITATION_COMPLETE: Final = "elicitation/complete"
"""A notification."""
AUTH_STATUS_UPDATE: Final = "auth/status_update"
"""A notification."""

# Used by both
CANCEL_REQUEST: Final = "$/cancel_request"
"""A notification."""
