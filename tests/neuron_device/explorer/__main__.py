"""Lets bin/neuron-explorer run the package."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main(sys.argv[1:]))
