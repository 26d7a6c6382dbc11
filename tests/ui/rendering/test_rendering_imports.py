"""What only some messages need is imported when one needs it, so the first frame doesn't pay for it."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from acp_tui.ui import rendering


def test_importing_the_rendering_modules_imports_neither_parser_nor_highlighter() -> None:
    names = [f"{rendering.__name__}.{module.name}" for module in pkgutil.iter_modules(rendering.__path__)]
    program = (
        f"import sys, {', '.join(names)}\n"
        "print([name for name in ('markdown_it', 'pygments', 'textual.app') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
