"""The emulators' thread at exit, and what it works on, which pyghostty frees by a finalizer."""

import subprocess
import sys

from support.waiting import LIMIT_S

PROGRAM = """
import asyncio, threading, weakref
from acp_tui.client.terminals.feeder import Feeder

kept, begun, ended = [], threading.Event(), threading.Event()

class Emulator:
    pass

def work():
    emulator = Emulator()
    weakref.finalize(emulator, print, "its emulator is freed")
    begun.set()
    ended.wait(0.2)
    print("the job is done")
    kept.append(emulator)

async def main():
    feeder = Feeder()
    feeder.run(work, lambda: None)
    feeder.run(lambda: print("the next job has begun"), lambda: None)
    await asyncio.to_thread(begun.wait)

asyncio.run(main())
"""


def test_the_interpreter_ends_behind_the_job_that_is_under_way_and_no_other() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert done.stdout == "the job is done\nits emulator is freed\n"
    assert done.stderr == ""
