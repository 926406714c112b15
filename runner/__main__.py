"""Starts the command; children of the warm server never import this."""

from __future__ import annotations

import sys

from runner.entry import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
