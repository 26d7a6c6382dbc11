"""Marks what an agent puts before the user to be answered; what is asked, and who answers, it does not know.

Above a screen with this mark the keys still work that stop the agent and leave the tab, and nothing is drawn over a
widget or a screen that has it.
"""

from __future__ import annotations

from typing import Final

ASKING: Final = "-asking"
"""The class of a screen, or of a widget on one, that asks for an answer to something the agent wants."""
