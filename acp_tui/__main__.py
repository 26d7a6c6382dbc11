"""`python -m acp_tui` is `acp-tui`."""

import sys

from acp_tui.cli.main import main

sys.exit(main())
