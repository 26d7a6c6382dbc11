"""How long acp-tui takes to its first frame and to a prompt, beside a bare Textual app with a TextArea.

    python tests/benchmarks/startup.py [ROUNDS] [FOLDER OF PTYBENCH]

Both sides run in turn under `ptybench.py` (default: ../shared/bench beside the repository). Medians and their ratio are
printed; absolute figures wobble with the machine, the ratio does not.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from own_home import own_home

ROOT = Path(__file__).parent.parent.parent
BARE_APP = """
from textual.app import App
from textual.widgets import TextArea

class Bare(App):
    def compose(self):
        yield TextArea(soft_wrap=True)

    def on_mount(self):
        self.call_after_refresh(self.show_ready)

    def show_ready(self):
        self.query_one(TextArea).text = "READY"

Bare().run()
"""


def measure(bench: Path, ready: str, command: list[str]) -> dict[str, float]:
    """One start: seconds to the first paint and to `ready` on the screen, and RSS in MB."""
    words = [
        sys.executable,
        str(bench / "ptybench.py"),
        "--ready",
        ready,
        "--exclude",
        "bench_agent|acp_tui.demo",
    ]
    command = [*words, "--", *command]
    with own_home() as env:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=env)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> int:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    bench = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT.parent / "shared" / "bench"
    if not (bench / "ptybench.py").exists():
        print(f"there is no ptybench.py in {bench}", file=sys.stderr)
        return 2
    with tempfile.NamedTemporaryFile("w", suffix=".py") as bare:
        bare.write(BARE_APP)
        bare.flush()
        sides = {
            "bare Textual app": ("READY", [sys.executable, bare.name]),
            "acp-tui demo": ("Demo", [sys.executable, "-m", "acp_tui", "demo"]),
        }
        figures = {name: [measure(bench, *side) for side in [sides[name]]] for name in sides}
        for _ in range(rounds - 1):
            for name, side in sides.items():
                figures[name].append(measure(bench, *side))
    print(f"{'median of ' + str(rounds):<22}{'first frame s':>15}{'ready s':>10}{'RSS MB':>9}")
    medians = {}
    for name, rows in figures.items():
        keys = ("first_paint_s", "ready_s", "ready_rss_mb")
        medians[name] = [statistics.median(row[key] for row in rows) for key in keys]
        first, ready, rss = medians[name]
        print(f"{name:<22}{first:>15.3f}{ready:>10.3f}{rss:>9.1f}")
    bare_figures, ours = medians.values()
    print(f"{'ratio':<22}{ours[0] / bare_figures[0]:>15.2f}{ours[1] / bare_figures[1]:>10.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
