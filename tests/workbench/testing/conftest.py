"""The kit's fixtures, without their entry point; each answers for the test that uses it."""

import pytest

from acp_tui.client.sessions.session import Session
from acp_tui.conversation.facts import RequestKey
from acp_tui.workbench.testing import scripted_user, session
from acp_tui.workbench.testing.plugin import _acp_bench, acp_agent, acp_snapshot

__all__ = ["_acp_bench", "acp_agent", "acp_snapshot"]


@pytest.fixture(autouse=True)
def _answers_are_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of frames asks whose code answered: in this folder, the test's, which the kit passes on."""

    def pass_on(session: Session, key: RequestKey, option_id: str) -> None:
        session.answer_permission(key, option_id)

    monkeypatch.setattr(scripted_user, "pass_on", pass_on)


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents here ignore a cancellation on purpose."""
    monkeypatch.setattr(session, "CANCEL_GRACE_S", 0.2)
