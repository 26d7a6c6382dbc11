"""Requests of the agent that wait for the user, and the user's own rules that refuse some of them.

Nothing in here allows anything: an answer of the user's is passed on, and a rule can only say no.
"""

from acp_tui.client.permissions.broker import Broker, PermissionBroker

__all__ = ["Broker", "PermissionBroker"]
