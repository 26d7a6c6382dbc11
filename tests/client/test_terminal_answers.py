"""Whose answer it is, if a terminal answers: the user's screen may show what was answered only later."""

from __future__ import annotations

import pytest

from acp_tui.client.desktop import MULTIPLEXED_S, UNANSWERED_S, lag_s

TERMINAL, MOSH = "\x1b[?62;4c", "\x1b[?62c"
TMUX, SSH = {"TMUX": "/tmp/tmux-0/default,1,0"}, {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}


@pytest.mark.parametrize(
    ("environ", "sure_answer", "late_s"),
    [
        ({}, TERMINAL, 0.0),
        (SSH, TERMINAL, 0.0),
        ({}, "", 0.0),
        (TMUX, TERMINAL, MULTIPLEXED_S),
        ({"STY": "1.tty"}, TERMINAL, MULTIPLEXED_S),
        ({"ZELLIJ": "0"}, TERMINAL, MULTIPLEXED_S),
        ({"TERM": "tmux-256color"}, TERMINAL, MULTIPLEXED_S),
        ({"TERM": "screen"}, TERMINAL, MULTIPLEXED_S),
        ({"TERM": "screen", **SSH}, TERMINAL, MULTIPLEXED_S),
        ({**TMUX, **SSH}, TERMINAL, UNANSWERED_S),
        ({**TMUX, "SSH_TTY": "/dev/pts/1"}, TERMINAL, UNANSWERED_S),
        (SSH, MOSH, UNANSWERED_S),
        ({}, MOSH, UNANSWERED_S),
    ],
)
def test_what_something_in_between_answers_is_on_the_users_screen_only_later(
    environ: dict[str, str], sure_answer: str, late_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert lag_s(sure_answer) == late_s
