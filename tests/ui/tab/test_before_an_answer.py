"""What draws an answer is loaded in a thread at a prompt's first letter, because it would stall a frame."""

from __future__ import annotations

import subprocess
import sys

PROBE = """
import re._compiler
from acp_tui.ui.rendering.highlight import Highlighter
from acp_tui.ui.tab.loading import LANGUAGES, preload_for_answer

preload_for_answer()
compiled = []
compile = re._compiler.compile
re._compiler.compile = lambda *given: compiled.append(given) or compile(*given)
colored = []
for language in LANGUAGES:
    code = Highlighter(language)
    code.append('{"a": 1}' if language == "json" else "if x: echo 1")
    colored.append(len(code._text.lexed(0)) > 1)
print(len(compiled), colored)
"""


def test_the_first_code_of_an_answer_compiles_nothing_where_its_language_is_common() -> None:
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout == "0 [True, True, True]\n"
