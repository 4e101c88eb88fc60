"""Show the state of a sweep on the page: a progress bar with a button, or why it ended early."""

import streamlit as st

from pages.shared import text
from pages.shared.background.sweep_jobs import Job

_WHY_WAIT = (
    "Sweeps run in the order in which they were asked for, one of each visitor and a few in all at a time; "
    "those of seconds do not wait for those of minutes."
)


def show(job: Job, slot: str) -> None:
    done, total = job.progress.completed, job.progress.total
    if job.state in ("complete", "again"):  # nothing to show, or the page's next start continues the job
        return
    left, right = st.columns([5, 1], vertical_alignment="center")
    if job.running:
        left.progress(done / total, progress(job))
        label, why = ("Leave", _WHY_WAIT) if job.state == "waiting" else ("Stop", None)
        right.button(label, key=f"stop {slot}", on_click=job.stop, help=why, width="stretch")
    elif job.state == "stopped":
        left.caption(f"Stopped: {done:,} of {total:,} runs are shown.")
        right.button("Go on", key=f"go on {slot}", on_click=job.continue_at_next_start, width="stretch")
    elif job.state == "failed":
        left.warning(f"The runs ended early, {done:,} of {total:,} are shown. {job.reason}")
        right.button("Try again", key=f"go on {slot}", on_click=job.continue_at_next_start, width="stretch")


def progress(job: Job) -> str:
    if job.state == "waiting":
        return queue(*job.position)
    seconds = job.progress.seconds_left
    left = "" if seconds is None else f", about {text.duration(seconds)} left"
    return f"{job.progress.completed:,} of {job.progress.total:,} runs measured in all{left}"


def queue(others: int, same_visitor: int) -> str:
    counts = ((others, "of other visitors"), (same_visitor, "of your own"))
    behind = [f"{text.count(number, 'sweep', 'sweeps')} {whose}" for number, whose in counts if number]
    return f"In the queue behind {' and '.join(behind)}" if behind else "Waiting to begin"
