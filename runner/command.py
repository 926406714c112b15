"""What `python -m runner` does with its composed configs: plan, print or measure."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from runner.config.schema import Config
from runner.devices.detect import known_type
from runner.errors import UsageError
from runner.files import new_folder
from runner.identity import Identity, identify
from runner.inspection import Inspection
from runner.problems import check_before_running, refuse
from runner.rerun import Stored, stored
from runner.session import Session, identifier
from runner.sweep import show
from runner.sweep.earlier import Earlier, earlier_in, newest_sweep, resumed_folder
from runner.sweep.exclude import matching
from runner.sweep.folders import clear, held, places
from runner.sweep.plan import Combination, Planned, combine, plan
from runner.sweep.stock import Launch
from runner.work import Work

ALL_EXCLUDED = "sweep.exclude: every combination is excluded; nothing would run"


class Command:
    """One command line; measures in its session what Hydra composes for it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._excluded: list[bool] = []
        """Whether each combination that came one by one was left out."""

    def one(self, composed: Mapping[str, Any], base: Path, overrides: Sequence[str]) -> None:
        """Plan or measure the only combination of a command below `base`."""
        before = None
        if composed.get("rerun"):
            before = stored(str(composed["rerun"]), self._session.start)
            composed = before.again(composed, overrides)
        combinations = self._combinations([composed], base)
        _refuse_alone(combinations[0])
        self._one(combinations, base, before)

    def one_of_several(self, composed: Mapping[str, Any], base: Path) -> None:
        """Plan or measure one job of a sweep that stock plug-ins alone see whole."""
        combinations = self._combinations([composed], base)
        rules, condition = combinations[0].config, combinations[0].excluded
        _refuse_stock(rules)
        left_out = condition is not None and not rules.plan
        self._excluded.append(left_out)
        if left_out:
            (name,) = show.names(_planned(combinations, _identify_now()))
            print(f"excluded: {name}  {condition}", file=sys.stderr)
        else:
            self._one(combinations, base)

    def refuse_nothing(self) -> None:
        """Raise UsageError where every combination that came one by one was excluded."""
        if self._excluded and all(self._excluded):
            raise UsageError(ALL_EXCLUDED)

    def _one(
        self, combinations: Sequence[Combination], base: Path, before: Stored | None = None
    ) -> None:
        if combinations[0].config.plan:
            planned = _planned(combinations, _identify_now())
            self._print(planned)
        else:
            inspection = self._session.inspect([combinations[0].config], base)
            planned = _planned(combinations, identifier(inspection))
        if before and planned[0].identity:
            print(before.compared(planned[0].identity), file=sys.stderr)
        if not combinations[0].config.plan:
            tracker = self._session.open_tracker(combinations[0].config)
            folder = new_folder(base, datetime.now())
            self._session.measure(
                Work(
                    planned=planned,
                    labels=show.names(planned),
                    inspection=inspection,
                    folder=folder,
                    places={0: folder},
                    sweep=False,
                    tracker=tracker,
                )
            )

    def sweep(
        self, composed: Sequence[Mapping[str, Any]], base: Path, launch: Launch | None = None
    ) -> None:
        """Plan or measure a sweep below `base`, or what is missing of an earlier one.

        `launch` runs jobs through a stock launcher instead of in our own processes.
        """
        combinations = self._combinations(composed, base)
        rules = combinations[0].config
        _refuse_in_sweep(rules, stock=launch is not None)
        resumed = resumed_folder(rules.sweep.resume, base) if rules.sweep.resume else None
        before = resumed or newest_sweep(base)
        if rules.plan:
            earlier = earlier_in(before) if before else []
            self._print(
                _planned(combinations, _identify_now(), earlier, resuming=resumed is not None)
            )
            return
        if all(each.excluded for each in combinations):
            raise UsageError(ALL_EXCLUDED)
        with ExitStack() as stack:
            if resumed:
                stack.enter_context(held(resumed))
            earlier = earlier_in(before) if before else []
            planned, inspection = self._look(
                combinations, base, earlier, resuming=resumed is not None
            )
            print(show.summary(planned), file=sys.stderr)
            tracker = self._session.open_tracker(rules)
            folder = resumed or new_folder(base, datetime.now())
            if not resumed:
                stack.enter_context(held(folder))
            labels = show.names(planned)
            where = places(planned, labels, folder)
            clear(planned, where)
            self._session.measure(
                Work(
                    planned=planned,
                    labels=labels,
                    inspection=inspection,
                    folder=folder,
                    places=where,
                    sweep=True,
                    tracker=tracker,
                    launch=launch,
                )
            )

    def _look(
        self,
        combinations: Sequence[Combination],
        base: Path,
        earlier: Sequence[Earlier],
        *,
        resuming: bool,
    ) -> tuple[list[Planned], Inspection]:
        """Return the plan, and what a process with torch says of what is to run."""
        planned = _planned(combinations, _identify_now(), earlier, resuming=resuming)
        unsure = any(each.identity is None and each.runs for each in planned)
        wanted = [each.combination.config for each in planned if each.runs]
        if not wanted:
            return planned, Inspection(types={}, models={}, problems=())
        inspection = self._session.inspect(wanted, base)
        if unsure:
            now, then = _identify_now(), identifier(inspection)
            planned = _planned(
                combinations, lambda config: now(config) or then(config), earlier, resuming=resuming
            )
        return planned, inspection

    def _combinations(self, composed: Sequence[Mapping[str, Any]], base: Path) -> list[Combination]:
        combinations, problems = combine(composed, matching)
        refuse(problems)
        configs = [each.config for each in combinations if not each.excluded]
        check_before_running(configs, base, self._session.start)
        return combinations

    def _print(self, planned: Sequence[Planned]) -> None:
        wanted = planned[0].combination.config.sweep.format
        form = show.as_json if wanted == "json" else show.as_text
        try:
            print(form(planned), flush=True)
        except BrokenPipeError:  # A reader that has seen enough, such as head.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse_alone(combination: Combination) -> None:
    """Raise UsageError for what a combination without -m cannot be."""
    if combination.config.sweep.resume:
        raise UsageError("sweep.resume: given for one combination; add -m, as sweeps are resumed")
    if combination.excluded and not combination.config.plan:
        raise UsageError(
            f"sweep.exclude: {combination.excluded!r} excludes the only combination; leave it out"
        )


