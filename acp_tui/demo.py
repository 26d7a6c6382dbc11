"""`python -m acp_tui.demo [SCENARIO] [--speed X]`: the demo agent as a process, for any ACP client."""

from __future__ import annotations

import sys

from acp_tui.workbench.demo.agent import main

if __name__ == "__main__":
    sys.exit(main())
