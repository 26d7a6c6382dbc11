"""How far an agent has come."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The value is what a status line says."""

    STARTING = "starting"
    INITIALIZING = "initializing"
    AUTHENTICATING = "logging in"
    OPENING = "opening a session"
    READY = "ready"
    GONE = "gone"
