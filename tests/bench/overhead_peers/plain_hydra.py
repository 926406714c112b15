"""All combinations in one process through plain Hydra multirun."""

from __future__ import annotations

from dataclasses import dataclass

import hydra
from hydra.core.config_store import ConfigStore

from tests.bench.overhead_peers.common import capture, log


@dataclass
class Plain:
    """The one key that is swept."""

    scale: float = 1.0


ConfigStore.instance().store(name="plain", node=Plain)


@hydra.main(version_base="1.3", config_path=None, config_name="plain")  # type: ignore[untyped-decorator]
def main(config: Plain) -> None:
    """Capture and log one combination."""
    log(config.scale, capture(config.scale))


if __name__ == "__main__":
    main()
