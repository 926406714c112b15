"""`python -m runner.ui`: MLflow on the local store, with links to what a sweep has shown."""

from __future__ import annotations

import sys

from runner.ui.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
