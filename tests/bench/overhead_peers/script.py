"""One combination as a script of its own."""

from __future__ import annotations

import sys

from tests.bench.overhead_peers.common import capture, log

if __name__ == "__main__":
    scale = float(sys.argv[1])
    log(scale, capture(scale))
