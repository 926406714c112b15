"""What `python -m runner` does with its composed configs: plan, print or measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from runner.config.schema import Config
from runner.devices.detect import known_type
from runner.errors import UsageError
from runner.files import new_folder
from runner.identity import Identity, identify
from runner.job import begun_in
from runner.problems import check_before_running, refuse
from runner.session import Session, identifier, job_name
from runner.sweep import show
from runner.sweep.earlier import Earlier, earlier_in, newest_sweep, resumed_folder, set_aside
from runner.sweep.exclude import excluder
from runner.sweep.plan import Combination, Planned, combine, plan
from runner.sweep.stock import Launch


class Command:
    """One command line; measures in its session what Hydra composes for it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def one(self, composed: Mapping[str, Any], base: Path) -> None:
        """Plan or measure a single combination below `base`."""
        combinations = self._combinations([composed], base)
        if combinations[0].config.plan:
            self._print(combinations, [], resuming=False)
            return
        inspection = self._session.inspect([combinations[0].config])
        planned = plan(combinations, identifier(inspection), [], resuming=False, retry_failed=False)
        folder = new_folder(base, datetime.now())
        self._session.measure(planned, inspection, folder, sweep=False)

    def sweep(
        self, composed: Sequence[Mapping[str, Any]], base: Path, launch: Launch | None = None
    ) -> None:
        """Plan or measure a sweep below `base`, or what is missing of an earlier one.

        `launch` runs jobs through a stock launcher instead of in our own processes.
        """
        combinations = self._combinations(composed, base)
        rules = combinations[0].config
        folder = resumed_folder(rules.sweep.resume, base) if rules.sweep.resume else None
        before = folder or newest_sweep(base)
        earlier = earlier_in(before) if before else []
        if rules.plan:
            self._print(combinations, earlier, resuming=folder is not None)
            return
        wanted = [each.config for each in combinations if not each.excluded]
        if not wanted:
            raise UsageError("sweep.exclude: every combination is excluded; nothing would run")
        inspection = self._session.inspect(wanted)
        planned = plan(
            combinations,
            identifier(inspection),
            earlier,
            resuming=folder is not None,
            retry_failed=rules.sweep.retry_failed,
        )
        print(show.summary(planned), file=sys.stderr)
        folder = folder or new_folder(base, datetime.now())
        _clear(planned, folder)
        self._session.measure(planned, inspection, folder, sweep=True, launch=launch)

    def _combinations(self, composed: Sequence[Mapping[str, Any]], base: Path) -> list[Combination]:
        conditions = composed[0].get("sweep", {}).get("exclude") or []
        combinations, problems = combine(composed, excluder([str(each) for each in conditions]))
        refuse(problems)
        check_before_running([each.config for each in combinations if not each.excluded], base)
        return combinations

    def _print(
        self, combinations: Sequence[Combination], earlier: Sequence[Earlier], *, resuming: bool
    ) -> None:
        rules = combinations[0].config.sweep
        planned = plan(
            combinations,
            _identify_now(),
            earlier,
            resuming=resuming,
            retry_failed=rules.retry_failed,
        )
        form = show.as_json if rules.format == "json" else show.as_text
        print(form(planned))


def _identify_now() -> Callable[[Config], Identity | None]:
    """Return the identity of configs as far as it is certain without torch."""
    from runner.devices.cpu import cpu_model

    def of(config: Config) -> Identity | None:
        if known_type(config.device.name) != "cpu":
            return None
        return identify(config, device_type="cpu", device_model=cpu_model())

    return of


def _clear(planned: Sequence[Planned], folder: Path) -> None:
    """Set aside what is in the folder of a combination that runs again, unless it can go on."""
    for each, name in zip(planned, show.names(planned), strict=True):
        place = folder / job_name(each.combination.number, name)
        if each.runs and place.exists() and not _goes_on(each, place):
            set_aside(place)


def _goes_on(planned: Planned, place: Path) -> bool:
    """Tell whether a folder holds a begun but unfinished run of the same identity."""
    begun = begun_in(place)
    if begun is None or planned.identity is None or (place / "result.json").exists():
        return False
    return begun.identity == planned.identity.digest
