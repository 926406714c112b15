"""What should make a reader doubt the numbers of a trace: fatal and suspect findings."""

from __future__ import annotations

from collections.abc import Iterator

from runner.trace.evidence import Evidence
from runner.trace.finding import Finding
from runner.trace.text import count, listed, us

_COMPILING = "(dynamo_timed)"
"""How torch ends the names of its compiler's own events."""


def no_device_activity(seen: Evidence) -> Iterator[Finding]:
    """Say that the device did nothing that the trace shows, though work was expected."""
    calls, named = len(seen.work.calls), seen.device_type
    expected = named not in (None, "cpu") or (named is None and calls > 0)
    if len(seen.work) or not expected:
        return
    yield Finding(
        name="no_device_activity",
        level="fatal",
        message=f"No device event on {named or 'the device'} against {count(calls, 'runtime call')}"
        ": device time is unknown, not zero. Synchronise in every step and record the device's "
        "own activity.",
    )


def steps_missing(seen: Evidence) -> Iterator[Finding]:
    """Say that there are fewer steps than expected, or holes in their numbering."""
    numbers = sorted(seen.steps.number.tolist())
    holes = numbers[-1] - numbers[0] + 1 - len(numbers) if numbers else 0
    short = seen.expected_steps is not None and len(numbers) < seen.expected_steps
    if not holes and not short:
        return
    wanted = seen.expected_steps if short else len(numbers) + holes
    yield Finding(
        name="steps_missing",
        level="fatal",
        message=f"{count(len(numbers), 'step')} in the trace where {wanted} were expected"
        f"{f' (steps {numbers[0]} to {numbers[-1]})' if numbers else ''}. Call step() once per "
        "iteration and let the schedule reach its active window.",
    )


def bad_events(seen: Evidence) -> Iterator[Finding]:
    """Say how many events hold no usable time, and which."""
    if not seen.trace.bad:
        return
    total = sum(bad.count for bad in seen.trace.bad)
    named = listed(f"{bad.name[:60]} ({bad.reason})" for bad in seen.trace.bad)
    yield Finding(
        name="bad_events",
        level="suspect",
        message=f"{count(total, 'event')} of {seen.trace.events} without a usable time left out of "
        f"every sum: {named}. Totals miss that work: capture again before comparing.",
    )


def uneven_steps(seen: Evidence) -> Iterator[Finding]:
    """Say that the steps did not do the same."""
    for field, what in (
        ("op_calls", "outermost operator calls"),
        ("launches", "launches"),
        ("device_events", "device events"),
    ):
        counts = [getattr(step.figures, field) for step in seen.step_summaries]
        if len(set(counts)) > 1:
            yield Finding(
                name="uneven_steps",
                level="suspect",
                message=f"Steps differ in {what}: {min(counts)} to {max(counts)} over "
                f"{len(counts)} steps. A mean hides that: warm up longer, or look at the steps "
                "one by one.",
            )
            return


def events_dropped(seen: Evidence) -> Iterator[Finding]:
    """Say that device work has no launch in the trace."""
    work = seen.work
    lost = int((work.launch < 0).sum())
    if lost == 0 or lost == len(work):
        return
    duration = int(work.duration[work.launch < 0].sum())
    yield Finding(
        name="events_dropped",
        level="suspect",
        message=f"{lost} of {count(len(work), 'device event')} ({us(duration)}) have no launch in "
        "the trace: launched before its window opened, or dropped by the profiler. Synchronise "
        "before the window and keep it short.",
    )


def compiling(seen: Evidence) -> Iterator[Finding]:
    """Say that the compiler ran while it was measured."""
    events = sum(row.calls for row in seen.ops if row.name.endswith(_COMPILING))
    if events == 0:
        return
    yield Finding(
        name="recompiled_while_measuring",
        level="suspect",
        message=f"The compiler ran inside the trace ({count(events, 'compile event')}): times hold "
        "compilation. Warm up with the very shapes that are measured.",
    )
