"""`python -m runner.doctor`: look before you measure."""

from __future__ import annotations

import signal
import sys

from runner.doctor.command import main

if __name__ == "__main__":
    # A reader that has seen enough, such as head, ends us quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
