"""What single agents need beyond the specification; each rule names agent, version and symptom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quirks:
    """Deviations from the standard answers, all off for an agent that is not listed."""

    missing_file_reads_empty: bool = False
    """Answer fs/read_text_file of a missing file with "" instead of an error."""


def quirks_of(agent_name: str) -> Quirks:
    """The quirks for an agent's own name, as its initialize response gives it."""
    # gemini-cli 0.61.0: it reads a file before it writes it, and gives up writing a *new* file on any error. Editors
    # answer "" by accident, since they open an empty buffer.
    if agent_name == "gemini-cli":
        return Quirks(missing_file_reads_empty=True)
    return Quirks()
