"""Close sessions to which nobody comes back, and give up caches that nobody uses, while the server lives."""

import asyncio

from dppca_core.experiments.failures import log_errors
from pages.shared.background import sessions, unused
from pages.shared.server import uploads

_CHECK_SECONDS = sessions.KEPT_SECONDS / 60


async def keep_house() -> None:
    """Look again and again; Streamlit wants its sessions closed on the event loop, on which this runs."""
    while True:
        await asyncio.sleep(_CHECK_SECONDS)
        with log_errors("housekeeping"):
            uploads.close_left()
        # Not around `await`: the log would swallow that this task is ended.
        await asyncio.to_thread(log_errors("housekeeping")(unused.give_up))
