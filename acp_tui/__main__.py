"""Runs acp-tui as `python -m acp_tui`."""

import sys

from acp_tui.cli.main import main

sys.exit(main())
