"""The emulators' thread at exit."""

import subprocess
import sys

from support.waiting import LIMIT_S

PROGRAM = """
import asyncio, threading
from acp_tui.client.terminals.feeder import Feeder

begun, ended = threading.Event(), threading.Event()

def work():
    begun.set()
    ended.wait(0.2)
    print("the job is done")

async def main():
    feeder = Feeder()
    feeder.run(work, lambda: None)
    feeder.run(lambda: print("the next job has begun"), lambda: None)
    await asyncio.to_thread(begun.wait)

asyncio.run(main())
"""


def test_the_interpreter_ends_behind_the_job_that_is_under_way_and_no_other() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert done.stdout == "the job is done\n"
    assert done.stderr == ""
