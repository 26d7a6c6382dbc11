"""Suggestions for what is being written in the prompt: files behind `@`, commands behind `/`."""

from acp_tui.ui.prompt.completion.assistant import Completion, Surroundings

__all__ = ["Completion", "Surroundings"]
