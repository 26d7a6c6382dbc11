"""Long texts that repeat something take the masking no longer than their length explains.

It runs beside the screen and keeps the interpreter for as long as a search takes.
"""

from __future__ import annotations

import subprocess
import sys

LENGTH = 100_000
LIMIT_S = 30
"""Of CPU time. A few seconds are enough for all; a search whose time grows with the square takes minutes for each."""

REPEATED = (
    "\n", " ", "\t", "\r\n", " \n", "\n ", "a", "A", "aB3", "a ", "a\n", "=", ":", '"', "\\", "/", "-", "_", ".", "@",
    "+", "a@", "://", "://a@", "x-", "key ", "key=", "token:\n", "password ", "bearer ", "basic\n", "authorization: ",
    "cookie", "eyJ", "eyJa.", "sk-", "ghp_", "curl -u ", "wget --password ", "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----\n", "\x1b[0m", "é", "漢",
)  # fmt: skip

PROGRAM = """
import resource
from acp_tui.client.secrets.masking import Masker

resource.setrlimit(resource.RLIMIT_CPU, ({limit}, {limit}))
for repeated in {repeated!r}:
    for begin in ("", "key", "https://"):
        masker, text = Masker({{}}), begin + repeated * ({length} // len(repeated))
        masker.line(text)
        masker.message({{"method": "session/update", "params": {{"error": text, "text": text}}}})
        masker.output(text.encode())
"""


def test_repeated_texts_are_masked_in_a_time_that_grows_with_their_length() -> None:
    program = PROGRAM.format(limit=LIMIT_S, repeated=REPEATED, length=LENGTH)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr or "it took too long"
