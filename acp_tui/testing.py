"""The public name of `acp_tui.workbench.testing`, the kit for authors of agents. It goes with the room."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_tui.workbench.testing import *  # noqa: F403 - for type checkers
else:
    sys.modules[__name__] = import_module("acp_tui.workbench.testing")
