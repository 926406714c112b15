"""MLflow's command line in a process group that ends with whoever started it, however that ends.

The starter holds the other end of standard input and writes nothing: the end of that is its own. A
death signal from the kernel would reach only the first of the server's processes.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def end_with_starter() -> None:
    """Wait for the end of standard input, then end the whole group."""
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with_starter, daemon=True).start()
    sys.argv[0] = "mlflow"
    runpy.run_module("mlflow", run_name="__main__", alter_sys=True)
