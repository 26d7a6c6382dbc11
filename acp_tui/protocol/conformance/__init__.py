"""Rules of ACP v1 for agents, judged from the frames of a connection as they pass: `Linter` runs them all.

Each module holds the rules of one matter and the check that judges them. Where the frames come from (a live
connection, a recording) is the caller's matter.
"""

from acp_tui.protocol.conformance.linter import RULES, Linter
from acp_tui.protocol.conformance.messages import PROBE
from acp_tui.protocol.conformance.rule import Finding, Frame, Rule, Severity

__all__ = ["PROBE", "RULES", "Finding", "Frame", "Linter", "Rule", "Severity"]
