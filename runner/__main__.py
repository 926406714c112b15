"""Starts the command; children of the warm server never import this."""

from __future__ import annotations

import gc
import sys

from runner.entry import main

if __name__ == "__main__":
    code = main(sys.argv[1:])
    gc.freeze()  # Else the interpreter's end looks through all that was imported, for a second.
    sys.exit(code)
