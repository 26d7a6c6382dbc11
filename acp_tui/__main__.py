"""The entry point, also as `python -m acp_tui`. Tells its version before it loads anything else."""

import sys
from contextlib import suppress

from acp_tui import __version__


def main() -> int:
    """Run acp-tui with the process's own arguments. Returns the exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]) and sys.stdout is not None:  # scripts ask for it often
        with suppress(OSError):  # told below
            sys.stdout.write(f"acp-tui {__version__}\n")
            sys.stdout.flush()
            return 0
    from acp_tui.cli import main as command_line

    status = command_line.main()
    command_line.leave_stuck_threads(status)
    return status


if __name__ == "__main__":
    sys.exit(main())
