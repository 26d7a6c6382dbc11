"""Runs the demo agent for any ACP client: `python -m acp_tui.demo [SCENARIO] [--speed X]`."""

from __future__ import annotations

import sys

from acp_tui.demo.agent import main

if __name__ == "__main__":
    sys.exit(main())
