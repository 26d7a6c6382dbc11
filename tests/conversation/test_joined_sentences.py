"""Lines of a message that are shown as one."""

import pytest

from acp_tui.conversation.wording import sentences


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("Written to /a/out.md\nIt isn't redacted.", "Written to /a/out.md. It isn't redacted."),
        (
            "python3 exited with code 1\nit didn't answer: is it one?",
            "python3 exited with code 1; it didn't answer: is it one?",
        ),
        ("It failed.\nTry again.", "It failed. Try again."),
        ("It waits:\n\n  for you", "It waits: for you"),
        ("", ""),
    ],
)
def test_lines_are_joined_as_sentences(lines: str, sentence: str) -> None:
    assert sentences(lines) == sentence