def _refuse_in_sweep(rules: Config, *, stock: bool) -> None:
    """Raise UsageError for what no sweep can do, and none with a `stock` launcher."""
    if rules.rerun:
        raise UsageError("rerun: one combination at a time; leave out -m")
    if stock and rules.sweep.jobs > 1:
        raise UsageError(
            f"sweep.jobs: {rules.sweep.jobs} is for hydra/launcher=isolated, and a stock launcher "
            "does not know it; leave it at 1 and set that launcher's own, as hydra.launcher.n_jobs"
        )


def _refuse_stock(rules: Config) -> None:
    """Raise UsageError for what jobs cannot do that stock plug-ins give one by one."""
    _refuse_in_sweep(rules, stock=True)
    if rules.sweep.resume:
        raise UsageError(
            "sweep.resume: a stock sweeper and launcher measure each combination alone, and a "
            "sweep is resumed whole; leave out hydra/sweeper or hydra/launcher"
        )


def _planned(
    combinations: Sequence[Combination],
    identifies: Callable[[Config], Identity | None],
    earlier: Sequence[Earlier] = (),
    *,
    resuming: bool = False,
) -> list[Planned]:
    retry = combinations[0].config.sweep.retry_failed
    return plan(combinations, identifies, earlier, resuming=resuming, retry_failed=retry)


def _identify_now() -> Callable[[Config], Identity | None]:
    """Return the identity of configs as far as it is certain without torch."""
    from runner.devices.cpu import cpu_model

    def of(config: Config) -> Identity | None:
        if known_type(config.device.name) != "cpu":
            return None
        return identify(config, device_type="cpu", device_model=cpu_model())

    return of
