"""Entry of `python -m runner.trace`."""

from __future__ import annotations

import sys

from runner.trace.command import main

if __name__ == "__main__":
    sys.exit(main())
