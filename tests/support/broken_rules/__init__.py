"""Small connections that each break one rule and no other, for every rule that frames can break."""

from support.broken_rules import drafts, handshake, lines, messages, proxies, questions, sessions, turns, version_two
from support.broken_rules.case import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "drafts",
    "handshake",
    "lines",
    "messages",
    "proxies",
    "questions",
    "sessions",
    "turns",
    "version_two",
]
