"""What a user can want of an agent beside its sessions: to log in and out, to answer it, words beyond the protocol."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from acp_tui.client.agents.command import AgentCommand
from acp_tui.client.errors import Unsupported
from acp_tui.client.extensions import require_extension_name
from acp_tui.client.sessions.phase import Phase
from acp_tui.client.sessions.session_calls import SessionCalls
from acp_tui.conversation.elicitation import Elicitation, FormValues, UrlVisit
from acp_tui.conversation.facts import RequestKey
from acp_tui.conversation.updates import ElicitationAction
from acp_tui.protocol.roles import AuthMethod
from acp_tui.rpc import RpcError


class AgentCalls(SessionCalls):
    """The user's side of an agent. Where nothing else is said, calls raise AgentRefused and AgentLost."""

    # Logging in and out

    async def authenticate(self, method_id: str) -> None:
        """Let the agent log the user in by one of its methods; may take minutes (R-AUTH-4).

        Raises Unsupported for a method that it does not have, or that wants a terminal (R-AUTH-5).
        """
        method = self._auth_method(method_id)
        self._require(method.kind == "agent", f"{method.name!r} without a terminal")
        with self._in_phase(Phase.AUTHENTICATING):
            await self._ask(self._connection.authenticate(method_id))

    def login_command(self, method_id: str) -> AgentCommand:
        """What to run in a terminal to log in; exit status 0 is success, and then the agent is to be started anew.

        The method adds to the agent's own command and cannot choose another (R-AUTH-6, R-AUTH-7). Raises Unsupported.
        """
        method = self._auth_method(method_id)
        is_offered = method.kind == "terminal" and self._offer.auth_terminal
        self._require(is_offered, f"{method.name!r} in a terminal")
        return self.command.for_terminal(method.args, method.env)

    def _auth_method(self, method_id: str) -> AuthMethod:
        method = next((method for method in self.auth_methods if method.method_id == method_id), None)
        if method is None:
            raise Unsupported(f"{self.title} has no way to log in that is called {method_id!r}")
        return method

    async def logout(self) -> None:
        """Log out; open sessions may want a login afterwards (R-AUTH-9). Raises Unsupported."""
        self._require(self.capabilities.logout, "logging out (auth.logout)")
        await self._ask(self._connection.logout())

    # What it asks outside of any session

    @property
    def elicitations(self) -> dict[RequestKey, Elicitation]:
        """Questions that belong to no session and wait for the user, oldest first; to be read only."""
        return self._outside.elicitations

    @property
    def visits(self) -> dict[str, UrlVisit]:
        """Pages among them that the user agreed to visit, by elicitation id."""
        return self._outside.visits

    def answer_elicitation(
        self, key: RequestKey, action: ElicitationAction, values: FormValues | None = None
    ) -> None:
        """As `Session.answer_elicitation`, for a question that belongs to no session."""
        self._questions.answer(key, action, values)

    def dismiss_visit(self, elicitation_id: str) -> None:
        """As `Session.dismiss_visit`, for a page that belongs to no session."""
        self._questions.dismiss(elicitation_id)

    # Beyond the protocol

    async def send_extension(self, method: str, params: Any) -> Any:
        """Send a request of the agent's own; gives the result as it came. Raises ValueError for a name without "_"."""
        require_extension_name(method)
        return await self._ask(self._connection.request_extension(method, params))

    def notify_extension(self, method: str, params: Any) -> None:
        """Send a notification of the agent's own; lost where the agent is. Raises ValueError for a name without "_"."""
        require_extension_name(method)
        with suppress(RpcError):
            self._connection.notify_extension(method, params)
